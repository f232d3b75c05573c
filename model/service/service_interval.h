// What a service has counted, and how it stands.
#pragma once

#include <cstddef>
#include <cstdint>

#include "model/base/duration.h"

namespace retrystorm {

// What the server counted since the line before.
struct ServerInterval {
  std::size_t concurrency = 0;
  Duration last_delay{0};
  std::uint64_t arrivals = 0;
  std::uint64_t departures = 0;
  std::uint64_t rejected_429 = 0;
  std::uint64_t rejected_503 = 0;
};

// Is told how the service goes, each time that its reporting interval is over.
class ServiceObserver {
 public:
  virtual ~ServiceObserver() = default;

  // `t` is the time since the start, `window` the time that the interval covers.
  virtual void on_interval(Duration t, Duration window, const ServerInterval& interval) = 0;
};

}  // namespace retrystorm
