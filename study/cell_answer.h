// The answer of many runs of a setting at a glance, and the table of several settings.
#pragma once

#include <cstddef>
#include <functional>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "common/output/answer.h"
#include "common/output/style.h"
#include "model/base/statement.h"
#include "study/cell_result.h"
#include "study/rows.h"

namespace retrystorm {

// What became of most runs. `turned`: a trial of ten percent more load or less capacity has another answer.
RunAnswer answer_of(const CellResult& cell, bool turned = false);

// What a reader must know before he believes the figures, the most important first.
Statements remarks_of(const CellResult& cell);

// The share of the requests that began in the outage that is answered; without an outage, of all. That of the whole run
// would depend on how long one observes.
double answered_in_fault(const CellResult& cell);

// "at once", "5 s", "never", "not yet": after which time this share of the runs is back, a half or nine tenths; "-"
// without an outage.
std::string back_words(const CellResult& cell, double share = 0.5);
// How many runs stay down: "0", "3 of 20".
std::string down_words(const CellResult& cell);

// "answered: in the outage 9 %, after it 98.9 %", and after which time most runs are back.
Statement block_of(const CellResult& cell);
// "1 % down (95 %: 0.2 to 5.4 %) · 1.5 attempts per request". A claim has an interval of its own: then without.
Statement below_of(const CellResult& cell, bool with_interval);

struct AnsweredRow {
  std::vector<std::string> values{};  // of the axes
  CellResult result{};
};

// A row for each setting: whether it stays down, when it is back, what is answered, what it costs, and a remark.
Table answers_of(const std::vector<std::string>& axes, const std::vector<AnsweredRow>& rows);

// Cases in which the same things, such as strategies, are compared, and which figures of each stand in the table.
struct ComparedIn {
  struct Figure {
    const char* title;
    int rank;  // see `Table::Column`
    std::string (*text)(const CellResult&);
  };
  std::string title{};
  std::vector<Figure> figures{};
};

// A row for each of `names`, and in each case its figures. `result`: null where it was not tried.
Table compared_in(
    const std::vector<ComparedIn>& cases, Table::Column what, const std::vector<std::string>& names,
    const std::function<const CellResult*(std::size_t one, std::size_t name)>& result);

// Which rows come back and which do not; `names`: what each row is called.
Statements summary_of(const std::vector<std::string>& names, const std::vector<AnsweredRow>& rows);

// What a command says on standard output.
class Teller {
 public:
  explicit Teller(ColorWish wish = ColorWish::kAuto) : style_(style_of(1, wish)) {}
  const Style& style() const { return style_; }

  void headline(const RunAnswer& answer) const { print_headline(std::cout, answer, style_); }
  void headline(Tone tone, Statement what) const { headline({tone, std::move(what)}); }
  // A paragraph below it, behind `head`.
  void below(const Statement& what, Tone tone = Tone::kPlain, const std::string& head = "  ") const;
  void text(const std::string& words, Tone tone, const std::string& head = "  ") const {
    print_below(std::cout, words, tone, style_, head);
  }
  // The last lines, which matter the least.
  void dim(const Statement& what) const;

 private:
  const Style style_;
};

// Prints a statement as a paragraph, its lines below the first one's begin behind `head`.
void say(const Statement& statement, const Style& style = style_of(1), const std::string& head = "",
         std::ostream& out = std::cout);

// Prints the most important remark about each cell that has one, with the cell's name.
void print_remarks(std::ostream& out, const std::vector<std::pair<std::string, CellResult>>& cells);

}  // namespace retrystorm
