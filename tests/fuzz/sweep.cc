// Sweeps: refused in a sentence, or a list of values that is not longer than it may be.
#include "simulator/sweep.h"

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "simulator/options.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace retrystorm;
  static CLI::App app;
  static SimulatorOptions options;
  static const bool ready = (add_simulator_options(app, options), true);
  try {
    const Axis axis = parse_axis(app, {reinterpret_cast<const char*>(data), size});
    if (!ready || axis.values.empty()) std::abort();
  } catch (const std::runtime_error&) {
  }
  return 0;
}
