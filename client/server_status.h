// What the client reads of the server's status, and why a service does not come back although its outage is over.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "model/base/duration.h"
#include "model/base/statement.h"
#include "model/service/service_options.h"

namespace retrystorm {

struct ServerStatus {
  struct Workers {
    double workers = 0, busy = 0, waiting = 0;
  };

  double concurrency = 0;
  double last_delay_s = 0;
  std::optional<Workers> workers{};
  std::optional<ServiceOptions> service{};  // the settings in force
};

// Of two hosts together, without their settings. The delay is the longer one.
ServerStatus operator+(const ServerStatus& a, const ServerStatus& b);

// Reads a JSON object with `concurrency` and `last_delay_s`, and optionally `workers`, `busy` and
// `waiting`. All are finite numbers. Returns nothing if the text is anything else. The `settings` of a
// service are texts by the names of the options. They count only if all are there and can be read.
std::optional<ServerStatus> parse_server_status(const std::string& text);

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
