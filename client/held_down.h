// Why a service does not come back although its outage is over.
#pragma once

#include <cstddef>
#include <optional>

#include "client/server_status.h"
#include "model/base/duration.h"
#include "model/base/statement.h"

namespace retrystorm {

// With more requests than this in the service (with workers: waiting for one), its answers come after
// the timeout. Empty if the server has not said what it can do, or if no number is too many.
std::optional<double> late_from(const ServerStatus& server, Duration timeout);

struct HeldDown {
  Statement why;
  // May help if the service turns away what comes while it has so many: three times what it held
  // before the outage.
  std::size_t shed_above = 0;
};

// `attempts`: a second. `most_before`: the highest concurrency before the outage. Empty if answers
// come in time.
std::optional<HeldDown> held_down(const ServerStatus& server, Duration timeout, double attempts,
                                  double most_before);

}  // namespace retrystorm
