// Runs the server with its parsed options.
#pragma once

#include "common/cli/program.h"
#include "server/options.h"

namespace retrystorm {

// Throws std::invalid_argument if options contradict each other.
void check_command_line(const Invocation& invocation, const ServerOptions& options);

// Serves requests until a signal ends the program. Returns the exit code. Throws std::runtime_error
// with a readable message if it cannot start or continue.
int serve(const Invocation& invocation, const ServerOptions& asked);

}  // namespace retrystorm
