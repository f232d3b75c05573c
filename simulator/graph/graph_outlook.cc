#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <string_view>
#include <utility>

#include "model/base/duration.h"
#include "model/run/outlook.h"
#include "simulator/graph/topology_options.h"

namespace retrystorm {
namespace {

// How many warnings of the same kind are said one by one.
constexpr std::size_t kMostAlike = 2;

struct NodeOutlook {
  double load = 0;  // requests a second that are wanted, with hedges but without retries
  double gets = 0;  // of these, what client rates and connections let through
  double capacity =
      0;            // requests a second; with held workers also while the services behind it work
  double most = 0;  // attempts for a request of a client, if every one of them fails
};

// The calls of an edge. `wanted` requests a second are to be made.
struct EdgeOutlook {
  double attempts = 1;        // of each, before any outage
  double limit = kUnlimited;  // attempts a second
  Statements warnings{};
};

// The id of a warning about the calls of one service by another, or by clients.
std::string_view id_of_call(std::string_view id) {
  constexpr std::array<std::array<std::string_view, 2>, 4> kIds{
      {{"client-rate-below-load", "call-client-rate-below-load"},
       {"connections-below-load", "call-connections-below-load"},
       {"concurrency-below-load", "call-concurrency-below-load"},
       {"half-hedged", "call-half-hedged"}}};
  for (const auto& [plain, of_call] : kIds) {
    if (plain == id) return of_call;
  }
  return id;
}

std::string caller_of(const Topology& topology, const GraphEdge& edge) {
  return edge.from != GraphEdge::kClients ? topology.nodes[edge.from].name
         : edge.clients.empty()           ? "clients"
                                          : edge.clients;
}

// `called` takes `seconds` for a request, with its calls.
EdgeOutlook look_at_edge(const Topology& topology, const GraphEdge& edge, double wanted,
                         const NodeOutlook& called, double seconds) {
  const RetrySettings& retry = edge.caller.retry;
  const ConcurrencyLimitSettings& at_once = retry.process.concurrency_limit;
  const bool fixed = at_once.kind == ConcurrencyLimitSettings::Kind::kFixed;
  if (wanted <= 0 || !(edge.caller.connections.kept() || retry.hedge.any() || fixed ||
                       client_rate_of(edge.caller) != kUnlimited)) {
    return {};
  }
  const GraphNode& node = topology.nodes[edge.to];
  OutlookInput input{.workload = edge.caller, .service = node.service};
  if (edge.from != GraphEdge::kClients) {
    input.workload.plan = {};
    input.workload.rate = wanted;
  }
  // Its callers see its own time and that of those behind it.
  if (!node.calls.empty()) {
    WorkerSettings& workers = input.service->workers;
    workers.service_time = ServiceTime::fixed(from_seconds(seconds));
    if (std::isfinite(called.capacity)) {
      workers.workers =
          std::max<std::size_t>(static_cast<std::size_t>(std::ceil(called.capacity * seconds)), 1);
    }
  }
  const Outlook outlook = look_ahead(input);
  Statements found = warnings_of_limited_calls(outlook);
  for (Statement& each : warnings_of_hedges(outlook)) found.push_back(std::move(each));
  EdgeOutlook result{.limit = outlook.client_rate};
  if (outlook.connections) result.limit = std::min(result.limit, outlook.connections->through);
  const double places = fixed ? at_once.start * static_cast<double>(outlook.processes) : kUnlimited;
  const double through = seconds > 0 ? places / seconds : kUnlimited;
  if (through < wanted) {
    found.push_back({"concurrency-below-load",
                     {{"load", wanted},
                      {"through", through},
                      {"places", places},
                      {"answer", from_seconds(seconds)}}});
  }
  result.limit = std::min(result.limit, through);
  const Duration delay = outlook.retries.hedge_delay;
  if (outlook.retries.hedges > 0 && retry.hedge.percentile == 0 && outlook.service->p50 > delay) {
    const double sent = delay > Duration::zero()
                            ? std::ceil(to_seconds(outlook.service->p50) / to_seconds(delay)) - 1
                            : kUnlimited;
    result.attempts += std::min({sent, outlook.retries.hedges, retry.hedge.budget});
  }
  for (Statement& each : found) {
    each.id = id_of_call(each.id);
    each.values.push_back({"caller", caller_of(topology, edge)});
    each.values.push_back({"called", node.name});
    result.warnings.push_back(std::move(each));
  }
  return result;
}

// Adds what is to be said of calls to `warnings`.
std::vector<NodeOutlook> look_at_nodes(const Topology& topology, double load,
                                       Statements& warnings) {
  std::vector<NodeOutlook> nodes(topology.nodes.size());
  std::vector<double> seconds(topology.nodes.size());  // of a request, with its calls
  for (std::size_t i = topology.nodes.size(); i-- > 0;) {
    const GraphNode& node = topology.nodes[i];
    const double own = to_seconds(node.service.workers.service_time.mean());
    double behind = 0;
    for (const auto& group : node.calls) {
      double longest = 0;
      for (const PlannedCall& each : group) {
        const double time = seconds[topology.edges[each.to].to];
        longest = std::max(longest, each.share * static_cast<double>(each.times) * time);
      }
      behind += longest;
    }
    seconds[i] = own + behind;
    const double alone = capacity_of(node.service);
    const double held = static_cast<double>(node.service.workers.workers) / seconds[i];
    nodes[i].capacity = node.waiting == Waiting::kHold ? std::min(alone, held) : alone;
  }
  // Of each of so many requests a second if all fail, and what a budget has saved is used up.
  const auto attempts = [](const GraphEdge& edge, double requests) {
    const RetrySettings& retry = edge.caller.retry;
    const bool hedges = retry.hedge.any() && retry.hedge.on == HedgeOn::kDelay;
    const double most = or_unlimited(retry.limit.max_retries, LimitSettings::kUnlimited) +
                        (hedges ? retry.hedge.most : 0);
    const auto processes = static_cast<double>(process_count(edge.caller));
    const double paid = retries_paid(retry.process.budget, processes, requests, edge.caller.timeout,
                                     retry.backoff.base);
    return 1 + std::min(most, requests > 0 ? paid / requests : 0);
  };
  const auto look = [&](const GraphEdge& edge, double wanted) {
    const EdgeOutlook calls =
        look_at_edge(topology, edge, wanted, nodes[edge.to], seconds[edge.to]);
    warnings.insert(warnings.end(), calls.warnings.begin(), calls.warnings.end());
    return calls;
  };
  NodeOutlook& first = nodes.front();
  first.load = first.gets = load;
  for (std::size_t i = 0; i < topology.client_edges(); ++i) {
    const GraphEdge& edge = topology.edges[i];
    first.most = std::max(first.most, attempts(edge, load));
    const WorkloadOptions& clients = edge.caller;
    const double wanted =
        std::min(clients.arrivals == Arrivals::kOpen
                     ? arrival_rate(clients)
                     : static_cast<double>(clients.clients) / to_seconds(clients.mean_think_time()),
                 load);
    const EdgeOutlook calls = look(edge, wanted);
    if (!std::isfinite(wanted)) continue;
    const double hedges = wanted * (calls.attempts - 1);
    first.load += hedges;
    first.gets += std::min(hedges, calls.limit - std::min(wanted, client_rate_of(clients)));
  }
  std::vector<double> wanted(topology.edges.size()), made(topology.edges.size());
  for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
    for (const auto& group : topology.nodes[i].calls) {
      for (const PlannedCall& each : group) {
        const auto times = static_cast<double>(each.times);
        wanted[each.to] += nodes[i].load * each.share * times;
        made[each.to] += nodes[i].gets * each.share * times;
        if (each.share > 0) {
          const GraphEdge& edge = topology.edges[each.to];
          const double calls = nodes[i].most * times;
          nodes[edge.to].most += calls * attempts(edge, load * calls);
        }
      }
    }
    for (std::size_t j = topology.client_edges(); j < topology.edges.size(); ++j) {
      const GraphEdge& edge = topology.edges[j];
      if (edge.from != i) continue;
      const EdgeOutlook calls = look(edge, wanted[j]);
      nodes[edge.to].load += wanted[j] * calls.attempts;
      nodes[edge.to].gets += std::min(made[j] * calls.attempts, calls.limit);
    }
  }
  return nodes;
}

// What each can do, and how often one may be called for a request of a client.
Statements figures(const Topology& topology, const std::vector<NodeOutlook>& nodes,
                   std::size_t disturbed, double load) {
  Statements all;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const NodeOutlook& node = nodes[i];
    const bool limited = node.capacity > 0 && std::isfinite(node.capacity);
    all.push_back({limited ? "service-capacity" : "service-unlimited",
                   {{"name", topology.nodes[i].name},
                    {"capacity", std::round(node.capacity)},
                    {"used", ShareOf{limited ? node.gets / node.capacity : 0}}}});
  }
  const NodeOutlook& dead = nodes[disturbed];
  const double rate = load * dead.most;
  all.push_back({rate > dead.capacity ? "service-dead-too-many" : "service-dead",
                 {{"name", topology.nodes[disturbed].name},
                  {"calls", dead.most},
                  {"rate", std::round(rate)}}});
  return all;
}

bool is_optional(const Topology& topology, const GraphEdge& edge) {
  for (const auto& group : topology.nodes[edge.from].calls) {
    for (const PlannedCall& each : group) {
      if (&topology.edges[each.to] == &edge) return each.optional;
    }
  }
  return false;
}

// Those who call a service that itself goes on trying when they have given up. Calls of it that may fail must not hang
// either: they are `optional`.
void warn_of_timeouts(const Topology& topology, Statements& optional, Statements& early) {
  for (const GraphEdge& outer : topology.edges) {
    const GraphNode& between = topology.nodes[outer.to];
    const Duration timeout = outer.caller.timeout;
    for (const GraphEdge& inner : topology.edges) {
      if (inner.from != outer.to || !outer.caller.has_timeout()) continue;
      const Duration calls = longest_request(inner.caller.retry, inner.caller.timeout);
      const Duration own = between.service.workers.service_time.mean();
      const Duration longest = saturating_add(calls, own);
      if (timeout > longest) continue;
      const std::string& name = topology.nodes[inner.to].name;
      const bool ends_with_it = inner.deadline != DeadlinePropagation::kNone &&
                                outer.deadline == DeadlinePropagation::kAttempt;
      if (is_optional(topology, inner)) {
        optional.push_back({"optional-call-hangs",
                            {{"between", between.name},
                             {"name", name},
                             {"longest", calls},
                             {"callers", caller_of(topology, outer)},
                             {"timeout", timeout},
                             {"less", readable(scale(timeout - std::min(own, timeout), 0.5))}}});
      } else if (!ends_with_it && inner.caller.has_timeout()) {
        early.push_back({"gives-up-first",
                         {{"caller", caller_of(topology, outer)},
                          {"between", between.name},
                          {"timeout", timeout},
                          {"called", name},
                          {"longest", longest},
                          {"attempt", inner.caller.timeout}}});
      }
    }
  }
}

}  // namespace

GraphOutlook look_ahead(const Topology& topology, std::size_t disturbed, double load) {
  Statements of_calls;
  const std::vector<NodeOutlook> nodes = look_at_nodes(topology, load, of_calls);
  GraphOutlook outlook{.figures = figures(topology, nodes, disturbed, load)};
  Statements& all = outlook.warnings;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].load < nodes[i].capacity) continue;
    all.push_back({"service-too-slow",
                   {{"name", topology.nodes[i].name},
                    {"capacity", std::round(nodes[i].capacity)},
                    {"load", nodes[i].load}}});
  }
  const HostSettings& hosts = topology.nodes[disturbed].hosts;
  const auto every = static_cast<double>(hosts.replicas);
  const double left = every - static_cast<double>(std::min(hosts.hit(), hosts.replicas));
  const double capacity = nodes[disturbed].capacity * left / every;
  const double wanted = nodes[disturbed].load;
  if (left > 0 && wanted > capacity && wanted < nodes[disturbed].capacity) {
    all.push_back({"service-hosts-left",
                   {{"left", left},
                    {"hosts", every},
                    {"name", topology.nodes[disturbed].name},
                    {"capacity", std::round(capacity)},
                    {"load", wanted}}});
  }
  all.insert(all.end(), of_calls.begin(), of_calls.end());
  Statements early;
  warn_of_timeouts(topology, all, early);
  if (early.size() > kMostAlike) {
    const auto more = static_cast<double>(early.size() - kMostAlike);
    early.resize(kMostAlike);
    early.back().id = "gives-up-first-likewise";
    early.back().values.push_back({"more", more});
  }
  all.insert(all.end(), early.begin(), early.end());
  return outlook;
}

}  // namespace retrystorm
