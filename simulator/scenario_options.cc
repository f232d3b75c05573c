#include "simulator/scenario_options.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "simulator/course.h"

namespace retrystorm {
namespace {

std::size_t scaled(std::size_t count, double scale) {
  return static_cast<std::size_t>(std::llround(static_cast<double>(count) * scale));
}

ServiceOptions scaled(ServiceOptions service, double scale) {
  service.max_connections = service.max_connections == 0
                                ? std::numeric_limits<std::size_t>::max()
                                : std::max<std::size_t>(scaled(service.max_connections, scale), 1);
  service.limit = scaled(service.limit, scale);
  service.k *= scale;
  service.workers = scaled(service.workers, scale);
  service.backlog = scaled(service.backlog, scale);
  RateLimitSettings& limit = service.rate_limit;
  for (double* each :
       {&limit.rate, &limit.burst.requests, &limit.autoscale.least, &limit.autoscale.most}) {
    *each *= scale;
  }
  // 0 would let in everybody.
  if (service.shed_above > 0) {
    service.shed_above = std::max<std::size_t>(scaled(service.shed_above, scale), 1);
  }
  return service;
}

Duration run_length(const ScenarioOptions& options) {
  if (options.workload.arrivals == Arrivals::kJob) return options.time_limit;
  return saturating_add(options.outage_at,
                        saturating_add(options.outage_length(), options.observe));
}

// Of the service's options those that have no effect at any time: the outage, or something that is
// done about it, may turn on what an option is about.
void find_unused_of_service(UnusedOptions& unused, const ScenarioOptions& scenario) {
  auto always = unused_options(scenario.service);
  try {
    for (const Change& change : changes(scenario)) {
      const auto then = unused_options(change.service);
      std::erase_if(always, [&then](const auto& each) { return !then.contains(each.first); });
    }
  } catch (const std::invalid_argument&) {
    // Who makes the scenario is told.
  }
  unused.merge(always);
}

}  // namespace

void declare_options(OptionList& options, ScenarioOptions& scenario) {
  options.group("Run");
  options.duration("outage-at", scenario.outage_at, "the outage begins at this time")
      .over("5s", "2m")
      .basic = "Run";
  Option& outage_for = options.text(
      "outage-for", "and lasts so long; 0s = no outage, as of a job",
      [&scenario](std::string_view text) {
        scenario.outage_for = parse_duration(text, Duration::zero());
      },
      [&scenario] { return format_duration(scenario.outage_length()); });
  outage_for.over("1s", "5m");
  outage_for.kind = Option::Kind::kDuration;
  outage_for.basic = "Run";
  options.duration("observe", scenario.observe, "end so long after the outage")
      .over("15s", "10m")
      .basic = "Run";
  options.duration("time-limit", scenario.time_limit, "a job ends at this time, done or not",
                   std::chrono::seconds(1));
  declare_options(options, scenario.timeline, Engine::kSimulated);
  options
      .number("scale", scenario.scale,
              "multiplies clients, rate, limit, k, workers, queues, connections and the rate and "
              "shedding limits: the same physics, larger",
              1e-3, 1e6)
      .over("0.01", "10");
  options.choice<Abandoned>(
      "abandoned", scenario.abandoned,
      {{"serve", Abandoned::kServe}, {"skip", Abandoned::kSkip}, {"cancel", Abandoned::kCancel}},
      "requests whose client has hung up are served, skipped when accepted, "
      "or cancelled at once");
  options
      .count("syn-linear-timeouts", scenario.syn_linear_timeouts,
             "the clients' kernel repeats a dropped SYN after 1 s so many times and once more, "
             "then after 2, 4, ... s: as Linux's sysctl tcp_syn_linear_timeouts; 0 = before "
             "Linux 6.5",
             0, 255)
      .in("repeats")
      .over("0", "10");
  declare_options(options, scenario.workload);
  declare_options(options, scenario.service, Engine::kSimulated);
}

void find_unused(UnusedOptions& unused, const ScenarioOptions& scenario) {
  find_unused(unused, scenario.workload);
  find_unused_of_service(unused, scenario);
  if (scenario.workload.arrivals == Arrivals::kJob) {
    find_unused<ScenarioOptions>(unused, scenario, ScenarioOptions(), "with --arrivals=job",
                                 {"observe"});
    find_unused_load(unused, scenario.timeline, "with --arrivals=job");
  } else {
    find_unused<ScenarioOptions>(unused, scenario, ScenarioOptions(), "without --arrivals=job",
                                 {"time-limit"});
  }
  if (scenario.outage_length() == Duration::zero()) {
    find_unused<ScenarioOptions>(unused, scenario, ScenarioOptions(), "with --outage-for=0s",
                                 {"outage"});
  }
}

Scenario make_scenario(const ScenarioOptions& options, std::uint64_t seed) {
  check(options.workload.retry);
  check(options.service);
  Scenario scenario{.service = scaled(options.service, options.scale),
                    .workload = options.workload,
                    .seed = seed,
                    .abandoned = options.abandoned,
                    .syn_linear_timeouts = options.syn_linear_timeouts,
                    .outage = options.timeline.outage,
                    .outage_for = options.outage_length(),
                    .changes = changes(options),
                    .length = run_length(options),
                    .report_interval = options.report_interval,
                    .server_report_interval = options.server_report_interval,
                    .trace = options.trace};
  for (Change& each : scenario.changes) {
    each.service = scaled(std::move(each.service), options.scale);
  }
  if (options.outage_length() > Duration::zero()) scenario.outage_at = options.outage_at;

  scenario.workload.clients =
      std::max<std::size_t>(scaled(scenario.workload.clients, options.scale), 1);
  scenario.workload.rate *= options.scale;
  JobSettings& job = scenario.workload.job;
  job.tasks = std::max<std::uint64_t>(scaled(job.tasks, options.scale), 1);
  job.workers_start = scale(job.workers_start, 1 / options.scale);
  return scenario;
}

double memory_needed(const Scenario& scenario) {
  constexpr double kClient = 160;     // its state, its wait, its timeouts
  constexpr double kConnection = 32;  // its place in the service queue
  const double seconds = to_seconds(scenario.length);
  const double clients = scenario.workload.arrivals == Arrivals::kOpen
                             ? scenario.workload.rate * seconds
                             : static_cast<double>(scenario.workload.clients);
  // Attempts that time out can fill the server, but no faster than the clients send them.
  const double attempts =
      clients * (seconds / std::max(to_seconds(scenario.workload.timeout), 1e-3) + 1);
  constexpr double kBucket = 8;  // of the wait queue, at least one for each four seconds
  return clients * kClient + seconds / 4 * kBucket +
         std::min(static_cast<double>(scenario.service.max_connections), attempts) * kConnection;
}

}  // namespace retrystorm
