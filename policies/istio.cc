// Istio: VirtualService and DestinationRule, beside whatever else is in the file.
// Sources: istio/api virtual_service.proto, destination_rule.proto; istio pilot 1.32 (retry.go,
// cluster_traffic_policy.go, validation.go). A retry is picked again up to 5 times while its host was tried before, unless
// hosts are picked by a hash (retry.go). Since 1.14 two hosts are compared (LEAST_REQUEST).
#include <algorithm>
#include <array>
#include <map>
#include <set>

#include "model/base/text.h"
#include "policies/mesh.h"

namespace retrystorm {
namespace {

constexpr std::string_view kProgram = "Istio";
constexpr std::string_view kGroup = "networking.istio.io/";
constexpr std::string_view kDefaultConditions =
    "connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes";

std::string wait(std::string_view text) {
  const Duration value = go_duration(text);
  if (value < std::chrono::milliseconds(1)) refuse("this must be at least 1ms");
  return brief_duration(value);
}

constexpr Field kAttempts{"attempts", "max-retries", signed_number, "2"};
constexpr Field kTryTimeout{"perTryTimeout", "timeout", wait};
constexpr Field kTimeout{"timeout", "deadline", as_option<go_duration>, "none"};
constexpr Field kBase{"backoff", "backoff-base", wait, "25ms"};
constexpr std::array kBudget{
    Field{"percent", "budget-share", percent_as_share, "0.2"},
    Field{"minRetryConcurrency", "budget-min-concurrency", whole_number, "3"},
    Field{"budgetInterval", "budget-interval", as_option<go_duration>}};
constexpr Field kMaxRetries{"maxRetries", "budget-min-concurrency", whole_number};

constexpr std::array kOthersOfPool{
    not_simulated("http>http1MaxPendingRequests", "how many requests wait for a connection"),
    not_simulated("tcp>maxConnections", kOfPool)};

// Nothing (0) stands for the default.
std::string percent_or_ten(std::string_view text) {
  return text == "0" ? "0.1" : percent_as_share(text);
}
constexpr std::array kEjection{Field{"consecutive5xxErrors", "failures", whole_number, "5"},
                               Field{"baseEjectionTime", "base", wait, "30s"},
                               Field{"maxEjectionPercent", "share", percent_or_ten, "0.1"}};
constexpr std::array kHealth{Field{"minHealthPercent", "panic", percent_as_share},
                             not_simulated("consecutiveGatewayErrors", kOfSome),
                             not_simulated("consecutiveLocalOriginFailures", kOfSome)};

// A rule's host and what it says about connections to it.
struct Rule {
  const Node* object = nullptr;
  std::map<std::string, const Node*> subsets{};  // their own trafficPolicy
};

std::string layer_of(const Node& gateways) {
  bool mesh = gateways.items().empty(), gateway = false;
  for (const Node& each : gateways.items()) (each.text == "mesh" ? mesh : gateway) = true;
  return mesh && gateway ? "gateway and mesh" : gateway ? "gateway" : "mesh";
}

std::string route_name(const Node& service, const Node& route, std::size_t number) {
  const std::string own = route["name"].brief();
  if (!own.empty()) return name_of(service) + '/' + shown(own);
  const Node& uri = route["match"].first()["uri"];
  if (uri.is_map() && !uri.children.empty()) {
    return name_of(service) + ' ' + shown(uri.children.front().text);
  }
  return name_of(service) + " route " + std::to_string(number);
}

void read_max_retries(Policy& policy, const Node& most) {
  const bool zero = most.text == "0";
  if (zero) {
    policy.warn(kNoEffect, most.line,
                "maxRetries: 0 does not mean none: it stands for the default of 4,294,967,295");
  }
  Policy read;
  if (zero || !add_field(read, kMaxRetries, most, kProgram)) {
    policy.assume("retry-budget", "none",
                  "there is no maxRetries and no retryBudget: Istio has no limit on retries");
    return;
  }
  policy.take("retry-budget", "envoy", most);
  add_field(policy, kMaxRetries, most, kProgram);
}

void read_budget(Policy& policy, const Node& budget, bool has_pool) {
  policy.set("retry-budget", "envoy", budget.line, "retryBudget");
  add_shares(policy, kBudget, budget, kProgram);
  if (!budget["percent"]) {
    policy.warn(kDependsOnVersion, budget.line,
                "percent is not given: 20, but versions of Istio before the fix of issue 59504 "
                "took 0.2 for it: write percent: 20");
  }
  if (!has_pool) {
    policy.warn(kDependsOnVersion, budget.line,
                "retryBudget is ignored by Istio unless a connectionPool is set, too (by reading "
                "its source at 1.32)");
  }
}

// The parts of a trafficPolicy. A subset's (`own`) replaces the rule's. Returns whether hosts are picked by a hash.
bool read_traffic(Policy& policy, const Node& own, const Node& rules) {
  const auto part = [&](std::string_view name) -> const Node& {
    return own[name] ? own[name] : rules[name];
  };
  const Node &pool = part("connectionPool"), &budget = part("retryBudget");
  if (budget.is_map()) {
    read_budget(policy, budget, static_cast<bool>(pool));
  } else {
    read_max_retries(policy, pool["http>maxRetries"]);
  }
  add_concurrency(policy, pool["http>http2MaxRequests"]);
  add_fields(policy, kOthersOfPool, pool, kProgram);
  const Node& outliers = part("outlierDetection");
  add_parts(policy, "eject", kEjection, outliers, kProgram);
  add_fields(policy, kHealth, outliers, kProgram);
  if (const Node& old = outliers["consecutiveErrors"]) {
    policy.warn(kNoEffect, old.line,
                "consecutiveErrors was removed: the field is consecutive5xxErrors");
  }
  const Node &balancer = part("loadBalancer"), &hash = balancer["consistentHash"];
  policy.assume("balance", "two", "LEAST_REQUEST is the default of Istio");
  add_balance(policy, hash ? hash : balancer["simple"]);
  return static_cast<bool>(hash);
}

class Reader {
 public:
  PolicyFile read(const std::vector<Node>& documents) {
    std::vector<const Node*> services;
    for (const Node* each : objects_of(documents)) {
      if (is_object(*each, kGroup, "VirtualService")) services.push_back(each);
      if (is_object(*each, kGroup, "DestinationRule")) add_rule(*each);
      if (is_object(*each, "v1", "Service")) add_service(*each);
    }
    if (services.empty() && !has_rules_) return {};
    for (const Node* each : services) {
      std::size_t number = 0;
      for (const Node& route : (*each)["spec>http"].items()) {
        ++number;
        if (route.is_map()) read_route(*each, route, number);
      }
    }
    if (file_.policies.empty()) {
      for (const auto& [host, rule] : rules_) read_rule_alone(host, rule);
    }
    return std::move(file_);
  }

 private:
  // The protocol of a port is its appProtocol, or its name before a dash.
  void add_service(const Node& object) {
    knows_protocols_ = true;
    for (const Node& each : object["spec>ports"].items()) {
      const std::string& told = each.first_of({"appProtocol", "name"}).text;
      if (told.substr(0, told.find('-')) != "grpc") continue;
      grpc_.insert(full_host(object["metadata>name"].brief(), object));
    }
  }

  void add_rule(const Node& object) {
    has_rules_ = true;
    const std::string host = object["spec>host"].brief();
    if (host.empty()) return;
    Rule rule{.object = &object};
    for (const Node& each : object["spec>subsets"].items()) {
      if (const Node& own = each["trafficPolicy"]) rule.subsets[each["name"].brief()] = &own;
    }
    rules_.emplace(full_host(host, object), rule);
  }

  void read_route(const Node& service, const Node& route, std::size_t number) {
    const Node &retries = route["retries"], &destinations = route["route"];
    // A redirect or an answer of the proxy itself.
    const bool is_lost =
        !destinations && retries && !route.first_of({"redirect", "directResponse", "delegate"});
    if (!is_lost && !destinations.is_list()) return;
    Policy policy{.names = {route_name(service, route, number)},
                  .line = route.line,
                  .layer = layer_of(service["spec>gateways"])};
    if (is_lost) {
      policy.refuse(
          route.line,
          "retries without a route: the API server refuses an http rule that leads nowhere");
      return file_.add(std::move(policy));
    }
    std::set<std::string> seen;
    std::string first;
    for (const Node& each : destinations.children) {
      const std::string host = each["destination>host"].brief();
      if (host.empty()) continue;
      const std::string full = full_host(host, service);
      if (first.empty()) first = full;
      if (seen.insert(full).second) policy.hosts.push_back(shown(full));
    }
    add_field(policy, kTimeout, route[kTimeout.name], kProgram);
    read_retries(policy, retries.is_map() ? retries : kNowhere);
    if (const Node& fault = route["fault"]) {
      policy.warn(kNoEffect, fault.line,
                  "while a fault is injected on a route, its retries and timeouts do not hold");
    }
    for (const Node& each : route["match"].items()) check_method(policy, each["method>exact"]);
    if (policy.layer == "mesh") policy.assume("picker", "client", "each sidecar picks by itself");
    bool hashed = false;
    if (const auto rule = rules_.find(first); rule != rules_.end()) {
      const std::string subset = destinations.first()["destination>subset"].brief();
      const auto own = rule->second.subsets.find(subset);
      hashed = read_traffic(policy, own == rule->second.subsets.end() ? kNowhere : *own->second,
                            (*rule->second.object)["spec>trafficPolicy"]);
    } else {
      policy.assume(
          "retry-budget", "none",
          "no DestinationRule for its host is in the file: Istio has no limit on retries");
      policy.assume("balance", "two", "LEAST_REQUEST is the default of Istio");
    }
    const Node& others = retries["retryIgnorePreviousHosts"];
    if (policy.value("max-retries") != "0" && (others ? is_true(others.text) : !hashed)) {
      policy.set("retry-host", "other:5", others.line,
                 others ? field_text(others) : "Istio prefers hosts that were not tried");
    }
    file_.add(std::move(policy));
  }

  // Or those by default.
  void read_retries(Policy& policy, const Node& retries) {
    note_others(policy.notes, retries,
                {"attempts", "perTryTimeout", "retryOn", "retryRemoteLocalities",
                 "retryIgnorePreviousHosts", "backoff"},
                "no field of retries: the API server refuses or drops it");
    const Node& attempts = retries[kAttempts.name];
    if (!retries) {
      policy.assume("max-retries", "2", "there are no retries: the default of Istio");
    } else if (attempts) {
      add_field(policy, kAttempts, attempts, kProgram);
    } else {
      policy.set("max-retries", "0", retries.line,
                 "retries without attempts: 0, so nothing is retried");
      policy.fault(kNoEffect, retries.line,
                   "retries without attempts is no retry at all (the API server refuses it)");
    }
    const bool off = retries && (!attempts || attempts.text == "0");
    if (off &&
        (retries[kTryTimeout.name] || retries["retryOn"] || retries["retryRemoteLocalities"])) {
      policy.refuse(retries.line,
                    "attempts: 0 takes no other fields beside it: the API server refuses them");
    }
    set_envoy_waits(policy);
    add_field(policy, kBase, retries[kBase.name], kProgram);
    if (!retries) policy.assume("backoff-base", "25ms", "the default of Istio");
    settle_cap(policy, "its cap");
    add_field(policy, kTryTimeout, retries[kTryTimeout.name], kProgram);
    settle_timeouts(policy, kProgram, "perTryTimeout", "timeout");
    if (off) return;
    const Node& said = retries["retryOn"];
    const Node& on = said.text.empty() ? kNowhere : said;
    if (on.text.find(", ") != std::string::npos) {
      policy.warn(
          kRefusedRule, on.line,
          "retryOn with blanks after its commas is refused by the API server, and taken from "
          "a file");
    }
    const bool statuses =
        add_conditions(policy, on ? std::string_view(on.text) : kDefaultConditions, {}, on.line);
    if (!retries) {
      policy.assumed(
          0,
          "no retries are given, so Istio's default holds: 2 retries where the connection failed "
          "(the mesh's configuration can change it)");
    }
    const bool grpc = std::ranges::any_of(
        policy.hosts, [this](const auto& each) { return grpc_.contains(each); });
    if (!statuses || (!grpc && knows_protocols_)) return;
    policy.note(grpc ? Note::Level::kWarning : Note::Level::kNote, "grpc-unseen", on.line,
                std::string(grpc ? "its service is gRPC's" : "if a service is gRPC's") +
                    ", these words do not see its failures, whose HTTP status is 200: add "
                    "unavailable");
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
    read_traffic(policy, kNowhere, (*rule.object)["spec>trafficPolicy"]);
    if (policy.value("retry-budget") == "none") policy.remove("retry-budget");
    file_.add(std::move(policy));
  }

  PolicyFile file_{.kind = "Istio configuration", .format = "istio"};
  std::map<std::string, Rule> rules_;
  bool has_rules_ = false;
  std::set<std::string> grpc_;    // hosts that speak it
  bool knows_protocols_ = false;  // there are Services in the file
};

}  // namespace

PolicyFile read_istio(const std::vector<Node>& documents, ReadAs) {
  return Reader().read(documents);
}

}  // namespace retrystorm
