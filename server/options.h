// The server's command line.
#pragma once

#include <optional>
#include <string>

#include "common/options.h"
#include "server/http_server.h"

namespace retrystorm {

struct ServerOptions {
  ServiceOptions service;
  Address address;
  Duration report_interval = std::chrono::seconds(1);
  std::string json;
};

void add_server_options(CLI::App& app, ServerOptions& options);

// Fits `max_connections` to the descriptors that the process may open.
// Throws std::runtime_error when more is wanted than there are.
void fit_connections(ServiceOptions& options, std::size_t descriptors);

}  // namespace retrystorm
