// Sweeps: either refused with a sentence, or a list of values within the allowed length. A strategy with
// a slash or a dot is the path of a file, which is hardly there.
#include "study/sweep.h"

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "common/exit_code.h"
#include "simulator/scenario_options.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace retrystorm;
  static ScenarioOptions scenario;
  static OptionList options;
  static const bool ready = (declare_options(options, scenario), true);
  try {
    const Axis axis = parse_axis(options, {reinterpret_cast<const char*>(data), size});
    if (!ready || axis.values.empty()) std::abort();
  } catch (const UnreadableFile&) {
  } catch (const std::invalid_argument&) {
  }
  return 0;
}
