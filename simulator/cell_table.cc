#include "simulator/cell_table.h"

#include <cerrno>
#include <iomanip>
#include <stdexcept>
#include <system_error>

#include "model/base/text.h"
#include "simulator/cell_columns.h"

namespace retrystorm {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kColumnGap = 2;

std::string joined(const std::vector<std::string>& cells, const char* between) {
  std::string line;
  for (const std::string& cell : cells) line += (line.empty() ? "" : between) + cell;
  return line;
}

std::string markdown_row(const std::vector<std::string>& cells) {
  return "| " + joined(cells, " | ") + " |";
}

}  // namespace

CellTable::Lines::Lines(const std::string& path) : path_(path) {
  if (path.empty()) return;
  file_.open(path);
  if (!file_) {
    throw std::runtime_error("cannot write to " + path + ": " +
                             std::generic_category().message(errno));
  }
}

void CellTable::Lines::write(const std::string& line) {
  if (path_.empty()) return;
  file_ << line << '\n' << std::flush;
  if (!file_) throw std::runtime_error("writing to " + path_ + " failed");
}

CellTable::CellTable(const Grid& grid, std::ostream& out, JsonLines& json, const TableFiles& files)
    : grid_(grid), out_(out), json_(json), csv_(files.csv), markdown_(files.markdown) {
  std::vector<std::string> names, titles;
  for (const Axis& axis : grid.axes()) {
    names.push_back(underscored(axis.name));
    titles.push_back(axis.name);
    std::size_t width = axis.name.size();
    for (const std::string& value : axis.values) width = std::max(width, value.size());
    widths_.push_back(static_cast<int>(width) + kColumnGap);
    out_ << std::setw(widths_.back()) << axis.name;
  }
  for (const CellColumn& column : cell_columns()) {
    names.emplace_back(column.name);
    if (column.title == nullptr) continue;
    titles.emplace_back(column.title);
    out_ << std::setw(column.width) << column.title;
  }
  out_ << std::endl;
  csv_.write(joined(names, ","));
  markdown_.write(markdown_row(titles));
  markdown_.write(markdown_row(std::vector<std::string>(titles.size(), "---")));
}

void CellTable::add(std::size_t cell, const CellResult& result) {
  finished_.emplace(cell, result);
  for (; !finished_.empty() && finished_.begin()->first == next_; ++next_) {
    print(next_, finished_.begin()->second);
    finished_.erase(finished_.begin());
  }
}

void CellTable::flush() {
  for (const auto& [cell, result] : finished_) print(cell, result);
  finished_.clear();
}

void CellTable::print(std::size_t cell, const CellResult& result) {
  const auto axis_values = grid_.values(cell);
  std::vector<std::string> values = axis_values, texts = axis_values;
  Json row{{"type", "cell"}};
  for (std::size_t i = 0; i < axis_values.size(); ++i) {
    out_ << std::setw(widths_[i]) << axis_values[i];
    row[underscored(grid_.axes()[i].name)] = axis_values[i];
  }
  for (const CellColumn& column : cell_columns()) {
    const Json value = column.value(result);
    row[column.name] = value;
    values.push_back(value.is_null() ? "" : value.dump());
    if (column.title == nullptr) continue;
    texts.push_back(column.text(result));
    out_ << std::setw(column.width) << texts.back();
  }
  out_ << std::endl;
  csv_.write(joined(values, ","));
  markdown_.write(markdown_row(texts));
  json_.write(row);
}

}  // namespace retrystorm
