// What every program does around its work: reads its options, and tells what went wrong.
#pragma once

#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "common/cli/options.h"
#include "common/cli/settings_file.h"
#include "common/output/output_queue.h"

namespace retrystorm {

// How a program was started.
struct Invocation {
  CLI::App& app;                       // parsed
  std::vector<std::string> arguments;  // see `arguments`
  std::string command;                 // see `command_line`
};

// Parses the command line into `Options` as `declare` has them, and runs `work`, or prints the
// settings if that is asked for. `check` throws when options contradict each other. Returns the
// exit code: CLI11's for bad usage, 1 with the sentence of an exception that ends the work.
template <typename Options>
int run_program(const std::string& about, int argc, const char* const* argv,
                void (*declare)(CLI::App&, Options&),
                int (*work)(const Invocation&, const Options&),
                void (*check)(const Options&) = nullptr) {
  CLI::App app(about);
  Options options;
  set_up_app(app);
  declare(app, options);
  if (const auto code = parse(app, argc, argv)) return *code;
  try {
    if (check != nullptr) check(options);
    if (wants_settings(app)) {
      CLI::App usual;
      Options defaults;
      set_up_app(usual);
      declare(usual, defaults);
      print_settings(std::cout, app, usual);
      return flush_standard_output() ? 0 : 1;
    }
    return work({app, arguments(argc, argv), command_line(argc, argv)}, options);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

}  // namespace retrystorm
