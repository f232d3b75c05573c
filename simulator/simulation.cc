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
  if (scenario.outage_at) {
    freeze_at_ = saturating_add(TimePoint{}, *scenario.outage_at);
  } else if (trace_) {
    trace_->open();
  }
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
                        [this](TimePoint now) { clients_.arrive(now); }});

  const TimePoint now = loop_.now();
  SimulationResult result{
      .summary = {.strategy = scenario_.workload.retry.strategy,
                  .clients = scenario_.workload.clients,
                  .arrival_rate =
                      scenario_.workload.arrivals == Arrivals::kOpen ? scenario_.workload.rate : 0,
                  .seed = scenario_.seed,
                  .elapsed = now - TimePoint{},
                  .counts = clients_.counts(),
                  .recovery = recorder_.end(now, clients_.counts()),
                  .latencies = clients_.latencies(),
                  .retry_metrics = clients_.retry_metrics(),
                  .longest_without_ok = clients_.longest_without_ok(now),
                  .paced = scenario_.workload.retry.pacer.on},
      .peak_concurrency = server_.peak_concurrency(),
      .events = loop_.events()};
  if (trace_) recorder_.tell(trace_->take_rest());
  recorder_.summarize(result.summary);
  return result;
}

TimePoint Simulation::next_control() const {
  return std::min({recorder_.next_tick(), server_report_at_, freeze_at_, wake_at_, end_});
}

void Simulation::control(TimePoint now) {
  if (now >= recorder_.next_tick()) {
    recorder_.tick(now, clients_.counts(), clients_.states(), clients_.latencies());
    if (trace_) recorder_.tell(trace_->take_finished());
  }
  if (now >= server_report_at_) report_server(now);
  if (now >= freeze_at_) {
    freeze_at_ = kNever;
    server_.freeze();
    recorder_.outage_begins(now, clients_.counts());
    if (trace_) trace_->open();
    wake_at_ = saturating_add(now, scenario_.outage_for);
  }
  if (now >= wake_at_) {
    wake_at_ = kNever;
    recorder_.outage_ends(now, clients_.counts());
    server_.wake(now);
  }
  control_at_ = next_control();
}

void Simulation::report_server(TimePoint now) {
  // A frozen server says nothing, and leaves out the lines it missed.
  if (server_.awake()) {
    const ServerInterval interval = server_.take_interval();
    for (ServiceObserver* each : observers_.service) {
      each->on_interval(now - TimePoint{}, now - server_reported_at_, interval);
    }
    server_reported_at_ = now;
  }
  server_report_at_ = saturating_add(server_report_at_, scenario_.server_report_interval);
}

}  // namespace retrystorm
