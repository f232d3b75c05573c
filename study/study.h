// The one driver of many runs: all commands make the cells of a study, run them here, and choose what they show.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "common/cli/options.h"
#include "common/cli/program.h"
#include "common/output/expectation.h"
#include "common/output/json_text.h"
#include "common/output/work_output.h"
#include "model/base/duration.h"
#include "study/cell_result.h"
#include "study/evaluator.h"
#include "study/rows.h"
#include "study/sweep.h"

namespace retrystorm {

// Not thread-safe. The destructor removes the line.
class ProgressBar {
 public:
  // `runs`: the total. `out` may be null: draws nothing.
  ProgressBar(std::ostream* out, std::size_t runs)
      : out_(out), runs_(runs), start_(Clock::now()), drawn_(start_) {}
  ~ProgressBar() { clear(); }
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;

  // Takes the result of one more run, or of one more trial. Draws at most a few times a second.
  void see(const RunResult& run);
  void see_trial();

  // Removes the line, to make room for another one.
  void clear();

 private:
  void draw(const std::string& line);

  std::ostream* const out_;
  const std::size_t runs_;
  const TimePoint start_;
  TimePoint drawn_;
  std::size_t done_ = 0, back_ = 0, down_ = 0, trials_ = 0;
};

// Where progress is shown: standard error, if it is a terminal; or else null.
std::ostream* progress_stream();

// The options that all programs of many runs have.
struct StudyOptions : ScenarioOptions {
  std::size_t runs = 100;   // of each cell
  std::size_t threads = 0;  // 0 = one for each core
  std::optional<Duration> max_time{};
  bool quiet = false;  // nothing is said before the runs
  AnswerLook look;
  std::string json;
  TableFiles table;
  std::vector<Expectation> expectations;
  CellShare cell;
};

// Adds `--cell`.
void add_cell(CLI::App& app, CellShare& cell);

// One setting of a study: the labels that identify it, and its options.
struct StudyCell {
  std::vector<std::string> labels;
  ScenarioOptions options;
};

// The cells of a study, in their order. `at` may be called from several threads.
struct StudyCells {
  StudyCells(std::size_t cells, std::function<StudyCell(std::size_t cell)> one)
      : size(cells), at(std::move(one)) {}
  StudyCells(std::vector<StudyCell> all)  // NOLINT(google-explicit-constructor)
      : size(all.size()), at([all = std::move(all)](std::size_t cell) { return all.at(cell); }) {}

  std::size_t size;
  std::function<StudyCell(std::size_t cell)> at;
};

struct StudyPlan {
  std::vector<std::string> labels;  // the names of the cells' labels
  StudyCells cells;
  // If there are some, the files for programs have a row with these columns for each run, instead of one row for each
  // cell.
  std::vector<std::string> run_columns{};
  bool alone =
      false;  // the only cell is that of --cell=N: options may have an effect in the others only
  std::size_t together = 1;  // so many neighbouring cells are one for --cell: they need each other
  bool checked = false;      // it is known that the cells can be run
  // As in `simulate`: rows and findings are written as they come, and a claim takes as many runs as it needs.
  bool as_they_come = false;
  Json start = {};  // in place of the options, in the first line of --json
};

// Writes the first line of the file of `--json`: `options`, and the seed. `parted_cells`: how many cells all parts have,
// if the file is of a part.
void write_start(const char* program, const Invocation& invocation, Json options,
                 std::uint64_t seed, JsonLines& json, std::size_t parted_cells = 0);

// Of the two programs of the curve and of its clients both have a --factor.
void warn_of_factor(const Invocation& invocation, Outlook& outlook);

class Study {
 public:
  // Throws std::exception with a readable message if a cell cannot be run, an option has no effect in any of them, or a
  // file cannot be written. Of more cells than a thousand that are made `as_they_come`, only some are tried.
  Study(const Invocation& invocation, const StudyOptions& options, StudyPlan plan);

  // Prints what can be said about these cells before they run, and the defaults on which the answer hangs, which are
  // also in the comment of the CSV file. `set_in_cells`: options that have a value of their own in each cell, although
  // they were not given. `line`: the statement that says how many runs there are; without values those of the cells.
  void tell_outlook(const Invocation& invocation, const std::vector<std::size_t>& cells,
                    const std::vector<std::string>& set_in_cells,
                    Statement line = {"before-sweep"});
  // See `Rows::add_assumed`.
  void add_assumed(const std::string& options) { rows_.add_assumed(options); }

  // The cells that --cell leaves, in order, and whether it was given. Then a command writes their rows and finishes: it
  // cannot compare them with the others.
  const std::vector<std::size_t>& own_cells() const { return own_; }
  bool is_share() const { return options_.cell.number > 0; }

  // The summary of the runs of each cell, in the order of the cells, whose rows are written. `complete` may add to a
  // result before. Nothing if it was interrupted, or has a share of the cells only: then the command finishes. Call it
  // once, with all cells, because all runs are shared among the threads.
  std::optional<std::vector<CellResult>> run(
      const std::function<void(std::size_t cell, CellResult&)>& complete = nullptr);
  // The runs of each own cell, in the order of their seeds. Nothing if it was interrupted.
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
  // Was it interrupted, or is the time over?
  bool is_over() const;

  // The findings that `finish` prints for a cell of `run_in_rounds`, in the order of the expectations.
  void judge(std::size_t cell, std::vector<Judgement> judgements) {
    judgements_[cell] = std::move(judgements);
  }
  // The claims that hold of a cell.
  std::vector<Expectation> holding(std::size_t cell) const;

  // Writes a cell's row, with all columns, to the files for programs. Below the table it is named if
  // some of its runs are neither up nor down.
  void write_row(std::size_t cell, const CellResult& result);
  void write_row(const std::vector<std::string>& labels, const CellResult& result);
  // The row of a run, with the values of the run's columns. Runs are counted from 0.
  void write_row(std::size_t cell, std::size_t run, const CellValues& values);

  // Prints the results of the study, and writes them as Markdown. `as_markdown` prints them so, too, between
  // blocks of plain text.
  void show(const Table& table, bool as_markdown = false, bool remarks = true);

  JsonLines& json() { return output_.json(); }
  LineFile& markdown() { return files_.markdown; }
  const MoreColumns& more() const { return more_; }
  std::uint64_t seed() const { return seed_; }

  // Prints the findings of the expectations for each cell that was run, unless they are printed, and `end`. Returns the
  // exit code.
  int finish(const char* end = "");

 private:
  using Done = std::function<void(std::size_t cell, const std::vector<RunResult>&)>;
  bool run_cells(const std::vector<std::size_t>& cells, const Done& done);
  bool judge_cells(const std::vector<std::size_t>& cells, const Done& done);
  const StudyOptions& checked(const Invocation& invocation);
  void write_in_order(std::size_t cell, const CellResult& result);
  void tell_findings();
  Scenario scenario(std::size_t cell) const;
  std::size_t parted_cells() const { return plan_.cells.size / plan_.together; }

  const StudyOptions& options_;
  const StudyPlan plan_;
  const std::vector<std::size_t> own_;
  const std::uint64_t seed_;
  MoreColumns more_{};  // of the rows
  const TimePoint began_ = Clock::now();
  OpenTableFiles files_;
  WorkOutput output_;
  Rows rows_;
  std::map<std::size_t, std::vector<Judgement>> judgements_;  // by cell
  std::optional<std::vector<Finding>> findings_;              // that are printed
  std::vector<std::pair<std::string, CellResult>> written_;   // with their labels
  std::map<std::size_t, CellValues> waiting_;  // rows that came before those above them
  std::size_t next_ = 0;                       // of the own cells, whose row is written next
  bool complete_ = false;
};

}  // namespace retrystorm
