// The table of a sweep: a row for each cell, for people and for programs.
#pragma once

#include <cstddef>
#include <fstream>
#include <map>
#include <ostream>
#include <string>
#include <vector>

#include "common/output/json_lines.h"
#include "simulator/cell_result.h"
#include "simulator/sweep.h"

namespace retrystorm {

// Where the table is written besides the stream; an empty path writes nothing.
struct TableFiles {
  std::string csv{};       // all columns
  std::string markdown{};  // the columns for people
};

// Rows in the order of the cells, each as soon as those before it are there.
class CellTable {
 public:
  // All outlive the table. Throws std::runtime_error when a file cannot be written.
  CellTable(const Grid& grid, std::ostream& out, JsonLines& json, const TableFiles& files = {});

  // Throws std::runtime_error when a file cannot be written any more.
  void add(std::size_t cell, const CellResult& result);

  // Prints what is finished though a cell before it is not: for a sweep that was interrupted.
  void flush();

 private:
  // A file of lines, if it has a path.
  class Lines {
   public:
    explicit Lines(const std::string& path);
    void write(const std::string& line);

   private:
    std::string path_;
    std::ofstream file_;
  };

  void print(std::size_t cell, const CellResult& result);

  const Grid& grid_;
  std::ostream& out_;
  JsonLines& json_;
  Lines csv_, markdown_;
  std::vector<int> widths_;  // of the axes
  std::size_t next_ = 0;
  std::map<std::size_t, CellResult> finished_;
};

}  // namespace retrystorm
