// The explorer's engine: answers questions in JSON with simulations.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/output/json_text.h"
#include "model/graph/topology.h"
#include "study/cell_result.h"
#include "study/named_options.h"

namespace retrystorm {

// Answers {"ask": WHAT, ...}, or returns {"error": SENTENCE}. Throws nothing. `given`: options by
// name, of a service "api.workers". `seed` and `seeds`: whole numbers, or their texts.
//
//   catalogue                      the options and the named strategies
//   describe   given seed          what is known without a run
//   run        given seed          one run: {"client": [...], "server": [...]}, the objects of its
//                                  JSON Lines, an interval a second (longer for a long run),
//                                  and {"events", "peak_concurrency", "interval_s", "result"}, and
//                                  {"outlook": {"line": text, "lines": [[label, figure], ...], "figures": {...}}}:
//                                  the outlook, computed before the run, and {"places": {"t": [...],
//                                  "services": [{name: [...]}, ...]}}: where the attempts of each service's
//                                  callers lie at these times (see simulator/server_node.h), also while
//                                  it is frozen. {"graph"}: services behind services, their windows and
//                                  which of them died; null if there is one. {"hosts": {"all": N, "each": N, "t": [...],
//                                  "boxes": [[[state, out, busy, workers, inside, attempts, failed], ...], ...]}}:
//                                  at the end of each interval, of so many hosts beside each other, so that the boxes
//                                  are not too many, the worst one's state (see model/run/host_report.h), the share
//                                  of their pickers that have ejected them, and sums; null if there is one host
//   lines      given seed          the same as the text that `simulate` writes to --json (without
//                                  the first line) and to --server-json:
//                                  {"client": "...", "server": "..."}
//   batch      given seeds interval_s
//                                  many runs: {"results": [...]}, one for each seed; with
//                                  `interval_s` also {"t": [...], "series": {name: [[...], ...]}}
//   summarize  results against     a summary of results: {"cell": {...}} as a row of a sweep;
//                                  with `against` (results of the same seeds, in the same order)
//                                  {"difference": {name: {value, low, high}}}: results - against
//   trials     given seed results runs
//                                  what the answer of these results may hang on, with so many runs of each trial (see
//                                  study/trials.h): {"any": is there anything to try?, "hangs": has a trial another
//                                  answer?, "lines": [text, ...], as `simulate` prints them}
//   share      hits runs           the 95 % interval of a share: {"low", "high"}
//   waits      given seed clients attempts
//                                  the waits of clients whose attempts all fail, in seconds:
//                                  {"clients": [{"waits": [...], "gave_up": false}, ...]}
//
// Gives up a question that takes longer than `patience_s` (10 s).
std::string answer(std::string_view question);

// Services behind services as the page gives them: options by name, "api.workers" of a service and "api.db.timeout" of
// the calls of one to another.

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
Json services_json(const Topology& topology);

// Returns {"options": [...], "strategies": [...]}, and of services behind services {"node": [names of the options of
// each service], "edge": [those of its calls of another], "of_one_service": [those of a service that are not as in "options"]}.
Json catalogue();

// Reads {"name": "text", ...}. Throws std::invalid_argument if it is anything else.
NamedOptions read_given(const Json& json);

// Returns {"values": {name: text in force}, "defaults": {name: a given option's value without it},
//  "unused": {name: why it has no effect}, "errors": {name: sentence}, "command": "...",
//  "retries": their title, as `simulate` has it; empty if the scenario is refused,
//  "services": see services_json; null if there is one service,
//  "real": {"lines": [...], "without": [names of options that only the simulator has]}; null if there are several}.
// Options that are refused are not in force. `seed` is for the commands.
Json describe(const NamedOptions& given, std::uint64_t seed);

// Writes times in nanoseconds, so that `read_result` returns exactly the same result.
Json result_json(const RunResult& result);
// Throws nlohmann's exceptions if it is not a result.
RunResult read_result(const Json& json);

// A row of a sweep, without its options.
Json cell_json(const CellResult& cell);

// How `ours` differ from `theirs`, compared by seed: means of the differences with their 95 %
// intervals. For the share of runs that were down at the end, among the runs with a verdict, with
// Newcombe's interval. Null if there is nothing to compare. Throws std::invalid_argument if the
// numbers of runs differ.
Json difference_json(const std::vector<RunResult>& ours, const std::vector<RunResult>& theirs);

}  // namespace retrystorm
