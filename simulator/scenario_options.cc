#include "simulator/scenario_options.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/os/foreign_file.h"
#include "model/base/text.h"
#include "model/run/recovery.h"
#include "simulator/calls.h"
#include "simulator/graph/topology_options.h"

namespace retrystorm {
namespace {

[[maybe_unused]] const bool kReadsArrivals = [] {
  read_arrivals = read_foreign_file;
  return true;
}();

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
  // 0 would turn load shedding off.
  if (service.shed_above > 0) {
    service.shed_above = std::max<std::size_t>(scaled(service.shed_above, scale), 1);
  }
  return service;
}

Duration run_length(const ScenarioOptions& options) {
  if (options.workload.arrivals == Arrivals::kJob) return options.time_limit;
  const auto outage = options.outage();
  const Duration outage_ends = saturating_add(outage.at, outage.length);
  if (options.outage_for != Duration::zero()) return saturating_add(outage_ends, options.observe);
  // Who wants no outage has said when the run ends. If he has not, and there is one, it goes on until there is a verdict.
  constexpr Duration kForAVerdict = std::chrono::seconds(30);
  const Duration asked = saturating_add(options.outage_at, options.observe);
  if (options.observe != ScenarioOptions().observe) return asked;
  Duration ends = is_action(outage.what) ? outage_ends : Duration::zero();
  // A file of arrivals is the question, too.
  const auto steps = options.workload.plan.steps();
  if (!steps.empty()) ends = std::max(ends, steps.back().t);
  return std::max(asked, ends > Duration::zero() ? saturating_add(ends, kForAVerdict) : ends);
}

WorkloadOptions scaled(WorkloadOptions workload, double scale) {
  if (workload.processes || workload.arrivals == Arrivals::kOpen) {
    workload.processes = std::max<std::size_t>(scaled(process_count(workload), scale), 1);
  }
  workload.clients = std::max<std::size_t>(scaled(workload.clients, scale), 1);
  workload.rate *= scale;
  workload.plan.rate *= scale;
  return workload;
}

void add_topology(Scenario& scenario, const ScenarioOptions& options, Topology asked) {
  Topology& topology = scenario.topology;
  topology = std::move(asked);
  for (std::size_t i = 0; i < topology.client_edges(); ++i) {
    topology.edges[i].caller = scaled(topology.edges[i].caller, options.scale);
  }
  scenario.disturbed = find_node(topology, options.graph.outage_of, "--outage-of");
  topology.nodes[scenario.disturbed].hosts.outage_replicas = options.hosts.outage_replicas;
  for (GraphEdge& each : topology.edges) {
    each.caller.picks_hosts = topology.nodes[each.to].hosts.each_process_picks();
  }
  for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
    ServiceOptions& service = topology.nodes[i].service;
    service = scaled(service, options.scale);
    const bool few = std::all_of(
        topology.edges.begin(), topology.edges.end(),
        [i](const auto& each) { return each.to != i || each.caller.connections.multiplexed(); });
    if (few) service.max_connections = std::numeric_limits<std::size_t>::max();
    if (few) service.when_free = false;
  }
  scenario.service = topology.nodes.front().service;
  scenario.hosts = topology.nodes.front().hosts;
  scenario.workload = topology.edges.front().caller;
}

bool reconnects(const ScenarioOptions& options) {
  return loses_connections(options.workload, options.timeline.outage) &&
         options.outage_length() > Duration::zero();
}

void check_hedges(const ScenarioOptions& options) {
  if (options.workload.retry.hedge.any() && reconnects(options)) {
    refuse(
        "--hedge: with --outage=reconnect each client has one connection, for one attempt at a time");
  }
}

// Those of the service that has the outage.
HostSettings disturbed_in(const Topology& topology, const ScenarioOptions& options) {
  const auto& nodes = topology.nodes;
  const auto found = std::find_if(nodes.begin(), nodes.end(), [&options](const GraphNode& each) {
    return each.name == options.graph.outage_of;
  });
  HostSettings disturbed = nodes.empty()          ? options.hosts
                           : found == nodes.end() ? nodes.back().hosts
                                                  : found->hosts;
  disturbed.outage_replicas = options.hosts.outage_replicas;
  return disturbed;
}

// `topology`: empty where there is one service.
void check_hosts(const ScenarioOptions& options, const Topology& topology) {
  const HostSettings disturbed = disturbed_in(topology, options);
  check(disturbed);
  for (const TimedAction& each : options.timeline.at) {
    const bool elsewhere = !topology.empty() && !each.node.empty();
    const std::size_t most =
        elsewhere ? topology.nodes[find_node(topology, each.node, "--at")].hosts.most()
                  : disturbed.most();
    if (each.action.hosts.last > most) {
      refuse("--at " + in_quotes(print_timed(each)) + ": there are " + std::to_string(most) +
             " hosts (--replicas)");
    }
  }
  if (!topology.empty()) return;
  if (options.hosts.life.scaling.on() && options.service.capacity != Capacity::kWorkers) {
    refuse(
        "--replicas=FROM..TO: the autoscaler follows the use of workers: give --workers and --service-time");
  }
  if (options.hosts.many() && reconnects(options)) {
    const std::string option =
        options.hosts.most() > 1 ? "--replicas" : "--probe, --host-start and --host-warm-up";
    refuse(option + ": --outage=reconnect is of connections to one host");
  }
}

// Empty if there is an error, which is reported when the scenario is made.
Topology topology_or_none(const ScenarioOptions& scenario) {
  try {
    return topology_of(scenario);
  } catch (const std::invalid_argument&) {
    return {};
  }
}

// How anybody connects.
std::vector<Connections> connections_in(const ScenarioOptions& scenario) {
  if (!scenario.graph.on()) return {scenario.workload.connections.kind};
  std::vector<Connections> kinds;
  for (const GraphEdge& each : topology_or_none(scenario).edges) {
    kinds.push_back(each.caller.connections.kind);
  }
  return kinds.empty() ? std::vector{scenario.workload.connections.kind} : kinds;
}

// Replaces what is said of the options of the clients by what holds for the clients of a graph, which may be of several
// kinds.
void replace_those_of_clients(UnusedOptions& unused, const ScenarioOptions& scenario,
                              const std::vector<std::string>& named) {
  if (!scenario.graph.on()) return;
  UnusedOptions of_clients;
  const Topology topology = topology_or_none(scenario);
  if (!topology.empty()) {
    find_unused_retries(of_clients, scenario.graph, scenario.workload, named, topology);
  }
  // Who retries is another matter.
  ScenarioOptions all_retry = scenario;
  all_retry.graph.retry_at = "all";
  const Topology whole = topology_or_none(all_retry);
  if (!whole.empty() && !whole.edges.front().clients.empty()) {
    WorkloadOptions any;
    OptionList list;
    declare_options(list, any);
    for (const Option& each : list.all()) unused.erase(each.name);
    find_unused(of_clients, scenario.workload, named, whole, scenario.graph.topology);
  }
  of_clients.merge(unused);
  unused = std::move(of_clients);
}

// Leaves out the options of the service that have an effect at some time: an outage or an action may turn on the
// feature that an option belongs to.
void leave_out_those_used_later(UnusedOptions& unused, const ScenarioOptions& scenario,
                                const std::vector<std::string>& named) {
  const UnusedOptions at_first = unused_of_part(scenario.service, named);
  if (at_first.empty()) return;
  try {
    for (const Change& change : changes(scenario)) {
      const UnusedOptions then = unused_of_part(change.service, named);
      for (const auto& [name, why] : at_first) {
        if (!then.contains(name)) unused.erase(name);
      }
    }
  } catch (const std::invalid_argument&) {
    // The same error is reported when the scenario is made.
  }
}

// Does any answer of the run have a Retry-After? An outage or an action may bring that about.
bool may_send_hints(const ScenarioOptions& scenario) {
  if (sends_hints(scenario.service)) return true;
  const std::vector<Change> all = changes(scenario);
  return std::any_of(all.begin(), all.end(),
                     [](const Change& each) { return sends_hints(each.service); });
}

const std::string kNoHints =
    "the service turns nothing away (--rate-limit, --shed-above, --queue-length, --queue-drop, "
    "--outage=throttle)";

// Why no answer has the hint.
std::string why_no_hints(const ScenarioOptions& scenario) {
  const HintKind kind = scenario.service.hint.kind;
  if (scenario.graph.on() || (kind != HintKind::kFixed && kind != HintKind::kSpread)) return "";
  try {
    if (may_send_hints(scenario)) return "";
  } catch (const std::invalid_argument&) {
    return "";  // the same error is reported when the scenario is made
  }
  return ": " + kNoHints +
         ", and gives no errors of 429 or 503 (--error-share, --outage=errors:SHARE:503)";
}

void declare_what_is_unused(OptionList& options, ScenarioOptions& scenario) {
  const auto any = [&scenario](Connections kind) {
    const std::vector<Connections> all = connections_in(scenario);
    return std::find(all.begin(), all.end(), kind) != all.end();
  };
  options.no_effect("server-idle", [any] {
    return any(Connections::kKeepAlive) ? "" : "without --connections=keep-alive";
  });
  options.no_effect("reset-limit", [any] {
    return any(Connections::kMultiplexed) ? "" : "without --connections=multiplexed";
  });
  options.no_effect("max-connections accepts", [any] {
    const bool alone = any(Connections::kNew) || any(Connections::kKeepAlive);
    return alone ? "" : "with --connections=multiplexed";
  });
  options.needs("observe", "arrivals!=job");
  options.needs("time-limit", "arrivals=job");
  options.no_effect("scale", [&plan = scenario.workload.plan, &workload = scenario.workload] {
    return plan.file && plan.has_times() ? why_load_is_fixed(workload) : "";
  });
  options.no_effect("hint", [&scenario] { return why_no_hints(scenario); });
  options.no_effect("outage", [&scenario] {
    return scenario.own_outage_length() > Duration::zero() ? "" : "with --outage-for=0s";
  });
}

}  // namespace

Topology topology_of(const ScenarioOptions& options) {
  return make_topology(options.graph, options.service, options.hosts, options.workload);
}

HostSettings ScenarioOptions::disturbed_hosts() const {
  return disturbed_in(graph.on() ? topology_or_none(*this) : Topology(), *this);
}

std::optional<ScenarioOptions::Outage> ScenarioOptions::load_step() const {
  const bool of_some = !outage_for && hosts.outage_replicas != HostSettings::kAll;
  if (of_some || !why_load_is_fixed(workload).empty()) return std::nullopt;
  std::optional<Outage> step;
  for (const TimedAction& each : actions(timeline)) {
    if (each.action.kind != Action::Kind::kLoad) continue;
    const double load = each.action.factor;
    if (step && load <= 1) {
      step->length = each.t - step->at;
      break;
    }
    if (!step && load > 1) step = {{}, each.t, kRise};
    if (step) step->what = {Disturbance::Kind::kLoadStep, std::max(step->what.value, load)};
  }
  for (const Fault& each : timeline.faults) {
    if (step || !outage_for || load_factor(each.what) <= 1) continue;
    step = {{Disturbance::Kind::kLoadStep, each.what.value}, each.from, each.to - each.from};
  }
  return step && step->at > Duration::zero() ? step : std::nullopt;
}

Duration ScenarioOptions::own_outage_length() const {
  const Outage its = outage();
  return is_action(its.what) ? Duration::zero() : its.length;
}

ScenarioOptions::Outage ScenarioOptions::outage() const {
  constexpr Duration kAtOnce = std::chrono::seconds(1), kUsual = std::chrono::seconds(20);
  const bool job = workload.arrivals == Arrivals::kJob;
  const bool has_usual = !job && !workload.plan.periodic();
  const Duration usual = loses_connections(timeline.outage) ? kAtOnce : kUsual;
  Outage outage{timeline.outage, outage_at,
                outage_for.value_or(has_usual ? usual : Duration::zero())};
  // All hosts at once may be a remedy of the usual outage.
  const auto may_be_outage = [this](const TimedAction& each) {
    const bool of_some = each.action.hosts.last > 0 || each.action.hosts.rolling;
    return each.action.kind == Action::Kind::kRestart && (of_some || outage_for);
  };
  const bool given =
      outage_for ? *outage_for > Duration::zero()
                 : timeline.outage != Disturbance() || outage_at != ScenarioOptions().outage_at;
  if (given || job) return outage;
  if (const auto step = load_step()) return *step;
  if (std::none_of(timeline.at.begin(), timeline.at.end(), may_be_outage)) return outage;
  const HostSettings its_hosts = disturbed_hosts();  // of a graph that takes its time
  const bool of_some = !outage_for && its_hosts.hit() < its_hosts.replicas;
  if (of_some || !its_hosts.many()) return outage;
  std::optional<Duration> from;
  Duration to{0};
  for (const TimedAction& each : timeline.at) {
    if (!may_be_outage(each)) continue;
    const bool rolling = each.action.hosts.rolling;
    const Duration starts = retrystorm::scale(
        its_hosts.life.start, rolling ? static_cast<double>(its_hosts.replicas) : 1);
    from = std::min(from.value_or(each.t), each.t);
    to = std::max(
        to,
        saturating_add(each.t, std::max(kAtOnce, saturating_add(starts, its_hosts.life.warm_up))));
  }
  return {{.kind = Disturbance::Kind::kRestart}, *from, to - *from};
}

void declare_options(OptionList& options, ScenarioOptions& scenario) {
  options.group("Run");
  options.duration("outage-at", scenario.outage_at, "how long after the start the outage begins")
      .with_range("5s", "2m")
      .basic = "Run";
  Option& outage_for = options.text(
      "outage-for", "how long the outage lasts; 0s = none, as for a job",
      [&scenario](std::string_view text) {
        scenario.outage_for = parse_duration(text, Duration::zero());
      },
      [&scenario] { return format_duration(scenario.own_outage_length()); });
  outage_for.with_range("1s", "5m");
  outage_for.kind = Option::Kind::kDuration;
  outage_for.basic = "Run";
  options.duration("observe", scenario.observe, "how long the run goes on after the outage")
      .with_range("15s", "10m")
      .basic = "Run";
  options.duration("time-limit", scenario.time_limit,
                   "how long a job may take; it ends then, done or not", std::chrono::seconds(1));
  declare_options(options, scenario.timeline, Engine::kSimulated);
  options
      .number("scale", scenario.scale,
              "multiplies clients, rate, limit, k, workers, queues, connections and the rate and "
              "shedding limits: the same behaviour at another size",
              1e-3, 1e6)
      .with_range("0.01", "10");
  options
      .number(
          "capacity-within", scenario.capacity_within,
          "a share: how well the capacity is known; many runs are tried with so much less and more",
          0, 0.5)
      .with_range("0.01", "0.5");
  options
      .count("syn-linear-timeouts", scenario.syn_linear_timeouts,
             "how many times (and once more) the clients' kernel repeats a dropped SYN after 1 s, "
             "before it waits 2, 4, ... s (the sysctl tcp_syn_linear_timeouts): 4 = Linux 6.5 and "
             "later, after 1, 2, 3, 4, 5, 7, ... s; 0 = before, after 1, 3, 7, ... s",
             0, 255, "repeats")
      .with_range("0", "10");
  declare_options(options, scenario.workload);
  declare_options(options, scenario.service, Engine::kSimulated);
  declare_options(options, scenario.hosts);
  declare_options(options, scenario.graph);
  declare_what_is_unused(options, scenario);
}

UnusedOptions unused_options(const ScenarioOptions& asked, const std::vector<std::string>& named) {
  ScenarioOptions scenario = asked, defaults;
  const bool has_outage = asked.outage_length() > Duration::zero();
  const Topology topology = asked.graph.on() ? topology_or_none(asked) : Topology();
  for (const GraphNode& each : topology.nodes) {
    scenario.hosts.replicas = std::max(scenario.hosts.replicas, each.hosts.replicas);
  }
  // One that cannot be read may have hosts.
  if (asked.graph.on() && topology.empty()) scenario.hosts.replicas = 2;
  const std::vector<Connections> kinds = connections_in(asked);
  scenario.hosts.has_kept = std::any_of(kinds.begin(), kinds.end(),
                                        [](Connections each) { return each != Connections::kNew; });
  scenario.workload.picks_hosts =
      (topology.empty() ? asked.hosts : topology.nodes.front().hosts).each_process_picks();
  scenario.workload.reconnects = has_outage && loses_connections(asked.timeline.outage);
  if (asked.graph.on()) scenario.service.capacity = Capacity::kWorkers;
  OptionList in_force, usual;
  declare_options(in_force, scenario);
  declare_options(usual, defaults);
  UnusedOptions by_option = unused_among(in_force, usual, named);
  replace_those_of_clients(by_option, scenario, named);
  leave_out_those_used_later(by_option, scenario, named);

  UnusedOptions unused;
  find_unused(unused, asked.graph, asked.service, asked.hosts, named);
  if (const std::string why = why_load_is_fixed(asked.workload); !why.empty()) {
    find_unused_load(unused, asked.timeline, why);
  }
  find_unused_disturbances(unused, asked.timeline, has_outage);
  find_unused_reconnect(unused, scenario.workload);
  if (asked.workload.arrivals != Arrivals::kJob) {
    find_unused_after(unused, asked.timeline, run_length(asked), "--observe");
  }
  unused.merge(by_option);
  return unused;
}

Scenario make_scenario(const ScenarioOptions& options, std::uint64_t seed) {
  check(options.workload);
  check(options.service);
  check(options.graph, options.workload, options.service, options.hosts,
        options.outage_length() > Duration::zero() ? std::optional(options.timeline.outage)
                                                   : std::nullopt);
  Topology topology = options.graph.on() ? topology_of(options) : Topology();
  check_hosts(options, topology);
  const auto outage = options.outage();
  Scenario scenario{.service = scaled(options.service, options.scale),
                    .hosts = options.hosts,
                    .workload = scaled(options.workload, options.scale),
                    .seed = seed,
                    .syn_linear_timeouts = options.syn_linear_timeouts,
                    .outage = outage.what,
                    .outage_for = outage.length,
                    .changes = changes(options),
                    .length = run_length(options),
                    .report_interval = options.report_interval,
                    .server_report_interval = options.server_report_interval,
                    .trace = options.trace,
                    .traces_all = options.outage_for == Duration::zero()};
  for (Change& each : scenario.changes) {
    each.service = scaled(std::move(each.service), options.scale);
    if (each.service_beside) each.service_beside = scaled(*each.service_beside, options.scale);
  }
  if (outage.length > Duration::zero()) scenario.outage_at = outage.at;
  scenario.workload.picks_hosts = options.hosts.each_process_picks();

  if (scenario.workload.connections.multiplexed()) {
    scenario.service.max_connections = std::numeric_limits<std::size_t>::max();  // there are few
    scenario.service.when_free = false;
  }
  if (options.graph.on()) add_topology(scenario, options, std::move(topology));
  check_hedges(options);
  JobSettings& job = scenario.workload.job;
  job.tasks = std::max<std::uint64_t>(scaled(job.tasks, options.scale), 1);
  job.workers_start = scale(job.workers_start, 1 / options.scale);
  return scenario;
}

namespace {

// All hosts as one.
ServiceOptions as_one(ServiceOptions service, const HostSettings& hosts) {
  if (!hosts.many()) return service;
  constexpr std::size_t kUnbounded = std::numeric_limits<std::size_t>::max();
  if (service.max_connections == kUnbounded) service.max_connections = 0;
  return scaled(std::move(service), static_cast<double>(hosts.replicas));
}

// What can be said about clients of one kind. `asked`: their options, before they are scaled.
Outlook look_ahead(const Scenario& scenario, const ScenarioOptions& options,
                   const WorkloadOptions& workload, const WorkloadOptions& asked) {
  OutlookInput input{.workload = workload,
                     .service = options.graph.on()
                                    ? std::nullopt
                                    : std::optional(as_one(scenario.service, scenario.hosts)),
                     .hosts = scenario.disturbed_hosts(),
                     .outage_for = scenario.outage_for,
                     .length = scenario.length,
                     .turnaround = Calls::kTurnaround};
  if (scenario.outage_at) {
    input.outage = scenario.outage;
    input.calm = *scenario.outage_at;
    if (input.outage->kind == Disturbance::Kind::kThrottle) input.outage->value *= options.scale;
    std::size_t away = 0;  // of the hosts, at a time, while they restart
    for (const Change& each : scenario.changes) {
      if (each.kind == Change::Kind::kOutageBegins) {
        input.workload.rate *= each.load_beside;
        input.workload.plan.rate *= each.load_beside;
        input.workload.think_time = scale(input.workload.think_time, 1 / each.load_beside);
      }
      if (!each.restart || each.node != scenario.disturbed) continue;
      if (input.hosts.life.start == Duration::zero()) continue;
      const auto& [first, last, rolling] = *each.restart;
      away = std::max(away, rolling ? 1 : last > 0 ? last - first + 1 : input.hosts.replicas);
    }
    if (input.outage->kind == Disturbance::Kind::kRestart && away > 0) {
      input.hosts.outage_replicas = away;
    }
    input.note_outage_of_some();
  }
  note_unused_by_open_arrivals(input, asked);
  return look_ahead(input);
}

}  // namespace

std::vector<OutlookOfRow> look_ahead_at_all(const ScenarioOptions& options) {
  const Scenario scenario = make_scenario(options, 0);
  if (!options.graph.on()) {
    return {{"", look_ahead(scenario, options, scenario.workload, options.workload)}};
  }
  const Topology asked = topology_of(options);
  Topology whole = scenario.topology;
  for (GraphNode& each : whole.nodes) each.service = as_one(each.service, each.hosts);
  std::vector<OutlookOfRow> all;
  double wanted = 0;
  for (std::size_t i = 0; i < asked.client_edges(); ++i) {
    const GraphEdge& edge = scenario.topology.edges[i];
    all.push_back(
        {edge.clients, look_ahead(scenario, options, edge.caller, asked.edges[i].caller)});
    wanted += all.back().outlook.wanted;
  }
  const OutlookInput& first = all.front().outlook.input;
  whole.nodes[scenario.disturbed].hosts.outage_replicas =
      first.outage_of_some ? first.hosts.hit() : HostSettings::kAll;
  const GraphOutlook graph = look_ahead(whole, scenario.disturbed, wanted);
  for (auto& [name, outlook] : all) {
    outlook.graph = graph.figures;
    outlook.set_by_services = set_by_services(options.graph);
    outlook.warnings.insert(outlook.warnings.end(), graph.warnings.begin(), graph.warnings.end());
    if (all.size() > 1) continue;
    // All callers have the same waits, also where the clients do not retry.
    outlook.retries.usual_waits =
        options.graph.retry_at != "none" &&
        look_ahead(OutlookInput{.workload = options.workload}).retries.usual_waits;
  }
  return all;
}

Outlook look_ahead(const ScenarioOptions& options) {
  return std::move(look_ahead_at_all(options).front().outlook);
}

double memory_needed(const Scenario& scenario) {
  constexpr double kClient = 160;     // its state, wait and timeouts
  constexpr double kConnection = 32;  // its place in the service queue
  const double seconds = to_seconds(scenario.length);
  const auto clients_in = [seconds](const WorkloadOptions& workload) {
    return workload.arrivals == Arrivals::kOpen ? arrival_rate(workload) * seconds
                                                : static_cast<double>(workload.clients);
  };
  double clients = clients_in(scenario.workload);
  for (std::size_t i = 1; i < scenario.topology.client_edges(); ++i) {
    clients += clients_in(scenario.topology.edges[i].caller);
  }
  // Attempts that time out can fill the server, but only as fast as the clients send them.
  const double attempts =
      clients * (seconds / std::max(to_seconds(scenario.workload.timeout), 1e-3) + 1);
  constexpr double kPool = 600;  // its line and idle connections
  const std::size_t pools = scenario.workload.connections.kept()
                                ? process_count(scenario.workload) * scenario.hosts.most()
                                : 0;
  constexpr double kProcess = 1'800;  // its budgets and gates
  const bool shares = RetryPolicy(scenario.workload.retry).has_process();
  const double processes = shares ? static_cast<double>(process_count(scenario.workload)) : 0;
  constexpr double kBucket = 8;    // of the wait queue: at least one for every four seconds
  constexpr double kWindow = 150;  // of the verdict
  const HedgeSettings& hedge = scenario.workload.retry.hedge;
  const bool double_use = loses_connections(scenario) || hedge.any();
  constexpr double kHistory = 1e5;  // of the latencies of a process
  const double histories =
      hedge.percentile > 0 ? kHistory * static_cast<double>(process_count(scenario.workload)) : 0;
  return clients * kClient * (double_use ? 2 : 1) + histories + processes * kProcess +
         static_cast<double>(pools) * kPool + seconds / 4 * kBucket +
         seconds / to_seconds(RecoveryTracker::kWindow) * kWindow +
         std::min(static_cast<double>(scenario.service.max_connections), attempts) * kConnection;
}

}  // namespace retrystorm
