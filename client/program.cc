#include "client/program.h"

#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "client/current_fleet.h"
#include "client/dashboard/dashboard.h"
#include "client/experiment.h"
#include "client/http_request.h"
#include "client/metrics.h"
#include "client/outage.h"
#include "client/schedule.h"
#include "client/server_control.h"
#include "client/url.h"
#include "common/http/control.h"
#include "common/http/endpoint.h"
#include "common/os/kernel.h"
#include "common/os/process.h"
#include "common/output/json_lines.h"
#include "common/output/live_screen.h"
#include "common/output/output_queue.h"

namespace retrystorm {
namespace {

// Short enough to be typed again.
std::uint64_t random_seed() {
  return std::random_device()();
}

// All that the server will be told, so that it can say at once what it will not do.
std::string orders_to_check(const ClientOptions& options) {
  std::string orders;
  const Disturbance& outage = options.timeline.outage;
  if (options.outage_at && is_of_service(outage)) {
    orders += print_outage_order({outage, *options.outage_for}) + '\n';
  }
  for (const TimedAction& each : actions(options.timeline)) {
    if (each.action.kind != Action::Kind::kLoad) orders += print_action(each.action) + '\n';
  }
  return orders;
}

}  // namespace

int run_clients(const Invocation& invocation, const ClientOptions& options) {
  const std::uint64_t seed = options.workload.seed ? *options.workload.seed : random_seed();
  if (options.print_schedule > 0) {
    print_schedule(std::cout, options, seed);
    return flush_standard_output() ? 0 : 1;
  }

  const bool live = wants_screen(options.live);
  occupy_standard_descriptors();
  EndSignals signals(live ? EndSignals::Suspension::kTold : EndSignals::Suspension::kDefault);
  raise_descriptor_limit();
  const HttpRequest request = make_request(options.request);
  std::optional<ServerProcess> server;
  if (options.server_pid != 0) server.emplace(static_cast<pid_t>(options.server_pid));
  std::optional<ServerControl> control;
  if (tells_server(options)) {
    control.emplace(resolve_url(server_admin_url(options, request.url)), read_token(options.token_file),
                    [](const std::string& text) { std::cerr << text << '\n'; });
    control->check(orders_to_check(options));
  }
  JsonLines json(options.json);
  StandardStreams streams(signals, OutputQueue::WhenFull::kDrop);
  Terminal terminal(streams.out());
  signals.on_suspend(terminal);
  auto values = options_json(invocation.app);
  values["seed"] = seed;
  values["syn_linear_timeouts"] = syn_linear_timeouts();
  if (!options.workload.seed) std::cerr << "seed " << seed << '\n';
  CurrentFleet fleet;
  const ClientMetrics metrics(fleet);
  SocketCloser closer;
  std::optional<Endpoint> endpoint;
  std::vector<int> spared_ports;
  if (options.metrics_port) {
    spared_ports.push_back(endpoint.emplace(*options.metrics_port, metrics.pages()).port());
    std::cerr << "metrics on " << endpoint->url() << "/metrics\n";
  }
  std::optional<Dashboard> dashboard;
  if (options.dashboard) {
    const std::string status = server_status_url(options, request.url);
    dashboard.emplace(Dashboard::Options{
        .port = static_cast<int>(options.dashboard_port),
        .can_freeze = server.has_value(),
        .server_status = status.empty() ? std::optional<Url>{} : resolve_url(status),
        .pages = metrics.pages()});
    spared_ports.push_back(dashboard->port());
    std::cerr << "live page: " << dashboard->address() << std::endl;
  }
  Experiment(options, seed, {invocation.command, values},
             {.request = request,
              .json = json,
              .out = std::cout,
              .screen = live ? &terminal : nullptr,
              .fleet = fleet,
              .server = server ? &*server : nullptr,
              .control = control ? &*control : nullptr,
              .dashboard = dashboard ? &*dashboard : nullptr,
              .restarted_with =
                  [&invocation](const std::string& strategy) {
                    return workload_with(invocation.app, strategy);
                  },
              .spared_ports = spared_ports})
      .run(signals);
  // Those who look on may see the end; those who say nothing must not put off ours.
  closer.begin(std::chrono::milliseconds(200));
  const int code = streams.finish();
  return json.failed() ? 1 : code;
}

}  // namespace retrystorm
