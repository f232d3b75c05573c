#include "common/output/line_report.h"

#include <chrono>
#include <cstddef>

#include "common/output/figures_text.h"
#include "common/output/report.h"

namespace retrystorm {

void LineReport::on_interval(const RunInterval& interval) {
  // A job may last for hours.
  if (interval.clients.mean_pause) {
    if (interval.t < next_of_job_) return;
    next_of_job_ = scale(interval.t, 1.2);
  }
  out_ << client_line(interval.rates) << std::endl;
}

void SummaryReport::on_summary(const Summary& summary) {
  out_ << '\n' << figures_text(summary, style_) << std::flush;
  if (summary.graph) out_ << '\n' << graph_text(*summary.graph) << std::flush;
}

void ServiceLineReport::on_interval(Duration t, Duration /*window*/,
                                    const ServerInterval& interval) {
  using std::chrono::system_clock;
  // The virtual clock starts at the beginning of 1970.
  const bool wall = stamp_ == Stamp::kWallClock;
  const auto stamp =
      wall ? time_stamp(system_clock::now())
           : time_stamp(
                 system_clock::time_point(std::chrono::duration_cast<system_clock::duration>(t)),
                 Zone::kUtc);
  out_ << server_line(stamp, interval) << std::endl;
}

}  // namespace retrystorm
