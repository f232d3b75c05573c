#include "simulator/graph/graph_outlook.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "model/base/duration.h"
#include "model/run/outlook.h"
#include "model/run/outlook_warnings.h"

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
  std::vector<std::string> warnings{};
};

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
  const bool clients = edge.from == GraphEdge::kClients;
  OutlookInput input{.workload = edge.caller, .service = node.service};
  if (!clients) input.workload.rate = wanted;
  // Its callers see its own time and that of those behind it.
  if (!node.calls.empty()) {
    WorkerSettings& workers = input.service->workers;
    workers.service_time = ServiceTime::fixed(from_seconds(seconds));
    if (std::isfinite(called.capacity)) {
      workers.workers =
          std::max<std::size_t>(static_cast<std::size_t>(std::ceil(called.capacity * seconds)), 1);
    }
  }
  Outlook outlook = look_ahead(input);
  outlook.warnings.clear();
  warn_of_limited_calls(outlook, input, clients ? "the clients send" : "it sends");
  warn_of_hedges(outlook);
  EdgeOutlook result{.limit = outlook.client_rate};
  if (outlook.connections) result.limit = std::min(result.limit, outlook.connections->through);
  const double places = fixed ? at_once.start * static_cast<double>(outlook.processes) : kUnlimited;
  const double through = seconds > 0 ? places / seconds : kUnlimited;
  if (through < wanted) {
    outlook.warnings.push_back("the load is " + readable(wanted) +
                               "/s, and the concurrency limit lets through only " +
                               readable(through) + "/s, " + readable(places) +
                               " attempts at a time of " + readable(from_seconds(seconds)) +
                               " each: the others are refused before any outage "
                               "(--concurrency-limit)");
  }
  result.limit = std::min(result.limit, through);
  const Duration delay = outlook.retries.hedge_delay;
  if (outlook.retries.hedges > 0 && retry.hedge.percentile == 0 && outlook.service->p50 > delay) {
    const double sent = delay > Duration::zero()
                            ? std::ceil(to_seconds(outlook.service->p50) / to_seconds(delay)) - 1
                            : kUnlimited;
    result.attempts += std::min({sent, outlook.retries.hedges, retry.hedge.budget});
  }
  const std::string which =
      !clients               ? "calls of " + node.name + " by " + topology.nodes[edge.from].name
      : edge.clients.empty() ? "the clients' calls of " + node.name
                             : "calls of " + node.name + " by " + edge.clients;
  for (const std::string& each : outlook.warnings) result.warnings.push_back(which + ": " + each);
  return result;
}

// Adds what is to be said of calls to `warnings`.
std::vector<NodeOutlook> look_at_nodes(const Topology& topology, double load,
                                       std::vector<std::string>& warnings) {
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
  const auto attempts = [](const GraphEdge& edge) {
    const RetrySettings& retry = edge.caller.retry;
    if (retry.limit.max_retries == LimitSettings::kUnlimited) return Outlook::kUnlimited;
    const bool has_hedges = retry.hedge.any() && retry.hedge.on == HedgeOn::kDelay;
    return retry.limit.max_retries + 1.0 + (has_hedges ? static_cast<double>(retry.hedge.most) : 0);
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
    first.most = std::max(first.most, attempts(edge));
    const WorkloadOptions& clients = edge.caller;
    const double wanted =
        std::min(clients.arrivals == Arrivals::kOpen
                     ? clients.rate
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
          nodes[edge.to].most += nodes[i].most * times * attempts(edge);
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

// Does each service call the next one, once?
bool is_chain(const Topology& topology) {
  for (std::size_t i = 0; i < topology.edges.size(); ++i) {
    const GraphEdge& edge = topology.edges[i];
    if (edge.to != i) return false;
    if (i == 0) continue;
    const CallPlan& calls = topology.nodes[edge.from].calls;
    if (calls.size() != 1 || calls[0].size() != 1 || edge.from + 1 != edge.to) return false;
    if (calls[0][0].times != 1 || calls[0][0].share < 1) return false;
  }
  return true;
}

std::string sentence(const Topology& topology, const std::vector<NodeOutlook>& nodes,
                     std::size_t disturbed, double load) {
  std::string text;
  bool holds = false;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const NodeOutlook& node = nodes[i];
    holds |= topology.nodes[i].waiting == Waiting::kHold && !topology.nodes[i].calls.empty();
    text += (text.empty() ? "" : ", ") + topology.nodes[i].name + ' ' +
            readable(std::round(node.capacity)) + "/s";
    if (node.capacity > 0 && std::isfinite(node.capacity)) {
      text += " (" + readable(std::round(100 * node.gets / node.capacity)) + " % used)";
    }
  }
  if (holds) text += "; --waiting=hold: a worker is busy while those that it calls work";
  text += "; the load is " + readable(load) + "/s; if " + topology.nodes[disturbed].name +
          " is dead, at most ";
  if (disturbed > 0 && is_chain(topology)) {
    double before = 1;
    for (std::size_t i = 0; i <= disturbed; ++i) {
      text += (i == 0 ? "" : " x ") + readable(nodes[i].most / before);
      before = nodes[i].most;
    }
    text += " = ";
  }
  text += readable(nodes[disturbed].most) + " calls of it for a request of a client (--retry-at";
  if (is_chain(topology) && nodes.front().most > 1) {
    text += "; the first factor is the clients' own: leave " + topology.nodes.front().name +
            " out of --chain if it is the first that retries";
  }
  text += ')';
  const double rate = load * nodes[disturbed].most;
  if (rate > nodes[disturbed].capacity) {
    text += ", up to " + readable(std::round(rate)) + "/s: MORE than it can do";
  }
  return text;
}

bool is_optional(const Topology& topology, const GraphEdge& edge) {
  for (const auto& group : topology.nodes[edge.from].calls) {
    for (const PlannedCall& each : group) {
      if (&topology.edges[each.to] == &edge) return each.optional;
    }
  }
  return false;
}

// Calls that may fail, but not hang: then a service waits for them for longer than its callers for it.
void warn_of_optional_calls(const Topology& topology, std::vector<std::string>& warnings) {
  for (const GraphEdge& outer : topology.edges) {
    const GraphNode& between = topology.nodes[outer.to];
    for (const GraphEdge& inner : topology.edges) {
      if (inner.from != outer.to || !is_optional(topology, inner)) continue;
      if (!outer.caller.has_timeout()) continue;
      const Duration longest = longest_request(inner.caller.retry, inner.caller.timeout);
      const Duration own = between.service.workers.service_time.mean();
      if (saturating_add(longest, own) < outer.caller.timeout) continue;
      const std::string& name = topology.nodes[inner.to].name;
      const bool clients = outer.from == GraphEdge::kClients;
      const std::string callers = clients ? "the clients" : topology.nodes[outer.from].name;
      warnings.push_back(
          between.name + " may do without " + name + " (" + name +
          "?) where that fails, but not where it " + "hangs: then it waits for " +
          (longest == Duration::max() ? "ever" : readable(longest)) + ", and " + callers + " for " +
          between.name + " only " + readable(outer.caller.timeout) +
          ". Give that call less in all, as in [" + between.name + '.' + name + "] timeout = " +
          readable(scale(outer.caller.timeout - std::min(own, outer.caller.timeout), 0.5)) +
          " and max-retries = 0");
    }
  }
}

// Those who call a service that itself goes on trying when they have given up.
void warn_of_timeouts(const Topology& topology, std::vector<std::string>& warnings) {
  for (const GraphEdge& outer : topology.edges) {
    const GraphNode& between = topology.nodes[outer.to];
    for (const GraphEdge& inner : topology.edges) {
      const bool ends_with_it = inner.deadline != DeadlinePropagation::kNone &&
                                outer.deadline == DeadlinePropagation::kAttempt;
      if (inner.from != outer.to || ends_with_it || is_optional(topology, inner)) continue;
      if (!inner.caller.has_timeout() || !outer.caller.has_timeout()) continue;
      const Duration longest =
          saturating_add(longest_request(inner.caller.retry, inner.caller.timeout),
                         between.service.workers.service_time.mean());
      if (outer.caller.timeout > longest) continue;
      const bool clients = outer.from == GraphEdge::kClients;
      const std::string caller =
          clients ? (outer.clients.empty() ? "the clients" : outer.clients) + " give"
                  : topology.nodes[outer.from].name + " gives";
      warnings.push_back(
          caller + " up on " + between.name + " after " + readable(outer.caller.timeout) +
          ", and " + between.name + " may try " + topology.nodes[inner.to].name + " for " +
          (longest == Duration::max() ? "ever" : readable(longest)) + " (attempts of " +
          readable(inner.caller.timeout) +
          " and their waits): what it still tries then is work for nobody (--timeout, the time after an "
          "arrow of --chain, --deadline-propagation)");
    }
  }
}

}  // namespace

GraphOutlook look_ahead(const Topology& topology, std::size_t disturbed, double load) {
  std::vector<std::string> of_calls;
  const std::vector<NodeOutlook> nodes = look_at_nodes(topology, load, of_calls);
  GraphOutlook outlook{.sentence = sentence(topology, nodes, disturbed, load)};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].load < nodes[i].capacity) continue;
    outlook.warnings.push_back(topology.nodes[i].name + " can do " +
                               readable(std::round(nodes[i].capacity)) + "/s of the " +
                               readable(nodes[i].load) + "/s that are wanted, before any outage");
  }
  outlook.warnings.insert(outlook.warnings.end(), of_calls.begin(), of_calls.end());
  warn_of_optional_calls(topology, outlook.warnings);
  std::vector<std::string> early;
  warn_of_timeouts(topology, early);
  if (early.size() > kMostAlike) {
    const std::string more = std::to_string(early.size() - kMostAlike);
    early.resize(kMostAlike);
    early.back() += "; likewise " + more + " more of the calls";
  }
  outlook.warnings.insert(outlook.warnings.end(), early.begin(), early.end());
  return outlook;
}

}  // namespace retrystorm
