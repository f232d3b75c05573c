// What became of the hosts of a service.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "model/base/duration.h"
#include "model/service/service_observer.h"

namespace retrystorm {

enum class HostState {
  kUp,
  kUnwell,  // its probe fails, so that it gets no traffic
  kFrozen,
  kStarting,
  kEnding,  // it gets no more requests, and finishes those that it has
  kOff,     // not there, of those that an autoscaler may start
};
inline constexpr std::array<std::string_view, 6> kHostStateNames{"up",       "unwell", "frozen",
                                                                 "starting", "ending", "off"};

// One host, in some time. Hosts are numbered from 1, in their order.
struct HostInterval {
  std::uint64_t attempts = 0;  // that were sent to it
  std::uint64_t ok = 0;
  std::uint64_t failed = 0;  // errors, timeouts, lost connections
  std::uint64_t ejections = 0;
  std::uint64_t restarts = 0;                      // also those by its probe
  std::uint64_t killed = 0;                        // by its probe
  std::uint64_t attempts_in_outage = 0;            // only of the whole run
  std::uint64_t attempts_after = 0, ok_after = 0;  // since the outage has ended; only of its result
  // At the end of it:
  HostState state = HostState::kUp;
  bool frozen = false;
  double out = 0;         // share of the pickers that send it nothing, because they have ejected it
  WorkerState workers{};  // of a service with workers
  std::optional<std::size_t> concurrency = 0;  // empty: not known, nor are the others

  // What is counted from one report to the next.
  static constexpr std::tuple kSummed{&HostInterval::attempts, &HostInterval::ok,
                                      &HostInterval::failed,   &HostInterval::ejections,
                                      &HostInterval::restarts, &HostInterval::killed};
};

using HostIntervals = std::vector<HostInterval>;

// The hosts of a service in a whole run.
struct HostsResult {
  HostIntervals hosts{};
  std::size_t hit = 0;       // by the outage: the first ones
  bool by_load = false;      // attempts go where the fewest are under way
  std::size_t first = 0;     // hosts at the start
  std::size_t most = 0;      // hosts that were up at the same time
  Duration most_at{0};       // since when
  bool probes_kill = false;  // what fails its probe is killed
  std::uint64_t killed_busy =
      0;  // by their probes, though they worked: those were in their queues for too long
  // The first one that a picker has left out, from 0, and when.
  std::optional<std::pair<std::size_t, Duration>> first_out{};

  std::uint64_t sum(std::uint64_t HostInterval::*count) const {
    std::uint64_t all = 0;
    for (const HostInterval& each : hosts) all += each.*count;
    return all;
  }

  // The hosts, from 1, that answer less than half of their attempts after the outage; and how much they answer.
  std::pair<std::vector<std::size_t>, double> not_back() const {
    constexpr std::uint64_t kLeast = 20;
    std::vector<std::size_t> numbers;
    double attempts = 0, ok = 0;
    for (std::size_t i = 0; i < hosts.size(); ++i) {
      const HostInterval& each = hosts[i];
      if (each.attempts_after < kLeast || 2 * each.ok_after >= each.attempts_after) continue;
      numbers.push_back(i + 1);
      attempts += static_cast<double>(each.attempts_after);
      ok += static_cast<double>(each.ok_after);
    }
    return {numbers, attempts > 0 ? ok / attempts : 0};
  }

  // How many hosts are out at the end: they start, are frozen, fail their probe or are ejected, by some pickers in part.
  double out() const {
    double sum = 0;
    for (const HostInterval& each : hosts) {
      const bool gone = each.state == HostState::kEnding || each.state == HostState::kOff;
      sum += gone ? 0 : each.state == HostState::kUp ? each.out : 1;
    }
    return sum;
  }

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
