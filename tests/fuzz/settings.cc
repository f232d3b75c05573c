// Files of settings (--config): either refused with a usage error, or read, printed and made into a run. Their names that
// no option has are told. The same as files of a swept strategy.
#include <CLI/CLI.hpp>
#include <optional>
#include <sstream>

#include "common/cli/settings_file.h"
#include "simulate/program.h"
#include "tests/fuzz/target.h"

void retrystorm::fuzz(std::string_view text) {
  CLI::App app;
  SimulatorOptions options;
  set_up_app(app);
  add_simulator_options(app, options);
  const std::string whole(text);
  std::istringstream file(whole), strategy(whole);
  try {
    settings_reader([](const std::string&) { return std::nullopt; })->from_config(strategy);
  } catch (const CLI::Error&) {
  }
  try {
    app.parse_from_stream(file);
    apply_in_order(app);
  } catch (const CLI::ParseError&) {
    return;
  }
  options_json(app);
  try {
    make_scenario(options, 1);
  } catch (const std::runtime_error&) {
  } catch (const std::invalid_argument&) {
  }
}
