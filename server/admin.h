// The server's admin port: its metrics for Prometheus, the same as JSON, and control commands.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <stop_token>
#include <string>
#include <thread>

#include "common/http/orders.h"
#include "common/http/page_server.h"
#include "common/output/json_text.h"
#include "common/output/report.h"
#include "model/base/duration.h"
#include "model/service/service_options.h"
#include "server/http_server.h"
#include "server/options.h"

namespace retrystorm {

// Keeps the service's configuration, the changes made since, and the current outage, and applies
// all three to the server. An outage ends automatically after its longest time, in case the client
// that began it is gone. If the port is in use when the server has to listen again, it tries again
// every second. All members may be called from any thread.
class ServiceControl {
 public:
  // `server` must outlive this object.
  ServiceControl(const ServiceOptions& configured, HttpServer& server);

  // Both take orders, one per line (see orders.h), and accept either all of them or none. They
  // throw std::invalid_argument with a readable message if one cannot be carried out. `check` only
  // validates the orders.
  void check(const std::string& orders) const;
  // Throws std::runtime_error if the server cannot listen again after a restart or a drop.
  void carry_out(const std::string& orders);

  // The settings with the changes and the outage.
  ServiceOptions in_force() const;

 private:
  struct State {
    ServiceOptions configured;
    Conditions conditions{};
    std::optional<Disturbance> outage{};
    TimePoint outage_ends = TimePoint::max();  // the latest possible end

    ServiceOptions in_force() const;
    void end_outage();
    // Applies one order to this state. Returns true if the server must be restarted.
    bool take(const std::string& order);
  };

  // Both need the mutex held.
  void enforce(const State& next, bool restart);
  void listen();

  TimePoint next_change() const { return std::min(state_.outage_ends, listens_again_); }
  void watch(const std::stop_token& end);  // runs on `thread_`

  HttpServer& server_;
  mutable std::mutex mutex_;
  std::condition_variable_any changed_;
  State state_;
  TimePoint listens_again_ = TimePoint::max();  // when to try again
  std::jthread thread_;                         // the last member: it ends before the others
};

// The metrics in Prometheus' text format. `totals` counts since the start. `upstream`: null if it calls nobody.
std::string server_metrics(const ServerInterval& totals, const Upstream* upstream = nullptr);

Json server_status(const ServerInterval& totals, Duration uptime, const ServiceOptions& settings,
                   const Upstream* upstream = nullptr);

// Serves GET /metrics, GET /status and, to clients that know the token, POST /control, from
// construction to destruction. It has separate threads and a separate socket, and uses the
// descriptors that `fit_connections` reserves. It therefore answers even while the server has no
// free connection.
class Admin {
 public:
  // Throws std::runtime_error if a port that the user chose is not available. If the default port
  // is not available, prints a message on standard error and runs without an admin port.
  Admin(HttpServer& server, const ServerOptions& options);

  // 0 = there is no admin port.
  int port() const { return page_server_ ? page_server_->port() : 0; }

 private:
  void open(const HttpServer& server, std::size_t port, const ServerOptions& options);

  const TimePoint start_ = Clock::now();
  ServiceControl control_;
  std::optional<PageServer> page_server_;
};

}  // namespace retrystorm
