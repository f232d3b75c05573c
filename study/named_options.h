// Options by name, without a command line: those of a sweep's cell or of the explorer's page.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/base/option_list.h"
#include "simulator/scenario_options.h"

namespace retrystorm {

// Texts by the options' names.
using NamedOptions = std::map<std::string, std::string, std::less<>>;

// The text of one of them, or `otherwise`.
std::string value_or(const NamedOptions& options, std::string_view name, const char* otherwise);

// Sets the options in the order of their declarations, as the command line does. `refused` gets the
// name of each option that cannot be set, and the reason.
void apply_options(const OptionList& list, const NamedOptions& options,
                   const std::function<void(const std::string& name, const char* why)>& refused);

// The same, but throws std::invalid_argument, with the command line's message, if a value is
// refused, an option is unknown, or two options contradict each other.
void apply_options(const OptionList& list, const NamedOptions& options);

// Settings with their options by name: to look names up, or to read and set the values of `options`.
template <typename Options>
struct Listed {
  explicit Listed(Options of = {}) : options(std::move(of)) { declare_options(list, options); }
  Listed(const Listed&) = delete;
  Listed& operator=(const Listed&) = delete;

  Options options;
  OptionList list{};
};
using ListedScenario = Listed<ScenarioOptions>;

// The scenario with these options. Throws as `apply_options` does.
ScenarioOptions scenario_of(const NamedOptions& options);

// The values of an option that are worth trying.

// True for a number, a count or a duration.
bool is_measured(const Option& option);

// The number that this text is for a measured option, of a duration the seconds. Throws std::invalid_argument.
double measured(const Option& option, std::string_view text);

// The values that people try, in ascending order and as the option's `set` reads them. They include
// `default_text`, and 0 and "none" if these have a special meaning. Empty if the option is not
// measured.
std::vector<std::string> domain(const Option& option, const std::string& default_text);

}  // namespace retrystorm
