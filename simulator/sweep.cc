#include "simulator/sweep.h"

#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <set>
#include <stdexcept>
#include <string_view>

#include "common/cli/options.h"
#include "model/base/duration.h"
#include "model/base/text.h"
#include "model/retry/strategies.h"

namespace retrystorm {
namespace {

constexpr double kMostValues = 1e5;  // of a range; more would take seconds to write out

double parse_plain(std::string_view text, const std::string& axis) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value)) {
    throw std::runtime_error("--sweep " + axis + ": " + in_quotes(text) + " is not a number");
  }
  return value;
}

std::string print_plain(double value) {
  // As a whole number where it is one: counts take no other.
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
    throw std::runtime_error("--sweep " + axis + ": a range is FROM:TO:STEP");
  }
  std::array<double, 3> bounds{};
  for (std::size_t i = 0; i < bounds.size(); ++i) {
    try {
      bounds[i] = durations ? static_cast<double>(parse_duration(parts[i]).count())
                            : parse_plain(parts[i], axis);
    } catch (const std::invalid_argument& error) {
      throw std::runtime_error("--sweep " + axis + ": " + error.what());
    }
  }
  const auto [from, to, step] = bounds;
  if (!(step > 0)) throw std::runtime_error("--sweep " + axis + ": the step must be above 0");
  if (to < from) throw std::runtime_error("--sweep " + axis + ": the range is empty");
  // A billionth of a step makes up for the rounding of steps like 0.1.
  const double count = std::floor((to - from) / step + 1e-9) + 1;
  if (count > kMostValues)
    throw std::runtime_error("--sweep " + axis + ": too many values (at most 100000)");
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

}  // namespace

Axis parse_axis(const CLI::App& app, const std::string& text) {
  const std::size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    throw std::runtime_error("--sweep '" + text +
                             "': NAME=V1,V2,... or NAME=FROM:TO:STEP is meant");
  }
  std::string name = text.substr(0, equals);
  name.erase(0, name.find_first_not_of('-'));
  const CLI::Option* option = find_option(app, name);
  static const std::set<std::string> kNotSwept{
      "runs", "threads", "seed", "trace", "report-interval", "server-report-interval"};
  const std::string type = option == nullptr ? "" : option->get_type_name();
  static const std::set<std::string> kSwept{"DURATION", "NUMBER", "COUNT", "NAME", "VALUE"};
  if (kSwept.count(type) == 0) {
    throw std::runtime_error(
        "--sweep " + name + ": there is no such option to sweep (one of the experiment is meant, " +
        "not of a file)");
  }
  if (kNotSwept.count(name) > 0) {
    throw std::runtime_error("--sweep " + name + ": this option is the same for all cells");
  }
  const std::string values = text.substr(equals + 1);
  if (name == "strategy" && values == "all") {
    Axis axis{.name = name, .values = {}};
    for (const NamedStrategy& each : named_strategies()) axis.values.emplace_back(each.name);
    return axis;
  }
  // A value may have a colon of its own: additive:1s.
  const bool words = type == "NAME" ||
                     (type == "VALUE" && std::isalpha(static_cast<unsigned char>(values[0])) != 0);
  if (words || values.find(':') == std::string::npos) {
    const auto parts = split(values, ',');
    return {name, {parts.begin(), parts.end()}};
  }
  return {name, expand_range(name, values, type == "DURATION"), true};
}

double Grid::size() const {
  double size = 1;
  for (const Axis& axis : axes_) size *= static_cast<double>(axis.values.size());
  return size;
}

std::vector<std::string> Grid::values(std::size_t cell) const {
  std::vector<std::string> values(axes_.size());
  for (std::size_t i = axes_.size(); i-- > 0;) {
    const std::size_t count = axes_[i].values.size();
    values[i] = axes_[i].values[cell % count];
    cell /= count;
  }
  return values;
}

}  // namespace retrystorm
