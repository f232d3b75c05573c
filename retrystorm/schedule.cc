// How long do strategies wait before their retries?
#include "model/retry/schedule.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <iostream>
#include <optional>
#include <random>

#include "common/output/json_lines.h"
#include "common/output/report.h"
#include "model/base/text.h"
#include "model/run/outlook.h"
#include "retrystorm/study_command.h"
#include "study/cell_answer.h"
#include "study/sweep.h"
#include "words/words.h"

namespace retrystorm {
namespace {

struct ScheduleOptions {
  WorkloadOptions workload;
  std::string strategies = "exponential";
  std::size_t waits = 10;
  std::optional<Duration> fails_until, succeeds_above, attempt_takes;
  TableFiles table;
  std::string json;
};

void declare(CLI::App& app, ScheduleOptions& options) {
  add_workload_options(app, options.workload);
  auto* group = app.add_option_group("Schedule");
  add_strategies(*group, options.strategies);
  add_count(*group, "--waits", options.waits, "how many waits to print for each strategy", 1,
            1'000'000)
      ->group("Study");
  add_optional_duration(*group, "--attempt-takes", options.attempt_takes,
                        "how long each attempt takes before it fails; otherwise no time");
  add_optional_duration(*group, "--fails-until", options.fails_until,
                        "attempts fail until a wait has reached this ...");
  add_optional_duration(*group, "--succeeds-above", options.succeeds_above,
                        "... and from then on succeed while the wait is longer than this");
  add_study_files(*group, options.table, options.json);
}

// Without a list of strategies, a settings file with retry options is the strategy of its name.
Compared asked_for(const Invocation& invocation, const std::string& list) {
  const CLI::Option& config = *invocation.app.get_config_ptr();
  const bool listed = find_option(invocation.app, "strategies")->count() > 0;
  const NamedOptions given = given_to_study(invocation.app, {});
  // A growth of one's own is that of no strategy: all else is by default, as in the other programs.
  if (!listed && config.count() == 0 && given.contains("growth")) {
    return {.strategies = {{.name = "as given", .settings = given}}, .given = {}};
  }
  if (listed || config.count() == 0 || overruled(given).empty()) {
    return compared(invocation, list, {}, {});
  }
  NamedOptions typed = given;
  std::erase_if(typed, [&invocation](const auto& each) {
    return !is_typed(*find_option(invocation.app, each.first), invocation.arguments);
  });
  return {.strategies = {{.name = text_of(config), .settings = given}}, .given = typed};
}

// The attempts of a schedule fail at once, and no service answers them.
void refuse_of_runs(const std::vector<std::string>& typed) {
  UnusedOptions unused;
  const auto refuse_given = [&](const char* name, const char* why) {
    if (std::ranges::find(typed, name) == typed.end()) return;
    unused.emplace(name, std::string(name) + " has no effect: " + why);
  };
  refuse_given("timeout", "the attempts of a schedule fail at once");
  refuse_given("throttled-base", "no attempt of a schedule is throttled");
  refuse_given("retry-after", "no service sends the attempts of a schedule a Retry-After");
  for (const char* name : {"hedge", "hedge-max", "hedge-cancel", "hedge-budget", "hedge-on"}) {
    refuse_given(name, "a schedule has the waits before retries, and hedges are none");
  }
  refuse(unused);
}

std::string shown_text(const Json& value) {
  return value.is_number_float() ? number_words(value.get<double>()) : cell_text(value);
}

int schedule(const Invocation& invocation, const ScheduleOptions& options) {
  const Compared asked = asked_for(invocation, options.strategies);
  const auto typed = typed_options<ScenarioOptions>(invocation.app, invocation.arguments);
  refuse_of_runs(typed);
  if (options.fails_until.has_value() != options.succeeds_above.has_value()) {
    refuse("--fails-until and --succeeds-above belong together: give both");
  }
  std::optional<ScheduleStory> story;
  if (options.fails_until) story = {*options.fails_until, *options.succeeds_above};
  std::vector<ScenarioOptions> each;
  for (const ListedStrategy& strategy : asked.strategies) {
    each.push_back(scenario_of(with_strategy(asked.given, strategy)));
    check(each.back().workload.retry);
  }
  refuse_unused(
      each.size(), [&each](std::size_t i) { return each[i]; }, typed);
  const std::uint64_t seed = options.workload.seed.value_or(std::random_device()());

  OpenTableFiles files(options.table, csv_comment(invocation.results_command, seed));
  WorkOutput output(OutputFile(options.json));
  write_start("retrystorm", invocation, options_json(invocation.app), seed, output.json());
  if (!options.workload.seed) std::cerr << "seed " << seed << '\n';
  Rows rows(
      "wait",
      {"strategy", "attempt", "delay_seconds", "p5", "p50", "p95", "outcome", "elapsed_seconds"},
      files.csv_comment, std::move(files.csv), output.json());
  // What people see of these columns.
  std::vector<std::pair<const char*, std::size_t>> shown{
      {"strategy", 0}, {"attempt", 1}, {"wait, s", 2}, {"sum, s", 7}};
  if (story) {
    shown.emplace_back("outcome", 6);
  } else {
    shown.insert(shown.end(), {{"p5", 3}, {"p50", 4}, {"p95", 5}});
  }
  Table table;
  for (const auto& [title, column] : shown) {
    table.columns.push_back({.title = title, .code = column == 0});
  }
  std::string warnings;
  std::vector<std::string> ended;  // the strategies with fewer waits than asked for
  for (std::size_t i = 0; i < each.size() && !output.interrupted(); ++i) {
    const WorkloadOptions& workload = each[i].workload;
    const std::string& name = asked.strategies[i].name;
    std::size_t attempt = 0;
    for (const ScheduledWait& one :
         scheduled_waits(workload.retry, workload.think_time, seed, options.waits, story,
                         options.attempt_takes.value_or(Duration::zero()))) {
      ++attempt;
      const auto& spread = one.spread;
      std::vector<Json> values{name, attempt, to_seconds(one.wait)};
      for (std::size_t p = 0; p < ScheduledWait::kShares.size(); ++p) {
        values.push_back(spread ? Json(to_seconds((*spread)[p])) : Json());
      }
      values.push_back(story ? Json(one.failed ? "failure" : "success") : Json());
      values.emplace_back(to_seconds(one.until));
      rows.write(values);
      auto& texts = table.rows.emplace_back();
      for (const auto& [title, column] : shown) texts.push_back(shown_text(values[column]));
    }
    for (const Statement& warning : warnings_of(workload.retry)) {
      warnings += fitted(name + ": warning: ", words_of(warning), style_of(1));
    }
    if (attempt < options.waits) {
      ended.push_back(
          words_of({workload.retry.hedge.any() ? "schedule-end-hedged" : "schedule-end",
                    {{"strategy", name}, {"end", end_of_schedule(workload.retry, attempt)}}}));
    }
  }
  write_markdown(files.markdown, table);
  print_overruling(asked.given);
  print(std::cout, table);
  std::cout << warnings;
  if (!ended.empty()) say({"schedule-ended", {{"list", list_words(ended)}}});
  return output.finish();
}

}  // namespace

const Command kSchedule{
    "schedule",
    "Prints the waits of strategies before the first retries of a request and their sum, and where\n"
    "waits are random the quantiles p5, p50 and p95 of a thousand more clients. Needs no network.",
    "retrystorm schedule --strategies=exponential,grpc --waits=8 --markdown=waits.md",
    run_command<ScheduleOptions, declare, schedule>};

}  // namespace retrystorm
