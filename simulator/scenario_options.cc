#include "simulator/scenario_options.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace retrystorm {
namespace {

constexpr double kLargest = 1e9;

std::size_t scaled(std::size_t count, double scale) {
  return static_cast<std::size_t>(std::llround(static_cast<double>(count) * scale));
}

}  // namespace

void declare_options(OptionList& options, ScenarioOptions& scenario) {
  options.group("Run");
  options.duration("outage-at", scenario.outage_at, "freeze the server at this time").basic = "Run";
  options.duration("outage-for", scenario.outage_for, "wake it after this time; 0s = no outage")
      .basic = "Run";
  options.duration("observe", scenario.observe, "end so long after the outage").basic = "Run";
  options.number(
      "scale", scenario.scale,
      "multiplies clients, rate, limit, k, workers, queues, connections and the rate and "
      "shedding limits: the same physics, larger",
      1e-3, 1e6);
  options.choice<Arrivals>("arrivals", scenario.arrivals,
                           {{"closed", Arrivals::kClosed}, {"open", Arrivals::kOpen}},
                           "whether clients think after each success, or requests arrive at "
                           "--rate, whatever the server does");
  options.number("rate", scenario.rate, "open arrivals: requests a second (Poisson)", 1e-3,
                 kLargest);
  options.choice<Abandoned>(
      "abandoned", scenario.abandoned,
      {{"serve", Abandoned::kServe}, {"skip", Abandoned::kSkip}, {"cancel", Abandoned::kCancel}},
      "requests whose client has hung up are served, skipped when accepted, "
      "or cancelled at once");
  options.count("syn-linear-timeouts", scenario.syn_linear_timeouts,
                "the clients' kernel repeats a dropped SYN after 1 s so many times and once more, "
                "then after 2, 4, ... s: as Linux's sysctl tcp_syn_linear_timeouts; 0 = before "
                "Linux 6.5",
                0, 255);
  declare_options(options, scenario.workload);
  declare_options(options, scenario.service, Engine::kSimulated);
}

void find_unused(UnusedOptions& unused, const ScenarioOptions& scenario) {
  find_unused(unused, scenario.workload);
  find_unused(unused, scenario.service);
  if (scenario.arrivals == Arrivals::kClosed) {
    find_unused<ScenarioOptions>(unused, scenario, ScenarioOptions(), "without --arrivals=open",
                                 {"rate"});
  }
}

Scenario make_scenario(const ScenarioOptions& options, std::uint64_t seed) {
  check(options.workload.retry);
  check(options.service);
  Scenario scenario{.service = options.service,
                    .workload = options.workload,
                    .seed = seed,
                    .arrivals = options.arrivals,
                    .rate = options.rate * options.scale,
                    .abandoned = options.abandoned,
                    .syn_linear_timeouts = options.syn_linear_timeouts,
                    .outage_for = options.outage_for,
                    .length = saturating_add(options.outage_at,
                                             saturating_add(options.outage_for, options.observe)),
                    .report_interval = options.report_interval,
                    .server_report_interval = options.server_report_interval,
                    .trace = options.trace};
  if (options.outage_for > Duration::zero()) scenario.outage_at = options.outage_at;

  const double scale = options.scale;
  ServiceOptions& service = scenario.service;
  service.max_connections = service.max_connections == 0
                                ? std::numeric_limits<std::size_t>::max()
                                : std::max<std::size_t>(scaled(service.max_connections, scale), 1);
  service.limit = scaled(service.limit, scale);
  service.k *= scale;
  service.workers = scaled(service.workers, scale);
  service.backlog = scaled(service.backlog, scale);
  service.rate_limit *= scale;
  service.rate_burst *= scale;
  // 0 would let in everybody.
  if (service.shed_above > 0) {
    service.shed_above = std::max<std::size_t>(scaled(service.shed_above, scale), 1);
  }
  scenario.workload.clients = std::max<std::size_t>(scaled(scenario.workload.clients, scale), 1);
  return scenario;
}

double memory_needed(const Scenario& scenario) {
  constexpr double kClient = 160;     // its state, its wait, its timeouts
  constexpr double kConnection = 32;  // its place in the service queue
  const double seconds = to_seconds(scenario.length);
  const double clients = scenario.arrivals == Arrivals::kClosed
                             ? static_cast<double>(scenario.workload.clients)
                             : scenario.rate * seconds;
  // Attempts that time out can fill the server, but no faster than the clients send them.
  const double attempts =
      clients * (seconds / std::max(to_seconds(scenario.workload.timeout), 1e-3) + 1);
  constexpr double kBucket = 8;  // of the wait queue, at least one for each four seconds
  return clients * kClient + seconds / 4 * kBucket +
         std::min(static_cast<double>(scenario.service.max_connections), attempts) * kConnection;
}

}  // namespace retrystorm
