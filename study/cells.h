// The options of each cell of a sweep.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "model/base/statement.h"
#include "study/named_options.h"
#include "study/strategy_list.h"
#include "study/sweep.h"

namespace retrystorm {

// The given options, with the grid's values for the swept options. These replace given values, in
// any form of the option. For an option that can be given several times, they are added.
NamedOptions with_values(const NamedOptions& given, const Grid& grid,
                         const std::vector<std::string>& values);

// The scenario with these options. Throws std::invalid_argument as `scenario_of` does.
ScenarioOptions cell_options(const NamedOptions& given, const Grid& grid,
                             const std::vector<std::string>& values);

// The given options that override those of each strategy that is compared; what files of settings among the strategies
// set besides a policy, unless it was given; and what they set besides, and was given with another value.
Statements overruled(const NamedOptions& given, const std::vector<ListedStrategy>& strategies = {},
                     const std::string& whose = "every strategy");

// Checks the values of each axis before anything runs. Throws std::invalid_argument with a readable
// message.
void check_values(const NamedOptions& given, const Grid& grid);

// A swept option overrides another form of itself in a settings file. On the command line the two forms
// contradict each other: then this throws std::invalid_argument with a readable message. `typed` returns
// true for the names of options on the command line.
void refuse_other_forms(const OptionList& options, const Grid& grid,
                        const std::function<bool(const std::string& name)>& typed);

// Throws as `refuse` does if a given option has no effect in any of the cells. It may have no
// effect in some of them. `named` options, swept or typed, are refused even where they have their default
// value. Other names among them do not count. There must be at least one cell.
void refuse_unused(std::size_t cells,
                   const std::function<ScenarioOptions(std::size_t cell)>& options_of,
                   const std::vector<std::string>& named = {});

}  // namespace retrystorm
