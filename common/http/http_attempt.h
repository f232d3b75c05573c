// One client's attempts: over HTTP or HTTPS, within a total deadline.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "common/http/connection.h"
#include "common/http/headers.h"
#include "common/http/http2_connection.h"
#include "common/http/http_client.h"
#include "common/http/http_request.h"
#include "model/retry/attempt.h"

namespace retrystorm {

// Sends one attempt at a time. Not thread-safe.
class HttpAttempt {
 public:
  // `request` must outlive this object.
  explicit HttpAttempt(const HttpRequest& request) : request_(&request) {}
  // The next attempts send this one, which must outlive this object.
  void send_now(const HttpRequest& request) { request_ = &request; }

  // Returns within `patience` and a few milliseconds, whatever the server does. If `service` is not
  // null, asks the server how long the request was in the service, and stores the answer there. If
  // `kept` is null, uses a new connection. Otherwise uses that one, opens it if it is not open, and
  // leaves it open if it can be used again. An attempt that is interrupted has failed in some way.
  AttemptResult run(Duration patience, std::optional<Duration>* service = nullptr,
                    Connection* kept = nullptr, Interruption* interruption = nullptr);

  // The same on an HTTP/2 connection, which is opened if the server has not accepted it: see `Http2Connection`.
  AttemptResult run_on(Http2Connection& connection, Duration patience,
                       std::optional<Duration>* service, const std::function<void()>& accepted,
                       Interruption* interruption = nullptr);

  // What the next attempts carry along.
  void carry(const Carried& carried) { carried_ = carried; }

  // In words, why the last attempt got no answer. Empty if it got one.
  const std::string& why() const { return why_; }
  // For an attempt that could not even begin.
  void note(const std::string& why) { why_ = why; }

 private:
  httplib::Headers more_headers(Duration patience, const std::optional<Duration>* service) const;
  AttemptResult judge(const HttpAnswer& answer, Duration latency, Duration patience,
                      std::optional<Duration>* service);

  const HttpRequest* request_;
  HttpClient client_;
  Carried carried_{};
  std::string why_;
};

}  // namespace retrystorm
