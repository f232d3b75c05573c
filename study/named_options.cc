#include "study/named_options.h"

#include <stdexcept>

#include "model/run/workload.h"

namespace retrystorm {

void apply_options(const OptionList& list, const NamedOptions& options,
                   const std::function<void(const std::string& name, const char* why)>& refused) {
  const auto attempt = [&refused](const std::string& name, const auto& set) {
    try {
      set();
    } catch (const std::invalid_argument& error) {
      refused(name, error.what());
    }
  };
  for (const auto& [name, text] : options) {
    if (list.find(name) == nullptr) {
      attempt(name, [&, &name = name, &text = text] { list.set(name, text); });
    }
  }
  const auto find = [&options](const Option& option) {
    auto found = options.find(option.name);
    for (const std::string& name : option.second_names) {
      if (found == options.end()) found = options.find(name);
    }
    return found;
  };
  NamedOptions implied;
  attempt("", [&] {
    imply(
        [&](std::string_view name) {
          const Option* option = list.find(name);
          return option != nullptr && find(*option) != options.end();
        },
        [&](const std::string& target, const std::string& value) { implied[target] = value; });
  });
  for (const Option& option : list.all()) {
    const auto found = find(option);
    if (const auto value = implied.find(option.name); value != implied.end()) {
      list.set(option.name, value->second);
    }
    if (found == options.end()) continue;
    attempt(found->first, [&] {
      if (!option.same_as.empty() && options.contains(option.same_as)) {
        throw std::invalid_argument(option.name + ": " + option.same_as +
                                    " sets the same: give only one of them");
      }
      list.set(found->first, found->second);
    });
  }
}

void apply_options(const OptionList& list, const NamedOptions& options) {
  apply_options(list, options, [](const std::string&, const char* why) -> void {
    throw std::invalid_argument(why);
  });
}

ScenarioOptions scenario_of(const NamedOptions& options) {
  ListedScenario scenario;
  apply_options(scenario.list, options);
  return std::move(scenario.options);
}

}  // namespace retrystorm
