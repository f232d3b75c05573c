// What the server says of itself on its admin port, as far as the page shows it.
#pragma once

#include <optional>
#include <string>

namespace retrystorm {

struct ServerStatus {
  struct Workers {
    double workers = 0, busy = 0, waiting = 0;
  };

  double concurrency = 0;
  double last_delay_s = 0;
  std::optional<Workers> workers{};
};

// Reads a JSON object that has `concurrency` and `last_delay_s`, both finite numbers, and
// perhaps the same of `workers`, `busy` and `waiting`. Nothing when the text is anything else.
std::optional<ServerStatus> parse_server_status(const std::string& text);

}  // namespace retrystorm
