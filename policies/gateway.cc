// The Gateway API's HTTPRoute and XBackendTrafficPolicy, and Envoy Gateway's BackendTrafficPolicy.
// Sources: gateway-api (apis/v1/httproute_types.go, apisx/v1alpha1), envoyproxy/gateway
// (retry_types.go; internal/gatewayapi/route.go and testdata/httproute-retry.out.yaml;
// internal/xds/translator/route.go), istio pilot (config/kube/gateway/conversion.go).
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

constexpr std::string_view kApi = "Gateway API", kEnvoy = "Envoy Gateway";
constexpr std::string_view kApiGroup = "gateway.networking.k8s.io/",
                           kExperimentalGroup = "gateway.networking.x-k8s.io/",
                           kEnvoyGroup = "gateway.envoyproxy.io/";

std::string duration(std::string_view text) {
  return option_text(gateway_duration(text));
}

std::string limit(std::string_view text) {
  return "fixed:" + whole_number(text);
}

constexpr std::array kRetry{Field{"attempts", "max-retries", signed_number, "2"},
                            Field{"backoff", "backoff-base", duration, "25ms"}};
constexpr std::array kTimeouts{Field{"request", "deadline", duration},
                               Field{"backendRequest", "timeout", duration}};
constexpr std::array kConstraint{Field{"percent", "budget-deposit", percent_as_share, "0.2"},
                                 Field{"interval", "budget-ttl", duration, "10s"}};
constexpr Field kNumRetries{"numRetries", "max-retries", signed_number, "2"};
constexpr Field kTryTimeout{"timeout", "timeout", duration};
constexpr Field kRequestTimeout{"requestTimeout", "deadline", duration};
constexpr std::array kWaits{Field{"baseInterval", "backoff-base", duration, "25ms"},
                            Field{"maxInterval", "backoff-cap", duration}};
constexpr Field kMinRetries{"minRetryConcurrency", "budget-min-concurrency", whole_number, "3"};
constexpr Field kMaxRetries{"maxParallelRetries", "budget-min-concurrency", whole_number, "1024"};
constexpr Field kMaxRequests{"maxParallelRequests", "concurrency-limit", limit, "fixed:1024"};

// How a route's retries are read, which the API leaves open in part.
struct Implementation {
  std::string_view name;
  std::string_view conditions;  // beside the codes
  std::string_view deadline;    // without one in the file
};

constexpr Implementation kUnknown{kApi, "connect-failure,refused-stream", "none"};
constexpr Implementation kEnvoyGateway{
    kEnvoy, "connect-failure,refused-stream,unavailable,cancelled,retriable-status-codes", "15s"};
constexpr Implementation kIstio{"Istio", "connect-failure,refused-stream,unavailable,cancelled",
                                "none"};

std::string codes_of(const Node* list) {
  std::string codes;
  if (list == nullptr) return codes;
  for (const Node& each : list->children) codes += ',' + each.text;
  return codes;
}

// Those with annotations of Linkerd are Linkerd's.
bool is_gateway_route(const Node& object) {
  return is_object(object, kApiGroup, "HTTPRoute") && linkerd_annotations(object) == nullptr;
}

class Reader {
 public:
  PolicyFile read(const std::vector<Node>& documents, ReadAs as) {
    for (const Node* each : objects_of(documents)) {
      if (is_object(*each, kEnvoyGroup, "SecurityPolicy")) note_side_calls(*each);
      if (is_gateway_route(*each)) routes_.push_back(each);
      if (is_object(*each, kEnvoyGroup, "BackendTrafficPolicy")) traffic_.push_back(each);
      if (is_object(*each, kExperimentalGroup, "XBackendTrafficPolicy")) read_constraint(*each);
    }
    const bool envoy = as == ReadAs::kEnvoyGateway || (as != ReadAs::kIstio && !traffic_.empty());
    by_ = as == ReadAs::kIstio ? kIstio : envoy ? kEnvoyGateway : kUnknown;
    file_.kind = std::string(traffic_.empty() ? kApi : kEnvoy) + " configuration" +
                 (by_.name == kUnknown.name ? "" : " as " + std::string(by_.name) + " reads it");
    used_.assign(traffic_.size(), false);
    for (const Node* each : routes_) read_route(*each);
    for (std::size_t i = 0; i < traffic_.size(); ++i) {
      if (!used_[i]) read_alone(*traffic_[i]);
    }
    if (without_ > 0) {
      file_.note(Note::Level::kNote, kAssumed, 0,
                 std::to_string(without_) + (without_ == 1 ? " rule has" : " rules have") +
                     " no retry: nothing is retried there, but for what the "
                     "implementation does of its own");
    }
    if (traffic_read_ && !route_read_) file_.format = "envoy-gateway";
    return std::move(file_);
  }

 private:
  // What a policy asks others for, such as keys.
  void note_side_calls(const Node& node) {
    const Node* retry = node.name == "backendSettings" ? node.find("retry") : nullptr;
    if (retry != nullptr) {
      file_.note(Note::Level::kNote, kNotModelled, retry->line,
                 "the retry of a SecurityPolicy's side call, such as for keys (JWKS), "
                 "is of no route");
    }
    for (const Node& each : node.children) note_side_calls(each);
  }

  // The policy for an object, such as a route or the gateway that it belongs to.
  const Node* policy_for(std::string_view kind, std::string_view name, const std::string& space) {
    for (std::size_t i = 0; i < traffic_.size(); ++i) {
      if (namespace_of(*traffic_[i]) != space) continue;
      for (const Node* each : targets_of(*traffic_[i])) {
        if (each->text_at({"kind"}) != kind || each->text_at({"name"}) != name) continue;
        used_[i] = true;
        return traffic_[i]->find("spec");
      }
    }
    return nullptr;
  }

  static std::vector<const Node*> targets_of(const Node& object) {
    std::vector<const Node*> targets;
    if (const Node* one = object.at({"spec", "targetRef"})) targets.push_back(one);
    for (const Node& each : object.items({"spec", "targetRefs"})) targets.push_back(&each);
    return targets;
  }

  void read_route(const Node& route) {
    const std::string name = route.text_at({"metadata", "name"});
    const Node* traffic = policy_for("HTTPRoute", name, namespace_of(route));
    bool mesh = false;
    for (const Node& each : route.items({"spec", "parentRefs"})) {
      mesh |= each.text_at({"kind"}) == "Service";
      const std::string space = each.text_at({"namespace"});
      const Node* gateways = policy_for("Gateway", each.text_at({"name"}),
                                        space.empty() ? namespace_of(route) : space);
      if (traffic == nullptr) traffic = gateways;
    }
    std::size_t number = 0;
    for (const Node& rule : route.items({"spec", "rules"})) {
      Policy policy{.names = {shown(name) + rule_name(rule, ++number)},
                    .line = rule.line,
                    .layer = mesh ? "mesh" : "gateway"};
      for (const Node& each : rule.items({"backendRefs"})) {
        policy.hosts.push_back(shown(full_host(each.text_at({"name"}), route)));
      }
      read_rule(std::move(policy), rule, traffic);
    }
  }

  static std::string rule_name(const Node& rule, std::size_t number) {
    const auto& matches = rule.items({"matches"});
    const std::string path = matches.empty() ? "" : matches.front().text_at({"path", "value"});
    return path.empty() ? " rule " + std::to_string(number) : ' ' + shown(path);
  }

  void read_rule(Policy policy, const Node& rule, const Node* traffic) {
    const Node* retry = rule.find("retry");
    const Node* of_traffic = traffic == nullptr ? nullptr : traffic->find("retry");
    const Node* breaker = traffic == nullptr ? nullptr : traffic->find("circuitBreaker");
    if (retry == nullptr && of_traffic == nullptr) {
      ++without_;
      if (breaker == nullptr) return;
      policy.has_retries = false;
      read_limits(policy, breaker);
      file_.add(std::move(policy));
      return;
    }
    add_fields(policy, kTimeouts, rule.find("timeouts"), kApi);
    if (by_.name == kEnvoy) settle_backend_request(policy);
    if (retry != nullptr) {
      read_retry(policy, *retry);
      if (of_traffic != nullptr) {
        policy.warn(kNoEffect, of_traffic->line,
                    "retry of the BackendTrafficPolicy has no effect where the HTTPRoute's rule "
                    "has one");
      }
    } else {
      read_traffic_retry(policy, *of_traffic, traffic);
    }
    read_limits(policy, breaker);
    file_.add(std::move(policy));
  }

  // Envoy Gateway takes backendRequest for the time of the whole request, and also of a try.
  static void settle_backend_request(Policy& policy) {
    const Setting* timeout = policy.find("timeout");
    if (timeout == nullptr) return;
    const Setting copy = *timeout;
    policy.set("deadline", copy.value, copy.line, copy.source + ", also of all tries");
    policy.remark(
        kDependsOnVersion, copy.line,
        "Envoy Gateway takes backendRequest for the timeout of the whole request, too (as in "
        "its tests of 2024)");
  }

  void settle(Policy& policy) const {
    set_envoy_waits(policy);
    settle_cap(policy, "its cap");
    if (policy.find("deadline") == nullptr) {
      policy.assume("deadline", std::string(by_.deadline),
                    "no timeout of the request is given: " + std::string(by_.name) + " has " +
                        std::string(by_.deadline));
    }
    settle_timeouts(policy, by_.name, "the timeout of a try", "that of the request");
  }

  void read_retry(Policy& policy, const Node& retry) {
    route_read_ = true;
    note_others(policy.notes, retry, {"codes", "attempts", "backoff"},
                "no field of retry: the API server drops it");
    add_fields(policy, kRetry, &retry, kApi);
    settle(policy);
    const Node* codes = retry.find("codes");
    std::string list = std::string(by_.conditions) + codes_of(codes);
    constexpr std::string_view kCodeByDefault = ",503";  // of Envoy Gateway
    if (codes == nullptr && by_.name == kEnvoy) list += kCodeByDefault;
    add_conditions(policy, list, {}, codes == nullptr ? retry.line : codes->line, false);
    if (by_.name == kUnknown.name) {
      policy.assumed(
          retry.line,
          "waits, attempts that are not given, and what is retried beside the codes are up to "
          "the implementation: read are Envoy's waits, 2 retries, and failed connections "
          "(--as=envoy-gateway or --as=istio reads it as that does)");
    }
  }

  void read_traffic_retry(Policy& policy, const Node& retry, const Node* spec) {
    traffic_read_ = true;
    note_others(policy.notes, retry,
                {"numRetries", "numAttemptsPerPriority", "retryOn", "perRetry"},
                "no field of retry: the API server drops it");
    add_field(policy, kNumRetries, retry.find(kNumRetries.name), kEnvoy);
    const Node* each = retry.find("perRetry");
    if (each != nullptr) {
      note_others(policy.notes, *each, {"timeout", "backOff"},
                  "no field of perRetry: the API server drops it");
    }
    add_field(policy, kTryTimeout, retry.at({"perRetry", kTryTimeout.name}), kEnvoy);
    add_fields(policy, kWaits, retry.at({"perRetry", "backOff"}), kEnvoy);
    add_field(policy, kRequestTimeout, spec->at({"timeout", "http", "requestTimeout"}), kEnvoy);
    settle(policy);
    const Node* triggers = retry.at({"retryOn", "triggers"});
    const Node* codes = retry.at({"retryOn", "httpStatusCodes"});
    std::vector<std::string> statuses;
    if (codes != nullptr) {
      for (const Node& status : codes->children) statuses.push_back(status.text);
    } else if (triggers == nullptr) {
      statuses.emplace_back("503");
    }
    const std::string given = codes_of(triggers);
    add_conditions(policy, given.empty() ? kEnvoyGateway.conditions : given.substr(1), statuses,
                   retry.line, false);
  }

  void read_limits(Policy& policy, const Node* breaker) {
    const Node* budget = breaker == nullptr ? nullptr : breaker->find("retryBudget");
    if (by_.name != kEnvoy) {
      policy.assume("retry-budget", "none", "an HTTPRoute has no limit on all retries together");
      return;
    }
    const Node* most = breaker == nullptr ? nullptr : breaker->find(kMaxRetries.name);
    set_envoy_budget(policy, budget, most,
                     budget ? "retryBudget" : "Envoy Gateway limits the retries at a time");
    if (budget == nullptr) {
      add_most_retries(policy, kMaxRetries, most, kEnvoy);
    } else {
      read_percent(policy, budget->find("percent"), *budget);
      add_field(policy, kMinRetries, budget->find(kMinRetries.name), kEnvoy);
    }
    if (breaker == nullptr) return;
    const Node* requests = breaker->find(kMaxRequests.name);
    if (requests == nullptr || requests->text != kNoLimit) {
      add_field(policy, kMaxRequests, requests, kEnvoy);
    }
    note_skipped(policy, breaker,
                 {{"maxConnections", kOfPool},
                  {"maxPendingRequests", kOfPool},
                  {"maxRequestsPerConnection", kOfPool},
                  {"perEndpoint", kOfPool}});
  }

  // A fraction: of 100 unless it has a denominator.
  static void read_percent(Policy& policy, const Node* percent, const Node& budget) {
    constexpr double kMost = 1e9;
    double share = 0.2;
    std::string source = "percent is not given: the default of Envoy Gateway";
    if (percent != nullptr) {
      const std::string over = percent->text_at({"denominator"});
      try {
        const double whole = over.empty() ? 100 : parse_number(over, 1, kMost);
        share = parse_number(percent->text_at({"numerator"}), 0, whole) / whole;
      } catch (const std::invalid_argument&) {
        policy.refuse(percent->line,
                      "percent: a fraction is expected here, such as {numerator: 20}");
      }
      source = "percent: " + shown(percent->text_at({"numerator"})) + " of " +
               (over.empty() ? "100" : shown(over));
    }
    policy.set("budget-share", print_number(share), percent == nullptr ? 0 : budget.line, source);
  }

  void read_alone(const Node& object) {
    const Node* spec = object.find("spec");
    if (spec == nullptr) return;
    const Node* retry = spec->find("retry");
    const Node* breaker = spec->find("circuitBreaker");
    if (retry == nullptr && breaker == nullptr) return;
    Policy policy{.names = {name_of(object)},
                  .line = object.line,
                  .has_retries = retry != nullptr,
                  .layer = "gateway"};
    if (retry != nullptr) read_traffic_retry(policy, *retry, spec);
    policy.assumed(object.line, "the routes that it is for are not in the file, or have no rules");
    read_limits(policy, breaker);
    file_.add(std::move(policy));
  }

  // Counts over a time, which is another kind of budget than Envoy's.
  void read_constraint(const Node& object) {
    const Node* constraint = object.at({"spec", "retryConstraint"});
    if (constraint == nullptr) return;
    Policy policy{.names = {name_of(object)}, .line = object.line, .has_retries = false};
    policy.set("retry-budget", "finagle", constraint->line, "retryConstraint");
    add_fields(policy, kConstraint, constraint->find("budget"), kApi);
    constexpr double kUsual = 10, kMost = 1e6;
    double rate = kUsual;
    std::string source = "minRetryRate is not given: 10 in 1s, the default of Gateway API";
    if (const Node* least = constraint->find("minRetryRate")) {
      const std::string count = least->text_at({"count"}), time = least->text_at({"interval"});
      try {
        rate = (count.empty() ? kUsual : parse_number(count, 0, kMost)) /
               (time.empty() ? 1 : std::max(to_seconds(gateway_duration(time)), 1e-3));
      } catch (const std::invalid_argument& error) {
        policy.fault(kRefusedRule, least->line, "minRetryRate: " + shown(error.what()));
      }
      source = "minRetryRate";
    }
    policy.assume("budget-minimum-rate", print_number(rate), source);
    policy.assumed(object.line, "a budget alone: what is retried stands in an HTTPRoute");
    file_.add(std::move(policy));
  }

  PolicyFile file_;
  Implementation by_ = kUnknown;
  std::vector<const Node*> routes_, traffic_;
  std::vector<bool> used_;  // of traffic_: it is for a route of the file
  std::size_t without_ = 0;
  bool route_read_ = false, traffic_read_ = false;  // retries in a route, in a BackendTrafficPolicy
};

}  // namespace

bool is_gateway(const std::vector<Node>& documents) {
  const auto objects = objects_of(documents);
  return std::any_of(objects.begin(), objects.end(), [](const Node* each) {
    return is_gateway_route(*each) || is_object(*each, kEnvoyGroup, "BackendTrafficPolicy") ||
           is_object(*each, kEnvoyGroup, "SecurityPolicy") ||
           is_object(*each, kExperimentalGroup, "XBackendTrafficPolicy");
  });
}

PolicyFile read_gateway(const std::vector<Node>& documents, ReadAs as) {
  return Reader().read(documents, as);
}

}  // namespace retrystorm
