// What is done to a running server: the orders that come over its admin port.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "common/http/control.h"
#include "model/base/duration.h"
#include "model/service/conditions.h"
#include "server/http_server.h"

namespace retrystorm {

// Keeps what the service was configured with, what was changed since, and the outage that goes on,
// and sees to it that this is what is in force. An outage that nobody ends, because who began it is
// gone, ends by itself. All members are safe from any thread.
class ServiceControl {
 public:
  // `server` outlives it.
  ServiceControl(const ServiceOptions& configured, HttpServer& server);
  ~ServiceControl();

  ServiceControl(const ServiceControl&) = delete;
  ServiceControl& operator=(const ServiceControl&) = delete;

  // Both take orders, a line each (see control.h), all or none of them. They throw
  // std::invalid_argument with a sentence for a person when one cannot be carried out.
  void check(const std::string& orders) const;
  // Throws std::runtime_error when the server cannot be had again after a restart or a drop.
  void carry_out(const std::string& orders);

 private:
  struct State {
    ServiceOptions configured;
    Conditions conditions{};
    std::optional<Disturbance> outage{};
    Duration outage_lasts{0};

    ServiceOptions in_force() const;
    // Takes one order. Returns whether it is to restart the server.
    bool take(const std::string& order);
  };

  void watch();
  void enforce(const State& next, bool restart);  // with the mutex held

  HttpServer& server_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  State state_;
  TimePoint outage_ends_ = TimePoint::max();  // at the latest
  bool end_ = false;
  std::thread thread_;
};

}  // namespace retrystorm
