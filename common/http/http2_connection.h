// An HTTP/2 connection on which many threads have requests under way at the same time.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "common/http/connection.h"
#include "common/http/http_client.h"
#include "common/http/http_request.h"
#include "common/http/interruption.h"
#include "common/os/descriptor.h"
#include "model/base/duration.h"

struct nghttp2_session;

namespace retrystorm {

// The frames are nghttp2's, the bytes those of a `Connection`: TLS if the URL has it, else HTTP/2 from the first
// byte ("prior knowledge"). Not libcurl's multi interface, which opens, keeps and replaces connections by rules of its
// own: here that is the pool's part, as simulated. A request that times out ends its stream with CANCEL, and the others go on. Nothing is
// sent twice. If the connection is lost, or if the server ends it with GOAWAY, the requests that it has not answered
// have failed. A thread of its own reads and writes. Safe from any thread.
class Http2Connection {
 public:
  // `request` must outlive this object. Opens nothing yet.
  explicit Http2Connection(const HttpRequest& request);
  // Ends the connection. No request may be under way.
  ~Http2Connection();

  Http2Connection(const Http2Connection&) = delete;
  Http2Connection& operator=(const Http2Connection&) = delete;

  // Opens the connection and sends the first request. The server has accepted the connection when it has sent its
  // settings: then calls `accepted`, from this thread, and others may use it. If that does not happen within
  // `patience`, closes it. Otherwise as `send`.
  HttpAnswer open(Duration patience, std::size_t kept, const httplib::Headers& more,
                  const std::function<void()>& accepted, Interruption* interruption = nullptr);

  // Sends a request and waits for its answer. Returns within `patience` and a few milliseconds. `more`: additional
  // headers. Keeps the first `kept` bytes of the answer's body. If it is interrupted, it has timed out.
  HttpAnswer send(Duration patience, std::size_t kept, const httplib::Headers& more,
                  Interruption* interruption = nullptr);

  // Has the server accepted it?
  bool is_accepted() const;
  // Is it open, and does the server take further requests on it?
  bool can_be_used_again() const;

 private:
  struct Exchange;
  struct Callbacks;

  bool begin(TimePoint deadline);
  // With the lock held.
  bool submit(Exchange& exchange, const httplib::Headers& more);
  HttpAnswer finish(Exchange& exchange);
  void interrupt(Exchange& exchange);
  void wake() const;
  // The thread's function, and its parts. They are called with the lock held.
  void run();
  short write();
  void read();
  void break_off(const std::string& why, NoAnswer kind);

  const HttpRequest& request_;
  Connection connection_;
  const Descriptor wakes_;

  mutable std::mutex mutex_;
  std::unique_ptr<nghttp2_session, void (*)(nghttp2_session*)> session_;
  std::set<Exchange*> exchanges_;  // those under way
  Exchange* first_ = nullptr;      // until the connection is accepted
  std::string unsent_;
  bool accepted_ = false;
  bool going_away_ = false;  // the server takes no further requests
  bool over_ = false;
  std::string why_;  // once it is over
  NoAnswer no_answer_ = NoAnswer::kOther;

  std::thread thread_;
};

}  // namespace retrystorm
