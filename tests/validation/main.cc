// The program of scripts/validate: does the simulator agree with closed forms and published figures?
#include <CLI/CLI.hpp>
#include <algorithm>
#include <iomanip>
#include <iostream>
#include <string>
#include <thread>
#include <vector>

#include "common/cli/options.h"
#include "common/cli/program.h"
#include "common/exit_code.h"
#include "common/os/process.h"
#include "common/output/output_queue.h"
#include "study/rows.h"
#include "tests/validation/validation.h"

namespace retrystorm {
namespace {

using validation::Cells;
using validation::Finding;

struct ValidateOptions {
  std::size_t seeds = validation::kUsualSeeds;
  std::size_t threads = 0;
  std::string table;
};

void declare(CLI::App& app, ValidateOptions& options) {
  auto* run = option_group(app, "Run");
  // More would overlap with the seeds of the next case.
  add_count(*run, "--seeds", options.seeds, "how many seeds each case has", 2, 99)->group("Run");
  add_threads(*run, options.threads)->group("Run");
  add_text(*run, "--write", options.table,
           "write the table into this file, as CSV: docs/validation.csv")
      ->group("Run");
}

void print(const Cells& cells) {
  // "±" has two bytes and one column.
  const bool titles = cells == validation::kTitles;
  std::cout << std::right << std::setw(3) << cells[0] << "  " << std::left << std::setw(74)
            << cells[1] << std::right << ' ' << std::setw(10) << cells[2] << ' ' << std::setw(10)
            << cells[3] << ' ' << std::setw(titles ? 10 : 9) << cells[4] << "  " << cells[5]
            << '\n';
}

int validate(const Invocation&, const ValidateOptions& options) {
  LineFile table(options.table);  // before minutes of work
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  const std::vector<Finding> findings = validation::validate(
      validation::cases(), options.seeds, options.threads > 0 ? options.threads : cores);
  print(validation::kTitles);
  table.write(validation::csv_line(validation::kTitles));
  for (const Finding& each : findings) {
    print(validation::cells(each));
    table.write(validation::csv_line(validation::cells(each)));
  }
  if (!flush_standard_output()) return 1;
  const auto agrees = [](const Finding& each) { return each.agrees; };
  if (std::all_of(findings.begin(), findings.end(), agrees)) return 0;
  if (std::all_of(findings.begin(), findings.end(),
                  [](const Finding& each) { return each.agrees || each.undecided; })) {
    std::cerr << "too few seeds to tell whether all agree\n";
    return kExitUndecided;
  }
  std::cerr << "not all agree\n";
  return kExitBroken;
}

}  // namespace
}  // namespace retrystorm

int main(int argc, char** argv) {
  using retrystorm::ValidateOptions;
  retrystorm::occupy_standard_descriptors();
  return retrystorm::run_program<ValidateOptions>(
      "Compares the simulator with closed forms and published figures: docs/validation.md says\n"
      "which. Ends with 3 if a case does not agree, and with 4 if there are too few "
      "seeds to tell.",
      "try fewer --threads", argc, argv, retrystorm::declare, retrystorm::validate);
}
