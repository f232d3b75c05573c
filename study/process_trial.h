// Does the result depend on the number of processes? A retry budget is in each of them, so more processes have more
// tokens, and fewer requests each. And they share the connections that they keep.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "simulator/scenario_options.h"
#include "study/named_options.h"

namespace retrystorm {

// With so many processes. Nothing if the number was given, or there are too few clients for them.
std::optional<ScenarioOptions> with_processes(const ScenarioOptions& options,
                                              const NamedOptions& given, std::size_t count);

// The options with four times the processes, and with a quarter of them. Empty if no budget is in each, or the number
// is among the options `given`; without those for which there are too few clients or processes.
std::vector<ScenarioOptions> with_other_processes(const ScenarioOptions& options,
                                                  const NamedOptions& given);

// With a process and a kept connection for each client, or open arrivals from 100 processes. Nothing where none are
// kept, or it was said who shares them.
std::optional<ScenarioOptions> with_own_connections(const ScenarioOptions& options,
                                                    const NamedOptions& given);

}  // namespace retrystorm
