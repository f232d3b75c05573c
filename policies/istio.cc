// Istio: VirtualService and DestinationRule, beside whatever else is in the file.
// Sources: istio/api virtual_service.proto, destination_rule.proto; istio pilot 1.32 (retry.go,
// cluster_traffic_policy.go, validation.go).
#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <stdexcept>

#include "model/base/text.h"
#include "policies/mesh.h"
#include "policies/readers.h"
#include "policies/tree.h"
#include "policies/values.h"

namespace retrystorm {
namespace {

constexpr std::string_view kProgram = "Istio";
constexpr std::string_view kGroup = "networking.istio.io/";
constexpr std::string_view kDefaultConditions =
    "connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes";

std::string duration(std::string_view text) {
  return option_text(go_duration(text));
}

std::string wait(std::string_view text) {
  const Duration value = go_duration(text);
  if (value < std::chrono::milliseconds(1)) {
    throw std::invalid_argument("this must be at least 1ms");
  }
  return option_text(value);
}

constexpr Field kAttempts{"attempts", "max-retries", signed_number, "2"};
constexpr Field kTryTimeout{"perTryTimeout", "timeout", wait};
constexpr Field kTimeout{"timeout", "deadline", duration, "none"};
constexpr Field kBase{"backoff", "backoff-base", wait, "25ms"};
constexpr std::array kBudget{
    Field{"percent", "budget-share", percent_as_share, "0.2"},
    Field{"minRetryConcurrency", "budget-min-concurrency", whole_number, "3"},
    Field{"budgetInterval", "budget-interval", duration}};
constexpr Field kMaxRetries{"maxRetries", "budget-min-concurrency", whole_number};

// A rule's host and what it says about connections to it.
struct Rule {
  const Node* object = nullptr;
  const Node* policy = nullptr;                  // trafficPolicy; null: none
  std::map<std::string, const Node*> subsets{};  // their own trafficPolicy
};

class Reader {
 public:
  PolicyFile read(const std::vector<Node>& documents) {
    file_.kind = "Istio configuration";
    file_.format = "istio";
    for (const Node* each : objects_of(documents)) {
      if (is_object(*each, kGroup, "VirtualService")) services_.push_back(each);
      if (is_object(*each, kGroup, "DestinationRule")) add_rule(*each);
      if (is_object(*each, "v1", "Service")) add_service(*each);
    }
    for (const Node* each : services_) read_service(*each);
    if (file_.policies.empty()) {
      for (const auto& [host, rule] : rules_) read_rule_alone(host, rule);
    }
    return std::move(file_);
  }

 private:
  // The protocol of a port is its appProtocol, or its name before a dash.
  void add_service(const Node& object) {
    knows_protocols_ = true;
    for (const Node& each : object.items({"spec", "ports"})) {
      const Node* told = each.find({"appProtocol", "name"});
      if (told == nullptr || told->text.substr(0, told->text.find('-')) != "grpc") continue;
      grpc_.insert(full_host(object.text_at({"metadata", "name"}), object));
    }
  }

  void add_rule(const Node& object) {
    const std::string host = object.text_at({"spec", "host"});
    if (host.empty()) return;
    Rule rule{.object = &object, .policy = object.at({"spec", "trafficPolicy"})};
    for (const Node& each : object.items({"spec", "subsets"})) {
      if (const Node* own = each.find("trafficPolicy")) rule.subsets[each.text_at({"name"})] = own;
    }
    rules_.emplace(full_host(host, object), rule);
  }

  static std::string layer_of(const Node& service) {
    const Node* gateways = service.at({"spec", "gateways"});
    if (gateways == nullptr || !gateways->is_list()) return "mesh";
    bool mesh = false, gateway = false;
    for (const Node& each : gateways->children) (each.text == "mesh" ? mesh : gateway) = true;
    return mesh && gateway ? "gateway and mesh" : gateway ? "gateway" : "mesh";
  }

  void read_service(const Node& service) {
    std::size_t number = 0;
    for (const Node& each : service.items({"spec", "http"})) {
      ++number;
      if (each.is_map()) read_route(service, each, number);
    }
  }

  static std::string route_name(const Node& service, const Node& route, std::size_t number) {
    std::string name = shown(service.text_at({"metadata", "name"}));
    const std::string own = route.text_at({"name"});
    if (!own.empty()) return name + '/' + shown(own);
    if (const auto& matches = route.items({"match"}); !matches.empty()) {
      const Node* uri = matches.front().find("uri");
      if (uri != nullptr && uri->is_map() && !uri->children.empty()) {
        return name + ' ' + shown(uri->children.front().text);
      }
    }
    return name + " route " + std::to_string(number);
  }

  void read_route(const Node& service, const Node& route, std::size_t number) {
    const Node* retries = route.find("retries");
    const Node* destinations = route.find("route");
    // A redirect or an answer of the proxy itself.
    const bool is_lost = destinations == nullptr && retries != nullptr &&
                         route.find({"redirect", "directResponse", "delegate"}) == nullptr;
    if (!is_lost && (destinations == nullptr || !destinations->is_list())) return;
    Policy policy{.names = {route_name(service, route, number)},
                  .line = route.line,
                  .layer = layer_of(service)};
    if (is_lost) {
      policy.refuse(
          route.line,
          "retries without a route: the API server refuses an http rule that leads nowhere");
      file_.add(std::move(policy));
      return;
    }
    std::set<std::string> seen;
    std::string first;
    for (const Node& each : destinations->children) {
      const std::string host = each.text_at({"destination", "host"});
      if (host.empty()) continue;
      const std::string full = full_host(host, service);
      if (first.empty()) first = full;
      if (seen.insert(full).second) policy.hosts.push_back(shown(full));
    }
    add_field(policy, kTimeout, route.find(kTimeout.name), kProgram);
    if (retries != nullptr && retries->is_map()) {
      read_retries(policy, *retries);
    } else {
      set_default_retries(policy);
    }
    note_faults(policy, route);
    for (const Node& each : route.items({"match"})) {
      check_method(policy, each.at({"method", "exact"}));
    }
    const std::string subset =
        destinations->children.empty()
            ? ""
            : destinations->children.front().text_at({"destination", "subset"});
    read_rule(policy, first, subset);
    file_.add(std::move(policy));
  }

  static void set_default_retries(Policy& policy) {
    policy.assume("max-retries", "2", "there are no retries: the default of Istio");
    set_envoy_waits(policy);
    policy.assume("backoff-base", "25ms", "the default of Istio");
    settle_cap(policy, "its cap");
    settle_timeouts(policy, kProgram, "perTryTimeout", "timeout");
    add_conditions(policy, kDefaultConditions, {}, 0, false);
    policy.assumed(0,
                   "no retries are given, so Istio's default holds: 2 retries where the connection "
                   "failed (the mesh's configuration can change it)");
  }

  void read_retries(Policy& policy, const Node& retries) {
    note_others(policy.notes, retries,
                {"attempts", "perTryTimeout", "retryOn", "retryRemoteLocalities",
                 "retryIgnorePreviousHosts", "backoff"},
                "no field of retries: the API server refuses or drops it");
    const Node* attempts = retries.find(kAttempts.name);
    const bool none = attempts == nullptr || attempts->text == "0";
    if (attempts == nullptr) {
      policy.set("max-retries", "0", retries.line,
                 "retries without attempts: 0, so nothing is retried");
      policy.fault(kNoEffect, retries.line,
                   "retries without attempts is no retry at all (the API server refuses it)");
    } else {
      add_field(policy, kAttempts, attempts, kProgram);
    }
    set_envoy_waits(policy);
    add_field(policy, kBase, retries.find(kBase.name), kProgram);
    settle_cap(policy, "its cap");
    add_field(policy, kTryTimeout, retries.find(kTryTimeout.name), kProgram);
    settle_timeouts(policy, kProgram, "perTryTimeout", "timeout");
    if (none) return;
    const Node* on = retries.find("retryOn");
    const bool given = on != nullptr && !on->text.empty();
    if (given && on->text.find(", ") != std::string::npos) {
      policy.warn(
          kRefusedRule, on->line,
          "retryOn with blanks after its commas is refused by the API server, and taken from "
          "a file");
    }
    if (!add_conditions(policy, given ? on->text : std::string(kDefaultConditions), {},
                        given ? on->line : 0, false)) {
      return;
    }
    const bool grpc = std::any_of(policy.hosts.begin(), policy.hosts.end(),
                                  [this](const auto& each) { return grpc_.contains(each); });
    if (!grpc && knows_protocols_) return;
    policy.note(grpc ? Note::Level::kWarning : Note::Level::kNote, "grpc-unseen", on->line,
                std::string(grpc ? "its service is gRPC's" : "if a service is gRPC's") +
                    ", these words do not see its failures, whose HTTP status is 200: add "
                    "unavailable");
  }

  static void note_faults(Policy& policy, const Node& route) {
    if (const Node* fault = route.find("fault")) {
      policy.warn(kNoEffect, fault->line,
                  "while a fault is injected on a route, its retries and timeouts do not hold");
    }
  }

  // A subset's part replaces the rule's.
  void read_rule(Policy& policy, const std::string& host, const std::string& subset) {
    const auto found = rules_.find(host);
    if (found == rules_.end()) {
      policy.assume(
          "retry-budget", "none",
          "no DestinationRule for its host is in the file: Istio has no limit on retries");
      return;
    }
    const Rule& rule = found->second;
    const auto own = rule.subsets.find(subset);
    read_traffic(policy, own != rule.subsets.end() ? own->second : nullptr, rule.policy);
  }

  static const Node* part(const Node* own, const Node* top, std::string_view name) {
    const Node* found = own == nullptr ? nullptr : own->find(name);
    return found != nullptr || top == nullptr ? found : top->find(name);
  }

  static void read_traffic(Policy& policy, const Node* own, const Node* top) {
    const Node* pool = part(own, top, "connectionPool");
    const Node* budget = part(own, top, "retryBudget");
    const Node none;
    const Node* http = pool == nullptr ? nullptr : pool->find("http");
    const Node& from = http == nullptr ? none : *http;
    if (budget != nullptr && budget->is_map()) {
      read_budget(policy, *budget, pool != nullptr);
    } else {
      read_max_retries(policy, from.find(kMaxRetries.name));
    }
    if (const Node* requests = from.find("http2MaxRequests")) {
      add_concurrency(policy, *requests);
    }
    const Node* outliers = part(own, top, "outlierDetection");
    note_skipped(policy, http,
                 {{"http1MaxPendingRequests", "how many requests wait for a connection"}});
    note_skipped(policy, pool == nullptr ? nullptr : pool->find("tcp"),
                 {{"maxConnections", kOfPool}});
    if (outliers == nullptr) return;
    policy.not_modelled(outliers->line,
                        "outlierDetection: hosts that fail are left out for a time");
    if (const Node* old = outliers->find("consecutiveErrors")) {
      policy.warn(kNoEffect, old->line,
                  "consecutiveErrors was removed: the field is consecutive5xxErrors");
    }
  }

  static void read_budget(Policy& policy, const Node& budget, bool has_pool) {
    policy.set("retry-budget", "envoy", budget.line, "retryBudget");
    for (const Field& field : kBudget) {
      const Node* node = budget.find(field.name);
      add_share(policy, field, node, kProgram);
      if (node == nullptr && field.option == "budget-share") {
        policy.warn(kDependsOnVersion, budget.line,
                    "percent is not given: 20, but versions of Istio before the fix of issue 59504 "
                    "took 0.2 for it: write percent: 20");
      }
    }
    if (!has_pool) {
      policy.warn(kDependsOnVersion, budget.line,
                  "retryBudget is ignored by Istio unless a connectionPool is set, too (by reading "
                  "its source at 1.32)");
    }
  }

  static void read_max_retries(Policy& policy, const Node* most) {
    const bool zero = most != nullptr && most->text == "0";
    if (zero) {
      policy.warn(kNoEffect, most->line,
                  "maxRetries: 0 does not mean none: it stands for the default of 4,294,967,295");
    }
    Policy read;
    if (most == nullptr || zero || !add_field(read, kMaxRetries, most, kProgram)) {
      policy.assume("retry-budget", "none",
                    "there is no maxRetries and no retryBudget: Istio has no limit on retries");
      return;
    }
    policy.set("retry-budget", "envoy", most->line, field_text(*most));
    add_field(policy, kMaxRetries, most, kProgram);
  }

  void read_rule_alone(const std::string& host, const Rule& rule) {
    Policy policy{.names = {name_of(*rule.object)},
                  .line = rule.object->line,
                  .has_retries = false,
                  .hosts = {shown(host)}};
    policy.assumed(
        rule.object->line,
        "a DestinationRule alone: what is retried stands in a VirtualService (without one, "
        "Istio retries twice where the connection failed)");
    read_traffic(policy, nullptr, rule.policy);
    const Setting* budget = policy.find("retry-budget");
    if (budget != nullptr && budget->value == "none") policy.remove("retry-budget");
    file_.add(std::move(policy));
  }

  PolicyFile file_;
  std::vector<const Node*> services_;
  std::map<std::string, Rule> rules_;
  std::set<std::string> grpc_;    // hosts that speak it
  bool knows_protocols_ = false;  // there are Services in the file
};

}  // namespace

bool is_istio(const std::vector<Node>& documents) {
  const auto objects = objects_of(documents);
  return std::any_of(objects.begin(), objects.end(), [](const Node* each) {
    return is_object(*each, kGroup, "VirtualService") ||
           is_object(*each, kGroup, "DestinationRule");
  });
}

PolicyFile read_istio(const std::vector<Node>& documents) {
  return Reader().read(documents);
}

}  // namespace retrystorm
