#include "model/run/run_recorder.h"

#include <algorithm>

namespace retrystorm {

Rates RunRecorder::Listener::rotate(TimePoint now, const Counts& totals) {
  const Rates result = rates(totals - told, now - last);
  told = totals;
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
                        .told = {}});
}

TimePoint RunRecorder::next_tick() const {
  TimePoint next = tracker_.window_end();
  for (const Listener& listener : listeners_) next = std::min(next, listener.due);
  return next;
}

void RunRecorder::tick(TimePoint now, const Counts& totals, const ClientStates& clients) {
  // The window first: what is told shows its verdict.
  if (now >= tracker_.window_end()) {
    tracker_.close_window(now, totals);
    verdict_.reset();
  }
  for (Listener& listener : listeners_) {
    if (now < listener.due) continue;
    if (!verdict_) verdict_ = tracker_.recovery().verdict;
    listener.observer->on_interval({.t = now - start_,
                                    .rates = listener.rotate(now, totals),
                                    .totals = totals,
                                    .clients = clients,
                                    .outage = in_outage(),
                                    .verdict = *verdict_});
  }
}

void RunRecorder::outage_begins(TimePoint now, const Counts& totals) {
  tracker_.outage_begins(now, totals);
  verdict_.reset();
  for (const Listener& each : listeners_) {
    each.observer->on_outage(now - start_, OutageEvent::kBegin);
  }
}

void RunRecorder::outage_ends(TimePoint now, const Counts& totals) {
  tracker_.outage_ends(now, totals);
  verdict_.reset();
  for (const Listener& each : listeners_) each.observer->on_outage(now - start_, OutageEvent::kEnd);
}

Recovery RunRecorder::end(TimePoint now, const Counts& totals) {
  tracker_.finish(now, totals);
  return tracker_.recovery();
}

void RunRecorder::summarize(const Summary& summary) {
  for (const Listener& listener : listeners_) listener.observer->on_summary(summary);
}

}  // namespace retrystorm
