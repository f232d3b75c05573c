// A small table for people, printed as text for a terminal or as Markdown.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "common/output/fixed.h"
#include "study/table_files.h"

namespace retrystorm {

struct Table {
  struct Column {
    std::string title;
    std::string group{};  // a common title above adjacent columns; empty: none
    bool code = false;    // true if its texts belong on a command line
  };
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;
};

// The first column and words of a command line are aligned left, the others right.
void print(std::ostream& out, const Table& table);

// The title of a group's first column is GROUP: TITLE. The text has no line break at its end.
std::string markdown_text(const Table& table);
void write_markdown(LineFile& file, const Table& table);

}  // namespace retrystorm
