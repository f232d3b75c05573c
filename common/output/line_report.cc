#include "common/output/line_report.h"

#include <chrono>
#include <cstddef>

#include "common/output/report.h"

namespace retrystorm {

void LineReport::on_interval(const RunInterval& interval) {
  out_ << client_line(interval.rates) << std::endl;
}

void LineReport::on_summary(const Summary& summary) {
  out_ << summary_text(summary) << std::endl;
}

void JsonReport::on_interval(const RunInterval& interval) {
  json_.write(client_interval_json(interval));
}

void JsonReport::on_outage(Duration t, OutageEvent event, const std::string& what) {
  json_.write(outage_json(t, event, what));
}

void JsonReport::on_action(Duration t, const std::string& what) {
  json_.write(action_json(t, what));
}

void JsonReport::on_request(const TracedRequest& request) {
  for (std::size_t i = 0; i < request.attempts.size(); ++i) json_.write(attempt_json(request, i));
  json_.write(request_json(request));
}

void JsonReport::on_summary(const Summary& summary) {
  json_.write(summary_json(summary));
}

void ServiceLineReport::on_interval(Duration t, Duration /*window*/,
                                    const ServerInterval& interval) {
  using std::chrono::system_clock;
  // The virtual clock starts with the year 1970.
  const bool wall = stamp_ == Stamp::kWallClock;
  const auto stamp =
      wall ? time_stamp(system_clock::now())
           : time_stamp(
                 system_clock::time_point(std::chrono::duration_cast<system_clock::duration>(t)),
                 Zone::kUtc);
  out_ << server_line(stamp, interval) << std::endl;
}

void ServiceJsonReport::on_interval(Duration t, Duration window, const ServerInterval& interval) {
  json_.write(server_interval_json(t, window, interval));
}

}  // namespace retrystorm
