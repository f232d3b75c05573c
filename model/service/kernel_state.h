// What a server's kernel holds that the server has not read.
#pragma once

#include <cstddef>
#include <cstdint>

namespace retrystorm {

struct KernelState {
  std::size_t accept_queue = 0;  // connections that are not accepted
  std::size_t unread = 0;        // attempts on accepted connections; only an engine that sees them
  std::uint64_t no_room = 0;     // SYNs dropped since the start, because the accept queue was full
};

}  // namespace retrystorm
