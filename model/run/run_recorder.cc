#include "model/run/run_recorder.h"

#include <algorithm>
#include <cmath>

#include "model/run/disturbance.h"

namespace retrystorm {

RunInterval RunRecorder::Listener::rotate(TimePoint now, const Counts& totals,
                                          const LatencyHistogram& latencies) {
  RunInterval result{.rates = rates(totals - reported, now - last),
                     .totals = totals,
                     .latency = quantiles(latencies.since(reported_latencies))};
  reported = totals;
  reported_latencies = latencies;
  last = now;
  do due = saturating_add(due, period);
  while (due <= now);
  return result;
}

void RunRecorder::add(RunObserver& observer, Duration period) {
  listeners_.push_back({.observer = &observer,
                        .period = period,
                        .due = saturating_add(start_, period),
                        .last = start_,
                        .reported = {},
                        .reported_latencies = {}});
}

TimePoint RunRecorder::next_tick() const {
  TimePoint next = tracker_.window_end();
  for (const Listener& listener : listeners_) next = std::min(next, listener.due);
  return next;
}

void RunRecorder::tick(TimePoint now, const Counts& totals, const ClientStates& clients,
                       const RunLatencies& latencies, std::optional<std::size_t> waiting) {
  // The workers of a job end when no task is left.
  const std::size_t there = clients.thinking + clients.in_flight + clients.waiting_to_retry;
  if (clients.mean_pause && there < most_workers_) tracker_.note_end_of_demand();
  most_workers_ = std::max(most_workers_, there);
  // Close the window first, because the reports show its verdict.
  if (now >= tracker_.window_end()) {
    tracker_.close_window(now, totals, waiting);
    phase_totals_.pass(now, totals);
    verdict_.reset();
  }
  std::optional<LatencyHistogram> attempts;  // summed once for all listeners
  for (Listener& listener : listeners_) {
    if (now < listener.due) continue;
    if (!verdict_) verdict_ = tracker_.verdict();
    if (!attempts) attempts = latencies.attempts();
    RunInterval interval = listener.rotate(now, totals, *attempts);
    interval.t = now - start_;
    interval.clients = clients;
    if (in_outage()) interval.outage = outage_;
    interval.verdict = *verdict_;
    listener.observer->on_interval(interval);
  }
}

void RunRecorder::outage_begins(TimePoint now, const Counts& totals, const std::string& what) {
  tracker_.outage_begins(now, totals);
  phase_totals_.next(now, totals);
  verdict_.reset();
  outage_ = what;
  for (const Listener& each : listeners_) {
    each.observer->on_outage(now - start_, OutageEvent::kBegin, outage_);
  }
}

void RunRecorder::outage_ends(TimePoint now, const Counts& totals) {
  tracker_.outage_ends(now, totals);
  phase_totals_.next(now, totals);
  verdict_.reset();
  for (const Listener& each : listeners_) {
    each.observer->on_outage(now - start_, OutageEvent::kEnd, outage_);
  }
}

void RunRecorder::action(TimePoint now, const std::string& what, Lasting leaves) {
  tracker_.disturb(now, what, leaves);
  if (!what.empty()) report_action(now, what);
}

void RunRecorder::fault_begins(TimePoint now, const std::string& what) {
  tracker_.disturbance_begins(now, what);
  report_action(now, what + " begins");
}

void RunRecorder::fault_ends(TimePoint now, const std::string& what) {
  tracker_.disturbance_ends(now, what);
  report_action(now, what + " ends");
}

void RunRecorder::set_load(TimePoint now, double load, const WorkloadOptions& workload) {
  const bool waits = workload.arrivals == Arrivals::kClosed;
  if (pauses(workload)) tracker_.note_uneven_arrivals();
  tracker_.set_load(now, load,
                    waits ? std::optional(to_seconds(workload.mean_think_time()) /
                                          static_cast<double>(workload.clients))
                          : std::nullopt);
}

void RunRecorder::report_action(TimePoint now, const std::string& what) {
  for (const Listener& each : listeners_) each.observer->on_action(now - start_, what);
}

void RunRecorder::report_requests(const std::vector<TracedRequest>& requests) {
  for (const TracedRequest& request : requests) {
    for (const Listener& each : listeners_) each.observer->on_request(request);
  }
}

void RunRecorder::report_hosts(TimePoint now, const HostIntervals& hosts) {
  for (const Listener& each : listeners_) each.observer->on_hosts(now - start_, hosts);
}

void RunRecorder::report_graph(const GraphShape& names, const GraphInterval& interval) {
  for (const Listener& each : listeners_) each.observer->on_graph(names, interval);
}

Recovery RunRecorder::end(TimePoint now, const Counts& totals, std::optional<std::size_t> waiting) {
  tracker_.finish(now, totals, waiting);
  phase_totals_.next(now, totals);
  Recovery recovery = tracker_.recovery();
  if (outage_.empty()) recovery.baseline_ok.reset();  // there is no "before"
  return recovery;
}

std::optional<RunPhases> RunRecorder::phases(const RunLatencies& latencies) const {
  return outage_.empty() ? std::nullopt : std::optional(phase_totals_.phases(latencies));
}

void RunRecorder::summarize(Summary summary) {
  if (summary.hosts && is_down(summary.recovery.verdict)) {
    // Without retries nothing else is new to the service after the outage.
    std::string_view& why = summary.recovery.causes.front().id;
    if (summary.hosts->killed_busy > 0 && why == "held-without-retries") why = "held-by-probes";
    const double out = std::round(summary.hosts->out());
    const auto all = static_cast<double>(summary.hosts->most);
    if (out > 0) summary.recovery.causes.push_back({"hosts-out", {{"out", out}, {"hosts", all}}});
  }
  for (const Listener& listener : listeners_) listener.observer->on_summary(summary);
}

}  // namespace retrystorm
