// What became of the hosts of a service.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/base/duration.h"

namespace retrystorm {

// One host, in some time. Hosts are numbered from 1, in their order.
struct HostInterval {
  std::uint64_t attempts = 0;  // that were sent to it
  std::uint64_t ok = 0;
  std::uint64_t failed = 0;  // errors, timeouts, lost connections
  std::uint64_t ejections = 0;
  std::uint64_t attempts_in_outage = 0;  // only of the whole run
  // At the end of it:
  bool frozen = false;
  double out = 0;  // share of the pickers that send it nothing, because they have ejected it
  std::size_t busy = 0, waiting = 0;  // of a service with workers
  std::size_t concurrency = 0;
};

using HostIntervals = std::vector<HostInterval>;

// The hosts of a service in a whole run.
struct HostsResult {
  HostIntervals hosts{};
  std::size_t hit = 0;   // by the outage: the first ones
  bool by_load = false;  // attempts go where the fewest are under way

  // Of the attempts of the outage: the share that the hosts got which it hit. Nothing without attempts.
  std::optional<double> share_of_hit() const {
    double all = 0, to_hit = 0;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      all += static_cast<double>(hosts[i].attempts_in_outage);
      if (i < hit) to_hit += static_cast<double>(hosts[i].attempts_in_outage);
    }
    return all > 0 ? std::optional(to_hit / all) : std::nullopt;
  }
};

}  // namespace retrystorm
