// The clients' metrics, for Prometheus and as JSON.
#pragma once

#include <string>
#include <vector>

#include "client/fleet.h"
#include "common/http/page_server.h"
#include "model/base/duration.h"

namespace retrystorm {

// Reads the fleet's counters only when a reader asks, and costs nothing otherwise. A new run starts
// the counters again from 0. Thread-safe.
class ClientMetrics {
 public:
  // `fleet` must outlive this object.
  explicit ClientMetrics(const CurrentFleet& fleet) : fleet_(fleet) {}

  std::string render() const;  // for Prometheus
  std::string status() const;  // the most important values as one JSON object

  // The pages /metrics and /status. This object must outlive their server.
  std::vector<PageServer::Page> pages() const;

 private:
  const CurrentFleet& fleet_;
  const TimePoint start_ = Clock::now();
};

}  // namespace retrystorm
