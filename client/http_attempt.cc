#include "client/http_attempt.h"

#include <sys/socket.h>

#include <chrono>

#include "common/http/server_timing.h"
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

std::int64_t unix_time() {
  using std::chrono::system_clock;
  return std::chrono::floor<std::chrono::seconds>(system_clock::now()).time_since_epoch().count();
}

}  // namespace

HttpAttempt::HttpAttempt(const Url& url, Duration timeout, Deadlines& deadlines)
    : client_(url.host, url.port), path_(url.path), deadlines_(deadlines) {
  // cpp-httplib waits whole milliseconds; the deadline itself is kept by `expire`.
  const auto longest = std::chrono::ceil<std::chrono::milliseconds>(timeout);
  client_.set_connection_timeout(longest);
  client_.set_read_timeout(longest);
  client_.set_write_timeout(longest);
  client_.set_hostname_addr_map({{url.host, url.address}});
  client_.set_socket_options(reset_on_close);
}

AttemptResult HttpAttempt::run(Duration patience, std::optional<Duration>* service) {
  expired_ = false;
  const TimePoint start = Clock::now();
  deadlines_.begin(*this, patience);
  // The answer's body is read and dropped: nobody knows how long it is.
  const auto headers =
      service == nullptr ? httplib::Headers() : httplib::Headers{{kAsksForTiming, "1"}};
  const auto result = client_.Get(path_, headers, [](const char*, std::size_t) { return true; });
  deadlines_.end(*this);
  const Duration latency = Clock::now() - start;

  // First, for cpp-httplib reports a reset and a timeout alike, and takes the end of a connection
  // that was shut down for the end of an answer without a length.
  if (expired_ || latency >= patience) return timed_out(latency);
  if (!result) return not_connected(latency);
  if (service != nullptr) *service = parse_service_time(result->get_header_value(kServerTiming));
  return answered(result->status,
                  parse_retry_after(result->get_header_value("Retry-After"), unix_time()), latency);
}

void HttpAttempt::expire() {
  expired_ = true;
  // Waits for a connect that is under way: it has the same deadline. Before the connect there is
  // nothing to stop; then the next call does it.
  client_.stop();
}

}  // namespace retrystorm
