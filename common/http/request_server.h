// Answers HTTP requests on connections that the caller has accepted, with limits on time and
// memory.
#pragma once

#include <httplib.h>

#include <cstddef>
#include <functional>
#include <string>

#include "model/base/duration.h"

namespace retrystorm {

// The head of a request, or the part of it that has arrived. cpp-httplib alone would read lines of
// any length, and restart its timeout for each part.
class RequestHead {
 public:
  enum class State {
    kIncomplete,
    kComplete,
    kTooLong,  // more than `kLongest`
    kGone      // the other side has ended the connection
  };
  static constexpr std::size_t kLongest = 16 * 1024;

  // Reads what has arrived, without waiting.
  State read_from(int connection);

  // What has been read: the head, perhaps followed by part of the body.
  std::string& text() { return text_; }

 private:
  std::string text_;
};

// A cpp-httplib server that never listens. Safe from any thread once it has its routes.
class RequestServer final : public httplib::Server {
 public:
  RequestServer();

  // Reads one request, whose head must arrive within `patience`, and answers it. Returns whether the
  // connection can be kept for the next request, which the client has asked for with `Connection:
  // keep-alive`. Otherwise the caller closes it. Throws what the handlers do not catch, such as
  // std::bad_alloc.
  bool serve(int connection, Duration patience);

  // Does the same for a request whose head has already been read.
  void answer(int connection, RequestHead head, Duration patience);

  // Answers a request whose head is too long, without waiting.
  static void refuse_head(int connection);

 private:
  // Returns whether the connection can be kept. `close`: it is closed in any case.
  bool process(int connection, RequestHead head, Duration patience, bool close);
};

// Checks a request before its body is read. Returns true if it has already answered the request.
using Check = std::function<bool(const httplib::Request&, httplib::Response&)>;

// Accepts GET and HEAD, and also POST if `largest_body` is not 0. For other methods cpp-httplib
// would read a body of any size into memory. Any other method is answered with 405. A body that is
// too long (in bytes), or has no Content-Length, is answered with 413. `check` runs after these
// checks.
void check_before_reading(httplib::Server& server, std::size_t largest_body, Check check);

}  // namespace retrystorm
