#include "study/strategy_list.h"

#include <algorithm>
#include <stdexcept>

#include "common/read_settings.h"
#include "model/base/text.h"
#include "model/retry/strategies.h"

namespace retrystorm {
namespace {

const std::string kAll = "all";

bool is_file(std::string_view name) {
  return name.find_first_of("./") != std::string_view::npos;
}

NamedOptions read_file(const OptionList& options, const std::string& path) {
  NamedOptions settings;
  for (const auto& [name, text] : read_settings(path, options)) {
    try {
      options.set(name, text);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(path + ": " + error.what());
    }
    settings[options.find(name)->name] = text;
  }
  return settings;
}

void check_name(std::string_view name) {
  if (find_strategy(name) != nullptr) return;
  std::vector<std::string_view> known;
  for (const NamedStrategy& each : named_strategies()) known.push_back(each.name);
  known.emplace_back(kAll);
  throw std::invalid_argument(unknown_name(name, known) +
                              "; the path of a settings file contains a dot or a slash");
}

}  // namespace

std::vector<ListedStrategy> parse_strategies(const OptionList& options, std::string_view list) {
  std::vector<ListedStrategy> strategies;
  const auto add = [&](std::string_view name) {
    const bool listed = std::any_of(strategies.begin(), strategies.end(),
                                    [name](const auto& each) { return each.name == name; });
    if (listed) return;
    ListedStrategy strategy{.name = std::string(name)};
    if (is_file(name)) {
      strategy.settings = read_file(options, strategy.name);
    } else {
      check_name(name);
    }
    strategies.push_back(std::move(strategy));
  };
  for (const auto each : split(list, ',')) {
    if (each != kAll) {
      add(each);
      continue;
    }
    for (const NamedStrategy& named : named_strategies()) add(named.name);
  }
  return strategies;
}

void set_strategy(NamedOptions& options, const ListedStrategy& strategy) {
  if (!strategy.settings) {
    options["strategy"] = strategy.name;
    return;
  }
  const ListedScenario any;
  options.erase("strategy");
  const NamedOptions given = options;
  for (const auto& [name, text] : *strategy.settings) {
    const Option& option = *any.list.find(name);
    const bool overruled = std::any_of(given.begin(), given.end(), [&](const auto& each) {
      const Option& other = *any.list.find(each.first);
      return other.name == option.name || other.same_as == option.name ||
             option.same_as == other.name;
    });
    if (!overruled) options[option.name] = text;
  }
}

}  // namespace retrystorm
