#include "simulator/graph/overruled_options.h"

#include <map>
#include <set>
#include <string>

#include "model/graph/graph_options.h"

namespace retrystorm {
namespace {

// The options whose value on the command line does not reach those who call by this edge. A strategy in their
// section sets all of its options.
std::set<std::string> overruled(const TopologyFile& file, const Topology& topology,
                                const GraphEdge& edge) {
  const bool clients = edge.from == GraphEdge::kClients;
  const std::string caller = clients ? "clients" : topology.nodes[edge.from].name;
  const std::string called = clients ? edge.clients : topology.nodes[edge.to].name;
  std::set<std::string> names = file.set_in(caller + '.' + called);
  WorkloadOptions any;
  OptionList all, of_strategy;
  declare_options(all, any);
  declare_options(of_strategy, any.retry);
  if (names.contains("strategy")) {
    for (const Option& each : of_strategy.all()) names.insert(each.name);
  }
  if (!clients) {
    GraphEdge some;
    OptionList taken;
    declare_edge_options(taken, some);
    for (const Option& each : all.all()) {
      if (taken.find(each.name) == nullptr) names.insert(each.name);
    }
    names.insert("processes");  // each service is one
  }
  return names;
}

}  // namespace

void find_unused(UnusedOptions& unused, const WorkloadOptions& asked, const Topology& topology,
                 const TopologyFile& file) {
  // By name: whether some section sets it, and why the others do not use it.
  struct Why {
    bool set = false;
    std::string sentence{};
  };
  std::map<std::string, Why> without_effect;
  UnusedOptions given;
  find_unused<WorkloadOptions>(given, asked, WorkloadOptions(), "");
  for (const auto& each : given) without_effect.emplace(each.first, Why());
  for (const GraphEdge& edge : topology.edges) {
    if (without_effect.empty()) return;
    const std::set<std::string> set = overruled(file, topology, edge);
    const UnusedOptions here = unused_options(edge.caller);
    const bool clients = edge.from == GraphEdge::kClients;
    for (auto each = without_effect.begin(); each != without_effect.end();) {
      auto& [name, why] = *each;
      const bool is_set = set.contains(name);
      const auto found = here.find(name);
      if (!is_set && found == here.end()) {
        each = without_effect.erase(each);
        continue;
      }
      why.set |= is_set && clients;
      if (!is_set && why.sentence.empty()) why.sentence = found->second;
      ++each;
    }
  }
  WorkloadOptions any;
  OptionList list;
  declare_options(list, any);
  for (const auto& [name, why] : without_effect) {
    // Both forms of an option have the same sentence.
    std::string forms = name;
    for (const Option& each : list.all()) {
      if (each.name == name && !each.same_as.empty()) forms = each.same_as + " (" + name + ')';
      if (each.same_as == name) forms = name + " (" + each.name + ')';
    }
    unused.emplace(name, !why.set ? why.sentence
                                  : forms + " has no effect: each [clients.*] of " + file.path() +
                                        " sets it" +
                                        (why.sentence.empty() ? "" : " or does not use it"));
  }
}

}  // namespace retrystorm
