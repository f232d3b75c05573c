#include "study/table.h"

#include <algorithm>

#include "model/base/text.h"

namespace retrystorm {
namespace {

// The width on a terminal. Continuation bytes of UTF-8 take no room.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(
      std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
}

std::string padding(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, width_of(text)), ' ');
}

bool begins_group(const Table& table, std::size_t column) {
  const std::string& group = table.columns[column].group;
  return !group.empty() && (column == 0 || table.columns[column - 1].group != group);
}

// The titles of the groups, each above its first column. Widens a column if its group's title needs
// more room.
std::string group_line(const Table& table, std::vector<std::size_t>& widths) {
  std::string line;
  for (std::size_t i = 0; i < table.columns.size();) {
    std::size_t end = i + 1;
    std::size_t width = widths[i];
    const std::string& group = table.columns[i].group;
    for (; !group.empty() && end < table.columns.size() && table.columns[end].group == group;
         ++end) {
      width += 2 + widths[end];
    }
    const std::size_t needed = width_of(group);
    if (needed > width) {
      widths[i] += needed - width;
      width = needed;
    }
    line += (i == 0 ? "" : "  ") + padding(group, width) + group;
    i = end;
  }
  return line;
}

}  // namespace

namespace {

std::vector<std::size_t> widths_of(const Table& table) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    widths.push_back(width_of(table.columns[i].title));
    for (const auto& row : table.rows) widths[i] = std::max(widths[i], width_of(row[i]));
  }
  return widths;
}

std::size_t width_of(const Table& table) {
  std::vector<std::size_t> widths = widths_of(table);
  group_line(table, widths);
  std::size_t all = 0;
  for (const std::size_t each : widths) all += (all == 0 ? 0 : 2) + each;
  return all;
}

}  // namespace

std::size_t print(std::ostream& out, Table table, const Style& style) {
  std::size_t left_out = 0;
  while (width_of(table) > style.width) {
    const auto last = std::max_element(
        table.columns.begin(), table.columns.end(),
        [](const Table::Column& a, const Table::Column& b) { return a.rank < b.rank; });
    if (last == table.columns.end() || last->rank == 0) break;
    const auto at = last - table.columns.begin();
    table.columns.erase(last);
    for (auto& row : table.rows) row.erase(row.begin() + at);
    ++left_out;
  }
  std::vector<std::size_t> widths = widths_of(table);
  const std::string groups = group_line(table, widths);
  if (const std::size_t end = groups.find_last_not_of(' '); end != std::string::npos) {
    out << groups.substr(0, end + 1) << '\n';
  }
  const auto line = [&](const auto& text_of) {
    std::string row;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const std::string text = text_of(i), room = padding(text, widths[i]);
      const bool left = i == 0 || table.columns[i].code;
      row.append(i == 0 ? "" : "  ").append(left ? text + room : room + text);
    }
    return row.substr(0, row.find_last_not_of(' ') + 1);
  };
  out << line([&](std::size_t i) { return table.columns[i].title; }) << '\n';
  const std::size_t whole = width_of(table);
  for (std::size_t row = 0; row < table.rows.size(); ++row) {
    std::string text = line([&](std::size_t i) { return table.rows[row][i]; });
    const std::string remark = row < table.remarks.size() ? table.remarks[row] : "";
    const bool beside = whole + 3 + width_of(remark) <= style.width;
    if (!remark.empty() && beside) {
      text += std::string(whole + 3 - width_of(text), ' ') + remark;
    }
    const Tone tone = row < table.tones.size() ? table.tones[row] : Tone::kPlain;
    out << painted(text, tone, style) << '\n';
    if (!remark.empty() && !beside) out << painted(fitted("    ", remark, style), tone, style);
  }
  out << std::flush;
  return left_out;
}

std::string markdown_text(const Table& table) {
  std::vector<std::string> titles;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    const auto& [title, group, code, rank] = table.columns[i];
    titles.push_back(as_markdown(begins_group(table, i) ? group + ": " + title : title));
  }
  std::string text = markdown_row(titles) + '\n' + markdown_rule(titles.size());
  for (std::vector<std::string> row : table.rows) {
    for (std::size_t i = 0; i < row.size(); ++i) {
      row[i] = table.columns[i].code ? as_markdown_code(row[i]) : as_markdown(row[i]);
    }
    text += '\n' + markdown_row(row);
  }
  return text;
}

void write_markdown(LineFile& file, const Table& table) {
  file.write(markdown_text(table));
}

}  // namespace retrystorm
