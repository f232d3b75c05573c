// The service itself: GET /api over HTTP, as slow as the curve says.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>

#include "common/http/request_server.h"
#include "server/idle_connections.h"
#include "server/service_pool.h"
#include "server/upstream.h"

namespace retrystorm {

// Keeps a connection for further requests if the client asks for that (`Connection: keep-alive`), and
// otherwise takes one request per connection. The constructor binds the address; `run` serves requests. All
// members except `run` may be called from any thread.
class HttpServer {
 public:
  // Throws std::runtime_error with a readable message if the address is not available.
  // `upstream`: what it calls for each request. `keeps_deadlines`: a request whose caller has said how much time it
  // has left, and that is over, is dropped when a worker would take it, and its calls end then.
  HttpServer(const ServiceOptions& options, std::uint64_t seed, const Address& address,
             const UpstreamSettings& upstream = {}, bool keeps_deadlines = false);

  // Contains the actual port, even if any free one was requested.
  const Address& address() const { return address_; }
  int port() const { return static_cast<int>(address_.port); }

  // Serves requests until `stop` is called.
  void run();

  // Makes `run` return soon. All parked connections are closed at once. Call it once.
  void stop();

  // Changes the service's settings.
  void configure(const ServiceOptions& options) {
    pool_.configure(options);
    if (options.accepts_when_free()) most_open_ = options.most_connections();
  }

  // Resets every connection, including those not yet accepted. New connections are refused until
  // `listen` is called. Has no effect if the server is already down or is stopping.
  void go_down();

  // Accepts connections again. Has no effect if the server is not down. Throws std::runtime_error
  // if the port is no longer available; the server then stays down.
  void listen();

  ServerInterval take_interval() { return with_kernel(pool_.take_interval()); }
  ServerInterval totals() const { return with_kernel(pool_.totals()); }

  // Null if it calls nobody.
  const Upstream* upstream() const { return upstream_.get(); }

 private:
  // With what the kernel holds, unless the server is down.
  ServerInterval with_kernel(ServerInterval interval) const;
  void open();  // with the mutex held
  void accept_until_shut_down(const Listener& listener);
  // Answers a request, and keeps its connection if the client wants that.
  void serve(const IdleConnections::Connection& connection);
  class Job;
  ServicePool::Parked job_of(const IdleConnections::Connection& connection);

  RequestServer requests_;
  const bool keeps_deadlines_;
  const std::unique_ptr<Upstream> upstream_;
  OpenConnections open_;
  ServicePool pool_;
  IdleConnections idle_;
  const std::size_t backlog_, max_connections_;
  // If each has a worker of its own. Otherwise idle ones are closed for others.
  std::atomic<std::size_t> most_open_ = std::numeric_limits<std::size_t>::max();
  Address address_;

  std::mutex orders_;  // held during a whole `go_down` or `listen`: one at a time
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::unique_ptr<Listener> listener_;  // null while the server is down
  bool accepting_ = false;              // `run` is using the listener
  bool stop_wanted_ = false;
};

}  // namespace retrystorm
