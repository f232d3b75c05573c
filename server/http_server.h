// The service itself: GET /api over HTTP, as slow as the curve says.
#pragma once

#include <httplib.h>

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <string>

#include "common/http/listening.h"
#include "server/service_pool.h"

namespace retrystorm {

// One request a connection. Bound from its construction on, and serving in `run`. All members but
// `run` are safe from any thread.
class HttpServer {
 public:
  // Throws std::runtime_error with a sentence for a person when the address cannot be had.
  HttpServer(const ServiceOptions& options, std::uint64_t seed, const Address& address);

  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const { return port_; }

  // Serves until `stop`. Throws std::runtime_error when accepting fails for another reason.
  void run();

  // Makes `run` return soon, with everything parked closed at once. Once.
  void stop();

  // From now on these are the service's settings.
  void configure(const ServiceOptions& options) { pool_.configure(options); }

  // Resets every connection, also those that nobody has accepted yet; who connects is refused until
  // `listen`. Without effect on a server that is down or ends.
  void go_down();

  // Without effect on a server that is not down. Throws std::runtime_error when the port is not to
  // be had any more; then it is down still.
  void listen();

  ServerInterval take_interval() { return pool_.take_interval(); }
  ServerInterval totals() const { return pool_.totals(); }

 private:
  void open();  // a new server, with the mutex held

  ServicePool pool_;
  int accept_error_ = 0;  // `errno` when accepting ended
  const std::size_t backlog_;
  Address address_;  // with the port that it got
  int port_ = 0;

  std::mutex orders_;  // one after the other: held until it is down, or up again
  std::mutex mutex_;
  std::condition_variable changed_;
  // The last one serves. Those before it have been brought down, but the connections that they had
  // may not all be closed yet.
  std::deque<httplib::Server> servers_;
  bool down_ = false;
  bool stop_wanted_ = false;
  std::atomic<bool> ended_{false};  // the last one's accepting
};

}  // namespace retrystorm
