#include "simulator/simulation.h"

#include <algorithm>
#include <limits>

#include "model/base/random.h"
#include "model/retry/strategies.h"
#include "model/run/outlook_formulas.h"

namespace retrystorm {
namespace {

constexpr TimePoint kNever = EventLoop::kNever;

// The clients of other kinds than the first one.
std::vector<std::unique_ptr<Clients>> other_clients(const Scenario& scenario) {
  constexpr std::uint64_t kStreams = std::numeric_limits<std::uint64_t>::max() - 100'000;
  std::vector<std::unique_ptr<Clients>> others;
  for (std::size_t i = 1; i < scenario.topology.client_edges(); ++i) {
    others.push_back(std::make_unique<Clients>(scenario, scenario.topology.edges[i].caller,
                                               ClientRandom(scenario.seed, kStreams - i).state(),
                                               nullptr));
  }
  return others;
}

}  // namespace

std::string callers_title(const Scenario& scenario) {
  const auto retries = [](const WorkloadOptions& caller) {
    return caller.retry.limit.max_retries > 0 || caller.retry.hedge.any();
  };
  const Topology& topology = scenario.topology;
  for (std::size_t i = topology.client_edges(); i < topology.edges.size(); ++i) {
    const GraphEdge& edge = topology.edges[i];
    if (retries(scenario.workload) || !retries(edge.caller)) continue;
    return "no retries of the clients, but of " + topology.nodes[edge.from].name + ": " +
           retries_title(edge.caller.retry);
  }
  return retries_title(scenario.workload.retry);
}

Simulation::Simulation(const Scenario& scenario, const SimulationObservers& observers)
    : scenario_(scenario),
      observers_(observers),
      end_(saturating_add(TimePoint{}, scenario.length)),
      trace_(scenario.trace > 0 ? std::optional(RequestTrace(RequestTrace::Sees::kServer,
                                                             TimePoint{}, scenario.trace))
                                : std::nullopt),
      clients_(scenario, scenario.workload, scenario.seed, trace()),
      others_(other_clients(scenario)),
      reconnects_(loses_connections(scenario)
                      ? std::make_unique<Reconnects>(scenario, clients_.calls(), trace())
                      : nullptr),
      graph_(scenario.topology.empty() ? nullptr
                                       : std::make_unique<Graph>(scenario_, loop_, calls_of_all())),
      hosts_(
          scenario.hosts, scenario.service, scenario.seed, scenario.syn_linear_timeouts,
          graph_ ? graph_->front_callers().patience() : scenario.workload.timeout,
          reconnects_ ? reconnects_->caller()
          : graph_    ? graph_->front_callers().as_one()
                      : static_cast<Caller&>(clients_.calls()),
          graph_ ? graph_->front_callers().as_one() : static_cast<CallerOfHosts&>(clients_.calls()),
          trace()),
      load_steps_(scenario_.workload.plan.steps()),
      recorder_(TimePoint{}),
      server_report_at_(saturating_add(TimePoint{}, scenario.server_report_interval)),
      hosts_report_at_(scenario.disturbed_hosts().many() && !observers.run.empty()
                           ? saturating_add(TimePoint{}, scenario.report_interval)
                           : kNever) {
  if (graph_) graph_->serve(hosts_);
  if (trace_ && (scenario.traces_all || !scenario.outage_at)) trace_->open();
  for (RunObserver* each : observers_.run) recorder_.add(*each, scenario.report_interval);
  note_capacity(scenario.service);
  if (observers_.service.empty()) {
    server_report_at_ = kNever;
  } else {
    hosts_.for_each(TimePoint{}, [](ServerNode& server, bool) { server.record_times(); });
  }
}

bool Simulation::fails_for_ever() const {
  constexpr double kFree = 2e6, kOfEach = 100;
  double each_second = 0;
  const auto add = [&each_second](const WorkloadOptions& workload) {
    each_second += workload.arrivals == Arrivals::kOpen
                       ? std::numeric_limits<double>::infinity()
                       : kOfEach * static_cast<double>(workload.clients);
  };
  add(scenario_.workload);
  for (std::size_t i = 0; i < others_.size(); ++i) add(scenario_.topology.edges[i + 1].caller);
  const Counts counts = totals();
  return static_cast<double>(counts.failures() + counts.not_sent) >
         kFree + each_second * to_seconds(scenario_.length);
}

namespace {

// With what the windows do not show: how the run ended, and what a look at it would say.
Recovery judged_recovery(Recovery recovery, const Scenario& scenario,
                         const std::optional<JobResult>& job, bool cut, Duration elapsed) {
  if (recovery.to_watch) {
    recovery.causes.push_back({"watch-until", {{"until", brief_duration(*recovery.to_watch)}}});
  }
  if (loses_connections(scenario) && recovery.verdict == Verdict::kUndecided) {
    recovery.causes.push_back({"see-reconnect", {}});
  }
  if (cut) {
    recovery.verdict = scenario.outage_at ? Verdict::kUndecided : Verdict::kNoOutage;
    recovery.to_watch.reset();
    recovery.causes = {{"cut", {{"at", brief_duration(elapsed)}}}};
  }
  if (job && job->makespan && scenario.outage_at && *job->makespan < *scenario.outage_at) {
    recovery.verdict = Verdict::kUndecided;
    recovery.outage_failed = true;
    recovery.causes = {{"job-done-before", {}}};
  }
  return recovery;
}

}  // namespace

SimulationResult Simulation::run(const std::function<bool()>& stop) {
  bool cut = false;
  const std::function<bool()> ends = [this, &stop, &cut] {
    return (stop && stop()) || (cut = fails_for_ever());
  };
  control_at_ = next_control();
  if (!graph_) calls().close_idle_after(TimePoint{}, scenario_.service.server_idle);
  // Attempts in line for a connection go on before anything else happens.
  const EventSource pools{[this] { return calls().next_pool_event(); },
                          [this](TimePoint now) { calls().take_pool_event(now); }};
  const EventSource controls{[this] { return control_at_; },
                             [this](TimePoint now) { control(now); }};
  const auto run_with = [&](auto... before) {
    return [&, before...](auto... after) {
      // An answer and a timeout may be due at the same moment. The answer then comes first.
      loop_.run(end_, ends, before...,
                EventSource{[this] { return hosts_.next_event(); },
                            [this](TimePoint now) { hosts_.take(now); }},
                EventSource{[this] { return calls().next_timeout(); },
                            [this](TimePoint now) { calls().time_out(now); }},
                EventSource{[this] { return hosts_.next_repeat(); },
                            [this](TimePoint now) { hosts_.repeat_syn(now); }},
                EventSource{[this] { return calls().next_wait(); },
                            [this](TimePoint now) { calls().end_wait(now); }},
                EventSource{[this] { return clients_.next_arrival(); },
                            [this](TimePoint now) {
                              clients_.arrive(now);
                              if (clients_.all_done()) loop_.end();
                            }},
                after...);
    };
  };
  if (reconnects_) {
    reconnects_->send_to(hosts_.first());
    clients_.start(*reconnects_);
    Calls& connects = reconnects_->connects();
    run_with(pools, controls)(EventSource{[&] { return connects.next_timeout(); },
                                          [&](TimePoint now) { connects.time_out(now); }},
                              EventSource{[&] { return connects.next_wait(); },
                                          [&](TimePoint now) { connects.end_wait(now); }});
  } else if (graph_) {
    std::size_t door = 0;
    for_all_clients([&](Clients& each) { each.start(graph_->front_callers().door(door++)); });
    const EventSource graph_pools{[this] { return graph_->next_pool_event(); },
                                  [this](TimePoint now) { graph_->take_pool_event(now); }};
    const EventSource graph{[this] { return graph_->next_event(); },
                            [this](TimePoint now) { graph_->take_event(now); }};
    const EventSource others{[this] { return others_.empty() ? kNever : next_of_others(); },
                             [this](TimePoint now) { take_other(now); }};
    graph_->keeps_connections() ? run_with(graph_pools, controls, graph)(others)
                                : run_with(controls, graph)(others);
  } else {
    clients_.start(hosts_.target());
    scenario_.workload.connections.kept() ? run_with(pools, controls)() : run_with(controls)();
  }

  if (loop_.now() >= end_) control(loop_.now());  // what was due beside the last event
  const TimePoint now = loop_.now();
  const std::optional<JobResult> job = clients_.job_result(now);
  Recovery recovery = judged_recovery(recorder_.end(now, totals(), hosts_.waiting()), scenario_,
                                      job, cut, now - TimePoint{});
  RunLatencies latencies = calls().end(now);  // says what of the counts is left out
  for (const auto& each : others_) latencies += each->calls().end(now);
  SimulationResult result{
      .summary = {.title = observers_.run.empty() ? std::string()
                           : others_.empty()
                               ? callers_title(scenario_)
                               : std::to_string(others_.size() + 1) + " kinds of clients",
                  .outage = recorder_.outage(),
                  .seed = scenario_.seed,
                  .elapsed = now - TimePoint{},
                  .counts = totals(),
                  .recovery = std::move(recovery),
                  .latencies = std::move(latencies),
                  .job = job,
                  .reconnect = reconnects_ ? std::optional(reconnects_->result()) : std::nullopt,
                  .graph = graph_ ? std::optional(graph_->result()) : std::nullopt,
                  .hosts = disturbed_hosts().result(now),
                  .on_waking = disturbed_hosts().found_on_waking(),
                  .capacity = hosts_.capacity(now)},
      .peak_concurrency = hosts_.peak_concurrency(),
      .peak_is_bound = hosts_.peak_is_bound(),
      .events = loop_.events(),
      .cut = cut};
  add_clients(now, result.summary);
  if (trace_) recorder_.report_requests(trace_->take_rest());
  if (!observers_.run.empty()) recorder_.summarize(result.summary);
  return result;
}

std::vector<Calls*> Simulation::calls_of_all() {
  std::vector<Calls*> all;
  for_all_clients([&](Clients& each) { all.push_back(&each.calls()); });
  return all;
}

Counts Simulation::totals() const {
  Counts all = clients_.calls().counts();
  for (const auto& each : others_) all += each->calls().counts();
  return all;
}

const RunLatencies& Simulation::latencies() {
  if (others_.empty()) return calls().latencies();
  latencies_of_all_ = calls().latencies();
  for (const auto& each : others_) *latencies_of_all_ += each->calls().latencies();
  return *latencies_of_all_;
}

TimePoint Simulation::next_of_others() {
  TimePoint next = kNever;
  for (const auto& each : others_) {
    next = std::min(
        {next, each->calls().next_timeout(), each->calls().next_wait(), each->next_arrival()});
  }
  return next;
}

void Simulation::take_other(TimePoint now) {
  for (const auto& each : others_) {
    if (each->calls().next_timeout() <= now) return each->calls().time_out(now);
  }
  for (const auto& each : others_) {
    if (each->calls().next_wait() <= now) return each->calls().end_wait(now);
    if (each->next_arrival() <= now) return each->arrive(now);
  }
}

void Simulation::add_clients(TimePoint now, Summary& summary) {
  const auto add = [&](Clients& clients, const WorkloadOptions& workload) {
    if (workload.arrivals != Arrivals::kOpen || others_.empty()) {
      summary.clients += workload.clients;
    }
    summary.arrival_rate += arrival_rate(workload);
    summary.arrivals = workload.plan.unless_constant();
    summary.processes += sharing_processes(workload);
    summary.paced |= workload.retry.pacer.on;
    const Calls& made = clients.calls();
    summary.retry_metrics += made.retry_metrics();
    summary.longest_without_ok = std::max(summary.longest_without_ok, made.longest_without_ok(now));
    if (const auto kept = made.kept_connections()) {
      if (!summary.kept) summary.kept.emplace();
      *summary.kept += *kept;
    }
  };
  add(clients_, scenario_.workload);
  for (std::size_t i = 0; i < others_.size(); ++i) {
    add(*others_[i], scenario_.topology.edges[i + 1].caller);
  }
  // After the end of the recorder, because the last phase ends there.
  summary.phases = recorder_.phases(summary.latencies);
}

TimePoint Simulation::next_control() const {
  const TimePoint graph = graph_ ? graph_->next_interval() : kNever;
  return std::min({recorder_.next_tick(), server_report_at_, hosts_report_at_, next_change(),
                   next_load_step(), graph, end_});
}

void Simulation::control(TimePoint now) {
  if (now >= recorder_.next_tick()) {
    recorder_.tick(now, totals(), states(), latencies(), hosts_.waiting());
    if (trace_) recorder_.report_requests(trace_->take_finished());
    if (observers_.places) observers_.places(now - TimePoint{}, places());
  }
  if (graph_) {
    if (const auto interval = graph_->take_interval(now)) {
      recorder_.report_graph(graph_->shape(), *interval);
    }
  }
  if (now >= hosts_report_at_) {
    recorder_.report_hosts(now, hosts_of(scenario_.disturbed).take_intervals(now));
    hosts_report_at_ = saturating_add(hosts_report_at_, scenario_.report_interval);
  }
  if (now >= server_report_at_) report_server(now);
  while (now >= next_load_step()) {
    planned_load_ = load_steps_.front().load;
    load_steps_ = load_steps_.subspan(1);
    recorder_.set_load(now, load_beside_ * planned_load_, scenario_.workload);
    set_load(now);
  }
  while (now >= next_change()) apply(now, scenario_.changes[changes_done_++]);
  control_at_ = next_control();
}

ClientStates Simulation::states() const {
  ClientStates states = clients_.states();
  for (const auto& each : others_) states = states + each->states();
  if (reconnects_) states.disconnected = reconnects_->without();
  if (states.kept && !graph_) states.kept->kernel = hosts_.kernel();
  return states;
}

std::vector<AttemptPlaces> Simulation::places() {
  if (graph_) return graph_->places();
  std::size_t in_flight = calls().in_flight(), in_service = calls().in_service();
  if (reconnects_) {
    in_flight += reconnects_->connects().in_flight();
    in_service += reconnects_->connects().in_service();
  }
  return {hosts_.places(in_flight, in_service)};
}

TimePoint Simulation::next_change() const {
  return changes_done_ < scenario_.changes.size()
             ? saturating_add(TimePoint{}, scenario_.changes[changes_done_].t)
             : kNever;
}

void Simulation::set_load(TimePoint now) {
  const double planned = scenario_.workload.plan.has_times() ? 1 : planned_load_;
  for_all_clients([&](Clients& each) { each.set_load(now, load_ * planned); });
}

void Simulation::apply(TimePoint now, const Change& change) {
  using Kind = Change::Kind;
  if (change.kind == Kind::kOutageBegins) {
    for_all_clients([&](Clients& each) { each.calls().begin_phase(now); });
    recorder_.outage_begins(now, totals(), print_disturbance(scenario_.outage));
    if (graph_) graph_->outage_begins(now);
    hosts_of(scenario_.disturbed).outage_begins();
    if (trace_) trace_->open();
    if (reconnects_) reconnects_->lose_all(now);
  }
  if (change.kind == Kind::kOutageEnds) {
    for_all_clients([&](Clients& each) { each.calls().begin_phase(now); });
    recorder_.outage_ends(now, totals());
    if (graph_) graph_->outage_ends(now);
    hosts_of(scenario_.disturbed).outage_ends();
  }
  if (change.kind == Kind::kAction) recorder_.action(now, change.announcement, change.leaves);
  if (change.kind == Kind::kFaultBegins) recorder_.fault_begins(now, change.announcement);
  if (change.kind == Kind::kFaultEnds) recorder_.fault_ends(now, change.announcement);
  load_ = change.load;
  load_beside_ = change.load_beside;
  note_capacity(change.service_beside.value_or(change.service));
  recorder_.set_load(now, load_beside_ * planned_load_, scenario_.workload);
  const bool begins = change.kind == Kind::kOutageBegins || change.kind == Kind::kFaultBegins;
  const bool ends = change.kind == Kind::kOutageEnds || change.kind == Kind::kFaultEnds;
  if (begins) begin(now, change);
  hosts_of(change.node).configure(now, change.service, change.service_beside);
  set_load(now);
  if (change.restart) hosts_of(change.node).restart(now, *change.restart);
  if (ends) end(now, change);
}

void Simulation::note_capacity(const ServiceOptions& service) {
  const bool varies = scenario_.hosts.life.scaling.on() ||
                      service.rate_limit.autoscale.kind != AutoscaleKind::kNone;
  if (graph_ || varies) return;
  recorder_.set_capacity(capacity_of(service) * static_cast<double>(scenario_.hosts.replicas));
}

void Simulation::begin(TimePoint now, const Change& change) {
  const bool all = change.kind == Change::Kind::kFaultBegins;
  if (change.what == Disturbance::Kind::kDrop) {
    hosts_of(change.node).for_each(now, [&](ServerNode& server, bool hit) {
      if (hit || all) server.go_down(now);
    });
  }
  if (++under_way_[{change.node, change.what}] > 1) return;
  if (change.what != Disturbance::Kind::kFreeze) return;
  hosts_of(change.node).for_each(now, [all](ServerNode& server, bool hit) {
    if (hit || all) server.freeze();
  });
  if (graph_) return graph_->frozen(now, change.node);
  calls().close_idle_after(now, Duration::max());
}

void Simulation::end(TimePoint now, const Change& change) {
  const bool all = change.kind == Change::Kind::kFaultEnds;
  if (change.what == Disturbance::Kind::kDrop) {
    hosts_of(change.node).for_each(now, [all](ServerNode& server, bool hit) {
      if (hit || all) server.listen();
    });
  }
  if (--under_way_[{change.node, change.what}] > 0) return;
  if (change.what != Disturbance::Kind::kFreeze) return;
  if (graph_) return graph_->wake(now, change.node);
  hosts_.for_each(now, [now](ServerNode& server, bool) {
    if (!server.awake()) server.wake(now);
  });
  // It looks at requests that have arrived before it looks at its timers.
  calls().close_idle_after(now, scenario_.service.server_idle);
}

void Simulation::report_server(TimePoint now) {
  // A frozen server reports nothing, and skips the reports it missed.
  if (hosts_.awake()) {
    ServerInterval interval = hosts_.take_interval(now);
    // A request that is being turned away has left the service, but its client still waits.
    const std::size_t connecting = reconnects_ ? reconnects_->connects().in_service() : 0;
    std::size_t in_service = connecting;
    for_all_clients([&](Clients& each) { in_service += each.calls().in_service(); });
    interval.waited_for = std::min(in_service, interval.concurrency);
    for (ServiceObserver* each : observers_.service) {
      each->on_interval(now - TimePoint{}, now - server_reported_at_, interval);
    }
    server_reported_at_ = now;
  }
  server_report_at_ = saturating_add(server_report_at_, scenario_.server_report_interval);
}

}  // namespace retrystorm
