// Files of settings (--config): either refused with a usage error, or read, printed and made into a run.
#include <CLI/CLI.hpp>
#include <cstdint>
#include <sstream>
#include <stdexcept>
#include <string>

#include "simulate/options.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace retrystorm;
  CLI::App app;
  SimulatorOptions options;
  set_up_app(app);
  add_simulator_options(app, options);
  std::istringstream file(std::string(reinterpret_cast<const char*>(data), size));
  try {
    app.parse_from_stream(file);
    apply_in_order(app);
  } catch (const CLI::ParseError&) {
    return 0;
  }
  options_json(app);
  try {
    make_scenario(options, 1);
  } catch (const std::runtime_error&) {
  } catch (const std::invalid_argument&) {
  }
  return 0;
}
