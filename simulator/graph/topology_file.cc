#include "simulator/graph/topology_file.h"

#include <algorithm>
#include <map>
#include <utility>

#include "common/os/foreign_file.h"
#include "model/base/text.h"
#include "model/run/workload.h"
#include "simulator/graph/topology_options.h"

namespace retrystorm {
namespace {

constexpr std::size_t kLongestFile = 1'000'000;
constexpr std::string_view kClients = "clients";

std::string full_name(const TopologySection& section) {
  return section.to.empty() ? section.name : section.name + '.' + section.to;
}

TopologySection parse_section(std::string_view line, std::size_t number) {
  if (line.back() != ']') refuse("[NAME] or [CALLER.CALLED] is expected");
  const std::string_view text = trimmed(line.substr(1, line.size() - 2));
  const std::size_t dot = text.find('.');
  TopologySection section{.line = number, .name = std::string(trimmed(text.substr(0, dot)))};
  if (section.name != kClients || dot == text.npos) check_service_name(section.name);
  if (dot != text.npos) {
    section.to = std::string(trimmed(text.substr(dot + 1)));
    check_service_name(section.to);
  }
  return section;
}

// The value without a comment at its end and without quotes.
std::string_view value_of(std::string_view text) {
  for (std::size_t at = 1; at < text.size(); ++at) {
    const bool begins_comment = text[at] == ';' || text[at] == '#';
    if (begins_comment && (text[at - 1] == ' ' || text[at - 1] == '\t')) {
      text = trimmed(text.substr(0, at));
    }
  }
  const bool quoted = text.size() >= 2 && text.front() == text.back() &&
                      (text.front() == '"' || text.front() == '\'');
  return quoted ? text.substr(1, text.size() - 2) : text;
}

// Sets the options of a section in the order in which they are declared, so that a named strategy does not
// overrule what is said beside it.
void set_all(const OptionList& list, const TopologySection& section) {
  std::map<std::string, const TopologyLine*> given;
  for (const TopologyLine& line : section.settings) {
    const Option* option = list.find(line.name);
    std::vector<std::string_view> known;
    for (const Option& each : list.all()) known.push_back(each.name);
    if (option == nullptr) {
      std::string message = in_quotes(line.name) + " is no option of ";
      message += section.to.empty() ? "a service" : section.name == kClients ? kClients : "calls";
      const std::string_view meant = nearest(line.name, known);
      if (!meant.empty()) message += " (did you mean " + std::string(meant) + "?)";
      throw BadTopologyLine(line.number, message);
    }
    if (!given.emplace(option->name, &line).second) {
      throw BadTopologyLine(line.number, line.name + " is given twice");
    }
  }
  for (const Option& option : list.all()) {
    const auto found = given.find(option.name);
    if (found == given.end()) continue;
    try {
      option.set(found->second->value);
    } catch (const std::invalid_argument& error) {
      throw BadTopologyLine(found->second->number, error.what(), option.name);
    }
  }
}

// Refuses settings of the section that have no effect.
void refuse_unused(const UnusedOptions& unused, const TopologySection& section) {
  for (const TopologyLine& line : section.settings) {
    const auto found = unused.find(line.name);
    if (found != unused.end()) throw BadTopologyLine(line.number, found->second);
  }
}

template <typename Check>
void check_at(std::size_t line, const Check& check) {
  try {
    check();
  } catch (const std::invalid_argument& error) {
    throw BadTopologyLine(line, error.what());
  }
}

// A service and its calls by name.
struct NamedNode {
  const TopologySection* section;
  GraphNode node;
  NamedPlan calls;
};

NamedNode read_node(const TopologySection& section, const GraphNode& usual) {
  NamedNode named{.section = &section, .node = usual, .calls = {}};
  named.node.name = section.name;
  named.node.service.capacity = Capacity::kWorkers;
  OptionList list;
  declare_node_options(list, named.node, named.calls);
  set_all(list, section);
  std::size_t most = 1;  // calls at once
  for (const auto& group : named.calls) most = std::max(most, group.size());
  check_at(section.line, [&] {
    check(named.node.service);
    check(named.node.hosts);
    if (named.node.on_failure.kind == OnFailure::Kind::kNeed && named.node.on_failure.need > most) {
      refuse("on-failure: " + std::to_string(named.node.on_failure.need) +
             " calls cannot succeed, at most " + std::to_string(most) + " are made at once");
    }
  });
  refuse_unused(unused_of_part(named.node.service), section);
  refuse_unused(unused_of_part(named.node.hosts), section);
  return named;
}

GraphEdge read_edge(const TopologySection& section, GraphEdge edge) {
  OptionList list;
  declare_edge_options(list, edge);
  set_all(list, section);
  check_at(section.line, [&] { check(edge.caller); });
  refuse_unused(unused_of_part(edge.caller.retry), section);
  refuse_unused(unused_of_part(edge.caller.connections), section);
  return edge;
}

GraphEdge read_clients(const TopologySection& section, GraphEdge edge) {
  edge.clients = section.to;
  OptionList list;
  declare_clients_options(list, edge);
  set_all(list, section);
  check_at(section.line, [&] {
    imply(
        [&](std::string_view name) {
          const auto& lines = section.settings;
          const Option* option = list.find(name);
          return option != nullptr &&
                 std::any_of(lines.begin(), lines.end(),
                             [&](const auto& each) { return list.find(each.name) == option; });
        },
        [&list](const std::string& target, const std::string& value) { list.set(target, value); });
    if (edge.caller.arrivals == Arrivals::kJob || edge.caller.plan.on()) {
      refuse("clients of several kinds have no job, file or period: --arrivals=closed or open");
    }
    check(edge.caller);
  });
  refuse_unused(unused_of_part(edge.caller), section);
  return edge;
}

// The services in an order in which each comes after all that call it. `number` finds a service by name.
std::vector<std::size_t> in_order(const std::vector<NamedNode>& nodes,
                                  const std::map<std::string_view, std::size_t>& number) {
  enum class State { kNew, kUnderWay, kDone };
  std::vector<State> states(nodes.size(), State::kNew);
  std::vector<std::size_t> order;
  std::vector<std::string> path;
  const auto visit = [&](const auto& self, std::size_t at) -> void {
    const NamedNode& node = nodes[at];
    path.push_back(node.node.name);
    if (states[at] == State::kUnderWay) {
      std::string circle;
      const auto begin = std::find(path.begin(), path.end(), node.node.name);
      for (auto each = begin; each != path.end(); ++each) {
        circle += (circle.empty() ? "" : " > ") + *each;
      }
      throw BadTopologyLine(node.section->line, circle + ": a circle has no end");
    }
    if (states[at] == State::kNew) {
      states[at] = State::kUnderWay;
      // The last first, because the order is turned round.
      for (auto group = node.calls.rbegin(); group != node.calls.rend(); ++group) {
        for (auto call = group->rbegin(); call != group->rend(); ++call) {
          const auto found = number.find(call->to);
          if (found == number.end()) {
            std::vector<std::string_view> known;
            for (const auto& each : number) known.push_back(each.first);
            throw BadTopologyLine(node.section->line, node.node.name +
                                                          " calls a service without a section: " +
                                                          unknown_name(call->to, known));
          }
          self(self, found->second);
        }
      }
      states[at] = State::kDone;
      order.push_back(at);
    }
    path.pop_back();
  };
  visit(visit, 0);
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    if (states[i] == State::kDone) continue;
    throw BadTopologyLine(nodes[i].section->line,
                          "nobody calls " + nodes[i].node.name + ". The clients call " +
                              nodes.front().node.name + ", the first section");
  }
  std::reverse(order.begin(), order.end());
  return order;
}

}  // namespace

TopologyFile::TopologyFile(std::string path, std::string_view text) : path_(std::move(path)) {
  const auto parse = [&] {
    std::size_t number = 0;
    for (const std::string_view each : split(text, '\n')) {
      ++number;
      const std::string_view line = trimmed(each);
      if (line.empty() || line.front() == '#' || line.front() == ';') continue;
      if (line.front() == '[') {
        check_at(number,
                 [&] { sections_.push_back(parse_section(trimmed(value_of(line)), number)); });
        continue;
      }
      const std::size_t equals = line.find('=');
      if (equals == line.npos) {
        throw BadTopologyLine(number, in_quotes(line) + " is neither [NAME] nor NAME = VALUE");
      }
      if (sections_.empty()) {
        throw BadTopologyLine(number, "a section such as [api] is expected first");
      }
      sections_.back().settings.push_back(
          {.number = number,
           .name = with_dashes(trimmed(line.substr(0, equals))),
           .value = std::string(value_of(trimmed(line.substr(equals + 1))))});
    }
    if (sections_.empty()) refuse("it has no section such as [api]");
    std::set<std::string> names;
    for (const TopologySection& each : sections_) {
      if (!names.insert(full_name(each)).second) {
        throw BadTopologyLine(each.line, '[' + full_name(each) + "] is there already");
      }
    }
  };
  const std::string begin = path_.empty() ? "" : path_ + ": ";
  try {
    parse();
    // Finds errors in the settings before anything else is looked at.
    topology({}, {}, {});
  } catch (const BadTopologyLine& error) {
    throw BadTopologyLine(error.line, error.why, error.option, begin);
  } catch (const std::invalid_argument& error) {
    refuse(begin + error.what());
  }
}

TopologyFile TopologyFile::read(const std::string& path) {
  return {path, read_foreign_file(path, kLongestFile, "--topology: ")};
}

std::set<std::string> TopologyFile::set_in(std::string_view section) const {
  GraphNode node;
  GraphEdge edge;
  NamedPlan calls;
  OptionList list, of_callers;
  declare_node_options(list, node, calls);
  declare_clients_options(of_callers, edge);
  list.add_all(of_callers, [](const Option&) { return true; });
  std::set<std::string> names;
  for (const TopologySection& each : sections_) {
    if (full_name(each) != section) continue;
    for (const TopologyLine& line : each.settings) {
      if (const Option* option = list.find(line.name)) names.insert(option->name);
    }
  }
  for (const Option& each : list.all()) {
    if (each.same_as.empty()) continue;
    if (names.contains(each.same_as)) names.insert(each.name);
    if (names.contains(each.name)) names.insert(each.same_as);
  }
  return names;
}

std::vector<std::string> TopologyFile::services() const {
  std::vector<std::string> names;
  for (const TopologySection& each : sections_) {
    if (each.to.empty()) names.push_back(each.name);
  }
  return names;
}

std::set<std::string> TopologyFile::set_in_all_services() const {
  const std::vector<std::string> all = services();
  std::set<std::string> names = set_in(all.front());
  for (const std::string& service : all) {
    const std::set<std::string> set = set_in(service);
    std::erase_if(names, [&set](const std::string& name) { return !set.contains(name); });
  }
  return names;
}

namespace {
void refuse_more(std::size_t count, std::size_t most, const std::string& what) {
  if (count <= most) return;
  refuse("at most " + std::to_string(most) + ' ' + what + " are possible");
}
}  // namespace

Topology TopologyFile::topology(const GraphNode& node, const GraphEdge& edge,
                                const GraphEdge& clients) const {
  Topology topology;
  std::vector<NamedNode> nodes;
  std::map<std::string_view, std::size_t> number;
  std::map<std::string, const TopologySection*> edges;
  for (const TopologySection& each : sections_) {
    if (each.name == kClients) {
      topology.edges.push_back(read_clients(each, clients));
      refuse_more(topology.edges.size(), Topology::kMostKinds, "kinds of clients");
      continue;
    }
    if (!each.to.empty()) {
      edges.emplace(full_name(each), &each);
      continue;
    }
    number.emplace(each.name, nodes.size());
    nodes.push_back(read_node(each, node));
    refuse_more(nodes.size(), Topology::kMostNodes, "services");
  }
  if (nodes.empty()) refuse("it has no service, only calls");
  const std::vector<std::size_t> order = in_order(nodes, number);
  std::vector<std::size_t> place(nodes.size());
  for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = i;

  if (topology.edges.empty()) topology.edges.push_back(clients);
  for (const std::size_t at : order) {
    NamedNode& named = nodes[at];
    const std::size_t from = topology.nodes.size();
    std::map<std::string, std::size_t> known;  // edges of this service
    for (const auto& group : named.calls) {
      std::vector<PlannedCall>& calls = named.node.calls.emplace_back();
      for (const NamedCall& each : group) {
        const auto [found, is_new] = known.emplace(each.to, topology.edges.size());
        if (is_new) {
          GraphEdge made = edge;
          const auto said = edges.find(named.node.name + '.' + each.to);
          if (said != edges.end()) made = read_edge(*said->second, made);
          if (said != edges.end()) edges.erase(said);
          made.from = from;
          made.to = place[number.at(each.to)];
          topology.edges.push_back(std::move(made));
        }
        calls.push_back(each.call);
        calls.back().to = found->second;
      }
    }
    topology.nodes.push_back(std::move(named.node));
  }
  if (!edges.empty()) {
    const TopologySection& left = *edges.begin()->second;
    throw BadTopologyLine(left.line, left.name + " does not call " + left.to +
                                         ": its line calls = ... does not name it");
  }
  return topology;
}

}  // namespace retrystorm
