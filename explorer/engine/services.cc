#include <algorithm>
#include <cstddef>
#include <set>
#include <stdexcept>
#include <utility>

#include "explorer/engine/engine.h"
#include "model/base/text.h"
#include "model/graph/topology.h"
#include "simulator/graph/topology_options.h"

namespace retrystorm {
namespace {

// A section of the file: values by option, each with the name of the option that it is from.
struct Value {
  std::string text, from;
};
using Section = std::map<std::string, Value, std::less<>>;

class Sections {
 public:
  // `from`: because of which option it is there.
  Section& section(const std::string& name, const std::string& from) {
    const auto [found, is_new] = sections_.emplace(name, Section());
    if (is_new) {
      order_.push_back(name);
      from_[name] = from;
    }
    return found->second;
  }

  void add_chain(const std::string& text) {
    const std::vector<ChainedService> chain = parse_chain(text);
    const auto value = [](std::string of) { return Value{.text = std::move(of), .from = "chain"}; };
    for (std::size_t i = 0; i < chain.size(); ++i) {
      Section& node = section(chain[i].name, "chain");
      node["workers"] = value(std::to_string(chain[i].workers));
      node["service-time"] = value(chain[i].service_time.text());
      if (i + 1 < chain.size()) node["calls"] = value(chain[i + 1].name);
      if (!chain[i].timeout) continue;
      section(chain[i - 1].name + '.' + chain[i].name, "chain")["timeout"] =
          value(format_duration(*chain[i].timeout));
    }
  }

  // The services that are called, and so are there, and the first one to the front: nobody calls it.
  void complete() {
    std::set<std::string> called;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const Section& caller = sections_.at(order_[i]);
      const auto calls = caller.find("calls");
      if (calls == caller.end()) continue;
      const Value value = calls->second;
      try {
        for (const auto& group : parse_calls(value.text)) {
          for (const NamedCall& each : group) {
            called.insert(each.to);
            section(each.to, value.from);
          }
        }
      } catch (const std::invalid_argument&) {
        // Said when the file is read.
      }
    }
    const auto is_first = [&called](const std::string& name) {
      return name.find('.') == name.npos && !called.contains(name);
    };
    const auto first = std::find_if(order_.begin(), order_.end(), is_first);
    if (first != order_.end()) std::rotate(order_.begin(), first, first + 1);
  }

  void write(std::string& file, std::vector<std::string>& of) const {
    const auto line = [&](const std::string& text, const std::string& from) {
      file += text + '\n';
      of.push_back(from);
    };
    for (const std::string& name : order_) {
      const Section& section = sections_.at(name);
      std::string head = "[";
      line(head.append(name).append("]"),
           section.empty() ? from_.at(name) : section.begin()->second.from);
      for (const auto& [option, value] : section) line(option + " = " + value.text, value.from);
    }
  }

 private:
  std::map<std::string, Section> sections_;
  std::vector<std::string> order_;
  std::map<std::string, std::string> from_;
};

// Throws std::invalid_argument if a file cannot have it: it would be read as something else.
void check_for_file(const std::string& name, const std::string& text) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-.";
  if (name.find_first_not_of(kLetters) != name.npos) {
    refuse("an option of a service has a name such as api.workers");
  }
  if (text.find_first_of("\n\r;#\"'") != text.npos || trimmed(text) != text) {
    refuse(name + ": " + in_quotes(text) + " is no value of an option");
  }
}

}  // namespace

ServicesSetting::ServicesSetting(const NamedOptions& given) {
  Sections sections;
  bool any = false;
  for (const auto& [name, text] : given) {
    const bool is_of_service = name.find('.') != name.npos;
    any |= is_of_service;
    if (!is_of_service) plain.emplace(name, text);
    if (is_of_service) check_for_file(name, text);
  }
  if (!any) return;
  if (const auto chain = plain.find("chain"); chain != plain.end()) {
    try {
      sections.add_chain(chain->second);
    } catch (const std::invalid_argument& error) {
      refuse(std::string("chain: ") + error.what());
    }
    plain.erase(chain);
  }
  for (const auto& [name, text] : given) {
    const std::size_t dot = name.rfind('.');
    if (dot != name.npos) {
      sections.section(name.substr(0, dot), name)[name.substr(dot + 1)] = {text, name};
    }
  }
  sections.complete();
  sections.write(file, of);
}

TopologyFile ServicesSetting::topology() const {
  if (file.empty()) return {};
  try {
    return {"", file};
  } catch (const BadTopologyLine& error) {
    refuse(of.at(error.line - 1) + ": " + error.why);
  } catch (const std::invalid_argument& error) {
    refuse(of.front() + ": " + error.what());
  }
}

ScenarioOptions scenario_of_page(const NamedOptions& given) {
  const ServicesSetting setting(given);
  ScenarioOptions scenario = scenario_of(setting.plain);
  if (!setting.file.empty()) scenario.graph.topology = setting.topology();
  return scenario;
}

std::map<std::string, std::string> service_values(const Topology& topology) {
  std::map<std::string, std::string> values;
  const auto add = [&values](const std::string& section, const OptionList& list) {
    for (const Option& each : list.all()) values[section + '.' + each.name] = each.get();
  };
  for (GraphNode node : topology.nodes) {
    OptionList list;
    NamedPlan calls;
    declare_node_options(list, node, calls);
    add(node.name, list);
    std::string text;
    for (const auto& group : node.calls) {
      text += text.empty() ? "" : ", ";
      std::string last;
      std::size_t alike = 0;
      const auto end_alike = [&] { text += alike > 1 ? '&' + std::to_string(alike) : ""; };
      for (const PlannedCall& call : group) {
        std::string next = topology.nodes[topology.edges[call.to].to].name;
        if (call.optional) next += '?';
        if (call.times > 1) next += '*' + std::to_string(call.times);
        if (call.share < 1) next += '@' + print_number(call.share);
        if (++alike > 1 && next == last) continue;
        if (!last.empty()) {
          --alike;
          end_alike();
          text += " & ";
        }
        text += next;
        last = std::move(next);
        alike = 1;
      }
      end_alike();
    }
    values[node.name + ".calls"] = text;
  }
  for (GraphEdge edge : topology.edges) {
    OptionList list;
    if (edge.from == GraphEdge::kClients) {
      if (edge.clients.empty()) continue;
      declare_clients_options(list, edge);
      add("clients." + edge.clients, list);
      continue;
    }
    declare_edge_options(list, edge);
    add(topology.nodes[edge.from].name + '.' + topology.nodes[edge.to].name, list);
  }
  return values;
}

Json services_json(const Topology& topology) {
  Json nodes = Json::array(), edges = Json::array(), kinds = Json::array();
  for (const GraphNode& each : topology.nodes) nodes.push_back(each.name);
  for (const GraphEdge& each : topology.edges) {
    if (each.from == GraphEdge::kClients) {
      if (!each.clients.empty()) kinds.push_back(each.clients);
      continue;
    }
    edges.push_back({topology.nodes[each.from].name, topology.nodes[each.to].name});
  }
  return {{"nodes", std::move(nodes)}, {"edges", std::move(edges)}, {"kinds", std::move(kinds)}};
}

}  // namespace retrystorm
