#include "model/service/rate_limit.h"

#include <algorithm>

#include "model/base/text.h"

namespace retrystorm {

double idle_share(const CapacityUse& capacity) {
  if (capacity.provided <= 0) return 0;
  return std::max(0.0, 1 - static_cast<double>(capacity.used) / capacity.provided);
}

double bucket_size(const RateBurst& burst, double rate) {
  if (burst.unused) return std::max({1.0, rate, rate * to_seconds(*burst.unused)});
  return std::max(1.0, burst.requests > 0 ? burst.requests : rate);
}

RateBurst parse_rate_burst(std::string_view text) {
  const bool timed = !text.empty() && text.back() >= 'a' && text.back() <= 'z' &&
                     text.front() >= '0' && text.front() <= '9';
  if (timed) return {.unused = parse_duration(text, Duration::zero())};
  return {.requests = parse_number(text, 0, kHighestRate)};
}

std::string to_string(const RateBurst& burst) {
  return burst.unused ? format_duration(*burst.unused) : print_number(burst.requests);
}

void declare_options(OptionList& options, RateLimitSettings& settings) {
  options
      .number("rate-limit", settings.rate,
              "how many requests a second are admitted; others get 429; 0 = off", 0, kHighestRate,
              "requests/s")
      .with_range("0", "1000")
      .basic = "Service";
  options
      .text(
          "rate-burst",
          "how many requests the rate limit admits at once, 0 = one second's worth; or how long "
          "unused capacity is saved, such as 300s",
          [&settings](std::string_view text) { settings.burst = parse_rate_burst(text); },
          [&settings] { return to_string(settings.burst); })
      .with_examples({"0", "100", "300s"});
  options.choice<int>("throttle-status", settings.status,
                      {{"429", 429}, {"400", 400}, {"503", 503}},
                      "the status of a request that the rate limit rejects; 400 as from "
                      "DynamoDB, with the name of its error");
  options.needs_after("rate-limit", "rate-limit");
}

RateLimit::RateLimit(const RateLimitSettings& settings, TimePoint start)
    : rate_(settings.rate),
      settings_(settings),
      bucket_(bucket()),
      tokens_(tokens_at_first()),
      filled_at_(start),
      autoscaler_(settings.rate > 0 ? settings.autoscale : AutoscaleSettings(), settings.rate,
                  start),
      rate_since_(start) {
  next_event_ = autoscaler_.next_event();
}

double RateLimit::tokens_at_first() const {
  return settings_.burst.unused ? std::min(bucket_, std::max(1.0, rate_)) : bucket_;
}

void RateLimit::fill(TimePoint now) {
  tokens_ = std::min(bucket_, tokens_ + to_seconds(now - filled_at_) * rate_);
  filled_at_ = now;
}

std::optional<Duration> RateLimit::take(TimePoint now) {
  if (now >= next_event_) advance(now);
  fill(now);
  if (tokens_ < 1) return from_seconds((1 - tokens_) / rate_);
  tokens_ -= 1;
  ++used_;
  return std::nullopt;
}

void RateLimit::set_rate(TimePoint now, double rate) {
  fill(now);
  provided_before_ += rate_ * to_seconds(now - rate_since_);
  rate_since_ = now;
  rate_ = rate;
  bucket_ = bucket();
  tokens_ = std::min(tokens_, bucket_);
}

void RateLimit::advance(TimePoint now) {
  // Apply each change at its due time, even if the engine calls late.
  while (next_event_ <= now) {
    const TimePoint at = next_event_;
    const double rate = autoscaler_.advance(used_);
    if (rate != rate_) set_rate(at, rate);
    next_event_ = autoscaler_.next_event();
  }
}

CapacityUse RateLimit::use(TimePoint now) const {
  return {.provided = provided_before_ + rate_ * to_seconds(now - rate_since_), .used = used_};
}

void RateLimit::configure(TimePoint now, const RateLimitSettings& settings) {
  advance(now);
  const bool was_on = on();
  const double rate = settings.rate == settings_.rate ? rate_ : settings.rate;
  settings_ = settings;
  set_rate(now, rate);
  if (!was_on) tokens_ = tokens_at_first();
  autoscaler_.configure(now, rate > 0 ? settings.autoscale : AutoscaleSettings(), rate, used_);
  next_event_ = autoscaler_.next_event();
}

}  // namespace retrystorm
