#include "policies/text_files.h"

#include <algorithm>
#include <string>

#include "common/os/foreign_file.h"
#include "model/base/text.h"
#include "policies/policy.h"

namespace retrystorm {
namespace {

// A key or a value without its escapes.
std::string unescaped(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      plain += text[i];
      continue;
    }
    const char c = text[++i];
    plain += c == 'n' ? '\n' : c == 't' ? '\t' : c == 'r' ? '\r' : c == 'f' ? '\f' : c;
  }
  return plain;
}

Entry entry_of(std::string_view line, std::size_t number) {
  std::size_t end = 0;
  while (end < line.size() && std::string_view("=: \t").find(line[end]) == std::string_view::npos) {
    end += line[end] == '\\' ? 2 : 1;
  }
  end = std::min(end, line.size());
  std::string_view value = line.substr(end);
  const auto skip_blanks = [&value] {
    value.remove_prefix(std::min(value.find_first_not_of(" \t"), value.size()));
  };
  skip_blanks();
  if (!value.empty() && (value.front() == '=' || value.front() == ':')) value.remove_prefix(1);
  skip_blanks();
  return {unescaped(line.substr(0, end)), std::string(trimmed(unescaped(value))), number};
}

bool goes_on(std::string_view line) {
  std::size_t count = 0;
  while (count < line.size() && line[line.size() - 1 - count] == '\\') ++count;
  return count % 2 == 1;
}

}  // namespace

std::string read_text_file(const std::string& path) {
  return read_foreign_file(path, kLongestFile);
}

void each_line(std::string_view text,
               const std::function<void(std::string_view line, std::size_t number)>& take) {
  for (std::size_t number = 1; !text.empty(); ++number) {
    const std::size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    if (line.ends_with('\r')) line.remove_suffix(1);
    take(line, number);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
}

std::vector<std::vector<Entry>> parse_properties(std::string_view text) {
  constexpr std::size_t kMost = 20'000;
  std::size_t count = 0;
  std::vector<std::vector<Entry>> documents(1);
  std::string line;
  std::size_t begin = 0;
  const auto end_line = [&] {
    if (begin > 0) {
      if (++count > kMost) {
        throw BadFile("more than " + std::to_string(kMost) + " values: too large to be read");
      }
      documents.back().push_back(entry_of(line, begin));
      check_name(documents.back().back().key, begin);
    }
    line.clear();
    begin = 0;
  };
  each_line(text, [&](std::string_view raw, std::size_t number) {
    const std::size_t first = raw.find_first_not_of(" \t\f");
    std::string_view rest = first == raw.npos ? std::string_view() : raw.substr(first);
    if (begin == 0) {
      if (rest == "#---" || rest == "!---") documents.emplace_back();
      if (rest.empty() || rest.front() == '#' || rest.front() == '!') return;
      begin = number;
    }
    const bool more = goes_on(rest);
    if (more) rest.remove_suffix(1);
    line += rest;
    if (!more) end_line();
  });
  end_line();
  return documents;
}

}  // namespace retrystorm
