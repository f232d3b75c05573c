#include "client/http_attempt.h"

#include <fcntl.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "common/http/server_timing.h"
#include "model/retry/retry_after.h"

namespace retrystorm {
namespace {

constexpr std::size_t kLongestError = 4096;

// An attempt that is over leaves nothing behind: closing with a reset frees its port at once. A
// polite close would keep the port for up to a minute while the server holds the connection, and a
// storm would run out of ports.
void reset_on_close(int descriptor) {
  const linger reset{.l_onoff = 1, .l_linger = 0};
  setsockopt(descriptor, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset));
}

// cpp-httplib waits whole milliseconds; the deadline itself is kept by `expire`.
std::chrono::milliseconds whole_milliseconds(Duration time) {
  return std::chrono::ceil<std::chrono::milliseconds>(time);
}

// As OpenSSL calls it in the handshake, for each certificate of the server's chain.
int tell_distrust(int accepted, X509_STORE_CTX* chain) {
  if (accepted != 0) return accepted;
  const void* const tls = X509_STORE_CTX_get_ex_data(chain, SSL_get_ex_data_X509_STORE_CTX_idx());
  auto* const distrust =
      static_cast<Distrust*>(SSL_CTX_get_app_data(SSL_get_SSL_CTX(static_cast<const SSL*>(tls))));
  distrust->tell(X509_verify_cert_error_string(X509_STORE_CTX_get_error(chain)));
  return accepted;
}

// In the handshake OpenSSL itself looks at the certificate, with the certificates that all clients
// share: cpp-httplib would read them anew for each.
void trust(SSL_CTX* context, const HttpRequest& request) {
  const std::string& host = request.url.host;
  SSL_CTX_set1_cert_store(context, request.trusted.get());
  SSL_CTX_set_app_data(context, request.distrust.get());
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, tell_distrust);
  X509_VERIFY_PARAM* const wanted = SSL_CTX_get0_param(context);
  if (X509_VERIFY_PARAM_set1_ip_asc(wanted, host.c_str()) != 1) {
    X509_VERIFY_PARAM_set1_host(wanted, host.c_str(), host.size());
  }
}

std::unique_ptr<httplib::ClientImpl> make_client(const HttpRequest& request) {
  const Url& url = request.url;
  if (!url.tls) return std::make_unique<httplib::ClientImpl>(url.host, url.port);
  auto client = std::make_unique<httplib::SSLClient>(url.host, url.port);
  client->enable_server_certificate_verification(false);
  if (request.trusted) trust(client->ssl_context(), request);
  return client;
}

std::int64_t unix_time() {
  using std::chrono::system_clock;
  return std::chrono::floor<std::chrono::seconds>(system_clock::now()).time_since_epoch().count();
}

// As the services of AWS tell it: in a header, or in a body of JSON.
std::string error_name(const httplib::Response& response, const std::string& body) {
  if (response.has_header("x-amzn-ErrorType")) return response.get_header_value("x-amzn-ErrorType");
  const auto error = nlohmann::json::parse(body, nullptr, false);
  if (!error.is_object()) return "";
  const auto name = error.find("__type");
  return name != error.end() && name->is_string() ? name->get<std::string>() : "";
}

}  // namespace

HttpAttempt::HttpAttempt(const HttpRequest& request, Duration timeout, Deadlines& deadlines)
    : request_(request), client_(make_client(request)), deadlines_(deadlines) {
  const auto longest = whole_milliseconds(timeout);
  client_->set_read_timeout(longest);
  client_->set_write_timeout(longest);
  client_->set_hostname_addr_map({{request.url.host, request.url.address}});
  if (!request.url.tls) {
    client_->set_socket_options(reset_on_close);
    return;
  }
  // cpp-httplib's `stop` waits for the end of a handshake, in which each byte from the server
  // starts the timeout anew: so this object interrupts it, by a descriptor that nobody else closes
  // and that stands for no other connection.
  client_->set_socket_options([this](int descriptor) {
    reset_on_close(descriptor);
    interruptible_ = fcntl(descriptor, F_DUPFD_CLOEXEC, 0);
  });
}

AttemptResult HttpAttempt::run(Duration patience, std::optional<Duration>* service) {
  expired_ = false;
  const TimePoint start = Clock::now();
  deadlines_.begin(*this, patience);
  // A connect cannot be interrupted everywhere, and so has no longer than that itself.
  client_->set_connection_timeout(whole_milliseconds(patience));
  httplib::Request request;
  request.method = request_.method;
  request.path = request_.url.path;
  request.headers = request_.headers;
  request.body = request_.body;
  if (service != nullptr) request.headers.emplace(kAsksForTiming, "1");
  // Nobody knows how long the answer's body is: only its beginning is kept, where an error may have
  // its name.
  std::string body;
  request.content_receiver = [&body](const char* data, std::size_t length, std::uint64_t,
                                     std::uint64_t) {
    body.append(data, std::min(length, kLongestError - body.size()));
    return true;
  };
  httplib::Response response;
  httplib::Error error{};
  const bool has_answer = client_->send(request, response, error);
  deadlines_.end(*this);
  if (const int ours = interruptible_.exchange(-1); ours >= 0) close(ours);
  const Duration latency = Clock::now() - start;

  // First, for cpp-httplib reports a reset and a timeout alike, and takes the end of a connection
  // that was shut down for the end of an answer without a length.
  if (expired_ || latency >= patience) return timed_out(latency);
  if (!has_answer) return not_connected(latency);
  if (service != nullptr) *service = parse_service_time(response.get_header_value(kServerTiming));
  return answered(response.status,
                  parse_retry_after(response.get_header_value("Retry-After"), unix_time()), latency,
                  response.status == 400 ? error_name(response, body) : "");
}

void HttpAttempt::expire() {
  expired_ = true;
  // Before the connect there is nothing to stop; then the next call does it.
  if (const int ours = interruptible_; ours >= 0) {
    shutdown(ours, SHUT_RDWR);
  } else if (!request_.url.tls) {
    client_->stop();  // waits for a connect that is under way: it has the same deadline
  }
}

}  // namespace retrystorm
