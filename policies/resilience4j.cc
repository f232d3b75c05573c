// resilience4j, in Spring's application.yml or .properties, or in a file of its own.
// Sources: resilience4j-framework-common (CommonRetryConfigurationProperties, ConfigUtils),
// resilience4j-retry (RetryConfig, IntervalFunction), resilience4j-circuitbreaker
// (CircuitBreakerConfig); RELEASENOTES of 2.0.1.
#include <algorithm>
#include <array>
#include <map>
#include <span>

#include "model/base/text.h"
#include "policies/mesh.h"

namespace retrystorm {
namespace {

constexpr std::string_view kProgram = "resilience4j";

std::string multiplier(std::string_view text) {
  const std::string number = plain_share(text);
  if (parse_number(number, 0, 1e9) < 1) refuse("this must be at least 1: the start fails");
  return number;
}

std::string window_kind(std::string_view text) {
  const std::string plain = plain_word(text);
  if (plain == "countbased") return "calls";
  if (plain == "timebased") return "time";
  refuse("this is COUNT_BASED or TIME_BASED");
}

std::string jitter(std::string_view text) {
  const std::string factor = plain_share(text);
  if (parse_number(factor, 0, 1e9) >= 1) refuse("this must be below 1");
  return "proportional:" + factor;
}

constexpr Field kMaxAttempts{"maxAttempts", "max-attempts", count_from<1>, "3"};
constexpr Field kWait{"waitDuration", "backoff-base", as_option<spring_duration>, "500ms"};
constexpr Field kFactor{"exponentialBackoffMultiplier", "backoff-factor", multiplier, "1.5"};
constexpr Field kCap{"exponentialMaxWaitDuration", "backoff-cap", as_option<spring_duration>};
constexpr Field kJitter{"randomizedWaitFactor", "jitter", jitter, "proportional:0.5"};
constexpr Field kTimeLimit{"timeoutDuration", "timeout", as_option<spring_duration>, "1s"};
constexpr std::array kBreaker{
    Field{"slidingWindowType", "breaker-window", window_kind, "calls"},
    Field{"minimumNumberOfCalls", "breaker-min-calls", count_from<1>, "100"},
    Field{"failureRateThreshold", "breaker-failure-share", percent_as_share, "0.5"},
    Field{"slowCallDurationThreshold", "breaker-slow-call", as_option<spring_duration>, "1m"},
    Field{"slowCallRateThreshold", "breaker-slow-share", percent_as_share, "1"},
    Field{"waitDurationInOpenState", "breaker-open-for", as_option<spring_duration>, "1m"},
    Field{"permittedNumberOfCallsInHalfOpenState", "breaker-trials", count_from<1>, "10"}};
constexpr std::array kWindowCalls{
    Field{"slidingWindowSize", "breaker-calls", count_from<1>, "100"}};
constexpr std::array kWindowTime{
    // one slice for each second
    Field{"slidingWindowSize", "breaker-time", whole_seconds, "100s"},
    Field{"slidingWindowSize", "breaker-slices", count_from<1>, "100"}};

constexpr std::string_view kClasses = "classes of Java; --retry-on stays as it is";
constexpr std::array kOthersOfRetry{
    not_simulated("intervalBiFunction", "a class that computes the waits, in place of all others"),
    not_simulated("retryExceptions", kClasses), not_simulated("ignoreExceptions", kClasses),
    not_simulated("retryExceptionPredicate", kClasses), not_simulated("resultPredicate", kClasses)};

// A module (retry, circuitbreaker, timelimiter): the properties of its instances and configurations, by their relaxed
// names.
struct Module {
  std::map<std::string, Nodes> instances{}, configs{};
};

using Modules = std::map<std::string, Module>;

// The parts of a key: dots inside of brackets are part of a name.
std::vector<std::string> parts_of(std::string_view key) {
  std::vector<std::string> parts(1);
  int depth = 0;
  for (const char c : key) {
    if (c == '[') ++depth;
    if (c == ']') --depth;
    if (c == '.' && depth <= 0) {
      parts.emplace_back();
    } else {
      parts.back() += c;
    }
  }
  return parts;
}

void add_entry(Modules& modules, const Node& entry) {
  const std::vector<std::string> parts = parts_of(entry.name);
  if (parts.size() < 5 || plain_word(parts[0]) != "resilience4j") return;
  Module& module = modules[plain_word(parts[1])];
  const std::string group = plain_word(parts[2]);
  const bool is_config = group == "configs";
  if (!is_config && group != "instances" && group != "backends") return;
  std::string name;
  for (std::size_t i = 3; i + 1 < parts.size(); ++i) name += (i > 3 ? "." : "") + parts[i];
  if (name.size() > 2 && name.front() == '[' && name.back() == ']') {
    name = name.substr(1, name.size() - 2);
  }
  Nodes& properties = (is_config ? module.configs : module.instances)[name];
  const std::string property = plain_word(parts.back());
  properties[property.substr(0, property.find('['))] =
      scalar_node(parts.back(), entry.text, entry.line);
}

const Node& find(const Nodes& properties, std::string_view name) {
  return node_in(properties, plain_word(name));
}

// What `${NAME:value}` stands for where NAME is not set.
Node without_placeholder(const Node& node) {
  const std::string& text = node.text;
  const std::size_t colon = text.find(':');
  if (!text.starts_with("${") || !text.ends_with('}') || colon == text.npos ||
      text.find("${", 1) != text.npos) {
    return node;
  }
  Node plain = node;
  plain.text = text.substr(colon + 1, text.size() - colon - 2);
  return plain;
}

bool set(Policy& policy, const Field& field, const Node& node) {
  const Node plain = without_placeholder(node);
  if (plain.text != node.text) {
    policy.assumed(node.line,
                   field_text(node) + ": its default, " + shown(plain.text) + ", is taken");
  }
  return add_field(policy, field, plain, kProgram);
}

bool on(const Node& node) {
  return is_true(without_placeholder(node).text);
}

// An instance, and the configurations that it begins with: its baseConfig, or `default`, and so on.
struct Instance {
  std::vector<const Nodes*> levels{};
  Node missing{};  // a baseConfig that there is not, or that begins with itself

  // From the first that has it.
  const Node& operator[](std::string_view name) const {
    for (const Nodes* each : levels) {
      if (const Node& found = find(*each, name)) return found;
    }
    return kNowhere;
  }
};

Instance instance_of(const Module& module, const std::string& name, const Nodes& own) {
  Instance instance{.levels = {&own}};
  auto& levels = instance.levels;
  std::string_view at = name;
  while (true) {
    const Node& wanted = find(*levels.back(), "baseConfig");
    if (!wanted && at == "default") return instance;
    const auto found = module.configs.find(wanted ? wanted.text : "default");
    constexpr std::size_t kMost = 20;  // more are as good as a circle
    if (found == module.configs.end() || levels.size() > kMost ||
        std::ranges::find(levels, &found->second) != levels.end()) {
      instance.missing = wanted;
      return instance;
    }
    levels.push_back(&found->second);
    at = found->first;
  }
}

void note_idle(Policy& policy, const Node& field, const std::string& why) {
  policy.fault(kNoEffect, field.line, field_text(field) + " has no effect: " + why);
}

// All waits are those of the first level that has a waitDuration. Four of its fields it takes from its
// own base where it does not have them; its factor of randomness it does not.
void read_waits(Policy& policy, const Instance& instance) {
  std::size_t at = 0;
  const auto& levels = instance.levels;
  while (at < levels.size() && !find(*levels[at], kWait.name)) ++at;
  for (std::size_t i = 0; i < at; ++i) {
    for (const char* name :
         {"enableExponentialBackoff", "exponentialBackoffMultiplier", "exponentialMaxWaitDuration",
          "enableRandomizedWait", "randomizedWaitFactor"}) {
      const Node& idle = find(*levels[i], name);
      if (!idle || plain_word(idle.text) == "false") continue;
      note_idle(policy, idle,
                at < levels.size()
                    ? "without a waitDuration of its own it has the waits of its base"
                    : "without a waitDuration beside it the waits are the default");
    }
  }
  if (at == levels.size()) {
    policy.assume("growth", "constant", "there is no waitDuration: the default of resilience4j");
    set(policy, kWait, kNowhere);
    return;
  }
  static const Nodes kNone;
  const Nodes &own = *levels[at], &base = at + 1 < levels.size() ? *levels[at + 1] : kNone;
  const auto merged = [&](std::string_view name) -> const Node& {
    return find(own, name) ? find(own, name) : find(base, name);
  };
  const Node& grows = merged("enableExponentialBackoff");
  const bool exponential = on(grows), random = on(merged("enableRandomizedWait"));
  policy.set("growth", exponential ? "exponential" : "constant", grows.line,
             grows ? field_text(grows) : "enableExponentialBackoff is not given");
  set(policy, kWait, find(own, kWait.name));
  const Node &factor = merged(kFactor.name), &cap = merged(kCap.name),
             &spread = find(own, kJitter.name);
  if (exponential) {
    const bool spreads = spread && (!random || factor);
    const bool caps = factor && (!random || spreads);
    if (spread && !spreads) {
      note_idle(policy, spread, "with exponential waits it needs an exponentialBackoffMultiplier");
    }
    if (cap && !caps) {
      note_idle(policy, cap,
                factor ? "with enableRandomizedWait it needs a randomizedWaitFactor"
                       : "it needs an exponentialBackoffMultiplier");
    }
    set(policy, kFactor, factor);
    if (set(policy, kCap, caps ? cap : kNowhere) && random) {
      policy.assume("cap-applies", "after-jitter", "resilience4j's cap holds after its jitter");
    }
    if (random) set(policy, kJitter, spreads ? spread : kNowhere);
  } else {
    for (const Node* idle : {&factor, &cap}) {
      if (*idle) note_idle(policy, *idle, "it needs enableExponentialBackoff: true");
    }
    if (random) set(policy, kJitter, spread);
  }
  const Node& lost = find(base, kJitter.name);
  if (random && !spread && lost) {
    note_idle(policy, lost, "an instance with a waitDuration does not inherit it; 0.5 is in force");
  }
  if (!random && spread) note_idle(policy, spread, "it needs enableRandomizedWait: true");
}

// What was removed in 2.0.1.
void note_removed(Policy& policy, const Node& old, const std::string& instead = "") {
  if (!old) return;
  policy.fault(kDependsOnVersion, old.line,
               field_text(old) + ": removed in resilience4j 2.0.1" + instead);
}

// The properties of a retry, as in resilience4j 2.3 (CommonRetryConfigurationProperties), and what it had before.
const std::vector<std::string_view> kNames = split(
    "baseConfig maxRetryAttempts enableExponentialBackoff enableRandomizedWait failAfterMaxAttempts "
    "consumeResultBeforeRetryAttempt eventConsumerBufferSize ignoreClassBindingExceptions maxAttempts "
    "waitDuration exponentialBackoffMultiplier exponentialMaxWaitDuration randomizedWaitFactor "
    "intervalBiFunction retryExceptions ignoreExceptions retryExceptionPredicate resultPredicate",
    ' ');

// Spring skips what is misspelt.
void note_unknown(Policy& policy, const Instance& instance) {
  for (const Nodes* level : instance.levels) {
    Node all{.kind = Node::Kind::kMap};
    for (const auto& [name, node] : *level) {
      const auto is_it = [&name = name](std::string_view each) { return plain_word(each) == name; };
      if (std::ranges::none_of(kNames, is_it)) all.children.push_back(node);
    }
    note_others(policy.notes, all, kNames, "no property of a retry, and Spring skips it");
  }
}

void read_retry(Policy& policy, const Instance& instance) {
  note_unknown(policy, instance);
  if (instance.missing) {
    policy.refuse(instance.missing.line, field_text(instance.missing) +
                                             ": there is no such configuration: the start fails");
  }
  const Node& attempts = instance[kMaxAttempts.name];
  for (const Nodes* each : instance.levels) {
    note_removed(policy, find(*each, "maxRetryAttempts"),
                 std::string(", and Spring skips unknown names: ") +
                     (attempts ? "maxAttempts is in force" : "3 attempts are in force") +
                     "; the property is maxAttempts");
  }
  if (set(policy, kMaxAttempts, attempts)) {
    policy.remark(
        kDependsOnVersion, attempts.line,
        "read as 2.x; before 1.7 the key was maxRetryAttempts, and without it there were 3");
  }
  read_waits(policy, instance);
  for (const Field& each : kOthersOfRetry) {
    add_field(policy, each, instance[each.name], kProgram);
  }
}

void read_breaker(Policy& policy, const Instance& instance) {
  policy.set("breaker", "resilience4j", instance.levels.front()->begin()->second.line,
             "circuitbreaker of the same name");
  for (const Field& field : kBreaker) set(policy, field, instance[field.name]);
  const bool by_time = policy.value("breaker-window") == "time";
  for (const Field& field : by_time ? std::span<const Field>(kWindowTime) : kWindowCalls) {
    set(policy, field, instance[field.name]);
  }
  const Setting* calls = policy.find("breaker-calls");
  const Setting* least = policy.find("breaker-min-calls");
  if (calls != nullptr && least != nullptr &&
      parse_number(least->value, 0, 1e10) > parse_number(calls->value, 0, 1e10)) {
    policy.set("breaker-min-calls", calls->value, least->line,
               least->source + ", but no more than slidingWindowSize");
  }
  for (const char* old : {"ringBufferSizeInClosedState", "ringBufferSizeInHalfOpenState"}) {
    note_removed(policy, instance[old]);
  }
  policy.assume("when-refused", "back-off",
                "assumed: Retry(CircuitBreaker(...)), so that a refusal is retried, too");
  policy.assumed(
      policy.find("breaker")->line,
      "Retry stands around the CircuitBreaker of the same name (annotations in the program "
      "say which do)");
}

Policy policy_of(Modules& modules, const std::string& name, const std::string& title,
                 const Instance& instance) {
  Policy policy{.names = {title}};
  for (const Nodes* level : instance.levels) {
    if (level->empty()) continue;
    const auto line_of = [](const auto& each) { return each.second.line; };
    policy.line = line_of(*std::ranges::min_element(*level, {}, line_of));
    break;
  }
  read_retry(policy, instance);
  // The instance of this name in another module; without levels if there is none.
  const auto in_module = [&](const char* other) {
    const Module& module = modules[other];
    const auto found = module.instances.find(name);
    return found == module.instances.end() ? Instance() : instance_of(module, "", found->second);
  };
  const Instance breaker = in_module("circuitbreaker"), limit = in_module("timelimiter");
  if (!breaker.levels.empty() && !breaker.levels.front()->empty()) read_breaker(policy, breaker);
  if (!limit.levels.empty()) {
    set(policy, kTimeLimit, limit[kTimeLimit.name]);
  } else {
    policy.not_modelled(0,
                        "the timeout of a call stands in the program (its HTTP client): give "
                        "--timeout");
  }
  if (modules["bulkhead"].instances.contains(name) ||
      modules["ratelimiter"].instances.contains(name)) {
    policy.not_modelled(0, "the bulkhead or rate limiter of the same name");
  }
  return policy;
}

// Adds the policies of each instance of Retry, by their names; with `suffix` after them.
void add_policies(PolicyFile& file, Modules& modules, const std::string& suffix) {
  const Module& retry = modules["retry"];
  for (const auto& [name, own] : retry.instances) {
    file.add(policy_of(modules, name, shown(name) + suffix, instance_of(retry, "", own)));
  }
  if (!retry.instances.empty()) return;
  for (const auto& [name, own] : retry.configs) {
    file.add(
        policy_of(modules, name, "configs." + shown(name) + suffix, instance_of(retry, name, own)));
  }
}

// Circuit breakers that no Retry shares its name with.
void note_lone_breakers(PolicyFile& file, Modules& modules) {
  const Module& retry = modules["retry"];
  for (const auto& [name, own] : modules["circuitbreaker"].instances) {
    if (retry.instances.empty() || retry.instances.contains(name) || own.empty()) continue;
    file.note(Note::Level::kNote, kNotModelled, own.begin()->second.line,
              "circuitbreaker " + shown(name) +
                  ": no retry has this name, and which calls it surrounds stands in the "
                  "program");
  }
}

void flatten(std::vector<Node>& entries, const Node& node, const std::string& path) {
  constexpr std::size_t kLongestKey = 1'000;  // each value has a copy of it
  if (path.size() > kLongestKey) return;
  if (node.is_map()) {
    for (const Node& each : node.children) {
      flatten(entries, each, path.empty() ? each.name : path + '.' + each.name);
    }
  } else if (node.is_list()) {
    for (std::size_t i = 0; i < node.children.size(); ++i) {
      flatten(entries, node.children[i], path + '[' + std::to_string(i) + ']');
    }
  } else {
    entries.push_back(scalar_node(path, node.text, node.line));
  }
}

bool is_ours(std::string_view key) {
  constexpr std::string_view kName = "resilience4j";
  return plain_word(key.substr(0, kName.size())) == kName;
}

// The profile of a document; empty if it has none.
std::string profile_of(const std::vector<Node>& document) {
  for (const Node& each : document) {
    const std::string key = plain_word(each.name);
    if (key == "spring.config.activate.onprofile" || key == "spring.profiles") return each.text;
  }
  return "";
}

}  // namespace

PolicyFile read_resilience4j(const std::vector<Node>& documents, ReadAs) {
  std::vector<std::vector<Node>> all;
  for (const Node& document : documents) {
    std::vector<Node>& entries = all.emplace_back();
    // And what makes a document a profile's.
    for (const Node& each : document.children) {
      if (each.name.starts_with("spring") || is_ours(each.name)) flatten(entries, each, each.name);
    }
  }
  return read_properties(all);
}

PolicyFile read_properties(const std::vector<std::vector<Node>>& documents) {
  PolicyFile file{.kind = "resilience4j configuration", .format = "resilience4j"};
  Modules base;
  // The documents of each. All that is in none is copied for each of them.
  std::map<std::string, std::vector<const std::vector<Node>*>> profiles;
  constexpr std::size_t kMostProfiles = 100;
  bool ours = false;
  for (const auto& document : documents) {
    ours |= std::ranges::any_of(document, [](const Node& each) { return is_ours(each.name); });
    const std::string profile = profile_of(document);
    if (!profile.empty()) {
      profiles[profile].push_back(&document);
      continue;
    }
    for (const Node& each : document) add_entry(base, each);
  }
  if (!ours) return {};
  add_policies(file, base, "");
  note_lone_breakers(file, base);
  if (profiles.size() > kMostProfiles) {
    refuse_too_large("more than " + std::to_string(kMostProfiles) + " profiles");
  }
  for (const auto& [profile, own] : profiles) {
    Modules with = base;
    for (const auto* document : own) {
      for (const Node& each : *document) add_entry(with, each);
    }
    add_policies(file, with, " (profile " + shown(profile) + ")");
  }
  return file;
}

}  // namespace retrystorm
