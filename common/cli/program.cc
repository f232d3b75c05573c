#include "common/cli/program.h"

#include <CLI/CLI.hpp>
#include <csignal>
#include <exception>
#include <iostream>
#include <new>
#include <stdexcept>
#include <system_error>

#include "common/cli/options.h"
#include "common/cli/parse.h"
#include "common/cli/settings_file.h"
#include "common/exit_code.h"
#include "common/output/output_queue.h"

namespace retrystorm {

int run_program(const std::string& about, const std::string& thrift, int argc,
                const char* const* argv, const ProgramSteps& steps, const std::string& example,
                int first) {
  // Without this, a write beyond the limit on the length of files (ulimit -f) would end the program.
  // Now it fails like a write to a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  const PlainText out(std::cout), err(std::cerr);
  CLI::App app(about);
  app.footer(example);
  set_up_app(app);
  steps.declare(app);
  const Invocation invocation{app, command_line(argc, argv), results_command_line(argc, argv),
                              arguments(argc, argv, first)};
  const auto contradictions = [&] {
    Contradictions wrong;
    add_exclusions(wrong, app);
    try {
      if (steps.check) steps.check(invocation);
    } catch (const std::invalid_argument& error) {
      wrong.add(error.what());
    }
    return wrong;
  };
  if (const auto code = parse(app, argc, argv, first, contradictions)) return *code;
  try {
    contradictions().refuse();
    if (wants_settings(app)) {
      CLI::App default_app;
      set_up_app(default_app);
      steps.declare_defaults(default_app);
      print_settings(std::cout, app, default_app);
      return flush_standard_output() ? kExitHolds : kExitFault;
    }
    return steps.work(invocation);
  } catch (const std::bad_alloc&) {
    std::cerr << "there is not enough memory: " << thrift << ", or a higher limit (ulimit -v)\n";
    return kExitFault;
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::resource_unavailable_try_again) {
      std::cerr << "the system gives this program no more threads: " << thrift
                << ", or higher limits (ulimit -u, ulimit -v)\n";
    } else {
      std::cerr << error.what() << '\n';
    }
    return kExitFault;
  } catch (const std::invalid_argument& error) {
    std::cerr << as_typed(app, error.what(), argc, argv);
    return kExitWrongOptions;
  } catch (const UnreadableFile& error) {
    std::cerr << error.what() << '\n';
    return kExitUnreadable;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return kExitFault;
  }
}

}  // namespace retrystorm
