// ./server: the service that its clients' retries can kill.
#include <exception>
#include <iostream>
#include <memory>
#include <optional>
#include <thread>
#include <vector>

#include "common/os/process.h"
#include "common/output/json_lines.h"
#include "common/output/line_report.h"
#include "common/output/live_screen.h"
#include "common/output/report.h"
#include "server/admin.h"
#include "server/http_server.h"
#include "server/options.h"
#include "server/reporter.h"

namespace retrystorm {
namespace {

// Returns whether nothing that was to be written is lost.
bool serve(CLI::App& app, ServerOptions options, const std::string& command) {
  const EndSignals signals;
  fit_connections(options.service, raise_descriptor_limit());
  check_backlog(options.service, longest_backlog());
  JsonLines json(options.json);
  SocketCloser closer;
  HttpServer server(options.service, options.address);
  const Admin admin(server, options);
  std::cerr << "listening on http://" << options.address.host << ':' << server.port() << "/api\n";
  auto start = options_json(app);
  start["port"] = server.port();
  start["admin_port"] = admin.port();
  start["max_connections"] = options.service.max_connections;
  json.write(start_json("server", command, start, std::chrono::system_clock::now()));
  ServiceJsonReport json_report(json);
  std::unique_ptr<ServiceObserver> shown;
  if (wants_screen(options.live)) {
    shown = std::make_unique<ServiceScreenReport>(
        "retrystorm server, port " + std::to_string(server.port()) + " (Ctrl-C ends it)");
  } else {
    shown = std::make_unique<ServiceLineReport>(std::cout, ServiceLineReport::Stamp::kWallClock);
  }
  std::optional<Reporter> reporter(std::in_place, server, options.report_interval,
                                   std::vector<ServiceObserver*>{shown.get(), &json_report});

  std::jthread ender([&](const std::stop_token& served) {
    while (!served.stop_requested()) {
      if (!signals.wait_until(Clock::now() + std::chrono::milliseconds(100))) continue;
      server.stop();
      // A thread may be waiting for a client that says nothing.
      closer.begin(Duration::zero());
      return;
    }
  });
  server.run();
  reporter.reset();
  return !json.failed();
}

}  // namespace
}  // namespace retrystorm

int main(int argc, char** argv) {
  using namespace retrystorm;
  CLI::App app("An HTTP service that slows down exponentially once too many requests are in it.");
  ServerOptions options;
  set_up_app(app);
  add_server_options(app, options);
  if (const auto code = parse(app, argc, argv)) return *code;
  try {
    return serve(app, options, command_line(argc, argv)) ? 0 : 1;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}
