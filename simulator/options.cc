#include "simulator/options.h"

#include <chrono>
#include <stdexcept>

#include "model/run/recovery.h"

namespace retrystorm {

void add_simulator_options(CLI::App& app, SimulatorOptions& options) {
  OptionList list;
  declare_options(list, options);
  add_options(app, list);
  add_strategy_flags(app, options.workload);

  auto* many = app.add_option_group("Many runs");
  add_count(*many, "--runs", options.runs, "runs of each cell, with seeds counted up from --seed",
            1, 10'000'000)
      ->group("Run");
  add_count(*many, "--threads", options.threads, "threads that share the runs; 0 = one a core", 0,
            4096);
  many->add_option("--sweep", options.sweeps,
                   "NAME=V1,V2,... or NAME=FROM:TO:STEP: a cell for each value; repeated: a cell "
                   "for each combination; strategy=all: each that has a name")
      ->type_name("TEXT")
      ->group("Run")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  many->add_flag("--list-cells", options.list_cells,
                 "print the cells of the sweep as CSV, in their order, and run nothing");
  add_count(
      *many, "--cell", options.cell,
      "run this cell of the sweep alone, counted from 1 in the order of --list-cells, for who "
      "shares the cells among machines; 0 = all",
      0, 1'000'000'000);
  add_text(*many, "--csv", options.table.csv, "write the table to this file, with all its figures");
  add_text(*many, "--markdown", options.table.markdown,
           "write the table to this file, as Markdown");

  auto* hidden = app.add_option_group("Hidden capacity");
  hidden->add_flag("--hidden-capacity", options.hidden_capacity,
                   "find to what share its load must be cut for the service to come back from the "
                   "outage, by bisection with each of --runs seeds (20 if that is 1)");
  add_duration(*hidden, "--relief-after", options.relief.after,
               "from the outage's end until the load is cut");
  add_duration(*hidden, "--relief-for", options.relief.hold,
               "time within which the service must then come back", 4 * RecoveryTracker::kWindow);

  auto* report = app.add_option_group("Report");
  add_duration(*report, "--report-interval", options.report_interval,
               "virtual time between the lines", std::chrono::milliseconds(1));
  add_duration(*report, "--server-report-interval", options.server_report_interval,
               "virtual time between the server's lines", std::chrono::milliseconds(1));
  report->add_flag("--server-lines", options.server_lines, "print the server's lines too");
  add_text(*report, "--json", options.json, "write JSON Lines to this file")->group("Run");
  add_trace(*report, options.trace);
  add_text(*report, "--server-json", options.server_json,
           "write the server's JSON Lines to this file");
}

void check(const SimulatorOptions& options) {
  check_trace(options.trace, options.json);
  if (options.hidden_capacity) {
    if (options.outage_length() == Duration::zero()) {
      throw std::invalid_argument("--hidden-capacity needs an outage that brings the service down");
    }
    if (options.observe != SimulatorOptions().observe) {
      throw std::invalid_argument("observe has no effect with --hidden-capacity: see --relief-for");
    }
    if (!options.sweeps.empty()) {
      throw std::invalid_argument(
          "--hidden-capacity is found for one set of options: it excludes --sweep");
    }
  } else if (options.relief != ReliefOptions()) {
    throw std::invalid_argument(
        "relief-after and relief-for have no effect without --hidden-capacity");
  }
  if (!options.sweeps.empty()) return;
  check(options.workload.retry);
  refuse(unused_options(options));
}

}  // namespace retrystorm
