// The concurrency limit: so many attempts of a process at a time, fixed or found by probing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/retry/process_parts.h"

namespace retrystorm {

// The defaults are those of Netflix' AIMDLimit.
struct ConcurrencyLimitSettings {
  enum class Kind { kNone, kFixed, kAimd };

  Kind kind = Kind::kNone;
  std::uint32_t start = 20;  // the limit, or that of AIMD to begin with
  // AIMD:
  std::uint32_t least = 20;
  std::uint32_t most = 200;
  double decrease = 0.9;
  Duration slow = std::chrono::seconds(5);
};

void declare_options(OptionList& options, ConcurrencyLimitSettings& settings);

// Adds the numbers that were given but are not used.
void find_unused(UnusedOptions& unused, const ConcurrencyLimitSettings& settings);

// Throws std::invalid_argument with a sentence for a person when a number does not fit the others.
void check(const ConcurrencyLimitSettings& settings);

// Refuses what goes beyond the limit.
//
// AIMD (additive increase, multiplicative decrease), after Netflix/concurrency-limits
// AIMDLimit.java: an attempt that was dropped (not accepted, or no answer in time) or slow
// multiplies the limit by `decrease`, cut to a whole number; one that was accepted while at least
// half of the limit was in use adds 1; an error of the application says nothing. "In use" is taken
// as the attempt ends, itself included, where Netflix takes it as it is sent: over any while both
// see each number equally often, and nothing need be remembered of an attempt.
class ConcurrencyLimit final : public Gate {
 public:
  explicit ConcurrencyLimit(const ConcurrencyLimitSettings& settings);

  Permission ask(TimePoint now, Random& random) override;
  void take_back(TimePoint now) override;
  void attempt_ended(TimePoint now, const AttemptResult& result) override;

  std::uint32_t limit() const { return limit_; }

 private:
  ConcurrencyLimitSettings settings_;
  std::uint32_t limit_;
  std::uint32_t in_flight_ = 0;
};

}  // namespace retrystorm
