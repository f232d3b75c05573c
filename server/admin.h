// The server's admin port: its metrics for Prometheus, and the same as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "common/http/endpoint.h"
#include "common/output/report.h"
#include "model/base/duration.h"
#include "server/http_server.h"
#include "server/options.h"
#include "server/service_control.h"

namespace retrystorm {

// `totals` counts since the start. The text form that Prometheus reads.
std::string server_metrics(const ServerInterval& totals);

nlohmann::ordered_json server_status(const ServerInterval& totals, Duration uptime);

// Serves GET /metrics and GET /status, and to those who know the token POST /control, from
// construction to destruction. It has threads and a
// socket of its own, from the descriptors that `fit_connections` reserves: it answers also while
// every connection of the server is taken.
class Admin {
 public:
  // Throws std::runtime_error when a port that was asked for is not to be had;
  // without the default one it says so on standard error, and the server goes on.
  Admin(HttpServer& server, const ServerOptions& options);

  // 0 = none.
  int port() const { return endpoint_ ? endpoint_->port() : 0; }

 private:
  void open(const HttpServer& server, std::size_t port, const std::string& token_file);

  const TimePoint start_ = Clock::now();
  ServiceControl control_;
  std::optional<Endpoint> endpoint_;
};

}  // namespace retrystorm
