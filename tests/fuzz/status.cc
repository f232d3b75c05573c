// The server's status, which may come from anything that listens on the port: either nothing, or numbers
// that JSON can hold.
#include <cmath>

#include "client/server_status.h"
#include "tests/fuzz/target.h"

void retrystorm::fuzz(std::string_view text) {
  const auto status = parse_server_status(std::string(text));
  if (status && !(std::isfinite(status->concurrency) && std::isfinite(status->last_delay_s))) {
    std::abort();
  }
  if (status && status->workers) {
    const auto& [workers, busy, waiting] = *status->workers;
    if (!(std::isfinite(workers) && std::isfinite(busy) && std::isfinite(waiting))) std::abort();
  }
}
