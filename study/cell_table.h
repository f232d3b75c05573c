// The table of a sweep, for people and for programs. It has one row for each cell.
#pragma once

#include <cstddef>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "common/output/json_lines.h"
#include "study/cell_columns.h"
#include "study/cell_result.h"
#include "study/rows.h"
#include "study/sweep.h"

namespace retrystorm {

// Writes rows in the order of the cells. A row is written as soon as all rows before it are, except
// that `flush` prints those after a gap.
class CellTable {
 public:
  // What is printed: every column for people, or nothing. The files have every column.
  enum class Print { kWide, kNothing };

  // `more`: what the runs have. Everything except the files must outlive the table. Throws std::runtime_error if a file cannot be written.
  CellTable(const Grid& grid, std::ostream& out, JsonLines& json,
            OpenTableFiles files = TableFiles(), const MoreColumns& more = {},
            Print print = Print::kWide);

  // See `Rows::add_assumed`.
  void add_assumed(const std::string& options) { rows_.add_assumed(options); }

  // Throws std::runtime_error if writing fails.
  void add(std::size_t cell, const CellResult& result);

  // Call it at the end. Prints all finished cells, even if a cell before them is not finished,
  // because the sweep was interrupted.
  void flush();

 private:
  void write(std::size_t cell, const CellResult& result);

  const Grid& grid_;
  std::ostream& out_;
  const MoreColumns more_;
  const Print print_;
  Rows rows_;
  LineFile markdown_;
  std::vector<int> widths_;  // of the axes
  std::size_t next_ = 0;
  std::map<std::size_t, CellResult> finished_;
};

}  // namespace retrystorm
