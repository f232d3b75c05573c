#include "client/http_attempt.h"

#include <sys/socket.h>

#include <chrono>

#include "model/retry/retry_after.h"

namespace retrystorm {
namespace {

// An attempt that is over leaves nothing behind: closing with a reset frees its port at once. A
// polite close would keep the port for up to a minute while the server holds the connection, and a
// storm would run out of ports.
void reset_on_close(int descriptor) {
  const linger reset{.l_onoff = 1, .l_linger = 0};
  setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
}

}  // namespace

HttpAttempt::HttpAttempt(const Url& url, Deadlines& deadlines)
    : client_(url.host, url.port), path_(url.path), deadlines_(deadlines) {
  // cpp-httplib waits whole milliseconds; the deadline itself is kept by `expire`.
  const auto timeout = std::chrono::ceil<std::chrono::milliseconds>(deadlines.timeout());
  client_.set_connection_timeout(timeout);
  client_.set_read_timeout(timeout);
  client_.set_write_timeout(timeout);
  client_.set_hostname_addr_map({{url.host, url.address}});
  client_.set_socket_options(reset_on_close);
}

AttemptResult HttpAttempt::run() {
  std::uint64_t attempt = 0;
  {
    const std::scoped_lock lock(mutex_);
    attempt = ++attempt_;
    under_way_ = true;
    expired_ = false;
  }
  const TimePoint start = Clock::now();
  deadlines_.begin(*this, attempt);
  // The answer's body is read and dropped: nobody knows how long it is.
  const auto result = client_.Get(path_, [](const char*, std::size_t) { return true; });
  const Duration latency = Clock::now() - start;

  const std::scoped_lock lock(mutex_);
  under_way_ = false;
  // First, for cpp-httplib reports a reset and a timeout alike, and takes the end of a connection
  // that was shut down for the end of an answer without a length.
  if (expired_ || latency >= deadlines_.timeout()) return timed_out(latency);
  if (!result) return not_connected(latency);
  return answered(result->status, parse_retry_after(result->get_header_value("Retry-After")),
                  latency);
}

void HttpAttempt::expire(std::uint64_t attempt) {
  const std::scoped_lock lock(mutex_);
  if (!under_way_ || attempt != attempt_) return;
  expired_ = true;
  // Waits for a connect that is under way: it has the same deadline.
  client_.stop();
}

}  // namespace retrystorm
