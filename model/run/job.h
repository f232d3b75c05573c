// A job: so many tasks of so many calls each, done by workers that come one after the other and
// leave when no task is left.
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
  std::uint64_t calls = 1000;                        // of each task, one after the other
  Duration workers_start = std::chrono::seconds(3);  // from one worker to the next
};

void declare_options(OptionList& options, JobSettings& settings);

// What became of a job.
struct JobResult {
  JobSettings settings{};
  std::optional<Duration> makespan{};  // from the start to the end of the last call; if it came
  std::uint64_t done = 0;              // calls that are over, also those that were given up
};

// Who takes which task, and when all is done. Workers are numbered from 0 in the order in which
// they come. An engine asks it; it knows no clock. Not for use from two threads at once.
class Job {
 public:
  // `most`: of the workers.
  Job(const JobSettings& settings, std::size_t most)
      : settings_(settings), most_(most), tasks_left_(settings.tasks) {}

  // When the next worker comes, after the start; nothing when none does any more.
  std::optional<Duration> next_start() const;

  // It has come, and takes the next task; there must be one: `next_start` says whether.
  // Returns the worker's number.
  std::size_t start();

  // A worker's call is over. Returns whether it has another one, of this task or of the next; if
  // not, it leaves.
  bool next_call(std::size_t worker);

  // As things stand, of all workers that came.
  std::size_t present() const { return present_; }
  bool all_done() const { return present_ == 0 && tasks_left_ == 0; }

  // `elapsed`: from the start to now, which is the end if all is done.
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
  std::vector<std::uint64_t> calls_left_;  // by worker, of its task
};

}  // namespace retrystorm
