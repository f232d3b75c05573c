// Client-side rate limits of a process: a rate that is given, or one that adapts to the service's throttling
// (the AWS SDKs' adaptive mode).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/retry/process_parts.h"

namespace retrystorm {

struct ClientRateSettings {
  enum class Kind { kNone, kAwsAdaptive, kFixed };

  Kind kind = Kind::kNone;
  double rate = 0;         // kFixed: attempts per second, of the process
  double decrease = 0.7;   // beta: a throttling answer multiplies the rate by this
  double scale = 0.4;      // C: how steeply the rate grows again
  double smoothing = 0.8;  // weight of the newest slot in the measured rate
  double least = 0.5;      // lower bound of the rate, in attempts per second
};

void declare_options(OptionList& options, ClientRateSettings& settings);

// Adds the options that were given but have no effect.
void find_unused(UnusedOptions& unused, const ClientRateSettings& settings);

// The --client-rate with which so many processes together send at most `limit` attempts a second, in
// thousandths; 0: less than the option takes.
double rate_of_each(double limit, std::size_t processes);

// Null without a limit.
std::unique_ptr<Gate> make_client_rate(const ClientRateSettings& settings, TimePoint now);

// A token bucket that every attempt passes, filled at a rate that is given. It begins with one token and holds
// those of `kSlack` and one more, so that after a pause hardly more come at once. Attempts reserve the next
// tokens in the order in which they ask.
class FixedRate final : public Gate {
 public:
  static constexpr Duration kSlack = std::chrono::milliseconds(100);

  FixedRate(double rate, TimePoint now);

  Permission ask(TimePoint now, Random& random) override;
  void take_back(TimePoint now) override;
  void attempt_ended(TimePoint /*now*/, const AttemptResult& /*result*/) override {}

 private:
  Duration each_;   // between two tokens
  TimePoint next_;  // the next token is due; later ones one by one after it
};

// A token bucket that every attempt passes. A throttling answer cuts the rate at which it fills.
// The rate then grows as a cubic function of the time since, up to twice the measured rate of
// answers. The limit is off until the first throttling answer. All other ends, including errors and
// timeouts, count as "not throttled". Source: botocore retries/{adaptive,throttling,bucket}.py.
//
// A waiting attempt reserves no token, so an attempt that asks later may be sent first. botocore
// wakes a waiter at each answer, because the rate has changed. Here a waiter asks again after at
// most `kLook`.
class ClientRate final : public Gate {
 public:
  static constexpr Duration kLook = std::chrono::milliseconds(100);

  ClientRate(const ClientRateSettings& settings, TimePoint now);

  Permission ask(TimePoint now, Random& random) override;
  void take_back(TimePoint now) override;
  void attempt_ended(TimePoint now, const AttemptResult& result) override;

  double measured() const { return measured_; }    // answers per second
  double fill_rate() const { return fill_rate_; }  // tokens per second

  // The value of the cubic at this time, before it is bounded. In attempts per second.
  double calculated(TimePoint now) const;

 private:
  void measure(TimePoint now);
  void refill(TimePoint now);

  ClientRateSettings settings_;
  bool enabled_ = false;

  std::uint64_t answers_ = 0;  // in the current slot
  std::int64_t slot_;          // the current slot, in half seconds of the clock
  double measured_ = 0;

  double most_ = 0;        // the rate at the last throttling answer
  double zero_point_ = 0;  // seconds from that answer until the cubic is back at `most_`
  TimePoint throttled_;

  double fill_rate_ = 1;
  double capacity_ = 1;
  double tokens_ = 0;
  TimePoint filled_;
};

}  // namespace retrystorm
