// Adaptive throttling: a client refuses its own requests in proportion to the service's refusals.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/base/sliding_window.h"
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

// Adds the options that were given but have no effect.
void find_unused(UnusedOptions& unused, const ThrottleSettings& settings);

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

    Counts& operator+=(const Counts& other);
    Counts& operator-=(const Counts& other);
  };
  static constexpr std::size_t kSlices = 100;  // gRPC's

  ThrottleSettings settings_;
  SlidingWindow<Counts> window_;
};

}  // namespace retrystorm
