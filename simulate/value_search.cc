#include <algorithm>
#include <iostream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/cli/options.h"
#include "common/output/answer.h"
#include "model/base/text.h"
#include "simulate/program.h"
#include "simulator/simulation.h"
#include "study/cell_answer.h"
#include "study/evaluator.h"
#include "study/judged_runs.h"
#include "study/limit_value.h"
#include "study/sweep.h"
#include "study/trials.h"
#include "words/words.h"

namespace retrystorm {
namespace {

ValueScale scale_of(const OptionList& list, const SimulatorOptions& options) {
  const bool least = !options.least.empty();
  try {
    const auto service = look_ahead(options).service;
    return parse_scale(list, least ? options.least : options.most,
                       service ? service->capacity : Outlook::kUnlimited);
  } catch (const std::invalid_argument& error) {
    refuse(std::string(least ? "--least: " : "--most: ") + error.what());
  }
}

class ValueSearch {
 public:
  ValueSearch(const Invocation& invocation, const SimulatorOptions& options)
      : options_(options),
        least_(!options.least.empty()),
        teller_(options.look.color),
        any_(options),
        given_(given_options(invocation.app, any_.list)),
        scale_(scale_of(any_.list, options)) {
    may_observe_ = !given_.contains("observe");
    if (scale_.name.starts_with("budget-") && !given_.contains("outage-at")) {
      const auto saves = look_ahead(options_of(scale_.values.back())).budget_saves;
      if (saves) given_["outage-at"] = calm_ = format_duration(saves->of);
    }
    study_.emplace(invocation, options, plan_of(invocation));
    study_->tell_outlook(invocation, {0, 1}, set_, {"before-search"});
  }

  // Returns the exit code.
  int run() {
    const auto limit = find_limit(
        scale_, least_, [this](const std::string& value) { return judged(value); },
        scale_.name == "outage-for" ? SearchWay::kFurther : SearchWay::kFromBothEnds);
    study_->end_work(limit.has_value());
    if (!limit) {
      for (const TriedValue& each : tried_) {
        std::cerr << row_of(each.value) << ": " << to_string(each.finding()) << '\n';
      }
      return study_->finish();
    }
    study_->json().write(
        limit_json(*limit, question(),
                   {{"observe_s", to_seconds(options_of(scale_.values.front()).observe)}}));
    tell(*limit);
    if (!options_.no_trials && options_.runs > 1) {
      tell_trials(limit->found ? *limit->found : *limit->beside);
    }
    const int fault = study_->finish();
    if (fault != 0) return fault;
    return limit->found ? kExitHolds : exit_code_of({limit->beside->finding()});
  }

 private:
  LimitQuestion question() const {
    return {*any_.list.find(scale_.name), least_ ? options_.least : options_.most, least_,
            options_.expectations};
  }

  ScenarioOptions options_of(const std::string& value) const {
    return cell_options(given_, Grid({{.name = scale_.name, .values = {value}}}), {value});
  }

  Scenario scenario_of_value(const std::string& value) const {
    return checked_scenario(options_of(value), *options_.workload.seed,
                            std::min(threads_or_cores(options_.threads), options_.runs),
                            memory_limit(), options_.runs > 1);
  }

  // The ends of the scale.
  StudyPlan plan_of(const Invocation& invocation) {
    std::vector<StudyCell> cells;
    set_ = {scale_.name};
    const std::vector<std::string> ends{scale_.values.front(), scale_.values.back()};
    refuse_unused(
        ends.size(), [&](std::size_t end) { return options_of(ends[end]); },
        typed_options<ScenarioOptions>(invocation.app, invocation.arguments));
    for (const std::string& end : ends) {
      scenario_of_value(end);
      cells.push_back({{end}, options_of(end)});
      add_set(set_, options_, cells.back().options);
    }
    StudyPlan plan{.labels = {underscored(scale_.name)},
                   .cells = std::move(cells),
                   .checked = true,
                   .as_they_come = true,
                   .start = options_json(invocation.app)};
    if (!calm_.empty()) plan.start["outage_at"] = calm_;
    return plan;
  }

  std::optional<TriedValue> judged(const std::string& value) {
    // A value whose queue is only slow to drain is no limit.
    constexpr Duration kLongest = std::chrono::minutes(10);
    while (true) {
      const auto runs = judge_runs(study_->evaluator(), scenario_of_value(value), study_->seed(),
                                   options_.runs, options_.expectations);
      if (!runs) return std::nullopt;
      const CellResult& result = results_[value] = summarize(runs->runs);
      TriedValue tried{.value = value, .judgements = runs->judgements, .runs = runs->runs.size()};
      const Duration observed = options_of(value).observe;
      const Duration enough = std::min(result.to_watch.value_or(observed), kLongest);
      if (may_observe_ && tried.finding() == Finding::kUndecided && enough > observed) {
        given_["observe"] = format_duration(enough);
        say({"search-longer",
             {{"value", row_of(value)},
              counted("open", result.recovering),
              counted("runs", result.runs),
              {"observe", given_["observe"]}}});
        std::cout << std::flush;
        continue;
      }
      write_tried(tried);
      tried_.push_back(tried);
      return tried;
    }
  }

  void write_tried(const TriedValue& tried) {
    for (std::size_t i = 0; i < tried.judgements.size(); ++i) {
      const Expectation& claim = options_.expectations[i];
      Json line = judgement_json(claim, tried.judgements[i]);
      line[underscored(scale_.name)] = tried.value;
      line["observe_s"] = to_seconds(options_of(tried.value).observe);
      study_->json().write(line);
      if (!options_.look.verbose) continue;
      teller_.headline(answer_of(claim, tried.judgements[i], row_of(tried.value)));
    }
  }

  // The answer in a line, and what to know beside it.
  void tell(const LimitValue& limit) const {
    RunAnswer answer = answer_of(limit, question());
    const bool once = limit.found && limit.runs <= limit.values;
    if (once && answer.tone == Tone::kGood) answer.tone = Tone::kDoubt;
    teller_.headline(answer);
    if (once) teller_.below({"search-once", {}});
    if (!calm_.empty()) teller_.below({"search-calm", {{"calm", calm_}}});
    if (!limit.found) {
      std::size_t needed = 0;
      for (std::size_t i = 0; i < options_.expectations.size(); ++i) {
        needed = std::max(
            needed,
            runs_to_decide(options_.expectations[i], limit.beside->judgements[i]).value_or(0));
      }
      if (needed > 0) teller_.below({"search-needs", {{"runs", std::to_string(needed)}}});
      tell_nearest();
    } else {
      const CellResult& found = results_.at(limit.found->value);
      const bool slow = found.time_to_recovery && *found.time_to_recovery > Duration::zero();
      if (slow || answers_less(found)) teller_.below(block_of(found));
    }
    teller_.dim({"below-search",
                 {counted("values", limit.values),
                  counted("runs", limit.runs),
                  {"seed", std::to_string(study_->seed())}}});
    if (options_.look.verbose && limit.beside && limit.beside->finding() == Finding::kUndecided) {
      const std::string& value = limit.beside->value;
      print_remarks(std::cout, {{value, results_.at(value)}});
    }
  }

  // Do clearly fewer than all requests succeed, where the claims do not say it?
  bool answers_less(const CellResult& result) const {
    constexpr double kAll = 0.99;
    return result.phases[2].success.value_or(result.success_share) < kAll &&
           std::ranges::none_of(options_.expectations, [](const Expectation& each) {
             return each.figure.starts_with("success");
           });
  }

  // The value that comes nearest to a claim which is broken with all, a line for each such claim.
  void tell_nearest() const {
    for (std::size_t i = 0; i < options_.expectations.size(); ++i) {
      const Expectation& claim = options_.expectations[i];
      const bool more = claim.relation > Expectation::Relation::kAtMost;
      const auto broken = [i](const auto& each) {
        return each.judgements[i].finding == Finding::kBroken && each.judgements[i].value;
      };
      if (!std::ranges::all_of(tried_, broken)) continue;
      const auto best = std::ranges::max_element(tried_, {}, [i, more](const TriedValue& each) {
        return (more ? 1 : -1) * *each.judgements[i].value;
      });
      const RunAnswer nearest = answer_of(claim, best->judgements[i], row_of(best->value));
      teller_.below({"search-nearest", {{"what", words_of(nearest.headline)}}});
    }
  }

  void tell_trials(const TriedValue& shown) {
    const ScenarioOptions at = options_of(shown.value);
    const AnswerTrials trials(
        {at, given_, results_[shown.value], holding(options_.expectations, shown.judgements)},
        study_->evaluator(), study_->seed(), options_.runs);
    std::size_t lines = 0;
    for (const auto& outcomes : {trials.of_a_tenth(), trials.others()}) {
      for (const AnswerTrials::Outcome& each : outcomes) {
        if (!each.trial.with.empty() && each.trial.with.front().first == scale_.name) continue;
        study_->json().write(trial_json(row_of(shown.value), each));
        if (each.turn == AnswerTrials::Turn::kNone || ++lines > 4) continue;
        teller_.text(trial_words(each), Tone::kDoubt);
      }
    }
  }

  // "backlog=256"
  std::string row_of(const std::string& value) const { return scale_.name + '=' + value; }

  const SimulatorOptions& options_;
  const bool least_;
  const Teller teller_;
  const ListedScenario any_;
  NamedOptions given_{};
  ValueScale scale_{};
  bool may_observe_ = false;
  // The calm before the outage in a search for the size of a budget: as long as it saves. After less it would seem too
  // small. Empty if it stays as it is.
  std::string calm_{};
  std::vector<std::string> set_{};  // options that the search sets
  std::optional<Study> study_{};
  std::map<std::string, CellResult> results_{};
  std::vector<TriedValue> tried_{};
};

}  // namespace

int find_value(const Invocation& invocation, const SimulatorOptions& options) {
  return ValueSearch(invocation, options).run();
}

}  // namespace retrystorm
