// The common part of the commands of `retrystorm`: reads the options, runs the cells of a study, and writes
// its tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/cli/options.h"
#include "common/cli/program.h"
#include "common/output/expectation.h"
#include "common/output/work_output.h"
#include "retrystorm/commands.h"
#include "study/cell_columns.h"
#include "study/cell_result.h"
#include "study/evaluator.h"
#include "study/named_options.h"
#include "study/rows.h"
#include "study/strategy_list.h"
#include "study/sweep.h"
#include "study/table.h"

namespace retrystorm {

// The options that all commands have.
struct StudyOptions : ScenarioOptions {
  std::size_t runs = 100;  // of each cell
  std::size_t threads = 0;
  std::optional<Duration> max_time{};
  AnswerLook look;
  std::string json;
  TableFiles table;
  std::vector<Expectation> expectations;
  CellShare cell;
};

// `own`: options that the study sets itself. They are not in the help, and `given_to_study` refuses them.
void add_study_options(CLI::App& app, StudyOptions& options,
                       const std::vector<std::string>& own = {});

// Adds `--max-time`.
void add_max_time(CLI::App& app, StudyOptions& options);

// Adds `--csv`, `--markdown` and `--json`.
void add_study_files(CLI::App& app, TableFiles& table, std::string& json);

// Takes arguments for --strategies: `retrystorm strategies fixed grpc mine.ini`.
void add_strategy_arguments(CLI::App& app);

// Adds `--strategies`, a list as `parse_strategies` reads it, and `--strategies-from`.
void add_strategies(CLI::App& app, std::string& list);
// The latter alone.
void add_strategies_from(CLI::App& app);

// The options of the experiment that were given, for all cells. Throws std::invalid_argument if one of
// `own` is among them, because the study sets these itself.
NamedOptions given_to_study(const CLI::App& app, const std::vector<std::string>& own);

// The list of strategies to compare. If `--strategies` was not given, a given `--strategy` replaces its
// default, `list`. Throws std::invalid_argument if both were typed.
std::string listed_strategies(const Invocation& invocation, const std::string& list,
                              const NamedOptions& given);

// The policies of the files in the folder of `--strategies-from`, if it was given.
std::vector<ListedStrategy> strategies_from(const Invocation& invocation);

// The strategies that a study compares, and the options for all of them.
struct Compared {
  std::vector<ListedStrategy> strategies;  // none if there is no list
  NamedOptions given;
};

// Throws as `given_to_study` and `parse_strategies` do, also if a file has one of `own_in_files`.
Compared compared(const Invocation& invocation, const std::string& list,
                  const std::vector<std::string>& own,
                  const std::vector<std::string>& own_in_files);

// Prints which of these options override those of each strategy that is compared.
void print_overruling(const NamedOptions& given, const std::string& whose = "every strategy");

// Prints what files among the strategies set besides a policy.
void print_brought(const std::vector<ListedStrategy>& strategies, const NamedOptions& given);

// Writes the first line of the file of `--json`, and prints a seed that was not given.
// `parted_cells`: how many cells all parts have, if the file is of a part.
void write_start(const Invocation& invocation, std::uint64_t seed, bool given, JsonLines& json,
                 std::size_t parted_cells = 0);

// One setting of a study: the labels that identify it, and its options.
struct StudyCell {
  std::vector<std::string> labels;
  ScenarioOptions options;
};

class Study {
 public:
  // `labels` are the names of the cells' labels. With `run_columns`, the files for programs have a row
  // with these columns for each run, instead of one row for each cell. If `alone`, the only cell is one of those of
  // --cell=N: options may have an effect in the other cells only. Throws std::exception with a readable
  // message if a cell cannot be run, an option has no effect in any of them, or a file cannot be written.
  Study(const Invocation& invocation, const StudyOptions& options,
        const std::vector<std::string>& labels, std::vector<StudyCell> cells,
        const std::vector<std::string>& run_columns = {}, bool alone = false);

  // Prints what can be said about these cells before they run, and the defaults on which the answer hangs, which are also
  // in the comment of the CSV file.
  // `set_in_cells`: options that have a value of their own in each cell, although they were not given.
  void tell_outlook(const Invocation& invocation, const std::vector<std::size_t>& cells,
                    const std::vector<std::string>& set_in_cells);

  // The cells that --cell leaves, in order, and whether it was given. Then a command writes their rows and finishes: it
  // cannot compare them with the others.
  const std::vector<std::size_t>& own_cells() const { return own_; }
  bool is_share() const { return options_.cell.number > 0; }

  // The summary of the runs of each own cell, in the order of the cells. Nothing if it was interrupted. Call it
  // once, with all cells, because all runs are shared among the threads.
  std::optional<std::vector<CellResult>> run();
  // The same, but with the runs of each own cell, in the order of their seeds.
  std::optional<std::vector<std::vector<RunResult>>> run_each();
  // Runs these cells only. `done` gets each as soon as it is finished, one at a time. Returns true if all
  // were finished.
  bool run(const std::vector<std::size_t>& cells,
           const std::function<void(std::size_t cell, const CellResult&)>& done);

  // Runs the cells in rounds, of 15 runs of each, then of as many again, ..., until all have been made.
  // Before each round, `open` says which cells need it, by the runs of all cells so far. Returns these;
  // those of a round that was interrupted are not among them.
  using Runs = std::vector<std::vector<RunResult>>;  // by cell, in the order of their seeds
  Runs run_in_rounds(const std::function<std::vector<std::size_t>(const Runs&)>& open);

  // For runs of what is no cell of the study. They end when the study is interrupted. Says then, or at the
  // end of all work, whether the work is complete.
  Evaluator evaluator() const;
  void end_work(bool complete);

  // Some more runs, with the first seeds, of what is no cell of the study. None if it was interrupted.
  std::vector<RunResult> run_beside(const ScenarioOptions& options, std::size_t runs) const;

  // The findings that `finish` prints for a cell of `run_in_rounds`, in the order of the expectations.
  void judge(std::size_t cell, std::vector<Judgement> judgements) {
    judgements_[cell] = std::move(judgements);
  }

  // Writes a cell's row, with all columns, to the files for programs. Below the table it is named if
  // some of its runs are neither up nor down.
  void write_row(std::size_t cell, const CellResult& result);
  void write_row(std::size_t cell, const CellValues& values);
  void write_row(const std::vector<std::string>& labels, const CellResult& result);
  // Does the same for a run, with a value for each of the run's columns. Runs are counted from 0.
  void write_row(std::size_t cell, std::size_t run, std::vector<nlohmann::ordered_json> values);

  // Prints the results of the study, and writes them as Markdown. `as_markdown` prints them so, too, between
  // blocks of plain text.
  void show(const Table& table, bool as_markdown = false, bool remarks = true);

  JsonLines& json() { return output_.json(); }
  LineFile& markdown() { return files_.markdown; }
  std::uint64_t seed() const { return seed_; }

  // Prints the findings of the expectations for each cell that was run, and `end`. Returns the exit code.
  int finish(const char* end = "");

 private:
  bool is_over() const;
  bool run_cells(const std::vector<std::size_t>& cells,
                 const std::function<void(std::size_t cell, const std::vector<RunResult>&)>& done);

  const StudyOptions& options_;
  const std::vector<std::string> labels_;
  const std::vector<StudyCell> cells_;
  const std::vector<std::size_t> own_;
  const std::uint64_t seed_;
  std::vector<Scenario> scenarios_;
  const TimePoint began_ = Clock::now();
  OpenTableFiles files_;
  WorkOutput output_;
  Rows rows_;
  std::map<std::size_t, std::vector<Judgement>> judgements_;  // by cell
  std::vector<std::pair<std::string, CellResult>> written_;   // with their labels
  bool complete_ = false;
};

// The data from which scripts draw a picture, as files in a folder. Without a name, nothing is written.
void add_picture_data(CLI::App& app, std::string& folder);

// A line of the file `runs` in that folder: the name of a run, and the options with which `simulate` makes
// it, separated by tabs.
std::string run_line(std::string name, const NamedOptions& options, std::uint64_t seed);

// Runs a command whose options are `Options`, like `run_program`.
template <typename Options>
int run_command(const Command& command, int argc, const char* const* argv,
                void (*declare)(CLI::App&, Options&),
                int (*work)(const Invocation&, const Options&)) {
  return run_program<Options>(command.about, "try a smaller --scale, fewer --runs or --threads",
                              argc, argv, declare, work, nullptr, command.example, 2);
}

}  // namespace retrystorm
