// What a service has counted, and its state.
#pragma once

#include <cstddef>
#include <cstdint>
#include <numeric>
#include <optional>

#include "model/base/duration.h"
#include "model/base/latency.h"
#include "model/base/sums.h"
#include "model/service/admission.h"
#include "model/service/rate_limit.h"

namespace retrystorm {

struct KernelState {
  std::size_t accept_queue = 0;  // connections that are not accepted
  std::size_t unread = 0;        // attempts on accepted connections; only an engine that sees them
  std::uint64_t no_room = 0;     // SYNs dropped since the start, because the accept queue was full

  static constexpr std::tuple kSummed{&KernelState::accept_queue, &KernelState::unread,
                                      &KernelState::no_room};
};

// Counts of requests, since the start or between two moments.
struct ServiceCounts {
  std::uint64_t offered = 0;    // arrived: admitted, or rejected on arrival
  std::uint64_t admitted = 0;   // entered the service
  std::uint64_t completed = 0;  // of the admitted: finished by the service
  std::uint64_t served = 0;     // of the completed: the client has its OK, as far as is known
  std::uint64_t failed = 0;     // of the completed: answered with an error
  std::uint64_t lost = 0;       // of the admitted: ended by a restart or by closed connections
  RejectionCounts rejected{};   // rejected on arrival, or later after admission

  // All rejected requests.
  std::uint64_t rejections() const {
    return std::accumulate(rejected.begin(), rejected.end(), std::uint64_t{0});
  }

  static constexpr std::tuple kSummed{&ServiceCounts::offered,   &ServiceCounts::admitted,
                                      &ServiceCounts::completed, &ServiceCounts::served,
                                      &ServiceCounts::failed,    &ServiceCounts::lost,
                                      &ServiceCounts::rejected};
};

// How long requests were in the service, from admission to answer.
struct ServiceTimes {
  LatencyQuantiles served{};  // requests whose clients have their OK
  LatencyQuantiles late{};    // requests finished too late: their clients had gone
};

// The same, before they are summed up.
struct TimesInService {
  LatencyHistogram served, late;

  void add(const TimesInService& other) {
    served.add(other.served);
    late.add(other.late);
  }
  ServiceTimes quantiles() const {
    return {.served = retrystorm::quantiles(served), .late = retrystorm::quantiles(late)};
  }
};

// The state of a service with workers.
struct WorkerState {
  std::size_t workers = 0;
  std::size_t busy = 0;
  std::size_t waiting = 0;  // requests waiting for a worker
};

// The current rate limit in requests per second, and its use.
struct ProvisionedCapacity {
  double rate = 0;
  CapacityUse use{};
};

// The state of the service, and its counts since the last report.
struct ServerInterval {
  std::size_t concurrency = 0;
  // Of these, the requests whose clients still wait. Empty if that cannot be known: a server learns
  // it only when it answers.
  std::optional<std::size_t> waited_for{};
  Duration last_delay{0};
  std::optional<WorkerState> workers{};           // for a service with workers
  std::optional<ProvisionedCapacity> capacity{};  // for a service with a rate limit
  std::optional<KernelState> kernel{};            // of a real server while it listens
  ServiceCounts counts{};
  ServiceTimes times{};
};

// Receives a report at the end of each reporting interval.
class ServiceObserver {
 public:
  virtual ~ServiceObserver() = default;

  // `t`: time since the start. `window`: the time that the interval covers.
  virtual void on_interval(Duration t, Duration window, const ServerInterval& interval) = 0;
};

}  // namespace retrystorm
