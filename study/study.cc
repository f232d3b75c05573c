#include "study/study.h"

#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <iostream>
#include <random>
#include <sstream>

#include "common/os/process.h"
#include "common/output/before_line.h"
#include "common/output/output_queue.h"
#include "common/output/report.h"
#include "model/base/text.h"
#include "model/retry/strategies.h"
#include "study/cell_answer.h"
#include "study/judged_runs.h"
#include "words/words.h"

namespace retrystorm {
namespace {

std::vector<std::string> columns_of(const StudyPlan& plan, const MoreColumns& more) {
  if (plan.run_columns.empty()) return cell_names(plan.labels, more);
  std::vector<std::string> names = plan.labels;
  names.emplace_back("seed");
  names.insert(names.end(), plan.run_columns.begin(), plan.run_columns.end());
  return names;
}

std::vector<std::size_t> own_cells_of(const CellShare& share, const StudyPlan& plan) {
  if (plan.alone) return CellShare().of(1);
  std::vector<std::size_t> own;
  for (const std::size_t part : share.of(plan.cells.size / plan.together)) {
    for (std::size_t i = 0; i < plan.together; ++i) own.push_back(part * plan.together + i);
  }
  return own;
}

std::uint64_t seed_of(const StudyOptions& options) {
  options.cell.check_seed(options.workload.seed.has_value());
  return options.workload.seed ? *options.workload.seed : std::random_device()();
}

// The columns of what this scenario has.
void add_columns(MoreColumns& more, const Scenario& one) {
  more.processes |= sharing_processes(one.workload) > 0;
  more.hosts |= one.outage_at && one.disturbed_hosts().hit() < one.disturbed_hosts().replicas;
  more.probes_kill |= one.disturbed_hosts().life.probes_kill();
  more.hedges |= one.workload.retry.hedge.any();
  more.reconnects |= loses_connections(one);
  more.graph |= !one.topology.empty();
  for (std::size_t i = 0; i < one.topology.client_edges(); ++i) {
    const std::string& name = one.topology.edges[i].clients;
    const bool is_new = std::ranges::find(more.clients, name) == more.clients.end();
    if (is_new && !name.empty()) more.clients.push_back(name);
  }
}

// ", strategy exponential (exponential from 100ms x 2.71828 up to 5m, ...)": what the names of the cells' strategies
// stand for. Left out where another label changes it.
std::string strategies_text(const StudyPlan& plan) {
  const auto label = std::ranges::find(plan.labels, "strategy");
  if (plan.as_they_come || label == plan.labels.end()) return "";
  const auto at = static_cast<std::size_t>(label - plan.labels.begin());
  nlohmann::ordered_map<std::string, std::string> titles;
  for (std::size_t i = 0; i < plan.cells.size; ++i) {
    const StudyCell cell = plan.cells.at(i);
    const std::string title = retries_in_words(cell.options.workload.retry);
    const auto [known, is_new] = titles.emplace(cell.labels[at], std::string(title));
    if (!is_new && known->second != title) known->second.clear();
  }
  std::string text;
  for (const auto& [name, title] : titles) {
    if (!title.empty()) text += ", strategy " + name + " (" + title + ')';
  }
  return text;
}

}  // namespace

void add_cell(CLI::App& app, CellShare& cell) {
  add_value(
      app, "--cell", "N|i/n", "0", [&cell](const std::string& text) { cell = parse_share(text); },
      "run only this cell, counted from 1, or part i of n of the cells, to split them among "
      "machines; `retrystorm merge` joins the files of the parts; 0 = all");
}

void write_start(const char* program, const Invocation& invocation, Json options,
                 std::uint64_t seed, JsonLines& json, std::size_t parted_cells) {
  options["seed"] = seed;
  if (parted_cells > 0) options["cells"] = parted_cells;
  json.write(start_json(program, invocation.command, options));
}

void warn_of_factor(const Invocation& invocation, Outlook& outlook) {
  const auto given = [&invocation](const char* name) {
    return find_option(invocation.app, name)->count() > 0;
  };
  const bool of_curve = given("limit") || given("k") || given("base-delay");
  if (!of_curve || !given("factor") || given("curve-factor")) return;
  outlook.warnings.push_back({"factor-of-backoff", {}});
}

Study::Study(const Invocation& invocation, const StudyOptions& options, StudyPlan plan)
    : options_(options),
      plan_(std::move(plan)),
      own_(own_cells_of(options.cell, plan_)),
      seed_(seed_of(options)),
      files_(checked(invocation).table,
             csv_comment(options.cell.titled(invocation.results_command, parted_cells()), seed_) +
                 strategies_text(plan_)),
      output_(OutputFile(options.json)),
      rows_(plan_.run_columns.empty() ? "cell" : "run", columns_of(plan_, more_),
            files_.csv_comment, std::move(files_.csv), output_.json()) {
  write_start(plan_.as_they_come ? "simulate" : "retrystorm", invocation,
              plan_.start.is_null() ? options_json(invocation.app) : plan_.start, seed_,
              output_.json(), options.cell.is_part() ? parted_cells() : 0);
  if (!options.workload.seed) std::cerr << "seed " << seed_ << '\n';
}

const StudyOptions& Study::checked(const Invocation& invocation) {
  const std::size_t size = plan_.cells.size;
  if (plan_.checked) return options_;
  if (plan_.as_they_come) {
    // All cells of a larger sweep would take longer than its runs. All parts have the same columns.
    more_ = {.errors_by = true};
    add_columns(more_, scenario(size - 1));
    for (std::size_t cell = 0; cell < std::min<std::size_t>(size, 1000); ++cell) {
      add_columns(more_, scenario(cell));
    }
    return options_;
  }
  for (std::size_t cell = 0; cell < size; ++cell) scenario(cell);
  if (plan_.alone) return options_;
  try {
    auto named = typed_options<ScenarioOptions>(invocation.app, invocation.arguments);
    for (const std::string& label : plan_.labels) named.push_back(with_dashes(label));
    refuse_unused(
        size, [this](std::size_t cell) { return plan_.cells.at(cell).options; }, named);
  } catch (const NoEffect& error) {
    throw NoEffect(std::string(error.what()) + "; nothing was run");
  }
  return options_;
}

Scenario Study::scenario(std::size_t cell) const {
  // The results of the runs of a row are kept until it is done, and the rows.
  constexpr double kRun = 1'200, kRow = 1'600;
  const auto size = static_cast<double>(plan_.cells.size),
             runs = static_cast<double>(options_.runs);
  const std::size_t threads = threads_or_cores(options_.threads);
  const auto at_once =
      static_cast<std::size_t>(std::min(static_cast<double>(threads), size * runs));
  return checked_scenario(plan_.cells.at(cell).options, seed_, at_once,
                          memory_limit() - kRun * runs - kRow * size, true);
}

void Study::tell_outlook(const Invocation& invocation, const std::vector<std::size_t>& cells,
                         const std::vector<std::string>& set_in_cells, Statement line) {
  std::vector<StudyCell> told;
  for (const std::size_t cell : cells) told.push_back(plan_.cells.at(cell));
  // The labels that differ among these cells.
  const auto name_of = [&](const StudyCell& cell) {
    std::vector<std::string> names, values;
    for (std::size_t i = 0; i < plan_.labels.size(); ++i) {
      const auto is_same = [&](const StudyCell& each) {
        return each.labels[i] == told.front().labels[i];
      };
      if (std::ranges::all_of(told, is_same)) continue;
      names.push_back(plan_.labels[i]);
      values.push_back(cell.labels[i]);
    }
    return row_text(names, values);
  };
  std::vector<OutlookOfRow> rows;
  Statements found, warnings;  // once each, with the values of the first row
  for (const StudyCell& each : told) {
    rows.push_back({name_of(each), look_ahead(each.options)});
    warn_of_factor(invocation, rows.back().outlook);
    for (const Statement& warning : rows.back().outlook.warnings) {
      if (!says(found, warning.id)) found.push_back(warning);
    }
  }
  for (const Statement& warning : found) {
    std::vector<std::string> of;
    for (const OutlookOfRow& each : rows) {
      if (says(each.outlook.warnings, warning.id)) of.push_back(each.row);
    }
    const std::string row = of.front() + (of.size() > 1 ? ", ..." : "");
    if (of.size() == rows.size()) {
      warnings.push_back(warning);
    } else if (line.id != "before-search") {  // nobody asked about the ends of a search
      warnings.push_back({"of-policy", {{"policy", row}, {"answer", words_of(warning)}}});
    }
  }
  const std::string assumed =
      assumed_list(invocation.app, options_json(invocation.app), rows, set_in_cells);
  rows_.add_assumed(assumed);
  if (options_.quiet) return;
  if (line.values.empty())
    line.values = {counted("rows", plan_.cells.size), counted("runs", options_.runs)};
  const Style style = style_of(STDERR_FILENO, options_.look.color);
  // The load is said where all have the same.
  const Outlook& first = rows.front().outlook;
  const bool alike = std::ranges::all_of(rows, [&first](const OutlookOfRow& each) {
    return each.outlook.wanted == first.wanted && each.outlook.clients() == first.clients();
  });
  const Statement load{first.open() ? "before-load-alone" : "before-load-clients",
                       {{"load", first.wanted}, {"clients", first.clients()}}};
  print_before(std::cerr, words_of(line) + (alike ? " · " + words_of(load) : ""), warnings, style);
  if (!plan_.as_they_come && options_.look.verbose && !assumed.empty()) {
    std::cerr << fitted("", words_of({"figures-assumed", {{"list", assumed}}}), style);
  }
}

std::optional<std::vector<CellResult>> Study::run(
    const std::function<void(std::size_t, CellResult&)>& complete) {
  std::vector<CellResult> results(plan_.cells.size);
  const bool all =
      run(own_, [&results](std::size_t cell, const CellResult& result) { results[cell] = result; });
  if (!all) return std::nullopt;
  for (const std::size_t cell : own_) {
    if (complete) complete(cell, results[cell]);
    write_row(cell, results[cell]);
  }
  return is_share() ? std::nullopt : std::optional(std::move(results));
}

std::optional<Study::Runs> Study::run_each() {
  Runs results(plan_.cells.size);
  const bool all =
      run_cells(own_, [&results](std::size_t cell, const auto& runs) { results[cell] = runs; });
  return all ? std::optional(std::move(results)) : std::nullopt;
}

bool Study::run(const std::vector<std::size_t>& cells,
                const std::function<void(std::size_t, const CellResult&)>& done) {
  const auto each = [&](std::size_t cell, const std::vector<RunResult>& runs) {
    const CellResult result = summarize(runs);
    if (plan_.as_they_come) write_in_order(cell, result);
    done(cell, result);
  };
  const bool complete = plan_.as_they_come && !options_.expectations.empty()
                            ? judge_cells(cells, each)
                            : run_cells(cells, each);
  for (const auto& [cell, row] : waiting_) rows_.write(row);
  if (plan_.as_they_come) tell_findings();
  return complete;
}

bool Study::run_cells(const std::vector<std::size_t>& cells, const Done& done) {
  ProgressBar bar(progress_stream(), cells.size() * options_.runs);
  const bool complete = evaluator().run(
      cells.size(), [&](std::size_t i) { return scenario(cells[i]); },
      seeds_from(seed_, options_.runs),
      [&](std::size_t i, const std::vector<RunResult>& runs) {
        if (!options_.expectations.empty()) {
          judgements_[cells[i]] = judge_once(runs, options_.expectations);
        }
        done(cells[i], runs);
      },
      [&bar](const RunResult& run) { bar.see(run); });
  bar.clear();
  end_work(complete);
  return complete;
}

// One after the other, each until its claims are decided.
bool Study::judge_cells(const std::vector<std::size_t>& cells, const Done& done) {
  const bool complete = std::ranges::all_of(cells, [&](std::size_t cell) {
    const auto judged =
        judge_runs(evaluator(), scenario(cell), seed_, options_.runs, options_.expectations);
    if (!judged) return false;
    judgements_[cell] = judged->judgements;
    done(cell, judged->runs);
    return true;
  });
  end_work(complete);
  return complete;
}

Study::Runs Study::run_in_rounds(const std::function<std::vector<std::size_t>(const Runs&)>& open) {
  constexpr std::size_t kFirstRound = 15;
  Runs results(plan_.cells.size);
  ProgressBar bar(progress_stream(), plan_.cells.size * options_.runs);
  bool complete = true;
  for (std::size_t before = 0; complete && before < options_.runs;) {
    const std::vector<std::size_t> cells = open(results);
    if (cells.empty()) break;
    const std::size_t until = std::min(before == 0 ? kFirstRound : 2 * before, options_.runs);
    Runs round(cells.size());
    complete = evaluator().run(
        cells.size(), [&](std::size_t i) { return scenario(cells[i]); },
        seeds_from(seed_ + before, until - before),
        [&round](std::size_t i, const std::vector<RunResult>& runs) { round[i] = runs; },
        [&bar](const RunResult& run) { bar.see(run); });
    if (!complete) break;
    for (std::size_t i = 0; i < cells.size(); ++i) {
      results[cells[i]].insert(results[cells[i]].end(), round[i].begin(), round[i].end());
    }
    before = until;
  }
  bar.clear();
  end_work(complete);
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
  std::cerr << words_of(output_.interrupted() ? "study-interrupted" : "study-out-of-time");
  if (next_ > 0 && own_.size() > 1) {
    std::cerr << words_of({"study-rows", {counted("rows", next_), counted("all", own_.size())}});
  }
  std::cerr << '\n';
}

std::vector<Expectation> Study::holding(std::size_t cell) const {
  const auto judged = judgements_.find(cell);
  return judged == judgements_.end() ? std::vector<Expectation>()
                                     : retrystorm::holding(options_.expectations, judged->second);
}

void Study::write_in_order(std::size_t cell, const CellResult& result) {
  waiting_.emplace(cell, cell_values(plan_.cells.at(cell).labels, result, more_));
  for (; !waiting_.empty() && waiting_.begin()->first == own_[next_]; ++next_) {
    rows_.write(waiting_.begin()->second);
    waiting_.erase(waiting_.begin());
  }
}

void Study::write_row(std::size_t cell, const CellResult& result) {
  for (Judgement& each : judgements_[cell]) {
    if (each.recovering > 0 && !result.held.empty()) {
      each.doubt = Statement{"claim-held-below", {{"what", result.held}}};
    }
  }
  write_row(plan_.cells.at(cell).labels, result);
}

void Study::write_row(const std::vector<std::string>& labels, const CellResult& result) {
  written_.emplace_back(list_words(labels, " "), result);
  rows_.write(cell_values(labels, result, more_));
}

void Study::write_row(std::size_t cell, std::size_t run, const CellValues& values) {
  const std::vector<std::string> labels = plan_.cells.at(cell).labels;
  CellValues row(labels.begin(), labels.end());
  row.push_back(seed_ + run);
  row.insert(row.end(), values.begin(), values.end());
  rows_.write(row);
}

void Study::show(const Table& table, bool as_markdown, bool remarks) {
  write_markdown(files_.markdown, table);
  if (as_markdown) {
    std::cout << "```\n\n" << markdown_text(table) << "\n\n```\n";
  } else {
    const Style style = style_of(STDOUT_FILENO, options_.look.color);
    const std::size_t left_out = print(std::cout, table, options_.look.verbose ? Style() : style);
    if (left_out > 0) {
      print_dim(std::cout, words_of({"below-table", {counted("count", left_out)}}), style);
    }
  }
  if (remarks) print_remarks(std::cout, written_);
}

void Study::tell_findings() {
  if (findings_) return;
  findings_.emplace();
  for (const auto& [cell, judgements] : judgements_) {
    const std::vector<std::string> values = plan_.cells.at(cell).labels;
    for (std::size_t i = 0; i < judgements.size(); ++i) {
      // Below a table, what holds needs no line.
      std::ostringstream unseen;
      const bool shown =
          plan_.as_they_come || options_.look.verbose || judgements[i].finding != Finding::kHolds;
      write_finding(shown ? std::cout : unseen, output_.json(), plan_.labels, values,
                    options_.expectations[i], judgements[i]);
      findings_->push_back(judgements[i].finding);
    }
  }
}

int Study::finish(const char* end) {
  tell_findings();
  std::cout << end;
  rows_.begin();
  const bool tells_share = plan_.as_they_come ? options_.cell.is_part() : is_share();
  if (tells_share) say({"part", {{"part", options_.cell.title(parted_cells())}}});
  const int fault = output_.finish();
  if (fault != 0) return fault;
  // What became of the claims is for `merge` to say: a part with a broken one is not to be run again.
  if (complete_ && options_.cell.is_part()) return kExitHolds;
  if (complete_) return exit_code_of(*findings_);
  if (output_.interrupted()) return kExitFault;
  return findings_->empty() ? kExitUndecided : exit_code_of(*findings_);
}

void ProgressBar::see(const RunResult& run) {
  ++done_;
  back_ += run.verdict == Verdict::kRecovered || run.verdict == Verdict::kNoOutage ? 1 : 0;
  down_ += is_down(run.verdict) ? 1 : 0;
  if (out_ == nullptr) return;
  const Duration elapsed = Clock::now() - start_;
  const double share = std::min(static_cast<double>(done_) / static_cast<double>(runs_), 1.0);
  const Duration left =
      std::chrono::ceil<std::chrono::seconds>(scale(elapsed, (1 - share) / share));
  draw(words_of({"progress-left",
                 {counted("done", done_),
                  counted("runs", runs_),
                  counted("back", back_),
                  counted("down", down_),
                  {"left", left}}}));
}

void ProgressBar::see_trial() {
  draw(words_of({"trials-progress", {counted("done", ++trials_)}}));
}

void ProgressBar::draw(const std::string& line) {
  const TimePoint now = Clock::now();
  if (out_ == nullptr || now - drawn_ < std::chrono::milliseconds(200)) return;
  drawn_ = now;
  PlainText::write_as_it_is(*out_, "\r\033[K" + line);
}

void ProgressBar::clear() {
  if (out_ != nullptr) PlainText::write_as_it_is(*out_, "\r\033[K");
}

std::ostream* progress_stream() {
  return isatty(STDERR_FILENO) == 1 ? &std::cerr : nullptr;
}

}  // namespace retrystorm
