#include "policies/mesh.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <map>
#include <set>
#include <stdexcept>

#include "model/retry/retry_on.h"

namespace retrystorm {
namespace {

// A word of retry_on, and the failures that it stands for.
struct Condition {
  std::string_view name;
  std::string_view covers;
  bool covers_timeouts = false;  // of a try that has a timeout of its own
  bool grpc = false;             // looks at the gRPC status of an answer
};

// Resets count as 5xx and as gateway errors (RetryStateImpl::wouldRetryFromReset).
constexpr std::array<Condition, 14> kConditions{{
    {.name = "5xx", .covers = "5xx+transport", .covers_timeouts = true},
    {.name = "gateway-error", .covers = "502+503+504+transport", .covers_timeouts = true},
    {.name = "reset", .covers = "transport", .covers_timeouts = true},
    {.name = "reset-before-request", .covers = "transport"},
    {.name = "connect-failure", .covers = "transport"},
    {.name = "refused-stream", .covers = "transport"},
    {.name = "retriable-4xx", .covers = "409"},
    {.name = "envoy-ratelimited", .covers = "429"},
    {.name = "canceled", .covers = "", .grpc = true},  // misspelt
    {.name = "cancelled", .covers = "CANCELLED", .grpc = true},
    {.name = "deadline-exceeded", .covers = "504", .grpc = true},
    {.name = "internal", .covers = "INTERNAL", .grpc = true},
    {.name = "resource-exhausted", .covers = "RESOURCE_EXHAUSTED", .grpc = true},
    {.name = "unavailable", .covers = "503", .grpc = true},
}};

bool is_status(std::string_view text) {
  return text.size() == 3 && text.find_first_not_of("0123456789") == text.npos && text >= "100" &&
         text <= "599";
}

bool is_zero(const Setting* duration) {
  return duration != nullptr && duration->value != "none" &&
         parse_duration(duration->value) == Duration::zero();
}

// Kubernetes 1.30, core/v1 Probe.
constexpr std::array kProbe{Field{"periodSeconds", "every", whole_seconds, "10s"},
                            Field{"timeoutSeconds", "timeout", whole_seconds, "1s"},
                            Field{"failureThreshold", "failures", count_from<1>, "3"}};

// One of them. On another port than the container's first it does not wait in the service's queue.
void add_probes(Policy& policy, const Node& container) {
  for (const std::string name : {"livenessProbe", "readinessProbe"}) {
    const Node &probe = container[name], &grpc = probe["grpc>port"],
               &port = grpc ? grpc : probe["httpGet>port"];
    if (probe && (!port || policy.find("probe"))) {
      policy.not_modelled(probe.line, name + ": one probe, by HTTP or gRPC, is simulated");
    } else if (probe) {
      const Node& first = container["ports"].first();
      const bool same =
          !first || port.text == first["containerPort"].text || port.text == first["name"].text;
      add_probe(policy, kProbe, probe, same ? kNowhere : port, "Kubernetes");
      policy.take("probe-does", name.starts_with('l') ? "restart" : "stop-traffic", probe);
    }
  }
}

}  // namespace

const Node& unwrapped(const Node& node) {
  const Node& value = node.first_of({"value", "Value"});
  return value ? value : node;
}

void set_envoy_waits(Policy& policy) {
  policy.assume("growth", "exponential", "Envoy's waits double");
  policy.assume("backoff-factor", "2", "Envoy's waits double");
  policy.assume("jitter", "full", "Envoy waits at random up to the backoff");
}

void settle_cap(Policy& policy, std::string_view cap) {
  const Setting* base = policy.find("backoff-base");
  if (base == nullptr || policy.find("backoff-cap") != nullptr) return;
  constexpr double kTimes = 10;
  policy.assume("backoff-cap", brief_duration(scale(parse_duration(base->value), kTimes)),
                std::string(cap) + " is not given: ten times the first wait");
}

void note_no_deadline(Policy& policy, std::string_view why) {
  policy.warn("no-deadline", policy.line,
              std::string(why) +
                  ": a request that is never answered waits for ever; here --timeout ends it");
}

void note_without(PolicyFile& file, std::size_t count, const std::string& what,
                  const std::string& no) {
  if (count == 0) return;
  file.note(Note::Level::kNote, kAssumed, 0,
            std::to_string(count) + ' ' + what + (count == 1 ? " has " : "s have ") + no);
}

void settle_timeouts(Policy& policy, std::string_view program, std::string_view of_try,
                     std::string_view of_all) {
  if (const Setting* all = policy.find("deadline"); is_zero(all)) {
    policy.set("deadline", "none", all->line, all->source + " means none");
  }
  if (is_zero(policy.find("timeout"))) policy.remove("timeout");
  std::string all = policy.value("deadline"), one = policy.value("timeout");
  if (all == "none") all.clear();
  if (one == "none") one.clear();
  if (!all.empty()) policy.assume("deadline-check", "at-end", "a request ends at its timeout");
  if (!one.empty() && (all.empty() || parse_duration(one) < parse_duration(all))) return;
  if (!one.empty()) {
    policy.warn(kNoEffect, policy.find("timeout")->line,
                std::string(of_try) + " (" + one + ") is not below " + std::string(of_all) + " (" +
                    all + "): it has no effect, and a timeout is never retried");
  }
  if (all.empty()) {
    return note_no_deadline(
        policy, "neither a try nor the whole request has a timeout in " + std::string(program));
  }
  policy.assume("timeout", all,
                "a try has no timeout of its own: it may take all the time, and its timeout is not "
                "retried");
}

bool add_conditions(Policy& policy, std::string_view list, const std::vector<std::string>& codes,
                    std::size_t line, bool has_headers) {
  std::vector<std::string_view> words;
  for (const std::string_view each : parts_of(list, ',')) {
    if (!trimmed(each).empty()) words.push_back(trimmed(each));
  }
  const bool only_grpc = std::ranges::all_of(words, [](std::string_view word) {
    const Condition* condition = row_named(kConditions, word);
    return condition && condition->grpc;
  });
  std::string value, grpc;
  std::set<std::string, std::less<>> added;
  const auto add = [&value, &added](std::string_view part) {
    for (const std::string_view each : split(part, '+')) {
      if (added.emplace(each).second) append(value, each);
    }
  };
  bool wants_codes = false, timeouts = false;
  for (const std::string_view word : words) {
    const Condition* condition = row_named(kConditions, word);
    if (word == "canceled") {
      policy.warn(kNoEffect, line,
                  "canceled is no condition of Envoy (it is cancelled): it has no effect");
    } else if (word == "retriable-status-codes") {
      wants_codes = true;
    } else if (word == "http3-post-connect-failure") {
      policy.not_modelled(line, "http3-post-connect-failure: there is no HTTP/3 here");
    } else if (word == "retriable-headers" && has_headers) {
      policy.not_modelled(line, "retriable-headers: answers with a header");
    } else if (word == "retriable-headers") {
      policy.warn(kNoEffect, line, "retriable-headers without a list of headers has no effect");
    } else if (condition && condition->grpc && !only_grpc) {
      append(grpc, condition->name, ", ");
    } else if (condition) {
      add(condition->covers);
      timeouts |= condition->covers_timeouts;
    } else if (is_status(word)) {
      wants_codes = true;  // Istio's way to say it
      add(word);
    } else {
      policy.warn(kNoEffect, line,
                  shown(word) + " is no condition that is known: it has no effect");
    }
  }
  for (const std::string& each : codes) {
    if (wants_codes && is_status(each)) add(each);
  }
  if (!codes.empty() && !wants_codes) {
    policy.warn(kNoEffect, line,
                "retriable_status_codes without retriable-status-codes in retry_on has no effect");
  }
  if (timeouts && policy.is_given("timeout")) add("timeout");
  if (!grpc.empty()) {
    policy.not_modelled(line, grpc +
                                  ": of answers with that gRPC status; an HTTP status is not "
                                  "retried for it (for a gRPC service add it to retry-on)");
  }
  if (only_grpc) {
    policy.not_modelled(line, "gRPC statuses are not statuses of HTTP: near ones stand for them");
  }
  if (value.empty()) value = "none";
  policy.set("retry-on", value, line, "retry_on: " + shown(list, 160));
  return grpc.empty() && !only_grpc && parse_retry_on(value).statuses.any();
}

std::string failures_of(Policy& policy, const Node& words, std::string_view table,
                        std::string_view program) {
  std::string on;
  for (const std::string_view word : parts_of(words.text, ' ')) {
    const auto covers = meaning_of(word, table);
    if (!covers) {
      policy.refuse(words.line, shown(word) + " is no condition of " + words.name + ": " +
                                    std::string(program) + " does not start with it");
    } else if (covers->empty()) {
      policy.not_modelled(words.line, std::string(word) + ": there are no such answers here");
    } else if (covers != "-") {
      append(on, *covers);
    }
  }
  return to_string(parse_retry_on(on.empty() ? "none" : on));
}

void check_method(Policy& policy, const Node& method) {
  constexpr std::string_view kOfMethods = "ABCDEFGHIJKLMNOPQRSTUVWXYZ-, ";  // and of lists
  if (method.text.find_first_not_of(kOfMethods) == std::string::npos) return;
  policy.warn(kNoEffect, method.line, field_text(method) + " is no method: no request has it");
}

void add_concurrency(Policy& policy, const Node& limit) {
  if (!limit || limit.text == kNoLimit) return;
  try {
    policy.take("concurrency-limit", "fixed:" + whole_number(limit.text), limit);
  } catch (const std::invalid_argument& error) {
    policy.refuse(limit.line, shown(limit.name) + ": " + shown(error.what()));
  }
}

void set_envoy_budget(Policy& policy, const Node& budget, const Node& most, const Field& field,
                      std::string_view program, std::string_view source) {
  policy.set("retry-budget", "envoy", (budget ? budget : most).line, std::string(source));
  if (budget && most) {
    policy.remark(kNoEffect, most.line,
                  field_text(most) + " has no effect beside the " + std::string(source));
  }
  if (budget) return;
  const Node& number = unwrapped(most);
  if (number.text == kNoLimit) return policy.take("retry-budget", "none", number, ", no limit");
  add_field(policy, field, number, program);
}

void set_replicas(Policy& policy, std::size_t hosts, const Node& from) {
  if (hosts < 2) return;
  policy.set("replicas", std::to_string(hosts), from.line,
             shown(from.name) + ": " + std::to_string(hosts) + " hosts");
}

void add_workloads(PolicyFile& file, const std::vector<Node>& documents) {
  std::vector<const Node*> workloads;
  std::map<std::string, const Node*> services;  // by host
  for (const Node* each : objects_of(documents)) {
    if (is_object(*each, "v1", "Service")) {
      services[shown(full_host((*each)["metadata>name"].brief(), *each))] = each;
    }
    if (is_object(*each, "apps/", "Deployment") || is_object(*each, "apps/", "StatefulSet")) {
      workloads.push_back(each);
    }
  }
  constexpr std::size_t kMostPairs = 4'000'000;  // in a larger file nothing is looked for
  if (file.policies.size() * workloads.size() > kMostPairs) return;
  for (Policy& policy : file.policies) {
    const Node* service = policy.hosts.empty() ? nullptr : services[policy.hosts.front()];
    if (service == nullptr) continue;
    const auto& selector = (*service)["spec>selector"].children;
    std::size_t hosts = 0;
    for (const Node* each : workloads) {
      const Node& labels = (*each)["spec>template>metadata>labels"];
      const bool selects = std::ranges::all_of(selector, [&](const Node& label) {
        return labels.member(label.name, NameCase::kExact).text == label.text;
      });
      if (!selects || selector.empty() || namespace_of(*each) != namespace_of(*service)) continue;
      if (hosts == 0) add_probes(policy, (*each)["spec>template>spec>containers"].first());
      const std::string replicas = (*each)["spec>replicas"].brief();
      hosts += replicas.empty() ? 1 : std::strtoul(replicas.c_str(), nullptr, 10);
    }
    set_replicas(policy, hosts, scalar_node("workloads of its Service", "", service->line));
  }
}

void add_balance(Policy& policy, const Node& word, std::string_view table) {
  if (!word) return;
  if (const auto balance = meaning_of(to_lower(word.text), table)) {
    return policy.take("balance", std::string(*balance), word);
  }
  policy.remove("balance");
  policy.not_modelled(word.line, field_text(word) + ": hosts that are picked so");
}

void add_parts(Policy& policy, const char* option, std::span<const Field> parts, const Node& from,
               std::string_view program, NameCase name_case) {
  if (!from.is_map()) return;
  Policy read;
  std::string value;
  for (const Field& each : parts) {
    add_field(read, each, unwrapped(from.member(each.name, name_case)), program);
    append(value, read.value(each.option), ":");
  }
  read.settings.clear();
  if (!read.refused && !value.starts_with("0:")) read.take(option, value, from);
  policy.add(read);
}

void add_probe(Policy& policy, std::span<const Field> parts, const Node& from, const Node& own_port,
               std::string_view program, NameCase name_case) {
  add_parts(policy, "probe", parts, from, program, name_case);
  const std::string text = policy.value("probe");
  if (text.empty()) return;
  auto values = split(text, ':');
  if (parse_duration(values[1]) > parse_duration(values[0])) {
    policy.not_modelled(from.line, "a probe's timeout that is longer than its period");
    values[1] = values[0];
  }
  std::string value;
  for (const std::string_view each : values) append(value, each, ":");
  policy.take("probe", value + (own_port ? ":port" : ""), own_port ? own_port : from);
}

void add_shares(Policy& policy, std::span<const Field> fields, const Node& budget,
                std::string_view program, NameCase name_case) {
  constexpr double kOne = 0.01;
  for (const Field& each : fields) {
    const Node& found = budget.member(each.name, name_case);
    const Node& node = name_case == NameCase::kProtobuf ? unwrapped(found) : found;
    if (!add_field(policy, each, node, program) || each.option != "budget-share") continue;
    const double value = parse_number(policy.find("budget-share")->value, 0, 1);
    if (value <= 0 || value >= kOne) continue;
    policy.warn(kPercent, node.line,
                field_text(node) + " is " + print_number(value * 100) +
                    " %: percentages count from 0 to 100 here; was " +
                    print_number(value * 10'000) + " meant?");
  }
}

}  // namespace retrystorm
