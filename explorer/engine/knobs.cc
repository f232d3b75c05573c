#include "explorer/engine/knobs.h"

#include <cmath>
#include <map>
#include <set>
#include <string>

#include "model/graph/topology.h"
#include "model/retry/strategies.h"
#include "simulator/scenario_options.h"
#include "study/domain.h"

namespace retrystorm {
namespace {

using Json = nlohmann::ordered_json;

std::string kind_name(Option::Kind kind) {
  switch (kind) {
    case Option::Kind::kDuration:
      return "duration";
    case Option::Kind::kNumber:
      return "number";
    case Option::Kind::kCount:
      return "count";
    case Option::Kind::kChoice:
      return "choice";
    case Option::Kind::kText:
      break;
  }
  return "text";
}

template <typename Options>
std::set<std::string> names_of(const Options& declare) {
  OptionList list;
  declare(list);
  std::set<std::string> names;
  for (const Option& option : list.all()) names.insert(option.name);
  return names;
}

Json option_json(const Option& option) {
  const std::string default_value = option.get();
  Json json{{"name", option.name}, {"kind", kind_name(option.kind)}, {"default", default_value}};
  json["group"] = option.group;
  json["help"] = option.help;
  json["basic"] = !option.basic.empty();
  if (!option.second_names.empty()) json["second_names"] = option.second_names;
  if (!option.choices.empty()) json["choices"] = option.choices;
  // It has too many names for a help text.
  if (option.name == "strategy") {
    json["kind"] = kind_name(Option::Kind::kChoice);
    for (const NamedStrategy& each : named_strategies()) json["choices"].push_back(each.name);
  }
  if (!option.examples.empty()) json["examples"] = option.examples;
  if (!option.unit.empty()) json["unit"] = option.unit;
  if (!option.same_as.empty()) json["same_as"] = option.same_as;
  if (is_measured(option)) {
    json["least"] = option.least;
    json["most"] = std::isinf(option.most) ? Json(nullptr) : Json(option.most);
    json["takes_none"] = option.takes_none;
    json["stops"] = domain(option, default_value);
  }
  return json;
}

}  // namespace

Json catalogue() {
  ScenarioOptions scenario;
  OptionList list;
  declare_options(list, scenario);
  WorkloadOptions workload;
  ServiceOptions service;
  const auto of_clients = names_of([&](OptionList& some) { declare_options(some, workload); });
  const auto of_service =
      names_of([&](OptionList& some) { declare_options(some, service, Engine::kSimulated); });
  GraphOptions graph;
  const auto of_graph = names_of([&](OptionList& some) { declare_options(some, graph); });
  Json options = Json::array();
  std::map<std::string, std::string> known;  // helps, by name
  for (const Option& option : list.all()) {
    known[option.name] = option.help;
    // The page sets the seeds itself, and has no files: see services.h.
    if (option.name == "seed" || option.name == "topology") continue;
    Json json = option_json(option);
    json["part"] = of_graph.contains(option.name)     ? "services"
                   : of_clients.contains(option.name) ? "clients"
                   : of_service.contains(option.name) ? "service"
                                                      : "outage";
    options.push_back(std::move(json));
  }
  // Of one service, and of its calls of another. Most are as above.
  GraphNode node;
  NamedPlan calls;
  GraphEdge edge;
  OptionList of_node, of_edge, of_kind;
  declare_node_options(of_node, node, calls);
  declare_edge_options(of_edge, edge);
  declare_clients_options(of_kind, edge);
  Json of_one = Json::array(), node_names = Json::array(), edge_names = Json::array(),
       kind_names = Json::array();
  for (const Option& option : of_node.all()) {
    node_names.push_back(option.name);
    if (known[option.name] != option.help) of_one.push_back(option_json(option));
  }
  for (const Option& option : of_edge.all()) edge_names.push_back(option.name);
  for (const Option& option : of_kind.all()) kind_names.push_back(option.name);
  Json strategies = Json::array();
  for (const NamedStrategy& each : named_strategies()) {
    strategies.push_back({{"name", each.name},
                          {"summary", each.summary},
                          {"source", each.source},
                          {"date", each.date}});
  }
  return {{"options", std::move(options)},       {"strategies", std::move(strategies)},
          {"of_one_service", std::move(of_one)}, {"node", std::move(node_names)},
          {"edge", std::move(edge_names)},       {"kind", std::move(kind_names)}};
}

}  // namespace retrystorm
