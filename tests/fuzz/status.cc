// The server's status, which may come from anything that listens on the port: either nothing, or numbers
// that JSON can hold.
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "client/server_status.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto status = retrystorm::parse_server_status({reinterpret_cast<const char*>(data), size});
  if (status && !(std::isfinite(status->concurrency) && std::isfinite(status->last_delay_s))) {
    std::abort();
  }
  if (status && status->workers) {
    const auto& [workers, busy, waiting] = *status->workers;
    if (!(std::isfinite(workers) && std::isfinite(busy) && std::isfinite(waiting))) std::abort();
  }
  return 0;
}
