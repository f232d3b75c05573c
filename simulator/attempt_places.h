// Where the attempts of those who call a service lie at one moment.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "model/base/duration.h"

namespace retrystorm {

// `stale`: of these, those whose caller has gone. A frozen service has attempts, too.
struct AttemptPlaces {
  struct Place {
    std::size_t all = 0, stale = 0;
  };

  std::size_t at_caller =
      0;  // in line for a connection, or the accept queue had no room for the SYN
  Place accept_queue{};
  Place buffers{};  // sent on accepted connections, and not read
  Place service{};  // waiting for it, or being served
};

// Gets the time since the start, and the places of each service.
using PlacesObserver = std::function<void(Duration t, const std::vector<AttemptPlaces>& services)>;

}  // namespace retrystorm
