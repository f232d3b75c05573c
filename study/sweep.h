// The grid of a sweep: the options and their values.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/cli/program.h"
#include "model/base/option_list.h"
#include "model/base/statement.h"
#include "study/named_options.h"

namespace retrystorm {

struct ListedStrategy {
  std::string name;                        // for a file: its path, as typed
  std::optional<NamedOptions> settings{};  // for a file, by the options' names
};

// Reads V1,V2,...: names of strategies, "all" for every named one, and paths of settings files, which
// contain a dot or a slash. Each is listed once. Throws UnreadableFile, or std::invalid_argument
// with a readable message.
std::vector<ListedStrategy> parse_strategies(std::string_view list);

// Are these two ways to set the same, such as --max-retries and --max-attempts?
bool is_other_form(const Option& one, const Option& other);

// The options with this strategy in place of theirs. Options that were set already, in any form, override
// the settings of a file.
NamedOptions with_strategy(NamedOptions options, const ListedStrategy& strategy);

// One swept option.
struct Axis {
  std::string name;  // as on the command line, without the dashes
  std::vector<std::string> values;
  bool range = false;  // evenly spaced: if both ends are valid, all values are
  // For values that are files of settings: the settings, by the options' names.
  std::map<std::string, NamedOptions> files{};
};

Axis axis_of(const std::vector<ListedStrategy>& strategies);

// Reads NAME=V1,V2,... or NAME=FROM:TO:STEP for an option of the experiment. TO is included if a step falls on it.
// Strategies are a list as `parse_strategies` reads it. Does not check whether the option takes the values.
// Throws std::invalid_argument with a readable message that begins with `asked`, the option of the axis,
// or UnreadableFile.
Axis parse_axis(const std::string& text, const std::string& asked = "--sweep");

// Which cells of a study are run here: all, one, or part i of n, so that machines share them. The cells of a part are
// not neighbours, which take about as long as each other.
struct CellShare {
  std::size_t number = 0;  // of the cell or the part, counted from 1; 0 = all cells
  std::size_t parts = 0;   // 0 = no parts

  bool is_part() const { return parts > 0; }

  // The cells of the share, in order, of a study that has so many. There may be fewer than parts. Throws
  // std::invalid_argument if there is no such cell.
  std::vector<std::size_t> of(std::size_t cells) const;

  // "part 2/4 of 36 cells", or "cell 3"; empty for all.
  std::string title(std::size_t cells) const;
  // The command for `csv_comment`, behind the title if this is a part.
  std::string titled(const std::string& command, std::size_t cells) const {
    return is_part() ? title(cells) + ": " + command : command;
  }

  // A part needs a seed, because all have the same one. Throws std::invalid_argument.
  void check_seed(bool given) const;
};

// Reads N, or i/n with 1 <= i <= n. Throws std::invalid_argument with a readable message.
CellShare parse_share(std::string_view text);

// All combinations of the axes; the last axis changes fastest.
class Grid {
 public:
  explicit Grid(std::vector<Axis> axes) : axes_(std::move(axes)) {}

  const std::vector<Axis>& axes() const { return axes_; }

  // The options of the axes, and as files call them.
  std::vector<std::string> names() const;
  std::vector<std::string> labels() const;

  // How many cells there are. A double, because it may be huge before it is checked.
  double size() const;

  // The value of each axis in a cell.
  std::vector<std::string> values(std::size_t cell) const;

  // The grid with the cells of this share of it, as `CellShare::of` has them. The axes keep all their values.
  Grid part(const CellShare& share) const;

 private:
  std::vector<Axis> axes_;
  std::size_t first_ = 0, step_ = 1;  // which of the combinations are its cells
};

// Throws std::invalid_argument with a readable message if two axes are the same option.
Grid make_grid(std::vector<Axis> axes);

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
// contradict each other: then this throws std::invalid_argument with a readable message.
void refuse_other_forms(const Grid& grid, const Invocation& invocation);

// Throws as `refuse` does if a given option has no effect in any of the cells. It may have no
// effect in some of them. `named` options, swept or typed, are refused even where they have their default
// value. Other names among them do not count. There must be at least one cell.
void refuse_unused(std::size_t cells,
                   const std::function<ScenarioOptions(std::size_t cell)>& options_of,
                   const std::vector<std::string>& named = {});

}  // namespace retrystorm
