// Files of other programs, as each of their readers has them: refused in a line, or policies whose settings
// can be read and run, with findings of one line.
#include "policies/policy.h"
#include "policies/readers.h"
#include "simulator/scenario_options.h"
#include "tests/fuzz/target.h"

void retrystorm::fuzz(std::string_view text) {
  PolicyFile file;
  try {
    constexpr std::size_t kReaders = static_cast<std::size_t>(ReadAs::kEnvoyGateway) + 1;
    file = read_policies(text, static_cast<ReadAs>(text.size() % kReaders));
  } catch (const BadFile& error) {
    expect_one_line(error.what());
    return;
  }
  for (const Policy& policy : file.policies) {
    for (const Note& each : findings_of(policy)) {
      expect_one_line(each.text);
    }
    if (policy.refused) continue;
    const std::string settings = settings_text(file, policy, "file");
    ScenarioOptions scenario;
    OptionList list;
    declare_options(list, scenario);
    list.apply(settings);  // what is printed is a settings file
    if (!unused_options(scenario).empty()) std::abort();
  }
}
