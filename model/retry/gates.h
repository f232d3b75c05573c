// Gates of a process that bound what it sends: adaptive throttling, the concurrency limit (fixed, or found by probing),
// and the client's rate limit (given, or adapted to the service's throttling as in the AWS SDKs' adaptive mode).
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/base/sliding_window.h"
#include "model/base/sums.h"
#include "model/retry/process_parts.h"

namespace retrystorm {

enum class ThrottleCounts {
  kAsked,     // a request when it is asked for, whatever its result
  kAnswered,  // a request when it is answered, or refused here; not those in flight
};

// The defaults are those of the SRE book.
struct ThrottleSettings {
  std::string_view name = "none";  // the preset that the numbers come from
  bool on = false;

  double ratio = 2;  // K
  double padding = 1;
  Duration window = std::chrono::minutes(2);
  ThrottleCounts counts = ThrottleCounts::kAsked;
};

void declare_options(OptionList& options, ThrottleSettings& settings);

// Refuses an attempt with probability max(0, (requests - K * accepts) / (requests + padding)). Both
// are counted over the window. Attempts are counted, not requests: each attempt asks again. An
// application error is an accepted request. Sources: Site Reliability Engineering, ch. 21, and
// grpc-go's balancer/rls/internal/adaptive.
class Throttle final : public Gate {
 public:
  Throttle(const ThrottleSettings& settings, TimePoint now);

  Permission ask(TimePoint now, Random& random) override;
  void take_back(TimePoint now) override;
  void attempt_ended(TimePoint now, const AttemptResult& result) override;

  // The probability that the next attempt is refused.
  double probability(TimePoint now);

 private:
  struct Counts {
    std::uint64_t requests = 0;
    std::uint64_t accepts = 0;

    static constexpr std::tuple kSummed{&Counts::requests, &Counts::accepts};
  };
  static constexpr std::size_t kSlices = 100;  // gRPC's

  ThrottleSettings settings_;
  SlidingWindow<Counts> window_;
};

// The defaults are those of Netflix's AIMDLimit.
struct ConcurrencyLimitSettings {
  enum class Kind { kNone, kFixed, kAimd };

  Kind kind = Kind::kNone;
  std::uint32_t start = 20;  // the fixed limit, or the initial one of AIMD
  // AIMD only:
  std::uint32_t least = 20;
  std::uint32_t most = 200;
  double decrease = 0.9;
  Duration slow = std::chrono::seconds(5);
};

void declare_options(OptionList& options, ConcurrencyLimitSettings& settings);

// Throws std::invalid_argument with a readable message when the settings contradict each other.
void check(const ConcurrencyLimitSettings& settings);

// Refuses attempts beyond the limit.
//
// AIMD (additive increase, multiplicative decrease) follows AIMDLimit.java of
// Netflix/concurrency-limits. An attempt that was dropped (not accepted, or no answer in time) or
// slow multiplies the limit by `decrease`; the result is truncated to a whole number. An accepted
// attempt adds 1 if at least half of the limit was in use. An application error changes nothing.
//
// "In use" is counted when the attempt ends, including the attempt itself; Netflix counts it when
// the attempt is sent. Over time both see each number equally often, and this way nothing has to be
// stored with an attempt.
class ConcurrencyLimit final : public Gate {
 public:
  explicit ConcurrencyLimit(const ConcurrencyLimitSettings& settings);

  Permission ask(TimePoint now, Random& random) override;
  void take_back(TimePoint now) override;
  void attempt_cancelled(TimePoint now) override;
  void attempt_ended(TimePoint now, const AttemptResult& result) override;

  std::uint32_t limit() const { return limit_; }

 private:
  ConcurrencyLimitSettings settings_;
  std::uint32_t limit_;
  std::uint32_t in_flight_ = 0;
};

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
