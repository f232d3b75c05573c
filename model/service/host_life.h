// What happens to the hosts of a service: probes, starts, and how many there are.
#pragma once

#include <chrono>
#include <cstddef>
#include <deque>
#include <string>
#include <string_view>
#include <utility>

#include "model/base/duration.h"
#include "model/base/option_list.h"

namespace retrystorm {

// Asks each host again and again whether it is well. An answer with an error, a refused or lost connection, and no answer
// within `timeout` are failures.
struct Probe {
  Duration every{0};  // 0: off
  Duration timeout = std::chrono::seconds(1);
  std::size_t failures = 3;  // in a row, until something is done
  bool own_port = false;     // answered at once by all that run; else it waits like a request

  bool on() const { return every > Duration::zero(); }
  bool operator==(const Probe&) const = default;
};

// Parses "none" or "EVERY[:TIMEOUT[:FAILURES[:port]]]"; what is left out is Kubernetes' default. Throws
// std::invalid_argument with a readable message.
Probe parse_probe(std::string_view text);
std::string to_string(const Probe& probe);

enum class ProbeDoes {
  kStopTraffic,  // until a probe succeeds: Kubernetes' readiness, the checks of balancers
  kRestart,      // Kubernetes' liveness
};

// How many hosts there are follows the use of their workers, as the HorizontalPodAutoscaler of Kubernetes 1.30 has it
// (pkg/controller/podautoscaler: replica_calculator.go, horizontal.go).
struct ScalingSettings {
  std::size_t most = 0;  // hosts; 0: their number does not change
  double target = 0.5;   // the share of busy workers that is wanted
  Duration every = std::chrono::seconds(15);
  Duration down_after = std::chrono::seconds(300);  // the least use of so long counts

  static constexpr double kTolerance = 0.1;
  static constexpr std::size_t kAtOnce = 4;  // may be added even if that is more than the double

  bool on() const { return most > 0; }
};

struct HostLifeSettings {
  Probe probe{};
  ProbeDoes probe_does = ProbeDoes::kStopTraffic;
  Duration start{0};    // a host that starts or restarts gets no traffic for so long
  Duration warm_up{0};  // then its capacity grows to what it should be, in steps
  ScalingSettings scaling{};

  static constexpr int kWarmUpSteps = 10;
  // A host that is to end has so long for the requests that it serves (Kubernetes' terminationGracePeriodSeconds).
  static constexpr Duration kGrace = std::chrono::seconds(30);

  bool probes_kill() const { return probe.on() && probe_does == ProbeDoes::kRestart; }
  bool on() const {
    return probe.on() || scaling.on() || start > Duration::zero() || warm_up > Duration::zero();
  }
};

void declare_options(OptionList& options, HostLifeSettings& settings);

// Throws std::invalid_argument with a readable message if settings contradict each other. `replicas`: at the start.
void check(const HostLifeSettings& settings, std::size_t replicas);

// The share of its capacity that a host has in a step of its warm-up, counted from 0: the mean of that time.
inline double warm_share(int step) {
  return (step + 0.5) / HostLifeSettings::kWarmUpSteps;
}

// Says how many hosts there should be. Has no clock. Times passed in never decrease.
class HostScaler {
 public:
  HostScaler(const ScalingSettings& settings, std::size_t least)
      : settings_(settings), least_(least) {}

  // Call it after each `every`. `up`: the hosts that have taken requests since the last call. `starting`: that will
  // do so, or do so since then only. `use`: how busy the workers of all that are up were since the last call, 0 to 1.
  std::size_t wanted(TimePoint now, std::size_t up, std::size_t starting, double use);

 private:
  std::size_t by_use(std::size_t up, std::size_t starting, double use) const;

  ScalingSettings settings_;
  std::size_t least_;
  std::deque<std::pair<TimePoint, std::size_t>> wanted_;  // in the last `down_after`
};

}  // namespace retrystorm
