// How long a client waits before a retry: the backoff of a request, and what the server's `Retry-After` changes of it.
#pragma once

#include <chrono>
#include <optional>
#include <vector>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/base/random.h"
#include "model/retry/attempt.h"
#include "model/retry/jitter.h"

namespace retrystorm {

// With n = 0 for the first retry:
enum class Growth {
  kNone,         // 0
  kConstant,     // base
  kLinear,       // base + n * step
  kExponential,  // base * factor^n
  kTable,        // base * table[n]; the last number repeats (HBase)
};

enum class GrowFrom {
  kUnjittered,  // from the previous wait before its jitter
  kJittered,    // from the previous wait after its jitter (Twisted, smira)
};

enum class CapApplies { kBeforeJitter, kAfterJitter };

// Where the growth starts: at the base, or at the think time before the request. With the think
// time (as in smira's program) the first wait has already grown.
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
  bool first_at_once = false;                 // the first retry does not wait
  Duration throttled_base = Duration::max();  // the base after throttling answers; max = `base`
};

// A strategy's own --grow-from and --jitter-first were made for its own jitter. So a jitter of another
// kind also resets these two to the usual values: waits grow from the wait without jitter, and the
// first wait is jittered too. Options that are set after the jitter override this.
void declare_options(OptionList& options, BackoffSettings& settings);

// Adds the options that were given but have no effect. `by_strategy`: the strategy's own values. Bases
// and caps are not checked, because one value is often given to several strategies.
void find_unused(UnusedOptions& unused, const BackoffSettings& settings,
                 const BackoffSettings& by_strategy);

// Safe to share between threads.
class Backoff {
 public:
  explicit Backoff(const BackoffSettings& settings)
      : settings_(settings), constant_(constant_wait(settings)) {}

  // Starts a request that follows this think time.
  void begin_request(RetryState& state, Duration think_time) const {
    state.backoff = settings_.from == BackoffFrom::kThinkTime ? think_time : Duration::zero();
  }

  // The wait before the next retry, after `state.retries` earlier ones. `throttled`: the server
  // asked for less load.
  Duration next(RetryState& state, bool throttled, Random& random) const {
    return constant_ ? *constant_ : computed(state, throttled, random);
  }

 private:
  // The wait, if these settings always give the same one. A fast path: such clients retry the most.
  static std::optional<Duration> constant_wait(const BackoffSettings& settings);
  Duration computed(RetryState& state, bool throttled, Random& random) const;
  Duration grown(RetryState& state, bool throttled) const;
  Duration remembered(RetryState& state, Random& random) const;

  BackoffSettings settings_;
  std::optional<Duration> constant_;
};

// With h the hint and w the wait computed by the backoff:
enum class HintUse {
  kIgnore,   // w
  kReplace,  // h (go-retryablehttp, .NET, urllib3)
  kAtLeast,  // max(w, h) (Azure)
  kClamp,    // h, bounded by w and w + 5 s (AWS SDKs since 2026, for their own header)
  kSpread,   // h + u * h/2, u uniform in [0, 1) (Envoy): spreads clients with equal hints
};

struct HintUseSettings {
  HintUse use = HintUse::kIgnore;
  Duration longest = Duration::max();  // longer hints are cut to this
};

void declare_options(OptionList& options, HintUseSettings& settings);

// Adds the options that were given but have no effect. `defaults`: the strategy's own values.
void find_unused(UnusedOptions& unused, const HintUseSettings& settings,
                 const HintUseSettings& defaults);

// The wait before a retry. Draws a random number only if one is needed.
Duration with_hint(const HintUseSettings& settings, Duration wait, std::optional<Duration> hint,
                   Random& random);

}  // namespace retrystorm
