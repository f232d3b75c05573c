#include "server/options.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <limits>
#include <stdexcept>

namespace retrystorm {

void add_server_options(CLI::App& app, ServerOptions& options) {
  auto* server = option_group(app, "Server");
  add_text(*server, "--host", options.address.host, "address to listen on")->group("Server");
  add_count(*server, "--port", options.address.port, "port to listen on; 0 = any free port", 0,
            65535)
      ->group("Server");
  add_value(
      *server, "--admin-port", "PORT", "",
      [&options](const std::string& text) { options.admin_port = parse_watch_port(text); },
      "port on 127.0.0.1 for /metrics and /status; any = any free port, 0 = none; the port above "
      "--port when not given");
  add_text(*server, "--admin-token-file", options.token_file,
           "write the admin token to this file; it lets a client change the server while it runs");
  server->add_flag("--print-token", options.print_token, "print that token on standard error");
  add_duration(*server, "--report-interval", options.report_interval,
               "how long each report line covers", std::chrono::milliseconds(1));
  add_value(
      *server, "--seed", "COUNT", "",
      [&options](const std::string& text) {
        options.seed = parse_count(text, 0, std::numeric_limits<std::uint64_t>::max());
      },
      "the same seed gives the same draws for --error-share and --hint=spread; random when not "
      "given");
  add_text(*server, "--json", options.json, "write JSON Lines to this file; - = standard output")
      ->group("Server");
  add_format(*server);
  add_text(*server, "--name", options.name,
           "the name of this service in the lines about its calls");
  add_service_options(app, options.service, Engine::kReal);
  OptionList calls;
  calls.group("Calls of other services");
  calls.yes_or_no(
      "keep-deadlines", options.keeps_deadlines,
      "drop a request whose caller said how long it would wait, and does not any more, when a worker "
      "would take it, and end its calls then (header x-envoy-expected-rq-timeout-ms)");
  declare_options(calls, options.calls);
  add_options(app, calls);
}

void fit_connections(ServiceOptions& options, std::size_t descriptors) {
  // Descriptors kept for the listening sockets, the report and the admin port's connections.
  constexpr std::size_t kReserve = 64;
  if (descriptors <= kReserve) {
    throw std::runtime_error("a process may open only " + std::to_string(descriptors) +
                             " files here; raise the limit (ulimit -n) to some hundreds at least");
  }
  const std::size_t most = descriptors - kReserve;
  if (options.max_connections > most) {
    throw std::runtime_error("--max-connections " + std::to_string(options.max_connections) +
                             " is too many: a process may open " + std::to_string(descriptors) +
                             " files here (ulimit -n), which leaves " + std::to_string(most));
  }
  if (options.max_connections == 0) options.max_connections = most;
}

void check_backlog(const ServiceOptions& options, std::size_t longest) {
  if (options.backlog <= longest) return;
  throw std::runtime_error("--backlog " + std::to_string(options.backlog) +
                           " is too long: this system allows " + std::to_string(longest) +
                           " (sysctl net.core.somaxconn)");
}

}  // namespace retrystorm
