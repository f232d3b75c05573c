// The circuit breaker: when too many attempts fail, none are sent for a while.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/base/sliding_window.h"
#include "model/retry/process_parts.h"

namespace retrystorm {

enum class BreakerWindow { kCalls, kTime };
enum class BreakerJudges { kEveryEnd, kFailures };
enum class LateEnds { kCount, kIgnore };

// The defaults are resilience4j's.
struct BreakerSettings {
  std::string_view name = "none";  // of the preset that the numbers come from
  bool on = false;

  BreakerWindow window = BreakerWindow::kCalls;
  std::uint32_t calls = 100;                     // the window, counted
  Duration span = std::chrono::seconds(100);     // the window in time ...
  std::uint32_t slices = 100;                    // ... forgotten slice by slice
  std::uint32_t min_calls = 100;                 // ends in the window before it is judged
  double failure_share = 0.5;                    // opens at so many failures, or more
  Duration slow_call = std::chrono::minutes(1);  // what lasts longer is slow
  double slow_share = 1;                         // opens at so many slow calls, or more
  Duration open_for = std::chrono::minutes(1);
  std::uint32_t trials = 10;  // attempts let through when half-open
  BreakerJudges judges = BreakerJudges::kEveryEnd;
  LateEnds late_ends = LateEnds::kCount;  // of attempts sent before the state changed
};

void declare_options(OptionList& options, BreakerSettings& settings);

// Adds the numbers that were given but are not used.
void find_unused(UnusedOptions& unused, const BreakerSettings& settings);

// resilience4j's, of which Polly's, Hystrix' and gobreaker's are points
// (resilience4j-circuitbreaker/.../internal/CircuitBreakerStateMachine.java). Every failure counts,
// whatever its kind.
//
// Closed: as an attempt ends, and the window holds enough, a share of failures or of slow calls
// that reaches its threshold opens it. Open: nothing is sent; the first attempt asked for after
// more than `open_for` makes it half-open. Half-open: so many trials are let through; when as many
// have ended (or `min_calls`, if fewer) their shares open it again, or close it with an empty
// window.
class Breaker final : public Gate {
 public:
  enum class State { kClosed, kOpen, kHalfOpen };

  Breaker(const BreakerSettings& settings, TimePoint now);

  Permission ask(TimePoint now, Random& random) override;
  void take_back(TimePoint now) override;
  void attempt_ended(TimePoint now, const AttemptResult& result) override;

  State state() const { return state_; }

 private:
  struct Calls {
    std::uint32_t ended = 0;
    std::uint32_t failed = 0;
    std::uint32_t slow = 0;

    Calls& operator+=(const Calls& other);
    Calls& operator-=(const Calls& other);
  };

  void change_to(State state, TimePoint now);
  const Calls& count(TimePoint now, const Calls& call);
  bool too_many(const Calls& calls) const;

  BreakerSettings settings_;
  State state_ = State::kClosed;
  TimePoint changed_{TimePoint::min()};
  std::uint32_t permits_ = 0;  // half-open: trials that may still be sent
  Calls trials_;               // half-open: ended

  // Closed: one of these.
  std::vector<Calls> last_;  // a ring of the last ends
  std::size_t next_ = 0;     // in it
  Calls sum_;                // of it
  std::optional<SlidingWindow<Calls>> in_time_;
};

}  // namespace retrystorm
