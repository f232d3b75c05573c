#include "retrystorm/study_command.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <chrono>
#include <functional>
#include <stdexcept>

#include "common/cli/options.h"
#include "model/base/text.h"
#include "model/run/outlook.h"
#include "model/run/workload.h"
#include "study/cell_answer.h"
#include "study/judged_runs.h"
#include "words/words.h"

namespace retrystorm {
namespace {

void refuse_own(const NamedOptions& given, const std::vector<std::string>& own,
                const std::string& where = "") {
  for (const std::string& name : own) {
    if (!given.contains(name)) continue;
    refuse(where + "--" + name + " is set by this study (see --help)");
  }
}

}  // namespace

void add_study_options(CLI::App& app, StudyOptions& options, const std::vector<std::string>& own) {
  OptionList list;
  declare_options(list, options);
  add_options(app, list);
  for (const std::string& name : own) hide(app, name);
  add_strategy_flags(app, options.workload);

  auto* many = option_group(app, "Many runs");
  add_runs(*many, options.runs)->group("Study");
  add_threads(*many, options.threads);
  add_cell(*many, options.cell);
  add_expectations(
      *many, options.expectations, cell_figures({}),
      "a claim about each cell, such as recovered or down<5%; may be repeated; exit code "
      "3: one is broken, 4: one is not decided")
      ->group("Study");
  add_study_files(*many, options.table, options.json);
  add_look(*option_group(app, "Report"), options.look);
}

void add_max_time(CLI::App& app, StudyOptions& options) {
  add_optional_duration(
      *option_group(app, "Study"), "--max-time", options.max_time,
      "end after this time, and print what is known by then, which is not the same each "
      "time; exit code 4: that decides nothing")
      ->group("Study");
}

void add_study_files(CLI::App& app, TableFiles& table, std::string& json) {
  add_table_files(app, table.csv, table.markdown)->group("Study");
  add_text(app, "--json", json,
           "write all columns to this file, as JSON Lines; - = standard output");
  add_format(app);
}

void add_strategies(CLI::App& app, std::string& list, const std::string& about,
                    const std::string& if_not_given) {
  add_text(app, "--strategies", list,
           about +
               ", as V1,V2,...: names, all (every named one), and settings files such as mine.ini" +
               if_not_given)
      ->group("Study");
  app.add_option(std::string(kStrategyArguments), "the same as --strategies")
      ->type_name("")
      ->expected(1, 1000)
      ->allow_extra_args()
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group("");
}

NamedOptions given_to_study(const CLI::App& app, const std::vector<std::string>& own) {
  NamedOptions given = given_options(app, ListedScenario().list);
  given.erase("seed");
  for (const char* each : {"chain", "topology"}) {
    if (given.contains(each)) {
      refuse("--" + std::string(each) + ": only simulate has services behind services");
    }
  }
  // What another option implies is no choice of the user's: --tasks in a study of jobs.
  for (const Implied& each : kImplied) {
    const auto target = given.find(std::string(each.target));
    if (target != given.end() && target->second == each.value &&
        given.contains(std::string(each.option)) &&
        std::ranges::find(own, each.target) != own.end()) {
      given.erase(target);
    }
  }
  refuse_own(given, own);
  return given;
}

Compared compared(const Invocation& invocation, const std::string& list,
                  const std::vector<std::string>& own,
                  const std::vector<std::string>& own_in_files) {
  Compared result{.strategies = {}, .given = given_to_study(invocation.app, own)};
  const auto option = [&invocation](const char* name) { return find_option(invocation.app, name); };
  const bool listed = option("strategies")->count() > 0;
  if (list.empty() && !listed) return result;
  // A given `--strategy` replaces the default of `--strategies`.
  const auto strategy = result.given.find("strategy");
  const bool one = strategy != result.given.end();
  if (one && listed && is_typed(*option("strategy"), invocation.arguments)) {
    refuse("--strategies excludes --strategy");
  }
  try {
    result.strategies = parse_strategies(one && !listed ? strategy->second : list);
  } catch (const std::invalid_argument& error) {
    refuse(std::string("--strategies: ") + error.what());
  }
  for (const ListedStrategy& each : result.strategies) {
    if (each.settings) refuse_own(*each.settings, own_in_files, each.name + ": ");
  }
  result.given.erase("strategy");
  return result;
}

void print_overruling(const NamedOptions& given, const std::vector<ListedStrategy>& strategies,
                      const std::string& whose) {
  for (const Statement& each : overruled(given, strategies, whose)) say(each);
}

void add_picture_data(CLI::App& app, std::string& folder) {
  add_text(app, "--picture-data", folder,
           "write what a script draws the picture from into this folder, which exists; in its file "
           "runs the options of the runs that go with it")
      ->group("Study");
}

std::string run_line(std::string name, const NamedOptions& options, std::uint64_t seed) {
  // It becomes part of a file's name.
  const auto is_plain = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '.' || c == '_' || c == '-';
  };
  std::ranges::replace_if(name, std::not_fn(is_plain), '_');
  std::string line = name + "\t--seed=" + std::to_string(seed);
  for (const auto& [option, text] : options) line += "\t--" + option + '=' + text;
  return line;
}

std::vector<StudyDisturbance> with_own_outage(NamedOptions& given) {
  std::vector<StudyDisturbance> all = disturbances();
  NamedOptions own;
  for (const std::string& name : kSetByDisturbances) {
    if (auto found = given.extract(name)) own.insert(std::move(found));
  }
  if (own.empty()) return all;
  const ScenarioOptions scenario = scenario_of(own);
  if (scenario.outage_length() == Duration::zero()) {
    refuse(
        "--outage-for: an outage of 0s is none: leave it out, or compare settings with simulate --sweep");
  }
  std::erase_if(all, [](const StudyDisturbance& each) { return each.outage; });
  all.insert(all.begin(), {.title = words_of(statement_of(scenario.timeline.outage)) + " for " +
                                    brief_duration(scenario.outage_length()),
                           .outage = true,
                           .options = std::move(own)});
  return all;
}

Duration until_drained(const ScenarioOptions& scenario) {
  constexpr Duration kLongest = std::chrono::minutes(5);
  const auto drains = look_ahead(scenario).drains_in;
  if (!drains) return scenario.observe;
  const Duration twice = saturating_add(*drains, *drains);
  return std::max<Duration>(scenario.observe,
                            std::chrono::ceil<std::chrono::seconds>(std::min(twice, kLongest)));
}

}  // namespace retrystorm
