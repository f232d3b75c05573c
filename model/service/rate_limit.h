// The rate limit of a service, or its provisioned capacity: a token bucket. An autoscaler may
// change its rate.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/base/sums.h"
#include "model/service/autoscaler.h"

namespace retrystorm {

// The burst: how many requests a rate limit admits at once.
struct RateBurst {
  double requests = 0;  // a number, available from the start; 0 = the requests of one second
  // If set, replaces `requests`: unused capacity is kept, up to this duration's worth. At the start
  // there is no unused capacity yet, so one second's worth is available.
  std::optional<Duration> unused{};

  bool operator==(const RateBurst&) const = default;
};

// Parses "30" as a number of requests, and "300s" as a duration. Throws std::invalid_argument with
// a readable message.
RateBurst parse_rate_burst(std::string_view text);
std::string to_string(const RateBurst& burst);

inline constexpr double kHighestRate = 1e9;

struct RateLimitSettings {
  double rate = 0;  // initial requests per second; 0 = no limit
  RateBurst burst{};
  int status = 429;  // HTTP status of a rejection
  AutoscaleSettings autoscale{};
};

// How many requests a limit of `rate` requests/s admits at once, after a time without any.
double bucket_size(const RateBurst& burst, double rate);

// Declares all options except the autoscaler's, in the current group of options.
void declare_options(OptionList& options, RateLimitSettings& settings);

// Capacity and its use since the start of a service.
struct CapacityUse {
  double provided = 0;     // integral of the capacity in unit-seconds, which is what one pays for
  std::uint64_t used = 0;  // admitted requests, one unit-second each

  static constexpr std::tuple kSummed{&CapacityUse::provided, &CapacityUse::used};
};

// The share of the provided capacity that was not used. At least 0, because the burst at the start
// uses capacity from before. 0 when nothing was provided.
double idle_share(const CapacityUse& capacity);

// Not thread-safe. Times must not go back.
class RateLimit {
 public:
  RateLimit(const RateLimitSettings& settings, TimePoint start);

  bool on() const { return rate_ > 0; }

  // Admits a request and returns nothing. Or returns the time until there is a token.
  std::optional<Duration> take(TimePoint now);

  // When the autoscaler is next due. `TimePoint::max()` if never.
  TimePoint next_event() const { return next_event_; }
  void advance(TimePoint now);

  // The current requests per second. 0 = no limit.
  double rate() const { return rate_; }
  CapacityUse use(TimePoint now) const;

  // Applies new settings. Tokens are kept, up to the new bucket size. A rate set by the autoscaler
  // is also kept, unless the settings change the rate. A limit that did not exist before begins as
  // at the start.
  void configure(TimePoint now, const RateLimitSettings& settings);

 private:
  void fill(TimePoint now);
  void set_rate(TimePoint now, double rate);
  double bucket() const { return bucket_size(settings_.burst, rate_); }
  double tokens_at_first() const;  // tokens when the limit begins

  // The first two are all that most services look at, for each request.
  double rate_;
  TimePoint next_event_{};
  RateLimitSettings settings_;
  double bucket_;
  double tokens_;
  TimePoint filled_at_;
  Autoscaler autoscaler_;
  std::uint64_t used_ = 0;
  // Capacity provided before the current rate was set, in unit-seconds.
  double provided_before_ = 0;
  TimePoint rate_since_;
};

}  // namespace retrystorm
