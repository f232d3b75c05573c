// The server's admin port: its metrics for Prometheus, the same as JSON, and control commands.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "common/http/page_server.h"
#include "common/output/report.h"
#include "model/base/duration.h"
#include "server/http_server.h"
#include "server/options.h"
#include "server/service_control.h"

namespace retrystorm {

// The metrics in Prometheus' text format. `totals` counts since the start. `upstream`: null if it calls nobody.
std::string server_metrics(const ServerInterval& totals, const Upstream* upstream = nullptr);

nlohmann::ordered_json server_status(const ServerInterval& totals, Duration uptime,
                                     const ServiceOptions& settings,
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
