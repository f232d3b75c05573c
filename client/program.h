// The clients from their options to their end.
#pragma once

#include "client/options.h"
#include "common/cli/program.h"

namespace retrystorm {

// Runs the experiment, or prints a schedule, with options that were checked. Returns the exit code;
// throws std::runtime_error with a sentence for a person when it cannot start.
int run_clients(const Invocation& invocation, const ClientOptions& options);

}  // namespace retrystorm
