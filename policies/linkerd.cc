// Linkerd: ServiceProfile, and the annotations of Services and routes.
// Sources: linkerd website 2.19 (retries.md), linkerd2 (profile_translator.go, the CRD,
// policy-controller outbound/index.rs), linkerd2-proxy (linkerd/app/core/src/retry.rs).
#include <algorithm>
#include <array>
#include <stdexcept>

#include "model/base/text.h"
#include "policies/mesh.h"
#include "policies/readers.h"
#include "policies/tree.h"
#include "policies/values.h"

namespace retrystorm {
namespace {

constexpr std::string_view kProgram = "Linkerd";
constexpr std::string_view kGroup = "linkerd.io/";

std::string profile_duration(std::string_view text) {
  return option_text(go_duration(text));
}

// One whole number with a unit.
std::string annotation_duration(std::string_view text) {
  if (text == "0") return "0s";
  const std::size_t unit = text.find_first_not_of("0123456789");
  if (unit == 0 || unit == text.npos || text.find_first_of("0123456789.", unit) != text.npos) {
    throw std::invalid_argument("a duration is one whole number with ms, s, m, h or d here");
  }
  return option_text(spring_duration(text));
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

std::string grpc_statuses(std::string_view text) {
  std::string value;
  for (const std::string_view part : parts_of(text, ',')) {
    value += value.empty() ? "" : "+";
    for (const char c : trimmed(part)) {
      value += c == '-' ? '_' : static_cast<char>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
    }
  }
  return to_string(parse_retry_on(value));
}

constexpr std::array kBudget{
    Field{"retryRatio", "budget-deposit", plain_share, "0.2"},
    Field{"minRetriesPerSecond", "budget-minimum-rate", whole_number, "10"},
    Field{"ttl", "budget-ttl", profile_duration, "10s"}};
constexpr Field kTimeout{"timeout", "deadline", profile_duration, "10s"};
constexpr std::array kAnnotations{
    Field{"retry.linkerd.io/limit", "max-retries", whole_number, "1"},
    Field{"retry.linkerd.io/timeout", "timeout", annotation_duration},
    Field{"timeout.linkerd.io/request", "deadline", annotation_duration, "none"}};
constexpr Field kHttp{"retry.linkerd.io/http", "retry-on", http_statuses};
constexpr Field kGrpc{"retry.linkerd.io/grpc", "retry-on", grpc_statuses};

// Of annotations others are for other programs, so only those that begin like Linkerd's count.
void note_unknown(Policy& policy, const Node& all) {
  for (const Node& each : all.children) {
    const bool known =
        std::any_of(kAnnotations.begin(), kAnnotations.end(),
                    [&each](const Field& field) { return field.name == each.name; }) ||
        each.name == kHttp.name || each.name == kGrpc.name || each.name.ends_with("/response") ||
        each.name.ends_with("/idle");
    if (known || !(each.name.starts_with("retry.linkerd.io/") ||
                   each.name.starts_with("timeout.linkerd.io/"))) {
      continue;
    }
    policy.warn(kNoEffect, each.line,
                shown(each.name) + " is no annotation of Linkerd: it is skipped without a word");
  }
}

void read_annotations(PolicyFile& file, const Node& object, const Node& all) {
  const std::string name = object.text_at({"metadata", "name"});
  Policy policy{
      .names = {shown(object.text_at({"kind"}) + ' ' + name)}, .line = all.line, .layer = "mesh"};
  if (object.text_at({"kind"}) == "Service") policy.hosts.push_back(shown(full_host(name, object)));
  policy.assume("growth", "none", "Linkerd retries at once");
  add_fields(policy, kAnnotations, &all, kProgram);
  note_unknown(policy, all);
  settle_timeouts(policy, kProgram, "retry.linkerd.io/timeout", "timeout.linkerd.io/request");
  const Node* http = all.find(kHttp.name);
  const Node* grpc = all.find(kGrpc.name);
  if (http == nullptr && grpc == nullptr) {
    policy.set("max-retries", "0", 0, "without retry.linkerd.io/http or /grpc nothing is retried");
    if (const Node* limit = all.find("retry.linkerd.io/limit")) {
      policy.fault(kNoEffect, limit->line,
                   "without retry.linkerd.io/http or /grpc nothing is retried");
    }
  } else {
    const bool read =
        add_field(policy, http != nullptr ? kHttp : kGrpc, http != nullptr ? http : grpc, kProgram);
    const Setting* timeout = policy.find("timeout");
    if (read && timeout != nullptr && timeout->line > 0) add_timeouts(policy);
    if (http != nullptr && grpc != nullptr) {
      policy.not_modelled(grpc->line, field_text(*grpc) + ": of calls of gRPC, which are not here");
    }
  }
  policy.assume("retry-budget", "none", "annotations have no budget");
  policy.not_modelled(all.line, "requests with a body above 64 KiB, which are not retried");
  policy.assumed(all.line,
                 "a ServiceProfile of the same service makes Linkerd ignore all annotations");
  file.add(std::move(policy));
}

// Which answers are failures, if the route says it.
void read_classes(Policy& policy, const Node& route) {
  for (const Node& each : route.items({"responseClasses"})) {
    note_others(policy.notes, each, {"condition", "isFailure"},
                "no field of responseClasses: the API server drops it");
    const std::string least = each.text_at({"condition", "status", "min"}),
                      most = each.text_at({"condition", "status", "max"});
    if (least.empty() || most.empty() || !is_true(each.text_at({"isFailure"}))) {
      policy.not_modelled(each.line, "responseClasses: a condition that is no range of failures");
      continue;
    }
    const Node range{.kind = Node::Kind::kScalar,
                     .line = each.line,
                     .name = "responseClasses",
                     .text = least + '-' + most};
    add_field(policy, kHttp, &range, kProgram);
  }
}

// With a ratio near zero the minimum decides alone.
void warn_of_small_ratio(Policy& policy) {
  constexpr double kSmall = 0.01;
  const Setting* ratio = policy.find("budget-deposit");
  if (ratio == nullptr || ratio->line == 0 || parse_number(ratio->value, 0, 1e9) >= kSmall) return;
  policy.warn(kPercent, ratio->line,
              ratio->source + " is a share, " + print_number(100 * std::stod(ratio->value)) +
                  " % of the requests: the " + policy.find("budget-minimum-rate")->value +
                  " retries a second (minRetriesPerSecond) decide");
}

void read_profile(PolicyFile& file, const Node& object) {
  const Node* budget = object.at({"spec", "retryBudget"});
  const std::string host = object.text_at({"metadata", "name"});
  for (const Node& route : object.items({"spec", "routes"})) {
    Policy policy{.names = {shown(route.text_at({"name"}))},
                  .line = route.line,
                  .hosts = {shown(host)},
                  .layer = "mesh"};
    add_field(policy, kTimeout, route.find(kTimeout.name), kProgram);
    settle_timeouts(policy, kProgram, "", "timeout");
    check_method(policy, route.at({"condition", "method"}));
    const Node* retryable = route.find("isRetryable");
    const bool retries = retryable != nullptr && is_true(retryable->text);
    note_others(
        policy.notes, route, {"name", "condition", "responseClasses", "isRetryable", "timeout"},
        retries
            ? "no field of a route: the API server drops it"
            : "no field of a route: the API server drops it, and without isRetryable nothing is "
              "retried");
    if (!retries) {
      policy.set("max-retries", "0", retryable == nullptr ? 0 : retryable->line,
                 "isRetryable is not true: nothing is retried");
    } else {
      policy.set("growth", "none", retryable->line, field_text(*retryable) + ": at once");
      policy.assume("retry-on", "5xx", "answers with 5xx are failures");
      read_classes(policy, route);
      policy.set(
          "retry-budget", "tower", budget == nullptr ? 0 : budget->line,
          budget == nullptr ? "retryBudget is not given: the default of Linkerd" : "retryBudget");
      add_fields(policy, kBudget, budget, kProgram);
      for (const Field& each : kBudget) {
        if (budget == nullptr || budget->find(each.name) != nullptr) continue;
        policy.fault(kRefusedRule, budget->line,
                     std::string(each.name) + " is missing: a retryBudget has all of its fields");
      }
      policy.not_modelled(route.line, "requests with a body above 64 KiB, which are not retried");
      warn_of_small_ratio(policy);
    }
    file.add(std::move(policy));
  }
}

}  // namespace

bool is_linkerd(const std::vector<Node>& documents) {
  const auto objects = objects_of(documents);
  return std::any_of(objects.begin(), objects.end(), [](const Node* each) {
    return is_object(*each, kGroup, "ServiceProfile") || linkerd_annotations(*each) != nullptr;
  });
}

PolicyFile read_linkerd(const std::vector<Node>& documents) {
  PolicyFile file{.kind = "Linkerd configuration"};
  for (const Node* each : objects_of(documents)) {
    if (is_object(*each, kGroup, "ServiceProfile")) read_profile(file, *each);
    if (const Node* all = linkerd_annotations(*each)) read_annotations(file, *each, *all);
  }
  return file;
}

}  // namespace retrystorm
