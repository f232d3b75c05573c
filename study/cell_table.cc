#include "study/cell_table.h"

#include <algorithm>
#include <iomanip>
#include <utility>

#include "model/base/text.h"

namespace retrystorm {
namespace {

constexpr int kColumnGap = 2;

std::vector<std::string> labels_of(const Grid& grid) {
  std::vector<std::string> labels;
  for (const Axis& axis : grid.axes()) labels.push_back(underscored(axis.name));
  return labels;
}

}  // namespace

CellTable::CellTable(const Grid& grid, std::ostream& out, JsonLines& json, OpenTableFiles files,
                     const MoreColumns& more, Print print)
    : grid_(grid),
      out_(out),
      more_(more),
      print_(print),
      rows_("cell", cell_names(labels_of(grid), more), files.csv_comment, std::move(files.csv),
            json),
      markdown_(std::move(files.markdown)) {
  std::vector<std::string> titles;
  for (const Axis& axis : grid.axes()) {
    titles.push_back(axis.name);
    if (print_ == Print::kNothing) continue;
    std::size_t width = axis.name.size();
    for (const std::string& value : axis.values) width = std::max(width, value.size());
    widths_.push_back(static_cast<int>(width) + kColumnGap);
    out_ << std::setw(widths_.back()) << axis.name;
  }
  for (const CellColumn& column : cell_columns(more_)) {
    if (column.title.empty()) continue;
    titles.emplace_back(column.title);
    if (print_ == Print::kWide) out_ << std::setw(column.width) << column.title;
  }
  if (print_ == Print::kWide) out_ << std::endl;
  markdown_.write(markdown_row(titles));
  markdown_.write(markdown_row(std::vector<std::string>(titles.size(), "---")));
}

void CellTable::add(std::size_t cell, const CellResult& result) {
  finished_.emplace(cell, result);
  for (; !finished_.empty() && finished_.begin()->first == next_; ++next_) {
    write(next_, finished_.begin()->second);
    finished_.erase(finished_.begin());
  }
}

void CellTable::flush() {
  for (const auto& [cell, result] : finished_) write(cell, result);
  finished_.clear();
  rows_.begin();
}

void CellTable::write(std::size_t cell, const CellResult& result) {
  const auto values = grid_.values(cell);
  const bool wide = print_ == Print::kWide;
  std::vector<std::string> texts;
  for (const std::string& value : values) texts.push_back(as_markdown(value));
  for (std::size_t i = 0; wide && i < values.size(); ++i) {
    out_ << std::setw(widths_[i]) << values[i];
  }
  for (const CellColumn& column : cell_columns(more_)) {
    if (column.title.empty()) continue;
    texts.push_back(column.text(result));
    // A long text moves what follows, but stays apart from it.
    if (wide) out_ << "  " << std::setw(column.width - kColumnGap) << texts.back();
  }
  if (wide) out_ << std::endl;
  rows_.write(cell_values(values, result, more_));
  markdown_.write(markdown_row(texts));
}

}  // namespace retrystorm
