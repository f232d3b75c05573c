// Where tables are written, and rows for programs: the same columns in a CSV file and in JSON Lines.
#pragma once

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "common/output/json_lines.h"
#include "common/output/json_text.h"
#include "common/output/output_file.h"
#include "common/output/style.h"

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

// A value as text: null is empty, and an object is as in `pairs_text`.
std::string cell_text(const Json& value);

// "strategy=fixed, outage-for=5s": the labels of a row, as one types them.
std::string row_text(const std::vector<std::string>& names, const std::vector<std::string>& values);

// Quotes cells that contain a comma or a quote. Control characters become `?`. One that begins a formula gets an
// apostrophe.
std::string csv_row(const std::vector<std::string>& cells);
std::string markdown_row(const std::vector<std::string>& cells);
// The line below the titles.
std::string markdown_rule(std::size_t columns);

class Rows {
 public:
  // `type` is that of the JSON objects. `comment` is the first line of the CSV file, if it is not
  // empty. `json` must outlive this object.
  Rows(std::string type, std::vector<std::string> names, std::string comment, LineFile csv,
       JsonLines& json);

  // Adds to the comment that these options have their defaults (see `assumed_list`). Call it before `begin`
  // and `write`.
  void add_assumed(const std::string& options);

  // Writes the comment and the names to the CSV file, as the first row does if this did not. Throws
  // std::runtime_error when the file cannot be written.
  void begin();

  // A value for each name; see `cell_text`. Throws std::runtime_error when
  // that file cannot be written any more.
  void write(const std::vector<Json>& values);

 private:
  const std::string type_;
  const std::vector<std::string> names_;
  std::string comment_;
  bool begun_ = false;
  LineFile csv_;
  JsonLines& json_;
};

// A small table for people, printed as text for a terminal or as Markdown.

// Wider than any table.
inline constexpr std::size_t kNoWidth = 100'000;

struct Table {
  struct Column {
    std::string title;
    std::string group{};  // a common title above adjacent columns; empty: none
    bool code = false;    // true if its texts belong on a command line
    // Where there is no room, the greatest is left out first, with what has the same group and rank; 0: none is.
    int rank = 0;
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
