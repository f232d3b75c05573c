#include "simulator/simulation.h"

#include <algorithm>

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
      clients_(scenario, server_, trace()),
      server_(scenario.service, scenario.seed, scenario.abandoned, scenario.syn_linear_timeouts,
              scenario.workload.timeout, clients_, trace()),
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
  clients_.start();
  control_at_ = next_control();
  // At the same moment an answer comes before the timeout it beats.
  loop_.run(end_, stop,
            EventSource{[this] { return control_at_; }, [this](TimePoint now) { control(now); }},
            EventSource{[this] { return server_.next_event(); },
                        [this](TimePoint now) { server_.take(now); }},
            EventSource{[this] { return clients_.next_timeout(); },
                        [this](TimePoint now) { clients_.time_out(now); }},
            EventSource{[this] { return server_.next_repeat(); },
                        [this](TimePoint now) { server_.repeat_syn(now); }},
            EventSource{[this] { return clients_.next_wait(); },
                        [this](TimePoint now) { clients_.end_wait(now); }},
            EventSource{[this] { return clients_.next_arrival(); },
                        [this](TimePoint now) {
                          clients_.arrive(now);
                          if (clients_.all_done()) loop_.end();
                        }});

  const TimePoint now = loop_.now();
  SimulationResult result{.summary = {.strategy = scenario_.workload.retry.strategy,
                                      .outage = recorder_.outage(),
                                      .clients = scenario_.workload.clients,
                                      .arrival_rate = arrival_rate(scenario_.workload),
                                      .seed = scenario_.seed,
                                      .elapsed = now - TimePoint{},
                                      .counts = clients_.counts(),
                                      .recovery = recorder_.end(now, clients_.counts()),
                                      .latencies = clients_.latencies(),
                                      .retry_metrics = clients_.retry_metrics(),
                                      .longest_without_ok = clients_.longest_without_ok(now),
                                      .paced = scenario_.workload.retry.pacer.on,
                                      .job = clients_.job_result(now),
                                      .capacity = server_.capacity(now)},
                          .peak_concurrency = server_.peak_concurrency(),
                          .events = loop_.events()};
  if (trace_) recorder_.tell(trace_->take_rest());
  recorder_.summarize(result.summary);
  return result;
}

TimePoint Simulation::next_control() const {
  return std::min({recorder_.next_tick(), server_report_at_, next_change(), end_});
}

void Simulation::control(TimePoint now) {
  if (now >= recorder_.next_tick()) {
    recorder_.tick(now, clients_.counts(), clients_.states(), clients_.latencies());
    if (trace_) recorder_.tell(trace_->take_finished());
  }
  if (now >= server_report_at_) report_server(now);
  while (now >= next_change()) apply(now, scenario_.changes[changes_done_++]);
  control_at_ = next_control();
}

TimePoint Simulation::next_change() const {
  return changes_done_ < scenario_.changes.size()
             ? saturating_add(TimePoint{}, scenario_.changes[changes_done_].t)
             : kNever;
}

void Simulation::apply(TimePoint now, const Change& change) {
  const Disturbance::Kind outage = scenario_.outage.kind;
  if (change.kind == Change::Kind::kOutageBegins) {
    if (outage == Disturbance::Kind::kFreeze) server_.freeze();
    recorder_.outage_begins(now, clients_.counts(), print_disturbance(scenario_.outage));
    if (trace_) trace_->open();
    if (outage == Disturbance::Kind::kDrop) server_.go_down(now);
  }
  if (change.kind == Change::Kind::kOutageEnds) {
    recorder_.outage_ends(now, clients_.counts());
    if (outage == Disturbance::Kind::kDrop) server_.listen();
  }
  if (!change.told.empty()) recorder_.action(now, change.told);
  server_.configure(now, change.service);
  clients_.set_load(now, change.load);
  if (change.restart) server_.restart(now);
  const bool wakes =
      change.kind == Change::Kind::kOutageEnds && outage == Disturbance::Kind::kFreeze;
  if (wakes) server_.wake(now);
}

void Simulation::report_server(TimePoint now) {
  // A frozen server says nothing, and leaves out the lines it missed.
  if (server_.awake()) {
    const ServerInterval interval = server_.take_interval(now);
    for (ServiceObserver* each : observers_.service) {
      each->on_interval(now - TimePoint{}, now - server_reported_at_, interval);
    }
    server_reported_at_ = now;
  }
  server_report_at_ = saturating_add(server_report_at_, scenario_.server_report_interval);
}

}  // namespace retrystorm
