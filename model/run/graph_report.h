// What became of services behind services: their intervals, and which of them died first.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "model/base/duration.h"
#include "model/base/statement.h"
#include "model/base/sums.h"
#include "model/run/counts.h"

namespace retrystorm {

// A service in one window. Rates are per second.
struct NodeInterval {
  double offered = 0, admitted = 0;
  double refused = 0;       // rejected, on arrival or later
  double in_time = 0;       // good answers that came before the caller gave up
  double worked = 0;        // requests for which it has done its own work
  double for_nobody = 0;    // of these, those that no client waited for any more
  double busy = 0;          // workers that do their own work; a mean
  double calling = 0;       // requests that wait for the answers of others; a mean
  std::size_t workers = 0;  // at the end of the window
  std::size_t queue = 0;    // requests that wait for a worker, then

  // With those of the service's other hosts.
  static constexpr std::tuple kSummed{&NodeInterval::offered, &NodeInterval::admitted,
                                      &NodeInterval::refused, &NodeInterval::in_time,
                                      &NodeInterval::worked,  &NodeInterval::for_nobody,
                                      &NodeInterval::busy,    &NodeInterval::calling,
                                      &NodeInterval::workers, &NodeInterval::queue};

  double for_nobody_share() const { return worked > 0 ? for_nobody / worked : 0; }
};

// The calls of one service to another in one window.
struct EdgeInterval {
  Rates calls{};
  double amplification = 0;  // calls for each request of the clients that began in the window
  double under_way = 0;      // calls whose result somebody waits for; a mean. Not of the clients
};

// The window that ends at `t`, of all services and edges in their order.
struct GraphInterval {
  Duration t{0}, window{0};
  std::vector<NodeInterval> nodes{};
  std::vector<EdgeInterval> edges{};
};

// The names of the services, and who calls whom. A service comes after all that call it. The clients call the first one.
struct GraphShape {
  static constexpr std::size_t kClients = std::numeric_limits<std::size_t>::max();

  struct Node {
    std::string name{};
    bool holds = true;  // its workers wait for answers
  };
  struct Edge {
    std::size_t from = kClients, to = 0;  // nodes
    std::string clients{};                // from clients of several kinds: the name of this one
  };
  std::vector<Node> nodes{};
  std::vector<Edge> edges{};

  std::string caller(const Edge& edge) const {
    if (edge.from != kClients) return nodes[edge.from].name;
    return edge.clients.empty() ? "clients" : "clients." + edge.clients;
  }
};

// The result for one service.
struct NodeResult {
  std::string name{};
  std::optional<NodeInterval> end{};  // the last window
  bool holds = true;                  // its workers wait for answers
  double amplification = 0;           // calls for each request of the clients, of the whole run
  std::optional<double> during{};     // the same in the windows of the outage
  // Since the outage began: the end of the first window in which all workers were taken, and the longest queue of these.
  std::optional<Duration> full_at{};
  std::size_t full_workers = 0, full_queue = 0;
  std::optional<Duration> died{};  // when, if it did
  std::optional<Duration> back{};  // when it was back
};

// Those who call a service: what its calls came to.
struct EdgeResult {
  std::string from{}, to{};
  double amplification = 0;  // calls for each request of the clients, of the whole run
  double share = 1;          // of all calls of the service
};

// What became of clients of one kind.
struct ClientsResult {
  std::string name{}, title{};  // of their retries: see `retries_title`
  std::size_t clients = 0;
  double arrival_rate = 0;  // requests per second, for open arrivals; otherwise 0
  Counts counts{};
  // Their good answers a second before the outage, in it and after it: means of the windows. Empty without any.
  std::array<std::optional<double>, 3> ok{};
};

struct GraphResult {
  std::vector<NodeResult> nodes{};
  std::vector<EdgeResult> edges{};
  std::vector<ClientsResult> clients{};  // empty unless there are several kinds
  // The service that died first, and why. Empty if none did.
  std::optional<std::size_t> first{};
  Statements why{};
};

// Watches the services. A service is dead from the first of three windows after the outage in each of which fewer than
// half as many of its answers as before the outage came in time. It is back with the first window in
// which more do. Of services that die in the same window, the one that the others call is the first: they
// may only die of its answers. One that has little to do is the first only if all that die have.
class GraphWatch {
 public:
  static constexpr Duration kWindow = std::chrono::seconds(5);
  static constexpr std::size_t kWindowsToDie = 3;

  explicit GraphWatch(GraphShape shape) : shape_(std::move(shape)), states_(shape_.nodes.size()) {}

  const GraphShape& shape() const { return shape_; }
  void outage_begins(Duration t) { begins_ = t; }
  void outage_ends(Duration t) { ends_ = t; }
  // Windows come in their order, each before the outage begins or ends later. `dead_in_queue` counts the requests in a
  // service's queue whose callers have given up. It is only asked of a service that has just died.
  void take(const GraphInterval& interval,
            const std::function<std::size_t(std::size_t node)>& dead_in_queue);
  GraphResult result() const;

 private:
  // What has become of a service since the outage.
  struct State {
    std::optional<double> calm{};  // its answers in time before; as `calm_rate`
    std::size_t failing = 0;       // windows in a row with fewer than half of them
    std::optional<Duration> died{}, back{};
    std::size_t dead_in_queue = 0;  // at the end of the window in which it had died
  };
  // Of a window: 0 before the outage, 1 in it, 2 after it.
  std::size_t phase_of(const GraphInterval& window) const;
  // Good answers to these calls before the outage, in it and after it.
  std::array<std::optional<double>, 3> ok_of(std::size_t edge) const;
  // Of answers in time, before the outage. Empty without such windows.
  std::optional<double> calm_rate(std::size_t node) const;
  Statements why(std::size_t node) const;
  // The last window of its death. Empty without one.
  const GraphInterval* death_of(std::size_t node) const;
  // Had it little to do then? It has died of what others did.
  bool is_idle(std::size_t node) const;

  const GraphShape shape_;
  std::optional<Duration> begins_{}, ends_{};
  std::vector<GraphInterval> windows_;
  std::vector<State> states_;  // of each service
};

}  // namespace retrystorm
