// The grid of a sweep: which options take which values.
#pragma once

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <vector>

namespace retrystorm {

// One swept option.
struct Axis {
  std::string name;  // as on the command line, without the dashes
  std::vector<std::string> values;
  bool range = false;  // evenly spaced: if both ends are good values, all are
};

// Reads NAME=V1,V2,... or NAME=FROM:TO:STEP (TO included when a step falls on it) for an option of
// `app` that is a number, a duration or the strategy. Whether the option takes the values is not
// looked at.
// Throws std::runtime_error with a sentence for a person.
Axis parse_axis(const CLI::App& app, const std::string& text);

// All combinations of the axes; the last axis changes fastest.
class Grid {
 public:
  explicit Grid(std::vector<Axis> axes) : axes_(std::move(axes)) {}

  const std::vector<Axis>& axes() const { return axes_; }

  // How many cells there are; as a double, for it may be huge before it is checked.
  double size() const;

  // The value of each axis in a cell.
  std::vector<std::string> values(std::size_t cell) const;

  // The grid of one of its cells.
  Grid only(std::size_t cell) const;

 private:
  std::vector<Axis> axes_;
};

}  // namespace retrystorm
