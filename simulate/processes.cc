#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/base/text.h"
#include "model/graph/topology.h"
#include "model/run/timeline.h"
#include "simulate/program.h"

namespace retrystorm {
namespace {

// Adds the options whose values differ from those of `usual`, which are set to the same: what others follow from, such as
// a strategy, comes before them.
template <typename Settings, typename Declare>
void add_different(std::vector<std::string>& words, Settings settings, Settings usual,
                   const Declare& declare, const std::string& dashes = "--") {
  OptionList list, usual_list;
  declare(list, settings);
  declare(usual_list, usual);
  for (std::size_t i = 0; i < list.all().size(); ++i) {
    const std::string value = list.all()[i].get();
    if (value == usual_list.all()[i].get()) continue;
    words.push_back(dashes + list.all()[i].name + '=' + value);
    usual_list.all()[i].set(value);
  }
}

constexpr auto kOfReal = [](OptionList& list, auto& settings) {
  declare_options(list, settings, Engine::kReal);
};

std::string print_call(const PlannedCall& call, const std::string& name) {
  std::string text = name + "=@" + name + '@';
  if (call.optional) text += '?';
  if (call.times > 1) text += '*' + std::to_string(call.times);
  if (call.share < 1) text += '@' + print_number(call.share);
  return text;
}

// Empty if nothing is to be said of them.
std::string print_calls_to(const std::string& name, const GraphEdge& edge) {
  GraphEdge usual;
  usual.caller.arrivals = Arrivals::kOpen;
  std::vector<std::string> words;
  add_different(words, edge, usual, declare_edge_options, "");
  std::string text;
  for (const std::string& each : words) {
    if (each.find_first_of(" ;") != each.npos) {
      throw std::invalid_argument("the calls of " + name + ": " + each +
                                  " cannot be told to a real program");
    }
    text += ' ' + each;
  }
  return text.empty() ? text : name + text;
}

std::vector<std::string> server_arguments(const Topology& topology, std::size_t number) {
  const GraphNode& node = topology.nodes[number];
  ServiceOptions service = node.service;
  if (service.max_connections == kSimulatedConnections) service.max_connections = 0;
  std::vector<std::string> words{"--name=" + node.name};
  add_different(words, service, ServiceOptions(), kOfReal);
  const bool keeps_deadlines = std::ranges::any_of(topology.edges, [number](const GraphEdge& each) {
    return each.to == number && each.deadline != DeadlinePropagation::kNone;
  });
  if (keeps_deadlines) words.emplace_back("--keep-deadlines=yes");
  if (node.calls.empty()) return words;
  add_different(words, node, GraphNode(), declare_calling_options);
  std::string calls;
  for (const auto& group : node.calls) {
    if (!calls.empty()) calls += ", ";
    for (const PlannedCall& each : group) {
      if (&each != &group.front()) calls += " & ";
      calls += print_call(each, topology.nodes[topology.edges[each.to].to].name);
    }
  }
  words.push_back("--calls=" + calls);
  for (const GraphEdge& each : topology.edges) {
    if (each.from != number) continue;
    const std::string different_calls = print_calls_to(topology.nodes[each.to].name, each);
    if (!different_calls.empty()) words.push_back("--call-to=" + different_calls);
  }
  return words;
}

// The outage and the actions of the clients of this number. What is done to the service is done by the first ones; the
// others only count the same outage.
TimelineOptions timeline_of(const SimulatorOptions& options, std::size_t number,
                            const std::string& outage_of) {
  TimelineOptions timeline = options.timeline;
  for (TimedAction& each : timeline.at) {
    if (!each.node.empty() && each.node != outage_of) {
      throw std::invalid_argument("--at: the real client changes one service, that of --outage-of");
    }
    each.node.clear();
  }
  if (number == 0) return timeline;
  const bool has_outage = options.outage_length() > Duration::zero();
  if (has_outage && made_by(timeline.outage) != Disturbance::By::kClients) {
    timeline.outage = {.kind = Disturbance::Kind::kCommand};
  }
  std::erase_if(timeline.at, [](const TimedAction& each) { return is_of_service(each.action); });
  timeline.capacity.clear();
  timeline.capacity_text.clear();
  return timeline;
}

// Clients of several kinds are a process each. They draw different random numbers.
std::vector<std::string> client_arguments(const SimulatorOptions& options, const Topology& topology,
                                          std::size_t number, const std::string& outage_of) {
  GraphEdge edge = topology.edges[number];
  if (edge.caller.seed) *edge.caller.seed += number;
  std::vector<std::string> words;
  add_different(words, edge.caller, WorkloadOptions(),
                [](OptionList& list, WorkloadOptions& each) { declare_options(list, each); });
  add_different(
      words, edge, GraphEdge{.caller = edge.caller},
      [](OptionList& list, GraphEdge& each) { declare_deadline(list, each.deadline, ""); });
  const TimelineOptions timeline = timeline_of(options, number, outage_of);
  add_different(words, timeline, TimelineOptions(), kOfReal);
  if (timeline.outage.kind == Disturbance::Kind::kCommand) {
    words.emplace_back("--outage-begin=true");
  }
  words.push_back("--report-interval=" + format_duration(options.report_interval));
  for (const Expectation& each : options.expectations) words.push_back("--expect=" + each.text);
  return words;
}

}  // namespace

Json processes_json(const SimulatorOptions& options) {
  const Topology topology = topology_of(options);
  if (std::ranges::any_of(topology.nodes,
                          [](const GraphNode& each) { return each.hosts.many(); })) {
    throw std::invalid_argument(
        "--replicas: with --chain or --topology the real programs have one host for each service");
  }
  if (options.scale != 1) {
    throw std::invalid_argument("--scale: real programs have as many clients as there are");
  }
  if (!options.timeline.faults.empty()) {
    throw std::invalid_argument("--fault: the real programs have one outage, --outage");
  }
  if (topology.client_edges() > 1 && !options.expectations.empty()) {
    throw std::invalid_argument(
        "--expect: a claim is about all clients together, and each kind of real ones is a process");
  }
  const std::string outage_of =
      topology.nodes[find_node(topology, options.graph.outage_of, "--outage-of")].name;
  Json json;
  json["front"] = topology.nodes.front().name;
  json["outage_of"] = outage_of;
  json["outage"] = print_disturbance(options.timeline.outage);
  json["outage_at"] = format_duration(options.outage_at);
  json["outage_for"] = format_duration(options.outage_length());
  json["duration"] = format_duration(options.outage_at + options.outage_length() + options.observe);
  for (std::size_t i = 0; i < topology.client_edges(); ++i) {
    json["clients"].push_back({{"name", topology.edges[i].clients},
                               {"arguments", client_arguments(options, topology, i, outage_of)}});
  }
  // A service comes after all that call it.
  for (std::size_t i = topology.nodes.size(); i-- > 0;) {
    json["services"].push_back(
        {{"name", topology.nodes[i].name}, {"arguments", server_arguments(topology, i)}});
  }
  return json;
}

}  // namespace retrystorm
