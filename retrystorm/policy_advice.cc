#include "retrystorm/policy_advice.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <iostream>
#include <optional>
#include <utility>

#include "common/output/json_text.h"
#include "model/base/text.h"
#include "policies/changes.h"
#include "study/acceptance.h"
#include "study/backlog_trial.h"
#include "study/fitted_table.h"
#include "study/trial_lines.h"

namespace retrystorm {
namespace {

// With which no run is down.
struct HelpfulChange {
  PolicyChange change;
  double after = 1, now = 1;  // the least success after an outage with it, and as it is
  std::string price{};        // where fewer requests succeed with it

  // A service that is up and fails most requests is hardly better than one that is down.
  static constexpr double kMost = 0.9;
  bool is_remedy() const { return after >= kMost || after >= now + kClearlyLess; }
};

// Of errors, which last for the whole run, the success in them.
double success_after(const StudyDisturbance& disturbance, const CellResult& result) {
  return disturbance.outage ? result.phases[2].success.value_or(1)
                            : success_in(disturbance, result);
}

}  // namespace

PolicyAdvice::PolicyAdvice(std::string label, const PolicyToRun& policy,
                           const std::vector<StudyDisturbance>& disturbances,
                           std::vector<const Runs*> runs, const Study& study,
                           const StudyOptions& options, const NamedOptions& given,
                           const std::string& words)
    : label_(std::move(label)),
      policy_(policy),
      disturbances_(disturbances),
      runs_(std::move(runs)),
      study_(study),
      options_(options),
      given_(given),
      words_(words),
      worst_(worst()) {}

ScenarioOptions PolicyAdvice::scenario(const NamedOptions& settings,
                                       std::size_t disturbance) const {
  return scenario_with(policy_, settings, disturbances_[disturbance], options_, given_);
}

Runs PolicyAdvice::run_with(const NamedOptions& settings, std::size_t disturbance,
                            std::size_t runs) const {
  return study_.run_beside(scenario(settings, disturbance), runs);
}

double PolicyAdvice::error_share(std::size_t disturbance) const {
  const ScenarioOptions its = scenario(policy_.settings, disturbance);
  const Disturbance& outage = its.timeline.outage;
  if (!disturbances_[disturbance].outage) return its.service.errors.share;
  return outage.kind == Disturbance::Kind::kErrors ? outage.value : 0;
}

void PolicyAdvice::print_not_retried() const {
  std::string names;
  bool hangs = false;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    if (runs_[i]->empty()) continue;
    const CellResult result = summarize(*runs_[i]);
    if (result.nothing_retried == 0) continue;
    add_to_list(names, disturbances_[i].title + " (" + to_string(result.not_retryable) + ')');
    hangs |= look_ahead(scenario(policy_.settings, i)).hangs_on_rejections();
  }
  print_note(std::cout, label_ + "nothing was retried, these failures are not retryable", names);
  if (hangs) {
    std::cout << "  Only errors are retried. They decide where a service turns requests away: give "
                 "--queue-length\n  and --rejection-cost\n";
  }
}

// Where most runs are down, or not back in time; if none is, the outage after which it takes longest to be back.
std::size_t PolicyAdvice::worst() const {
  std::size_t worst = 0, most = 0;
  Duration longest{-1};
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const std::size_t hits = hits_of(*runs_[i]).all();
    const auto back = summarize(*runs_[i]).recovery_median;
    const bool latest =
        hits == 0 && most == 0 && disturbances_[i].outage && back && *back >= longest;
    if (latest) longest = *back;
    if (latest || hits > most) worst = i;
    most = std::max(most, hits);
  }
  return worst;
}

AnswerTrials PolicyAdvice::trials_of(const NamedOptions& settings, const CellResult& result) const {
  NamedOptions given = given_;
  // Other lines tell of these.
  given.emplace("abandoned", "");
  if (processes_tried_) given.emplace("processes", "");
  const ScenarioOptions options = scenario(settings, worst_);
  return AnswerTrials({options, given, result, holding_}, study_.evaluator(), study_.seed(),
                      kBesideRuns);
}

void PolicyAdvice::try_others(bool hold) {
  if (hold) holding_ = options_.expectations;
  trials_.emplace(trials_of(policy_.settings, summarize(*runs_[worst_])));
}

void PolicyAdvice::print_others() const {
  JsonLines none("");
  tell_trials({{label_ + disturbances_[worst_].title, *trials_}}, none);
}

void PolicyAdvice::print_nothing_to_change() const {
  std::size_t all = 0;
  std::string text;
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const StudyDisturbance& disturbance = disturbances_[i];
    const Runs& now = *runs_[i];
    if (now.empty() || hits_of(now).all() > 0) return;
    all += now.size();
    const CellResult result = summarize(now);
    if (error_share(i) == 0) continue;
    add_to_list(text, success_text(success_in(disturbance, result)) +
                          " of the requests succeed in " + disturbance.title);
  }
  const auto back = summarize(*runs_[worst_]).recovery_median;
  if (disturbances_[worst_].outage && back) {
    text =
        (*back > Duration::zero() ? "at the latest the service is back after " + readable(*back) +
                                        " (" + disturbances_[worst_].title + ')'
                                  : "the service is back at once") +
        (text.empty() ? "" : ", ") + text;
  }
  std::string name = label_ + "nothing to change" + (budget_costs_ ? " for storms" : "");
  if (processes_decide_) {
    const std::size_t count = process_count(scenario(policy_.settings, 0).workload);
    name += " with --processes=" + std::to_string(count);
  }
  if (trials_->hangs()) name += " (but see below)";
  print_note(std::cout, name, "none of " + std::to_string(all) + " runs is down; " + text);
}

void PolicyAdvice::print_service_changes() const {
  std::vector<TitledScenario> all;
  for (std::size_t i = 0; i < disturbances_.size(); ++i) {
    all.push_back({disturbances_[i].title, scenario(policy_.settings, i)});
  }
  retrystorm::print_service_changes(study_, label_, all, given_);
}

void PolicyAdvice::print_change_to_try() const {
  // Where the service is down, or not back in time, without any retries, no policy is to blame.
  const bool hedged = scenario(policy_.settings, 0).workload.retry.hedge.any();
  std::vector<Hits> none;
  std::string overloaded;  // the calm before an outage
  for (std::size_t i = 0; i < disturbances_.size(); ++i) {
    ScenarioOptions without = scenario(policy_.settings, i);
    send_once(without);
    const Runs runs = study_.run_beside(without, kBesideRuns);
    if (runs.empty()) return;
    none.push_back(hits_of(runs));
    if (!disturbances_[i].outage || !overloaded.empty() || runs_[i]->empty()) continue;
    constexpr double kHalf = 0.5;
    const double with = summarize(*runs_[i]).phases[0].success.value_or(1);
    const double once = summarize(runs).phases[0].success.value_or(0);
    if (with >= kHalf || once < kHalf) continue;
    overloaded = success_text(with) + " of the requests succeed before it, and " +
                 success_text(once) + " without them";
  }
  print_note(
      std::cout,
      label_ + (hedged ? "its hedges" : "its retries") + " overload the service before any outage",
      overloaded);
  const auto blames_policy = [&none](std::size_t i) { return none[i].all() == 0; };
  std::string beyond;
  bool to_blame = false, down = false;
  double share = 1;  // the least share of runs that are to go
  for (std::size_t i = 0; i < runs_.size(); ++i) {
    const std::size_t hits = hits_of(*runs_[i]).all();
    if (hits == 0) continue;
    if (blames_policy(i)) {
      to_blame = true;
      share = std::min(share, static_cast<double>(hits) / static_cast<double>(runs_[i]->size()));
      continue;
    }
    down |= none[i].down > 0;
    add_to_list(beyond,
                disturbances_[i].title + " (" +
                    (none[i].down > 0 ? std::to_string(none[i].down) + " down"
                                      : std::to_string(none[i].open) + " still recovering") +
                    " of " + std::to_string(kBesideRuns) + ")");
  }
  print_note(std::cout,
             label_ + "no policy helps, for it is so without any retries" +
                 (hedged ? " or hedges" : "") +
                 (down ? " (see retrystorm remedies)" : " (a longer --observe decides)"),
             beyond);
  if (!to_blame) return;
  // Where a share p of the runs is down, none of 3 / p is with a probability of 5 %: fewer runs tell nothing.
  const std::size_t enough = std::max(
      kBesideRuns, std::min(options_.runs, static_cast<std::size_t>(std::ceil(3 / share))));
  std::string in_vain;
  std::optional<HelpfulChange> best;
  for (const PolicyChange& change : changes_to(policy_.settings, *policy_.format, policy_.names)) {
    HelpfulChange tried{.change = change};
    bool helps = true;
    for (std::size_t i = 0; i < runs_.size() && helps; ++i) {
      const Runs changed = run_with(change.settings, i, blames_policy(i) ? enough : kBesideRuns);
      if (changed.empty()) return;
      const Hits hits = hits_of(changed);
      helps = blames_policy(i) ? hits.all() == 0 : hits.down <= none[i].down;
      const StudyDisturbance& disturbance = disturbances_[i];
      const double succeed = success_after(disturbance, summarize(changed));
      const double now = success_after(disturbance, summarize(*runs_[i]));
      if (disturbance.outage && blames_policy(i)) {
        tried.after = std::min(tried.after, succeed);
        tried.now = std::min(tried.now, now);
      }
      if (now - succeed >= kClearlyLess) {
        add_to_list(tried.price, percent(succeed, 0) + " succeed " +
                                     (disturbance.outage ? "after " : "in ") + disturbance.title +
                                     " and not " + percent(now, 0));
      }
    }
    if (!helps) {
      add_to_list(in_vain, change.title);
      continue;
    }
    // The least change, of those that are as good.
    constexpr double kAsGood = 0.1;
    if (!best || tried.after > best->after + kAsGood) best = std::move(tried);
    if (best->after >= HelpfulChange::kMost) break;
  }
  if (!best) {
    print_note(std::cout, label_ + "try",
               "retrystorm remedies, for these changes of the file do not help: " + in_vain);
    return;
  }
  std::cout << wrapped(label_,
                       (best->is_remedy() ? "try: write this, "
                                          : "no change of the file is a remedy; the best is ") +
                           best->change.title + " (0 of " + std::to_string(enough) +
                           " runs are down in each " + (beyond.empty() ? "" : "other ") +
                           "disturbance, so at most " + percent(greatest_share(0, enough), 2) +
                           "; after each outage at least " + success_text(best->after) +
                           " of the requests succeed):",
                       2);
  for (const std::string& line : best->change.lines) std::cout << "    " << line << '\n';
  add_price_in_short_freeze(best->change.settings, best->price);
  print_note(std::cout, "  at a price", best->price);
  const NamedOptions& settings = best->change.settings;
  const CellResult changed = summarize(run_with(settings, worst_, kBesideRuns));
  std::string others;
  for (const std::string& each : trials_of(settings, changed).others(false)) {
    add_to_list(others, each);
  }
  print_note(std::cout, "  but in " + disturbances_[worst_].title, others);
}

// What only ends the retries of a long freeze may fail many requests of a short one.
void PolicyAdvice::add_price_in_short_freeze(const NamedOptions& settings,
                                             std::string& price) const {
  const auto success_with = [&](const NamedOptions& each) -> std::optional<double> {
    const Runs runs = study_.run_beside(
        scenario_with(policy_, each, kShortFreeze, options_, given_), kBesideRuns);
    if (runs.empty()) return std::nullopt;
    return success_in(kShortFreeze, summarize(runs));
  };
  const auto now = success_with(policy_.settings), then = success_with(settings);
  if (!now || !then || *now - *then < kClearlyLess) return;
  add_to_list(price, percent(*then, 0) + " succeed in " + kShortFreeze.title + " and not " +
                         percent(*now, 0));
}

void PolicyAdvice::print_command() const {
  const std::size_t runs = runs_[worst_]->size();
  if (runs == 0 || policy_.import.empty()) return;
  const ScenarioOptions same = scenario(policy_.settings, worst_);
  std::cout << label_ << "simulate makes the runs of " << disturbances_[worst_].title << ":\n  "
            << policy_.import << " >mine.ini\n  simulate" << words_;
  for (const auto& [name, value] : disturbances_[worst_].options) {
    std::cout << " --" << name << '=' << value;
  }
  std::cout << " --outage-at=" << format_duration(options_.outage_at)
            << " --observe=" << format_duration(same.observe)
            << " --sweep strategy=mine.ini --runs=" << runs << " --seed=" << study_.seed() << '\n';
}

}  // namespace retrystorm
