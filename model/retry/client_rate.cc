#include "model/retry/client_rate.h"

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <string>

#include "model/base/portable_math.h"

namespace retrystorm {
namespace {

constexpr double kLeastRate = 0.001, kMostRate = 1e6;  // attempts per second

using HalfSeconds = std::chrono::duration<std::int64_t, std::ratio<1, 2>>;

// Gives the same result on every machine. One Newton step corrects the last bits.
double cube_root(double x) {
  if (x <= 0) return 0;
  const double root = exponential(natural_log(x) / 3);
  return root - (root * root * root - x) / (3 * root * root);
}

constexpr std::string_view kAdaptive = "aws-adaptive";

void parse_client_rate(std::string_view text, ClientRateSettings& settings) {
  using Kind = ClientRateSettings::Kind;
  if (text.empty() || text.find_first_of("0123456789") != 0) {
    if (text != kNoneWord && text != kAdaptive) {
      throw std::invalid_argument(unknown_name(text, {kNoneWord, kAdaptive}) +
                                  ", or give a rate, such as 10/s or 600/min");
    }
    settings.kind = text == kAdaptive ? Kind::kAwsAdaptive : Kind::kNone;
    return;
  }
  settings.rate = parse_rate(text, kLeastRate, kMostRate);
  settings.kind = Kind::kFixed;
}

std::string print_client_rate(const ClientRateSettings& settings) {
  using Kind = ClientRateSettings::Kind;
  if (settings.kind == Kind::kFixed) return print_number(settings.rate) + "/s";
  return std::string(settings.kind == Kind::kNone ? kNoneWord : kAdaptive);
}

}  // namespace

void declare_options(OptionList& options, ClientRateSettings& settings) {
  options.group("Rate limit of a process: delays attempts, so that the service need not throttle");
  options
      .text(
          "client-rate",
          "how many attempts a second all clients of a process may send: none, 10/s, 600/min, or "
          "aws-adaptive, which lowers it when the service throttles",
          [&settings](std::string_view text) { parse_client_rate(text, settings); },
          [&settings] { return print_client_rate(settings); })
      .with_examples({kNoneWord, kAdaptive, "10/s"});
  options.number("rate-decrease", settings.decrease,
                 "the factor by which a throttling answer lowers the rate", 0, 1);
  options.number("rate-scale", settings.scale,
                 "how steeply the rate grows again: the factor of its cubic curve", 0.001, 1e6);
  options.number("rate-smoothing", settings.smoothing,
                 "the weight of the last half second in the measured rate", 0, 1);
  options
      .number("rate-min", settings.least, "how many attempts a second are always allowed", 0.001,
              1e6)
      .with_unit("attempts/s");
}

void find_unused(UnusedOptions& unused, const ClientRateSettings& settings) {
  if (settings.kind != ClientRateSettings::Kind::kAwsAdaptive) {
    find_unused<ClientRateSettings>(unused, settings, {}, "without --client-rate=aws-adaptive",
                                    {"rate-decrease", "rate-scale", "rate-smoothing", "rate-min"});
  }
}

double rate_of_each(double limit, std::size_t processes) {
  return std::floor(1000 * limit / static_cast<double>(processes)) / 1000;
}

std::unique_ptr<Gate> make_client_rate(const ClientRateSettings& settings, TimePoint now) {
  switch (settings.kind) {
    case ClientRateSettings::Kind::kFixed:
      return std::make_unique<FixedRate>(settings.rate, now);
    case ClientRateSettings::Kind::kAwsAdaptive:
      return std::make_unique<ClientRate>(settings, now);
    case ClientRateSettings::Kind::kNone:
      break;
  }
  return nullptr;
}

FixedRate::FixedRate(double rate, TimePoint now) : each_(from_seconds(1 / rate)), next_(now) {}

Permission FixedRate::ask(TimePoint now, Random& /*random*/) {
  const TimePoint token = std::max(next_, now - kSlack);
  next_ = saturating_add(token, each_);
  if (token <= now) return {};
  return {.kind = Permission::Kind::kWait, .wait = token - now, .reserved = true};
}

void FixedRate::take_back(TimePoint /*now*/) {
  next_ -= each_;
}

ClientRate::ClientRate(const ClientRateSettings& settings, TimePoint now)
    : settings_(settings),
      slot_(2 * std::chrono::floor<std::chrono::seconds>(now.time_since_epoch()).count()),
      throttled_(now),
      filled_(now) {}

void ClientRate::measure(TimePoint now) {
  ++answers_;
  const std::int64_t slot = std::chrono::floor<HalfSeconds>(now.time_since_epoch()).count();
  if (slot <= slot_) return;
  const double elapsed = static_cast<double>(slot - slot_) / 2;
  const double rate = static_cast<double>(answers_) / elapsed;
  measured_ = settings_.smoothing * rate + (1 - settings_.smoothing) * measured_;
  answers_ = 0;
  slot_ = slot;
}

void ClientRate::refill(TimePoint now) {
  if (now <= filled_) return;
  tokens_ = std::min(tokens_ + to_seconds(now - filled_) * fill_rate_, capacity_);
  filled_ = now;
}

double ClientRate::calculated(TimePoint now) const {
  const double since = to_seconds(now - throttled_) - zero_point_;
  return settings_.scale * (since * since * since) + most_;
}

void ClientRate::attempt_ended(TimePoint now, const AttemptResult& result) {
  measure(now);
  double rate = 0;
  if (result.failure == Failure::kThrottled) {
    most_ = enabled_ ? std::min(measured_, fill_rate_) : measured_;
    zero_point_ = cube_root(most_ * (1 - settings_.decrease) / settings_.scale);
    throttled_ = now;
    enabled_ = true;
    rate = settings_.decrease * most_;
  } else {
    rate = calculated(now);
  }
  rate = std::min(rate, 2 * measured_);
  refill(now);
  fill_rate_ = std::max(rate, settings_.least);
  capacity_ = std::max(rate, 1.0);
  tokens_ = std::min(tokens_, capacity_);
}

Permission ClientRate::ask(TimePoint now, Random& /*random*/) {
  if (!enabled_) return {};
  refill(now);
  if (tokens_ >= 1) {
    tokens_ -= 1;
    return {};
  }
  // One nanosecond more, so that rounding does not leave the token slightly short.
  const Duration full = saturating_add(from_seconds((1 - tokens_) / fill_rate_), Duration(1));
  return {.kind = Permission::Kind::kWait, .wait = std::min(full, kLook)};
}

void ClientRate::take_back(TimePoint /*now*/) {
  if (enabled_) tokens_ = std::min(tokens_ + 1, capacity_);
}

}  // namespace retrystorm
