// The service has collapsed: which remedy brings it back, and how soon? Each is tried in the same storms.
#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iostream>
#include <stdexcept>

#include "common/output/json_text.h"
#include "model/base/text.h"
#include "model/run/outlook_formulas.h"
#include "retrystorm/study_command.h"
#include "retrystorm/usual_remedies.h"
#include "simulate/options.h"
#include "simulator/scenario_options.h"
#include "study/cell_answer.h"
#include "words/words.h"

namespace retrystorm {
namespace {

struct RemediesOptions : StudyOptions {
  RemediesOptions() {
    runs = 20;
    observe = std::chrono::seconds(190);
  }

  std::vector<std::string> remedies;
  std::string strategies, picture_data;
};

void declare(CLI::App& app, RemediesOptions& options) {
  add_study_options(app, options);
  auto* study = option_group(app, "Study");
  study
      ->add_option(
          "--remedy", options.remedies,
          "'TITLE: TIME ACTION; TIME ACTION ...': this remedy instead of the usual ones, with "
          "actions as --at has them; repeated: these")
      ->type_name("TEXT")
      ->group("Study")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_text(*study, "--strategies", options.strategies,
           "a case for each of these strategies, as V1,V2,...: names, all (every named one), and "
           "settings files such as mine.ini; not given: the three usual cases")
      ->group("Study");
  add_strategy_arguments(*study);
  add_cell(*study, options.cell);
  add_picture_data(*study, options.picture_data);
}

UsualRemedy parse_remedy(const std::string& text) {
  const std::size_t end = text.find_first_of(":,'\"");
  if (end == 0 || end == std::string::npos || text[end] != ':') {
    throw std::invalid_argument(
        "a remedy is 'TITLE: TIME ACTION; ...', with no comma or quote in its title, not " + text);
  }
  return {text.substr(0, end), std::string(trimmed(text.substr(end + 1)))};
}

Duration end_of_outage(const ScenarioOptions& scenario) {
  return saturating_add(scenario.outage_at, scenario.outage_length());
}

// A usual remedy's actions as long after the end of this outage as after that of the usual one.
std::string moved(const std::string& actions, const ScenarioOptions& scenario) {
  const Duration later = end_of_outage(scenario) - end_of_outage(ScenarioOptions());
  if (later == Duration::zero() || actions.empty()) return actions;
  TimelineOptions timeline;
  OptionList list;
  declare_options(list, timeline, Engine::kSimulated);
  list.set("at", actions);
  std::string text;
  for (TimedAction& each : timeline.at) {
    each.t = saturating_add(each.t, later);
    text += (text.empty() ? "" : "; ") + print_timed(each);
  }
  return text;
}

struct Case {
  std::string title;
  NamedOptions options;
};

// A remedy, and what came of it.
struct Tried : UsualRemedy {
  std::vector<std::string> row{};
  std::size_t tried = 0, back = 0;  // in how many cases
  Duration took{0};                 // until it was back, in all of them
};

// A case for each strategy. Without a list of them, given options describe the only case.
std::vector<Case> cases_of(const Compared& asked) {
  std::vector<Case> cases;
  for (const ListedStrategy& each : asked.strategies) {
    cases.push_back({each.name, asked.given});
    set_strategy(cases.back().options, each);
  }
  if (!cases.empty()) return cases;
  if (!asked.given.empty()) return {{"this service", asked.given}};
  return {{"slows with load, endless retries", {}},
          {"workers, endless retries", {{"service", "workers"}}},
          {"workers, 3 retries",
           {{"service", "workers"}, {"arrivals", "open"}, {"rate", "100"}, {"max-retries", "3"}}}};
}

// Why one of the actions has no effect on this service; empty if all have one.
std::string no_effect(const ScenarioOptions& scenario) {
  const UnusedOptions unused = unused_options(scenario);
  if (const auto found = unused.find("at"); found != unused.end()) return found->second;
  try {
    changes(scenario);
  } catch (const NoEffect& error) {
    return error.what();
  }
  return "";
}

// "50/s of 99/s", if the service as the last action leaves it can answer less than a recovery from that load takes;
// otherwise empty.
std::string held_below_load(const ScenarioOptions& scenario, const CellResult& cell) {
  const std::vector<Change> all = changes(scenario);
  if (scenario.graph.on() || all.empty() || cell.recovered > 0 || !cell.phases[0].ok_per_s) {
    return "";
  }
  const Change& last = all.back();
  if (last.service.rate_limit.autoscale.kind != AutoscaleKind::kNone) return "";
  const double wanted = *cell.phases[0].ok_per_s * last.load;
  const double most = capacity_of(last.service) * scenario.scale;
  constexpr double kBack = 0.9;  // of what is wanted, as the verdict takes it
  if (most >= kBack * wanted) return "";
  return print_number(to_digits(most, 2)) + "/s of " + print_number(to_digits(wanted, 2)) + "/s";
}

std::string recovery_text(const CellResult& cell) {
  const std::string text = back_words(cell);
  if (!cell.time_to_recovery || cell.recovery_p90 == cell.time_to_recovery) return text;
  return text + " (90 %: " + back_words(cell, 0.9) + ')';
}

// What is assumed of a service of one's own, and what the times mean. `cells`: one of each case.
void tell_question(Study& study, const Invocation& invocation, const Compared& asked,
                   const std::vector<Case>& cases, const std::vector<std::size_t>& cells,
                   bool are_usual) {
  std::vector<std::string> set_here;
  for (const Case& each : cases) {
    for (const auto& [name, value] : each.options) {
      if (!asked.given.contains(name)) set_here.push_back(name);
    }
  }
  study.tell_outlook(invocation, cells, set_here);
  const std::string begin = are_usual ? "; each remedy begins 10s after that" : "";
  std::cerr << wrapped("remedies   ", "\"back after\" counts from the end of the outage" + begin,
                       11);
}

// The data that scripts/lib/remedies.gp draws.
void write_picture_data(const std::string& folder, const std::vector<Case>& cases,
                        const std::vector<Tried>& remedies, const std::vector<std::string>& runs) {
  if (folder.empty()) return;
  std::string tics;
  std::size_t longest = 0;
  for (std::size_t r = 0; r < remedies.size(); ++r) {
    tics += (r == 0 ? "" : ", ") + ('"' + remedies[r].title + "\" ") + std::to_string(r);
    longest = std::max(longest, remedies[r].title.size());
  }
  LineFile facts(folder + "/facts");
  facts.write("y_tics = '(" + tics + ")'");
  facts.write("rows = " + std::to_string(remedies.size()));
  facts.write("left = " + fixed(30 + 6.6 * static_cast<double>(longest), 1));
  facts.write("cases = " + std::to_string(cases.size()));
  facts.write("array title[" + std::to_string(cases.size()) + ']');
  for (std::size_t c = 0; c < cases.size(); ++c) {
    facts.write("title[" + std::to_string(c + 1) + "] = '" + cases[c].title + '\'');
  }
  LineFile lines(folder + "/runs");
  for (const std::string& run : runs) lines.write(run);
}

int remedies(const Invocation& invocation, const RemediesOptions& options) {
  const Compared asked = compared(invocation, options.strategies, {}, {});
  const std::vector<Case> cases = cases_of(asked);
  if (options.outage_length() == Duration::zero()) {
    throw std::invalid_argument(
        "--outage-for=0s: nothing has collapsed, so nothing needs a remedy");
  }
  const bool are_usual = options.remedies.empty();
  const bool is_own = !asked.given.empty() || !asked.strategies.empty();
  const auto options_with = [&](const Case& one, const UsualRemedy& remedy) {
    NamedOptions all = one.options;
    all.emplace("observe", format_duration(options.observe));
    const std::string actions =
        are_usual ? moved(remedy.actions, scenario_of(all)) : remedy.actions;
    if (actions.empty()) return all;
    std::string& at = all["at"];
    at += (at.empty() ? "" : "; ") + actions;
    return all;
  };
  std::vector<Tried> remedies;
  std::vector<std::string> left_out;
  std::vector<UsualRemedy> tried;
  if (are_usual) {
    std::vector<ScenarioOptions> scenarios;
    for (const Case& one : cases) scenarios.push_back(scenario_of(options_with(one, {})));
    tried = usual_remedies(scenarios);
  }
  for (const std::string& text : options.remedies) tried.push_back(parse_remedy(text));
  for (const UsualRemedy& remedy : tried) {
    std::string why = remedy.left_out;
    const bool can_be =
        why.empty() && std::any_of(cases.begin(), cases.end(), [&](const Case& each) {
          why = no_effect(scenario_of(options_with(each, remedy)));
          return why.empty();
        });
    if (can_be) {
      remedies.push_back({remedy});
    } else if (are_usual) {
      left_out.push_back(words_of({"left-out", {{"what", remedy.title}, {"why", why}}}));
    } else {
      throw std::invalid_argument("--remedy " + in_quotes(remedy.title) + ": " + why);
    }
  }

  std::vector<StudyCell> cells;
  std::vector<NamedOptions> options_of;                     // by cell
  std::vector<std::pair<std::size_t, std::size_t>> places;  // case and remedy of each cell
  std::vector<std::size_t> one_of_each;                     // case: a cell
  for (std::size_t c = 0; c < cases.size(); ++c) {
    for (std::size_t r = 0; r < remedies.size(); ++r) {
      NamedOptions of_cell = options_with(cases[c], remedies[r]);
      const ScenarioOptions scenario = scenario_of(of_cell);
      if (!no_effect(scenario).empty()) continue;  // a curve has no queue
      if (places.empty() || places.back().first != c) one_of_each.push_back(cells.size());
      cells.push_back({{cases[c].title, remedies[r].title}, scenario});
      options_of.push_back(std::move(of_cell));
      places.emplace_back(c, r);
    }
  }

  Study study(invocation, options, {.labels = {"case", "remedy"}, .cells = std::move(cells)});
  if (is_own) tell_question(study, invocation, asked, cases, one_of_each, are_usual);
  auto results = study.run();
  if (!results) return study.finish();
  for (const std::size_t each : study.own_cells()) {
    CellResult& cell = (*results)[each];
    cell.held = held_below_load(scenario_of(options_of[each]), cell);
    study.write_row(each, cell);
  }
  if (study.is_share()) return study.finish();

  // A column for each case; with --verbose how many runs are down, and the attempts, too.
  Table table{.columns = {{.title = "remedy"}}};
  const bool all_figures = options.look.verbose || !options.table.markdown.empty();
  for (const Case& each : cases) {
    table.columns.push_back({.title = "back after", .group = each.title});
    if (!all_figures) continue;
    table.columns.push_back({.title = "down", .group = each.title});
    table.columns.push_back({.title = "attempts", .group = each.title});
  }
  for (Tried& remedy : remedies) {
    remedy.row.assign(table.columns.size(), "-");
    remedy.row[0] = remedy.title;
  }
  std::vector<std::string> runs, unharmed;
  // Few people know how long the accept queue of their server is. This one is that of Go, the longest.
  constexpr std::size_t kLong = 4096, kRunsBeside = 10;
  std::vector<std::string> lost(cases.size());  // the remedies that do not help with it
  for (std::size_t i = 0; i < results->size(); ++i) {
    const CellResult& cell = (*results)[i];
    const auto [c, r] = places[i];
    Tried& remedy = remedies[r];
    ScenarioOptions scenario = scenario_of(options_of[i]);
    if (is_own && cell.decided() > 0 && !cell.mostly_not_back() &&
        !options_of[i].contains("backlog") && scenario.scale == 1 && !scenario.graph.on() &&
        !scenario.workload.connections.multiplexed() &&
        scenario.timeline.outage.kind == Disturbance::Kind::kFreeze) {
      scenario.service.backlog = kLong;
      const auto beside =
          study.evaluator().run(make_scenario(scenario, study.seed()),
                                seeds_from(study.seed(), std::min(options.runs, kRunsBeside)));
      if (!beside.empty() && summarize(beside).mostly_not_back()) {
        lost[c] += (lost[c].empty() ? "" : ", ") + remedy.title;
      }
    }
    if (remedy.actions.empty() && cell.recovered == cell.runs) {
      unharmed.push_back(words_of({"remedies-nothing-to-do", {{"case", cases[c].title}}}));
    }
    const std::size_t width = (table.columns.size() - 1) / cases.size();
    std::vector<std::string>& row = remedy.row;
    ++remedy.tried;
    // It ends a collapse only if nine tenths of the runs are back.
    if (cell.decided() > 0 && cell.recovery_p90) {
      ++remedy.back;
      remedy.took = saturating_add(remedy.took, *cell.recovery_p90);
    }
    row[1 + width * c] = recovery_text(cell);
    if (all_figures) {
      const std::string state(cell.unsettled());
      const auto down = cell.down();
      row[2 + width * c] = state.empty() && down ? share_words(down->value) : state;
      row[3 + width * c] = number_words(cell.amplification);
    }
    runs.push_back(
        run_line(std::to_string(c + 1) + '-' + std::to_string(r + 1), options_of[i], study.seed()));
  }
  if (!asked.strategies.empty()) print_overruling(asked.given, asked.strategies);
  write_picture_data(options.picture_data, cases, remedies, runs);
  // The best first, and of these the fastest.
  std::stable_sort(remedies.begin(), remedies.end(), [](const Tried& a, const Tried& b) {
    return a.back != b.back ? a.back > b.back : a.took < b.took;
  });
  std::string for_all;
  for (const Tried& remedy : remedies) {
    table.rows.push_back(remedy.row);
    const bool all = remedy.back == remedy.tried;
    table.tones.push_back(all ? Tone::kGood : remedy.back > 0 ? Tone::kDoubt : Tone::kBad);
    if (all && remedy.tried == cases.size() && !remedy.actions.empty()) {
      for_all += (for_all.empty() ? "" : ", ") + remedy.title;
    }
  }
  study.show(table);
  const Style style = style_of(1, options.look.color);
  if (unharmed.empty()) {
    const Statement summary{for_all.empty() ? "remedies-none" : "remedies-for-all",
                            {{"remedies", for_all}}};
    std::cout << fitted("", words_of(summary) + '.', style);
  }
  for (const std::string& each : unharmed) std::cout << fitted("", each, style);
  for (std::size_t c = 0; c < cases.size(); ++c) {
    if (lost[c].empty()) continue;
    say({"remedies-long-backlog",
         {{"case", cases[c].title}, {"backlog", std::to_string(kLong)}, {"remedies", lost[c]}}},
        style);
  }
  for (const std::string& each : left_out) std::cout << fitted("", each, style);
  return study.finish();
}

}  // namespace

const Command kRemedies{
    "remedies",
    "A frozen server has collapsed: compares what gets it back, and how soon. One thing is done "
    "about it\n10 s after the outage: less load, a limit, a restart, another order of the queue. Options of the "
    "experiment make\na service of your own, in place of the three usual cases.",
    "retrystorm remedies --service=workers --remedy='nothing:' "
    "--remedy='CoDel: 60s set queue-drop=codel'",
    [](const Command& command, int argc, const char* const* argv) {
      return run_command<RemediesOptions>(command, argc, argv, declare, remedies);
    }};

}  // namespace retrystorm
