// The waits of a strategy on paper: what `--print-schedule` prints.
#pragma once

#include <cstdint>
#include <ostream>

#include "client/options.h"

namespace retrystorm {

// Prints `attempt,delay_seconds` for a client whose attempts all fail, and where waits are random
// `p5,p50,p95` besides: quantiles of that wait over a thousand more clients. With the two schedule
// options `attempt,delay_seconds,outcome`, where each wait follows from the outcome before it.
// Ends early when the request is given up.
void print_schedule(std::ostream& out, const ClientOptions& options, std::uint64_t seed);

}  // namespace retrystorm
