// How long a client waits: the backoff of a request before a retry, what the server's `Retry-After` changes of it, and
// the pauses of a pacer.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/base/random.h"
#include "model/retry/attempt.h"

namespace retrystorm {

// Jitter: makes a computed wait random, so that clients that failed together do not retry together.

struct Jitter {
  // With v the computed wait, u uniform in [0, 1) and drawn each time, a the amount:
  enum class Kind {
    kNone,          // v
    kFull,          // u * v (AWS, "Exponential Backoff And Jitter", 2015)
    kEqual,         // v/2 + u * v/2 (likewise)
    kNormal,        // v * (1 + a * z), z standard normal, at least 0 (Twisted, smira)
    kProportional,  // v * (1 + a * (2u - 1)) (gRPC, cenkalti/backoff, Azure)
    kShorter,       // v * (1 - a + a * u): at most v, at least (1 - a) of it (BullMQ)
    kAdditive,      // v + u * spread (Google Cloud's documents), or v + u * a % of v (HBase, tower)
    kExponential,   // -ln(1 - u) * v: exponentially distributed with mean v
    kDecorrelated,  // base + u * (3 * last - base), initially last = base (AWS, 2015)
    kPolly,         // Polly's DecorrelatedJitterBackoffV2; the median of the first wait is the base
  };

  Kind kind = Kind::kNone;
  double amount = 0;   // of kAdditive in percent of the wait, of the others a share
  Duration spread{0};  // kAdditive, if `amount` is 0

  // The last two kinds compute each wait from the previous one, so they replace the growth.
  bool is_growth() const { return kind == Kind::kDecorrelated || kind == Kind::kPolly; }

  // The wait `v` after jitter; the last two kinds leave it unchanged. Draws a random number only if
  // one is needed.
  Duration of(Duration v, Random& random) const;

  bool operator==(const Jitter&) const = default;
};

// Reads "none", "full", "normal:0.1" or just "0.1", "proportional:0.2", "shorter:0.1",
// "additive:1s", "additive:1%" and so on. Throws std::invalid_argument with a readable message.
Jitter parse_jitter(std::string_view text);
std::string to_string(const Jitter& jitter);

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

  bool operator==(const BackoffSettings&) const = default;
};

// A strategy's own --grow-from and --jitter-first were made for its own jitter. So a jitter of another
// kind also resets these two to the usual values: waits grow from the wait without jitter, and the
// first wait is jittered too. Options that are set after the jitter override this.
void declare_options(OptionList& options, BackoffSettings& settings);

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

// The wait before a retry. Draws a random number only if one is needed.
Duration with_hint(const HintUseSettings& settings, Duration wait, std::optional<Duration> hint,
                   Random& random);

struct PacerSettings {
  bool on = false;
  Duration initial_interval = std::chrono::milliseconds(500);
  Duration max_interval = std::chrono::minutes(15);
  double up_multiplier = 1.5;
  double down_multiplier = 0.9;
  std::uint32_t down_threshold = 10;
  double randomization = 0.3;
  Duration max_randomization = std::chrono::minutes(2);
};

void declare_options(OptionList& options, PacerSettings& settings);

// The AutoSleeper (sakthipriyan/go-utils, sleeper.go; "Responsive exponential backoff in Go",
// 2022). Each failure lengthens the pause, and every `down_threshold` successes shorten it. The
// client also pauses after successes, until the pause has fallen below `initial_interval`. Safe to
// share between threads: the pause is in the client's `RetryState`.
class Pacer {
 public:
  explicit Pacer(const PacerSettings& settings) : settings_(settings) {}

  // Lengthens the pause after a failure and returns it: a step up.
  Duration step_up(RetryState& state, Random& random) const;

  // Counts a success while there is a pause. Returns true if that was a step down.
  bool count_success(RetryState& state, Random& random) const;

 private:
  Duration randomized(Duration x, Random& random) const;

  PacerSettings settings_;
};

}  // namespace retrystorm
