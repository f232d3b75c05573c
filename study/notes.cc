#include "study/notes.h"

#include <algorithm>

#include "study/cell_answer.h"
#include "words/words.h"

namespace retrystorm {

void say(const Statement& statement, const Style& style, const std::string& head,
         std::ostream& out) {
  out << fitted(head, words_of(statement), style);
}

void print_remarks(std::ostream& out,
                   const std::vector<std::pair<std::string, CellResult>>& cells) {
  std::vector<std::pair<std::string, std::string>>
      all;  // the remark, and the cells of which it is true
  for (const auto& [name, cell] : cells) {
    const Statements remarks = remarks_of(cell);
    if (remarks.empty()) continue;
    const std::string text = words_of(remarks.front());
    const auto same =
        std::find_if(all.begin(), all.end(), [&](const auto& each) { return each.first == text; });
    if (same == all.end()) {
      all.emplace_back(text, name);
    } else {
      same->second += ", " + name;
    }
  }
  for (const auto& [text, names] : all) {
    out << fitted(names.empty() ? "" : names + ": ", text, style_of(1));
  }
}

}  // namespace retrystorm
