// A small table for people, printed as text for a terminal or as Markdown.
#pragma once

#include <ostream>
#include <string>
#include <vector>

#include "common/output/style.h"
#include "study/rows.h"

namespace retrystorm {

// Wider than any table.
inline constexpr std::size_t kNoWidth = 100'000;

struct Table {
  struct Column {
    std::string title;
    std::string group{};  // a common title above adjacent columns; empty: none
    bool code = false;    // true if its texts belong on a command line
    int rank = 0;         // where there is no room, the greatest is left out first; 0: none is
  };
  std::vector<Column> columns{};
  std::vector<std::vector<std::string>> rows{};
  // Of each row, or empty: what it means, and a remark behind it.
  std::vector<Tone> tones{};
  std::vector<std::string> remarks{};
};

// The first column and words of a command line are aligned left, the others right. Returns how many columns were left
// out because of the style's width. Remarks that have no room beside their row stand below it.
std::size_t print(std::ostream& out, Table table, const Style& style = Style{.width = kNoWidth});

// The title of a group's first column is GROUP: TITLE. The text has no line break at its end.
std::string markdown_text(const Table& table);
void write_markdown(LineFile& file, const Table& table);

}  // namespace retrystorm
