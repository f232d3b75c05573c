#include "simulate/value_search.h"

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "common/cli/options.h"
#include "common/output/answer.h"
#include "common/output/json_lines.h"
#include "common/output/style.h"
#include "common/output/work_output.h"
#include "model/base/text.h"
#include "simulate/before_run.h"
#include "simulator/simulation.h"
#include "study/cell_answer.h"
#include "study/cells.h"
#include "study/evaluator.h"
#include "study/judged_runs.h"
#include "study/limit_value.h"
#include "study/notes.h"
#include "study/scenario_checks.h"
#include "study/sweep.h"
#include "study/trials.h"
#include "words/words.h"

namespace retrystorm {
namespace {

// The share of the requests that succeed, where the claims do not say it, and that is clearly not all of them.
std::optional<double> unclaimed_success(const std::vector<Expectation>& claims,
                                        const CellResult& result) {
  constexpr double kAll = 0.99;
  const bool is_claimed = std::any_of(claims.begin(), claims.end(), [](const Expectation& each) {
    return each.figure.starts_with("success");
  });
  const double success = result.phases[2].success.value_or(result.success_share);
  return is_claimed || success >= kAll ? std::nullopt : std::optional(success);
}

void print_tried(const SimulatorOptions& options, const std::string& name, const TriedValue& tried,
                 Duration observed, JsonLines& json) {
  for (std::size_t i = 0; i < tried.judgements.size(); ++i) {
    const Expectation& claim = options.expectations[i];
    nlohmann::ordered_json line = judgement_json(claim, tried.judgements[i]);
    line[underscored(name)] = tried.value;
    line["observe_s"] = to_seconds(observed);
    json.write(line);
    if (!options.look.verbose) continue;
    print_headline(std::cout, answer_of(claim, tried.judgements[i], name + '=' + tried.value),
                   style_of(1, options.look.color));
  }
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
    const Statement nearest =
        answer_of(claims[i], best->judgements[i], name + '=' + best->value).headline;
    std::cout << fitted("  ", words_of({"search-nearest", {{"what", words_of(nearest)}}}),
                        style_of(1));
  }
}

// What a search came to.
struct Answered {
  const SimulatorOptions& options;
  const std::string& name;
  bool is_time;  // the values are durations
  bool least;
  const LimitValue& limit;
  const std::vector<TriedValue>& tried;
  const CellResult* found;  // the runs of that value; null if there is none
  const std::string& calm;  // see calm_for_budget
  std::uint64_t seed;
};

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

// The answer in a line, and what to know beside it.
void tell_answer(const Answered& search) {
  const auto& [options, name, is_time, least, limit, tried, found, calm, seed] = search;
  const Style style = style_of(STDOUT_FILENO, options.look.color);
  std::string claims;
  for (const Expectation& each : options.expectations) {
    claims += (claims.empty() ? "" : words_of("and")) + each.text;
  }
  const bool one_limit = limit.against.empty(), turned = holds_at_other_end(limit, least);
  const auto text_of = [is_time = search.is_time](const std::optional<TriedValue>& each) {
    if (!each) return std::string();
    return is_time && each->value != kNoneWord ? time_words(parse_duration(each->value))
                                               : each->value;
  };
  const std::string beside =
      limit.beside ? std::string(to_string(limit.beside->finding())) : std::string();
  const std::vector<StatementValue> values{
      {"option", name},
      {"kind", words_of(least ? "least" : "greatest")},
      {"claims", claims},
      {"value", text_of(limit.found)},
      {"beside", text_of(limit.beside)},
      {"finding", beside},
      {"spans", in_words(limit.spans)},
      {"other", (least ? "--most=" + options.least : "--least=" + options.most)}};
  RunAnswer answer;
  if (turned) {
    answer = {Tone::kDoubt, {"search-turned", values}};
  } else if (limit.found && !one_limit) {
    answer = {Tone::kDoubt, {"search-several", values}};
  } else if (limit.found) {
    const bool decided = !limit.beside || limit.beside->finding() == Finding::kBroken;
    answer = {decided ? Tone::kGood : Tone::kDoubt,
              {limit.beside ? "search-found" : "search-found-at-end", values}};
  } else {
    const bool broken = limit.beside->finding() == Finding::kBroken;
    answer = {broken ? Tone::kBad : Tone::kDoubt,
              {broken ? "search-none" : "search-undecided", values}};
  }
  print_headline(std::cout, answer, style);
  if (!calm.empty()) {
    std::cout << fitted("  ", words_of({"search-calm", {{"calm", calm}}}), style);
  }
  if (!limit.found) {
    std::size_t needed = 0;
    for (std::size_t i = 0; i < options.expectations.size(); ++i) {
      needed = std::max(
          needed, runs_to_decide(options.expectations[i], limit.beside->judgements[i]).value_or(0));
    }
    if (needed > 0) {
      std::cout << fitted("  ", words_of({"search-needs", {{"runs", std::to_string(needed)}}}),
                          style);
    }
    print_nearest(name, options.expectations, tried);
  } else {
    const bool slow = found->time_to_recovery && *found->time_to_recovery > Duration::zero();
    const bool success = unclaimed_success(options.expectations, *found).has_value();
    if (slow || success) std::cout << fitted("  ", words_of(block_of(*found)), style);
  }
  print_dim(std::cout,
            words_of({"below-search",
                      {{"values", static_cast<double>(limit.values)},
                       {"runs", static_cast<double>(limit.runs)},
                       {"seed", std::to_string(seed)}}}),
            style);
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
    const auto service = look_ahead(options).service;
    scale = parse_scale(list, least ? options.least : options.most,
                        service ? service->capacity : Outlook::kUnlimited);
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
  const Grid ends({{.name = name, .values = {scale.values.front(), scale.values.back()}}});
  tell_before(
      invocation, options, start, ends,
      [&](std::size_t cell) { return options_of(ends.values(cell).front()); }, most_runs);
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
      print_tried(options, name, tried, observed, json);
      all_tried.push_back(tried);
      return tried;
    }
  };
  const auto limit = find_limit(scale, least, judged, name == "outage-for");
  if (!limit) {
    if (output.has_reader()) {
      for (const TriedValue& each : all_tried) {
        std::cerr << name << '=' << each.value << ": " << to_string(each.finding()) << '\n';
      }
      std::cerr << "interrupted\n";
    }
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
  const bool is_time = list.find(name)->kind == Option::Kind::kDuration;
  tell_answer({options, name, is_time, least, *limit, all_tried,
               limit->found ? &results[limit->found->value] : nullptr, calm, seed});
  if (options.look.verbose && limit->beside && limit->beside->finding() == Finding::kUndecided) {
    print_remarks(std::cout, {{limit->beside->value, results[limit->beside->value]}});
  }
  const TriedValue& shown = limit->found ? *limit->found : *limit->beside;
  if (!options.no_trials && most_runs > 1) {
    const Style style = style_of(STDOUT_FILENO, options.look.color);
    const std::vector<Expectation> holds = holding(options.expectations, shown.judgements);
    const ScenarioOptions at = options_of(shown.value);
    const AnswerTrials trials({at, given, results[shown.value], holds}, evaluator, seed, most_runs);
    std::size_t lines = 0;
    for (const auto& outcomes : {trials.of_a_tenth(), trials.others()}) {
      for (const AnswerTrials::Outcome& each : outcomes) {
        if (!each.trial.with.empty() && each.trial.with.front().first == name) continue;
        json.write(trial_json(name + '=' + shown.value, each));
        if (each.turn == AnswerTrials::Turn::kNone || ++lines > 4) continue;
        std::cout << painted(fitted("  ", trial_words(each), style), Tone::kDoubt, style);
      }
    }
  }
  const int fault = output.finish();
  if (fault != 0) return fault;
  return limit->found ? kExitHolds : exit_code_of({limit->beside->finding()});
}

}  // namespace retrystorm
