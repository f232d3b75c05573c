// Jitter: makes a computed wait random, so that clients that failed together do not retry together.
#pragma once

#include <string>
#include <string_view>

#include "model/base/duration.h"
#include "model/base/random.h"

namespace retrystorm {

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

// The wait before retry n (0 for the first one) by Polly's second formula (App-vNext/Polly,
// RetryHelper.cs): x(t) = 2^t * tanh(sqrt(4t)) at t = n + u, wait = (x - before) / 1.4 * median.
// `before` carries x to the next call. It is in units of the median and starts at 0.
Duration polly_wait(Duration median, std::uint32_t n, double u, double& before);

}  // namespace retrystorm
