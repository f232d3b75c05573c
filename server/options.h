// The server's command line.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "common/cli/options.h"
#include "common/http/page_server.h"
#include "server/call_options.h"
#include "server/http_server.h"

namespace retrystorm {

struct ServerOptions {
  ServiceOptions service;
  CallOptions calls;
  bool keeps_deadlines = false;
  std::string name = "server";  // in the lines about its calls
  Address address{.host = "127.0.0.1", .port = 8070};
  // If not given, it is the server's port + 1, and the server also starts if that port is in use.
  // A port that the user chose must be free.
  std::optional<WatchPort> admin_port;
  // Where the admin port's token goes: to this file (empty: none), and to standard error, which logs keep.
  std::string token_file;
  bool print_token = false;
  bool wants_token() const { return print_token || !token_file.empty(); }
  std::optional<std::uint64_t> seed;  // of the service's random numbers; random if not given
  Duration report_interval = std::chrono::seconds(1);
  std::string json;
};

void add_server_options(CLI::App& app, ServerOptions& options);

// Fits `max_connections` to the number of descriptors that the process may open.
// Throws std::runtime_error if more connections are wanted than that allows.
void fit_connections(ServiceOptions& options, std::size_t descriptors);

// Throws std::runtime_error if the accept queue would be shorter than wanted. `longest` is the
// system's limit.
void check_backlog(const ServiceOptions& options, std::size_t longest);

}  // namespace retrystorm
