#include "simulate/value_search.h"

#include <algorithm>
#include <iostream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/cli/options.h"
#include "common/output/fixed.h"
#include "common/output/json_lines.h"
#include "common/output/start_json.h"
#include "common/output/work_output.h"
#include "model/base/text.h"
#include "simulate/before_run.h"
#include "simulate/next_to_try.h"
#include "simulator/simulation.h"
#include "study/cells.h"
#include "study/evaluator.h"
#include "study/judged_runs.h"
#include "study/limit_value.h"
#include "study/scenario_checks.h"
#include "study/sweep.h"
#include "study/threads.h"
#include "study/trial_lines.h"

namespace retrystorm {
namespace {

// What the claims do not say: "26.55 % of the requests succeed", where that is clearly not all of them.
std::string unclaimed_success(const std::vector<Expectation>& claims, const CellResult& result) {
  constexpr double kAll = 0.99;
  const bool is_claimed = std::any_of(claims.begin(), claims.end(), [](const Expectation& each) {
    return each.figure.starts_with("success");
  });
  const auto& after = result.phases[2].success;
  const double success = after.value_or(result.success_share.value);
  if (is_claimed || success >= kAll) return "";
  return percent(success, 2) + " of the requests " +
         (after ? "after the outage succeed" : "succeed");
}

void print_tried(const SimulatorOptions& options, const std::string& name, const TriedValue& tried,
                 const CellResult& result, Duration observed, JsonLines& json) {
  const std::string success = unclaimed_success(options.expectations, result);
  const auto back = result.recovery_median;
  const std::string slow =
      (back && *back > Duration::zero() ? ", back after " + readable(*back) : "") +
      (success.empty() ? "" : ", " + success);
  for (std::size_t i = 0; i < tried.judgements.size(); ++i) {
    const Expectation& claim = options.expectations[i];
    nlohmann::ordered_json line = judgement_json(claim, tried.judgements[i]);
    line[underscored(name)] = tried.value;
    line["observe_s"] = to_seconds(observed);
    json.write(line);
    std::cout << name << '=' << tried.value << ": " << judgement_text(claim, tried.judgements[i])
              << slow << std::endl;
  }
}

// Why the claims hold for no value.
std::string none_found(const std::string& name, const LimitValue& limit,
                       const std::vector<Expectation>& claims) {
  const TriedValue& tried = *limit.beside;
  const std::string runs = std::to_string(limit.runs) + " runs";
  if (tried.finding() == Finding::kBroken) {
    return (limit.against.empty()
                ? "there is no such " + name + " among the " + std::to_string(limit.values) +
                      " tried from " + limit.spans.front().from + " to " + limit.spans.back().to +
                      ", not even " + tried.value
                : "it is broken at the end of the range: " + tried.value) +
           " (broken; " + runs + ')';
  }
  std::size_t needed = 0;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    needed = std::max(needed, runs_to_decide(claims[i], tried.judgements[i]).value_or(0));
  }
  const std::string open =
      "whether there is such a " + name + ": " + tried.value + " is not decided (" + runs + ')';
  return needed == 0 ? "it is not decided " + open
                     : "too few runs to decide " + open + ": --runs=" + std::to_string(needed);
}

// The value that comes nearest to a claim which is broken with all, a line for each such claim.
void print_nearest(const std::string& name, const std::vector<Expectation>& claims,
                   const std::vector<TriedValue>& tried) {
  for (std::size_t i = 0; i < claims.size(); ++i) {
    const bool more = claims[i].relation > Expectation::Relation::kAtMost;
    const auto broken = [i](const auto& each) {
      return each.judgements[i].finding == Finding::kBroken && each.judgements[i].value;
    };
    if (!std::all_of(tried.begin(), tried.end(), broken)) continue;
    const auto best =
        std::max_element(tried.begin(), tried.end(), [&](const auto& a, const auto& b) {
          const double one = *a.judgements[i].value, other = *b.judgements[i].value;
          return more ? one < other : one > other;
        });
    std::cout << "nearest: " << name << '=' << best->value << ", "
              << judgement_text(claims[i], best->judgements[i]) << '\n';
  }
}

// The calm before the outage in a search for the size of a budget: as long as it saves. After less it
// would seem too small. Empty if it stays as it is.
std::string calm_for_budget(const std::string& searched, const NamedOptions& given,
                            const ScenarioOptions& options) {
  if (!searched.starts_with("budget-") || given.contains("outage-at")) return "";
  const auto saves = look_ahead(options).budget_saves;
  return saves ? format_duration(saves->of) : "";
}

// "holds up to 9s, broken from 9.1s to 12s, holds from 17s on"
std::string in_words(const std::vector<Span>& spans) {
  std::string text;
  for (const Span& each : spans) {
    const bool first = &each == &spans.front(), last = &each == &spans.back();
    text += (first ? "" : ", ") + std::string(to_string(each.finding)) +
            (first                  ? " up to " + each.to
             : last                 ? " from " + each.from + " on"
             : each.from == each.to ? " at " + each.from
                                    : " from " + each.from + " to " + each.to);
  }
  return text;
}

// The claims do not hold at the end of the scale where the search begins, but at the other end.
bool holds_at_other_end(const LimitValue& limit, bool least) {
  const Span& other = least ? limit.spans.front() : limit.spans.back();
  return !limit.found && other.finding == Finding::kHolds;
}

}  // namespace

std::vector<Expectation> holding(const std::vector<Expectation>& claims,
                                 const std::vector<Judgement>& judgements) {
  std::vector<Expectation> all;
  for (std::size_t i = 0; i < claims.size(); ++i) {
    if (judgements[i].finding == Finding::kHolds) all.push_back(claims[i]);
  }
  return all;
}

int find_value(const Invocation& invocation, const SimulatorOptions& options, std::uint64_t seed) {
  const bool least = !options.least.empty();
  ScenarioOptions any = options;
  OptionList list;
  declare_options(list, any);
  NamedOptions given = given_options(invocation.app, list);
  ValueScale scale;
  try {
    scale = parse_scale(list, least ? options.least : options.most);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(std::string(least ? "--least: " : "--most: ") + error.what());
  }
  const std::string& name = scale.name;
  const std::size_t most_runs = most_runs_of(invocation, options);
  const std::size_t threads = threads_or_cores(options.threads);
  const auto options_of = [&](const std::string& value) {
    return cell_options(given, Grid({{.name = name, .values = {value}}}), {value});
  };
  const std::string calm = calm_for_budget(name, given, options_of(scale.values.back()));
  if (!calm.empty()) given["outage-at"] = calm;
  const auto scenario_of_value = [&](const std::string& value) {
    const ScenarioOptions chosen = options_of(value);
    refuse(unused_options(chosen));
    Scenario scenario = make_scenario(chosen, seed);
    check_length(scenario);
    if (most_runs > 1) check_verdict(scenario);
    check_memory(scenario, std::min(threads, most_runs), memory_limit());
    return scenario;
  };
  for (const std::string& end : {scale.values.front(), scale.values.back()}) scenario_of_value(end);

  auto start = options_json(invocation.app);
  start["seed"] = seed;
  if (!calm.empty()) start["outage_at"] = calm;
  WorkOutput output(OutputFile(options.json));
  JsonLines& json = output.json();
  tell_seed(options, seed);
  if (!options.quiet) {
    const Grid ends({{.name = name, .values = {scale.values.front(), scale.values.back()}}});
    tell_outlooks(invocation, options, start, ends,
                  [&](std::size_t cell) { return options_of(ends.values(cell).front()); });
    if (!calm.empty()) {
      std::cerr << "calm       " << calm
                << " before the outage, as long as the budget saves (--outage-at)\n";
    }
  }
  json.write(start_json("simulate", invocation.command, start));
  const auto stop = [&output] { return output.interrupted(); };
  const Evaluator evaluator(threads, stop);
  std::map<std::string, CellResult> results;
  std::vector<TriedValue> all_tried;
  const bool may_observe = !given.contains("observe");
  const auto judged = [&](const std::string& value) -> std::optional<TriedValue> {
    // A value whose queue is only slow to drain is no limit.
    constexpr Duration kLongest = std::chrono::minutes(10);
    while (true) {
      const auto runs =
          judge_runs(evaluator, scenario_of_value(value), seed, most_runs, options.expectations);
      if (!runs) return std::nullopt;
      const CellResult& result = results[value] = summarize(runs->runs);
      TriedValue tried{.value = value, .judgements = runs->judgements, .runs = runs->runs.size()};
      const Duration observed = options_of(value).observe;
      const Duration enough = std::min(result.to_watch.value_or(observed), kLongest);
      if (may_observe && tried.finding() == Finding::kUndecided && enough > observed) {
        given["observe"] = format_duration(enough);
        std::cout << name << '=' << value << ": " << result.recovering << " of " << result.runs
                  << " runs still recovering: from here on --observe=" << given["observe"]
                  << std::endl;
        continue;
      }
      print_tried(options, name, tried, result, observed, json);
      all_tried.push_back(tried);
      return tried;
    }
  };
  const auto limit = find_limit(scale, least, judged, name == "outage-for");
  if (!limit) {
    if (output.has_reader()) std::cerr << "interrupted\n";
    return std::max<int>(output.finish(), kExitFault);
  }
  const auto value_of = [](const std::optional<TriedValue>& tried) {
    return tried ? nlohmann::ordered_json(tried->value) : nlohmann::ordered_json(nullptr);
  };
  auto against = nlohmann::ordered_json::array(), spans = nlohmann::ordered_json::array();
  for (const TriedValue& each : limit->against) against.push_back(each.value);
  for (const Span& each : limit->spans) {
    spans.push_back({{"finding", to_string(each.finding)}, {"from", each.from}, {"to", each.to}});
  }
  json.write({{"type", "limit_value"},
              {"option", underscored(name)},
              {"kind", least ? "least" : "most"},
              {"value", value_of(limit->found)},
              {"beside", value_of(limit->beside)},
              {"observe_s", to_seconds(options_of(scale.values.front()).observe)},
              {"against", against},
              {"spans", spans},
              {"values", limit->values},
              {"runs", limit->runs}});
  const std::string word = least ? "least" : "greatest";
  const bool one_limit = limit->against.empty(), turned = holds_at_other_end(*limit, least);
  if (turned) {
    std::cout << "no " << name << (least ? " from which on" : " up to which")
              << " it holds: " << in_words(limit->spans) << " (" << limit->values << " values, "
              << limit->runs << " runs)\n"
              << (least ? "--most=" + options.least + " finds up to where it holds\n"
                        : "--least=" + options.most + " finds from where on it holds\n");
  } else if (!one_limit) {
    std::cout << "no one limit of " << name
              << "; of the values that were tried: " << in_words(limit->spans) << '\n';
  }
  if (!limit->found) {
    if (!turned) std::cout << none_found(name, *limit, options.expectations) << '\n';
    print_nearest(name, options.expectations, all_tried);
  } else {
    std::cout << "the " << word << ' ' << name
              << (one_limit ? ""
                  : least   ? " from which on it holds"
                            : " up to which it holds")
              << ": " << limit->found->value << " (";
    if (limit->beside) {
      std::cout << limit->beside->value << ": " << to_string(limit->beside->finding());
    } else {
      std::cout << "the " << word << " one tried";
    }
    std::cout << "; " << limit->values << " values, " << limit->runs << " runs)\n";
  }
  if (limit->found) {
    const CellResult& found = results[limit->found->value];
    const auto back = found.recovery_median;
    const bool is_slow = back && *back > Duration::zero();
    const std::string success = unclaimed_success(options.expectations, found);
    const std::string slow = is_slow ? "the service is back after " + readable(*back) : "";
    const bool both = is_slow && !success.empty();
    if (is_slow || !success.empty())
      std::cout << "  with it " << slow << (both ? ", " : "") << success << '\n';
  }
  if (const std::string bound = limit_by_arithmetic(name, options_of(scale.values.back()));
      !bound.empty()) {
    std::cout << bound << '\n';
  }
  if (limit->beside && limit->beside->finding() == Finding::kUndecided) {
    print_unsettled(std::cout, {{limit->beside->value, results[limit->beside->value]}});
  }
  if (limit->found && one_limit && limit->further > 0) {
    std::cout << limit->further << " further value" << (limit->further == 1 ? " agrees" : "s agree")
              << " with that\n";
  }
  const TriedValue& shown = limit->found ? *limit->found : *limit->beside;
  if (!limit->found && shown.finding() == Finding::kBroken) {
    const std::string why = too_few_attempts(options_of(shown.value), options.expectations);
    if (!why.empty()) std::cout << why << '\n';
  }
  if (!options.quiet && most_runs > 1 && name != "backlog") {
    const AnswerTrials trials({options_of(shown.value), given, results[shown.value],
                               holding(options.expectations, shown.judgements)},
                              evaluator, seed, most_runs);
    tell_trials({{name + '=' + shown.value, trials}}, json);
  }
  const int fault = output.finish();
  if (fault != 0) return fault;
  return limit->found ? kExitHolds : exit_code_of({limit->beside->finding()});
}

}  // namespace retrystorm
