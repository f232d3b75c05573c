// The progress of many runs, on one line of a terminal: what they have found so far, and how long the rest takes.
#pragma once

#include <cstddef>
#include <ostream>

#include "model/base/duration.h"
#include "study/cell_result.h"

namespace retrystorm {

// Not thread-safe. The destructor removes the line.
class ProgressBar {
 public:
  // `runs`: the total. `out` may be null: draws nothing.
  ProgressBar(std::ostream* out, std::size_t runs)
      : out_(out), runs_(runs), start_(Clock::now()), drawn_(start_) {}
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Takes the result of one more run, or of one more trial. Draws at most a few times a second.
  void see(const RunResult& run);
  void see_trial();

  // Removes the line, to make room for another one.
  void clear();

 private:
  void draw(const std::string& line);

  std::ostream* const out_;
  const std::size_t runs_;
  const TimePoint start_;
  TimePoint drawn_;
  std::size_t done_ = 0, back_ = 0, down_ = 0, trials_ = 0;
};

// Where progress is shown: standard error, if it is a terminal; or else null.
std::ostream* progress_stream();

}  // namespace retrystorm
