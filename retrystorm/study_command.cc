#include "retrystorm/study_command.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <functional>
#include <iostream>
#include <random>
#include <sstream>
#include <stdexcept>
#include <utility>

#include "common/output/answer.h"
#include "common/output/before_line.h"
#include "common/output/json_lines.h"
#include "common/output/json_text.h"
#include "common/output/report.h"
#include "model/base/text.h"
#include "model/retry/strategies.h"
#include "model/run/workload.h"
#include "retrystorm/policy_files.h"
#include "study/cell_columns.h"
#include "study/cells.h"
#include "study/evaluator.h"
#include "study/judged_runs.h"
#include "study/notes.h"
#include "study/progress_bar.h"
#include "study/scenario_checks.h"
#include "words/words.h"

namespace retrystorm {
namespace {

void refuse_own(const NamedOptions& given, const std::vector<std::string>& own,
                const std::string& where = "") {
  for (const std::string& name : own) {
    if (!given.contains(name)) continue;
    throw std::invalid_argument(where + "--" + name + " is set by this study (see --help)");
  }
}

// Checks the options before anything runs. Throws if something is wrong with them.
std::vector<Scenario> scenarios_of(const Invocation& invocation,
                                   const std::vector<StudyCell>& cells,
                                   const std::vector<std::string>& labels, std::uint64_t seed,
                                   std::size_t at_once, bool alone) {
  std::vector<Scenario> scenarios;
  for (const StudyCell& cell : cells) {
    scenarios.push_back(make_scenario(cell.options, seed));
    check_length(scenarios.back());
    check_verdict(scenarios.back());
    check_memory(scenarios.back(), at_once, memory_limit());
  }
  if (!alone) {
    try {
      auto named = typed_options<ScenarioOptions>(invocation.app, invocation.arguments);
      for (const std::string& label : labels) named.push_back(with_dashes(label));
      refuse_unused(
          cells.size(), [&cells](std::size_t cell) { return cells.at(cell).options; }, named);
    } catch (const NoEffect& error) {
      throw NoEffect(std::string(error.what()) + "; nothing was run");
    }
  }
  return scenarios;
}

std::uint64_t seed_of(const StudyOptions& options) {
  options.cell.check_seed(options.workload.seed.has_value());
  return options.workload.seed ? *options.workload.seed : std::random_device()();
}

std::vector<std::string> run_names(std::vector<std::string> names,
                                   const std::vector<std::string>& columns) {
  names.emplace_back("seed");
  names.insert(names.end(), columns.begin(), columns.end());
  return names;
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

void add_strategies(CLI::App& app, std::string& list) {
  add_text(
      app, "--strategies", list,
      "the strategies to compare, as V1,V2,...: names, all (every named one), and settings files "
      "such as mine.ini")
      ->group("Study");
  add_strategy_arguments(app);
  add_strategies_from(app);
}

void add_strategy_arguments(CLI::App& app) {
  app.add_option(std::string(kStrategyArguments), "the same as --strategies")
      ->type_name("")
      ->expected(1, 1000)
      ->allow_extra_args()
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll)
      ->group("");
}

void add_strategies_from(CLI::App& app) {
  // Read by `strategies_from`.
  add_value(
      app, "--strategies-from", "FOLDER", "", [](const std::string&) {},
      "compare these with the policies of other programs in the files of this folder (see `import`)");
}

NamedOptions given_to_study(const CLI::App& app, const std::vector<std::string>& own) {
  ScenarioOptions scenario;
  OptionList list;
  declare_options(list, scenario);
  NamedOptions given = given_options(app, list);
  given.erase("seed");
  for (const char* each : {"chain", "topology"}) {
    if (given.contains(each)) {
      throw std::invalid_argument("--" + std::string(each) +
                                  ": only simulate has services behind services");
    }
  }
  // What another option implies is no choice of the user's: --tasks in a study of jobs.
  for (const Implied& each : kImplied) {
    const auto target = given.find(std::string(each.target));
    if (target != given.end() && target->second == each.value &&
        given.contains(std::string(each.option)) &&
        std::find(own.begin(), own.end(), each.target) != own.end()) {
      given.erase(target);
    }
  }
  refuse_own(given, own);
  return given;
}

std::string listed_strategies(const Invocation& invocation, const std::string& list,
                              const NamedOptions& given) {
  const auto strategy = given.find("strategy");
  if (strategy == given.end()) return list;
  if (find_option(invocation.app, "strategies")->count() == 0) return strategy->second;
  if (is_typed(*find_option(invocation.app, "strategy"), invocation.arguments)) {
    throw std::invalid_argument("--strategies excludes --strategy");
  }
  return list;
}

std::vector<ListedStrategy> strategies_from(const Invocation& invocation) {
  const CLI::Option* folder = find_option(invocation.app, "strategies-from");
  if (folder == nullptr || folder->count() == 0) return {};
  return policies_in(text_of(*folder));
}

Compared compared(const Invocation& invocation, const std::string& list,
                  const std::vector<std::string>& own,
                  const std::vector<std::string>& own_in_files) {
  Compared result{.strategies = {}, .given = given_to_study(invocation.app, own)};
  if (list.empty() && find_option(invocation.app, "strategies")->count() == 0) return result;
  const std::string listed = listed_strategies(invocation, list, result.given);
  ScenarioOptions scenario;
  OptionList options;
  declare_options(options, scenario);
  try {
    result.strategies = parse_strategies(options, listed);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(std::string("--strategies: ") + error.what());
  }
  const std::vector<ListedStrategy> more = strategies_from(invocation);
  result.strategies.insert(result.strategies.end(), more.begin(), more.end());
  for (const ListedStrategy& each : result.strategies) {
    if (each.settings) refuse_own(*each.settings, own_in_files, each.name + ": ");
  }
  result.given.erase("strategy");
  return result;
}

void print_overruling(const NamedOptions& given, const std::string& whose) {
  const std::string text = overruling_text(given, whose);
  if (!text.empty()) std::cout << fitted("", text, style_of(STDOUT_FILENO));
}

void print_brought(const std::vector<ListedStrategy>& strategies, const NamedOptions& given) {
  for (const std::string& text : {brought_text(strategies, given), left_text(strategies, given)}) {
    if (!text.empty()) std::cout << fitted("", text, style_of(STDOUT_FILENO));
  }
}

void write_start(const Invocation& invocation, std::uint64_t seed, bool given, JsonLines& json,
                 std::size_t parted_cells) {
  auto start = options_json(invocation.app);
  start["seed"] = seed;
  if (parted_cells > 0) start["cells"] = parted_cells;
  json.write(start_json("retrystorm", invocation.command, start));
  if (!given) std::cerr << "seed " << seed << '\n';
}

namespace {

// ", strategy exponential (exponential from 100ms x 2.71828 up to 5m, ...)": what the names of the cells' strategies stand
// for. Left out where another label changes it.
std::string strategies_text(const std::vector<std::string>& labels,
                            const std::vector<StudyCell>& cells) {
  const auto label = std::find(labels.begin(), labels.end(), "strategy");
  if (label == labels.end()) return "";
  const auto at = label - labels.begin();
  std::vector<std::pair<std::string, std::string>> titles;
  for (const StudyCell& cell : cells) {
    const std::string& name = *(cell.labels.begin() + at);
    const std::string title = retries_in_words(cell.options.workload.retry);
    const auto known = std::find_if(titles.begin(), titles.end(),
                                    [&name](const auto& each) { return each.first == name; });
    if (known == titles.end()) {
      titles.emplace_back(name, title);
    } else if (known->second != title) {
      known->second.clear();
    }
  }
  std::string text;
  for (const auto& [name, title] : titles) {
    if (!title.empty()) text += ", strategy " + name + " (" + title + ')';
  }
  return text;
}

}  // namespace

Study::Study(const Invocation& invocation, const StudyOptions& options,
             const std::vector<std::string>& labels, std::vector<StudyCell> cells,
             const std::vector<std::string>& run_columns, bool alone)
    : options_(options),
      labels_(labels),
      cells_(std::move(cells)),
      own_(alone ? CellShare().of(1) : options.cell.of(cells_.size())),
      seed_(seed_of(options)),
      scenarios_(scenarios_of(invocation, cells_, labels_, seed_, threads_or_cores(options.threads),
                              alone)),
      files_(options.table,
             csv_comment(options.cell.titled(invocation.results_command, cells_.size()), seed_) +
                 strategies_text(labels_, cells_)),
      output_(OutputFile(options.json)),
      rows_(run_columns.empty() ? "cell" : "run",
            run_columns.empty() ? cell_names(labels) : run_names(labels, run_columns),
            files_.csv_comment, std::move(files_.csv), output_.json()) {
  write_start(invocation, seed_, options.workload.seed.has_value(), output_.json(),
              options.cell.is_part() ? cells_.size() : 0);
}

void Study::tell_outlook(const Invocation& invocation, const std::vector<std::size_t>& cells,
                         const std::vector<std::string>& set_in_cells) {
  const auto differs = [&](std::size_t label) {
    return std::any_of(cells.begin(), cells.end(), [&](std::size_t cell) {
      return cells_[cell].labels[label] != cells_[cells.front()].labels[label];
    });
  };
  std::vector<OutlookOfRow> rows;
  for (const std::size_t cell : cells) {
    std::string name;
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      if (!differs(i)) continue;
      name += (name.empty() ? "" : ", ") + with_dashes(labels_[i]) + '=' + cells_[cell].labels[i];
    }
    rows.push_back({name, look_ahead(cells_[cell].options)});
  }
  const std::string assumed =
      assumed_list(invocation.app, options_json(invocation.app), rows, set_in_cells);
  rows_.add_assumed(assumed);
  Statements warnings;
  for (const OutlookOfRow& row : rows) {
    warnings.insert(warnings.end(), row.outlook.warnings.begin(), row.outlook.warnings.end());
  }
  const Statement line{
      "before-sweep",
      {{"rows", static_cast<double>(cells_.size())}, {"runs", static_cast<double>(options_.runs)}}};
  const Style style = style_of(STDERR_FILENO, options_.look.color);
  print_before(std::cerr, words_of(line), warnings, style);
  if (options_.look.verbose && !assumed.empty()) {
    std::cerr << fitted("", words_of({"figures-assumed", {{"list", assumed}}}), style);
  }
}

std::optional<std::vector<CellResult>> Study::run() {
  std::vector<CellResult> results(cells_.size());
  const bool all =
      run(own_, [&results](std::size_t cell, const CellResult& result) { results[cell] = result; });
  return all ? std::optional(std::move(results)) : std::nullopt;
}

std::optional<std::vector<std::vector<RunResult>>> Study::run_each() {
  std::vector<std::vector<RunResult>> results(cells_.size());
  const bool all =
      run_cells(own_, [&results](std::size_t cell, const auto& runs) { results[cell] = runs; });
  return all ? std::optional(std::move(results)) : std::nullopt;
}

bool Study::run(const std::vector<std::size_t>& cells,
                const std::function<void(std::size_t, const CellResult&)>& done) {
  return run_cells(cells,
                   [&done](std::size_t cell, const auto& runs) { done(cell, summarize(runs)); });
}

bool Study::run_cells(
    const std::vector<std::size_t>& cells,
    const std::function<void(std::size_t cell, const std::vector<RunResult>&)>& done) {
  ProgressBar bar(progress_stream(), cells.size() * options_.runs);
  complete_ = evaluator().run(
      cells.size(), [&](std::size_t i) { return scenarios_[cells[i]]; },
      seeds_from(seed_, options_.runs),
      [&](std::size_t i, const std::vector<RunResult>& runs) {
        if (!options_.expectations.empty()) {
          judgements_[cells[i]] = judge_once(runs, options_.expectations);
        }
        done(cells[i], runs);
      },
      [&bar](const RunResult& run) { bar.see(run); });
  bar.clear();
  end_work(complete_);
  return complete_;
}

Study::Runs Study::run_in_rounds(const std::function<std::vector<std::size_t>(const Runs&)>& open) {
  constexpr std::size_t kFirstRound = 15;
  Runs results(cells_.size());
  ProgressBar bar(progress_stream(), cells_.size() * options_.runs);
  complete_ = true;
  for (std::size_t before = 0; complete_ && before < options_.runs;) {
    const std::vector<std::size_t> cells = open(results);
    if (cells.empty()) break;
    const std::size_t until = std::min(before == 0 ? kFirstRound : 2 * before, options_.runs);
    Runs round(cells.size());
    complete_ = evaluator().run(
        cells.size(), [&](std::size_t i) { return scenarios_[cells[i]]; },
        seeds_from(seed_ + before, until - before),
        [&round](std::size_t i, const std::vector<RunResult>& runs) { round[i] = runs; },
        [&bar](const RunResult& run) { bar.see(run); });
    if (!complete_) break;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      results[cells[i]].insert(results[cells[i]].end(), round[i].begin(), round[i].end());
    }
    before = until;
  }
  bar.clear();
  end_work(complete_);
  return results;
}

Evaluator Study::evaluator() const {
  return Evaluator(threads_or_cores(options_.threads), [this] { return is_over(); });
}

bool Study::is_over() const {
  return output_.interrupted() ||
         (options_.max_time && Clock::now() - began_ >= *options_.max_time);
}

void Study::end_work(bool complete) {
  complete_ = complete;
  if (complete_ || !output_.has_reader()) return;
  std::cerr << (output_.interrupted() ? "interrupted\n" : "the time of --max-time is over\n");
}

std::vector<RunResult> Study::run_beside(const ScenarioOptions& options, std::size_t runs) const {
  return evaluator().run(make_scenario(options, seed_), seeds_from(seed_, runs));
}

void Study::write_row(std::size_t cell, const CellResult& result) {
  for (Judgement& each : judgements_[cell]) {
    if (each.recovering > 0 && !result.held.empty()) {
      each.doubt = Statement{"claim-held-below", {{"what", result.held}}};
    }
  }
  write_row(cells_[cell].labels, result);
}

void Study::write_row(const std::vector<std::string>& labels, const CellResult& result) {
  std::string name;
  for (const std::string& label : labels) name += (name.empty() ? "" : " ") + label;
  written_.emplace_back(name, result);
  const CellValues values = cell_values({}, result);
  CellValues row(labels.begin(), labels.end());
  row.insert(row.end(), values.begin(), values.end());
  rows_.write(row);
}

void Study::write_row(std::size_t cell, const CellValues& values) {
  CellValues row(cells_[cell].labels.begin(), cells_[cell].labels.end());
  row.insert(row.end(), values.begin(), values.end());
  rows_.write(row);
}

void Study::write_row(std::size_t cell, std::size_t run,
                      std::vector<nlohmann::ordered_json> values) {
  const std::vector<std::string>& labels = cells_[cell].labels;
  values.insert(values.begin(), seed_ + run);
  values.insert(values.begin(), labels.begin(), labels.end());
  rows_.write(values);
}

void Study::show(const Table& table, bool as_markdown, bool remarks) {
  write_markdown(files_.markdown, table);
  if (as_markdown) {
    std::cout << "```\n\n" << markdown_text(table) << "\n\n```\n";
  } else {
    const Style style = style_of(STDOUT_FILENO, options_.look.color);
    const std::size_t left_out = print(std::cout, table, options_.look.verbose ? Style() : style);
    if (left_out > 0) {
      print_dim(std::cout, words_of({"below-table", {{"count", static_cast<double>(left_out)}}}),
                style);
    }
  }
  if (remarks) print_remarks(std::cout, written_);
}

int Study::finish(const char* end) {
  std::vector<Finding> findings;
  for (const auto& [cell, judgements] : judgements_) {
    std::vector<std::pair<std::string, std::string>> labels;
    for (std::size_t i = 0; i < labels_.size(); ++i) {
      labels.emplace_back(labels_[i], cells_[cell].labels[i]);
    }
    for (std::size_t i = 0; i < judgements.size(); ++i) {
      // What holds needs no line.
      std::ostringstream unseen;
      const bool shown = options_.look.verbose || judgements[i].finding != Finding::kHolds;
      write_finding(shown ? std::cout : unseen, output_.json(), labels, options_.expectations[i],
                    judgements[i]);
      findings.push_back(judgements[i].finding);
    }
  }
  std::cout << end;
  rows_.begin();
  if (is_share()) say({"part", {{"part", options_.cell.title(cells_.size())}}});
  const int fault = output_.finish();
  if (fault != 0) return fault;
  // What became of the claims is for `merge` to say: a part with a broken one is not to be run again.
  if (complete_ && options_.cell.is_part()) return kExitHolds;
  if (complete_) return exit_code_of(findings);
  if (output_.interrupted()) return kExitFault;
  return findings.empty() ? kExitUndecided : exit_code_of(findings);
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
  std::replace_if(name.begin(), name.end(), std::not_fn(is_plain), '_');
  std::string line = name + "\t--seed=" + std::to_string(seed);
  for (const auto& [option, text] : options) line += "\t--" + option + '=' + text;
  return line;
}

}  // namespace retrystorm
