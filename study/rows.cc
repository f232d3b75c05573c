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
#include <utility>

#include "common/os/process.h"
#include "common/output/json_text.h"
#include "model/base/text.h"

namespace retrystorm {

namespace {

constexpr int kLook = 200;  // ms between looks whether a blocked file is still wanted

std::string joined(const std::vector<std::string>& cells, const char* between) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) line += (i == 0 ? "" : between) + cells[i];
  return line;
}

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

std::string cell_text(const nlohmann::ordered_json& value) {
  return value.is_null()     ? ""
         : value.is_string() ? value.get<std::string>()
         : value.is_object() ? pairs_text(value)
                             : value.dump();
}

std::string csv_row(const std::vector<std::string>& cells) {
  std::vector<std::string> texts;
  for (const std::string& cell : cells) texts.push_back(csv_cell(cell));
  return joined(texts, ",");
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

void Rows::write(const std::vector<nlohmann::ordered_json>& values) {
  begin();
  std::vector<std::string> texts;
  nlohmann::ordered_json row{{"type", type_}};
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const auto& value = values[i];
    row[names_[i]] = value;
    texts.push_back(cell_text(value));
  }
  csv_.write(csv_row(texts));
  json_.write(row);
}

}  // namespace retrystorm
