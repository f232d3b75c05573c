#include "model/base/option_list.h"

#include <algorithm>
#include <limits>
#include <set>
#include <stdexcept>

namespace retrystorm {

namespace {

Option::Need parse_need(std::string_view need) {
  const std::size_t equals = need.find('=');
  if (equals == need.npos) return {.name = need};
  const bool others = need[equals - 1] == '!';
  return {need.substr(0, equals - (others ? 1 : 0)), need.substr(equals + 1), others, {}};
}

// Why the need is not met, in words that follow "has no effect"; empty if it is.
std::string unmet(const Option::Need& need, const OptionList& in_force) {
  const Option* const needed = in_force.find(need.name);
  if (needed == nullptr) return "";
  const std::string value = needed->get();
  const std::string name = "--" + std::string(need.name);
  if (need.values.empty()) {
    const bool off = value.empty() || is_none(value) || value == "no" || value == "0";
    return off ? "without " + name : "";
  }
  std::string words;
  bool has = false;
  for (const std::string_view each : split(need.values, '|')) {
    has |= each.substr(0, each.find(':')) == std::string_view(value).substr(0, value.find(':'));
    words.append(words.empty() ? "" : " or ").append(each);
  }
  if (has != need.others) return "";
  return need.others ? "with " + name + '=' + value : "without " + name + '=' + words;
}

}  // namespace

Option& Option::with_unit(std::string what) {
  unit = std::move(what);
  set = [number = std::move(set), of = unit](std::string_view text) {
    number(number_with_unit(text, of));
  };
  return *this;
}

Option& OptionList::add(std::string_view names, Option::Kind kind, std::string help,
                        std::function<void(std::string_view)> set,
                        std::function<std::string()> get) {
  Option& option = options_.emplace_back();
  const std::vector<std::string_view> all = split(names, ',');
  option.name = all.front();
  option.second_names.assign(all.begin() + 1, all.end());
  for (const BetterName& each : kBetterNames) {
    if (each.old != option.name || !group_.starts_with(each.group)) continue;
    if (find(each.better) == nullptr) option.second_names.emplace_back(each.better);
  }
  option.group = group_;
  option.kind = kind;
  option.help = std::move(help);
  option.set = std::move(set);
  option.get = std::move(get);
  return option;
}

Option& OptionList::bounded(Option& option, double least, double most, std::string unit) {
  option.least = least;
  option.most = most;
  return unit.empty() ? option : option.with_unit(std::move(unit));
}

Option& OptionList::duration(std::string_view names, Duration& target, std::string help,
                             Duration least) {
  Option& option = add(
      names, Option::Kind::kDuration, std::move(help),
      [&target, least](std::string_view text) { target = parse_duration(text, least); },
      [&target] { return format_duration(target); });
  return bounded(option, to_seconds(least), option.most);
}

Option& OptionList::duration_or_none(std::string_view names, Duration& target, std::string help,
                                     Duration least) {
  return or_none(duration(names, target, std::move(help), least), target, Duration::max());
}

Option& OptionList::number(std::string_view names, double& target, std::string help, double least,
                           double most, std::string unit) {
  Option& option = add(
      names, Option::Kind::kNumber, std::move(help),
      [&target, least, most](std::string_view text) { target = parse_factor(text, least, most); },
      [&target] { return print_number(target); });
  return bounded(option, least, most, std::move(unit));
}

Option& OptionList::number_or_none(std::string_view names, double& target, std::string help,
                                   double least, double most, std::string unit) {
  return or_none(number(names, target, std::move(help), least, most, std::move(unit)), target,
                 std::numeric_limits<double>::infinity());
}

Option& OptionList::one_of(std::string_view names, std::vector<std::string_view> choices,
                           std::string help, std::function<void(std::size_t)> choose,
                           std::function<std::string()> get) {
  Option& option = add(
      names, Option::Kind::kChoice, std::move(help),
      [choices, choose = std::move(choose)](std::string_view text) {
        const auto found = std::find(choices.begin(), choices.end(), text);
        if (found == choices.end()) refuse(unknown_name(text, choices));
        choose(static_cast<std::size_t>(found - choices.begin()));
      },
      std::move(get));
  option.choices = std::move(choices);
  return option;
}

Option& OptionList::yes_or_no(std::string_view names, bool& target, std::string help) {
  return choice(names, target, {{"no", false}, {"yes", true}}, std::move(help));
}

Option& OptionList::text(std::string_view names, std::string help,
                         std::function<void(std::string_view)> set,
                         std::function<std::string()> get) {
  return add(names, Option::Kind::kText, std::move(help), std::move(set), std::move(get));
}

const Option* OptionList::find(std::string_view name) const {
  for (const Option& option : options_) {
    if (option.name == name || std::find(option.second_names.begin(), option.second_names.end(),
                                         name) != option.second_names.end()) {
      return &option;
    }
  }
  return nullptr;
}

// The last ones are those of the part that asks.
Option& OptionList::own(std::string_view name) {
  const auto found = std::find_if(options_.rbegin(), options_.rend(),
                                  [name](const Option& each) { return each.name == name; });
  if (found == options_.rend()) throw std::logic_error("no option " + std::string(name));
  return *found;
}

void OptionList::needs(std::string_view names, std::string_view need) {
  for (const std::string_view name : split(names, ' ')) own(name).needs.push_back(parse_need(need));
}

void OptionList::needs_after(std::string_view name, std::string_view need) {
  for (auto each = options_.rbegin(); each->name != name; ++each) {
    each->needs.push_back(parse_need(need));
  }
}

void OptionList::no_effect(std::string_view names, const std::function<std::string()>& why) {
  for (const std::string_view name : split(names, ' ')) own(name).needs.push_back({.text = why});
}

void OptionList::no_effect_after(std::string_view name, const std::function<std::string()>& why) {
  for (auto each = options_.rbegin(); each->name != name; ++each) {
    each->needs.push_back({.text = why});
  }
}

void OptionList::add_renamed(const OptionList& part, std::span<const RenamedOption> names) {
  for (const RenamedOption& each : names) {
    Option& option = options_.emplace_back(*part.find(each.name));
    option.name = each.renamed;
    option.help = each.help;
    option.group = group_;
    option.basic.clear();
    option.second_names.clear();
    for (Option::Need& need : option.needs) {
      for (const RenamedOption& other : names) {
        if (need.name == other.name) need.name = other.renamed;
      }
    }
  }
}

void OptionList::add_prefixed(const OptionList& part, std::string_view prefix) {
  constexpr std::string_view kOfNames = "abcdefghijklmnopqrstuvwxyz0123456789-";
  for (const Option& each : part.all()) {
    Option& option = options_.emplace_back(each);
    option.name.insert(0, prefix);
    if (!option.same_as.empty()) option.same_as.insert(0, prefix);
    option.group = group_;
    option.basic.clear();
    option.needs.clear();  // whoever uses the part asks it
    for (std::string& name : option.second_names) name.insert(0, prefix);
    // The help names other options of the part.
    std::string& help = option.help;
    for (std::size_t at = help.find("--"); at != help.npos; at = help.find("--", at + 2)) {
      const std::size_t end = std::min(help.find_first_not_of(kOfNames, at + 2), help.size());
      if (part.find(std::string_view(help).substr(at + 2, end - at - 2)) != nullptr) {
        help.insert(at + 2, prefix);
      }
    }
  }
}

void OptionList::set(std::string_view name, std::string_view value) const {
  const Option* option = find(name);
  if (option == nullptr) {
    std::vector<std::string_view> known;
    for (const Option& each : options_) {
      known.push_back(each.name);
      known.insert(known.end(), each.second_names.begin(), each.second_names.end());
    }
    const auto meant = nearest(name, known);
    refuse("there is no option " + in_quotes(name) +
           (meant.empty() ? "" : " (did you mean " + std::string(meant) + "?)"));
  }
  try {
    option->set(value);
  } catch (const std::invalid_argument& error) {
    refuse(std::string(name) + ": " + error.what());
  }
}

void OptionList::apply(std::string_view settings) const {
  for (std::string_view line : split(settings, '\n')) {
    line = trimmed(line);
    if (line.empty() || line.front() == '#' || line.front() == ';') continue;
    const std::size_t equals = line.find('=');
    if (equals == line.npos) refuse(in_quotes(line) + " is not NAME = VALUE");
    set(trimmed(line.substr(0, equals)), trimmed(line.substr(equals + 1)));
  }
}

void OptionList::add_all(const OptionList& others,
                         const std::function<bool(const Option&)>& wanted) {
  for (const Option& each : others.all()) {
    if (wanted(each)) options_.push_back(each);
  }
}

std::string forms_of(const std::string& name, const OptionList& list) {
  for (const Option& each : list.all()) {
    if (each.name == name && !each.same_as.empty()) return each.same_as + " (" + name + ')';
    if (each.same_as == name) return name + " (" + each.name + ')';
  }
  return name;
}

UnusedOptions unused_among(const OptionList& in_force, const OptionList& usual,
                           const std::vector<std::string>& named) {
  const std::set<std::string> given = given_among(in_force, usual, named);
  UnusedOptions unused;
  for (const Option& option : in_force.all()) {
    if (!given.contains(option.name)) continue;
    std::string reason;
    for (const Option::Need& need : option.needs) {
      std::string other = need.name.empty() ? need.text() : unmet(need, in_force);
      if (!other.empty()) reason = std::move(other);
    }
    if (reason.empty()) continue;
    const bool is_clause = reason.starts_with(':');
    unused.emplace(option.name, forms_of(option.name, in_force) + " has no effect" +
                                    (is_clause ? "" : " ") + reason);
  }
  return unused;
}

std::set<std::string> given_among(const OptionList& in_force, const OptionList& usual,
                                  const std::vector<std::string>& named) {
  std::set<std::string> names;
  for (std::size_t i = 0; i < in_force.all().size(); ++i) {
    const Option& option = in_force.all()[i];
    const std::string value = option.get();
    if (value == usual.all()[i].get()) continue;
    names.insert(option.name);
    if (option.is_preset) usual.set(option.name, value);
  }
  for (const std::string& name : named) {
    if (const Option* option = in_force.find(name)) names.insert(option->name);
  }
  return names;
}

void refuse(const UnusedOptions& unused) {
  // Two forms of an option have the same sentence.
  std::set<std::string> sentences;
  std::string lines;
  for (const auto& [name, sentence] : unused) {
    if (sentences.insert(sentence).second) lines += (lines.empty() ? "" : "\n") + sentence;
  }
  if (!lines.empty()) throw NoEffect(lines);
}

}  // namespace retrystorm
