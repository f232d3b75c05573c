#include "model/run/job.h"

namespace retrystorm {

void declare_options(OptionList& options, JobSettings& settings) {
  options.group("Job: tasks, and workers that come and go");
  options.count("tasks", settings.tasks, "that there are", 1, 1'000'000'000).in("tasks");
  options.count("calls", settings.calls, "of each task, one after the other", 1, 1'000'000'000)
      .in("calls");
  options.duration("workers-start", settings.workers_start,
                   "from one worker to the next; there are at most as many as --clients");
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
