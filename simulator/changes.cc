#include <algorithm>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <utility>

#include "model/base/text.h"
#include "simulator/graph/topology_options.h"
#include "simulator/scenario_options.h"

namespace retrystorm {
namespace {

// Applies the changes of a run one after the other, and records the state after each.
class ChangeList {
 public:
  // `some`: the outage does not hit all hosts of the service.
  ChangeList(std::vector<ServiceOptions> services, bool some) : some_(some) {
    for (ServiceOptions& each : services) nodes_.push_back({.configured = std::move(each)});
  }

  void take(const TimedAction& step, std::size_t node) {
    const Action& action = step.action;
    if (action.kind == Action::Kind::kSet) change(step, nodes_[node].configured);
    if (action.kind == Action::Kind::kCapacity) nodes_[node].conditions.capacity = action.factor;
    if (action.kind == Action::Kind::kLoad) load_ = action.factor;
    add({.t = step.t,
         .node = node,
         .announcement = step.announcement,
         .leaves = what_lasts(action),
         .restart =
             action.kind == Action::Kind::kRestart ? std::optional(action.hosts) : std::nullopt});
  }

  void begin(Change change, const Disturbance& what) {
    nodes_[change.node].disturbances.push_back(what);
    if (change.kind == Change::Kind::kFaultBegins) nodes_[change.node].faults.push_back(what);
    if (change.kind == Change::Kind::kOutageBegins) outage_load_ = load_factor(what);
    change.what = what.kind;
    add(std::move(change));
  }
  void end(Change change, const Disturbance& what) {
    const auto remove = [&what](std::vector<Disturbance>& under_way) {
      under_way.erase(std::find(under_way.begin(), under_way.end(), what));
    };
    remove(nodes_[change.node].disturbances);
    if (change.kind == Change::Kind::kFaultEnds) remove(nodes_[change.node].faults);
    if (change.kind == Change::Kind::kOutageEnds) outage_load_ = 1;
    change.what = what.kind;
    add(std::move(change));
  }

  std::vector<Change> changes() && { return std::move(changes_); }

 private:
  struct Node {
    ServiceOptions configured{};
    Conditions conditions{};
    std::vector<Disturbance> disturbances{};  // under way
    std::vector<Disturbance> faults{};        // those of them that are no outage
  };

  static void change(const TimedAction& step, ServiceOptions& configured) {
    const auto with_its_step = [&step](const std::exception& error) {
      return "--at " + in_quotes(print_timed(step)) + ": " + error.what();
    };
    try {
      change_option(configured, step.action.option, step.action.value, Engine::kSimulated);
    } catch (const NoEffect& error) {
      throw NoEffect(with_its_step(error));
    } catch (const std::invalid_argument& error) {
      refuse(with_its_step(error));
    }
  }

  void add(Change change) {
    change.load = load_;
    for (const Node& each : nodes_) {
      for (const Disturbance& what : each.disturbances) change.load *= load_factor(what);
    }
    change.load_beside =
        outage_load_ == 1 ? change.load : to_digits(change.load / outage_load_, 12);
    const Node& node = nodes_[change.node];
    Conditions conditions = node.conditions;
    for (const Disturbance& each : node.disturbances) apply(each, conditions);
    change.service = with_conditions(conditions, node.configured);
    if (some_) {
      conditions = node.conditions;
      for (const Disturbance& each : node.faults) apply(each, conditions);
      change.service_beside = with_conditions(conditions, node.configured);
    }
    changes_.push_back(std::move(change));
  }

  const bool some_;
  std::vector<Node> nodes_;
  double load_ = 1, outage_load_ = 1;
  std::vector<Change> changes_;
};

// A step of the list. At the same time the outage comes first, and then what ends.
struct Step {
  Duration t{0};
  int order = 0;
  std::function<void()> take{};
};

}  // namespace

std::vector<Change> changes(const ScenarioOptions& options) {
  std::vector<ServiceOptions> services{options.service};
  Topology topology;
  std::size_t disturbed = 0;
  if (options.graph.on()) {
    topology = topology_of(options);
    disturbed = find_node(topology, options.graph.outage_of, "--outage-of");
    services.clear();
    for (const GraphNode& each : topology.nodes) services.push_back(each.service);
  }
  const auto node_of = [&](const std::string& name, const std::string& option) {
    if (name.empty()) return disturbed;
    if (!topology.empty()) return find_node(topology, name, option);
    refuse(option +
           ": there is one service, without a name. Several are given with "
           "--chain or --topology");
  };

  HostSettings hosts = topology.empty() ? options.hosts : topology.nodes[disturbed].hosts;
  hosts.outage_replicas = options.hosts.outage_replicas;
  ChangeList list(std::move(services), hosts.hit() < hosts.replicas);
  std::vector<Step> steps;
  const auto add_disturbance = [&](Duration from, Duration to, int order, std::size_t node,
                                   const Disturbance& what, Change::Kind begins, Change::Kind ends,
                                   const std::string& announcement) {
    const Change begin{.t = from, .kind = begins, .node = node, .announcement = announcement};
    const Change end{.t = to, .kind = ends, .node = node, .announcement = announcement};
    steps.push_back({from, order + 1, [&list, begin, what] { list.begin(begin, what); }});
    steps.push_back({to, order, [&list, end, what] { list.end(end, what); }});
  };
  if (const auto outage = options.outage(); outage.length > Duration::zero()) {
    add_disturbance(outage.at, saturating_add(outage.at, outage.length), 0, disturbed, outage.what,
                    Change::Kind::kOutageBegins, Change::Kind::kOutageEnds, "");
  }
  for (const Fault& each : options.timeline.faults) {
    const std::size_t node = node_of(each.node, "--fault " + in_quotes(print_fault(each)));
    add_disturbance(
        each.from, each.to, 2, node, each.what, Change::Kind::kFaultBegins,
        Change::Kind::kFaultEnds,
        print_disturbance(each.what) + (each.node.empty() ? std::string() : " of " + each.node));
  }
  const std::vector<TimedAction> at = actions(options.timeline);
  for (const TimedAction& each : at) {
    const std::size_t node = node_of(each.node, "--at " + in_quotes(print_timed(each)));
    steps.push_back({each.t, 4, [&list, &each, node] { list.take(each, node); }});
  }
  std::stable_sort(steps.begin(), steps.end(), [](const Step& a, const Step& b) {
    return std::pair(a.t, a.order) < std::pair(b.t, b.order);
  });
  for (const Step& each : steps) each.take();
  return std::move(list).changes();
}

}  // namespace retrystorm
