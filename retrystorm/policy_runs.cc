#include "retrystorm/policy_runs.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <iostream>
#include <span>
#include <stdexcept>
#include <utility>

#include "common/output/answer.h"
#include "common/output/json_text.h"
#include "model/base/text.h"
#include "model/run/outlook.h"
#include "study/acceptance.h"
#include "study/cell_answer.h"
#include "study/judged_runs.h"
#include "study/trials.h"
#include "words/words.h"

namespace retrystorm {

namespace {

using Runs = std::vector<RunResult>;

// The runs that count against a policy: those that are down, or down only with the change.
struct Hits {
  std::size_t down = 0;
  std::size_t open = 0;       // neither down nor back at the end, and may still be either
  std::size_t undecided = 0;  // of these, those that no more time makes either

  std::size_t all() const { return down + open; }
};

// Runs of what is no cell of a study have so many seeds.
constexpr std::size_t kBesideRuns = 20;

// The scenario of a policy in a disturbance, with these settings in place of its own. `given`: options that hold for all.
ScenarioOptions scenario_with(const PolicyToRun& policy, const NamedOptions& settings,
                              const StudyDisturbance& disturbance, const StudyOptions& options,
                              const NamedOptions& given) {
  NamedOptions all = disturbance.options;
  all.insert(given.begin(), given.end());
  if (policy.multiplexed) all.try_emplace("connections", "multiplexed");
  all["outage-at"] = format_duration(options.outage_at);
  all["observe"] = format_duration(options.observe);
  set_strategy(all, {.name = "", .settings = settings});
  ScenarioOptions scenario = scenario_of(all);
  if (!given.contains("observe")) scenario.observe = until_drained(scenario);
  return scenario;
}

// With a comma before it, if it is not the first one.
void add_to_list(std::string& list, const std::string& text) {
  list += (list.empty() ? "" : ", ") + text;
}

// `before`: the runs of the policy before a change, with the same seeds. Null: without a change.
Hits hits_of(const Runs& now, const Runs* before = nullptr) {
  Hits hits;
  for (std::size_t i = 0; i < now.size(); ++i) {
    if (before != nullptr && is_down((*before)[i].verdict)) continue;
    const Verdict verdict = now[i].verdict;
    hits.down += is_down(verdict) ? 1 : 0;
    hits.undecided += verdict == Verdict::kUndecided ? 1 : 0;
    hits.open += verdict == Verdict::kRecovering || verdict == Verdict::kUndecided ? 1 : 0;
  }
  return hits;
}

// The success of the requests that begin in a disturbance. That of the whole run would depend on how long one
// observes. Errors last for the whole run.
double success_in(const StudyDisturbance& disturbance, const CellResult& result) {
  const auto& during = result.phases[1].success;
  return disturbance.outage && during ? *during : result.success_share;
}

// The plan for a claim such as down<1%; nothing for other claims, which take all runs.
std::optional<Acceptance> plan_for(const Expectation& claim, std::size_t runs) {
  const bool is_limit = claim.relation == Expectation::Relation::kBelow ||
                        claim.relation == Expectation::Relation::kAtMost;
  if (claim.verdict || claim.figure != "down" || !is_limit || claim.bound <= 0) return std::nullopt;
  const auto plan = acceptance(runs, claim.bound);
  if (plan) return plan;
  std::string text = "--runs: " + std::to_string(runs) + " runs cannot show " + claim.text +
                     ": at least " + std::to_string(least_runs(claim.bound)) + " are needed";
  for (const double less : {0.02, 0.05, 0.1, 0.2, 0.5}) {
    if (least_runs(less) > runs) continue;
    text += "; so many can show --expect='down<" + print_number(100 * less) + "%'";
    break;
  }
  throw std::invalid_argument(text + " (without --expect it is down<1%)");
}

// Says on which load and service the figures stand, and what of that was not given.
void print_premises(const Invocation& invocation, const std::vector<OutlookOfRow>& rows,
                    const std::vector<std::string>& set_by_policies) {
  constexpr std::array<std::string_view, 9> kPremises{
      "service", "service-time", "workers", "arrivals",    "clients",
      "lambda",  "rate",         "backlog", "connections",
  };
  const Outlook& first = rows.front().outlook;
  std::string assumed;
  for (const auto& [name, value] :
       assumed_options(invocation.app, options_json(invocation.app), rows, set_by_policies)) {
    if (std::find(kPremises.begin(), kPremises.end(), name) == kPremises.end()) continue;
    assumed += (assumed.empty() ? "" : ", ") + ("--" + name + '=' + value);
  }
  say({assumed.empty() ? "check-premises" : "check-premises-assumed",
       {{"load", first.wanted}, {"capacity", first.service->capacity}, {"assumed", assumed}}});
}

// A policy in a disturbance.
struct Cell {
  std::size_t now = 0;                  // its cell in the study
  std::optional<std::size_t> before{};  // that of the policy before
  const StudyDisturbance* disturbance = nullptr;
  // What came of it; no runs: nothing yet.
  CellResult result{}, old{};
  Hits hits{};  // without regard to the policy before

  bool outage() const { return disturbance->outage; }
};

// Judges the runs of cells against claims, each by its plan.
class Judge {
 public:
  explicit Judge(const StudyOptions& options) : options_(options) {
    for (const Expectation& each : options.expectations) {
      plans_.push_back(plan_for(each, options.runs));
    }
  }

  void print_plans(bool of_changes) const {
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      if (!plans_[i]) continue;
      say({of_changes ? "check-plan-of-changes" : "check-plan",
           {{"claim", options_.expectations[i].text},
            {"most", static_cast<double>(plans_[i]->most_for)},
            {"runs", static_cast<double>(plans_[i]->runs)},
            {"least", static_cast<double>(plans_[i]->least_against)}}});
    }
  }

  std::vector<Accepted> judge_runs(const Cell& cell, const Runs& now, const Runs* before) const {
    const bool all = now.size() == options_.runs;
    const Hits hits = hits_of(now, before);
    std::vector<Accepted> result(plans_.size());
    std::vector<Judgement> after_all;
    std::vector<Expectation> claims = options_.expectations;
    for (Expectation& each : claims) {  // errors last for the whole run
      if (!cell.outage() && each.figure == "success_during") each.figure = "success_share";
    }
    if (all) after_all = judge_once(now, claims);
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      if (plans_[i]) {
        result[i] = judge(*plans_[i], now.size(), hits.down, hits.open);
        // More time helps only those that are recovering.
        Judgement& judgement = result[i].judgement;
        if (judgement.recovering > 0) {
          judgement.undecided = hits.undecided;
          judgement.recovering -= hits.undecided;
        }
      } else if (all) {
        result[i] = {after_all[i], true};
      } else {
        result[i].judgement.runs = now.size();
      }
    }
    return result;
  }

 private:
  const StudyOptions& options_;
  std::vector<std::optional<Acceptance>> plans_;  // of each expectation
};

// All cells of a study, those of a policy one after the other.
struct Plan {
  std::vector<StudyCell> study;
  std::vector<Cell> cells;
};

Plan plan_of(const StudyOptions& options, const std::vector<PolicyCase>& cases,
             const std::vector<StudyDisturbance>& disturbances, const NamedOptions& given) {
  Plan plan;
  for (const PolicyCase& each : cases) {
    for (const StudyDisturbance& disturbance : disturbances) {
      const auto add = [&](const PolicyToRun& policy) {
        plan.study.push_back({{policy.name, disturbance.title},
                              scenario_with(policy, policy.settings, disturbance, options, given)});
        return plan.study.size() - 1;
      };
      Cell cell{.now = add(each.policy), .disturbance = &disturbance};
      if (each.before) cell.before = add(*each.before);
      plan.cells.push_back(cell);
    }
  }
  return plan;
}

// "3 of 628", "0 of 628, 20 open", or "0 -> 3 of 628" with a policy before.
std::string down_of(const Cell& cell, const Hits& hits) {
  const auto down = [](const CellResult& of) { return std::to_string(of.down_runs()); };
  std::string count = down(cell.result) + " of " + std::to_string(cell.result.runs);
  if (hits.open > 0) count += ", " + std::to_string(hits.open) + " open";
  return cell.before ? down(cell.old) + " -> " + count : count;
}

Table table_of(bool of_changes, bool of_many) {
  Table table;
  if (of_many) table.columns.push_back({.title = "policy", .code = true});
  table.columns.push_back({.title = "disturbance", .code = true});
  const auto add = [&table](const char* title) { table.columns.push_back({.title = title}); };
  add("down");
  if (of_changes) add("only now");
  for (const char* title : {"at most", "back after", "answered", "attempts"}) add(title);
  return table;
}

std::vector<std::string> figures_of(const Cell& cell, const CellResult& result) {
  return {cell.outage() ? back_words(result) : "-",
          share_words(success_in(*cell.disturbance, result)), number_words(result.amplification)};
}

// The options that every policy sets.
std::vector<std::string> set_by_all(const std::vector<PolicyCase>& cases) {
  std::vector<std::string> names = kSetByDisturbances;
  for (const auto& [name, value] : cases.front().policy.settings) {
    const bool all = std::all_of(cases.begin(), cases.end(), [&name = name](const auto& each) {
      return each.policy.settings.contains(name);
    });
    if (all) names.push_back(name);
  }
  const bool all = std::all_of(cases.begin(), cases.end(),
                               [](const PolicyCase& each) { return each.policy.multiplexed; });
  if (all) names.emplace_back("connections");
  return names;
}

// The options of all runs as they were typed, so that `simulate` makes them, too.
std::string as_words(const Invocation& invocation, const NamedOptions& given) {
  const CLI::Option* config = find_option(invocation.app, "config");
  const bool has_file = config != nullptr && config->count() > 0;
  const bool sets_outage = std::any_of(
      kSetByDisturbances.begin(), kSetByDisturbances.end(),
      [&](const std::string& name) { return find_option(invocation.app, name)->count() > 0; });
  const bool spelt_out = has_file && sets_outage;  // `recommend` refuses such a file
  std::string words;
  if (has_file && !spelt_out) words = " --config=" + shell_word(text_of(*config));
  for (const auto& [name, value] : given) {
    if (name == "observe" || name == "outage-at") continue;  // of each disturbance
    if (!spelt_out && !is_typed(*find_option(invocation.app, name), invocation.arguments)) continue;
    words += " --" + name + '=' + shell_word(value);
  }
  return words;
}

// Says where nothing that failed is retried: such a disturbance is no test of the retries.
void print_not_retried(const std::string& label, std::span<const Cell> cells,
                       const std::vector<StudyCell>& study) {
  std::string names;
  bool hangs = false;
  for (const Cell& each : cells) {
    if (each.result.nothing_retried == 0) continue;
    add_to_list(names, each.disturbance->title + " (" + to_string(each.result.not_retryable) + ')');
    hangs |= look_ahead(study[each.now].options).hangs_on_rejections();
  }
  if (names.empty()) return;
  say({hangs ? "check-not-retried-queue" : "check-not-retried", {{"faults", names}}}, style_of(1),
      label);
}

// Where most runs are down, or not back in time; if none is, the outage after which it takes longest to be back.
const Cell& worst_of(std::span<const Cell> cells) {
  const Cell* worst = &cells.front();
  std::size_t most = 0;
  Duration longest{-1};
  for (const Cell& each : cells) {
    const std::size_t hits = each.hits.all();
    const auto back = each.result.time_to_recovery;
    const bool latest = hits == 0 && most == 0 && each.outage() && back && *back >= longest;
    if (latest) longest = *back;
    if (latest || hits > most) worst = &each;
    most = std::max(most, hits);
  }
  return *worst;
}

// Of a policy in all disturbances. `worst`: see `worst_of`. `turned`: ten percent more load or less capacity has
// another answer.
RunAnswer answer_of(std::span<const Cell> cells, const Cell& worst, const std::string& name,
                    bool turned) {
  std::size_t all = 0, down = 0, open = 0;
  double most = 0;
  for (const Cell& each : cells) {
    all += each.result.runs;
    down += each.hits.down;
    open += each.hits.open;
    most = std::max(most, greatest_share(each.hits.all(), each.result.runs));
  }
  constexpr Duration kLate = std::chrono::seconds(10);
  const Duration back = worst.result.time_to_recovery.value_or(Duration::zero());
  Statement what{back > kLate ? "check-back-late" : "check-back",
                 {{"runs", static_cast<double>(all)},
                  {"share", ShareOf{most}},
                  {"after", back},
                  {"fault", worst.disturbance->title}}};
  Tone tone = Tone::kGood;
  if (down + open > 0) {
    tone = down > 0 ? Tone::kBad : Tone::kDoubt;
    what = {down > 0 ? "check-down" : "check-open",
            {{"down", static_cast<double>(down > 0 ? worst.hits.down : worst.hits.open)},
             {"runs", static_cast<double>(worst.result.runs)},
             {"fault", worst.disturbance->title}}};
  }
  // Green is earned: by retries that an outage has tested.
  const bool untested =
      tone == Tone::kGood && std::none_of(cells.begin(), cells.end(), [&](const Cell& each) {
        return each.outage() && each.result.runs > 0 && each.result.amplification > 1.0005;
      });
  if (untested) {
    tone = Tone::kDoubt;
    what = {"check-untested", {{"answer", words_of(what)}}};
  }
  if (turned) {
    tone = Tone::kDoubt;
    what = {"only-just", {{"answer", words_of(what)}}};
  }
  if (!name.empty()) what = {"of-policy", {{"policy", name}, {"answer", words_of(what)}}};
  return {tone, what};
}

}  // namespace

int run_policies(const Invocation& invocation, const StudyOptions& options,
                 const std::vector<PolicyCase>& cases,
                 const std::vector<StudyDisturbance>& disturbances, const NamedOptions& given,
                 bool markdown, const std::function<void(JsonLines&)>& before_runs,
                 const std::function<void()>& print_findings) {
  Plan plan = plan_of(options, cases, disturbances, given);
  const bool of_changes = std::any_of(
      cases.begin(), cases.end(), [](const PolicyCase& each) { return each.before.has_value(); });
  const Judge judge(options);
  Study study(invocation, options, {.labels = {"policy", "disturbance"}, .cells = plan.study});
  before_runs(study.json());
  if (markdown) print_findings();
  // What is no table is as in a terminal.
  const char* const fence = markdown ? "```\n" : "";
  constexpr std::size_t kMostTold = 30;
  std::vector<std::size_t> told;
  for (const Cell& each : plan.cells) {
    if (each.outage() && told.size() < kMostTold) told.push_back(each.now);
  }
  study.tell_outlook(invocation, told, set_by_all(cases));
  const auto judgements = [&](const Study::Runs& runs, const Cell& cell) {
    return judge.judge_runs(cell, runs[cell.now], cell.before ? &runs[*cell.before] : nullptr);
  };
  // Whether a claim about the policy of this cell is broken, in any disturbance.
  const auto is_over = [&](const Study::Runs& runs, std::size_t number) {
    const std::size_t first = number - number % disturbances.size();
    for (std::size_t i = first; i < first + disturbances.size(); ++i) {
      for (const Accepted& each : judgements(runs, plan.cells[i])) {
        if (each.judgement.finding == Finding::kBroken) return true;
      }
    }
    return false;
  };
  const Study::Runs runs = study.run_in_rounds([&](const Study::Runs& so_far) {
    std::vector<std::size_t> open;
    for (std::size_t i = 0; i < plan.cells.size(); ++i) {
      const auto now = judgements(so_far, plan.cells[i]);
      const bool certain =
          std::all_of(now.begin(), now.end(), [](const Accepted& each) { return each.certain; });
      if (certain || is_over(so_far, i)) continue;
      open.push_back(plan.cells[i].now);
      if (plan.cells[i].before) open.push_back(*plan.cells[i].before);
    }
    return open;
  });
  Table table = table_of(of_changes, cases.size() > 1);
  for (std::size_t i = 0; i < plan.cells.size(); ++i) {
    Cell& cell = plan.cells[i];
    const Runs& now = runs[cell.now];
    if (now.empty()) continue;
    const Hits hits = hits_of(now, cell.before ? &runs[*cell.before] : nullptr);
    cell.hits = hits_of(now);
    cell.result = summarize(now);
    if (cell.before) cell.old = summarize(runs[*cell.before]);
    std::vector<std::string> row = plan.study[cell.now].labels;
    if (cases.size() == 1) row.erase(row.begin());
    row.push_back(down_of(cell, hits));
    if (of_changes) row.push_back(cell.before ? std::to_string(hits.down) : "-");
    row.push_back(share_words(greatest_share(hits.down + hits.open, now.size())));
    std::vector<std::string> figures = figures_of(cell, cell.result);
    if (cell.before) {
      const std::vector<std::string> old = figures_of(cell, cell.old);
      for (std::size_t f = 0; f < figures.size(); ++f) {
        if (old[f] != figures[f]) figures[f] = old[f] + " -> " + figures[f];
      }
      study.write_row(*cell.before, cell.old);
    }
    row.insert(row.end(), figures.begin(), figures.end());
    table.rows.push_back(std::move(row));
    study.write_row(cell.now, cell.result);
    std::vector<Judgement> judged;
    for (Accepted& each : judgements(runs, cell)) {
      each.judgement.stopped = each.judgement.finding == Finding::kUndecided && is_over(runs, i);
      judged.push_back(std::move(each.judgement));
    }
    study.judge(cell.now, std::move(judged));
  }
  std::cout << fence;
  const bool multiplexed = std::any_of(
      cases.begin(), cases.end(), [](const PolicyCase& each) { return each.policy.multiplexed; });
  if (options.look.verbose) {
    if (multiplexed && !given.contains("connections")) say({"check-multiplexed"});
    std::vector<OutlookOfRow> rows;
    for (const std::size_t each : told) rows.push_back({"", look_ahead(plan.study[each].options)});
    print_premises(invocation, rows, set_by_all(cases));
    judge.print_plans(of_changes);
  }
  const Style style = style_of(STDOUT_FILENO, options.look.color);
  const auto cells_of = [&](std::size_t policy) {
    return std::span<const Cell>(&plan.cells[policy * disturbances.size()], disturbances.size());
  };
  // What could turn the answer is tried in the worst disturbance. The trials of ten percent belong to the answer.
  std::vector<AnswerTrials> trials;
  std::vector<std::vector<Expectation>> holding(cases.size());
  std::vector<std::vector<AnswerTrials::Outcome>> turned(cases.size());
  for (std::size_t i = 0; i < cases.size() && !table.rows.empty(); ++i) {
    const Cell& worst = worst_of(cells_of(i));
    const bool hold = std::all_of(cells_of(i).begin(), cells_of(i).end(), [&](const Cell& cell) {
      const auto judged = judgements(runs, cell);
      return std::all_of(judged.begin(), judged.end(), [](const Accepted& each) {
        return each.judgement.finding == Finding::kHolds;
      });
    });
    if (hold) holding[i] = options.expectations;
    trials.emplace_back(AskedRow{plan.study[worst.now].options, given, worst.result, holding[i]},
                        study.evaluator(), study.seed(), kBesideRuns);
    if (!cases[i].before) {
      for (AnswerTrials::Outcome& each : trials[i].of_a_tenth()) {
        if (each.turn != AnswerTrials::Turn::kNone) turned[i].push_back(std::move(each));
      }
    }
    print_headline(std::cout,
                   answer_of(cells_of(i), worst, cases.size() > 1 ? cases[i].policy.name : "",
                             std::any_of(turned[i].begin(), turned[i].end(), turns_verdict)),
                   style);
  }
  if (!markdown) print_findings();
  print_overruling(given, {}, "every policy");
  if (table.rows.empty()) {
    say({"check-nothing-yet"});
  } else {
    study.show(table, markdown, options.look.verbose);
  }
  const bool open = std::any_of(plan.cells.begin(), plan.cells.end(),
                                [](const Cell& cell) { return cell.hits.open > 0; });
  if (open) say({"check-counts-open"});
  std::string start;  // the first policy that does not hold
  for (std::size_t i = 0; i < trials.size(); ++i) {
    const std::string label = cases.size() > 1 ? cases[i].policy.name + ": " : "";
    print_not_retried(label, cells_of(i), plan.study);
    if (holding[i].empty() && start.empty()) start = cases[i].policy.start;
    if (cases[i].before) continue;
    std::size_t lines = 0;
    const auto tell = [&](const AnswerTrials::Outcome& each) {
      constexpr std::size_t kMost = 4;
      if (++lines > kMost && !options.look.verbose) return;
      std::cout << painted(fitted("  " + label, trial_words(each), style),
                           each.turn == AnswerTrials::Turn::kBack ? Tone::kGood : Tone::kDoubt,
                           style);
    };
    for (const AnswerTrials::Outcome& each : turned[i]) tell(each);
    trials[i].others(tell);
  }
  if (!start.empty()) {
    say({"check-next",
         {{"command", "retrystorm recommend" + start + as_words(invocation, given)}}});
  }
  return study.finish(fence);
}

}  // namespace retrystorm
