// What the client reads of the server's status.
#pragma once

#include <optional>
#include <string>

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

// Reads a JSON object with `concurrency` and `last_delay_s`, and optionally `workers`, `busy` and
// `waiting`. All are finite numbers. Returns nothing if the text is anything else. The `settings` of a
// service are texts by the names of the options. They count only if all are there and can be read.
std::optional<ServerStatus> parse_server_status(const std::string& text);

}  // namespace retrystorm
