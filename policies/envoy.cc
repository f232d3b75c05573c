// Envoy: routes and clusters, anywhere in a bootstrap file, in a list of resources, in a config dump.
// Sources: route_components.proto, circuit_breaker.proto, source/common/router/retry_state_impl.cc; of hosts cluster.proto,
// outlier_detection.proto, source/common/upstream/outlier_detection_impl.cc (1.32; until 1.30 one host was ejected whatever
// the share).
#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "model/retry/retry_on.h"
#include "model/service/picker.h"
#include "policies/mesh.h"

namespace retrystorm {
namespace {

constexpr std::string_view kProgram = "Envoy";
constexpr auto kNames = NameCase::kProtobuf;

std::string duration(std::string_view text) {
  if (text == "0") return "0s";  // Go's dumps
  return brief_duration(protobuf_duration(text));
}

constexpr Field kRetries{"num_retries", "max-retries", whole_number, "1"};
constexpr Field kTryTimeout{"per_try_timeout", "timeout", duration};
constexpr Field kRouteTimeout{"timeout", "deadline", duration, "15s"};
constexpr std::array kBackOff{
    Field{"base_interval", "backoff-base", positive_protobuf_duration, "25ms"},
    Field{"max_interval", "backoff-cap", positive_protobuf_duration}};
constexpr std::array kBudget{
    Field{"budget_percent", "budget-share", percent_as_share, "0.2"},
    Field{"min_retry_concurrency", "budget-min-concurrency", whole_number, "3"},
    Field{"budget_interval", "budget-interval", duration}};
constexpr Field kMaxRetries{"max_retries", "budget-min-concurrency", whole_number, "3"};

// No number of picks (0) stands for one.
std::string picks(std::string_view text) {
  const std::string count = whole_number(text);
  return "other:" + (count == "0" ? "1" : count);
}
constexpr Field kPicks{"host_selection_retry_max_attempts", "retry-host", picks, "other:1"};
constexpr std::array kEjection{
    Field{"consecutive_5xx", "failures", whole_number, "5"},
    Field{"base_ejection_time", "base", positive_protobuf_duration, "30s"},
    Field{"max_ejection_percent", "share", percent_as_share, "0.1"}};
// Envoy 1.32, health_check.proto: all three must be given.
constexpr std::array kHealthCheck{Field{"interval", "every", positive_protobuf_duration, "10s"},
                                  Field{"timeout", "timeout", positive_protobuf_duration, "1s"},
                                  Field{"unhealthy_threshold", "failures", count_from<1>, "3"}};
constexpr Field kPanic{"healthy_panic_threshold", "panic", percent_as_share, "0.5"};

constexpr std::array kOthersOfRetry{
    not_simulated("rate_limited_retry_back_off", "waits that a header of the answer asks for"),
    not_simulated("retry_priority", "another priority for a retry"),
    not_simulated("per_try_idle_timeout", "an attempt ends when nothing comes for this time")};
constexpr std::array kOthersOfThresholds{not_simulated("max_connections", kOfPool),
                                         not_simulated("max_pending_requests", kOfPool)};
constexpr Field kPerHost = not_simulated("per_host_thresholds", "connections to a single host");
constexpr std::string_view kStatistics = "hosts that fail more than others are left out for a time";
constexpr std::array kOthersOfEjection{
    not_simulated("consecutive_gateway_failure", kOfSome),
    not_simulated("consecutive_local_origin_failure", kOfSome),
    not_simulated("enforcing_consecutive_5xx", "the chance that a host is left out"),
    not_simulated("failure_percentage_threshold", kStatistics),
    not_simulated("max_ejection_time", "the longest time that a host is left out; here 300 s")};

const Node& field(const Node& node, std::string_view name) {
  return node.member(name, kNames);
}

bool is_policy(const Node& node) {
  return field(node, "retry_on") || field(node, "num_retries");
}

// The part of a route that says where requests go. (A locality or an endpoint may have a cluster too.)
bool is_action(const Node& node) {
  return (node.name == "route" || node.name == "Route") &&
         (node["cluster"].is_scalar() ||
          node.first_of({"cluster_header", "clusterHeader", "weighted_clusters", "weightedClusters",
                         "ClusterSpecifier"}));
}

// The part of a name that says something: of "outbound|9080||productpage.default" the host.
std::string host_of(const std::string& cluster) {
  return shown(cluster.substr(cluster.rfind('|') + 1));
}

class Reader {
 public:
  PolicyFile read(const std::vector<Node>& documents) {
    for (const Node& each : documents) find_clusters(each);
    for (const Node& each : documents) walk(each, {});
    if (file_.policies.empty()) {
      for (const auto& [name, cluster] : clusters_)
        read_cluster_alone(name, *cluster.first, cluster.second);
    }
    note_without(file_, without_, "route", "no retry policy: nothing is retried there");
    return std::move(file_);
  }

 private:
  struct Around {
    std::string name{};                   // of the nearest thing with one
    const Node* host_policy = &kNowhere;  // the virtual host's, for routes without one of their own
  };

  void find_clusters(const Node& node) {
    const bool is_cluster = field(node, "circuit_breakers") || field(node, "outlier_detection") ||
                            field(node, "load_assignment") || field(node, "lb_policy") ||
                            field(node, "load_balancing_policy");
    if (is_cluster && node["name"].is_scalar()) {
      std::size_t hosts = 0;  // those of the first priority
      for (const Node& each : field(node, "load_assignment")["endpoints"].items()) {
        const std::string& priority = each["priority"].text;
        if (priority.empty() || priority == "0")
          hosts += field(each, "lb_endpoints").items().size();
      }
      clusters_.try_emplace(node["name"].text, &node, hosts);
    }
    for (const Node& each : node.children) find_clusters(each);
  }

  void walk(const Node& node, Around around) {
    const Node& name = node["name"];
    if (name.is_scalar()) around.name = shown(name.text);
    const Node& path = node["match"].first_of({"prefix", "path"});
    if (!name && path.is_scalar()) around.name += ' ' + shown(path.text);
    if (const Node& kind = node["kind"]) {
      around.name = shown(kind.text + ' ' + node["metadata>name"].brief());
    }
    const bool is_options = node.name == "options" && node["retries"];
    const bool is_route = is_options || is_action(node);
    const Node& said = is_options ? node["retries"] : field(node, "retry_policy");
    // A route's is one without retry_on, too.
    const Node& own = is_policy(said) || (is_route && said.is_map()) ? said : kNowhere;
    const Node* of_host = nullptr;  // is read with its routes
    if (node["routes"]) {
      around.host_policy = of_host = &own;
    } else if (is_route) {
      const Node& policy = own ? own : *around.host_policy;
      if (policy) return read_policy(policy, node, around.name);
      ++without_;
      return;
    } else if (own) {
      return read_policy(own, kNowhere, around.name);
    }
    if (is_policy(node)) return read_policy(node, kNowhere, around.name);  // a patch of one alone
    for (const Node& each : node.children) {
      if (&each != of_host) walk(each, around);
    }
  }

  void read_policy(const Node& retry, const Node& action, const std::string& name) {
    Policy policy{.names = {name.empty() ? "a route" : name}, .line = retry.line};
    // The fields of RetryPolicy in route_components.proto.
    note_others(policy.notes, retry,
                {"retry_on", "num_retries", "per_try_timeout", "per_try_idle_timeout",
                 "retry_priority", "retry_host_predicate", "retry_options_predicates",
                 "host_selection_retry_max_attempts", "retriable_status_codes", "retry_back_off",
                 "rate_limited_retry_back_off", "retriable_headers", "retriable_request_headers"},
                "no field of Envoy's retry policy: in a file that Envoy starts with it is refused",
                kNames);
    add_field(policy, kRouteTimeout, field(action, kRouteTimeout.name), kProgram);
    add_field(policy, kTryTimeout, field(retry, kTryTimeout.name), kProgram);
    settle_timeouts(policy, kProgram, "per_try_timeout", "timeout");
    read_back_off(policy, field(retry, "retry_back_off"));
    add_field(policy, kRetries, unwrapped(field(retry, kRetries.name)), kProgram);
    const Node& on = field(retry, "retry_on");
    if (on.text.empty()) {
      policy.set("max-retries", "0", retry.line, "there is no retry_on: nothing is retried");
      policy.fault(kNoEffect, retry.line,
                   "a retry policy without retry_on retries nothing, whatever num_retries is");
    } else {
      std::vector<std::string> codes;
      for (const Node& each : field(retry, "retriable_status_codes").items()) {
        codes.push_back(each.text);
      }
      const bool has_headers{field(retry, "retriable_headers")};
      add_conditions(policy, on.text, codes, on.line, has_headers);
    }
    for (const Node& each : field(retry, "retry_host_predicate").items()) {
      if (each["name"].text.ends_with("previous_hosts")) {
        add_field(policy, kPicks, field(retry, kPicks.name), kProgram);
      } else {
        policy.not_modelled(each.line, "retry_host_predicate: another host for a retry");
      }
    }
    add_fields(policy, kOthersOfRetry, retry, kProgram, kNames);
    // It stands beside the retry policy.
    const Node& hedges = field(action, "hedge_policy");
    read_hedges(policy, hedges ? hedges : field(retry, "hedge_policy"));
    read_cluster(policy, action);
    file_.add(std::move(policy));
  }

  static void read_back_off(Policy& policy, const Node& back_off) {
    set_envoy_waits(policy);
    if (back_off && !field(back_off, "base_interval")) {
      policy.refuse(back_off.line,
                    "base_interval is missing in retry_back_off: Envoy refuses the file");
    }
    add_fields(policy, kBackOff, back_off, kProgram, kNames);
    settle_cap(policy, "max_interval");
    const Setting* const base = policy.find("backoff-base");
    const Setting* const cap = policy.find("backoff-cap");
    if (base != nullptr && parse_duration(cap->value) < parse_duration(base->value)) {
      policy.refuse(cap->line, "max_interval is below base_interval: Envoy refuses the file");
    }
  }

  static void read_hedges(Policy& policy, const Node& hedges) {
    for (const char* name : {"initial_requests", "additional_request_chance"}) {
      if (const Node& found = field(hedges, name)) {
        policy.remark(kNoEffect, found.line, std::string(name) + ": Envoy does not implement it");
      }
    }
    const Node& late = unwrapped(field(hedges, "hedge_on_per_try_timeout"));
    if (late.text != "true") return;
    if (policy.value("max-retries") == "0" || policy.find("timeout") == nullptr ||
        !parse_retry_on(policy.value("retry-on")).timeout) {
      policy.warn(kNoEffect, late.line,
                  field_text(late) + " has no effect: no timeout of a try is retried");
      return;
    }
    policy.take("hedge-on", "timeout", late, ": a late try goes on beside its retry");
  }

  void read_cluster(Policy& policy, const Node& action) {
    const Node& cluster = action["cluster"];
    const std::string name = (cluster ? cluster : action["ClusterSpecifier>Cluster"]).text;
    if (!name.empty()) policy.hosts.push_back(host_of(name));
    if (const auto found = clusters_.find(name); found != clusters_.end()) {
      const auto& [node, hosts] = found->second;
      read_hosts(policy, *node, hosts);
      if (field(*node, "circuit_breakers"))
        return read_limits(policy, field(*node, "circuit_breakers"));
    }
    policy.assume(
        "retry-budget", "envoy",
        "no circuit_breakers of its cluster are in the file: the default of Envoy, at most "
        "3 retries at a time");
    policy.assume("budget-min-concurrency", "3", "max_retries: the default of Envoy");
  }

  static void read_limits(Policy& policy, const Node& breakers) {
    const Node* first = &kNowhere;
    for (const Node& each : breakers["thresholds"].items()) {
      const Node& priority = each["priority"];
      if (!*first && (!priority || priority.text == "DEFAULT")) first = &each;
    }
    const Node& budget = field(*first, "retry_budget");
    const Node& most = field(*first, kMaxRetries.name);
    set_envoy_budget(policy, budget, most, kMaxRetries, kProgram,
                     budget ? "retry_budget" : "max_retries");
    if (budget) add_shares(policy, kBudget, budget, kProgram, kNames);
    add_concurrency(policy, unwrapped(field(*first, "max_requests")));
    add_fields(policy, kOthersOfThresholds, *first, kProgram, kNames);
    add_field(policy, kPerHost, field(breakers, kPerHost.name), kProgram);
  }

  // The first one of a cluster, and the port of its first host.
  static void read_health_check(Policy& policy, const Node& cluster) {
    const Node& check = field(cluster, "health_checks").first();
    if (!check) return;
    if (!field(check, "http_health_check") && !field(check, "grpc_health_check")) {
      return policy.not_modelled(check.line, "a health check that is not by HTTP or gRPC");
    }
    const Node* host = &kNowhere;
    for (const Node& each : field(cluster, "load_assignment")["endpoints"].items()) {
      if (!*host) host = &field(each, "lb_endpoints").first()["endpoint"];
    }
    const Node& port = field(field(*host, "health_check_config"), "port_value");
    add_probe(policy, kHealthCheck, check, port, kProgram, kNames);
    if (field(check, "http_health_check")) {
      policy.not_modelled(check.line, "one answer of the probe that is not 200 is enough");
    }
  }

  static void read_hosts(Policy& policy, const Node& cluster, std::size_t hosts) {
    set_replicas(policy, hosts, field(cluster, "load_assignment"));
    Node balance = field(cluster, "lb_policy");
    // A list is first; what counts in it is the end of a name such as envoy.load_balancing_policies.random.
    if (const Node& first = field(cluster, "load_balancing_policy")["policies"].first()) {
      const std::string name = field(first, "typed_extension_config")["name"].brief();
      balance = scalar_node("load_balancing_policy", name.substr(name.rfind('.') + 1), first.line);
    }
    add_balance(policy, balance);
    const Node& outliers = field(cluster, "outlier_detection");
    add_fields(policy, kOthersOfEjection, outliers, kProgram, kNames);
    if (unwrapped(field(outliers, "enforcing_consecutive_5xx")).text != "0") {
      add_parts(policy, "eject", kEjection, outliers, kProgram, kNames);
    }
    const Node& rate = unwrapped(field(outliers, "enforcing_success_rate"));
    if (outliers && rate.text != "0" && (hosts < 2 || hosts >= 5)) {
      policy.not_modelled(outliers.line, "enforcing_success_rate: " + std::string(kStatistics) +
                                             ", if there are 5 hosts of 100 requests in 10 s each");
    }
    read_health_check(policy, cluster);
    if (policy.find("eject") == nullptr && policy.find("probe") == nullptr) return;
    add_field(policy, kPanic, unwrapped(field(field(cluster, "common_lb_config"), kPanic.name)),
              kProgram);
    if (policy.find("eject") == nullptr) return;
    const Node& one = unwrapped(field(outliers, "always_eject_one_host"));
    Ejection ejection = parse_ejection(policy.value("eject"));
    if (one.text != "true" || hosts < 2 || ejection.most_out(hosts) > 0) return;
    ejection.most = 1 / static_cast<double>(hosts);
    policy.take("eject", to_string(ejection), one);
  }

  void read_cluster_alone(const std::string& name, const Node& cluster, std::size_t hosts) {
    const Node& breakers = field(cluster, "circuit_breakers");
    const Node& limits = breakers ? breakers : cluster;
    Policy policy{.names = {"cluster " + shown(name)},
                  .line = limits.line,
                  .has_retries = false,
                  .hosts = {host_of(name)}};
    policy.assumed(limits.line,
                   "a cluster's limits: what is retried stands with its routes, in another file");
    read_hosts(policy, cluster, hosts);
    if (breakers) read_limits(policy, breakers);
    file_.add(std::move(policy));
  }

  PolicyFile file_{.kind = "Envoy configuration", .format = "envoy"};
  std::map<std::string, std::pair<const Node*, std::size_t>> clusters_;  // with their hosts
  std::size_t without_ = 0;                                              // routes without a policy
};

bool is_envoy(const Node& node) {
  return node["@type"].text.starts_with("type.googleapis.com/envoy.") ||
         field(node, "virtual_hosts") || field(node, "circuit_breakers") ||
         std::ranges::any_of(node.children, is_envoy);
}

}  // namespace

PolicyFile read_envoy(const std::vector<Node>& documents, ReadAs) {
  // What has an apiVersion is Kubernetes', be its fields named like Envoy's.
  const bool ours = std::ranges::any_of(
      documents, [](const Node& each) { return !each["apiVersion"] && is_envoy(each); });
  return ours ? Reader().read(documents) : PolicyFile();
}

// RouteOption, VirtualHostOption: projects/gloo/api/v1/options/retries/retries.proto.
PolicyFile read_kgateway(const std::vector<Node>& documents, ReadAs) {
  std::vector<Node> own;
  for (const Node* each : objects_of(documents)) {
    if ((*each)["apiVersion"].text.starts_with("gateway.solo.io/")) own.push_back(*each);
  }
  PolicyFile file = Reader().read(own);
  file.kind = file.policies.empty() ? "" : "kgateway configuration";
  file.format = {};
  return file;
}

}  // namespace retrystorm
