// Linkerd: ServiceProfile, and the annotations of Services and routes.
// Sources: linkerd website 2.19 (retries.md), linkerd2 (profile_translator.go, the CRD,
// policy-controller outbound/index.rs), linkerd2-proxy (linkerd/app/core/src/retry.rs).
#include <array>
#include <cctype>

#include "model/base/text.h"
#include "policies/mesh.h"

namespace retrystorm {
namespace {

constexpr std::string_view kProgram = "Linkerd";
constexpr std::string_view kGroup = "linkerd.io/";

// One whole number with a unit.
std::string annotation_duration(std::string_view text) {
  if (text == "0") return "0s";
  const std::size_t unit = text.find_first_not_of("0123456789");
  if (unit == 0 || unit == text.npos || text.find_first_of("0123456789.", unit) != text.npos) {
    refuse("a duration is one whole number with ms, s, m, h or d here");
  }
  return brief_duration(spring_duration(text));
}

// Statuses, ranges of them, "5xx" and "gateway-error", joined by commas.
std::string http_statuses(std::string_view text) {
  RetryOn on;
  for (const std::string_view part : parts_of(text, ',')) {
    const std::string_view word = trimmed(part);
    add_statuses(on, word == "5xx" ? "500-599" : word == "gateway-error" ? "502-504" : word);
  }
  return to_string(on);
}

// "resource-exhausted,unavailable"
std::string grpc_statuses(std::string_view text) {
  std::string value;
  for (const std::string_view part : parts_of(text, ',')) append(value, trimmed(part));
  for (char& c : value) {
    c = c == '-' ? '_' : static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return to_string(parse_retry_on(value));
}

constexpr std::array kBudget{
    Field{"retryRatio", "budget-deposit", plain_share, "0.2"},
    Field{"minRetriesPerSecond", "budget-minimum-rate", whole_number, "10"},
    Field{"ttl", "budget-ttl", as_option<go_duration>, "10s"}};
constexpr Field kTimeout{"timeout", "deadline", as_option<go_duration>, "10s"};
constexpr std::array kAnnotations{
    always("growth", "none", "Linkerd retries at once"),
    Field{"retry.linkerd.io/limit", "max-retries", whole_number, "1"},
    Field{"retry.linkerd.io/timeout", "timeout", annotation_duration},
    Field{"timeout.linkerd.io/request", "deadline", annotation_duration, "none"}};
constexpr Field kHttp{"retry.linkerd.io/http", "retry-on", http_statuses};
constexpr Field kGrpc{"retry.linkerd.io/grpc", "retry-on", grpc_statuses};

constexpr std::string_view kNotRetried = "requests with a body above 64 KiB, which are not retried";

void note_unknown(Policy& policy, const Node& all) {
  for (const Node& each : all.children) {
    if (row_named(kAnnotations, each.name) || each.name == kHttp.name || each.name == kGrpc.name ||
        each.name.ends_with("/response") || each.name.ends_with("/idle")) {
      continue;
    }
    policy.warn(kNoEffect, each.line,
                shown(each.name) + " is no annotation of Linkerd: it is skipped without a word");
  }
}

void read_annotations(PolicyFile& file, const Node& object, const Node& all) {
  const std::string name = object["metadata>name"].brief(), kind = object["kind"].brief();
  Policy policy{.names = {shown(kind + ' ' + name)}, .line = all.line, .layer = "mesh"};
  if (kind == "Service") policy.hosts.push_back(shown(full_host(name, object)));
  add_fields(policy, kAnnotations, all, kProgram);
  note_unknown(policy, all);
  settle_timeouts(policy, kProgram, "retry.linkerd.io/timeout", "timeout.linkerd.io/request");
  const Node &http = all[kHttp.name], &grpc = all[kGrpc.name], &limit = all[kAnnotations[1].name];
  if (!http && !grpc) {
    const std::string why = "without retry.linkerd.io/http or /grpc nothing is retried";
    policy.assume("max-retries", "0", why);
    if (limit) policy.fault(kNoEffect, limit.line, why);
  } else {
    const bool read = add_field(policy, http ? kHttp : kGrpc, http ? http : grpc, kProgram);
    if (read && policy.is_given("timeout")) add_timeouts(policy);
    if (http && grpc) {
      policy.not_modelled(grpc.line, field_text(grpc) + ": of calls of gRPC, which are not here");
    }
  }
  policy.assume("retry-budget", "none", "annotations have no budget");
  policy.not_modelled(all.line, std::string(kNotRetried));
  policy.assumed(all.line,
                 "a ServiceProfile of the same service makes Linkerd ignore all annotations");
  file.add(std::move(policy));
}

// Which answers are failures, if the route says it.
void read_classes(Policy& policy, const Node& route) {
  for (const Node& each : route["responseClasses"].items()) {
    note_others(policy.notes, each, {"condition", "isFailure"},
                "no field of responseClasses: the API server drops it");
    const Node& status = each["condition>status"];
    const std::string least = status["min"].brief(), most = status["max"].brief();
    if (least.empty() || most.empty() || !is_true(each["isFailure"].brief())) {
      policy.not_modelled(each.line, "responseClasses: a condition that is no range of failures");
      continue;
    }
    add_field(policy, kHttp, scalar_node("responseClasses", least + '-' + most, each.line),
              kProgram);
  }
}

void read_budget(Policy& policy, const Node& budget) {
  policy.set("retry-budget", "tower", budget.line,
             budget ? "retryBudget" : "retryBudget is not given: the default of Linkerd");
  add_fields(policy, kBudget, budget, kProgram);
  for (const Field& each : kBudget) {
    if (!budget || budget[each.name]) continue;
    policy.refuse(budget.line,
                  std::string(each.name) + " is missing: a retryBudget has all of its fields");
  }
}

// With a ratio near zero the minimum decides alone.
void warn_of_small_ratio(Policy& policy) {
  constexpr double kSmall = 0.01;
  const Setting* ratio = policy.find("budget-deposit");
  if (!policy.is_given("budget-deposit") || parse_number(ratio->value, 0, 1e9) >= kSmall) return;
  policy.warn(kPercent, ratio->line,
              ratio->source + " is a share, " + print_number(100 * std::stod(ratio->value)) +
                  " % of the requests: the " + policy.find("budget-minimum-rate")->value +
                  " retries a second (minRetriesPerSecond) decide");
}

void read_profile(PolicyFile& file, const Node& object) {
  for (const Node& route : object["spec>routes"].items()) {
    Policy policy{.names = {shown(route["name"].brief())},
                  .line = route.line,
                  .hosts = {name_of(object)},
                  .layer = "mesh"};
    add_field(policy, kTimeout, route[kTimeout.name], kProgram);
    settle_timeouts(policy, kProgram, "", "timeout");
    check_method(policy, route["condition>method"]);
    const Node& retryable = route["isRetryable"];
    const bool retries = is_true(retryable.text);
    note_others(policy.notes, route,
                {"name", "condition", "responseClasses", "isRetryable", "timeout"},
                std::string("no field of a route: the API server drops it") +
                    (retries ? "" : ", and without isRetryable nothing is retried"));
    if (retries) {
      policy.take("growth", "none", retryable, ": at once");
      policy.assume("retry-on", "5xx", "answers with 5xx are failures");
      read_classes(policy, route);
      read_budget(policy, object["spec>retryBudget"]);
      policy.not_modelled(route.line, std::string(kNotRetried));
      warn_of_small_ratio(policy);
    } else {
      policy.set("max-retries", "0", retryable.line, "isRetryable is not true: nothing is retried");
    }
    file.add(std::move(policy));
  }
}

}  // namespace

PolicyFile read_linkerd(const std::vector<Node>& documents, ReadAs) {
  PolicyFile file;
  for (const Node* each : objects_of(documents)) {
    const bool profile = is_object(*each, kGroup, "ServiceProfile");
    const Node all = linkerd_annotations(*each);
    if (profile || all) file.kind = "Linkerd configuration";
    if (profile) read_profile(file, *each);
    if (all) read_annotations(file, *each, all);
  }
  return file;
}

}  // namespace retrystorm
