
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "explorer/engine/engine.h"
#include "model/base/text.h"
#include "model/graph/topology.h"
#include "model/retry/strategies.h"
#include "model/run/disturbance.h"
#include "simulator/scenario_options.h"
#include "simulator/simulation.h"
#include "study/named_options.h"

namespace retrystorm {
namespace {

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

// A scenario and the list of options that set it.
struct Bound {
  ScenarioOptions scenario;
  OptionList list;

  Bound() { declare_options(list, scenario); }
  Bound(const Bound&) = delete;
  Bound& operator=(const Bound&) = delete;

  // Sets the options that can be set. `refused` gets the names of the others, and the reasons. Those of services are set
  // all or none.
  void set(const NamedOptions& given,
           const std::function<void(const std::string& name, const char* why)>& refused) {
    try {
      const ServicesSetting setting(given);
      apply_options(list, setting.plain, refused);
      if (!setting.file.empty()) scenario.graph.topology = setting.topology();
    } catch (const std::invalid_argument& error) {
      const std::string_view what = error.what();
      refused(std::string(what.substr(0, what.find(':'))), error.what());
    }
  }
  void set(const NamedOptions& given) {
    set(given, [](const std::string&, const char*) {});
  }

  std::optional<Topology> topology() const {
    if (!scenario.graph.on()) return std::nullopt;
    try {
      return topology_of(scenario);
    } catch (const std::invalid_argument&) {
      return std::nullopt;  // the same error is reported when the scenario is made
    }
  }

  std::map<std::string, std::string> values() const {
    std::map<std::string, std::string> values;
    if (const auto services = topology()) values = service_values(*services);
    for (const Option& option : list.all()) {
      if (option.name != "topology") values[option.name] = option.get();  // it has no file
    }
    return values;
  }
};

std::string word(const std::string& name, const std::string& value) {
  std::string option = "--";
  option.append(name).append("=").append(value);
  return std::string(" ").append(shell_word(option));
}

std::set<std::string> known(const OptionList& list) {
  std::set<std::string> names;
  for (const Option& option : list.all()) {
    names.insert(option.name);
    names.insert(option.second_names.begin(), option.second_names.end());
  }
  return names;
}

// The commands of the same run with the real programs.
Json real_commands(const std::vector<std::pair<std::string, std::string>>& meant,
                   const ScenarioOptions& scenario, std::uint64_t seed) {
  ServiceOptions service;
  WorkloadOptions workload;
  TimelineOptions timeline;
  OptionList of_server, of_client;
  declare_options(of_server, service, Engine::kReal);
  declare_options(of_client, workload);
  declare_options(of_client, timeline, Engine::kReal);
  const auto server_names = known(of_server), client_names = known(of_client);
  // Options of the client that are not in its lists.
  const std::set<std::string> of_outage{"outage-at", "outage-for", "observe"};

  std::string server = "build/bin/server", client = "build/bin/client";
  Json without = Json::array();
  for (const auto& [name, value] : meant) {
    if (server_names.contains(name)) {
      server += word(name, value);
    } else if (client_names.contains(name)) {
      client += word(name, value);
    } else if (!of_outage.contains(name)) {
      without.push_back(name);
    }
  }
  const bool has_outage = scenario.own_outage_length() > Duration::zero();
  const bool ordered = !scenario.timeline.at.empty() || !scenario.timeline.capacity.empty() ||
                       (has_outage && is_of_service(scenario.timeline.outage));
  if (ordered) {
    server += " --admin-token-file=token";
    client += " --admin-token-file=token";
  }
  client += " --seed=" + std::to_string(seed);
  const bool job = scenario.workload.arrivals == Arrivals::kJob;
  if (has_outage) {
    client += " --outage-at=" + format_duration(scenario.outage_at) +
              " --outage-for=" + format_duration(scenario.own_outage_length());
    if (scenario.timeline.outage.kind == Disturbance::Kind::kFreeze) client += " --server-pid=$!";
  }
  if (!job) {
    client += " --duration=" + format_duration(saturating_add(
                                   scenario.outage_at,
                                   saturating_add(scenario.own_outage_length(), scenario.observe)));
  }
  return {{"lines",
           {"cmake --preset release && cmake --build --preset release",
            server + " >server.log & sleep 1", client + "; kill $!"}},
          {"without", std::move(without)}};
}

}  // namespace

Json catalogue() {
  ScenarioOptions scenario;
  OptionList list;
  declare_options(list, scenario);
  WorkloadOptions workload;
  ServiceOptions service;
  const auto of_clients = names_of([&](OptionList& some) { declare_options(some, workload); });
  HostSettings hosts;
  const auto of_service = names_of([&](OptionList& some) {
    declare_options(some, service, Engine::kSimulated);
    declare_options(some, hosts);
  });
  GraphOptions graph;
  const auto of_graph = names_of([&](OptionList& some) { declare_options(some, graph); });
  Json options = Json::array();
  std::map<std::string, std::string> known;  // helps, by name
  for (const Option& option : list.all()) {
    known[option.name] = option.help;
    // The page sets the seeds itself, and has no files: see `ServicesSetting`.
    if (option.name == "seed" || option.name == "topology") continue;
    Json json = option_json(option);
    json["part"] = of_graph.contains(option.name)     ? "services"
                   : of_clients.contains(option.name) ? "clients"
                   : of_service.contains(option.name) && option.name != "outage-replicas"
                       ? "service"
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

NamedOptions read_given(const Json& json) {
  if (!json.is_object()) refuse("options are {NAME: TEXT}");
  NamedOptions given;
  for (const auto& [name, text] : json.items()) {
    if (!text.is_string()) refuse(name + " is no text");
    given.emplace(name, text.get<std::string>());
  }
  return given;
}

Json describe(const NamedOptions& given, std::uint64_t seed) {
  NamedOptions good = given;
  Json errors = Json::object();
  // An error of one service's option hides those of others.
  while (true) {
    const std::size_t before = good.size();
    bool of_services = false;
    Bound().set(NamedOptions(good), [&](const std::string& name, const char* why) {
      of_services |= name.find('.') != name.npos || name == "chain";
      errors[good.erase(name) > 0 ? name : ""] = why;
    });
    if (!of_services || good.size() == before) break;
  }
  Bound bound;
  bound.set(good);
  const auto services = bound.topology();
  const UnusedOptions unused = unused_options(bound.scenario);

  const auto values = bound.values();
  Json defaults = Json::object();
  std::vector<std::pair<std::string, std::string>> meant;
  // Returns whether anything would be different without it: a default may imply another option, too.
  const auto add_default = [&](const std::string& name) {
    NamedOptions others = good;
    others.erase(name);
    Bound without;
    without.set(others);
    const auto all = without.values();
    const auto found = all.find(name);
    defaults[name] = found == all.end() ? "" : found->second;
    return all != values;
  };
  for (const auto& [name, text] : good) {
    if (name.find('.') != name.npos) add_default(name);
  }
  const ServicesSetting setting(good);
  for (const Option& option : bound.list.all()) {
    if (!good.contains(option.name)) continue;
    const bool matters = add_default(option.name);
    const std::string& value = values.at(option.name);
    if (!setting.plain.contains(option.name)) continue;  // the file has it
    if (!matters || unused.contains(option.name)) continue;
    // A choice that sets other options, too, as --connections=library does, is not what it is read as.
    const std::string& text = good.at(option.name);
    const bool is_choice =
        std::find(option.choices.begin(), option.choices.end(), text) != option.choices.end();
    meant.emplace_back(option.name, is_choice ? text : value);
  }
  // Errors of the scenario as a whole, which no single option causes.
  std::string retries;
  try {
    retries = callers_title(make_scenario(bound.scenario, seed));
  } catch (const std::exception& error) {
    errors[""] = error.what();
  }
  std::string command = "build/bin/simulate";
  if (!setting.file.empty()) {
    command = "cat >services.ini <<'END'\n" + setting.file + "END\n" + command +
              " --topology=services.ini";
  }
  for (const auto& [name, value] : meant) command += word(name, value);
  command += " --seed=" + std::to_string(seed);
  Json real = services ? Json() : real_commands(meant, bound.scenario, seed);
  return {{"values", values},
          {"defaults", std::move(defaults)},
          {"unused", unused},
          {"errors", std::move(errors)},
          {"command", command},
          {"retries", retries},
          {"services", services ? services_json(*services) : Json()},
          {"real", std::move(real)}};
}

}  // namespace retrystorm
