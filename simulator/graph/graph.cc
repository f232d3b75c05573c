#include "simulator/graph/graph.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "model/retry/strategies.h"

namespace retrystorm {
namespace {

// A seed of its own for each service behind the first one, and for the calls of each edge.
std::uint64_t seed_of(std::uint64_t seed, std::size_t number) {
  constexpr std::uint64_t kStreams = std::numeric_limits<std::uint64_t>::max() - 1000;
  return ClientRandom(seed, kStreams - number).state();
}

// The same as std::min, which takes references: the values then lie in memory, and this is asked after every event.
TimePoint earlier(TimePoint a, TimePoint b) {
  return b < a ? b : a;
}

// The attempts of all its calls together are not of an edge; with them, its calls are not repeated.
GraphEdge once(GraphEdge edge) {
  edge.caller.retry.limit.max_retries = 0;
  return edge;
}

// The service, with calls that count its own edges only.
GraphNode with_own_numbers(const Topology& topology, std::size_t number) {
  GraphNode node = topology.nodes[number];
  std::vector<std::size_t> own;
  for (std::size_t i = 0; i < topology.edges.size(); ++i) {
    own.push_back(i == 0 ? 0 : own.back() + (topology.edges[i - 1].from == number ? 1 : 0));
  }
  for (auto& group : node.calls) {
    for (PlannedCall& each : group) each.to = own[each.to];
  }
  return node;
}

// The names of the services, and who calls whom.
GraphShape shape_of(const Topology& topology) {
  GraphShape shape;
  for (const GraphNode& each : topology.nodes) {
    shape.nodes.push_back({.name = each.name, .holds = each.waiting == Waiting::kHold});
  }
  for (const GraphEdge& each : topology.edges) {
    shape.edges.push_back({.from = each.from, .to = each.to, .clients = each.clients});
  }
  return shape;
}

}  // namespace

Graph::Graph(const Scenario& scenario, const EventLoop& clock, std::vector<Calls*> clients)
    : topology_(scenario.topology),
      some_left_(std::any_of(scenario.topology.edges.begin(), scenario.topology.edges.end(),
                             [](const GraphEdge& each) { return each.caller.retry.hedge.any(); })),
      clients_(std::move(clients)),
      nodes_(scenario.topology.nodes.size()),
      sampling_(scenario.seed, std::numeric_limits<std::uint64_t>::max() - 900),
      watch_(shape_of(scenario.topology)) {
  const Topology& topology = scenario.topology;
  const TimePoint end = saturating_add(TimePoint{}, scenario.length);
  for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
    Node& node = nodes_[i];
    for (std::size_t host = 0; host < topology.nodes[i].hosts.most(); ++host) {
      node.services.push_back(std::make_unique<GraphService>(
          with_own_numbers(topology, i), node.callers, clock, some_left_,
          Hosts::seed_of(seed_of(scenario.seed, 10'000 + 2 * i), host)));
    }
  }
  const std::size_t kinds = clients_.size();
  for (std::size_t i = 0; i < kinds; ++i) {
    front_callers().add(*clients_[i], nullptr, topology.edges[i].deadline);
    if (clients_[i]->keeps_connections()) pooled_clients_.push_back(clients_[i]);
  }
  std::vector<const GraphEdge*> first(topology.nodes.size());
  std::vector<std::size_t> doors;
  for (std::size_t i = kinds; i < topology.edges.size(); ++i) {
    const GraphEdge& edge = topology.edges[i];
    const GraphNode& from = topology.nodes[edge.from];
    if (first[edge.from] == nullptr) first[edge.from] = &edge;
    Callers& callers = nodes_[edge.to].callers;
    for (std::size_t host = 0; host < from.hosts.most(); ++host) {
      GraphService& caller = *nodes_[edge.from].services[host];
      calls_.push_back(std::make_unique<GraphCalls>(
          from.retry_scope == RetryScope::kAll ? once(edge) : edge,
          Hosts::seed_of(seed_of(scenario.seed, 2 * (i - kinds + 1)), host), end, caller));
      edge_of_.push_back(i);
      GraphCalls& each = *calls_.back();
      if (each.keeps_connections()) pooled_.push_back(&each);
      doors.push_back(callers.size());
      callers.add(each, &each, edge.deadline);
    }
  }
  for (std::size_t i = 1; i < topology.nodes.size(); ++i) {
    Callers& callers = nodes_[i].callers;
    CallerOfHosts& all = callers.as_one();
    behind_.push_back(std::make_unique<Hosts>(
        topology.nodes[i].hosts, topology.nodes[i].service, seed_of(scenario.seed, 2 * i + 1),
        scenario.syn_linear_timeouts, callers.patience(), all, all, nullptr));
    serve(nodes_[i], *behind_.back());
  }
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    calls_[i]->send_to(nodes_[topology.edges[edge_of_[i]].to].callers.door(doors[i]));
  }
  for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
    if (first[i] == nullptr) continue;
    const auto& services = nodes_[i].services;
    for (std::size_t host = 0; host < services.size(); ++host) {
      GraphService& each = *services[host];
      std::vector<GraphCalls*> calls;
      for (const auto& one : calls_) {
        if (&one->from() == &each) calls.push_back(one.get());
      }
      each.call(std::move(calls), *first[i],
                Hosts::seed_of(seed_of(scenario.seed, 10'001 + 2 * i), host), end);
      if (each.repeats()) repeating_.push_back(&each);
    }
  }
  counted_.resize(topology.edges.size());
  under_way_.resize(topology.edges.size());
}

void Graph::serve(Node& node, Hosts& hosts) {
  node.hosts = &hosts;
  node.callers.call(hosts);
  for (std::uint32_t host = 0; host < node.services.size(); ++host) {
    node.services[host]->serve(hosts, host);
  }
}

void Graph::serve(Hosts& front) {
  serve(nodes_.front(), front);
  for (std::size_t i = 0; i < nodes_.size(); ++i) {
    nodes_[i].callers.close_idle_after(TimePoint{}, topology_.nodes[i].service.server_idle);
  }
}

void Graph::frozen(TimePoint now, std::size_t node) {
  nodes_[node].callers.close_idle_after(now, Duration::max());
}

void Graph::wake(TimePoint now, std::size_t node) {
  auto& [callers, hosts, services] = nodes_[node];
  for (std::uint32_t host = 0; host < services.size(); ++host) {
    if (hosts->server(host).awake()) continue;
    hosts->server(host).wake(now);
    services[host]->read_answers(now);
    hosts->changed(now, host);
  }
  // It looks at requests that have arrived before it looks at its timers.
  callers.close_idle_after(now, topology_.nodes[node].service.server_idle);
}

TimePoint Graph::next_pool_event() const {
  TimePoint next = TimePoint::max();
  for (const Calls* each : pooled_clients_) next = std::min(next, each->next_pool_event());
  for (const GraphCalls* each : pooled_) next = std::min(next, each->next_pool_event());
  return next;
}

void Graph::take_pool_event(TimePoint now) {
  for (Calls* each : pooled_clients_) {
    if (each->next_pool_event() <= now) return each->take_pool_event(now);
  }
  for (GraphCalls* each : pooled_) {
    if (each->next_pool_event() <= now) return each->take_pool_event(now);
  }
}

TimePoint Graph::next_event() {
  TimePoint next = sample_at_;
  for (const auto& each : behind_) {
    next = earlier(next, earlier(each->next_event(), each->next_repeat()));
  }
  for (const auto& each : calls_) {
    if (each->soonest() < next) next = earlier(next, each->find_next());
  }
  return repeating_.empty() ? next : earlier(next, next_repetition());
}

TimePoint Graph::next_repetition() {
  TimePoint next = TimePoint::max();
  for (GraphService* each : repeating_) next = std::min(next, each->next_wait());
  return next;
}

// As in a run with one service: at the same moment answers come before timeouts, and these before new attempts.
void Graph::take_event(TimePoint now) {
  for (const auto& each : behind_) {
    if (each->next_event() <= now) return each->take(now);
  }
  for (const auto& each : calls_) {
    if (each->next_timeout() <= now) return each->time_out(now);
  }
  for (const auto& each : behind_) {
    if (each->next_repeat() <= now) return each->repeat_syn(now);
  }
  for (const auto& each : calls_) {
    if (each->next_wait() <= now) return each->end_wait(now);
  }
  for (GraphService* each : repeating_) {
    if (each->next_wait() <= now) return each->end_wait(now);
  }
  for (const Node& node : nodes_) {
    for (const auto& each : node.services) each->sample();
  }
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    under_way_[edge_of_[i]] += calls_[i]->under_way();
  }
  ++samples_;
  sample_at_ = saturating_add(sample_at_, scale(kSample, sampling_.uniform(0, 2)));
}

std::vector<AttemptPlaces> Graph::places() const {
  std::vector<AttemptPlaces> places;
  for (const Node& each : nodes_) places.push_back(each.callers.places());
  return places;
}

Counts Graph::counts_of(std::size_t edge) const {
  if (edge < clients_.size()) return clients_[edge]->counts();
  Counts sum;
  for (std::size_t i = 0; i < calls_.size(); ++i) {
    if (edge_of_[i] == edge) sum += calls_[i]->counts();
  }
  return sum;
}

std::optional<GraphInterval> Graph::take_interval(TimePoint now) {
  if (now < window_end_) return std::nullopt;
  window_end_ = saturating_add(window_end_, GraphWatch::kWindow);
  GraphInterval interval{.t = now - TimePoint{}, .window = GraphWatch::kWindow};
  for (const Node& node : nodes_) {
    NodeInterval& sum = interval.nodes.emplace_back();
    for (const auto& each : node.services) sum += each->take_interval(interval.window);
  }
  const auto samples = static_cast<double>(std::max<std::size_t>(std::exchange(samples_, 0), 1));
  for (std::size_t i = 0; i < counted_.size(); ++i) {
    const Counts counts = counts_of(i);
    const Counts before = std::exchange(counted_[i], counts);
    interval.edges.push_back(
        {.calls = rates(counts - before, interval.window),
         .under_way = static_cast<double>(std::exchange(under_way_[i], 0)) / samples});
  }
  double requests = 0;
  for (std::size_t i = 0; i < clients_.size(); ++i) requests += interval.edges[i].calls.requests;
  for (EdgeInterval& each : interval.edges) {
    if (requests > 0) each.amplification = each.calls.attempts / requests;
  }
  watch_.take(interval, [this](std::size_t node) {
    std::size_t dead = 0;
    for (const auto& each : nodes_[node].services) dead += each->server().dead_in_queue();
    return dead;
  });
  return interval;
}

GraphResult Graph::result() const {
  GraphResult result = watch_.result();
  for (std::size_t i = 0; i < result.clients.size(); ++i) {
    ClientsResult& kind = result.clients[i];
    const WorkloadOptions& workload = topology_.edges[i].caller;
    kind.title = retries_title(workload.retry);
    kind.arrival_rate = arrival_rate(workload);
    kind.clients = workload.clients;
    kind.counts = clients_[i]->counts();
  }
  return result;
}

}  // namespace retrystorm
