// Files of settings (--config): refused by an error of CLI11, or read.
#include <cstdint>
#include <sstream>
#include <string>

#include "simulator/options.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace retrystorm;
  CLI::App app;
  SimulatorOptions options;
  set_up_app(app);
  add_simulator_options(app, options);
  std::istringstream file(std::string(reinterpret_cast<const char*>(data), size));
  try {
    app.parse_from_stream(file);
  } catch (const CLI::Error&) {
  }
  return 0;
}
