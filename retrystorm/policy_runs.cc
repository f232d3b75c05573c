#include "retrystorm/policy_runs.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cstddef>
#include <iostream>
#include <span>
#include <utility>

#include "common/output/answer.h"
#include "common/output/json_text.h"
#include "model/base/text.h"
#include "model/run/outlook.h"
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

constexpr std::size_t kBesideRuns = 20;  // of what is no cell of the study

// The scenario of a policy in a disturbance. `given`: options that hold for all.
ScenarioOptions scenario_with(const PolicyToRun& policy, const StudyDisturbance& disturbance,
                              const StudyOptions& options, const NamedOptions& given) {
  NamedOptions all = disturbance.options;
  all.insert(given.begin(), given.end());
  if (policy.multiplexed) all.try_emplace("connections", "multiplexed");
  all["outage-at"] = format_duration(options.outage_at);
  all["observe"] = format_duration(options.observe);
  ScenarioOptions scenario =
      scenario_of(with_strategy(std::move(all), {.name = "", .settings = policy.settings}));
  if (!given.contains("observe")) scenario.observe = until_drained(scenario);
  return scenario;
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
  refuse(text + " (without --expect it is down<1%)");
}

// A policy in a disturbance.
struct Cell {
  std::size_t policy = 0;               // its number
  std::size_t now = 0;                  // its cell in the study
  std::optional<std::size_t> before{};  // that of the policy before
  const StudyDisturbance* disturbance = nullptr;
  // What came of it; no runs: nothing yet.
  CellResult result{}, old{};
  Hits hits{};  // without regard to the policy before

  bool outage() const { return disturbance->outage; }
};

// "3 of 628", "0 of 628, 20 open", or "0 -> 3 of 628" with a policy before.
std::string down_of(const Cell& cell, const Hits& hits) {
  const auto down = [](const CellResult& of) { return std::to_string(of.down_runs()); };
  std::string count = down(cell.result) + " of " + std::to_string(cell.result.runs);
  if (hits.open > 0) count += ", " + std::to_string(hits.open) + " open";
  return cell.before ? down(cell.old) + " -> " + count : count;
}

// Of the cell's policy, or of the one before.
std::string back_in(const Cell& cell, const CellResult& result) {
  return cell.outage() ? back_words(result) : "-";
}

std::string answered_in(const Cell&, const CellResult& result) {
  return share_words(answered_in_fault(result));
}

std::string attempts_in(const Cell&, const CellResult& result) {
  return number_words(result.amplification);
}

// The options that every policy sets.
std::vector<std::string> set_by_all(const std::vector<PolicyCase>& cases) {
  std::vector<std::string> names = kSetByDisturbances;
  const auto add = [&](const std::string& name, const auto& sets) {
    if (std::ranges::all_of(cases, sets, &PolicyCase::policy)) names.push_back(name);
  };
  for (const auto& [name, value] : cases.front().policy.settings) {
    add(name, [&name = name](const PolicyToRun& each) { return each.settings.contains(name); });
  }
  add("connections", &PolicyToRun::multiplexed);
  return names;
}

// The options of all runs as they were typed, so that `simulate` makes them, too.
std::string as_words(const Invocation& invocation, const NamedOptions& given) {
  const CLI::Option* config = find_option(invocation.app, "config");
  const bool has_file = config != nullptr && config->count() > 0;
  const bool sets_outage = std::ranges::any_of(kSetByDisturbances, [&](const std::string& name) {
    return find_option(invocation.app, name)->count() > 0;
  });
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
  std::vector<std::string> names;
  bool hangs = false;
  for (const Cell& each : cells) {
    if (each.result.nothing_retried == 0) continue;
    names.push_back(each.disturbance->title + " (" + to_string(each.result.not_retryable) + ')');
    hangs |= look_ahead(study[each.now].options).hangs_on_rejections();
  }
  if (names.empty()) return;
  say({hangs ? "check-not-retried-queue" : "check-not-retried", {{"faults", list_words(names)}}},
      style_of(1), label);
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
                 {counted("runs", all),
                  {"share", ShareOf{most}},
                  {"after", back},
                  {"fault", worst.disturbance->title}}};
  Tone tone = Tone::kGood;
  if (down + open > 0) {
    tone = down > 0 ? Tone::kBad : Tone::kDoubt;
    what = {down > 0 ? "check-down" : "check-open",
            {counted("down", down > 0 ? worst.hits.down : worst.hits.open),
             counted("runs", worst.result.runs),
             {"fault", worst.disturbance->title}}};
  }
  // Green is earned: by retries that an outage has tested.
  const bool untested =
      tone == Tone::kGood && std::ranges::none_of(cells, [&](const Cell& each) {
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

// The policies in the disturbances, and what is said of them.
class PolicyRuns {
 public:
  PolicyRuns(const Invocation& invocation, const StudyOptions& options, const PolicyStudy& asked)
      : invocation_(invocation),
        options_(options),
        asked_(asked),
        set_by_all_(set_by_all(asked.cases)),
        of_changes_(std::ranges::any_of(
            asked.cases, [](const PolicyCase& each) { return each.before.has_value(); })),
        teller_(options.look.color) {
    make_cells();
    for (const Expectation& each : options.expectations) {
      plans_.push_back(plan_for(each, options.runs));
    }
    study_.emplace(invocation, options,
                   StudyPlan{.labels = {"policy", "disturbance"},
                             .cells = study_cells_,
                             .together = study_cells_.size() / asked.cases.size()});
    constexpr std::size_t kMostTold = 30;
    for (const Cell& each : cells_) {
      if (each.outage() && told_.size() < kMostTold) told_.push_back(each.now);
    }
  }

  // Returns the exit code.
  int run() {
    asked_.before_runs(study_->json());
    if (asked_.markdown) asked_.print_findings();
    study_->tell_outlook(invocation_, told_, set_by_all_);
    runs_ = study_->run_in_rounds([this](const Study::Runs& so_far) { return open(so_far); });
    for (Cell& each : cells_) take(each);
    if (study_->is_share()) return study_->finish();
    // What is no table is as in a terminal.
    const char* const fence = asked_.markdown ? "```\n" : "";
    std::cout << fence;
    if (options_.look.verbose) print_plans();
    for (std::size_t i = 0; i < asked_.cases.size() && !rows_.empty(); ++i) answer(i);
    if (!asked_.markdown) asked_.print_findings();
    print_overruling(asked_.given, {}, "every policy");
    if (rows_.empty()) {
      say({"check-nothing-yet"});
    } else {
      study_->show(table(), asked_.markdown, options_.look.verbose);
    }
    if (std::ranges::any_of(cells_, [](const Cell& cell) { return cell.hits.open > 0; })) {
      say({"check-counts-open"});
    }
    for (const Answered& each : answered_) tell_what_turns(each);
    const auto failing = std::ranges::find_if(answered_, [](const Answered& each) {
      return each.holding.empty() && !each.policy->policy.start.empty();
    });
    if (failing != answered_.end()) {
      say({"check-next",
           {{"command", "retrystorm recommend" + failing->policy->policy.start +
                            as_words(invocation_, asked_.given)}}});
    }
    return study_->finish(fence);
  }

 private:
  // A policy, and what could turn its answer: it is tried in the worst disturbance.
  struct Answered {
    const PolicyCase* policy;
    std::span<const Cell> cells;
    std::vector<Expectation> holding;
    AnswerTrials trials;
    std::vector<AnswerTrials::Outcome> turned{};  // by ten percent, which belongs to the answer
  };

  // Those of a policy one after the other.
  void make_cells() {
    for (std::size_t i = 0; i < asked_.cases.size(); ++i) {
      const PolicyCase& each = asked_.cases[i];
      for (const StudyDisturbance& disturbance : asked_.disturbances) {
        const auto add = [&](const PolicyToRun& policy) {
          study_cells_.push_back({{policy.name, disturbance.title},
                                  scenario_with(policy, disturbance, options_, asked_.given)});
          return study_cells_.size() - 1;
        };
        Cell cell{.policy = i, .now = add(each.policy), .disturbance = &disturbance};
        if (each.before) cell.before = add(*each.before);
        cells_.push_back(cell);
      }
    }
  }

  Hits hits_in(const Study::Runs& runs, const Cell& cell) const {
    return hits_of(runs[cell.now], cell.before ? &runs[*cell.before] : nullptr);
  }

  // Judges the runs of a cell against the claims, each by its plan.
  std::vector<Accepted> judged(const Study::Runs& runs, const Cell& cell) const {
    const Runs& now = runs[cell.now];
    const bool all = now.size() == options_.runs;
    const Hits hits = hits_in(runs, cell);
    std::vector<Accepted> result(plans_.size());
    std::vector<Expectation> claims = options_.expectations;
    for (Expectation& each : claims) {  // errors last for the whole run
      if (!cell.outage() && each.figure == "success_during") each.figure = "success_share";
    }
    const auto after_all = all ? judge_once(now, claims) : std::vector<Judgement>();
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

  std::span<const Cell> cells_of(std::size_t policy) const {
    const std::size_t count = asked_.disturbances.size();
    return {&cells_[policy * count], count};
  }

  // Of all claims about a policy, in all disturbances.
  Finding finding_of(const Study::Runs& runs, std::size_t policy) const {
    Finding all = Finding::kHolds;
    for (const Cell& cell : cells_of(policy)) {
      for (const Accepted& each : judged(runs, cell)) {
        if (each.judgement.finding == Finding::kBroken) return Finding::kBroken;
        if (each.judgement.finding == Finding::kUndecided) all = Finding::kUndecided;
      }
    }
    return all;
  }

  // The cells that need another round.
  std::vector<std::size_t> open(const Study::Runs& so_far) const {
    std::vector<std::size_t> open;
    const auto& own = study_->own_cells();
    for (const Cell& cell : cells_) {
      if (!std::binary_search(own.begin(), own.end(), cell.now)) continue;
      const auto now = judged(so_far, cell);
      const bool certain =
          std::ranges::all_of(now, [](const Accepted& each) { return each.certain; });
      if (certain || finding_of(so_far, cell.policy) == Finding::kBroken) continue;
      open.push_back(cell.now);
      if (cell.before) open.push_back(*cell.before);
    }
    return open;
  }

  // What came of a cell, as a row of each table.
  void take(Cell& cell) {
    const Runs& now = runs_[cell.now];
    if (now.empty()) return;
    const Hits hits = hits_in(runs_, cell);
    cell.hits = hits_of(now);
    cell.result = summarize(now);
    if (cell.before) cell.old = summarize(runs_[*cell.before]);
    std::vector<std::string> row = study_cells_[cell.now].labels;
    if (asked_.cases.size() == 1) row.erase(row.begin());
    row.push_back(down_of(cell, hits));
    if (of_changes_) row.push_back(cell.before ? std::to_string(hits.down) : "-");
    row.push_back(share_words(greatest_share(hits.down + hits.open, now.size())));
    for (const auto figure : {back_in, answered_in, attempts_in}) {
      const std::string text = figure(cell, cell.result);
      const std::string old = cell.before ? figure(cell, cell.old) : text;
      row.push_back(old == text ? text : old + " -> " + text);
    }
    rows_.push_back(std::move(row));
    if (cell.before) study_->write_row(*cell.before, cell.old);
    study_->write_row(cell.now, cell.result);
    std::vector<Judgement> judgements;
    for (const Accepted& each : judged(runs_, cell)) {
      judgements.push_back(each.judgement);
      if (each.judgement.finding != Finding::kUndecided) continue;
      judgements.back().stopped = finding_of(runs_, cell.policy) == Finding::kBroken;
      if (study_->is_over()) judgements.back().doubt = {"claim-interrupted"};
    }
    study_->judge(cell.now, std::move(judgements));
  }

  Table table() const {
    Table table{.rows = rows_};
    if (asked_.cases.size() > 1) table.columns.push_back({.title = "policy", .code = true});
    table.columns.push_back({.title = "disturbance", .code = true});
    for (const char* title :
         {"down", "only now", "at most", "back after", "answered", "attempts"}) {
      if (title != std::string_view("only now") || of_changes_) {
        table.columns.push_back({.title = title});
      }
    }
    return table;
  }

  // On what the answer stands, and what decides it.
  void print_plans() const {
    const bool multiplexed = std::ranges::any_of(
        asked_.cases, [](const PolicyCase& each) { return each.policy.multiplexed; });
    if (multiplexed && !asked_.given.contains("connections")) say({"check-multiplexed"});
    const Outlook first = look_ahead(study_cells_[told_.front()].options);
    say({"check-premises", {{"load", first.wanted}, {"capacity", first.service->capacity}}});
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      if (!plans_[i]) continue;
      say({of_changes_ ? "check-plan-of-changes" : "check-plan",
           {{"claim", options_.expectations[i].text},
            counted("most", plans_[i]->most_for),
            counted("runs", plans_[i]->runs),
            counted("least", plans_[i]->least_against)}});
    }
  }

  void answer(std::size_t number) {
    const std::span<const Cell> cells = cells_of(number);
    const PolicyCase& policy = asked_.cases[number];
    const Cell& worst = worst_of(cells);
    const auto holding = finding_of(runs_, number) == Finding::kHolds ? options_.expectations
                                                                      : std::vector<Expectation>();
    Answered& answered = answered_.emplace_back(Answered{
        &policy, cells, holding,
        AnswerTrials({study_cells_[worst.now].options, asked_.given, worst.result, holding},
                     study_->evaluator(), study_->seed(), kBesideRuns)});
    if (!policy.before) {
      answered.turned = answered.trials.of_a_tenth();
      std::erase_if(answered.turned, [](const AnswerTrials::Outcome& each) {
        return each.turn == AnswerTrials::Turn::kNone;
      });
    }
    RunAnswer told = answer_of(cells, worst, asked_.cases.size() > 1 ? policy.policy.name : "",
                               std::ranges::any_of(answered.turned, turns_verdict));
    // What counts is what the change does.
    const bool no_worse = policy.before && told.tone == Tone::kBad &&
                          std::ranges::all_of(cells, [this](const Cell& each) {
                            return hits_in(runs_, each).all() == 0;
                          });
    if (no_worse) told = {Tone::kDoubt, {"check-no-worse", {{"answer", words_of(told.headline)}}}};
    teller_.headline(told);
  }

  void tell_what_turns(const Answered& answered) const {
    const std::string label =
        asked_.cases.size() > 1 ? answered.policy->policy.name + ": " : std::string();
    print_not_retried(label, answered.cells, study_cells_);
    if (answered.policy->before) return;
    std::size_t lines = 0;
    const auto tell = [&](const AnswerTrials::Outcome& each) {
      constexpr std::size_t kMost = 4;
      if (++lines > kMost && !options_.look.verbose) return;
      teller_.text(trial_words(each), tone_of(each), "  " + label);
    };
    for (const AnswerTrials::Outcome& each : answered.turned) tell(each);
    answered.trials.others(tell);
  }

  const Invocation& invocation_;
  const StudyOptions& options_;
  const PolicyStudy& asked_;
  const std::vector<std::string> set_by_all_;
  const bool of_changes_;
  const Teller teller_;
  std::vector<std::optional<Acceptance>> plans_{};  // of each expectation
  std::vector<StudyCell> study_cells_{};
  std::vector<Cell> cells_{};
  std::optional<Study> study_{};
  std::vector<std::size_t> told_{};
  Study::Runs runs_{};
  std::vector<std::vector<std::string>> rows_{};
  std::vector<Answered> answered_{};
};

}  // namespace

int run_policies(const Invocation& invocation, const StudyOptions& options,
                 const PolicyStudy& study) {
  return PolicyRuns(invocation, options, study).run();
}

}  // namespace retrystorm
