// Options as data: each is one entry, from which command lines, JSON, sweeps, named strategies and
// pages follow. Knows no parser of command lines.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/base/duration.h"
#include "model/base/text.h"

namespace retrystorm {

// One option, bound to the variable that it sets.
struct Option {
  enum class Kind { kDuration, kNumber, kCount, kChoice, kText };

  std::string name;  // without dashes
  std::vector<std::string> second_names{};
  std::string group{};
  // The group in which a program's short help has it. Empty: it is not one that most people need.
  std::string basic{};
  Kind kind = Kind::kText;
  std::vector<std::string_view> choices{};  // of a kChoice
  std::string help{};
  // The option of which this one is another form, in which the same thing can be said: only one of
  // them is to be given. Empty: none. It is declared before this one.
  std::string same_as{};
  // An option that is given several times is one text with this between. 0: the last one counts.
  char separator = 0;
  std::vector<std::string_view> examples{};  // of a kText, where it is made of words and numbers
  std::string unit{};  // what a number or a count is of: "requests/s"; empty: nothing to say
  // Of a kDuration (in seconds), kNumber or kCount: the values that it takes, from `least` to
  // `most`.
  double least = 0, most = std::numeric_limits<double>::infinity();
  bool takes_none = false;  // and `kNoneWord`
  // The values that people try, for a slider or a sweep, as `set` reads them: by equal factors from
  // `from` to `to`; a `from` of 0 stands before a thousandth of `to`. Empty: a twentieth to twenty
  // times the default, or, of a share, all that there are by equal steps.
  struct Span {
    std::string from{}, to{};
  } span{};

  Option& in(std::string what) {
    unit = std::move(what);
    return *this;
  }
  Option& like(std::vector<std::string_view> texts) {
    examples = std::move(texts);
    return *this;
  }
  Option& over(std::string from, std::string to) {
    span = {std::move(from), std::move(to)};
    return *this;
  }

  // Sets the variable. Throws std::invalid_argument with a sentence for a person when the text is
  // no value of this option; the variable is then as it was.
  std::function<void(std::string_view)> set{};
  // The value in force, as `set` reads it.
  std::function<std::string()> get{};
};

// The word for a duration or a count without bound.
inline constexpr std::string_view kNoneWord = "none";

// Options in the order in which help shows them and in which they are applied. The variables
// outlive the list. Names are "name" or "name,second-name,...".
class OptionList {
 public:
  // The group of the options that follow.
  void group(std::string title) { group_ = std::move(title); }

  Option& duration(std::string_view names, Duration& target, std::string help,
                   Duration least = Duration::zero());
  // `Duration::max()` is written "none": no bound, or not used at all.
  Option& duration_or_none(std::string_view names, Duration& target, std::string help,
                           Duration least = Duration::zero());
  Option& number(std::string_view names, double& target, std::string help, double least,
                 double most);
  // Infinity is written "none": no bound, or not used at all.
  Option& number_or_none(std::string_view names, double& target, std::string help, double least,
                         double most);
  template <typename Count>
  Option& count(std::string_view names, Count& target, std::string help, std::uint64_t least,
                std::uint64_t most);
  // The greatest value of the type is written "none".
  template <typename Count>
  Option& count_or_none(std::string_view names, Count& target, std::string help,
                        std::uint64_t least, std::uint64_t most);
  template <typename Enum>
  Option& choice(std::string_view names, Enum& target,
                 std::vector<std::pair<std::string_view, Enum>> values, std::string help);
  // Gives all of `target` the values of the preset whose `name` is chosen: options declared after
  // it overrule them. The presets outlive the list.
  template <typename Settings>
  Option& preset(std::string_view names, Settings& target, std::span<const Settings> presets,
                 std::string help);
  Option& yes_or_no(std::string_view names, bool& target, std::string help);
  Option& text(std::string_view names, std::string help, std::function<void(std::string_view)> set,
               std::function<std::string()> get);

  const std::vector<Option>& all() const { return options_; }

  // By any of its names; null when there is none.
  const Option* find(std::string_view name) const;

  // Sets one option. Throws std::invalid_argument with a sentence that names it.
  void set(std::string_view name, std::string_view value) const;

  // Sets options from lines of `name = value`; empty lines and those that begin with # or ; are
  // passed over. Throws as `set` does.
  void apply(std::string_view settings) const;

 private:
  Option& add(std::string_view names, Option::Kind kind, std::string help,
              std::function<void(std::string_view)> set, std::function<std::string()> get);

  static Option& bounded(Option& option, double least, double most);

  std::string group_;
  std::vector<Option> options_;
};

template <typename Count>
Option& OptionList::count(std::string_view names, Count& target, std::string help,
                          std::uint64_t least, std::uint64_t most) {
  Option& option = add(
      names, Option::Kind::kCount, std::move(help),
      [&target, least, most](std::string_view text) {
        target = static_cast<Count>(parse_count(text, least, most));
      },
      [&target] { return std::to_string(target); });
  return bounded(option, static_cast<double>(least), static_cast<double>(most));
}

template <typename Count>
Option& OptionList::count_or_none(std::string_view names, Count& target, std::string help,
                                  std::uint64_t least, std::uint64_t most) {
  static constexpr Count kUnbounded = std::numeric_limits<Count>::max();
  Option& option = add(
      names, Option::Kind::kCount, std::move(help),
      [&target, least, most](std::string_view text) {
        target =
            text == kNoneWord ? kUnbounded : static_cast<Count>(parse_count(text, least, most));
      },
      [&target] { return target == kUnbounded ? std::string(kNoneWord) : std::to_string(target); });
  option.takes_none = true;
  return bounded(option, static_cast<double>(least), static_cast<double>(most));
}

template <typename Enum>
Option& OptionList::choice(std::string_view names, Enum& target,
                           std::vector<std::pair<std::string_view, Enum>> values,
                           std::string help) {
  std::vector<std::string_view> choices;
  for (const auto& [name, value] : values) choices.push_back(name);
  Option& option = add(
      names, Option::Kind::kChoice, std::move(help),
      [&target, values, choices](std::string_view text) {
        for (const auto& [name, value] : values) {
          if (name == text) {
            target = value;
            return;
          }
        }
        throw std::invalid_argument(unknown_name(text, choices));
      },
      [&target, values] {
        for (const auto& [name, value] : values) {
          if (value == target) return std::string(name);
        }
        return std::string();
      });
  option.choices = std::move(choices);
  return option;
}

template <typename Settings>
Option& OptionList::preset(std::string_view names, Settings& target,
                           std::span<const Settings> presets, std::string help) {
  std::vector<std::string_view> choices;
  for (const Settings& each : presets) choices.push_back(each.name);
  Option& option = add(
      names, Option::Kind::kChoice, std::move(help),
      [&target, presets, choices](std::string_view text) {
        for (const Settings& each : presets) {
          if (each.name == text) {
            target = each;
            return;
          }
        }
        throw std::invalid_argument(unknown_name(text, choices));
      },
      [&target] { return std::string(target.name); });
  option.choices = std::move(choices);
  return option;
}

// Options that were given and can have no effect, by name, each with the sentence that says why.
using UnusedOptions = std::map<std::string, std::string>;

// Adds to `unused` those of these options that differ between the settings in force and those that
// would be in force by themselves; without names, of all options. Found by value, so that settings
// that were printed can be read again.
template <typename Settings>
void find_unused(UnusedOptions& unused, Settings in_force, Settings by_itself,
                 const std::string& why, const std::vector<std::string_view>& names = {}) {
  OptionList given;
  OptionList usual;
  declare_options(given, in_force);
  declare_options(usual, by_itself);
  for (std::size_t i = 0; i < given.all().size(); ++i) {
    const Option& option = given.all()[i];
    bool meant = names.empty();
    for (const auto name : names) meant |= name == option.name;
    if (meant && option.get() != usual.all()[i].get()) {
      unused.emplace(option.name, option.name + " has no effect " + why);
    }
  }
}

// Those of a part's settings, by its own `find_unused`.
template <typename Settings>
UnusedOptions unused_options(const Settings& settings) {
  UnusedOptions unused;
  find_unused(unused, settings);
  return unused;
}

// Throws std::invalid_argument with the sentence of one of them, if there are any.
void refuse(const UnusedOptions& unused);

}  // namespace retrystorm
