#include "common/run_recorder.h"

#include <algorithm>

namespace retrystorm {

RunRecorder::Period::Period(TimePoint start, Duration interval)
    : length(interval), due(saturating_add(start, interval)), last(start) {}

Rates RunRecorder::Period::rotate(TimePoint now, const Counts& totals) {
  const Rates result = rates(totals - reported, now - last);
  reported = totals;
  last = now;
  do due = saturating_add(due, length);
  while (due <= now);
  return result;
}

RunRecorder::RunRecorder(TimePoint start, Duration report_interval, const Outputs& outputs)
    : outputs_(outputs),
      start_(start),
      report_(start, report_interval),
      observation_(start, outputs.observer ? kObserverInterval : Duration::max()),
      tracker_(start) {}

TimePoint RunRecorder::next_tick() const {
  return std::min({report_.due, observation_.due, tracker_.window_end()});
}

void RunRecorder::tick(TimePoint now, const Counts& totals, const ClientStates& clients) {
  if (now >= report_.due) {
    const Rates rates = report_.rotate(now, totals);
    if (outputs_.screen != nullptr) {
      outputs_.screen->show({.t = now - start_,
                             .rates = rates,
                             .in_flight = clients.in_flight,
                             .amplification = totals.amplification(),
                             .outage = in_outage(),
                             .verdict = tracker_.recovery().verdict});
    } else if (outputs_.lines != nullptr) {
      *outputs_.lines << client_line(rates) << std::endl;
    }
    if (outputs_.json != nullptr) {
      outputs_.json->write(client_interval_json(now - start_, rates, clients));
    }
  }
  // The window first: what is observed shows its verdict.
  if (now >= tracker_.window_end()) tracker_.close_window(now, totals);
  if (now >= observation_.due) {
    const Rates rates = observation_.rotate(now, totals);
    outputs_.observer(client_interval_json(now - start_, rates, clients));
  }
}

void RunRecorder::tell(const nlohmann::ordered_json& event) const {
  if (outputs_.json != nullptr) outputs_.json->write(event);
  if (outputs_.observer) outputs_.observer(event);
}

void RunRecorder::outage_begins(TimePoint now, const Counts& totals) {
  tracker_.outage_begins(now, totals);
  tell(outage_json(now - start_, "stop"));
}

void RunRecorder::outage_ends(TimePoint now, const Counts& totals) {
  tracker_.outage_ends(now, totals);
  tell(outage_json(now - start_, "continue"));
}

Recovery RunRecorder::end(TimePoint now, const Counts& totals) {
  tracker_.finish(now, totals);
  return tracker_.recovery();
}

void RunRecorder::summarize(const Summary& summary) {
  if (outputs_.screen != nullptr) outputs_.screen->close();
  if (outputs_.lines != nullptr) *outputs_.lines << summary_text(summary) << std::endl;
  if (outputs_.json != nullptr || outputs_.observer) tell(summary_json(summary));
}

}  // namespace retrystorm
