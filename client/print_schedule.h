// The waits of a strategy, computed without a run: what `--print-schedule` prints.
#pragma once

#include <cstdint>
#include <ostream>

#include "client/options.h"

namespace retrystorm {

// Prints `attempt,delay_seconds` for a client whose attempts all fail. If waits are random, also
// prints `p5,p50,p95`: quantiles of that wait over a thousand more clients. With the two schedule
// options, prints `attempt,delay_seconds,outcome`, where each wait follows from the outcome before
// it. Ends early if the request is given up, and says so in `notes`.
void print_schedule(std::ostream& out, std::ostream& notes, const ClientOptions& options,
                    std::uint64_t seed);

}  // namespace retrystorm
