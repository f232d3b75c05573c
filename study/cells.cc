#include "study/cells.h"

#include <optional>
#include <stdexcept>

#include "model/retry/retry_settings.h"
#include "study/strategy_list.h"

namespace retrystorm {

std::string overruling_text(const NamedOptions& given, const std::string& whose) {
  RetrySettings settings;
  OptionList of_strategy;
  declare_options(of_strategy, settings);
  std::string text;
  for (const Option& option : of_strategy.all()) {
    const auto found = given.find(option.name);
    if (option.name == "strategy" || found == given.end()) continue;
    text += (text.empty() ? whose + " with " : ", ") + option.name + '=' + found->second;
  }
  return text;
}

namespace {

// "mine.ini has arrivals=open, rate=190; ...": what files of settings set besides a policy, and that is, or is not, in
// force beside what was given.
std::string besides_a_policy(const std::vector<ListedStrategy>& strategies,
                             const NamedOptions& given, bool in_force) {
  RetrySettings settings;
  OptionList of_strategy;
  declare_options(of_strategy, settings);
  std::string text;
  for (const ListedStrategy& each : strategies) {
    if (!each.settings) continue;
    NamedOptions with = given;
    set_strategy(with, each);
    std::string list;
    for (const auto& [name, value] : *each.settings) {
      if (of_strategy.find(name) != nullptr) continue;
      const auto found = given.find(name);
      const bool same = found != given.end() && found->second == value;
      const bool holds = found == given.end() && with.contains(name);
      if (!same && holds == in_force) list += (list.empty() ? "" : ", ") + name + '=' + value;
    }
    if (!list.empty()) text += (text.empty() ? "" : "; ") + each.name + " has " + list;
  }
  return text;
}

}  // namespace

std::string brought_text(const std::vector<ListedStrategy>& strategies, const NamedOptions& given) {
  const std::string text = besides_a_policy(strategies, given, true);
  return text.empty() ? "" : "more than a policy: " + text;
}

std::string left_text(const std::vector<ListedStrategy>& strategies, const NamedOptions& given) {
  const std::string text = besides_a_policy(strategies, given, false);
  return text.empty() ? "" : "not used, as what you gave holds: " + text;
}

NamedOptions with_values(const NamedOptions& given, const Grid& grid,
                         const std::vector<std::string>& values) {
  const ListedScenario any;
  NamedOptions options = given;
  for (const Axis& axis : grid.axes()) {
    const Option& swept = *any.list.find(axis.name);
    std::erase_if(options, [&](const auto& each) {
      return each.first == swept.same_as || any.list.find(each.first)->same_as == swept.name;
    });
  }
  std::optional<ListedStrategy> file;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const Option& swept = *any.list.find(grid.axes()[i].name);
    const auto found = grid.axes()[i].files.find(values[i]);
    if (found != grid.axes()[i].files.end()) {
      file = ListedStrategy{.name = values[i], .settings = found->second};
      continue;
    }
    std::string& text = options[swept.name];
    const bool added = swept.separator != 0 && !text.empty();
    text = added ? text + swept.separator + ' ' + values[i] : values[i];
  }
  if (file) set_strategy(options, *file);  // last, because all other options override its settings
  return options;
}

ScenarioOptions cell_options(const NamedOptions& given, const Grid& grid,
                             const std::vector<std::string>& values) {
  return scenario_of(with_values(given, grid, values));
}

void check_values(const NamedOptions& given, const Grid& grid) {
  for (const Axis& axis : grid.axes()) {
    std::vector<std::string> values = axis.values;
    // The second value shows whether the step is valid.
    if (axis.range && values.size() > 3) values = {values[0], values[1], values.back()};
    for (const std::string& value : values) {
      const Grid single({{.name = axis.name, .values = {value}, .files = axis.files}});
      try {
        cell_options(given, single, {value});
      } catch (const std::invalid_argument& error) {
        std::string why = error.what();
        if (why.starts_with(axis.name + ": ")) why.erase(0, axis.name.size() + 2);
        throw std::invalid_argument("--sweep " + axis.name + ": " + why);
      }
    }
  }
}

void refuse_other_forms(const OptionList& options, const Grid& grid,
                        const std::function<bool(const std::string& name)>& typed) {
  for (const Axis& axis : grid.axes()) {
    const Option& swept = *options.find(axis.name);
    for (const Option& other : options.all()) {
      if (other.name != swept.same_as && other.same_as != swept.name) continue;
      if (!typed(other.name)) continue;
      throw std::invalid_argument("--" + swept.name + " excludes --" + other.name +
                                  ": give one of them");
    }
  }
}

void refuse_unused(std::size_t cells,
                   const std::function<ScenarioOptions(std::size_t cell)>& options_of,
                   const std::vector<std::string>& named) {
  UnusedOptions unused = unused_options(options_of(0), named);
  for (std::size_t cell = 1; cell < cells && !unused.empty(); ++cell) {
    const UnusedOptions too = unused_options(options_of(cell), named);
    std::erase_if(unused, [&too](const auto& each) { return !too.contains(each.first); });
  }
  refuse(unused);
}

}  // namespace retrystorm
