// `--most` and `--least` on a real service: one run after the other, with values of an option that rise, until the claims
// are broken (or hold); then a bisection between the last two. Stops by rules, before it hurts: see docs/measure.md.
#pragma once

#include <chrono>
#include <functional>
#include <ostream>

#include "client/options.h"
#include "common/exit_code.h"
#include "common/http/http_request.h"
#include "common/os/process.h"
#include "common/output/json_lines.h"
#include "common/output/json_text.h"
#include "model/run/run_observer.h"

namespace retrystorm {

constexpr Duration kRunOfSearch = std::chrono::seconds(20);  // without --duration

struct LoadSearchPlan {
  const ClientOptions& options;
  const HttpRequest& request;
  const Json& values;  // of the options, as the first line of a run has them
  JsonLines& json;
  EndSignals& signals;
  // Makes a run. `out` gets its lines. Ends it as soon as `ends_early` says so, or a signal comes.
  std::function<void(const ClientOptions& with, const Json& values, std::ostream& out,
                     RunObserver& judge, const std::function<bool()>& ends_early)>
      run;
};

// Prints a line for each run, and the answer. Throws std::invalid_argument without the consent that --i-may-load is, and
// std::runtime_error if the service does not answer.
// Returns kExitFault if a rule or a signal stopped the search: then there is no answer.
ExitCode search_load(const LoadSearchPlan& plan);

}  // namespace retrystorm
