// The common part of the commands of `retrystorm`: what they read of the command line.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/cli/program.h"
#include "common/os/foreign_file.h"
#include "model/base/duration.h"
#include "model/base/text.h"
#include "policies/tree.h"
#include "retrystorm/commands.h"
#include "simulator/scenario_options.h"
#include "study/named_options.h"
#include "study/study.h"
#include "study/sweep.h"

namespace retrystorm {

// The options that make a disturbance.
inline const std::vector<std::string> kSetByDisturbances{"outage", "outage-for"};

struct StudyDisturbance {
  std::string title;
  bool outage;  // is there an outage, so that there is a verdict?
  NamedOptions options{};
  bool brief = false;  // are retries meant to save its requests? Only then their failures cost
};

// Those in which studies put all policies.
inline const std::vector<StudyDisturbance>& disturbances() {
  static const std::vector<StudyDisturbance> all{
      {"frozen 1 s", true, {{"outage-for", "1s"}}, true},
      {"frozen 10 s", true, {{"outage-for", "10s"}}},
      {"frozen 60 s", true, {{"outage-for", "60s"}}},
      {"errors 10 %", false, {{"outage-for", "0s"}, {"error-share", "0.1"}}, true},
      {"errors 50 %", false, {{"outage-for", "0s"}, {"error-share", "0.5"}}}};
  return all;
}

// These disturbances with the outage among the options, which is taken out of them, in place of the freezes. Throws
// std::invalid_argument if that is none.
std::vector<StudyDisturbance> with_own_outage(NamedOptions& given);

// How long a run is to go on after an outage so that it decides: its --observe, or twice as long as the queue of
// the outage takes to drain, if that is longer. At most 5 minutes, so that a storm does not cost more.
Duration until_drained(const ScenarioOptions& scenario);

// With `--cell`. `own`: options that the study sets itself. They are not in the help, and `given_to_study` refuses them.
void add_study_options(CLI::App& app, StudyOptions& options,
                       const std::vector<std::string>& own = {});

// Adds `--max-time`.
void add_max_time(CLI::App& app, StudyOptions& options);

// Adds `--csv`, `--markdown` and `--json`.
void add_study_files(CLI::App& app, TableFiles& table, std::string& json);

// Adds `--strategies`, a list as `parse_strategies` reads it, which may also be arguments: `retrystorm strategies fixed
// grpc mine.ini`.
void add_strategies(CLI::App& app, std::string& list,
                    const std::string& about = "the strategies to compare",
                    const std::string& if_not_given = "");

// The options of the experiment that were given, for all cells. Throws std::invalid_argument if one of
// `own` is among them, because the study sets these itself.
NamedOptions given_to_study(const CLI::App& app, const std::vector<std::string>& own);

// The strategies that a study compares, and the options for all of them.
struct Compared {
  std::vector<ListedStrategy> strategies;  // none if there is no list
  NamedOptions given;
};

// Throws as `given_to_study` and `parse_strategies` do, also if a file has one of `own_in_files`.
Compared compared(const Invocation& invocation, const std::string& list,
                  const std::vector<std::string>& own,
                  const std::vector<std::string>& own_in_files);

// Prints which of these options override those of each strategy that is compared, and what files among the strategies
// set besides a policy.
void print_overruling(const NamedOptions& given, const std::vector<ListedStrategy>& strategies = {},
                      const std::string& whose = "every strategy");

// The data from which scripts draw a picture, as files in a folder. Without a name, nothing is written.
void add_picture_data(CLI::App& app, std::string& folder);

// A line of the file `runs` in that folder: the name of a run, and the options with which `simulate` makes
// it, separated by tabs.
std::string run_line(std::string name, const NamedOptions& options, std::uint64_t seed);

// Calls `read`, which reads what is in the file of this path. Throws UnreadableFile, with the path before the message, if
// that throws BadFile or std::invalid_argument.
template <typename Read>
auto in_file(const std::string& path, const Read& read) try {
  return read();
} catch (const BadFile& error) {
  throw UnreadableFile(printable(path) + ": " + error.what());
} catch (const std::invalid_argument& error) {
  throw UnreadableFile(printable(path) + ": " + error.what());
}

// How a command runs whose options are `Options`: like `run_program`.
template <typename Options, void (*declare)(CLI::App&, Options&),
          int (*work)(const Invocation&, const Options&)>
int run_command(const Command& command, int argc, const char* const* argv) {
  return run_program<Options>(command.about, "try a smaller --scale, fewer --runs or --threads",
                              argc, argv, declare, work, nullptr, command.example, 2);
}

}  // namespace retrystorm
