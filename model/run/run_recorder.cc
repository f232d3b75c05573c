#include "model/run/run_recorder.h"

#include <algorithm>

namespace retrystorm {

RunInterval RunRecorder::Listener::rotate(TimePoint now, const Counts& totals,
                                          const LatencyHistogram& latencies) {
  RunInterval result{.rates = rates(totals - told, now - last),
                     .totals = totals,
                     .latency = quantiles(latencies.since(told_latencies))};
  told = totals;
  told_latencies = latencies;
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
                        .told = {},
                        .told_latencies = {}});
}

TimePoint RunRecorder::next_tick() const {
  TimePoint next = tracker_.window_end();
  for (const Listener& listener : listeners_) next = std::min(next, listener.due);
  return next;
}

void RunRecorder::tick(TimePoint now, const Counts& totals, const ClientStates& clients,
                       const RunLatencies& latencies) {
  // The window first: what is told shows its verdict.
  if (now >= tracker_.window_end()) {
    tracker_.close_window(now, totals);
    verdict_.reset();
  }
  std::optional<LatencyHistogram> attempts;  // summed up once for all
  for (Listener& listener : listeners_) {
    if (now < listener.due) continue;
    if (!verdict_) verdict_ = tracker_.recovery().verdict;
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
  verdict_.reset();
  outage_ = what;
  for (const Listener& each : listeners_) {
    each.observer->on_outage(now - start_, OutageEvent::kBegin, outage_);
  }
}

void RunRecorder::outage_ends(TimePoint now, const Counts& totals) {
  tracker_.outage_ends(now, totals);
  verdict_.reset();
  for (const Listener& each : listeners_) {
    each.observer->on_outage(now - start_, OutageEvent::kEnd, outage_);
  }
}

void RunRecorder::action(TimePoint now, const std::string& what) {
  for (const Listener& each : listeners_) each.observer->on_action(now - start_, what);
}

void RunRecorder::tell(const std::vector<TracedRequest>& requests) {
  for (const TracedRequest& request : requests) {
    for (const Listener& each : listeners_) each.observer->on_request(request);
  }
}

Recovery RunRecorder::end(TimePoint now, const Counts& totals) {
  tracker_.finish(now, totals);
  return tracker_.recovery();
}

void RunRecorder::summarize(const Summary& summary) {
  for (const Listener& listener : listeners_) listener.observer->on_summary(summary);
}

}  // namespace retrystorm
