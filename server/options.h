// The server's command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/cli/options.h"
#include "common/http/endpoint.h"
#include "server/http_server.h"

namespace retrystorm {

struct ServerOptions {
  ServiceOptions service;
  Address address{.host = "127.0.0.1", .port = 8070};
  // When not given it is the port above the server's own, and may be busy; one that was asked for
  // may not.
  std::optional<WatchPort> admin_port;
  std::string token_file;             // gets the token for the admin port; none when empty
  std::optional<std::uint64_t> seed;  // of what the service draws; random when not given
  bool live = false;
  Duration report_interval = std::chrono::seconds(1);
  std::string json;
};

void add_server_options(CLI::App& app, ServerOptions& options);

// Fits `max_connections` to the descriptors that the process may open.
// Throws std::runtime_error when more is wanted than there are.
void fit_connections(ServiceOptions& options, std::size_t descriptors);

// Throws std::runtime_error when the accept queue would be shorter than wanted.
void check_backlog(const ServiceOptions& options, std::size_t longest);

}  // namespace retrystorm
