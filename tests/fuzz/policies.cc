// Files of other programs: refused in a line, or policies whose settings can be read and run.
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "policies/import.h"
#include "simulator/scenario_options.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace retrystorm;
  PolicyFile file;
  try {
    file = read_policies({reinterpret_cast<const char*>(data), size});
  } catch (const BadFile& error) {
    if (std::string(error.what()).find('\n') != std::string::npos) std::abort();
    return 0;
  }
  for (const Policy& policy : file.policies) {
    if (policy.refused) continue;
    const std::string settings = settings_text(file, policy, "file");
    ScenarioOptions scenario;
    OptionList list;
    declare_options(list, scenario);
    list.apply(settings);  // what is printed is a settings file
    UnusedOptions unused;
    find_unused(unused, scenario);
    if (!unused.empty()) std::abort();
  }
  return 0;
}
