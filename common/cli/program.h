// What every program does around its work: reads its options, and tells what went wrong.
#pragma once

#include <CLI/CLI.hpp>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "common/cli/options.h"

namespace retrystorm {

// How a program was started.
struct Invocation {
  CLI::App& app;                       // parsed
  std::vector<std::string> arguments;  // see `arguments`
  std::string command;                 // see `command_line`
};

// Parses the command line into `Options` as `declare` has them, and runs `work`. Returns the exit
// code: CLI11's for bad usage, 1 with the sentence of an exception that ends the work.
template <typename Options>
int run_program(const std::string& about, int argc, const char* const* argv,
                void (*declare)(CLI::App&, Options&),
                int (*work)(const Invocation&, const Options&)) {
  CLI::App app(about);
  Options options;
  set_up_app(app);
  declare(app, options);
  if (const auto code = parse(app, argc, argv)) return *code;
  try {
    return work({app, arguments(argc, argv), command_line(argc, argv)}, options);
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return 1;
  }
}

}  // namespace retrystorm
