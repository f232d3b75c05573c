#include "simulator/scenario_options.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

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

// What a run's changes lead to, one after the other.
class Course {
 public:
  explicit Course(const ScenarioOptions& options)
      : outage_(options.timeline.outage), scale_(options.scale), configured_(options.service) {}

  void take(const TimedAction& step) {
    const Action& action = step.action;
    switch (action.kind) {
      case Action::Kind::kSet:
        change(step);
        break;
      case Action::Kind::kCapacity:
        conditions_.capacity = action.factor;
        break;
      case Action::Kind::kLoad:
        load_ = action.factor;
        break;
      case Action::Kind::kRestart:
        break;
    }
    add({.t = step.t, .told = step.told, .restart = action.kind == Action::Kind::kRestart});
  }

  void begin_outage(Duration t) {
    in_outage_ = true;
    add({.t = t, .kind = Change::Kind::kOutageBegins});
  }
  void end_outage(Duration t) {
    in_outage_ = false;
    add({.t = t, .kind = Change::Kind::kOutageEnds});
  }

  std::vector<Change> changes() && { return std::move(changes_); }

 private:
  void change(const TimedAction& step) {
    try {
      change_option(configured_, step.action.option, step.action.value, Engine::kSimulated);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument("--at " + in_quotes(print_timed(step)) + ": " + error.what());
    }
  }

  void add(Change change) {
    Conditions conditions = conditions_;
    if (in_outage_) impose(outage_, conditions);
    change.service = scaled(under(conditions, configured_), scale_);
    const bool more = in_outage_ && outage_.kind == Disturbance::Kind::kLoad;
    change.load = load_ * (more ? outage_.value : 1);
    changes_.push_back(std::move(change));
  }

  const Disturbance outage_;
  const double scale_;
  ServiceOptions configured_;
  Conditions conditions_;
  double load_ = 1;
  bool in_outage_ = false;
  std::vector<Change> changes_;
};

// What comes at the same time: the outage's begin first, and its end.
std::vector<Change> changes(const ScenarioOptions& options) {
  Course course(options);
  const bool has_outage = options.outage_length() > Duration::zero();
  const Duration end = saturating_add(options.outage_at, options.outage_length());
  bool begun = !has_outage;
  bool ended = !has_outage;
  const auto until = [&](Duration t) {
    if (!begun && options.outage_at <= t) course.begin_outage(options.outage_at), begun = true;
    if (!ended && end <= t) course.end_outage(end), ended = true;
  };
  for (const TimedAction& each : actions(options.timeline)) {
    until(each.t);
    course.take(each);
  }
  until(Duration::max());
  return std::move(course).changes();
}

Duration run_length(const ScenarioOptions& options) {
  if (options.workload.arrivals == Arrivals::kJob) return options.time_limit;
  return saturating_add(options.outage_at,
                        saturating_add(options.outage_length(), options.observe));
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
  find_unused(unused, scenario.service);
  if (scenario.workload.arrivals == Arrivals::kJob) {
    find_unused<ScenarioOptions>(unused, scenario, ScenarioOptions(), "with --arrivals=job",
                                 {"observe"});
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
