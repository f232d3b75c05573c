// The most important figures of cells, for a terminal of 100 columns.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "study/cell_result.h"
#include "study/request_time.h"

namespace retrystorm {

struct FittedRow {
  std::vector<std::string> values{};  // of the axes
  CellResult result{};
  std::vector<std::string> others{};  // how many runs are down with other options, a line each
};

// Prints `label` and a text or list, in lines no longer than a terminal's, if possible broken between the parts of
// the list. Nothing for an empty one.
void print_note(std::ostream& out, const std::string& label, const std::string& text);

// Prints a paragraph: `head`, and beside it the lines of the text.
void print_wrapped(std::ostream& out, const std::string& head, const std::string& text);

// Names the cells in which runs were still recovering when they ended, were back with a queue, or have no
// verdict, with their number and what helps. Prints nothing if there are none.
void print_unsettled(std::ostream& out,
                     const std::vector<std::pair<std::string, CellResult>>& cells);

// The heads of all columns: the two titles of each, which stand one above the other, and both as one.
std::vector<std::string> fitted_heads();

// Prints a row for each cell. Below them it names the figures that have the same value in all rows, the
// columns that had no room, and the cells whose runs did not differ. A single row is printed as a line
// for each figure, and only there `others` are shown. `axes`: the names of the axes.
void print_fitted(std::ostream& out, const std::vector<std::string>& axes,
                  const std::vector<FittedRow>& rows);

}  // namespace retrystorm
