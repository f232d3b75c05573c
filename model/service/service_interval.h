// What a service has counted, and how it stands.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>

#include "model/base/duration.h"
#include "model/base/latency.h"
#include "model/service/rate_limit.h"
#include "model/service/rejection.h"

namespace retrystorm {

// What happened to the requests that came, since the start or between two moments.
struct ServiceCounts {
  std::uint64_t offered = 0;    // came to the service's door: admitted, or rejected there
  std::uint64_t admitted = 0;   // let into the service
  std::uint64_t completed = 0;  // of those, the ones that the service is done with
  std::uint64_t served = 0;     // of those, the ones whose client has its OK, as far as is known
  std::uint64_t failed = 0;     // of the completed, the ones that were answered with an error
  std::uint64_t lost = 0;       // of the admitted, the ones that a restart or a drop ended
  RejectionCounts rejected{};   // turned away, at once or (once admitted) later

  // All that were turned away.
  std::uint64_t rejections() const {
    return std::accumulate(rejected.begin(), rejected.end(), std::uint64_t{0});
  }

  friend ServiceCounts operator-(ServiceCounts a, const ServiceCounts& b) {
    a.offered -= b.offered;
    a.admitted -= b.admitted;
    a.completed -= b.completed;
    a.served -= b.served;
    a.failed -= b.failed;
    a.lost -= b.lost;
    for (std::size_t i = 0; i < a.rejected.size(); ++i) a.rejected[i] -= b.rejected[i];
    return a;
  }
};

// How long requests were in the service, from their admission to their answer.
struct ServiceTimes {
  LatencyQuantiles served{};  // of those whose clients have their OK
  LatencyQuantiles late{};    // of those that were done too late: their clients had gone
};

// How a service of workers stands.
struct WorkerState {
  std::size_t workers = 0;
  std::size_t busy = 0;
  std::size_t waiting = 0;  // requests that wait for a worker
};

// What the rate limit lets in a second, as it stands, and what was made of it.
struct ProvisionedCapacity {
  double rate = 0;
  CapacityUse use{};
};

// How the service stands, and what it counted since the line before.
struct ServerInterval {
  std::size_t concurrency = 0;
  Duration last_delay{0};
  std::optional<WorkerState> workers{};           // of a service of workers
  std::optional<ProvisionedCapacity> capacity{};  // where there is a rate limit
  ServiceCounts counts{};
  ServiceTimes times{};
};

// Is told how the service goes, each time that its reporting interval is over.
class ServiceObserver {
 public:
  virtual ~ServiceObserver() = default;

  // `t` is the time since the start, `window` the time that the interval covers.
  virtual void on_interval(Duration t, Duration window, const ServerInterval& interval) = 0;
};

}  // namespace retrystorm
