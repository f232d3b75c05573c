// ./client: many clients that retry.
#include "common/cli/program.h"

#include <deque>
#include <iostream>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "client/dashboard/dashboard.h"
#include "client/experiment.h"
#include "client/fleet.h"
#include "client/load_search.h"
#include "client/metrics.h"
#include "client/options.h"
#include "client/outage/outage_command.h"
#include "client/outage/server_control.h"
#include "client/outage/server_process.h"
#include "common/http/http_request.h"
#include "common/http/orders.h"
#include "common/http/page_server.h"
#include "common/os/process.h"
#include "common/output/before_line.h"
#include "common/output/expectation.h"
#include "common/output/json_lines.h"
#include "common/output/output_file.h"
#include "common/output/output_queue.h"
#include "model/retry/strategies.h"
#include "words/words.h"

namespace retrystorm {
namespace {

// All orders of the run, so that the server can refuse them before the run starts.
std::string orders_to_check(const ClientOptions& options) {
  std::string orders;
  const Disturbance& outage = options.timeline.outage;
  if (options.outage_at && is_of_service(outage)) {
    orders += print_outage_order({outage, *options.outage_for}) + '\n';
  }
  for (const TimedAction& each : actions(options.timeline)) {
    if (is_of_service(each.action)) orders += print_action(each.action) + '\n';
  }
  return orders;
}

// Runs the experiment. The options must have been checked. Returns the exit code. Throws std::runtime_error with a
// readable message if the run cannot start.
int run_clients(const Invocation& invocation, const ClientOptions& asked) {
  ClientOptions options = asked;
  // Short enough to be typed again.
  const std::uint64_t seed = options.workload.seed.value_or(std::random_device()());
  occupy_standard_descriptors();
  if (options.look.explain) {
    const std::vector<OutlookOfRow> rows = {{"", look_ahead(options, options.workload)}};
    const Style style = style_of(STDOUT_FILENO, options.look.color);
    print_figures(std::cout, rows, assumed_list(invocation.app, options_json(invocation.app), rows),
                  style);
    print_before(std::cout, "", rows.front().outlook.warnings, style);
    return flush_standard_output() ? kExitHolds : kExitFault;
  }
  if (options.searches()) {
    if (!options.duration) options.duration = kRunOfSearch;
    options.report_interval = std::chrono::seconds(1);  // so often its rules look
  } else {
    fit_descriptors(options, raise_descriptor_limit());
  }
  // Opening a pipe waits for its reader. So files are opened before `signals` blocks the signals:
  // Ctrl-C still ends the program.
  const std::vector<HttpRequest> requests = make_requests(options.request, options.urls);
  std::vector<HttpRequest> probes;
  if (options.hosts.life.probe.on()) {
    probes = make_requests({.cacert = options.request.cacert, .insecure = options.request.insecure},
                           options.probe_urls.empty() ? options.urls : options.probe_urls);
  }
  std::vector<std::string> tokens;
  for (std::size_t i = 0; sends_orders(options) && i < ordered_hosts(options); ++i) {
    tokens.push_back(
        read_token(options.hosts.many() ? options.token_files[i] : options.token_files.back()));
  }
  std::deque<ServerProcess> servers;
  for (std::size_t i = 0; i < options.hosts.hit() && i < options.server_pids.size(); ++i) {
    const auto given = static_cast<pid_t>(options.server_pids[i]);
    for (const pid_t each : process_tree(given)) {
      if (each == getpid() && each != given) {
        throw std::runtime_error("process " + std::to_string(given) +
                                 " has started this client, too: give the server's own");
      }
      servers.emplace_front(each);  // a parent that is awake may end one that is not
    }
  }
  std::optional<OutageCommand> outage_command;
  if (!options.outage_commands.begin.empty()) outage_command.emplace(options.outage_commands);
  OutputFile json_file(options.json);
  EndSignals signals;
  ServerControls control;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    control.add(resolve_url(server_admin_url(options, requests[i].url, i)), tokens[i],
                orders_to_check(options));
  }
  StandardStreams streams(signals, OutputQueue::WhenFull::kDrop);
  JsonLines json(std::move(json_file), OutputQueue::WhenFull::kDrop);
  auto values = options_json(invocation.app);
  values["seed"] = seed;
  values["report_interval"] = format_duration(options.report_interval);
  for (const char* name : {"admin_token_file", "server_admin", "server_status"}) {
    if (values.contains(name) && !options.hosts.many()) values[name] = values[name].back();
  }
  if (options.hosts.many()) {
    values["url"] = options.urls;
    if (!options.server_pids.empty()) values["server_pid"] = options.server_pids;
  }
  values["syn_linear_timeouts"] = syn_linear_timeouts();
  if (!options.quiet && !options.searches()) {
    Outlook outlook = look_ahead(options, options.workload);
    for (const std::size_t pid : options.server_pids) {
      if (const pid_t parent = parent_of_same(static_cast<pid_t>(pid)); parent > 0) {
        outlook.warnings.push_back(
            {"frozen-part", {{"pid", std::to_string(pid)}, {"parent", std::to_string(parent)}}});
      }
    }
    print_before(std::cerr, before_line(outlook, retries_title(options.workload.retry)),
                 outlook.warnings, style_of(STDERR_FILENO, options.look.color));
  }
  CurrentFleet fleet;
  const ClientMetrics metrics(fleet);
  SocketCloser closer;
  std::optional<PageServer> page_server;
  std::vector<int> spared_ports;
  if (options.metrics_port) {
    spared_ports.push_back(page_server.emplace(*options.metrics_port, metrics.pages()).port());
    std::cerr << "metrics on " << page_server->url() << "/metrics\n";
  }
  std::optional<Dashboard> dashboard;
  if (options.dashboard) {
    dashboard.emplace(Dashboard::Options{.port = static_cast<int>(options.dashboard_port),
                                         .can_freeze = !servers.empty(),
                                         .can_order = !control.empty(),
                                         .pages = metrics.pages()});
    spared_ports.push_back(dashboard->port());
    std::cerr << "live page: " << dashboard->address() << std::endl;
  }
  // The server's own page is asked where it is shown, or needed to see a queue that empties.
  std::deque<std::optional<ServerMonitor>> monitors(requests.size());
  for (std::size_t i = 0; i < monitors.size(); ++i) {
    if (!options.dashboard && !options.outage_at && !options.hosts.many()) break;
    const std::string status = server_status_url(options, requests[i].url, i);
    if (!status.empty()) monitors[i].emplace(resolve_url(status));
  }
  bool outage_failed = false;
  const auto run_once = [&](const ClientOptions& with, const Json& its_values, std::ostream& out,
                            RunObserver& judge, const std::function<bool()>& ends_early) {
    Experiment experiment(with, seed, {invocation.command, its_values},
                          {.requests = requests,
                           .probes = probes,
                           .json = json,
                           .out = out,
                           .fleet = fleet,
                           .servers = servers,
                           .outage_command = outage_command ? &*outage_command : nullptr,
                           .control = control.empty() ? nullptr : &control,
                           .dashboard = dashboard ? &*dashboard : nullptr,
                           .monitors = monitors,
                           .judge = &judge,
                           .ends_early = ends_early,
                           .restarted_with =
                               [&invocation](const std::string& strategy) {
                                 return workload_with(invocation.app, strategy);
                               },
                           .spared_ports = spared_ports});
    experiment.run(signals);
    outage_failed |= experiment.outage_failed();
  };
  ExitCode found = kExitHolds;
  if (options.searches()) {
    found = search_load({options, requests.front(), values, json, signals, run_once});
  } else {
    RunJudge judge(options.expectations, std::cout, json);
    run_once(options, values, std::cout, judge, {});
    found = judge.exit_code();
  }
  // Browsers may still get the last event, but idle connections must not delay the end.
  closer.begin(std::chrono::milliseconds(200));
  const bool written = json.finish();
  const int code = streams.finish();
  const bool in_doubt = outage_command && outage_command->in_doubt();
  const int fault = written && !in_doubt && !outage_failed ? code : kExitFault;
  return fault != 0 ? fault : found;
}

}  // namespace
}  // namespace retrystorm

int main(int argc, char** argv) {
  using namespace retrystorm;
  return run_program<ClientOptions>("Many clients of one service, and what their retries do to it.",
                                    "try fewer --clients", argc, argv, add_client_options,
                                    run_clients, check_command_line);
}
