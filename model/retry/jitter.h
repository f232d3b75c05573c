// Jitter: how a computed wait is made random, so that clients that failed together do not come
// back together.
#pragma once

#include <string>
#include <string_view>

#include "model/base/duration.h"
#include "model/base/random.h"

namespace retrystorm {

struct Jitter {
  // With v the computed wait, u uniform in [0, 1) and drawn anew each time, a the amount:
  enum class Kind {
    kNone,          // v
    kFull,          // u * v (AWS, "Exponential Backoff And Jitter", 2015)
    kEqual,         // v/2 + u * v/2 (likewise)
    kNormal,        // v * (1 + a * z), z standard normal, at least 0 (Twisted, smira)
    kProportional,  // v * (1 + a * (2u - 1)) (gRPC, cenkalti/backoff, Azure)
    kAdditive,      // v + u * spread (Google Cloud's documents), or v + u * a % of v (HBase, tower)
    kExponential,   // -ln(1 - u) * v: exponentially distributed with mean v
    kDecorrelated,  // base + u * (3 * last - base), last = base at first (AWS, 2015)
    kPolly,         // Polly's DecorrelatedJitterBackoffV2, whose median first wait is the base
  };

  Kind kind = Kind::kNone;
  double amount = 0;   // of kNormal and kProportional a share; of kAdditive in percent of the wait
  Duration spread{0};  // of kAdditive, where the amount is 0

  // The last two kinds compute the wait themselves, from the one before: they need no growth.
  bool is_growth() const { return kind == Kind::kDecorrelated || kind == Kind::kPolly; }

  // The wait `v` made random; of the last two kinds, as it is. Draws nothing where there is
  // nothing to draw for.
  Duration of(Duration v, Random& random) const;

  bool operator==(const Jitter&) const = default;
};

// "none", "full", "normal:0.1" or just "0.1", "proportional:0.2", "additive:1s", "additive:1%",
// ... Throws
// std::invalid_argument with a sentence for a person.
Jitter parse_jitter(std::string_view text);
std::string to_string(const Jitter& jitter);

// The wait before retry n (0 for the first one) by Polly's second formula, and what it must know
// of it the next time: x(t) = 2^t * tanh(sqrt(4t)) at t = n + u, wait = (x - before) / 1.4 *
// median. (App-vNext/Polly, RetryHelper.cs.) `before`, in units of the median, starts at 0.
Duration polly_wait(Duration median, std::uint32_t n, double u, double& before);

}  // namespace retrystorm
