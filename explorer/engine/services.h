// Services behind services as the page gives them: options by name, "api.workers" of a service and "api.db.timeout" of
// the calls of one to another.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "model/graph/topology.h"
#include "study/named_options.h"

namespace retrystorm {

// Options of which some may be of services ("clients.app.rate" is of a kind of clients). Their services are those of `chain`, those that have options, and those that
// another one calls. The clients call the one that nobody else calls.
struct ServicesSetting {
  NamedOptions plain{};           // without `chain`, if there is a `file`
  std::string file{};             // what --topology reads. Empty: no service has options of its own
  std::vector<std::string> of{};  // for each line of the file, the option that it is from

  // Throws std::invalid_argument, whose message begins with the option's name and a colon, if one cannot be in a file.
  explicit ServicesSetting(const NamedOptions& given);

  // Reads the file. Throws std::invalid_argument with the option's name, as above, and `plain` as it is.
  TopologyFile topology() const;
};

// The scenario with these options. Throws as `scenario_of` does in study/named_options.h.
ScenarioOptions scenario_of_page(const NamedOptions& given);

// The options of all services, and of all calls but those of the clients, by their full names.
std::map<std::string, std::string> service_values(const Topology& topology);

// {"nodes": [name, ...], "edges": [[from, to], ...], "kinds": [name, ...]}: the edges are without the clients, and the kinds
// are theirs if there are several.
nlohmann::ordered_json services_json(const Topology& topology);

}  // namespace retrystorm
