// What every program does in addition to its work: reads its options, and prints errors.
#pragma once

namespace CLI {
class App;
}

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/cli/options.h"

namespace retrystorm {

// How a program was started.
struct Invocation {
  CLI::App& app;                       // parsed
  std::string command;                 // see `command_line`
  std::string results_command;         // see `results_command_line`
  std::vector<std::string> arguments;  // see `arguments`
};

// What a program does with its options.
struct ProgramSteps {
  std::function<void(CLI::App&)> declare;
  std::function<void(CLI::App&)> declare_defaults;  // the same options, with separate variables
  std::function<void(const Invocation&)> check;     // may be empty
  std::function<int(const Invocation&)> work;
};

// See the other `run_program`.
int run_program(const std::string& about, const std::string& thrift, int argc,
                const char* const* argv, const ProgramSteps& steps, const std::string& example,
                int first);

// Parses the command line into `Options`, as declared by `declare`, and runs `work`, or prints the
// settings if the user asked for them. `check` throws if options contradict each other. The help
// contains the `example`, if there is one. The options begin at argument number `first`; the
// arguments before that are the program's name. Returns the exit code (see exit_code.h): what `work`
// returns, or the code for the exception that ended it, whose message is printed.
// std::invalid_argument stands for wrong options. `thrift` says how to use less memory and fewer
// threads; it is part of the message when one of them runs out.
template <typename Options>
int run_program(const std::string& about, const std::string& thrift, int argc,
                const char* const* argv, void (*declare)(CLI::App&, Options&),
                int (*work)(const Invocation&, const Options&),
                void (*check)(const Invocation&, const Options&) = nullptr,
                const std::string& example = "", int first = 1) {
  Options options;
  Options defaults;
  ProgramSteps steps;
  steps.declare = [&](CLI::App& app) { declare(app, options); };
  steps.declare_defaults = [&](CLI::App& app) { declare(app, defaults); };
  if (check != nullptr) {
    steps.check = [&](const Invocation& invocation) { check(invocation, options); };
  }
  steps.work = [&](const Invocation& invocation) { return work(invocation, options); };
  return run_program(about, thrift, argc, argv, steps, example, first);
}

// Parses arguments whose long options have two dashes, and applies them with `apply_in_order`. Throws CLI::ParseError
// for the first error, and for help that was asked for, and UnreadableFile.
void parse_words(CLI::App& app, const std::vector<std::string>& words);

// Parses the arguments from number `first` on; the arguments before that are the program's name.
// Long options may be typed with one dash, as in Go. Returns the exit code if the program must end
// now (help, version, bad usage).
std::optional<int> parse(CLI::App& app, int argc, const char* const* argv, int first = 1);

// The lines of an error message. If a line begins with the name of an option, it is replaced by the name
// that the user typed, because another name would be confusing.
std::string as_typed(const CLI::App& app, const std::string& message, int argc,
                     const char* const* argv);

}  // namespace retrystorm
