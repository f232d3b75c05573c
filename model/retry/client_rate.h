// The client's own rate limit that follows the service's throttling: the AWS SDKs' adaptive mode.
#pragma once

#include <cstdint>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/retry/process_parts.h"

namespace retrystorm {

struct ClientRateSettings {
  enum class Kind { kNone, kAwsAdaptive };

  Kind kind = Kind::kNone;
  double decrease = 0.7;   // beta: what a throttling answer multiplies the rate by
  double scale = 0.4;      // C: how steeply it grows again
  double smoothing = 0.8;  // the newest slot's part in the measured rate
  double least = 0.5;      // attempts per second
};

void declare_options(OptionList& options, ClientRateSettings& settings);

// Adds the numbers that were given but are not used.
void find_unused(UnusedOptions& unused, const ClientRateSettings& settings);

// A token bucket before every attempt, filled at a rate that a throttling answer cuts and that then
// grows as a cubic of the time since, up to twice the rate of answers measured. Off until the first
// throttling answer; all other ends, errors and timeouts too, count as "not throttled". After
// botocore retries/{adaptive,throttling,bucket}.py.
//
// Who waits takes no token yet: another who asks at the right moment may be served before. botocore
// wakes a waiter at each answer, for the rate has changed; here a waiter looks again by itself,
// every `kLook` at least.
class ClientRate final : public Gate {
 public:
  static constexpr Duration kLook = std::chrono::milliseconds(100);

  ClientRate(const ClientRateSettings& settings, TimePoint now);

  Permission ask(TimePoint now, Random& random) override;
  void take_back(TimePoint now) override;
  void attempt_ended(TimePoint now, const AttemptResult& result) override;

  double measured() const { return measured_; }    // answers per second
  double fill_rate() const { return fill_rate_; }  // tokens per second

  // What the cubic says at this time, before it is bounded.
  double calculated(TimePoint now) const;

 private:
  void measure(TimePoint now);
  void refill(TimePoint now);

  ClientRateSettings settings_;
  bool enabled_ = false;

  std::uint64_t answers_ = 0;  // in the slot
  std::int64_t slot_;          // in halves of a second of the clock
  double measured_ = 0;

  double most_ = 0;        // the rate at the last throttling answer
  double zero_point_ = 0;  // seconds from there until the cubic is back at it
  TimePoint throttled_;

  double fill_rate_ = 1;
  double capacity_ = 1;
  double tokens_ = 0;
  TimePoint filled_;
};

}  // namespace retrystorm
