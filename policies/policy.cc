#include "policies/policy.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <unordered_map>

#include "model/base/text.h"
#include "model/retry/strategies.h"
#include "words/words.h"

namespace retrystorm {
namespace {

constexpr std::size_t kMostNotes = 100'000;    // of a file
constexpr std::size_t kMostPolicies = 10'000;  // in a file: each takes some kB
constexpr std::size_t kMostDifferent = 400;    // each takes some milliseconds

void drop_what_has_no_effect(Policy& policy) {
  // One option may have been what another needed.
  for (std::size_t rounds = policy.settings.size(); rounds > 0; --rounds) {
    ScenarioOptions scenario;
    OptionList list;
    declare_options(list, scenario);
    std::string refused, reason;
    apply_options(list, options_of(policy), [&](const std::string& name, const char* why) {
      refused = name;
      reason = why;
    });
    if (refused.empty()) {
      scenario.hosts.replicas = std::max<std::size_t>(scenario.hosts.replicas, 2);
      const UnusedOptions unused = unused_options(scenario);
      const auto first = std::ranges::find_if(
          unused, [&](const auto& each) { return policy.find(each.first) != nullptr; });
      if (first == unused.end()) return;
      policy.remove(first->first);
      continue;
    }
    const Setting* setting = policy.find(refused);
    if (setting == nullptr) return;
    policy.not_modelled(setting->line, reason);
    policy.remove(refused);
  }
}

bool is_of_hosts(std::string_view option) {
  HostSettings none;
  OptionList list;
  declare_options(list, none);
  return list.find(option) != nullptr;
}

// If it is not known how many there are.
void set_hosts_apart(Policy& policy) {
  if (policy.find("replicas") != nullptr) return;
  auto& all = policy.settings;
  const auto rest = std::stable_partition(
      all.begin(), all.end(), [](const Setting& each) { return !is_of_hosts(each.option); });
  policy.of_hosts.assign(rest, all.end());
  all.erase(rest, all.end());
}

// What the policy says, without its lines: the same text for policies that are equal.
std::string content_of(const Policy& policy) {
  std::string text;
  const auto add = [&text](std::string_view part) { text.append(part) += '\0'; };
  add(policy.refused ? "refused" : "");
  add(policy.has_retries ? "" : "limits");
  add(policy.layer);
  for (const Setting& each : policy.settings) {
    add(each.option);
    add(each.value);
  }
  for (const Note& each : policy.notes) {
    add(std::to_string(static_cast<int>(each.level)));
    add(each.rule);
    add(each.text);
  }
  return text;
}

void fold(std::vector<Policy>& policies) {
  std::unordered_map<std::string, std::size_t> places;  // by content
  std::vector<Policy> folded;
  std::vector<std::set<std::string>> names, hosts;  // of each
  for (Policy& each : policies) {
    const auto [place, is_new] = places.try_emplace(content_of(each), folded.size());
    if (is_new) {
      names.emplace_back(each.names.begin(), each.names.end());
      hosts.emplace_back(each.hosts.begin(), each.hosts.end());
      folded.push_back(std::move(each));
      continue;
    }
    const std::size_t twin = place->second;
    for (const std::string& name : each.names) {
      if (names[twin].insert(name).second) folded[twin].names.push_back(name);
    }
    for (const std::string& host : each.hosts) {
      if (hosts[twin].insert(host).second) folded[twin].hosts.push_back(host);
    }
  }
  policies = std::move(folded);
}

// The named strategy with exactly these retry options; empty if there is none.
std::string_view strategy_of(const Policy& policy) {
  RetrySettings ours = scenario_of(options_of(policy)).workload.retry;
  OptionList our_list;
  declare_options(our_list, ours);
  const auto equal = [&](std::string_view name) {
    RetrySettings theirs = retry_settings(name);
    OptionList their_list;
    declare_options(their_list, theirs);
    for (std::size_t i = 0; i < our_list.all().size(); ++i) {
      const Option& option = our_list.all()[i];
      if (option.name != "strategy" && option.get() != their_list.all()[i].get()) return false;
    }
    return true;
  };
  if (equal(ours.strategy)) return find_strategy(ours.strategy)->name;
  for (const NamedStrategy& each : named_strategies()) {
    if (equal(each.name)) return each.name;
  }
  return {};
}

// Comments of at most 100 columns.
void add_comment(std::string& text, std::string_view sentence) {
  constexpr std::size_t kWidth = 98;
  std::string_view indent = "# ";
  while (!sentence.empty()) {
    std::size_t end = sentence.size();
    if (end + indent.size() > kWidth) {
      end = sentence.rfind(' ', kWidth - indent.size());
      if (end == sentence.npos || end == 0) end = std::min(sentence.find(' '), sentence.size());
    }
    text.append(indent).append(sentence.substr(0, end)) += '\n';
    sentence.remove_prefix(std::min(end + 1, sentence.size()));
    indent = "#   ";
  }
}

std::string at_line(std::size_t line) {
  return line > 0 ? "line " + std::to_string(line) + ": " : "";
}

}  // namespace

void Policy::set(std::string option, std::string value, std::size_t at, std::string source) {
  remove(option);
  settings.push_back({std::move(option), std::move(value), at, std::move(source)});
}

void Policy::note(Note::Level level, std::string_view rule, std::size_t at, std::string text) {
  notes.push_back({level, std::string(rule), at, std::move(text)});
}

void Policy::take(std::string option, std::string value, const Node& from, std::string_view more) {
  set(std::move(option), std::move(value), from.line, field_text(from).append(more));
}

const Setting* Policy::find(std::string_view option) const {
  const auto found = std::ranges::find(settings, option, &Setting::option);
  return found == settings.end() ? nullptr : &*found;
}

void Policy::add(const Policy& part) {
  for (const Setting& each : part.settings) set(each.option, each.value, each.line, each.source);
  for (const Note& each : part.notes) note(each.level, each.rule, each.line, each.text);
  refused |= part.refused;
}

void Policy::remove(std::string_view option) {
  std::erase_if(settings, [option](const Setting& each) { return each.option == option; });
}

std::string shown(std::string_view text, std::size_t longest) {
  std::string line;
  for (const char c : text.substr(0, longest)) {
    line += c < ' ' || c > '~' ? '?' : c;
  }
  if (text.size() > longest) line += "...";
  return line;
}

std::string name_of(const Node& object) {
  return shown(object["metadata>name"].brief());
}

std::string field_text(const Node& field) {
  return shown(field.name) + (field.is_scalar() ? ": " + shown(field.text) : "");
}

bool add_field(Policy& policy, const Field& field, const Node& node, std::string_view program) {
  if (field.read == nullptr) {
    const std::string name = field.last_name(), note(field.note);
    if (name.empty()) policy.assume(std::string(field.option), std::string(field.standard), note);
    if (node && !name.empty()) policy.not_modelled(node.line, name + ": " + note);
    return false;
  }
  if (!node || node.kind == Node::Kind::kNull) {
    if (!field.standard.empty()) {
      policy.assume(std::string(field.option), std::string(field.standard),
                    field.last_name() + " is not given: the default of " + std::string(program));
    }
    return false;
  }
  try {
    if (!node.is_scalar()) refuse("a single value is expected here");
    // Many may inherit it.
    constexpr std::size_t kLongestValue = 1'000;
    if (node.text.size() > kLongestValue) refuse("this is too long");
    policy.take(std::string(field.option), field.read(node.text), node);
    return true;
  } catch (const std::invalid_argument& error) {
    const bool open =
        node.text.find("${") != std::string::npos || node.text.find("{{") != std::string::npos;
    constexpr std::size_t kLongestMessage = 200;
    policy.refuse(node.line, shown(field.last_name()) + ": " +
                                 (open ? "its value is a placeholder: render the file first"
                                       : shown(error.what(), kLongestMessage)));
    return false;
  }
}

void add_fields(Policy& policy, std::span<const Field> fields, const Node& map,
                std::string_view program, NameCase name_case) {
  for (const Field& each : fields) {
    add_field(policy, each, map.at(each.name, name_case), program);
  }
}

void add_timeouts(Policy& policy) {
  if (const Setting* found = policy.find("retry-on")) {
    const Setting on = *found;
    policy.set("retry-on", on.value + "+timeout", on.line, on.source);
  }
}

void note_others(std::vector<Note>& notes, const Node& map, std::vector<std::string_view> known,
                 std::string_view what, NameCase name_case) {
  if (!map.is_map()) return;
  std::vector<std::string> camel;
  if (name_case == NameCase::kProtobuf) {
    for (const std::string_view each : known) camel.push_back(in_camel_case(each));
  }
  known.insert(known.end(), camel.begin(), camel.end());
  for (const Node& each : map.children) {
    if (std::ranges::any_of(known, [&](std::string_view name) {
          return is_same_name(name, each.name, name_case);
        })) {
      continue;
    }
    // Such as max_attempts for maxAttempts.
    const auto plain = std::ranges::find_if(known, [&each](std::string_view name) {
      return plain_word(name) == plain_word(each.name);
    });
    const std::string_view meant = plain != known.end() ? *plain : nearest(each.name, known);
    notes.push_back({Note::Level::kWarning, std::string(kNoEffect), each.line,
                     shown(each.name) + " is " + std::string(what) +
                         (meant.empty() ? "" : " (the field is " + std::string(meant) + ")")});
  }
}

NamedOptions options_of(const Policy& policy) {
  NamedOptions options;
  for (const Setting& each : policy.settings) options[each.option] = each.value;
  return options;
}

NamedOptions options_to_run(const Policy& policy, bool several) {
  NamedOptions options = options_of(policy);
  for (const Setting& each : policy.of_hosts) options[each.option] = each.value;
  std::erase_if(options, [several](const auto& each) {
    return each.first == "replicas" || (!several && is_of_hosts(each.first));
  });
  return options;
}

void check_count(std::size_t policies) {
  if (policies == kMostPolicies)
    refuse_too_large("more than " + std::to_string(kMostPolicies) + " policies");
}

void PolicyFile::add(Policy policy) {
  check_count(policies.size());
  all_notes += policy.notes.size();
  if (all_notes > kMostNotes)
    refuse_too_large("more than " + std::to_string(kMostNotes) + " notes");
  policies.push_back(std::move(policy));
}

void finish(PolicyFile& file) {
  for (Policy& each : file.policies) {
    std::ranges::stable_sort(each.notes, std::greater(), &Note::level);
  }
  fold(file.policies);
  if (file.policies.size() > kMostDifferent) {
    refuse_too_large("more than " + std::to_string(kMostDifferent) + " different policies");
  }
  for (Policy& each : file.policies) {
    if (!each.refused) drop_what_has_no_effect(each);
  }
  fold(file.policies);  // some may be equal only now
  for (Policy& each : file.policies) set_hosts_apart(each);
}

std::string settings_text(const PolicyFile& file, const Policy& policy, std::string_view path) {
  std::string text;
  add_comment(text, printable(path) + ", " + at_line(policy.line) + file.kind);
  std::vector<std::string> names = policy.names;
  constexpr std::size_t kShownNames = 8;
  const std::size_t more = names.size() - std::min(names.size(), kShownNames);
  names.resize(names.size() - more);
  add_comment(text, "for " + (names.empty() ? "all" : list_words(names)) +
                        (more > 0 ? " and " + std::to_string(more) + " more" : ""));
  for (const auto* notes : {&file.notes, &policy.notes}) {
    for (const Note& each : *notes) {
      const char* const kind = each.rule == kNotModelled ? "not modelled: "
                               : each.rule == kAssumed   ? "assumed: "
                                                         : "NOTE: ";
      add_comment(text, kind + at_line(each.line) + each.text);
    }
  }
  text += '\n';
  const Setting* const named = policy.find("strategy");
  const std::string_view strategy = strategy_of(policy);
  if (named == nullptr && !strategy.empty()) {
    add_comment(text, "what follows is this named strategy");
    text.append("strategy = ").append(strategy) += '\n';
  }
  const auto add = [&text](const std::vector<Setting>& settings, const char* mark) {
    for (const Setting& each : settings) {
      add_comment(text, at_line(each.line) + each.source);
      text += mark + each.option + " = " + each.value + '\n';
    }
  };
  add(policy.settings, "");
  const char* const kNotKnown = "how many hosts there are is not in the file; with --replicas:";
  if (!policy.of_hosts.empty()) add_comment(text, kNotKnown);
  add(policy.of_hosts, "#");
  return text;
}

}  // namespace retrystorm
