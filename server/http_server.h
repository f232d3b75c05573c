// The service itself: GET /api over HTTP, as slow as the curve says.
#pragma once

#include <httplib.h>

#include <atomic>
#include <cstdint>
#include <string>

#include "common/http/listening.h"
#include "server/service_pool.h"

namespace retrystorm {

// One request a connection. Bound from its construction on, and serving in `run`.
class HttpServer {
 public:
  // Throws std::runtime_error with a sentence for a person when the address cannot be had.
  HttpServer(const ServiceOptions& options, std::uint64_t seed, const Address& address);

  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;

  int port() const { return port_; }

  // Serves until `stop`. Throws std::runtime_error when accepting fails for another reason.
  void run();

  // Makes `run` return soon, with everything parked closed at once. Once, from any thread.
  void stop();

  ServerInterval take_interval() { return pool_.take_interval(); }
  ServerInterval totals() const { return pool_.totals(); }

 private:
  void bind(const ServiceOptions& options, const Address& address);
  void add_routes();

  ServicePool pool_;
  int accept_error_ = 0;  // `errno` when accepting ended
  httplib::Server server_;
  int port_ = 0;
  std::atomic<bool> stop_wanted_{false};
  std::atomic<bool> ended_{false};
};

}  // namespace retrystorm
