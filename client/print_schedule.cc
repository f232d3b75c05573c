#include "client/print_schedule.h"

#include <cstddef>
#include <optional>

#include "model/base/text.h"
#include "model/retry/schedule.h"
#include "model/run/outlook_warnings.h"

namespace retrystorm {

void print_schedule(std::ostream& out, std::ostream& notes, const ClientOptions& options,
                    std::uint64_t seed) {
  std::optional<ScheduleStory> story;
  if (options.schedule_fails_until) {
    story = {*options.schedule_fails_until, *options.schedule_succeeds_above};
  }
  const auto waits = scheduled_waits(options.workload.retry, options.workload.think_time, seed,
                                     options.print_schedule, story);
  const bool random = !waits.empty() && waits[0].spread;
  out << "attempt,delay_seconds" << (story ? ",outcome" : random ? ",p5,p50,p95" : "") << '\n';
  for (std::size_t i = 0; i < waits.size(); ++i) {
    out << i + 1 << ',' << print_number(to_seconds(waits[i].wait));
    if (story) out << (waits[i].failed ? ",failure" : ",success");
    if (random) {
      for (const Duration each : *waits[i].spread) out << ',' << print_number(to_seconds(each));
    }
    out << '\n';
  }
  for (const std::string& each : warnings_of(options.workload.retry)) {
    notes << "warning: " << each << '\n';
  }
  if (waits.size() < options.print_schedule) {
    notes << "no more waits: a request is given up "
          << end_of_schedule(options.workload.retry, waits.size()) << '\n';
  }
}

}  // namespace retrystorm
