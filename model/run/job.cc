#include "model/run/job.h"

namespace retrystorm {

void declare_options(OptionList& options, JobSettings& settings) {
  options.group("Job: tasks that workers complete");
  options.count("tasks", settings.tasks, "how many tasks there are", 1, 1'000'000'000)
      .with_unit("tasks");
  options
      .count("calls", settings.calls, "how many calls each task makes, one after the other", 1,
             1'000'000'000)
      .with_unit("calls");
  options.duration("workers-start", settings.workers_start,
                   "how long after one worker the next one starts; there are at most --clients "
                   "workers");
}

std::optional<Duration> Job::next_start() const {
  const std::size_t came = calls_left_.size();
  if (tasks_left_ == 0 || came == most_) return std::nullopt;
  return scale(settings_.workers_start, static_cast<double>(came));
}

std::size_t Job::start() {
  --tasks_left_;
  ++present_;
  calls_left_.push_back(settings_.calls);
  return calls_left_.size() - 1;
}

bool Job::next_call(std::size_t worker) {
  ++done_;
  if (--calls_left_[worker] > 0) return true;
  if (tasks_left_ == 0) {
    --present_;
    return false;
  }
  --tasks_left_;
  calls_left_[worker] = settings_.calls;
  return true;
}

}  // namespace retrystorm
