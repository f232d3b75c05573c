// Backoff: how long a client waits before a retry, as growth and jitter.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/base/random.h"
#include "model/retry/jitter.h"
#include "model/retry/retry_state.h"

namespace retrystorm {

// With n = 0 for the first retry:
enum class Growth {
  kNone,         // 0
  kConstant,     // base
  kLinear,       // base + n * step
  kExponential,  // base * factor^n
  kTable,        // base * the n-th number of a table, whose last one goes on (HBase)
};

enum class GrowFrom {
  kUnjittered,  // each wait grows from the computed one before
  kJittered,    // from the one that was really waited (Twisted, smira)
};

enum class CapApplies { kBeforeJitter, kAfterJitter };

// Where the growth starts: at the base, or at the think time before the request, as smira's
// program does, so that the first wait is grown already.
enum class BackoffFrom { kBase, kThinkTime };

struct BackoffSettings {
  Growth growth = Growth::kConstant;
  Duration base = std::chrono::milliseconds(100);
  Duration step = std::chrono::seconds(1);
  double factor = 2;
  std::vector<double> table{1, 2, 3, 5, 10, 20, 40, 100, 100, 100, 100, 200, 200};  // HBase's
  Duration cap = Duration::max();
  CapApplies cap_applies = CapApplies::kBeforeJitter;
  Jitter jitter;
  GrowFrom grow_from = GrowFrom::kUnjittered;
  BackoffFrom from = BackoffFrom::kBase;
  bool jitter_first = true;                   // is the first wait jittered too?
  bool first_at_once = false;                 // the first retry waits for nothing
  Duration throttled_base = Duration::max();  // the base after throttling answers; max = the base
};

void declare_options(OptionList& options, BackoffSettings& settings);

// Adds the options that were given but can have no effect. `usual`: what the strategy has. Bases
// and caps are not looked at, for they are given to several strategies alike.
void find_unused(UnusedOptions& unused, const BackoffSettings& settings,
                 const BackoffSettings& usual);

// Safe to share between threads.
class Backoff {
 public:
  explicit Backoff(const BackoffSettings& settings)
      : settings_(settings), constant_(constant_wait(settings)) {}

  // A request begins, after this think time.
  void begin_request(RetryState& state, Duration think_time) const {
    state.backoff = settings_.from == BackoffFrom::kThinkTime ? think_time : Duration::zero();
  }

  // The wait before the retry that follows `state.retries` retries. `throttled`: the server asked
  // for less.
  Duration next(RetryState& state, bool throttled, Random& random) const {
    return constant_ ? *constant_ : computed(state, throttled, random);
  }

 private:
  // The wait of settings for which it is always the same, as those have who retry the most.
  static std::optional<Duration> constant_wait(const BackoffSettings& settings);
  Duration computed(RetryState& state, bool throttled, Random& random) const;
  Duration grown(RetryState& state, bool throttled) const;
  Duration remembered(RetryState& state, Random& random) const;

  BackoffSettings settings_;
  std::optional<Duration> constant_;
};

}  // namespace retrystorm
