#include "explorer/engine/describe.h"

#include <algorithm>
#include <functional>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "explorer/engine/services.h"
#include "model/base/text.h"
#include "model/run/disturbance.h"
#include "simulator/simulation.h"

namespace retrystorm {
namespace {

using Json = nlohmann::ordered_json;

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
      return make_topology(scenario.graph, scenario.service, scenario.workload);
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
  const bool has_outage = scenario.outage_length() > Duration::zero();
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
              " --outage-for=" + format_duration(scenario.outage_length());
    if (scenario.timeline.outage.kind == Disturbance::Kind::kFreeze) client += " --server-pid=$!";
  }
  if (!job) {
    client += " --duration=" +
              format_duration(saturating_add(
                  scenario.outage_at, saturating_add(scenario.outage_length(), scenario.observe)));
  }
  return {{"lines",
           {"cmake --preset release && cmake --build --preset release",
            server + " >server.log & sleep 1", client + "; kill $!"}},
          {"without", std::move(without)}};
}

}  // namespace

NamedOptions read_given(const Json& json) {
  if (!json.is_object()) throw std::invalid_argument("options are {NAME: TEXT}");
  NamedOptions given;
  for (const auto& [name, text] : json.items()) {
    if (!text.is_string()) throw std::invalid_argument(name + " is no text");
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
  UnusedOptions unused;
  find_unused(unused, bound.scenario);

  const auto values = bound.values();
  Json defaults = Json::object();
  std::vector<std::pair<std::string, std::string>> meant;
  const auto add_default = [&](const std::string& name) {
    NamedOptions others = good;
    others.erase(name);
    Bound without;
    without.set(others);
    const auto all = without.values();
    const auto found = all.find(name);
    defaults[name] = found == all.end() ? "" : found->second;
  };
  for (const auto& [name, text] : good) {
    if (name.find('.') != name.npos) add_default(name);
  }
  const ServicesSetting setting(good);
  for (const Option& option : bound.list.all()) {
    if (!good.contains(option.name)) continue;
    add_default(option.name);
    const std::string& value = values.at(option.name);
    if (!setting.plain.contains(option.name)) continue;  // the file has it
    if (defaults[option.name] == Json(value) || unused.contains(option.name)) continue;
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
