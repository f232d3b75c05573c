// Settings of the running kernel that affect a run.
#pragma once

#include <cstddef>

namespace retrystorm {

// The number of times the kernel resends a dropped SYN at a constant interval before it backs off
// (the sysctl tcp_syn_linear_timeouts of Linux 6.5 and later). 0 on kernels without this setting.
std::size_t syn_linear_timeouts();

}  // namespace retrystorm
