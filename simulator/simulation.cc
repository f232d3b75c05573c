#include "simulator/simulation.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "model/retry/title.h"

namespace retrystorm {
namespace {

constexpr TimePoint kNever = EventLoop::kNever;

}  // namespace

Simulation::Simulation(const Scenario& scenario, const SimulationObservers& observers)
    : scenario_(scenario),
      observers_(observers),
      end_(saturating_add(TimePoint{}, scenario.length)),
      trace_(scenario.trace > 0 ? std::optional(RequestTrace(RequestTrace::Sees::kServer,
                                                             TimePoint{}, scenario.trace))
                                : std::nullopt),
      clients_(scenario, trace()),
      reconnects_(loses_connections(scenario)
                      ? std::make_unique<Reconnects>(scenario, clients_.calls(), trace())
                      : nullptr),
      server_(
          scenario.service, scenario.seed, scenario.syn_linear_timeouts, scenario.workload.timeout,
          reconnects_ ? reconnects_->caller() : static_cast<Caller&>(clients_.calls()), trace()),
      graph_(scenario.topology.empty()
                 ? nullptr
                 : std::make_unique<Graph>(scenario_, loop_, server_, clients_.calls())),
      recorder_(TimePoint{}),
      server_report_at_(saturating_add(TimePoint{}, scenario.server_report_interval)) {
  if (!scenario.outage_at && trace_) trace_->open();
  for (RunObserver* each : observers_.run) recorder_.add(*each, scenario.report_interval);
  if (observers_.service.empty()) {
    server_report_at_ = kNever;
  } else {
    server_.record_times();
  }
}

SimulationResult Simulation::run(const std::function<bool()>& stop) {
  control_at_ = next_control();
  calls().close_idle_after(TimePoint{}, scenario_.service.server_idle);
  // Attempts in line for a connection go on before anything else happens.
  const EventSource pools{[this] { return calls().next_pool_event(); },
                          [this](TimePoint now) { calls().take_pool_event(now); }};
  const EventSource controls{[this] { return control_at_; },
                             [this](TimePoint now) { control(now); }};
  const auto run_with = [&](auto... before) {
    return [&, before...](auto... after) {
      // An answer and a timeout may be due at the same moment. The answer then comes first.
      loop_.run(end_, stop, before...,
                EventSource{[this] { return server_.next_event(); },
                            [this](TimePoint now) { server_.take(now); }},
                EventSource{[this] { return calls().next_timeout(); },
                            [this](TimePoint now) { calls().time_out(now); }},
                EventSource{[this] { return server_.next_repeat(); },
                            [this](TimePoint now) { server_.repeat_syn(now); }},
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
    reconnects_->send_to(server_);
    clients_.start(*reconnects_);
    Calls& connects = reconnects_->connects();
    run_with(pools, controls)(EventSource{[&] { return connects.next_timeout(); },
                                          [&](TimePoint now) { connects.time_out(now); }},
                              EventSource{[&] { return connects.next_wait(); },
                                          [&](TimePoint now) { connects.end_wait(now); }});
  } else if (graph_) {
    clients_.start(graph_->front());
    run_with(controls, EventSource{[this] { return graph_->next_event(); },
                                   [this](TimePoint now) { graph_->take_event(now); }})();
  } else {
    clients_.start(server_);
    scenario_.workload.connections.kept() ? run_with(pools, controls)() : run_with(controls)();
  }

  const TimePoint now = loop_.now();
  RunLatencies latencies = calls().end(now);
  Recovery recovery = recorder_.end(now, calls().counts(), server_.waiting());
  if (recovery.to_watch) recovery.reason += ": --observe=" + brief_duration(*recovery.to_watch);
  // After the end of the recorder, because the last phase ends there.
  const std::optional<RunPhases> phases = recorder_.phases(latencies);
  SimulationResult result{
      .summary = {.title = observers_.run.empty() ? std::string()
                                                  : retries_title(scenario_.workload.retry),
                  .outage = recorder_.outage(),
                  .clients = scenario_.workload.clients,
                  .processes = sharing_processes(scenario_.workload),
                  .arrival_rate = arrival_rate(scenario_.workload),
                  .seed = scenario_.seed,
                  .elapsed = now - TimePoint{},
                  .counts = calls().counts(),
                  .recovery = std::move(recovery),
                  .latencies = std::move(latencies),
                  .phases = phases,
                  .retry_metrics = calls().retry_metrics(),
                  .longest_without_ok = calls().longest_without_ok(now),
                  .paced = scenario_.workload.retry.pacer.on,
                  .job = clients_.job_result(now),
                  .reconnect = reconnects_ ? std::optional(reconnects_->result()) : std::nullopt,
                  .graph = graph_ ? std::optional(graph_->result()) : std::nullopt,
                  .kept = calls().kept_connections(),
                  .on_waking = server(scenario_.disturbed).found_on_waking(),
                  .capacity = server_.capacity(now)},
      .peak_concurrency = server_.peak_concurrency(),
      .events = loop_.events()};
  if (trace_) recorder_.report_requests(trace_->take_rest());
  recorder_.summarize(result.summary);
  return result;
}

TimePoint Simulation::next_control() const {
  const TimePoint graph = graph_ ? graph_->next_interval() : kNever;
  return std::min({recorder_.next_tick(), server_report_at_, next_change(), graph, end_});
}

void Simulation::control(TimePoint now) {
  if (now >= recorder_.next_tick()) {
    recorder_.tick(now, calls().counts(), states(), calls().latencies(), server_.waiting());
    if (trace_) recorder_.report_requests(trace_->take_finished());
    if (observers_.places) observers_.places(now - TimePoint{}, places());
  }
  if (graph_) {
    if (const auto interval = graph_->take_interval(now)) {
      recorder_.report_graph(graph_->shape(), *interval);
    }
  }
  if (now >= server_report_at_) report_server(now);
  while (now >= next_change()) apply(now, scenario_.changes[changes_done_++]);
  control_at_ = next_control();
}

ClientStates Simulation::states() const {
  ClientStates states = clients_.states();
  if (reconnects_) states.disconnected = reconnects_->without();
  if (states.kept && !graph_) states.kept->kernel = server_.kernel();
  return states;
}

std::vector<AttemptPlaces> Simulation::places() {
  if (graph_) return graph_->places();
  std::size_t in_flight = calls().in_flight(), in_service = calls().in_service();
  if (reconnects_) {
    in_flight += reconnects_->connects().in_flight();
    in_service += reconnects_->connects().in_service();
  }
  return {server_.places(in_flight, in_service)};
}

TimePoint Simulation::next_change() const {
  return changes_done_ < scenario_.changes.size()
             ? saturating_add(TimePoint{}, scenario_.changes[changes_done_].t)
             : kNever;
}

void Simulation::apply(TimePoint now, const Change& change) {
  using Kind = Change::Kind;
  if (change.kind == Kind::kOutageBegins) {
    calls().begin_phase(now);
    recorder_.outage_begins(now, calls().counts(), print_disturbance(scenario_.outage));
    if (graph_) graph_->outage_begins(now);
    if (trace_) trace_->open();
    if (reconnects_) reconnects_->lose_all(now);
  }
  if (change.kind == Kind::kOutageEnds) {
    calls().begin_phase(now);
    recorder_.outage_ends(now, calls().counts());
    if (graph_) graph_->outage_ends(now);
  }
  if (!change.announcement.empty()) recorder_.action(now, change.announcement);
  const bool begins = change.kind == Kind::kOutageBegins || change.kind == Kind::kFaultBegins;
  const bool ends = change.kind == Kind::kOutageEnds || change.kind == Kind::kFaultEnds;
  if (begins) begin(now, change);
  server(change.node).configure(now, change.service);
  clients_.set_load(now, change.load);
  if (change.restart) server(change.node).restart(now);
  if (ends) end(now, change);
}

void Simulation::begin(TimePoint now, const Change& change) {
  if (++under_way_[{change.node, change.what}] > 1) return;
  if (change.what == Disturbance::Kind::kDrop) server(change.node).go_down(now);
  if (change.what != Disturbance::Kind::kFreeze) return;
  server(change.node).freeze();
  calls().close_idle_after(now, Duration::max());
}

void Simulation::end(TimePoint now, const Change& change) {
  if (--under_way_[{change.node, change.what}] > 0) return;
  if (change.what == Disturbance::Kind::kDrop) server(change.node).listen();
  if (change.what != Disturbance::Kind::kFreeze) return;
  server(change.node).wake(now);
  if (graph_) graph_->wake(now, change.node);
  // It looks at requests that have arrived before it looks at its timers.
  calls().close_idle_after(now, scenario_.service.server_idle);
}

void Simulation::report_server(TimePoint now) {
  // A frozen server reports nothing, and skips the reports it missed.
  if (server_.awake()) {
    ServerInterval interval = server_.take_interval(now);
    // A request that is being turned away has left the service, but its client still waits.
    const std::size_t connecting = reconnects_ ? reconnects_->connects().in_service() : 0;
    interval.waited_for = std::min(calls().in_service() + connecting, interval.concurrency);
    for (ServiceObserver* each : observers_.service) {
      each->on_interval(now - TimePoint{}, now - server_reported_at_, interval);
    }
    server_reported_at_ = now;
  }
  server_report_at_ = saturating_add(server_report_at_, scenario_.server_report_interval);
}

}  // namespace retrystorm
