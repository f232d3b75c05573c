// Workers that come and go write to a table whose capacity follows its use with a delay. Which strategy
// balances the two?
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <string>

#include "common/output/json_text.h"
#include "common/output/report.h"
#include "retrystorm/study_command.h"
#include "study/cell_answer.h"
#include "words/words.h"

namespace retrystorm {
namespace {

const std::vector<std::string> kSetByJob{"arrivals"};

struct JobOptions : StudyOptions {
  JobOptions() { runs = 10; }

  std::string strategies =
      "responsive,aws-adaptive,aws-dynamodb,aws-legacy-dynamodb,exponential,fixed";
};

void declare(CLI::App& app, JobOptions& options) {
  add_study_options(app, options, kSetByJob);
  add_strategies(*option_group(app, "Study"), options.strategies);
}

// A job of 400 tasks of 2,000 calls, and a table like DynamoDB's.
const NamedOptions& usual_job() {
  static const NamedOptions options{
      {"arrivals", "job"},        {"tasks", "400"},
      {"calls", "2000"},          {"clients", "200"},
      {"workers-start", "3s"},    {"rate-limit", "100"},
      {"rate-burst", "300s"},     {"autoscale", "target-tracking"},
      {"throttle-status", "400"}, {"hint", "none"},  // DynamoDB sends no Retry-After
      {"base-delay", "10ms"}};
  return options;
}

// What of it holds beside these options: nothing of its tasks beside others, and nothing of its table beside another
// service.
NamedOptions usual_beside(const NamedOptions& given) {
  NamedOptions usual = usual_job();
  const auto leave_out = [&usual](std::initializer_list<const char*> names) {
    for (const char* each : names) usual.erase(each);
  };
  if (given.contains("tasks")) leave_out({"calls", "workers-start"});
  for (const char* each : {"rate-limit", "service", "workers", "service-time"}) {
    if (!given.contains(each)) continue;
    leave_out({"rate-limit", "rate-burst", "autoscale", "throttle-status", "hint", "base-delay"});
  }
  return usual;
}

struct JobCase {
  const char* title;  // the time between the starts of two workers
  NamedOptions options;
};

// The median of the makespans as in the files, and their range if there are several. A job that was not
// done in time took longer than all others.
std::string makespan_text(const std::vector<RunResult>& runs) {
  constexpr double kNever = std::numeric_limits<double>::infinity();
  std::vector<double> seconds;
  for (const RunResult& run : runs) {
    seconds.push_back(run.makespan ? rounded(to_seconds(*run.makespan)) : kNever);
  }
  std::ranges::sort(seconds);
  const auto text = [](double value) { return std::isinf(value) ? "never" : fixed(value, 0); };
  const std::size_t count = seconds.size();
  const std::string median = text((seconds[(count - 1) / 2] + seconds[count / 2]) / 2);
  if (count == 1) return median;
  return median + " (" + text(seconds.front()) + '-' + text(seconds.back()) + ')';
}

struct JobCells {
  std::vector<StudyCell> cells{};
  std::set<std::string> stays{};  // of the usual job, beside what was given
};

JobCells job_cells(const Compared& asked, const std::vector<JobCase>& cases) {
  JobCells result;
  for (const JobCase& each : cases) {
    for (const ListedStrategy& strategy : asked.strategies) {
      NamedOptions of_cell = with_strategy(each.options, strategy);
      const NamedOptions usual = usual_beside(of_cell);
      of_cell.insert(usual.begin(), usual.end());
      // What is not given holds where it can: workers have no base delay.
      for (const auto& [name, why] : unused_options(scenario_of(of_cell))) {
        if (!each.options.contains(name) && usual.contains(name)) of_cell.erase(name);
      }
      for (const auto& [name, value] : usual) {
        if (asked.given.empty() || name == "arrivals" || asked.given.contains(name)) continue;
        if (of_cell.contains(name)) result.stays.insert("--" + name + '=' + value);
      }
      result.cells.push_back({{each.title, strategy.name}, scenario_of(of_cell)});
    }
  }
  return result;
}

// In the order of the study's `run_columns`.
CellValues values_of(const RunResult& run) {
  const auto or_null = [](const std::optional<double>& value, auto to_json) {
    return value ? Json(to_json(*value)) : Json();
  };
  return {seconds_json(run.makespan), or_null(run.throttled_share, share_json),
          static_cast<std::uint64_t>(run.gave_up), or_null(run.provided, rounded),
          or_null(run.idle_share, share_json)};
}

std::vector<std::string> texts_of(const std::vector<RunResult>& runs, const CellResult& all) {
  const auto share_text = [](const std::optional<double>& share) {
    return share ? share_words(*share) : "-";
  };
  return {makespan_text(runs), share_text(all.throttled_share), number_words(all.gave_up),
          all.provided ? number_words(*all.provided) : "-", share_text(all.idle_share)};
}

// The strategy that is done soonest, of those that give hardly a call up.
struct BestOfJob {
  std::string strategy{};
  CellResult result{};

  void see(const std::string& other, const CellResult& its) {
    constexpr double kHardlyAny = 1e-4;
    if (its.gave_up > kHardlyAny * its.calls || !its.makespan || its.jobs_done < its.jobs) return;
    // As soon as another, within a percent: then the one that is throttled less.
    const double ratio =
        strategy.empty() ? 0 : to_seconds(*its.makespan) / to_seconds(*result.makespan);
    const double less = result.throttled_share.value_or(0) - its.throttled_share.value_or(0);
    if (ratio < 0.99 || (ratio < 1.01 && less > 0)) *this = {other, its};
  }
};

std::size_t done_before_outage(const ScenarioOptions& asked, const std::vector<RunResult>& runs) {
  if (asked.outage_length() == Duration::zero()) return 0;
  return static_cast<std::size_t>(std::ranges::count_if(runs, [&asked](const RunResult& run) {
    return run.makespan && *run.makespan < asked.outage_at;
  }));
}

int job(const Invocation& invocation, const JobOptions& options) {
  const Compared asked = compared(invocation, options.strategies, kSetByJob, kSetByJob);
  std::vector<JobCase> cases{{"10 s", {{"workers-start", "10s"}}},
                             {"3 s", {{"workers-start", "3s"}}}};
  if (!asked.given.empty()) cases = {{"as given", asked.given}};
  const auto [cells, stays] = job_cells(asked, cases);
  Study study(invocation, options,
              {.labels = {"worker_each", "strategy"},
               .cells = cells,
               .run_columns = {"makespan_s", "throttled_share", "gave_up", "provided_unit_s",
                               "idle_share"}});
  const auto results = study.run_each();
  if (!results) return study.finish();
  Table table{.columns = {{.title = "a worker each"},
                          {.title = "strategy", .code = true},
                          {.title = "makespan, s"},
                          {.title = "throttled"},
                          {.title = "calls given up"},
                          {.title = "unit-seconds"},
                          {.title = "idle"}}};
  std::size_t before_outage = 0, all_runs = 0;
  std::map<std::string, BestOfJob> best;  // of each case
  for (const std::size_t cell : study.own_cells()) {
    const std::vector<RunResult>& runs = (*results)[cell];
    for (std::size_t run = 0; run < runs.size(); ++run) {
      study.write_row(cell, run, values_of(runs[run]));
    }
    const CellResult all = summarize(runs);
    std::vector<std::string> row = cells[cell].labels;
    best[row.front()].see(row.back(), all);
    for (const std::string& text : texts_of(runs, all)) row.push_back(text);
    table.rows.push_back(row);
    all_runs += runs.size();
    before_outage += done_before_outage(cells[cell].options, runs);
  }
  if (study.is_share()) return study.finish();
  print_overruling(asked.given, asked.strategies);
  study.show(table);
  for (const auto& [title, its] : best) {
    if (asked.strategies.size() < 2 || its.strategy.empty()) continue;
    say({cases.size() > 1 ? "job-best-of-case" : "job-best",
         {{"strategy", its.strategy},
          {"time", *its.result.makespan},
          {"share", ShareOf{its.result.throttled_share.value_or(0)}},
          {"case", title}}});
  }
  if (!stays.empty()) {
    say({"job-stays", {{"options", list_words({stays.begin(), stays.end()}, " ")}}});
  }
  if (before_outage > 0) {
    say({"job-before-outage",
         {counted("count", before_outage),
          {"runs", count_words(static_cast<double>(all_runs), "run")}}});
  }
  return study.finish();
}

}  // namespace

const Command kJobStudy{
    "job",
    "Compares strategies in a job of 400 tasks of 2,000 calls, against a table whose capacity\nfollows "
    "its use late: up to 200 workers, one more each 10 s or each 3 s. With options of your own\nit is "
    "one job, in which what is not given stays as it is: with --tasks each of them is one call, with\n"
    "--rate-limit, --service, --workers or --service-time there is nothing of the table.",
    "retrystorm job --tasks=100 --calls=5000 --clients=50 --autoscale=on-demand",
    run_command<JobOptions, declare, job>};

}  // namespace retrystorm
