// A job: a number of tasks, each of a number of calls. Workers start one after the other, and leave
// when no task is left.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <vector>

#include "model/base/duration.h"
#include "model/base/option_list.h"

namespace retrystorm {

struct JobSettings {
  std::uint64_t tasks = 200;
  std::uint64_t calls = 1000;                        // per task, one after the other
  Duration workers_start = std::chrono::seconds(3);  // between the starts of two workers
};

void declare_options(OptionList& options, JobSettings& settings);

// The result of a job.
struct JobResult {
  JobSettings settings{};
  std::optional<Duration> makespan{};  // from the start to the end of the last call, if reached
  std::uint64_t done = 0;              // finished calls, including those given up

  std::uint64_t calls() const {
    return std::uint64_t{settings.tasks} * settings.calls;
  }  // of all tasks
};

// Assigns tasks to workers, and knows when the job is done. Workers are numbered from 0 in the
// order in which they start. The class has no clock. Not thread-safe.
class Job {
 public:
  // `most`: the greatest number of workers.
  Job(const JobSettings& settings, std::size_t most)
      : settings_(settings), most_(most), tasks_left_(settings.tasks) {}

  // When the next worker starts, counted from the start of the job. Empty when no more will start.
  std::optional<Duration> next_start() const;

  // Starts the next worker, which takes the next task. Call only while `next_start` has a value.
  // Returns the worker's number.
  std::size_t start();

  // Ends a worker's call. Returns true if it has another call, of the same task or of the next one.
  // Otherwise the worker leaves.
  bool next_call(std::size_t worker);

  // The workers that have started and not left.
  std::size_t present() const { return present_; }
  bool all_done() const { return present_ == 0 && tasks_left_ == 0; }

  // `elapsed`: from the start until now. If the job is done, this is the makespan.
  JobResult result(Duration elapsed) const {
    return {.settings = settings_,
            .makespan = all_done() ? std::optional(elapsed) : std::nullopt,
            .done = done_};
  }

 private:
  JobSettings settings_;
  std::size_t most_;
  std::uint64_t tasks_left_;
  std::uint64_t done_ = 0;
  std::size_t present_ = 0;
  std::vector<std::uint64_t> calls_left_;  // of each worker's current task
};

}  // namespace retrystorm
