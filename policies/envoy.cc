// Envoy: routes and clusters, anywhere in a bootstrap file, in a list of resources, in a config dump.
// Sources: route_components.proto, circuit_breaker.proto, source/common/router/retry_state_impl.cc.
#include <algorithm>
#include <array>
#include <map>
#include <stdexcept>

#include "model/base/text.h"
#include "model/retry/retry_on.h"
#include "policies/mesh.h"
#include "policies/readers.h"
#include "policies/tree.h"
#include "policies/values.h"

namespace retrystorm {
namespace {

constexpr std::string_view kProgram = "Envoy";
constexpr std::string_view kDefaultTimeout = "15s";

// The fields of RetryPolicy in route_components.proto.
constexpr std::string_view kRetryNames[] = {"retry_on",
                                            "num_retries",
                                            "per_try_timeout",
                                            "per_try_idle_timeout",
                                            "retry_priority",
                                            "retry_host_predicate",
                                            "retry_options_predicates",
                                            "host_selection_retry_max_attempts",
                                            "retriable_status_codes",
                                            "retry_back_off",
                                            "rate_limited_retry_back_off",
                                            "retriable_headers",
                                            "retriable_request_headers"};

// A wrapped number is written as the number; Go's dumps write {"value": 2}.
const Node* unwrapped(const Node* node) {
  if (node == nullptr || !node->is_map()) return node;
  const Node* value = node->find({"value", "Value"});
  return value != nullptr ? value : node;
}

std::string duration(std::string_view text) {
  if (text == "0") return "0s";  // Go's dumps
  return option_text(protobuf_duration(text));
}

constexpr Field kRetries{"num_retries", "max-retries", whole_number, "1"};
constexpr Field kTryTimeout{"per_try_timeout", "timeout", duration};
constexpr Field kRouteTimeout{"timeout", "deadline", duration, kDefaultTimeout};
constexpr Field kBase{"base_interval", "backoff-base", positive_protobuf_duration, "25ms"};
constexpr Field kCap{"max_interval", "backoff-cap", positive_protobuf_duration};
constexpr std::array kBudget{
    Field{"budget_percent", "budget-share", percent_as_share, "0.2"},
    Field{"min_retry_concurrency", "budget-min-concurrency", whole_number, "3"},
    Field{"budget_interval", "budget-interval", duration}};
constexpr Field kMaxRetries{"max_retries", "budget-min-concurrency", whole_number, "3"};

constexpr std::string_view kHedgeOnTimeout = "hedge_on_per_try_timeout";

bool is_policy(const Node& node) {
  return node.is_map() &&
         (either(node, "retry_on") != nullptr || either(node, "num_retries") != nullptr);
}

// The part of a name that says something: of "outbound|9080||productpage.default" the host.
std::string host_of(const std::string& cluster) {
  const std::size_t bar = cluster.rfind('|');
  return bar == std::string::npos ? cluster : cluster.substr(bar + 1);
}

class Reader {
 public:
  PolicyFile read(const std::vector<Node>& documents) {
    file_.kind = "Envoy configuration";
    file_.format = "envoy";
    for (const Node& each : documents) find_clusters(each);
    for (const Node& each : documents) walk(each, {});
    if (file_.policies.empty()) {
      for (const auto& [name, limits] : clusters_) read_cluster_alone(name, *limits);
    }
    if (without_ > 0) {
      file_.note(Note::Level::kNote, kAssumed, 0,
                 std::to_string(without_) + (without_ == 1 ? " route has" : " routes have") +
                     " no retry policy: nothing is retried there");
    }
    return std::move(file_);
  }

 private:
  // What stands around a node.
  struct Around {
    std::string name{};                 // of the nearest thing with one
    const Node* host_policy = nullptr;  // the virtual host's, for routes without one of their own
  };

  void find_clusters(const Node& node) {
    if (node.is_map()) {
      const Node* name = node.find("name");
      const Node* limits = either(node, "circuit_breakers");
      if (name != nullptr && name->is_scalar() && limits != nullptr) {
        clusters_.emplace(name->text, limits);
      }
    }
    for (const Node& each : node.children) find_clusters(each);
  }

  void walk(const Node& node, Around around) {
    const Node* of_host = nullptr;  // is read with its routes
    if (node.is_map()) {
      if (const Node* name = node.find("name"); name != nullptr && name->is_scalar()) {
        around.name = shown(name->text);
      }
      if (const Node* match = node.find("match"); match != nullptr && match->is_map()) {
        add_match(around, *match, node.find("name") == nullptr);
      }
      if (const Node* kind = node.find("kind")) {
        around.name = shown(kind->text + ' ' + node.text_at({"metadata", "name"}));
      }
      const bool is_options = node.name == "options" && node.find("retries") != nullptr;
      const Node* own = is_options ? node.find("retries") : either(node, "retry_policy");
      const bool is_route = is_options || is_action(node);
      // A route's is one without retry_on, too.
      if (own != nullptr && !is_policy(*own) && !(is_route && own->is_map())) own = nullptr;
      if (node.find("routes") != nullptr) {
        around.host_policy = of_host = own;
      } else if (is_route) {
        if (own == nullptr) own = around.host_policy;
        if (own == nullptr) {
          ++without_;
        } else {
          read_policy(*own, &node, around.name);
        }
        return;
      } else if (own != nullptr) {
        read_policy(*own, nullptr, around.name);
        return;
      }
      if (is_policy(node)) {
        // A patch of a policy alone.
        read_policy(node, nullptr, around.name);
        return;
      }
    }
    for (const Node& each : node.children) {
      if (&each != of_host) walk(each, around);
    }
  }

  static void add_match(Around& around, const Node& match, bool nameless) {
    if (!nameless) return;
    const Node* path = match.find({"prefix", "path"});
    if (path != nullptr && path->is_scalar()) around.name += ' ' + shown(path->text);
  }

  // The part of a route that says where requests go.
  static bool is_action(const Node& node) {
    for (const std::string_view name :
         {"cluster", "cluster_header", "clusterHeader", "weighted_clusters", "weightedClusters",
          "ClusterSpecifier"}) {
      const Node* found = node.find(name);
      if (found == nullptr) continue;
      // A locality or an endpoint may have a cluster too, but no route's fields.
      const bool plain = name == std::string_view("cluster");
      if (!plain || found->is_scalar()) return node.name == "route" || node.name == "Route";
    }
    return false;
  }

  static std::string cluster_of(const Node& action) {
    const Node* cluster = action.find("cluster");
    if (cluster == nullptr) cluster = action.at({"ClusterSpecifier", "Cluster"});
    return cluster != nullptr && cluster->is_scalar() ? cluster->text : "";
  }

  void read_policy(const Node& retry, const Node* action, const std::string& name) {
    Policy policy{.names = {name.empty() ? "a route" : name}, .line = retry.line};
    std::vector<std::string> camel;
    for (const std::string_view each : kRetryNames) camel.push_back(in_camel_case(each));
    std::vector<std::string_view> known(std::begin(kRetryNames), std::end(kRetryNames));
    known.insert(known.end(), camel.begin(), camel.end());
    note_others(policy.notes, retry, known,
                "no field of Envoy's retry policy: in a file that Envoy starts with it is refused");
    read_timeouts(policy, retry, action);
    read_back_off(policy, retry);
    const Node* on = either(retry, "retry_on");
    add_field(policy, kRetries, unwrapped(either(retry, kRetries.name)), kProgram);
    if (on == nullptr || on->text.empty()) {
      policy.set("max-retries", "0", retry.line, "there is no retry_on: nothing is retried");
      policy.fault(kNoEffect, retry.line,
                   "a retry policy without retry_on retries nothing, whatever num_retries is");
    } else {
      std::vector<std::string> codes;
      if (const Node* list = either(retry, "retriable_status_codes"); list && list->is_list()) {
        for (const Node& each : list->children) codes.push_back(each.text);
      }
      add_conditions(policy, on->text, codes, on->line,
                     either(retry, "retriable_headers") != nullptr);
    }
    note_skipped(policy, &retry,
                 {{"rate_limited_retry_back_off", "waits that a header of the answer asks for"},
                  {"retry_host_predicate", "another host for a retry"},
                  {"retry_priority", "another priority for a retry"},
                  {"per_try_idle_timeout", "an attempt ends when nothing comes for this time"}});
    read_hedges(policy, retry, action);
    read_cluster(policy, action);
    file_.add(std::move(policy));
  }

  static void read_timeouts(Policy& policy, const Node& retry, const Node* action) {
    const Node* route = action == nullptr ? nullptr : either(*action, kRouteTimeout.name);
    add_field(policy, kRouteTimeout, route, kProgram);
    add_field(policy, kTryTimeout, either(retry, kTryTimeout.name), kProgram);
    settle_timeouts(policy, kProgram, "per_try_timeout", "timeout");
  }

  static void read_back_off(Policy& policy, const Node& retry) {
    const Node* back_off = either(retry, "retry_back_off");
    const Node none;
    const Node& from = back_off == nullptr ? none : *back_off;
    set_envoy_waits(policy);
    if (back_off != nullptr && either(from, kBase.name) == nullptr) {
      policy.refuse(from.line,
                    "base_interval is missing in retry_back_off: Envoy refuses the file");
    }
    add_field(policy, kBase, either(from, kBase.name), kProgram);
    add_field(policy, kCap, either(from, kCap.name), kProgram);
    settle_cap(policy, "max_interval");
  }

  // It stands beside the retry policy.
  static void read_hedges(Policy& policy, const Node& retry, const Node* action) {
    const Node* hedges = action == nullptr ? nullptr : either(*action, "hedge_policy");
    if (hedges == nullptr) hedges = either(retry, "hedge_policy");
    if (hedges == nullptr) return;
    const Node* late = unwrapped(either(*hedges, kHedgeOnTimeout));
    for (const char* name : {"initial_requests", "additional_request_chance"}) {
      if (const Node* found = either(*hedges, name)) {
        policy.remark(kNoEffect, found->line, std::string(name) + ": Envoy does not implement it");
      }
    }
    if (late == nullptr || late->text != "true") return;
    const Setting* on = policy.find("retry-on");
    const bool retries_timeouts =
        on != nullptr && parse_retry_on(on->value).timeout && policy.find("timeout") != nullptr;
    const Setting* retries = policy.find("max-retries");
    if (!retries_timeouts || (retries != nullptr && retries->value == "0")) {
      policy.warn(kNoEffect, late->line,
                  field_text(*late) + " has no effect: no timeout of a try is retried");
      return;
    }
    policy.set("hedge-on", "timeout", late->line,
               field_text(*late) + ": a late try goes on beside its retry");
  }

  void read_cluster(Policy& policy, const Node* action) {
    const std::string name = action == nullptr ? "" : cluster_of(*action);
    const auto found = clusters_.find(name);
    if (!name.empty()) policy.hosts.push_back(shown(host_of(name)));
    if (found != clusters_.end()) {
      read_limits(policy, *found->second);
      return;
    }
    policy.assume(
        "retry-budget", "envoy",
        "no circuit_breakers of its cluster are in the file: the default of Envoy, at most "
        "3 retries at a time");
    policy.assume("budget-min-concurrency", "3", "max_retries: the default of Envoy");
  }

  static void read_limits(Policy& policy, const Node& breakers) {
    const Node* first = nullptr;
    for (const Node& each : breakers.items({"thresholds"})) {
      const Node* priority = each.find("priority");
      if (first == nullptr && (priority == nullptr || priority->text == "DEFAULT")) first = &each;
    }
    const Node none;
    const Node& from = first == nullptr ? none : *first;
    const Node* budget = either(from, "retry_budget");
    const Node* most = either(from, kMaxRetries.name);
    set_envoy_budget(policy, budget, most, budget != nullptr ? "retry_budget" : "max_retries");
    if (budget == nullptr) {
      add_most_retries(policy, kMaxRetries, unwrapped(most), kProgram);
    } else {
      for (const Field& field : kBudget) {
        add_share(policy, field, unwrapped(either(*budget, field.name)), kProgram);
      }
    }
    if (const Node* requests = unwrapped(either(from, "max_requests"))) {
      add_concurrency(policy, *requests);
    }
    note_skipped(policy, &from, {{"max_connections", kOfPool}, {"max_pending_requests", kOfPool}});
    note_skipped(policy, &breakers, {{"per_host_thresholds", "connections to a single host"}});
  }

  void read_cluster_alone(const std::string& name, const Node& limits) {
    Policy policy{.names = {"cluster " + shown(name)},
                  .line = limits.line,
                  .has_retries = false,
                  .hosts = {shown(host_of(name))}};
    policy.assumed(limits.line,
                   "a cluster's limits: what is retried stands with its routes, in another file");
    read_limits(policy, limits);
    file_.add(std::move(policy));
  }

  PolicyFile file_;
  std::map<std::string, const Node*> clusters_;  // their circuit_breakers
  std::size_t without_ = 0;                      // routes without a policy
};

bool is_envoy_node(const Node& node) {
  if (node.is_map()) {
    if (const Node* type = node.find("@type")) {
      if (type->text.starts_with("type.googleapis.com/envoy.")) return true;
    }
    for (const std::string_view name :
         {"virtual_hosts", "virtualHosts", "circuit_breakers", "circuitBreakers"}) {
      if (node.find(name) != nullptr) return true;
    }
  }
  return std::any_of(node.children.begin(), node.children.end(), is_envoy_node);
}

}  // namespace

bool is_envoy(const std::vector<Node>& documents) {
  // What has an apiVersion is Kubernetes', be its fields named like Envoy's.
  return std::any_of(documents.begin(), documents.end(), [](const Node& each) {
    return each.find("apiVersion") == nullptr && is_envoy_node(each);
  });
}

PolicyFile read_envoy(const std::vector<Node>& documents) {
  return Reader().read(documents);
}

// RouteOption, VirtualHostOption: projects/gloo/api/v1/options/retries/retries.proto.
PolicyFile read_kgateway(const std::vector<Node>& documents) {
  std::vector<Node> own;
  for (const Node* each : objects_of(documents)) {
    if (each->text_at({"apiVersion"}).starts_with("gateway.solo.io/")) own.push_back(*each);
  }
  PolicyFile file = Reader().read(own);
  file.kind = file.policies.empty() ? "" : "kgateway configuration";
  file.format = {};
  return file;
}

}  // namespace retrystorm
