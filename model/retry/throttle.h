// Adaptive throttling: a client refuses its own requests in the measure in which the service does.
#pragma once

#include <cstdint>
#include <string_view>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/base/sliding_window.h"
#include "model/retry/process_parts.h"

namespace retrystorm {

enum class ThrottleCounts {
  kAsked,     // a request as it is asked for, whatever becomes of it
  kAnswered,  // its answer, or its refusal here: what is under way is not seen
};

// The defaults are those of the SRE book.
struct ThrottleSettings {
  std::string_view name = "none";  // of the preset that the numbers come from
  bool on = false;

  double ratio = 2;  // K
  double padding = 1;
  Duration window = std::chrono::minutes(2);
  ThrottleCounts counts = ThrottleCounts::kAsked;
};

void declare_options(OptionList& options, ThrottleSettings& settings);

// Adds the numbers that were given but are not used.
void find_unused(UnusedOptions& unused, const ThrottleSettings& settings);

// Refuses with probability max(0, (requests - K * accepts) / (requests + padding)), counted over
// the window. Attempts are what is counted: each asks anew. An error of the application is an
// accepted request. From Site Reliability Engineering, ch. 21, and grpc-go's
// balancer/rls/internal/adaptive.
class Throttle final : public Gate {
 public:
  Throttle(const ThrottleSettings& settings, TimePoint now);

  Permission ask(TimePoint now, Random& random) override;
  void take_back(TimePoint now) override;
  void attempt_ended(TimePoint now, const AttemptResult& result) override;

  // That the next attempt is refused.
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
