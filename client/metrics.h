// What the clients do, for Prometheus and as JSON.
#pragma once

#include <string>
#include <vector>

#include "client/current_fleet.h"
#include "common/http/endpoint.h"
#include "model/base/duration.h"

namespace retrystorm {

// Reads the fleet's counters when it is asked: between two questions it costs nothing. A further
// run starts them anew. All members are safe from any thread.
class ClientMetrics {
 public:
  // Outlives this object.
  explicit ClientMetrics(const CurrentFleet& fleet) : fleet_(fleet) {}

  // The text form that Prometheus reads, of the content type `kExpositionType`.
  std::string render() const;

  // The same in short, as one JSON object.
  std::string status() const;

  // Both, as /metrics and /status. This object outlives whoever serves them.
  std::vector<Endpoint::Page> pages() const;

 private:
  const CurrentFleet& fleet_;
  const TimePoint start_ = Clock::now();
};

}  // namespace retrystorm
