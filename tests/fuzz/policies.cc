// Files of other programs, as each of their readers has them: refused in a line, or policies whose settings
// can be read and run, with findings of one line.
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "policies/policy.h"
#include "policies/readers.h"
#include "simulator/scenario_options.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace retrystorm;
  PolicyFile file;
  try {
    constexpr std::size_t kReaders = static_cast<std::size_t>(ReadAs::kEnvoyGateway) + 1;
    file = read_policies({reinterpret_cast<const char*>(data), size},
                         static_cast<ReadAs>(size % kReaders));
  } catch (const BadFile& error) {
    if (std::string(error.what()).find('\n') != std::string::npos) std::abort();
    return 0;
  }
  for (const Policy& policy : file.policies) {
    for (const Note& each : findings_of(policy)) {
      if (each.text.find('\n') != std::string::npos) std::abort();
    }
    if (policy.refused) continue;
    const std::string settings = settings_text(file, policy, "file");
    ScenarioOptions scenario;
    OptionList list;
    declare_options(list, scenario);
    list.apply(settings);  // what is printed is a settings file
    if (!unused_options(scenario).empty()) std::abort();
  }
  return 0;
}
