// What of the kernel at hand a run depends on.
#pragma once

#include <cstddef>

namespace retrystorm {

// How often it repeats a dropped SYN at a steady pace before it slows down (the sysctl
// tcp_syn_linear_timeouts of Linux 6.5 and later); 0 where there is no such thing.
std::size_t syn_linear_timeouts();

}  // namespace retrystorm
