// Options as data: one entry describes an option for command lines, JSON, sweeps, named strategies
// and web pages. This file does not depend on a command-line parser.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <limits>
#include <map>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/base/duration.h"
#include "model/base/text.h"

namespace retrystorm {

struct BetterName {
  std::string_view old;     // the first name: the key in JSON
  std::string_view better;  // in help
  std::string_view
      group{};  // the group of options that this holds for, or how it begins; empty: all
};

// Each option of this name that an `OptionList` declares gets the better one, too: on command lines, in files of
// settings, in sweeps and links.
inline constexpr std::array kBetterNames{
    BetterName{"lambda", "think-time"},
    BetterName{"growth", "backoff"},
    BetterName{"limit", "curve-limit"},
    BetterName{"factor", "curve-factor"},
    BetterName{"limit-min", "concurrency-limit-min"},
    BetterName{"limit-max", "concurrency-limit-max"},
    BetterName{"limit-slow", "concurrency-limit-slow"},
    BetterName{"limit-decrease", "concurrency-limit-decrease"},
    BetterName{"calls", "calls-per-task",
               "Job"},  // those of a server are the services that it calls
    BetterName{"capacity", "can-do", "What is known"},
};

// One option and the variable that it sets.
struct Option {
  enum class Kind { kDuration, kNumber, kCount, kChoice, kText };

  std::string name;  // without leading dashes
  std::vector<std::string> second_names{};
  std::string group{};
  // The group that shows the option in a program's short help. Empty: not in the short help.
  std::string basic{};
  Kind kind = Kind::kText;
  std::vector<std::string_view> choices{};  // of a kChoice
  std::string help{};
  // The option that this one is an alternative form of. Only one of the two may be given. That
  // option must be declared before this one. Empty: none.
  std::string same_as{};
  // If not 0: values of an option given several times are joined with this. If 0: the last one
  // counts.
  char separator = 0;
  std::vector<std::string_view> examples{};  // of a kText made of words and numbers
  std::string unit{};  // of a number or a count, such as "requests/s"; empty: none
  // The range of a kDuration (in seconds), a kNumber or a kCount.
  double least = 0, most = std::numeric_limits<double>::infinity();
  bool takes_none = false;  // does it also take `kNoneWord`?
  // The range of useful values, for a slider or a sweep, in the form that `set` reads. Steps are by
  // equal factors from `from` to `to`. If `from` is 0, the next value is a thousandth of `to`. If
  // the range is empty: a twentieth of the default to twenty times the default, or for a share the
  // whole range in equal steps.
  struct Range {
    std::string from{}, to{};
  } range{};

  // A rate, whose unit ends with "/s", also takes a time after its number: 100/s, 600/min, 3600/h. A number
  // without a unit also takes 50% and 3x.
  Option& with_unit(std::string what);
  Option& with_examples(std::vector<std::string_view> texts) {
    examples = std::move(texts);
    return *this;
  }
  Option& with_range(std::string from, std::string to) {
    range = {std::move(from), std::move(to)};
    return *this;
  }

  // Sets the variable. Throws std::invalid_argument with a readable message if the text is not a
  // value of this option; the variable then keeps its value.
  std::function<void(std::string_view)> set{};
  // The current value, in the form that `set` reads.
  std::function<std::string()> get{};
  bool is_preset = false;  // does it set other options, too?
  // Why the option has no effect: another one has not these values (`OptionList::needs`), or what `text` says. The last
  // that gives a reason counts.
  struct Need {
    std::string_view name{}, values{};
    bool others = false;
    std::function<std::string()> text{};
  };
  std::vector<Need> needs{};
};

// The word for "no limit" in a duration, a number or a count.
inline constexpr std::string_view kNoneWord = "none";

// Is this that word, or "unlimited", which means the same?
inline bool is_none(std::string_view text) {
  return text == kNoneWord || text == "unlimited";
}

// An option of a part that a run uses twice: the name and the help in its second use.
struct RenamedOption {
  std::string_view name, renamed, help;
};

// Options in the order in which they are shown in help and applied. The variables must outlive the
// list. Names have the form "name" or "name,second-name,...".
class OptionList {
 public:
  // Starts the group of the options that are declared next.
  void group(std::string title) { group_ = std::move(title); }

  Option& duration(std::string_view names, Duration& target, std::string help,
                   Duration least = Duration::zero());
  // `Duration::max()` is written "none": no limit, or not used at all.
  Option& duration_or_none(std::string_view names, Duration& target, std::string help,
                           Duration least = Duration::zero());
  // `unit`: see `Option::with_unit`.
  Option& number(std::string_view names, double& target, std::string help, double least,
                 double most, std::string unit = "");
  // Infinity is written "none": no limit, or not used at all.
  Option& number_or_none(std::string_view names, double& target, std::string help, double least,
                         double most, std::string unit = "");
  template <typename Count>
  Option& count(std::string_view names, Count& target, std::string help, std::uint64_t least,
                std::uint64_t most, std::string unit = "");
  // The greatest value of the type is written "none".
  template <typename Count>
  Option& count_or_none(std::string_view names, Count& target, std::string help,
                        std::uint64_t least, std::uint64_t most, std::string unit = "");
  template <typename Enum>
  Option& choice(std::string_view names, Enum& target,
                 std::vector<std::pair<std::string_view, Enum>> values, std::string help);
  // Sets all of `target` to the preset with the chosen `name`. Options declared later override it.
  // The presets must outlive the list.
  template <typename Settings>
  Option& preset(std::string_view names, Settings& target, std::span<const Settings> presets,
                 std::string help);
  Option& yes_or_no(std::string_view names, bool& target, std::string help);
  Option& text(std::string_view names, std::string help, std::function<void(std::string_view)> set,
               std::function<std::string()> get);

  // The options of these names, with blanks between them, have no effect unless this holds of another one: "breaker" (it is
  // not none, no or 0), "autoscale=on-demand" ("A|B": one of them), or "growth!=none". A value with a colon counts by what is
  // before it. All of them were declared before; of several reasons the one that was added last counts. `need` must live as
  // long as the list.
  void needs(std::string_view names, std::string_view need);
  // The same of all options that were declared after the one of this name.
  void needs_after(std::string_view name, std::string_view need);
  // The same while `why` gives a reason, such as "without --breaker" or ": there is no bucket". What `why` refers to must
  // live as long as the list.
  void no_effect(std::string_view names, const std::function<std::string()>& why);
  void no_effect_after(std::string_view name, const std::function<std::string()>& why);

  // Declares options of a part for a second use of that part. They are not in the short help, and
  // have no second names. `part` must have all of them.
  void add_renamed(const OptionList& part, std::span<const RenamedOption> names);

  // Declares the options of a part for another use of that part, with this before all their names. They are not in
  // the short help.
  void add_prefixed(const OptionList& part, std::string_view prefix);

  // Adds the options of another list for which `wanted` returns true, as they are.
  void add_all(
      const OptionList& others,
      const std::function<bool(const Option&)>& wanted = [](const Option&) { return true; });

  const std::vector<Option>& all() const { return options_; }

  // Finds an option by any of its names; null if there is none.
  const Option* find(std::string_view name) const;

  // Sets one option. Throws std::invalid_argument with a message that names the option.
  void set(std::string_view name, std::string_view value) const;

  // Sets options from lines of `name = value`. Empty lines and lines that begin with # or ; are
  // skipped. Throws like `set`.
  void apply(std::string_view settings) const;

 private:
  Option& own(std::string_view name);
  Option& add(std::string_view names, Option::Kind kind, std::string help,
              std::function<void(std::string_view)> set, std::function<std::string()> get);

  static Option& bounded(Option& option, double least, double most, std::string unit = "");

  // Makes `unlimited` the value that is written "none".
  template <typename Value>
  static Option& or_none(Option& option, Value& target, Value unlimited);

  Option& one_of(std::string_view names, std::vector<std::string_view> choices, std::string help,
                 std::function<void(std::size_t)> choose, std::function<std::string()> get);

  std::string group_;
  std::vector<Option> options_;
};

template <typename Count>
Option& OptionList::count(std::string_view names, Count& target, std::string help,
                          std::uint64_t least, std::uint64_t most, std::string unit) {
  Option& option = add(
      names, Option::Kind::kCount, std::move(help),
      [&target, least, most](std::string_view text) {
        target = static_cast<Count>(parse_count(text, least, most));
      },
      [&target] { return std::to_string(target); });
  return bounded(option, static_cast<double>(least), static_cast<double>(most), std::move(unit));
}

template <typename Value>
Option& OptionList::or_none(Option& option, Value& target, Value unlimited) {
  option.takes_none = true;
  option.set = [&target, unlimited, set = std::move(option.set)](std::string_view text) {
    is_none(text) ? void(target = unlimited) : set(text);
  };
  option.get = [&target, unlimited, get = std::move(option.get)] {
    return target == unlimited ? std::string(kNoneWord) : get();
  };
  return option;
}

template <typename Count>
Option& OptionList::count_or_none(std::string_view names, Count& target, std::string help,
                                  std::uint64_t least, std::uint64_t most, std::string unit) {
  return or_none(count(names, target, std::move(help), least, most, std::move(unit)), target,
                 std::numeric_limits<Count>::max());
}

template <typename Enum>
Option& OptionList::choice(std::string_view names, Enum& target,
                           std::vector<std::pair<std::string_view, Enum>> values,
                           std::string help) {
  std::vector<std::string_view> choices;
  for (const auto& [name, value] : values) choices.push_back(name);
  return one_of(
      names, choices, std::move(help),
      [&target, values](std::size_t chosen) { target = values[chosen].second; },
      [&target, values] {
        for (const auto& [name, value] : values) {
          if (value == target) return std::string(name);
        }
        return std::string();
      });
}

template <typename Settings>
Option& OptionList::preset(std::string_view names, Settings& target,
                           std::span<const Settings> presets, std::string help) {
  std::vector<std::string_view> choices;
  for (const Settings& each : presets) choices.push_back(each.name);
  Option& option = one_of(
      names, choices, std::move(help),
      [&target, presets](std::size_t chosen) { target = presets[chosen]; },
      [&target] { return std::string(target.name); });
  option.is_preset = true;
  return option;
}

// Options that were given but have no effect, by name, each with a sentence that gives the reason.
using UnusedOptions = std::map<std::string, std::string>;

// The names of the options of `in_force` that somebody gave: those in `named`, and those whose values differ from the
// ones in `usual`, a list of the same options, where the same presets are taken. A printed settings file can be read
// again, because what it repeats is no difference.
std::set<std::string> given_among(const OptionList& in_force, const OptionList& usual,
                                  const std::vector<std::string>& named);

// "max-retries (max-attempts)": both forms of an option have the same sentence, as each shows the value of the other.
std::string forms_of(const std::string& name, const OptionList& list);

// Those of them that have no effect (`OptionList::no_effect`).
UnusedOptions unused_among(const OptionList& in_force, const OptionList& usual,
                           const std::vector<std::string>& named);

// The unused options of a part.
template <typename Settings>
UnusedOptions unused_of_part(Settings settings, const std::vector<std::string>& named = {}) {
  Settings defaults;
  OptionList in_force, usual;
  declare_options(in_force, settings);
  declare_options(usual, defaults);
  return unused_among(in_force, usual, named);
}

// Is thrown for options that can have no effect beside the others.
struct NoEffect : std::invalid_argument {
  using std::invalid_argument::invalid_argument;
};

// If there are any, throws NoEffect with their sentences, each on a line.
void refuse(const UnusedOptions& unused);

}  // namespace retrystorm
