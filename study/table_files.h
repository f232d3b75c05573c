// Files that a table is written to.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "common/output/output_file.h"

namespace retrystorm {

// Where a table is written in addition to the screen. An empty path writes nothing.
struct TableFiles {
  std::string csv{};       // all columns
  std::string markdown{};  // the columns for people
};

// A file of lines, if it has a path.
class LineFile {
 public:
  // Opens the file as `OutputFile` does, and empties it.
  explicit LineFile(const std::string& path);
  // Throws std::runtime_error if the file cannot be written. Once the program's end is requested, does not wait for
  // a pipe's reader: the rest is lost.
  void write(const std::string& line);

 private:
  OutputFile file_;
  bool is_blocked_ = false;
};

// The files of a table. Construct them before `WorkOutput`: one may be a FIFO (see `OutputFile`).
struct OpenTableFiles {
  // `comment`: the first line of the CSV file (see `csv_comment`); none if it is empty.
  OpenTableFiles(const TableFiles& paths, std::string comment = "")
      : csv_comment(std::move(comment)), csv(paths.csv), markdown(paths.markdown) {}

  std::string csv_comment;
  LineFile csv, markdown;
};

// Quotes cells that contain a comma or a quote. Control characters become `?`. One that begins a formula gets an
// apostrophe.
std::string csv_row(const std::vector<std::string>& cells);
std::string markdown_row(const std::vector<std::string>& cells);
// The line below the titles.
std::string markdown_rule(std::size_t columns);

}  // namespace retrystorm
