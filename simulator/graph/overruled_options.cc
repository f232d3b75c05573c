
#include <map>
#include <set>
#include <string>

#include "model/graph/topology.h"
#include "simulator/graph/topology_options.h"

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

// "[api] sets it", "[api] and [db] set it", "each of the 9 services sets it"
std::string set_by(const std::vector<std::string>& services) {
  constexpr std::size_t kFew = 6;
  const std::size_t count = services.size();
  if (count > kFew) return "each of the " + std::to_string(count) + " services sets it";
  std::string text;
  for (const std::string& each : services) {
    const bool is_last = &each == &services.back();
    text += (text.empty() ? "[" : is_last ? " and [" : ", [") + each + ']';
  }
  return text + (count == 1 ? " sets it" : " set it");
}

// The options of a caller that have no effect on it, whoever sets them.
UnusedOptions unused_by(const WorkloadOptions& caller, const std::vector<std::string>& named) {
  UnusedOptions unused = unused_of_part(caller, named);
  if (caller.arrivals != Arrivals::kOpen) return unused;
  if (!caller.plan.periodic()) {
    unused.emplace("clients", "clients has no effect with --arrivals=open");
  }
  if (caller.retry.backoff.from != BackoffFrom::kThinkTime) {
    unused.emplace("lambda", "lambda has no effect with --arrivals=open");
  }
  return unused;
}

std::set<std::string> given_in(WorkloadOptions asked, const std::vector<std::string>& named) {
  WorkloadOptions defaults;
  OptionList in_force, usual;
  declare_options(in_force, asked);
  declare_options(usual, defaults);
  return given_among(in_force, usual, named);
}

// The given options that do nothing for a caller without retries and hedges.
std::set<std::string> given_of_retries(const WorkloadOptions& asked,
                                       const std::vector<std::string>& named) {
  const RetrySettings& retry = asked.retry;
  RetrySettings any;
  OptionList list;
  declare_options(list, any.hedge);
  std::set<std::string> names{"max-retries", "max-attempts"};
  // A gate may make a request back off that it refuses, and a strategy may have gates.
  if (!retry.process.has_gates() && !retry.pacer.on) {
    names.insert({"retry-on"});
    declare_options(list, any.backoff);
    declare_options(list, any.hint);
    declare_options(list, any.process.budget);
  }
  for (const Option& each : list.all()) names.insert(each.name);
  std::set<std::string> given = given_in(asked, named);
  std::erase_if(given, [&names](const std::string& each) { return !names.contains(each); });
  return given;
}

}  // namespace

void find_unused(UnusedOptions& unused, const WorkloadOptions& asked,
                 const std::vector<std::string>& named, const Topology& topology,
                 const TopologyFile& file, const std::string& retry_at,
                 const std::function<bool(const GraphEdge& edge)>& retries) {
  std::set<std::string> without_effect = given_of_retries(asked, named);
  bool some = false;
  for (const GraphEdge& edge : topology.edges) {
    if (!retries(edge)) continue;
    some = true;
    const std::set<std::string> set = overruled(file, topology, edge);
    std::erase_if(without_effect, [&set](const auto& each) { return !set.contains(each); });
  }
  WorkloadOptions any;
  OptionList list;
  declare_options(list, any);
  for (const std::string& each : without_effect) {
    const std::string why = forms_of(each, list) + " has no effect with --retry-at=" + retry_at;
    unused.emplace(each, why + (some ? ": the sections of the callers that retry set it" : ""));
  }
}

void find_unused(UnusedOptions& unused, const GraphNode& asked,
                 const std::vector<std::string>& named, const TopologyFile& file) {
  const std::vector<std::string> services = file.services();
  const std::set<std::string> set_in_all = file.set_in_all_services();
  if (set_in_all.empty()) return;
  GraphNode given = asked, usual;
  NamedPlan calls;
  OptionList list, defaults;
  declare_node_options(list, given, calls);
  declare_node_options(defaults, usual, calls);
  const std::set<std::string> all = given_among(list, defaults, named);
  for (const std::string& name : set_in_all) {
    if (!all.contains(list.find(name)->name)) continue;
    unused.emplace(name, name + " has no effect: in " + file.path() + ' ' + set_by(services));
  }
}

void find_unused(UnusedOptions& unused, const WorkloadOptions& asked,
                 const std::vector<std::string>& named, const Topology& topology,
                 const TopologyFile& file) {
  // By name: whether some section sets it, and why the others do not use it.
  struct Why {
    bool set = false;
    std::string sentence{};
  };
  std::map<std::string, Why> without_effect;
  for (const std::string& each : given_in(asked, named)) without_effect.emplace(each, Why());
  for (const GraphEdge& edge : topology.edges) {
    if (without_effect.empty()) return;
    const std::set<std::string> set = overruled(file, topology, edge);
    const UnusedOptions here = unused_by(edge.caller, named);
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
    unused.emplace(name, !why.set ? why.sentence
                                  : forms_of(name, list) + " has no effect: each [clients.*] of " +
                                        file.path() + " sets it" +
                                        (why.sentence.empty() ? "" : " or does not use it"));
  }
}

}  // namespace retrystorm
