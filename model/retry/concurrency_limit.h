// The concurrency limit: how many attempts a process may have in flight. Fixed, or found by
// probing.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/retry/process_parts.h"

namespace retrystorm {

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

// Adds the options that were given but have no effect.
void find_unused(UnusedOptions& unused, const ConcurrencyLimitSettings& settings);

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

}  // namespace retrystorm
