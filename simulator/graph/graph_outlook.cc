#include "simulator/graph/graph_outlook.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "model/base/duration.h"
#include "model/run/outlook.h"

namespace retrystorm {
namespace {

// How many warnings of the same kind are said one by one.
constexpr std::size_t kMostAlike = 2;

struct NodeOutlook {
  double load = 0;  // requests a second without retries
  double capacity =
      0;            // requests a second; with held workers also while the services behind it work
  double most = 0;  // attempts for a request of a client, if every one of them fails
};

std::vector<NodeOutlook> look_at_nodes(const Topology& topology, double load) {
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
  nodes.front().load = load;
  for (std::size_t i = 0; i < topology.client_edges(); ++i) {
    nodes.front().most = std::max(nodes.front().most, attempts(topology.edges[i]));
  }
  for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
    for (const auto& group : topology.nodes[i].calls) {
      for (const PlannedCall& each : group) {
        const GraphEdge& edge = topology.edges[each.to];
        const auto times = static_cast<double>(each.times);
        nodes[edge.to].load += nodes[i].load * each.share * times;
        if (each.share > 0) nodes[edge.to].most += nodes[i].most * times * attempts(edge);
      }
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
      text += " (" + readable(std::round(100 * node.load / node.capacity)) + " % used)";
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
  const std::vector<NodeOutlook> nodes = look_at_nodes(topology, load);
  GraphOutlook outlook{.sentence = sentence(topology, nodes, disturbed, load)};
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (nodes[i].load < nodes[i].capacity) continue;
    outlook.warnings.push_back(topology.nodes[i].name + " can do " +
                               readable(std::round(nodes[i].capacity)) + "/s of the " +
                               readable(nodes[i].load) + "/s that are wanted, before any outage");
  }
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
