#include "simulator/graph/topology_options.h"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "model/base/text.h"
#include "model/graph/topology.h"

namespace retrystorm {
namespace {

constexpr std::size_t kMostWorkers = 1'000'000'000;
constexpr std::string_view kForm =
    "NAME WORKERSxTIME or NAME HOSTS*WORKERSxTIME is expected, such as db 8x40ms";

ChainedService parse_service(std::string_view text) {
  if (text.empty()) refuse("there is none: " + std::string(kForm));
  const std::size_t space = std::min(text.find_first_of(" \t"), text.size());
  ChainedService service{.name = std::string(text.substr(0, space))};
  check_service_name(service.name);
  std::string_view what = trimmed(text.substr(space));
  const std::size_t star = what.find('*');
  const std::string_view hosts = what.substr(0, star == what.npos ? 0 : star);
  if (star != what.npos) what.remove_prefix(star + 1);
  const std::size_t times = what.find('x');
  if (what.empty() || times == what.npos) refuse(in_quotes(text) + ": " + std::string(kForm));
  try {
    if (star != std::string_view::npos) {
      service.replicas = parse_count(hosts, 1, Topology::kMostHosts);
    }
    service.workers = parse_count(what.substr(0, times), 1, kMostWorkers);
    service.service_time = ServiceTime::parse(what.substr(times + 1));
  } catch (const std::invalid_argument& error) {
    refuse(in_quotes(text) + ": " + error.what());
  }
  return service;
}

// The words of --retry-at that mean these calls. "api" means all that it makes, "api.db" and "clients.web" some.
std::set<std::string> names_of(const Topology& topology, const GraphEdge& edge) {
  const bool ours = edge.from == GraphEdge::kClients;
  const std::string from = ours ? "clients" : topology.nodes[edge.from].name;
  std::set<std::string> names{"all", from, from + '.' + topology.nodes[edge.to].name};
  if (ours) names.insert("top");
  if (!edge.clients.empty()) names.insert(from + '.' + edge.clients);
  if (topology.nodes[edge.to].calls.empty()) names.insert("bottom");
  return names;
}

// Does this caller retry?
bool retries(const std::string& where, const Topology& topology, const GraphEdge& edge) {
  const std::set<std::string> names = names_of(topology, edge);
  const auto words = split(where, '+');
  return std::any_of(words.begin(), words.end(),
                     [&names](std::string_view word) { return names.contains(std::string(word)); });
}

void check_retry_at(const std::string& where, const Topology& topology) {
  std::set<std::string> names{"none"};
  for (const GraphEdge& each : topology.edges) names.merge(names_of(topology, each));
  for (const std::string_view word : split(where, '+')) {
    if (names.contains(std::string(word))) continue;
    refuse("--retry-at: " + unknown_name(word, {names.begin(), names.end()}));
  }
}

Topology topology_of(const std::vector<ChainedService>& chain, const GraphNode& usual,
                     const GraphEdge& edge, const GraphEdge& clients) {
  Topology topology;
  topology.edges.push_back(clients);
  for (const ChainedService& each : chain) {
    const std::size_t number = topology.nodes.size();
    GraphNode& node = topology.nodes.emplace_back(usual);
    node.name = each.name;
    node.service.workers.workers = each.workers;
    node.service.workers.service_time = each.service_time;
    if (each.replicas) {
      node.hosts.replicas = *each.replicas;
      node.hosts.life.scaling = {};
    }
    if (number == 0) continue;
    topology.nodes[number - 1].calls = {{PlannedCall{.to = topology.edges.size()}}};
    GraphEdge& call = topology.edges.emplace_back(edge);
    call.from = number - 1;
    call.to = number;
    call.caller.timeout = each.timeout.value_or(call.caller.timeout);
  }
  return topology;
}

}  // namespace

std::vector<ChainedService> parse_chain(std::string_view text) {
  std::vector<ChainedService> services;
  std::optional<Duration> timeout;
  std::string_view rest = text;
  while (!text.empty()) {
    const std::size_t arrow = rest.find('>');
    const std::string place = "service " + std::to_string(services.size() + 1) + ": ";
    try {
      ChainedService service = parse_service(trimmed(rest.substr(0, arrow)));
      service.timeout = timeout;
      for (const ChainedService& each : services) {
        if (each.name == service.name) {
          refuse(service.name + " is in the chain already: a circle has no end");
        }
      }
      services.push_back(std::move(service));
      if (services.size() > Topology::kMostNodes) {
        refuse("at most " + std::to_string(Topology::kMostNodes) + " services are possible");
      }
      if (arrow == rest.npos) break;
      rest.remove_prefix(arrow + 1);
      timeout.reset();
      // ">250ms orders": a duration directly after the arrow.
      const std::size_t end = std::min(rest.find_first_of(" \t"), rest.size());
      if (is_none(rest.substr(0, end))) {
        timeout = Duration::max();
      } else if (!rest.empty() && rest.front() >= '0' && rest.front() <= '9') {
        timeout = parse_duration(rest.substr(0, end), std::chrono::nanoseconds(1));
      }
      if (timeout) rest.remove_prefix(end);
    } catch (const std::invalid_argument& error) {
      refuse(place + error.what());
    }
  }
  return services;
}

std::string print_chain(const std::vector<ChainedService>& services) {
  std::string text;
  for (const ChainedService& each : services) {
    if (!text.empty()) {
      const bool never = each.timeout == Duration::max();
      text += " >" +
              (never          ? std::string(kNoneWord)
               : each.timeout ? format_duration(*each.timeout)
                              : std::string()) +
              ' ';
    }
    text += each.name + ' ' + (each.replicas ? std::to_string(*each.replicas) + '*' : "") +
            std::to_string(each.workers) + 'x' + each.service_time.text();
  }
  return text;
}

void declare_options(OptionList& options, GraphOptions& graph) {
  options.group("Services behind services");
  options.text(
      "chain",
      "services that call one another: 'api 32x5ms > orders 16x20ms >250ms db 3*8x40ms' (hosts if several, workers x "
      "service time of each, and after the arrow the timeout of the calls, otherwise --timeout); the clients call the "
      "first one; each caller uses the strategy",
      [&graph](std::string_view text) { graph.chain = parse_chain(text); },
      [&graph] { return print_chain(graph.chain); });
  options.text(
      "topology",
      "a file with a section for each service and, if it is not like the others, for the calls of one to "
      "another: fan-out, calls that may fail, several callers (docs/chains.md)",
      [&graph](std::string_view text) {
        graph.topology = text.empty() ? TopologyFile() : TopologyFile::read(std::string(text));
      },
      [&graph] { return graph.topology.path(); });
  declare_waiting(
      options, graph.waiting,
      "--chain, --topology: whether a worker waits for the answers of the services that it calls, as threads do, "
      "or is free meanwhile, as in an event loop");
  Option& retry_at = options.text(
      "retry-at",
      "--chain, --topology: who retries: every caller, only the clients, only those who call a service that calls "
      "nobody, or nobody; or names of callers, as in clients+api, or of their calls, as in api.db",
      [&graph](std::string_view text) {
        graph.retry_at = text;
        std::erase(graph.retry_at, ' ');
        std::replace(graph.retry_at.begin(), graph.retry_at.end(), '>', '.');
      },
      [&graph] { return graph.retry_at; });
  retry_at.kind = Option::Kind::kChoice;
  retry_at.choices = {"all", "top", "bottom", "none"};
  declare_deadline(
      options, graph.deadline,
      "--chain, --topology: what an attempt carries along as its deadline: nothing, the time until its timeout, or "
      "the time until the deadline of its request (--deadline). A service drops requests whose deadline is over, and "
      "ends its own calls then");
  options.text(
      "outage-of",
      "--chain, --topology: the service that has the outage, and the actions of --at and --capacity; the last one if "
      "not given",
      [&graph](std::string_view text) { graph.outage_of = std::string(text); },
      [&graph] { return graph.outage_of; });
  options.no_effect_after("topology",
                          [&graph] { return graph.on() ? "" : "without --chain or --topology"; });
}

void declare_node_options(OptionList& options, GraphNode& node, NamedPlan& calls) {
  OptionList service;
  declare_options(service, node.service, Engine::kSimulated);
  // Its capacity is its workers.
  options.add_all(service, [](const Option& each) { return each.name != "service"; });
  OptionList hosts;
  declare_options(hosts, node.hosts);
  options.add_all(hosts, [](const Option& each) { return each.name != "outage-replicas"; });
  options.text(
      "calls", "the services that it calls for each request: 'cart, price & stock?, db*2'",
      [&calls](std::string_view text) { calls = parse_calls(text); }, [] { return ""; });
  declare_calling_options(options, node);
}

void find_unused(UnusedOptions& unused, const GraphOptions& graph, const ServiceOptions& service,
                 const HostSettings& hosts, const std::vector<std::string>& named) {
  if (!graph.on()) return;
  const ServiceOptions defaults;
  const std::string which = graph.chain.empty() ? "--topology" : "--chain";
  const auto said_by_graph = [&](const char* name, bool differs) {
    if (differs || std::find(named.begin(), named.end(), name) != named.end()) {
      unused.emplace(name,
                     name + (" has no effect with " + which) + ", which has that of each service");
    }
  };
  said_by_graph("service", service.capacity != defaults.capacity);
  if (graph.chain.empty()) {
    return find_unused(unused, {.service = service, .hosts = hosts, .waiting = graph.waiting},
                       named, graph.topology);
  }
  said_by_graph("workers", service.workers.workers != defaults.workers.workers);
  said_by_graph("service-time", service.workers.service_time != defaults.workers.service_time);
  if (std::all_of(graph.chain.begin(), graph.chain.end(),
                  [](const ChainedService& each) { return each.replicas.has_value(); })) {
    said_by_graph("replicas", hosts.replicas != HostSettings().replicas);
  }
}

void find_unused_retries(UnusedOptions& unused, const GraphOptions& graph,
                         const WorkloadOptions& clients, const std::vector<std::string>& named,
                         const Topology& topology) {
  if (!graph.on() || graph.retry_at == "all") return;
  find_unused(unused, clients, named, topology, graph.topology, graph.retry_at,
              [&](const GraphEdge& edge) { return retries(graph.retry_at, topology, edge); });
}

std::set<std::string> set_by_services(const GraphOptions& graph) {
  if (!graph.chain.empty()) return {"workers", "service-time"};
  return graph.topology.empty() ? std::set<std::string>() : graph.topology.set_in_all_services();
}

void check(const GraphOptions& graph, const WorkloadOptions& workload,
           const ServiceOptions& service, const HostSettings& hosts,
           const std::optional<Disturbance>& outage) {
  if (!graph.on()) return;
  const std::string which = graph.chain.empty() ? "--topology: " : "--chain: ";
  const auto refuse_graph = [&which](const std::string& why) { refuse(which + why); };
  if (!graph.chain.empty() && !graph.topology.empty()) {
    refuse_graph("the services are given already, by --topology: one of the two");
  }
  const Topology topology = make_topology(graph, service, hosts, workload);
  find_node(topology, graph.outage_of, "--outage-of");
  check_retry_at(graph.retry_at, topology);
  std::size_t all_hosts = 0;
  for (const GraphNode& each : topology.nodes) {
    check(each.hosts);
    all_hosts += each.hosts.most();
    if (all_hosts > Topology::kMostHosts) {
      refuse_graph("at most " + std::to_string(Topology::kMostHosts) +
                   " hosts are possible, of all services");
    }
    if (each.service.abandoned == Abandoned::kCancel) {
      refuse_graph(
          "--abandoned=cancel: a request that is cancelled would leave its calls under way: take --abandoned=skip, and "
          "--deadline-propagation=attempt for those calls");
    }
  }
  if (outage && loses_connections(*outage))
    refuse_graph(
        "--outage=reconnect is about the clients' connections to a single service: with several, take --outage=drop and "
        "--connections=keep-alive");
  const auto keeps = [&topology](std::size_t node) {
    return std::any_of(topology.edges.begin(), topology.edges.end(), [node](const GraphEdge& each) {
      return each.to == node && each.caller.connections.kind == Connections::kKeepAlive;
    });
  };
  for (std::size_t i = 0; i < topology.nodes.size(); ++i) {
    if (topology.nodes[i].service.server_idle == service.server_idle || keeps(i)) continue;
    refuse_graph(
        topology.nodes[i].name +
        ": server-idle has no effect, since nobody calls it with --connections=keep-alive");
  }
  for (const GraphEdge& each : topology.edges) {
    if (each.deadline == DeadlinePropagation::kRequest && !each.caller.retry.limit.has_deadline()) {
      const bool ours = each.from == GraphEdge::kClients;
      refuse_graph(
          (ours ? "the clients' calls" : "the calls of " + topology.nodes[each.from].name) +
          " to " + topology.nodes[each.to].name +
          ": --deadline-propagation=request needs a --deadline");
    }
  }
}

Topology make_topology(const GraphOptions& graph, const ServiceOptions& service,
                       const HostSettings& hosts, const WorkloadOptions& clients) {
  GraphNode node{.service = service, .hosts = hosts, .waiting = graph.waiting};
  node.service.capacity = Capacity::kWorkers;
  node.hosts.outage_replicas = HostSettings::kAll;
  const GraphEdge front{.caller = clients, .deadline = graph.deadline};
  // Requests of a service come when it has done its own work, and all belong to one process.
  GraphEdge edge = front;
  edge.caller.arrivals = Arrivals::kOpen;
  edge.caller.think_time = Duration::zero();
  edge.caller.processes = 1;
  Topology topology = graph.chain.empty() ? graph.topology.topology(node, edge, front)
                                          : topology_of(graph.chain, node, edge, front);
  for (GraphEdge& each : topology.edges) {
    if (retries(graph.retry_at, topology, each)) continue;
    each.caller.retry.limit.max_retries = 0;
    each.caller.retry.hedge = {};
  }
  return topology;
}

std::size_t find_node(const Topology& topology, std::string_view name, std::string_view option) {
  if (name.empty()) return topology.nodes.size() - 1;
  std::vector<std::string_view> names;
  for (const GraphNode& each : topology.nodes) names.push_back(each.name);
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  refuse(std::string(option) + ": " + unknown_name(name, names));
}

}  // namespace retrystorm
