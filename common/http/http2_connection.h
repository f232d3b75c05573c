// An HTTP/2 connection on which many threads have requests under way at the same time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "common/http/connection.h"
#include "common/http/http_client.h"
#include "common/http/http_request.h"
#include "common/os/process.h"
#include "model/base/duration.h"

struct nghttp2_session;

namespace retrystorm {

// The frames are nghttp2's, the bytes those of a `Connection`: TLS if the URL has it, else HTTP/2 from the first
// byte ("prior knowledge"). Not libcurl's multi interface, which opens, keeps and replaces connections by rules of its
// own: here that is the pool's part, as simulated. A request that times out ends its stream with CANCEL, and the others go on. Nothing is
// sent twice. If the connection is lost, or if the server ends it with GOAWAY, the requests that it has not answered
// have failed. A thread of its own reads and writes, and holds no lock meanwhile: a server that sends without end
// keeps nobody from anything. Safe from any thread.
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
  bool is_accepted() const { return accepted_; }
  // Is it open, and does the server take further requests on it?
  bool can_be_used_again() const { return accepted_ && !going_away_ && !over_; }

  ConnectionPlace place;  // its pool's

 private:
  struct Exchange;
  struct Callbacks;
  using Shared = std::shared_ptr<Exchange>;  // by the thread that waits, and the connection's

  bool begin(TimePoint deadline);
  Shared make_exchange(std::size_t kept, const httplib::Headers& more) const;
  // Hands it to the connection's thread, to be sent or, if it is given up, to be cancelled. With the lock held.
  void hand_over(const Shared& exchange);
  // Waits for its end, and returns the answer.
  HttpAnswer await(const Shared& exchange, TimePoint deadline);
  void interrupt(Exchange& exchange);
  void wake() const;
  // The thread's function, and its parts.
  void run();
  void take_over();
  void submit(const Shared& exchange);
  short write();
  void read();
  void fail(Exchange& exchange, const std::string& why, NoAnswer kind = NoAnswer::kOther,
            bool ends = false);
  // Always returns false.
  bool break_off(const std::string& why, NoAnswer kind = NoAnswer::kOther);

  const HttpRequest& request_;
  Connection connection_;
  const Descriptor wakes_;

  Shared first_;  // opens the connection
  // The thread's own.
  std::unique_ptr<nghttp2_session, void (*)(nghttp2_session*)> session_;
  std::map<std::int32_t, Shared> under_way_;  // by their streams
  std::string unsent_;

  std::atomic<bool> accepted_ = false;
  std::atomic<bool> going_away_ = false;  // the server takes no further requests
  std::atomic<bool> over_ = false;

  std::mutex mutex_;  // guards what follows, and the ends of exchanges
  std::vector<Shared> handed_over_;
  bool has_begun_ = false;  // it is connected
  std::string why_;         // once it is over
  NoAnswer no_answer_ = NoAnswer::kOther;

  std::thread thread_;
};

}  // namespace retrystorm
