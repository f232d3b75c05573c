#include "server/program.h"

#include <iostream>
#include <memory>
#include <optional>
#include <random>
#include <thread>
#include <vector>

#include "common/os/process.h"
#include "common/output/json_lines.h"
#include "common/output/json_report.h"
#include "common/output/line_report.h"
#include "common/output/live_screen.h"
#include "common/output/output_queue.h"
#include "common/output/report.h"
#include "server/admin.h"
#include "server/http_server.h"
#include "server/reporter.h"

namespace retrystorm {

int serve(const Invocation& invocation, const ServerOptions& asked) {
  check(asked.service);
  // Who asks for the token gives orders later, which may turn on what an option is about.
  if (asked.token_file.empty()) refuse(unused_options(asked.service));
  ServerOptions options = asked;
  const std::uint64_t seed = options.seed ? *options.seed : std::random_device()();
  const bool live = wants_screen(options.live);
  occupy_standard_descriptors();
  EndSignals signals(live ? EndSignals::Suspension::kTold : EndSignals::Suspension::kDefault);
  fit_connections(options.service, raise_descriptor_limit());
  check_backlog(options.service, longest_backlog());
  JsonLines json(options.json);
  StandardStreams streams(signals, OutputQueue::WhenFull::kDrop);
  Terminal terminal(streams.out());
  signals.on_suspend(terminal);
  SocketCloser closer;
  HttpServer server(options.service, seed, options.address);
  Admin admin(server, options);
  if (options.service.draws() && !options.seed) std::cerr << "seed " << seed << '\n';
  std::cerr << "listening on http://" << options.address.host << ':' << server.port() << "/api\n";
  auto start = options_json(invocation.app);
  start["port"] = server.port();
  start["admin_port"] = admin.port();
  start["max_connections"] = options.service.max_connections;
  start["seed"] = seed;
  json.write(start_json("server", invocation.command, start, std::chrono::system_clock::now()));
  ServiceJsonReport json_report(json.sink());
  std::unique_ptr<ServiceObserver> shown;
  if (live) {
    shown = std::make_unique<ServiceScreenReport>(
        "retrystorm server, port " + std::to_string(server.port()) + " (Ctrl-C ends it)", terminal);
  } else {
    shown = std::make_unique<ServiceLineReport>(std::cout, ServiceLineReport::Stamp::kWallClock);
  }
  std::optional<Reporter> reporter(std::in_place, server, options.report_interval,
                                   std::vector<ServiceObserver*>{shown.get(), &json_report});

  std::jthread ender([&](const std::stop_token& served) {
    const std::stop_callback no_more(served, [&signals] { signals.cancel(); });
    if (!signals.wait()) return;
    server.stop();
    // A thread may be waiting for a client that says nothing.
    closer.begin(Duration::zero());
  });
  server.run();
  reporter.reset();
  terminal.close();
  const int code = streams.finish();
  return json.failed() ? 1 : code;
}

}  // namespace retrystorm
