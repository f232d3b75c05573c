// All services of a run with services behind services.
#pragma once

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "model/base/duration.h"
#include "model/base/random.h"
#include "model/run/graph_report.h"
#include "simulator/calls.h"
#include "simulator/event_loop.h"
#include "simulator/graph/graph_calls.h"
#include "simulator/graph/graph_service.h"
#include "simulator/hosts.h"
#include "simulator/scenario.h"

namespace retrystorm {

class Graph {
 public:
  // `clients`: the calls of each kind of clients. They, the scenario and the clock must outlive the graph.
  Graph(const Scenario& scenario, const EventLoop& clock, std::vector<Calls*> clients);

  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // Those who call the first service. Pass the hosts of that to `serve` before the run.
  Callers& front_callers() { return nodes_.front().callers; }
  void serve(Hosts& front);
  Hosts& hosts(std::size_t node) { return *nodes_[node].hosts; }
  const Hosts& hosts(std::size_t node) const { return *nodes_[node].hosts; }
  // The service's hosts have been frozen.
  void frozen(TimePoint now, std::size_t node);
  // Wakes them.
  void wake(TimePoint now, std::size_t node);
  void outage_begins(TimePoint now) { watch_.outage_begins(now - TimePoint{}); }
  void outage_ends(TimePoint now) { watch_.outage_ends(now - TimePoint{}); }

  // Of the services behind the first one, the calls of all, and the samples.
  TimePoint next_event();
  void take_event(TimePoint now);

  // Are any connections kept? Then there are attempts in line for one, those of the clients too. They go on before
  // anything else happens.
  bool keeps_connections() const { return !pooled_.empty() || !pooled_clients_.empty(); }
  TimePoint next_pool_event() const;
  void take_pool_event(TimePoint now);

  // The window that ends now, if one does.
  std::optional<GraphInterval> take_interval(TimePoint now);
  TimePoint next_interval() const { return window_end_; }

  // Of all services, in their order.
  std::vector<AttemptPlaces> places() const;

  const GraphShape& shape() const { return watch_.shape(); }
  GraphResult result() const;

 private:
  [[gnu::noinline]] TimePoint next_repetition();

  // The mean time between samples. Each comes at a random time, since requests of equal length may all begin
  // together, in step with equal pauses.
  static constexpr Duration kSample = std::chrono::milliseconds(100);

  // A service: each of its hosts calls others by itself.
  struct Node {
    Callers callers{};
    Hosts* hosts = nullptr;
    std::vector<std::unique_ptr<GraphService>> services{};  // one for each host
  };

  void serve(Node& node, Hosts& hosts);
  Counts counts_of(std::size_t edge) const;

  const Topology& topology_;
  // Has somebody stopped waiting for an attempt, or may he do so without a word to the callee, as for a hedge? Until
  // then all work is for somebody, and no service has to find that out.
  bool some_left_;
  const std::vector<Calls*> clients_;
  std::vector<Node> nodes_;
  std::vector<GraphService*> repeating_;            // those that retry all their calls together
  std::vector<std::unique_ptr<GraphCalls>> calls_;  // but those of the clients; by edge
  std::vector<std::size_t> edge_of_;                // of each of these
  std::vector<GraphCalls*> pooled_;                 // of these, those that keep connections
  std::vector<Calls*> pooled_clients_;              // likewise
  std::vector<std::unique_ptr<Hosts>> behind_;      // the hosts of all services but the first one
  std::vector<Counts> counted_;                     // of each edge, until the last window
  std::vector<std::size_t> under_way_;              // of each edge: a sum of the window's samples
  std::size_t samples_ = 0;
  ClientRandom sampling_;
  TimePoint sample_at_ = TimePoint{} + kSample;
  TimePoint window_end_ = TimePoint{} + GraphWatch::kWindow;
  GraphWatch watch_;
};

}  // namespace retrystorm
