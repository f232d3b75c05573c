#include "study/trial_lines.h"

#include <algorithm>
#include <cstddef>
#include <iostream>
#include <utility>

#include "common/output/fixed.h"
#include "model/base/text.h"

namespace retrystorm {
namespace {

void write_backlogs(const std::string& row, const BacklogTrial& trial, JsonLines& json) {
  nlohmann::ordered_json line{{"type", "backlog_trial"}};
  if (!row.empty()) line["row"] = row;
  for (const TriedBacklog& each : trial.usual) {
    line["tried"].push_back({{"backlog", each.backlog},
                             {"runs", each.runs},
                             {"down", each.down},
                             {"recovering", each.recovering}});
  }
  line["edge"] = nullptr;
  line["comes_back"] = nullptr;
  if (trial.edge) {
    line["edge"] = trial.edge->about;
    line["comes_back"] = trial.edge->above.is_down() ? "below" : "above";
  }
  json.write(line);
}

void write_trial(const std::string& row, const AnswerTrials::Outcome& outcome, JsonLines& json) {
  const std::string name = underscored(outcome.trial.option);
  nlohmann::ordered_json line{{"type", name + "_trial"}};
  if (!row.empty()) line["row"] = row;
  line[name] = outcome.trial.value;
  line["what"] = outcome.trial.what;
  line["runs"] = outcome.result.decided();
  line["down"] = outcome.result.down_runs();
  json.write(line);
}

// Texts with the rows of which each is true, in the order of the rows.
using TextsOfRows = std::vector<std::pair<std::string, std::vector<std::string>>>;

void add_text(TextsOfRows& texts, const std::string& text, const std::string& row) {
  const auto same = std::find_if(texts.begin(), texts.end(),
                                 [&text](const auto& each) { return each.first == text; });
  if (same != texts.end()) {
    same->second.push_back(row);
  } else {
    texts.push_back({text, {row}});
  }
}

std::string names_of(const std::vector<std::string>& names, std::size_t all) {
  if (names.size() == all) return "each row";
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ", ") + name;
  return text;
}

// What differs with one and the same trial.
struct ToldTrial {
  const Trial* trial;
  TextsOfRows texts{};
  std::string price{};  // of the last row
  double weight = 0;
};

std::vector<ToldTrial> by_weight(const std::vector<TrialsOfRow>& rows) {
  std::vector<ToldTrial> all;
  for (const auto& [row, trials] : rows) {
    for (const AnswerTrials::Outcome& outcome : trials.outcomes()) {
      if (!outcome.differs()) continue;
      auto told = std::find_if(all.begin(), all.end(), [&outcome](const ToldTrial& each) {
        return each.trial->what == outcome.trial.what &&
               each.trial->question == outcome.trial.question;
      });
      if (told == all.end()) told = all.insert(all.end(), {.trial = &outcome.trial});
      add_text(told->texts, outcome.difference.text, row);
      told->price = outcome.difference.price;
      told->weight += outcome.difference.weight;
    }
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const ToldTrial& a, const ToldTrial& b) { return a.weight > b.weight; });
  return all;
}

// "20 of 20 runs down (begin, fixed); 60 % succeed in the outage, not 90 % (none);"
std::string differences(const ToldTrial& told, std::size_t rows) {
  if (rows == 1) return told.texts.front().first;
  std::string all;
  for (const auto& [each, of] : told.texts) {
    const bool has_comma = each.ends_with(',');
    all += (all.empty() ? "" : "; ") + each.substr(0, each.size() - (has_comma ? 1 : 0)) + " (" +
           names_of(of, rows) + ')';
  }
  return all + (told.texts.size() > 1 ? ";" : "");
}

}  // namespace

void tell_trials(const std::vector<TrialsOfRow>& rows, JsonLines& json) {
  TextsOfRows of_backlogs;
  for (const auto& [row, trials] : rows) {
    if (!trials.tries_backlogs()) continue;
    if (trials.backlogs()) write_backlogs(row, *trials.backlogs(), json);
    add_text(of_backlogs,
             trials.backlogs() ? backlog_trial_text(*trials.backlogs())
                               : "backlog: not tried, interrupted",
             row);
  }
  const bool one = rows.size() == 1;
  const std::string label = one && !rows[0].row.empty() ? rows[0].row + ": " : "";
  for (const auto& [text, names] : of_backlogs) {
    std::cout << wrapped(one ? label : names_of(names, rows.size()) + ": ", text, 2);
  }
  for (const auto& [row, trials] : rows) {
    for (const AnswerTrials::Outcome& each : trials.outcomes()) write_trial(row, each, json);
  }
  // More lines than these nobody reads.
  constexpr std::size_t kMostLines = 6;
  std::string others;
  std::size_t lines = 0;
  for (const ToldTrial& told : by_weight(rows)) {
    const Trial& trial = *told.trial;
    if (++lines > kMostLines) {
      others += (others.empty() ? "" : ", ") + trial.what;
      continue;
    }
    const bool of_one = told.texts.size() == 1 && told.texts[0].second.size() == 1;
    std::cout << wrapped(label + trial.option + ": ",
                         trial.text(differences(told, rows.size()), of_one ? told.price : ""), 2);
  }
  if (!others.empty()) std::cout << wrapped(label + "less so: ", "with " + others, 2);
  std::cout << std::flush;
}

}  // namespace retrystorm
