#include "retrystorm/commands.h"

#include <CLI/CLI.hpp>
#include <iostream>
#include <string_view>
#include <vector>

#include "common/cli/parse.h"
#include "common/os/process.h"
#include "common/output/plain_text.h"
#include "model/base/text.h"

namespace retrystorm {
namespace {

const Command* const kCommands[] = {&kStrategies, &kRemedies, &kMapStudy, &kJobStudy,
                                    &kSchedule,   &kValidate, &kCheck,    &kRecommend,
                                    &kImport,     &kExport,   &kService};

}  // namespace

int run_commands(int argc, const char* const* argv) {
  occupy_standard_descriptors();
  const std::string_view word = argc > 1 ? argv[1] : "";
  std::vector<std::string_view> names;
  for (const Command* command : kCommands) {
    if (command->name == word) return command->run(*command, argc, argv);
    names.emplace_back(command->name);
  }
  const PlainText plain(std::cerr);
  if (!word.empty() && word[0] != '-') {
    std::cerr << unknown_name(word, names) << " (see --help)\n";
    return static_cast<int>(CLI::ExitCodes::ExtrasError);
  }
  CLI::App app("Studies of many simulated runs, and retry policies in other programs' files.");
  set_up_help(app);
  for (const Command* command : kCommands) app.add_subcommand(command->name, command->about);
  app.require_subcommand();
  return parse(app, argc, argv).value_or(0);
}

}  // namespace retrystorm
