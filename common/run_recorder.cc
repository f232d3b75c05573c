#include "common/run_recorder.h"

#include <algorithm>

namespace retrystorm {

RunRecorder::RunRecorder(TimePoint start, Duration report_interval, const Outputs& outputs)
    : outputs_(outputs),
      start_(start),
      report_interval_(report_interval),
      report_at_(saturating_add(start, report_interval)),
      reported_at_(start),
      tracker_(start) {}

TimePoint RunRecorder::next_tick() const {
  return std::min(report_at_, tracker_.window_end());
}

void RunRecorder::tick(TimePoint now, const Counts& totals, std::size_t in_flight) {
  if (now >= report_at_) report(now, totals, in_flight);
  if (now >= tracker_.window_end()) tracker_.close_window(now, totals);
}

void RunRecorder::report(TimePoint now, const Counts& totals, std::size_t in_flight) {
  const Rates rates = retrystorm::rates(totals - reported_, now - reported_at_);
  if (outputs_.screen != nullptr) {
    outputs_.screen->show({.t = now - start_,
                           .rates = rates,
                           .in_flight = in_flight,
                           .amplification = totals.amplification(),
                           .outage = in_outage(),
                           .verdict = tracker_.recovery().verdict});
  } else if (outputs_.lines != nullptr) {
    *outputs_.lines << client_line(rates) << std::endl;
  }
  if (outputs_.json != nullptr) {
    outputs_.json->write(client_interval_json(now - start_, rates, in_flight));
  }
  reported_ = totals;
  reported_at_ = now;
  do report_at_ = saturating_add(report_at_, report_interval_);
  while (report_at_ <= now);
}

void RunRecorder::outage_begins(TimePoint now, const Counts& totals) {
  tracker_.outage_begins(now, totals);
  if (outputs_.json != nullptr) outputs_.json->write(outage_json(now - start_, "stop"));
}

void RunRecorder::outage_ends(TimePoint now, const Counts& totals) {
  tracker_.outage_ends(now, totals);
  if (outputs_.json != nullptr) outputs_.json->write(outage_json(now - start_, "continue"));
}

Recovery RunRecorder::end(TimePoint now, const Counts& totals) {
  tracker_.finish(now, totals);
  return tracker_.recovery();
}

void RunRecorder::summarize(const Summary& summary) {
  if (outputs_.screen != nullptr) outputs_.screen->close();
  if (outputs_.lines != nullptr) *outputs_.lines << summary_text(summary) << std::endl;
  if (outputs_.json != nullptr) outputs_.json->write(summary_json(summary));
}

}  // namespace retrystorm
