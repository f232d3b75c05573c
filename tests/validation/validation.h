// Compares the simulator with closed forms and published figures (docs/validation.md).
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "tests/validation/cases.h"

namespace retrystorm::validation {

// The measurement of a case: the mean over its seeds, and half the width of its 95 % interval.
struct Finding {
  Case held_against{};
  double measured = 0;
  double half_width = 0;
  bool agrees = false;
  bool undecided = false;  // neither agrees nor differs: the interval is too wide
};

// Judges a case by Student's t. It agrees if the measured value is off by less than twice the half
// width, which chance exceeds in one case of 700, or by less than the tolerance, whichever is more.
// The half width may be at most 5 %, because a wide interval proves nothing. If the measured value
// must be less than the expected one, it must be so by twice the half width. Where only the width stands in the way, the
// case is undecided: more seeds may tell.
Finding judge(const Case& which, const std::vector<double>& measured);

constexpr std::size_t kUsualSeeds = 10;

// Runs each case with `seeds` seeds, at least two. The findings are in the order of the cases, and
// do not depend on the number of threads. Throws what `run_on_threads` throws.
std::vector<Finding> validate(const std::vector<Case>& cases, std::size_t seeds,
                              std::size_t threads);

// A row of the table: row, case, expected, measured, half width, agrees.
using Cells = std::array<std::string, 6>;
inline const Cells kTitles{"row", "case", "expected", "measured", "±", "agrees"};
Cells cells(const Finding& finding);

// A line of docs/validation.csv, without its end.
std::string csv_line(const Cells& cells);

}  // namespace retrystorm::validation
