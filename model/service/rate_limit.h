// The rate limit of a service, or its provisioned capacity: a bucket of tokens, which an autoscaler
// may refill faster or slower.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/service/autoscaler.h"

namespace retrystorm {

// How many requests a rate limit lets in at once.
struct RateBurst {
  double requests = 0;  // so many, from the start; 0 = one second's worth
  // Instead of them, where it is given: what has not been used, up to the capacity of so long. At
  // the start nothing has been left unused, and a second's worth is there.
  std::optional<Duration> unused{};

  bool operator==(const RateBurst&) const = default;
};

// "30" is a number of requests, "300s" a time. Throws std::invalid_argument with a sentence for a
// person.
RateBurst parse_rate_burst(std::string_view text);
std::string to_string(const RateBurst& burst);

struct RateLimitSettings {
  double rate = 0;  // requests a second, to begin with; 0 = no limit
  RateBurst burst{};
  int status = 429;  // of the answer to those turned away
  AutoscaleSettings autoscale{};
};

// All but those of the autoscaler, in the group of options at hand.
void declare_options(OptionList& options, RateLimitSettings& settings);

// Adds the options that were given but can have no effect, the autoscaler's too.
void find_unused(UnusedOptions& unused, const RateLimitSettings& settings);

// A capacity and its use, since the start of a service.
struct CapacityUse {
  double provided = 0;     // the capacity's integral: unit-seconds, which is what one pays for
  std::uint64_t used = 0;  // requests let in, a unit-second each

  friend CapacityUse operator-(const CapacityUse& a, const CapacityUse& b) {
    return {.provided = a.provided - b.provided, .used = a.used - b.used};
  }
};

// The share of what was provided that nobody used, at least 0: what is let in at once at the start
// has been provided before. 0 when nothing was provided.
double idle_share(const CapacityUse& capacity);

// Not for use from two threads at once; times must not go back.
class RateLimit {
 public:
  RateLimit(const RateLimitSettings& settings, TimePoint start);

  bool on() const { return rate_ > 0; }

  // Lets a request in. Or tells how long it is until there is a token.
  std::optional<Duration> take(TimePoint now);

  // When the autoscaler has something to do; `TimePoint::max()` when it never has.
  TimePoint next_event() const { return next_event_; }
  void advance(TimePoint now);

  // Requests a second, as things stand; 0 = no limit.
  double rate() const { return rate_; }
  CapacityUse use(TimePoint now) const;

  // From now on these settings are in force. The tokens stay, as far as there is room for
  // them, and so does what the autoscaler has made of the rate, unless another one is set. A limit
  // where there was none begins as at the start.
  void configure(TimePoint now, const RateLimitSettings& settings);

 private:
  void fill(TimePoint now);
  void set_rate(TimePoint now, double rate);
  double bucket() const;           // how many tokens it holds at most
  double tokens_at_first() const;  // and how many when it begins to be there

  RateLimitSettings settings_;
  double rate_;
  double bucket_;
  double tokens_;
  TimePoint filled_at_;
  Autoscaler autoscaler_;
  TimePoint next_event_;
  std::uint64_t used_ = 0;
  // Of the capacity's integral, what was provided before the rate at hand.
  double provided_before_ = 0;
  TimePoint rate_since_;
};

}  // namespace retrystorm
