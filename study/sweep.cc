#include "study/sweep.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <set>
#include <stdexcept>

#include "common/cli/settings_file.h"
#include "model/base/duration.h"
#include "model/base/text.h"
#include "model/retry/retry_settings.h"
#include "model/retry/strategies.h"
#include "words/words.h"

namespace retrystorm {
namespace {

constexpr double kMostValues = 1e5;  // of a range; expanding more would take seconds

double parse_plain(std::string_view text) {
  double value = 0;
  const std::string plain = plain_number(text);
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (error != std::errc() || end != plain.data() + plain.size() || !std::isfinite(value)) {
    refuse(in_quotes(text) + " is not a number");
  }
  return value;
}

std::string print_plain(double value) {
  // Prints whole numbers without a point, because counts take no others.
  const bool whole = value == std::floor(value) && std::fabs(value) < 1e15;
  return whole ? std::to_string(static_cast<long long>(value)) : print_number(value);
}

std::vector<std::string> expand_range(const std::string& range, bool durations) {
  const auto parts = split(range, ':');
  if (parts.size() != 3) refuse("a range is FROM:TO:STEP");
  std::array<double, 3> bounds{};
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    bounds[i] =
        durations ? static_cast<double>(parse_duration(parts[i]).count()) : parse_plain(parts[i]);
  }
  const auto [from, to, step] = bounds;
  if (!(step > 0)) refuse("the step must be above 0");
  if (to < from) refuse("the range is empty");
  // Adds a billionth of a step, to allow for the rounding of steps like 0.1.
  const double count = std::floor((to - from) / step + 1e-9) + 1;
  if (count > kMostValues) refuse("too many values (at most 100000)");
  std::vector<std::string> values;
  for (double i = 0; i < count; ++i) {
    // To 12 digits, so that 3 * 0.1 is 0.3.
    const double exact = from + i * step;
    const double digits =
        std::pow(10, 11 - std::floor(std::log10(std::max(std::fabs(exact), 1e-9))));
    const double value = durations ? std::round(exact) : std::round(exact * digits) / digits;
    values.push_back(durations ? format_duration(scale(Duration(1), value)) : print_plain(value));
  }
  return values;
}

Axis read_axis(const std::string& name, const std::string& values) {
  static const std::set<std::string> kNotSwept{
      "runs", "threads", "seed", "trace", "report-interval", "server-report-interval"};
  if (kNotSwept.contains(name)) refuse("this option is the same for all cells");
  const ListedScenario any;
  const Option* option = any.list.find(name);
  if (option == nullptr) {
    std::vector<std::string_view> known;
    for (const Option& each : any.list.all()) known.push_back(each.name);
    const auto meant = nearest(name, known);
    refuse("no option of this name can be swept (only those of the experiment can)" +
           (meant.empty() ? "" : ": did you mean " + std::string(meant) + '?'));
  }
  if (option->name == "strategy") return axis_of(parse_strategies(values));
  // A value may contain a colon: additive:1s, and 100ms,lognormal:100ms:0.5.
  const bool words = option->kind == Option::Kind::kChoice ||
                     (option->kind == Option::Kind::kText &&
                      (std::isalpha(static_cast<unsigned char>(values[0])) != 0 ||
                       values.find(',') != std::string::npos));
  const bool dots = is_measured(*option) && name != "replicas" && values.find("..") != values.npos;
  if (dots || (!words && values.find(':') != std::string::npos)) {
    return {.name = name,
            .values = expand_range(values, option->kind == Option::Kind::kDuration),
            .range = true};
  }
  const bool number = option->kind == Option::Kind::kNumber || option->kind == Option::Kind::kCount;
  Axis axis{.name = name, .values = {}};
  for (const auto each : split(values, ',')) {
    const std::string plain = number ? plain_number(each) : std::string(each);
    if (plain != each) option->set(each);  // does the option take that form?
    if (std::ranges::find(axis.values, plain) != axis.values.end()) {
      refuse(std::string(each) + " is given twice");
    }
    axis.values.push_back(plain);
  }
  return axis;
}

}  // namespace

Axis axis_of(const std::vector<ListedStrategy>& strategies) {
  Axis axis{.name = "strategy", .values = {}};
  for (const ListedStrategy& each : strategies) {
    axis.values.push_back(each.name);
    if (each.settings) axis.files.emplace(each.name, *each.settings);
  }
  return axis;
}

Axis parse_axis(const std::string& text, const std::string& asked) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    refuse(asked + " '" + text + "': write NAME=V1,V2,... or NAME=FROM:TO:STEP");
  }
  std::string name = text.substr(0, equals);
  name.erase(0, name.find_first_not_of('-'));
  try {
    return read_axis(name, text.substr(equals + 1));
  } catch (const std::invalid_argument& error) {
    refuse(asked + ' ' + name + ": " + error.what());
  }
}

Grid make_grid(std::vector<Axis> axes) {
  const ListedScenario any;
  std::set<const Option*> swept;
  for (const Axis& axis : axes) {
    if (swept.insert(any.list.find(axis.name)).second) continue;
    refuse(axis.name + " is swept twice: give all its values at once");
  }
  return Grid(std::move(axes));
}

std::vector<std::string> Grid::names() const {
  std::vector<std::string> names;
  for (const Axis& axis : axes_) names.push_back(axis.name);
  return names;
}

std::vector<std::string> Grid::labels() const {
  std::vector<std::string> labels;
  for (const Axis& axis : axes_) labels.push_back(underscored(axis.name));
  return labels;
}

double Grid::size() const {
  double size = 1;
  for (const Axis& axis : axes_) size *= static_cast<double>(axis.values.size());
  return std::ceil((size - static_cast<double>(first_)) / static_cast<double>(step_));
}

std::vector<std::string> Grid::values(std::size_t cell) const {
  cell = first_ + cell * step_;
  std::vector<std::string> values(axes_.size());
  for (std::size_t i = axes_.size(); i-- > 0;) {
    const std::size_t count = axes_[i].values.size();
    values[i] = axes_[i].values[cell % count];
    cell /= count;
  }
  return values;
}

Grid Grid::part(const CellShare& share) const {
  const auto cells = static_cast<std::size_t>(size());
  const std::vector<std::size_t> own = share.of(cells);
  Grid part = *this;
  part.first_ = own.empty() ? cells : own.front();
  part.step_ = own.size() < 2 ? cells : own[1] - own[0];
  return part;
}

CellShare parse_share(std::string_view text) {
  const auto count = [](std::string_view word) {
    return static_cast<std::size_t>(parse_count(word, 0, 1'000'000'000));
  };
  const std::size_t slash = text.find('/');
  if (slash == text.npos) return {.number = count(text)};
  const CellShare share{.number = count(text.substr(0, slash)),
                        .parts = count(text.substr(slash + 1))};
  if (share.number >= 1 && share.number <= share.parts) return share;
  refuse("part i of n is i/n, with i from 1 to n, such as 1/4");
}

std::vector<std::size_t> CellShare::of(std::size_t cells) const {
  if (!is_part() && number > cells) refuse("--cell: there are " + std::to_string(cells) + " cells");
  std::vector<std::size_t> own;
  const std::size_t first = number == 0 ? 0 : number - 1;
  const std::size_t step = is_part() ? parts : number == 0 ? 1 : cells;
  for (std::size_t cell = first; cell < cells; cell += step) own.push_back(cell);
  return own;
}

std::string CellShare::title(std::size_t cells) const {
  if (number == 0) return "";
  if (!is_part()) return "cell " + std::to_string(number);
  return "part " + std::to_string(number) + '/' + std::to_string(parts) + " of " +
         std::to_string(cells) + " cells";
}

void CellShare::check_seed(bool given) const {
  if (given || !is_part()) return;
  refuse("--cell=i/n needs a --seed, the same for each part");
}

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
      refuse(path + ": " + error.what());
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
  refuse(unknown_name(name, known) + "; the path of a settings file contains a dot or a slash");
}

}  // namespace

std::vector<ListedStrategy> parse_strategies(std::string_view list) {
  const ListedScenario any;
  std::vector<ListedStrategy> strategies;
  const auto add = [&](std::string_view name) {
    if (std::ranges::find(strategies, name, &ListedStrategy::name) != strategies.end()) return;
    ListedStrategy strategy{.name = std::string(name)};
    if (is_file(name)) {
      strategy.settings = read_file(any.list, strategy.name);
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

bool is_other_form(const Option& one, const Option& other) {
  return one.same_as == other.name || other.same_as == one.name;
}

NamedOptions with_strategy(NamedOptions options, const ListedStrategy& strategy) {
  options.erase("strategy");
  if (!strategy.settings) {
    options["strategy"] = strategy.name;
    return options;
  }
  const ListedScenario any;
  const NamedOptions given = options;
  for (const auto& [name, text] : *strategy.settings) {
    const Option& option = *any.list.find(name);
    const bool overruled = std::ranges::any_of(given, [&](const auto& each) {
      const Option& other = *any.list.find(each.first);
      return other.name == option.name || is_other_form(other, option);
    });
    if (!overruled) options[option.name] = text;
  }
  return options;
}

Statements overruled(const NamedOptions& given, const std::vector<ListedStrategy>& strategies,
                     const std::string& whose) {
  const Listed<RetrySettings> of_strategy;
  std::vector<std::string> overriding, brought, left;
  for (const Option& option : of_strategy.list.all()) {
    const auto found = given.find(option.name);
    if (option.name == "strategy" || found == given.end()) continue;
    overriding.push_back(option.name + '=' + found->second);
  }
  for (const ListedStrategy& each : strategies) {
    if (!each.settings) continue;
    const NamedOptions with = with_strategy(given, each);
    std::vector<std::string> in_force, not_in_force;
    for (const auto& [name, value] : *each.settings) {
      if (of_strategy.list.find(name) != nullptr) continue;
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
      return is_other_form(*any.list.find(each.first), swept);
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
  // Last, because all other options override its settings.
  return file ? with_strategy(std::move(options), *file) : options;
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
        refuse("--sweep " + axis.name + ": " + why);
      }
    }
  }
}

void refuse_other_forms(const Grid& grid, const Invocation& invocation) {
  const ListedScenario any;
  for (const Axis& axis : grid.axes()) {
    const Option& swept = *any.list.find(axis.name);
    for (const Option& other : any.list.all()) {
      if (!is_other_form(swept, other)) continue;
      if (!is_typed(*find_option(invocation.app, other.name), invocation.arguments)) continue;
      refuse("--" + swept.name + " excludes --" + other.name + ": give one of them");
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
