#include "retrystorm/commands.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <string_view>
#include <vector>

#include "common/cli/program.h"
#include "common/exit_code.h"
#include "common/os/process.h"
#include "common/output/output_queue.h"
#include "model/base/text.h"
#include "simulate/program.h"

namespace retrystorm {
namespace {

// By purpose: ask, compare, translate, trust.
const Command* const kCommands[] = {&kSimulate, &kCheck,    &kRecommend, &kRemedies, &kStrategies,
                                    &kMapStudy, &kJobStudy, &kServiceOf, &kMeasure,  &kCompare,
                                    &kSchedule, &kImport,   &kExport,    &kMerge};

constexpr std::string_view kOverview =
    R"(After an outage, does your service come back, or do its clients' retries keep it down?

  simulate    one run, many runs, sweeps            check      is this policy file safe?
  recommend   better settings for your service      remedies   it is down: what ends it?
  strategies  what gRPC, AWS and others do          map        where it tips over
  job         workers, and a table that follows     service    options from your p99 and load
  measure     settings from a running service       compare    did the day go as they say?
  schedule    the waits of a policy                 import     a policy file as settings
  export      settings as a policy file             merge      parts of a study (--cell)

  retrystorm check my-service-config.json
  retrystorm simulate --workers=64 --service-time=80ms --rate=400 --outage-for=30s --runs=100

retrystorm COMMAND -h, --explain WORD, docs/README.md
)";

}  // namespace

const Command kSimulate{
    "simulate", "One run, many runs, or a sweep of settings.", "",
    [](const Command&, int argc, const char* const* argv) { return run_simulate(argc, argv, 2); }};

int run_commands(int argc, const char* const* argv) {
  occupy_standard_descriptors();
  const std::string_view word = argc > 1 ? argv[1] : "";
  const std::string_view helped = argc > 2 && (word == "--help" || word == "-h") ? argv[2] : "";
  std::vector<std::string_view> names;
  for (const Command* command : kCommands) {
    if (command->name == word) return command->run(*command, argc, argv);
    if (command->name == helped) {
      const char* const help[] = {argv[0], argv[2], "--help"};
      return command->run(*command, 3, help);
    }
    names.emplace_back(command->name);
  }
  const PlainText plain(std::cerr);
  if (argc < 2) {
    std::cout << kOverview;
    return flush_standard_output() ? kExitHolds : kExitFault;
  }
  if (!word.empty() && word[0] != '-') {
    std::cerr << unknown_name(word, names) << " (see --help)\n";
    return static_cast<int>(CLI::ExitCodes::ExtrasError);
  }
  CLI::App app("Studies of many simulated runs, and retry policies in other programs' files.");
  set_up_help(app);
  for (const Command* command : kCommands) app.add_subcommand(command->name, command->about);
  return parse(app, argc, argv).value_or(0);
}

}  // namespace retrystorm
