// The circuit breaker: when too many attempts fail, no attempts are sent for a while.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/base/sliding_window.h"
#include "model/base/sums.h"
#include "model/retry/process_parts.h"

namespace retrystorm {

enum class BreakerWindow { kCalls, kTime };
enum class BreakerJudges { kEveryEnd, kFailures };
enum class LateEnds { kCount, kIgnore };

// The defaults are resilience4j's.
struct BreakerSettings {
  std::string_view name = "none";  // the preset that the numbers come from
  bool on = false;

  BreakerWindow window = BreakerWindow::kCalls;
  std::uint32_t calls = 100;                     // kCalls: length of the window
  Duration span = std::chrono::seconds(100);     // kTime: length of the window
  std::uint32_t slices = 100;                    // kTime: number of slices of the window
  std::uint32_t min_calls = 100;                 // ended calls in the window before it is judged
  double failure_share = 0.5;                    // opens at this share of failures or more
  Duration slow_call = std::chrono::minutes(1);  // a call that takes longer is slow
  double slow_share = 1;                         // opens at this share of slow calls or more
  Duration open_for = std::chrono::minutes(1);
  std::uint32_t trials = 10;  // attempts let through when half-open
  BreakerJudges judges = BreakerJudges::kEveryEnd;
  LateEnds late_ends = LateEnds::kCount;  // of attempts sent before the last state change
};

void declare_options(OptionList& options, BreakerSettings& settings);

// The circuit breaker of resilience4j
// (resilience4j-circuitbreaker/.../internal/CircuitBreakerStateMachine.java). Those of Polly,
// Hystrix and gobreaker are special cases of it. All kinds of failure count.
//
// Closed: the window is judged when an attempt ends and the window holds enough calls. If the share
// of failures or of slow calls reaches its threshold, the breaker opens. Open: nothing is sent. The
// first attempt asked for after more than `open_for` makes the breaker half-open. Half-open:
// `trials` attempts are let through. When that number has ended (or `min_calls`, if smaller), their
// shares decide: the breaker opens again, or closes with an empty window.
class Breaker final : public Gate {
 public:
  enum class State { kClosed, kOpen, kHalfOpen };

  Breaker(const BreakerSettings& settings, TimePoint now);

  Permission ask(TimePoint now, Random& random) override;
  void take_back(TimePoint now) override;
  void attempt_cancelled(TimePoint now) override { take_back(now); }
  void attempt_ended(TimePoint now, const AttemptResult& result) override;

  State state() const { return state_; }

 private:
  struct Calls {
    std::uint32_t ended = 0;
    std::uint32_t failed = 0;
    std::uint32_t slow = 0;

    static constexpr std::tuple kSummed{&Calls::ended, &Calls::failed, &Calls::slow};
  };

  void change_to(State state, TimePoint now);
  const Calls& count(TimePoint now, const Calls& call);
  bool too_many(const Calls& calls) const;

  BreakerSettings settings_;
  State state_ = State::kClosed;
  TimePoint changed_{TimePoint::min()};
  std::uint32_t permits_ = 0;  // half-open: trials that may still be sent
  Calls trials_;               // half-open: trials that have ended

  // Closed: either the ring `last_` (kCalls) or `in_time_` (kTime) is used.
  std::vector<Calls> last_;  // ring of the last calls that ended
  std::size_t next_ = 0;     // next index to overwrite in `last_`
  Calls sum_;                // sum of `last_`
  std::optional<SlidingWindow<Calls>> in_time_;
};

}  // namespace retrystorm
