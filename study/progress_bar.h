// A progress bar on one line of a terminal.
#pragma once

#include <cstddef>
#include <ostream>

#include "model/base/duration.h"

namespace retrystorm {

// Not thread-safe. The destructor removes the bar.
class ProgressBar {
 public:
  // `runs`: the total. `out` may be null: draws nothing.
  ProgressBar(std::ostream* out, std::size_t runs)
      : out_(out), runs_(runs), start_(Clock::now()), drawn_(start_) {}
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Shows that `done` runs are done. Draws at most a few times a second.
  void show(std::size_t done);

  // Removes the bar, to make room for another line.
  void clear();

 private:
  std::ostream* const out_;
  const std::size_t runs_;
  const TimePoint start_;
  TimePoint drawn_;
};

}  // namespace retrystorm
