#include "study/cells.h"

#include <optional>
#include <stdexcept>

#include "model/retry/retry_settings.h"
#include "study/strategy_list.h"
#include "words/words.h"

namespace retrystorm {

Statements overruled(const NamedOptions& given, const std::vector<ListedStrategy>& strategies,
                     const std::string& whose) {
  RetrySettings settings;
  OptionList of_strategy;
  declare_options(of_strategy, settings);
  std::vector<std::string> overriding, brought, left;
  for (const Option& option : of_strategy.all()) {
    const auto found = given.find(option.name);
    if (option.name == "strategy" || found == given.end()) continue;
    overriding.push_back(option.name + '=' + found->second);
  }
  for (const ListedStrategy& each : strategies) {
    if (!each.settings) continue;
    NamedOptions with = given;
    set_strategy(with, each);
    std::vector<std::string> in_force, not_in_force;
    for (const auto& [name, value] : *each.settings) {
      if (of_strategy.find(name) != nullptr) continue;
      const auto found = given.find(name);
      if (found != given.end() && found->second == value) continue;
      const bool holds = found == given.end() && with.contains(name);
      (holds ? in_force : not_in_force).push_back(name + '=' + value);
    }
    const auto add = [&each](std::vector<std::string>& all, const std::vector<std::string>& list) {
      if (list.empty()) return;
      all.push_back(words_of({"file-has", {{"file", each.name}, {"list", list_words(list)}}}));
    };
    add(brought, in_force);
    add(left, not_in_force);
  }
  Statements all;
  if (!overriding.empty()) {
    all.push_back({"overriding", {{"whose", whose}, {"list", list_words(overriding)}}});
  }
  if (!brought.empty()) all.push_back({"file-brings", {{"list", list_words(brought, "; ")}}});
  if (!left.empty()) all.push_back({"file-not-used", {{"list", list_words(left, "; ")}}});
  return all;
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
