#include "study/notes.h"

#include <algorithm>

#include "common/output/fixed.h"
#include "study/cell_answer.h"
#include "words/words.h"

namespace retrystorm {

void print_note(std::ostream& out, const std::string& label, const std::string& text) {
  if (text.empty()) return;
  const auto print = [&out](const std::string& line) {
    const bool first = line[0] != ' ';
    out << wrapped(first ? "" : "  ", std::string_view(line).substr(first ? 0 : 2), 2);
  };
  std::string line = label + ": ";
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find(", ", at), text.size());
    const std::string part = text.substr(at, end - at) + (end < text.size() ? "," : "");
    if (line.size() + 1 + part.size() > kLineWidth) {
      print(line);
      line = "  ";
    }
    line += (line.back() == ' ' ? "" : " ") + part;
    at = end + 2;
  }
  print(line);
}

void print_wrapped(std::ostream& out, const std::string& head, const std::string& text) {
  out << wrapped(head, text, head.size());
}

void print_remarks(std::ostream& out, const std::vector<std::pair<std::string, CellResult>>& cells) {
  std::vector<std::pair<std::string, std::string>> all;  // the remark, and the cells of which it is true
  for (const auto& [name, cell] : cells) {
    const Statements remarks = remarks_of(cell);
    if (remarks.empty()) continue;
    const std::string text = words_of(remarks.front());
    const auto same = std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.first == text; });
    if (same == all.end()) {
      all.emplace_back(text, name);
    } else {
      same->second += ", " + name;
    }
  }
  for (const auto& [text, names] : all) print_wrapped(out, names.empty() ? "" : names + ": ", text);
}

}  // namespace retrystorm
