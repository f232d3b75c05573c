#include <algorithm>
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

// How one of these hosts is picked. `alone`: see `options_of_picks`.
void add_picks(std::vector<std::string>& words, const HostSettings& hosts, bool alone,
               const std::string& dashes = "--") {
  if (!hosts.many()) return;
  add_different(
      words, hosts, HostSettings(),
      [alone](OptionList& list, HostSettings& each) {
        list.add_all(options_of_picks(each, alone));
      },
      dashes);
}

// Empty if nothing is to be said of them.
std::string print_calls_to(const GraphNode& called, const GraphEdge& edge) {
  const std::string& name = called.name;
  GraphEdge usual;
  usual.caller.arrivals = Arrivals::kOpen;
  std::vector<std::string> words;
  add_different(words, edge, usual, declare_edge_options, "");
  add_picks(words, called.hosts, true, "");
  std::string text;
  for (const std::string& each : words) {
    if (each.find_first_of(" ;") != each.npos) {
      refuse("the calls of " + name + ": " + each + " cannot be told to a real program");
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
    const std::string different_calls = print_calls_to(topology.nodes[each.to], each);
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
      refuse("--at: the real client changes one service, that of --outage-of");
    }
    each.node.clear();
  }
  if (number == 0) return timeline;
  const bool has_outage = options.own_outage_length() > Duration::zero();
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
  const GraphNode& front = topology.nodes.front();
  HostSettings hosts = front.hosts;
  if (front.name == outage_of) hosts.outage_replicas = options.hosts.outage_replicas;
  add_picks(words, hosts, false);
  const TimelineOptions timeline = timeline_of(options, number, outage_of);
  add_different(words, timeline, TimelineOptions(), kOfReal);
  if (timeline.outage.kind == Disturbance::Kind::kCommand) {
    words.emplace_back("--outage-begin=true");
  }
  words.push_back("--report-interval=" + format_duration(options.report_interval));
  for (const Expectation& each : options.expectations) words.push_back("--expect=" + each.text);
  return words;
}

// Of the service with the outage, `hit` hosts have it. `is_front`: the clients call that one. `ordered`: it gets orders.
void check_hosts(const SimulatorOptions& options, const Topology& topology, std::size_t hit,
                 bool is_front, bool ordered) {
  for (const GraphNode& each : topology.nodes) {
    const HostLifeSettings& life = each.hosts.life;
    const bool own_port = life.probe.on() && life.probe.own_port;
    if (!own_port && !life.probes_kill() && !life.scaling.on() && life.start == Duration() &&
        life.warm_up == Duration()) {
      continue;
    }
    refuse(
        each.name +
        ": the hosts of real programs are there from the start, and nobody restarts them: not with "
        "--replicas=FROM..TO, --host-start, --host-warm-up, --probe-does=restart or a probe's own port");
  }
  if (ordered && !is_front && (hit > 1 || topology.nodes.front().hosts.many())) {
    refuse(
        "--outage-of: of several hosts the real client gives orders to those that it calls: not with --at, --capacity "
        "or --outage=" +
        print_disturbance(options.timeline.outage));
  }
}

}  // namespace

Json processes_json(const SimulatorOptions& options) {
  const Topology topology = topology_of(options);
  if (options.scale != 1) refuse("--scale: real programs have as many clients as there are");
  if (!options.timeline.faults.empty()) {
    refuse("--fault: the real programs have one outage, --outage");
  }
  if (topology.client_edges() > 1 && !options.expectations.empty()) {
    refuse(
        "--expect: a claim is about all clients together, and each kind of real ones is a process");
  }
  const std::size_t disturbed = find_node(topology, options.graph.outage_of, "--outage-of");
  const std::string outage_of = topology.nodes[disturbed].name;
  const std::size_t hit = options.disturbed_hosts().hit();
  const Duration outage_for = options.own_outage_length();
  const bool ordered = acts_on_service(options.timeline) ||
                       (outage_for > Duration::zero() && is_of_service(options.timeline.outage));
  check_hosts(options, topology, hit, disturbed == 0, ordered);
  Json json;
  json["front"] = topology.nodes.front().name;
  json["outage_of"] = outage_of;
  json["outage"] = print_disturbance(options.timeline.outage);
  json["outage_hosts"] = hit;
  json["outage_at"] = format_duration(options.outage_at);
  json["outage_for"] = format_duration(outage_for);
  json["ordered"] = ordered;
  json["duration"] = format_duration(options.outage_at + outage_for + options.observe);
  for (std::size_t i = 0; i < topology.client_edges(); ++i) {
    json["clients"].push_back({{"name", topology.edges[i].clients},
                               {"arguments", client_arguments(options, topology, i, outage_of)}});
  }
  // A service comes after all that call it.
  for (std::size_t i = topology.nodes.size(); i-- > 0;) {
    json["services"].push_back({{"name", topology.nodes[i].name},
                                {"hosts", topology.nodes[i].hosts.replicas},
                                {"arguments", server_arguments(topology, i)}});
  }
  return json;
}

}  // namespace retrystorm
