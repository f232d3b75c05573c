#include "study/sweep.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <set>
#include <stdexcept>
#include <string_view>

#include "model/base/duration.h"
#include "model/base/text.h"
#include "study/strategy_list.h"

namespace retrystorm {
namespace {

constexpr double kMostValues = 1e5;  // of a range; expanding more would take seconds

double parse_plain(std::string_view text) {
  double value = 0;
  const std::string plain = plain_number(text);
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (error != std::errc() || end != plain.data() + plain.size() || !std::isfinite(value)) {
    throw std::invalid_argument(in_quotes(text) + " is not a number");
  }
  return value;
}

std::string print_plain(double value) {
  // Prints whole numbers without a point, because counts take no others.
  if (value == std::floor(value) && std::fabs(value) < 1e15) {
    return std::to_string(static_cast<long long>(value));
  }
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

std::vector<std::string> expand_range(const std::string& axis, const std::string& range,
                                      bool durations) {
  const auto parts = split(range, ':');
  if (parts.size() != 3) {
    throw std::invalid_argument(axis + ": a range is FROM:TO:STEP");
  }
  std::array<double, 3> bounds{};
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    try {
      bounds[i] =
          durations ? static_cast<double>(parse_duration(parts[i]).count()) : parse_plain(parts[i]);
    } catch (const std::invalid_argument& error) {
      throw std::invalid_argument(axis + ": " + error.what());
    }
  }
  const auto [from, to, step] = bounds;
  if (!(step > 0)) throw std::invalid_argument(axis + ": the step must be above 0");
  if (to < from) throw std::invalid_argument(axis + ": the range is empty");
  // Adds a billionth of a step, to allow for the rounding of steps like 0.1.
  const double count = std::floor((to - from) / step + 1e-9) + 1;
  if (count > kMostValues) throw std::invalid_argument(axis + ": too many values (at most 100000)");
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

Axis read_axis(const OptionList& options, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw std::invalid_argument("'" + text + "': write NAME=V1,V2,... or NAME=FROM:TO:STEP");
  }
  std::string name = text.substr(0, equals);
  name.erase(0, name.find_first_not_of('-'));
  static const std::set<std::string> kNotSwept{
      "runs", "threads", "seed", "trace", "report-interval", "server-report-interval"};
  if (kNotSwept.contains(name)) {
    throw std::invalid_argument(name + ": this option is the same for all cells");
  }
  const Option* option = options.find(name);
  if (option == nullptr) {
    std::vector<std::string_view> known;
    for (const Option& each : options.all()) known.push_back(each.name);
    const auto meant = nearest(name, known);
    throw std::invalid_argument(
        name + ": no option of this name can be swept (only those of the experiment can)" +
        (meant.empty() ? "" : ": did you mean " + std::string(meant) + '?'));
  }
  const std::string values = text.substr(equals + 1);
  if (option->name == "strategy") return strategy_axis(options, values, name);
  // A value may contain a colon: additive:1s, and 100ms,lognormal:100ms:0.5.
  const bool words = option->kind == Option::Kind::kChoice ||
                     (option->kind == Option::Kind::kText &&
                      (std::isalpha(static_cast<unsigned char>(values[0])) != 0 ||
                       values.find(',') != std::string::npos));
  if (words || values.find(':') == std::string::npos) {
    const bool number =
        option->kind == Option::Kind::kNumber || option->kind == Option::Kind::kCount;
    Axis axis{.name = name, .values = {}};
    for (const auto each : split(values, ',')) {
      const std::string plain = number ? plain_number(each) : std::string(each);
      if (plain != each) {  // does the option take that form?
        try {
          option->set(each);
        } catch (const std::invalid_argument& error) {
          throw std::invalid_argument(name + ": " + error.what());
        }
      }
      if (std::find(axis.values.begin(), axis.values.end(), plain) != axis.values.end()) {
        throw std::invalid_argument(name + ": " + std::string(each) + " is given twice");
      }
      axis.values.push_back(plain);
    }
    return axis;
  }
  return {.name = name,
          .values = expand_range(name, values, option->kind == Option::Kind::kDuration),
          .range = true};
}

}  // namespace

Axis strategy_axis(const OptionList& options, std::string_view list, const std::string& asked) {
  Axis axis{.name = "strategy", .values = {}};
  try {
    for (const ListedStrategy& each : parse_strategies(options, list)) {
      axis.values.push_back(each.name);
      if (each.settings) axis.files.emplace(each.name, *each.settings);
    }
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(asked + ": " + error.what());
  }
  return axis;
}

Axis parse_axis(const OptionList& options, const std::string& text, const std::string& asked) {
  try {
    return read_axis(options, text);
  } catch (const std::invalid_argument& error) {
    throw std::invalid_argument(asked + ' ' + error.what());
  }
}

Grid make_grid(const OptionList& options, std::vector<Axis> axes) {
  std::set<const Option*> swept;
  for (const Axis& axis : axes) {
    if (swept.insert(options.find(axis.name)).second) continue;
    throw std::invalid_argument(axis.name + " is swept twice: give all its values at once");
  }
  return Grid(std::move(axes));
}

std::vector<std::string> Grid::names() const {
  std::vector<std::string> names;
  for (const Axis& axis : axes_) names.push_back(axis.name);
  return names;
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
  throw std::invalid_argument("part i of n is i/n, with i from 1 to n, such as 1/4");
}

std::vector<std::size_t> CellShare::of(std::size_t cells) const {
  if (!is_part() && number > cells) {
    throw std::invalid_argument("--cell: there are " + std::to_string(cells) + " cells");
  }
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
  throw std::invalid_argument("--cell=i/n needs a --seed, the same for each part");
}

}  // namespace retrystorm
