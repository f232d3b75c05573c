// The Gateway API's HTTPRoute and XBackendTrafficPolicy, and Envoy Gateway's BackendTrafficPolicy.
// Sources: gateway-api (apis/v1/httproute_types.go, apisx/v1alpha1), envoyproxy/gateway
// (retry_types.go; internal/gatewayapi/route.go and testdata/httproute-retry.out.yaml;
// internal/xds/translator/route.go), istio pilot (config/kube/gateway/conversion.go).
#include <algorithm>
#include <array>
#include <set>
#include <stdexcept>

#include "policies/mesh.h"

namespace retrystorm {
namespace {

constexpr std::string_view kApi = "Gateway API", kEnvoy = "Envoy Gateway";
constexpr std::string_view kApiGroup = "gateway.networking.k8s.io/",
                           kExperimentalGroup = "gateway.networking.x-k8s.io/",
                           kEnvoyGroup = "gateway.envoyproxy.io/";

std::string limit(std::string_view text) {
  return "fixed:" + whole_number(text);
}

constexpr std::array kRetry{Field{"attempts", "max-retries", signed_number, "2"},
                            Field{"backoff", "backoff-base", as_option<gateway_duration>, "25ms"}};
constexpr std::array kTimeouts{Field{"request", "deadline", as_option<gateway_duration>},
                               Field{"backendRequest", "timeout", as_option<gateway_duration>}};
constexpr std::array kConstraint{
    Field{"percent", "budget-deposit", percent_as_share, "0.2"},
    Field{"interval", "budget-ttl", as_option<gateway_duration>, "10s"}};
constexpr std::array kTraffic{
    Field{"retry>numRetries", "max-retries", signed_number, "2"},
    Field{"retry>perRetry>timeout", "timeout", as_option<gateway_duration>},
    Field{"retry>perRetry>backOff>baseInterval", "backoff-base", as_option<gateway_duration>,
          "25ms"},
    Field{"retry>perRetry>backOff>maxInterval", "backoff-cap", as_option<gateway_duration>},
    Field{"timeout>http>requestTimeout", "deadline", as_option<gateway_duration>}};
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

constexpr std::array kOthersOfBreaker{
    not_simulated("maxConnections", kOfPool), not_simulated("maxPendingRequests", kOfPool),
    not_simulated("maxRequestsPerConnection", kOfPool), not_simulated("perEndpoint", kOfPool)};

// Those with annotations of Linkerd are Linkerd's.
bool is_gateway_route(const Node& object) {
  return is_object(object, kApiGroup, "HTTPRoute") && !linkerd_annotations(object);
}

// Envoy Gateway takes backendRequest for the time of the whole request, and also of a try.
void settle_backend_request(Policy& policy) {
  const Setting* timeout = policy.find("timeout");
  if (timeout == nullptr) return;
  policy.set("deadline", timeout->value, timeout->line, timeout->source + ", also of all tries");
  policy.remark(
      kDependsOnVersion, policy.find("timeout")->line,
      "Envoy Gateway takes backendRequest for the timeout of the whole request, too (as in "
      "its tests of 2024)");
}

// A fraction: of 100 unless it has a denominator.
void read_percent(Policy& policy, const Node& percent, const Node& budget) {
  if (!percent) {
    policy.assume("budget-share", "0.2", "percent is not given: the default of Envoy Gateway");
    return;
  }
  constexpr double kMost = 1e9;
  double share = 0.2;
  const std::string part = percent["numerator"].brief(), over = percent["denominator"].brief();
  try {
    const double whole = over.empty() ? 100 : parse_number(over, 1, kMost);
    share = parse_number(part, 0, whole) / whole;
  } catch (const std::invalid_argument&) {
    policy.refuse(percent.line, "percent: a fraction is expected here, such as {numerator: 20}");
  }
  policy.set("budget-share", print_number(share), budget.line,
             "percent: " + shown(part) + " of " + (over.empty() ? "100" : shown(over)));
}

class Reader {
 public:
  PolicyFile read(const std::vector<Node>& documents, ReadAs as) {
    for (const Node* each : objects_of(documents)) {
      const bool asks = is_object(*each, kEnvoyGroup, "SecurityPolicy"),
                 limits = is_object(*each, kExperimentalGroup, "XBackendTrafficPolicy");
      if (asks) note_side_calls(*each);
      if (is_gateway_route(*each)) routes_.push_back(each);
      if (is_object(*each, kEnvoyGroup, "BackendTrafficPolicy")) traffic_.push_back(each);
      if (limits) read_constraint(*each);
      others_ |= asks || limits;
    }
    if (routes_.empty() && traffic_.empty() && !others_) return {};
    const bool envoy = as == ReadAs::kEnvoyGateway || (as != ReadAs::kIstio && !traffic_.empty());
    by_ = as == ReadAs::kIstio ? kIstio : envoy ? kEnvoyGateway : kUnknown;
    file_.kind = std::string(traffic_.empty() ? kApi : kEnvoy) + " configuration" +
                 (by_.name == kUnknown.name ? "" : " as " + std::string(by_.name) + " reads it");
    for (const Node* each : routes_) read_route(*each);
    for (const Node* each : traffic_) {
      if (!used_.contains(each)) read_alone(*each);
    }
    note_without(file_, without_, "rule",
                 "no retry: nothing is retried there, but for what the implementation does of its "
                 "own");
    if (traffic_read_ && !route_read_) file_.format = "envoy-gateway";
    return std::move(file_);
  }

 private:
  // What a policy asks others for, such as keys.
  void note_side_calls(const Node& node) {
    if (const Node& retry = node["retry"]; retry && node.name == "backendSettings") {
      file_.note(Note::Level::kNote, kNotModelled, retry.line,
                 "the retry of a SecurityPolicy's side call, such as for keys (JWKS), "
                 "is of no route");
    }
    for (const Node& each : node.children) note_side_calls(each);
  }

  // The policy for an object, such as a route or the gateway that it belongs to.
  const Node& policy_for(std::string_view kind, const std::string& name, const std::string& space) {
    const auto is_it = [&](const Node& target) {
      return target["kind"].brief() == kind && target["name"].brief() == name;
    };
    for (const Node* each : traffic_) {
      const auto& targets = (*each)["spec>targetRefs"].items();
      if (namespace_of(*each) == space &&
          (is_it((*each)["spec>targetRef"]) || std::ranges::any_of(targets, is_it))) {
        used_.insert(each);
        return (*each)["spec"];
      }
    }
    return kNowhere;
  }

  void read_route(const Node& route) {
    const std::string name = route["metadata>name"].brief();
    const Node* traffic = &policy_for("HTTPRoute", name, namespace_of(route));
    bool mesh = false;
    for (const Node& each : route["spec>parentRefs"].items()) {
      mesh |= each["kind"].brief() == "Service";
      const std::string space = each["namespace"].brief();
      const Node& gateways =
          policy_for("Gateway", each["name"].brief(), space.empty() ? namespace_of(route) : space);
      if (!*traffic) traffic = &gateways;
    }
    std::size_t number = 0;
    for (const Node& rule : route["spec>rules"].items()) {
      ++number;
      const std::string path = rule["matches"].first()["path>value"].brief();
      Policy policy{.names = {shown(name) + (path.empty() ? " rule " + std::to_string(number)
                                                          : ' ' + shown(path))},
                    .line = rule.line,
                    .layer = mesh ? "mesh" : "gateway"};
      for (const Node& each : rule["backendRefs"].items()) {
        policy.hosts.push_back(shown(full_host(each["name"].brief(), route)));
      }
      read_rule(std::move(policy), rule, *traffic);
    }
  }

  void read_rule(Policy policy, const Node& rule, const Node& traffic) {
    const Node &retry = rule["retry"], &of_traffic = traffic["retry"];
    const Node& breaker = traffic["circuitBreaker"];
    policy.has_retries = retry || of_traffic;
    if (policy.has_retries) {
      add_fields(policy, kTimeouts, rule["timeouts"], kApi);
      const std::string one = policy.value("timeout"), all = policy.value("deadline");
      if (!one.empty() && !all.empty() && parse_duration(all) > Duration::zero() &&
          parse_duration(one) > parse_duration(all)) {
        policy.refuse(policy.line_of("timeout"),
                      "backendRequest is longer than request: the API server refuses it");
      }
      if (by_.name == kEnvoy) settle_backend_request(policy);
    } else {
      ++without_;
      if (!breaker) return;
    }
    if (retry) read_retry(policy, retry);
    if (retry && of_traffic) {
      policy.warn(kNoEffect, of_traffic.line,
                  "retry of the BackendTrafficPolicy has no effect where the HTTPRoute's rule "
                  "has one");
    }
    if (!retry && of_traffic) read_traffic_retry(policy, traffic);
    read_limits(policy, breaker);
    file_.add(std::move(policy));
  }

  void settle(Policy& policy) const {
    set_envoy_waits(policy);
    settle_cap(policy, "its cap");
    if (policy.find("deadline") == nullptr) {
      const std::string name(by_.name), deadline(by_.deadline);
      policy.assume("deadline", deadline,
                    "no timeout of the request is given: " + name + " has " + deadline);
    }
    settle_timeouts(policy, by_.name, "the timeout of a try", "that of the request");
    if (by_.name == kUnknown.name) return;
    // Envoy Gateway: buildRetryPolicy in internal/xds/translator/route.go; Istio: see there.
    policy.assume("retry-host", "other:5", "hosts are preferred that were not tried");
  }

  void read_retry(Policy& policy, const Node& retry) {
    route_read_ = true;
    note_others(policy.notes, retry, {"codes", "attempts", "backoff"},
                "no field of retry: the API server drops it");
    add_fields(policy, kRetry, retry, kApi);
    settle(policy);
    const Node& codes = retry["codes"];
    std::string list(by_.conditions);
    for (const Node& each : codes.children) {
      append(list, each.text, ",");
      if (each.text.size() == 3 && each.text >= "400" && each.text <= "599") continue;
      policy.refuse(each.line, shown(each.text) + " is no status from 400 to 599");
    }
    if (!codes && by_.name == kEnvoy) append(list, "503", ",");  // its default
    add_conditions(policy, list, {}, (codes ? codes : retry).line);
    if (by_.name == kUnknown.name) {
      policy.assumed(
          retry.line,
          "waits, attempts that are not given, and what is retried beside the codes are up to "
          "the implementation: read are Envoy's waits, 2 retries, and failed connections "
          "(--as=envoy-gateway or --as=istio reads it as that does)");
    }
  }

  void read_traffic_retry(Policy& policy, const Node& spec) {
    traffic_read_ = true;
    const Node& retry = spec["retry"];
    note_others(policy.notes, retry,
                {"numRetries", "numAttemptsPerPriority", "retryOn", "perRetry"},
                "no field of retry: the API server drops it");
    note_others(policy.notes, retry["perRetry"], {"timeout", "backOff"},
                "no field of perRetry: the API server drops it");
    add_fields(policy, kTraffic, spec, kEnvoy);
    settle(policy);
    const Node &triggers = retry["retryOn>triggers"], &codes = retry["retryOn>httpStatusCodes"];
    std::vector<std::string> statuses;
    for (const Node& status : codes.children) statuses.push_back(status.text);
    if (!codes && !triggers) statuses.emplace_back("503");
    std::string words;
    for (const Node& each : triggers.children) append(words, each.text, ",");
    add_conditions(policy, words.empty() ? kEnvoyGateway.conditions : words, statuses, retry.line);
  }

  void read_limits(Policy& policy, const Node& breaker) {
    if (by_.name != kEnvoy) {
      policy.assume("retry-budget", "none", "an HTTPRoute has no limit on all retries together");
      return;
    }
    const Node &budget = breaker["retryBudget"], &most = breaker[kMaxRetries.name];
    set_envoy_budget(policy, budget, most, kMaxRetries, kEnvoy,
                     budget ? "retryBudget" : "Envoy Gateway limits the retries at a time");
    if (budget) {
      read_percent(policy, budget["percent"], budget);
      add_field(policy, kMinRetries, budget[kMinRetries.name], kEnvoy);
    }
    if (!breaker) return;
    const Node& requests = breaker[kMaxRequests.name];
    if (requests.text != kNoLimit) add_field(policy, kMaxRequests, requests, kEnvoy);
    add_fields(policy, kOthersOfBreaker, breaker, kEnvoy);
  }

  void read_alone(const Node& object) {
    const Node &spec = object["spec"], &retry = spec["retry"], &breaker = spec["circuitBreaker"];
    if (!retry && !breaker) return;
    Policy policy{.names = {name_of(object)},
                  .line = object.line,
                  .has_retries = static_cast<bool>(retry),
                  .layer = "gateway"};
    if (retry) read_traffic_retry(policy, spec);
    policy.assumed(object.line, "the routes that it is for are not in the file, or have no rules");
    read_limits(policy, breaker);
    file_.add(std::move(policy));
  }

  // Counts over a time, which is another kind of budget than Envoy's.
  void read_constraint(const Node& object) {
    const Node& constraint = object["spec>retryConstraint"];
    if (!constraint) return;
    Policy policy{.names = {name_of(object)}, .line = object.line, .has_retries = false};
    policy.set("retry-budget", "finagle", constraint.line, "retryConstraint");
    add_fields(policy, kConstraint, constraint["budget"], kApi);
    constexpr double kUsual = 10, kMost = 1e6;
    double rate = kUsual;
    const Node& least = constraint["minRetryRate"];
    const std::string count = least["count"].brief(), time = least["interval"].brief();
    try {
      rate = (count.empty() ? kUsual : parse_number(count, 0, kMost)) /
             (time.empty() ? 1 : std::max(to_seconds(gateway_duration(time)), 1e-3));
    } catch (const std::invalid_argument& error) {
      policy.refuse(least.line, "minRetryRate: " + shown(error.what()));
    }
    policy.assume(
        "budget-minimum-rate", print_number(rate),
        least ? "minRetryRate" : "minRetryRate is not given: 10 in 1s, the default of Gateway API");
    policy.assumed(object.line, "a budget alone: what is retried stands in an HTTPRoute");
    file_.add(std::move(policy));
  }

  PolicyFile file_;
  Implementation by_ = kUnknown;
  std::vector<const Node*> routes_, traffic_;
  std::set<const Node*> used_;  // those of traffic_ for a route of the file
  bool others_ = false;         // there are other objects of these kinds
  std::size_t without_ = 0;
  bool route_read_ = false, traffic_read_ = false;  // retries in a route, in a BackendTrafficPolicy
};

}  // namespace

PolicyFile read_gateway(const std::vector<Node>& documents, ReadAs as) {
  return Reader().read(documents, as);
}

}  // namespace retrystorm
