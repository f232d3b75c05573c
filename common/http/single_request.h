// Single requests to a real service, outside of a run, and the consent without which nobody may load it to its limit.
#pragma once

#include <optional>
#include <string>

#include "common/http/http_client.h"
#include "common/http/http_request.h"
#include "model/base/duration.h"

namespace retrystorm {

// How a request ended.
struct Answered {
  TimePoint end{};
  Duration took{};
  int status = 0;  // 0: no answer
  std::string retry_after{};

  bool ok() const { return status >= 200 && status < 300; }
  // Turned away at once, as a limit does.
  bool rejected() const { return status == 429 || status == 503; }
};

// How each request is sent.
struct LoadRequest {
  HttpRequest request;
  Duration timeout{};
  bool keeps_connections = false;
};

// Sends one request on a new connection, and fails as soon as the program is to end (`EndSignals`).
Answered ask(const LoadRequest& load, HttpAnswer* answer = nullptr);

// The same on this connection, which stays open if `keep`.
Answered ask_on(const LoadRequest& load, Connection& connection, bool keep, HttpAnswer& answer);

// The headers by which the service's people can tell such requests.
const httplib::Headers& says_what_it_is();

// To the URL that must be answered with 200 while a service is loaded; the TLS of `request`. Nothing without a URL.
std::optional<LoadRequest> health_request(const std::string& url, const RequestOptions& request,
                                          Duration timeout);

// The mean time of a few requests, one after the other. Nothing if one fails, or the program is to end.
std::optional<Duration> calm_time(const LoadRequest& load);

// Waits until that is `calm` at most, for 10 s and two timeouts. Returns false if it does not become so, or the program is to
// end.
bool wait_until_calm(const LoadRequest& load, Duration calm);

// HOST:PORT, as written in the URL.
std::string host_and_port(const Url& url);

// Of a numeric address: loopback, link-local, or reserved for private networks (RFC 1918, RFC 4193).
bool is_private(const std::string& address);

struct Consent {
  std::string may_load{};  // HOST:PORT, spelled out
  bool even_public = false;
};

// Throws std::invalid_argument, with what to add, unless this service may be loaded to its limit.
void check_consent(const Url& url, const Consent& consent);

}  // namespace retrystorm
