#include "explorer/engine/describe.h"

#include <algorithm>
#include <set>
#include <stdexcept>
#include <utility>
#include <vector>

#include "model/base/text.h"
#include "model/run/disturbance.h"

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
  Bound bound;
  NamedOptions good = given;
  Json errors = Json::object();
  apply_options(bound.list, given, [&](const std::string& name, const char* why) {
    errors[name] = why;
    good.erase(name);
  });
  UnusedOptions unused;
  find_unused(unused, bound.scenario);

  Json values = Json::object(), defaults = Json::object();
  std::vector<std::pair<std::string, std::string>> meant;
  for (const Option& option : bound.list.all()) {
    const std::string value = option.get();
    values[option.name] = value;
    if (!good.contains(option.name)) continue;
    Bound without;
    NamedOptions others = good;
    others.erase(option.name);
    apply_options(without.list, others, [](const std::string&, const char*) {});
    const std::string default_value = without.list.find(option.name)->get();
    defaults[option.name] = default_value;
    if (value == default_value || unused.contains(option.name)) continue;
    // A choice that sets other options, too, as --connections=library does, is not what it is read as.
    const std::string& text = good.at(option.name);
    const bool is_choice =
        std::find(option.choices.begin(), option.choices.end(), text) != option.choices.end();
    meant.emplace_back(option.name, is_choice ? text : value);
  }
  // Errors of the scenario as a whole, which no single option causes.
  try {
    refuse_graph(bound.scenario);
    make_scenario(bound.scenario, seed);
  } catch (const std::exception& error) {
    errors[""] = error.what();
  }
  std::string command = "build/bin/simulate";
  for (const auto& [name, value] : meant) command += word(name, value);
  command += " --seed=" + std::to_string(seed);
  return {{"values", std::move(values)},
          {"defaults", std::move(defaults)},
          {"unused", unused},
          {"errors", std::move(errors)},
          {"command", command},
          {"real", real_commands(meant, bound.scenario, seed)}};
}

}  // namespace retrystorm
