#include "study/rows.h"

#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <climits>
#include <cstddef>
#include <iostream>
#include <stdexcept>
#include <system_error>

#include "common/os/process.h"
#include "common/output/json_text.h"
#include "model/base/text.h"
#include "words/words.h"

namespace retrystorm {
namespace {

constexpr int kLook = 200;  // ms between looks whether a blocked file is still wanted

std::string csv_cell(const std::string& cell) {
  std::string text = printable(cell, "\t");
  // What would be a command in the log of a CI.
  for (std::size_t at = text.find("##["); at != text.npos; at = text.find("##[")) text[at] = '?';
  // A spreadsheet would compute a cell that begins like a formula. A number with a sign is none.
  const auto begins = [&text](std::size_t at, std::string_view with) {
    return text.size() > 1 && with.find(text[at]) != std::string_view::npos;
  };
  const bool formula = begins(0, "=@\t") || (begins(0, "+-") && !begins(1, "0123456789."));
  const bool command = text.starts_with("::");
  if (!formula && !command && text.find_first_of(",\"") == std::string::npos) return text;
  std::string quoted = formula ? "\"'" : "\"";
  for (const char c : text) quoted += c == '"' ? "\"\"" : std::string(1, c);
  return quoted + '"';
}

}  // namespace

LineFile::LineFile(const std::string& path) : file_(path) {
  if (file_.descriptor() >= 0) file_.empty();
}

void LineFile::write(const std::string& line) {
  if (file_.descriptor() < 0) return;
  const std::string text = line + '\n';
  for (std::size_t done = 0; done < text.size() && !is_blocked_;) {
    // A pipe with room takes so much without blocking. Its reader may have stopped.
    pollfd room{file_.descriptor(), POLLOUT, 0};
    if (poll(&room, 1, kLook) == 0) {
      is_blocked_ = EndSignals::end_requested();
      if (is_blocked_) std::cerr << file_.path() << " was blocked: it ends early\n";
      continue;
    }
    const ssize_t written = ::write(file_.descriptor(), &text[done],
                                    std::min<std::size_t>(text.size() - done, PIPE_BUF));
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) {
      throw std::runtime_error("writing to " + file_.path() +
                               " failed: " + std::generic_category().message(errno));
    }
    done += static_cast<std::size_t>(written);
  }
}

std::string cell_text(const Json& value) {
  return value.is_null()     ? ""
         : value.is_string() ? value.get<std::string>()
         : value.is_object() ? pairs_text(value)
                             : value.dump();
}

std::string row_text(const std::vector<std::string>& names,
                     const std::vector<std::string>& values) {
  std::vector<std::string> labels;
  for (std::size_t i = 0; i < names.size(); ++i) {
    labels.push_back(with_dashes(names[i]) + '=' + values[i]);
  }
  return list_words(labels);
}

std::string csv_row(const std::vector<std::string>& cells) {
  std::vector<std::string> texts;
  for (const std::string& cell : cells) texts.push_back(csv_cell(cell));
  return list_words(texts, ",");
}

std::string markdown_row(const std::vector<std::string>& cells) {
  std::string row = "|";
  for (const std::string& cell : cells) {
    row += ' ';
    for (const char c : cell) row += c == '|' ? "\\|" : std::string(1, c);
    row += " |";
  }
  return row;
}

std::string markdown_rule(std::size_t columns) {
  std::string rule;
  for (std::size_t i = 0; i < columns; ++i) rule += "|---";
  return rule + '|';
}

Rows::Rows(std::string type, std::vector<std::string> names, std::string comment, LineFile csv,
           JsonLines& json)
    : type_(std::move(type)),
      names_(std::move(names)),
      comment_(std::move(comment)),
      csv_(std::move(csv)),
      json_(json) {}

void Rows::add_assumed(const std::string& options) {
  if (!comment_.empty() && !options.empty()) comment_ += ", assumed: " + options;
}

void Rows::begin() {
  if (std::exchange(begun_, true)) return;
  if (!comment_.empty()) csv_.write(printable(comment_));
  csv_.write(csv_row(names_));
}

void Rows::write(const std::vector<Json>& values) {
  begin();
  std::vector<std::string> texts;
  Json row{{"type", type_}};
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const auto& value = values[i];
    row[names_[i]] = value;
    texts.push_back(cell_text(value));
  }
  csv_.write(csv_row(texts));
  json_.write(row);
}

namespace {

std::string padding(const std::string& text, std::size_t width) {
  return std::string(width - std::min(width, columns_of(text)), ' ');
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
    const std::size_t needed = columns_of(group);
    if (needed > width) {
      widths[i] += needed - width;
      width = needed;
    }
    line += (i == 0 ? "" : "  ") + padding(group, width) + group;
    i = end;
  }
  return line;
}

std::vector<std::size_t> widths_of(const Table& table) {
  std::vector<std::size_t> widths;
  for (std::size_t i = 0; i < table.columns.size(); ++i) {
    widths.push_back(columns_of(table.columns[i].title));
    for (const auto& row : table.rows) widths[i] = std::max(widths[i], columns_of(row[i]));
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
    const auto last = std::ranges::max_element(table.columns, {}, &Table::Column::rank);
    if (last == table.columns.end() || last->rank == 0) break;
    const Table::Column gone = *last;
    for (std::size_t i = table.columns.size(); i-- > 0;) {
      const Table::Column& each = table.columns[i];
      if (each.rank != gone.rank || each.group != gone.group) continue;
      table.columns.erase(table.columns.begin() + static_cast<std::ptrdiff_t>(i));
      for (auto& row : table.rows) row.erase(row.begin() + static_cast<std::ptrdiff_t>(i));
      ++left_out;
      if (gone.group.empty()) break;
    }
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
    const bool beside = whole + 3 + columns_of(remark) <= style.width;
    if (!remark.empty() && beside) {
      text += std::string(whole + 3 - columns_of(text), ' ') + remark;
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
