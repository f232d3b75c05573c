// Requests over HTTP or HTTPS, each with a total deadline.
#pragma once

#include <httplib.h>

#include <cstddef>
#include <string>

#include "common/http/connection.h"
#include "common/http/http_request.h"
#include "model/base/duration.h"

namespace retrystorm {

struct HttpAnswer {
  Connection::Fault fault = Connection::Fault::kNone;  // why there is no answer
  std::string why{};                                   // the same in words
  NoAnswer no_answer = NoAnswer::kOther;               // its kind, unless it is a timeout
  bool lost = false;                                   // see `AttemptResult`
  // If there is one. Only the requested part of its body is kept. A compressed body stays
  // compressed.
  httplib::Response response{};

  explicit operator bool() const { return fault == Connection::Fault::kNone; }
};

// The request with these additional headers, without its body (RFC 9112).
std::string head_of(const HttpRequest& request, httplib::Headers headers);

// Sends one request at a time, each to its own URL. Its address is known, so no
// name is looked up again. Not thread-safe, except for `interrupt`.
class HttpClient {
 public:
  // Sends the request on a new connection. Returns within `patience` and a few milliseconds. Throws nothing: running out of memory is a
  // fault. `more`: additional headers. Keeps the first `kept` bytes of the answer's body. With the
  // header `Expect: 100-continue`, the body is sent only if the server asks for it. Interim answers and trailers are
  // skipped.
  HttpAnswer send(const HttpRequest& request, Duration patience, std::size_t kept,
                  const httplib::Headers& more = {});

  // Does the same on this connection, which is opened if it is not. It stays open if it can be used
  // again: there was a whole answer, and the server keeps the connection too.
  static HttpAnswer send_on(Connection& connection, const HttpRequest& request, Duration patience,
                            std::size_t kept, const httplib::Headers& more = {});

  // Makes `send` return soon. Safe from any thread.
  void interrupt() { connection_.interrupt(); }

 private:
  Connection connection_;
};

}  // namespace retrystorm
