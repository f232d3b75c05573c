// The server from its options to its end.
#pragma once

#include "common/cli/program.h"
#include "server/options.h"

namespace retrystorm {

// Serves until a signal ends it. Returns the exit code; throws std::runtime_error with a sentence
// for a person when it cannot start or go on.
int serve(const Invocation& invocation, const ServerOptions& asked);

}  // namespace retrystorm
