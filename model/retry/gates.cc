#include "model/retry/gates.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "model/base/random.h"
#include "model/base/text.h"

namespace retrystorm {
namespace {

constexpr std::array<ThrottleSettings, 3> kThrottles{{
    {},
    {.name = "sre", .on = true},
    {.name = "grpc",
     .on = true,
     .padding = 8,
     .window = std::chrono::seconds(30),
     .counts = ThrottleCounts::kAnswered},
}};

}  // namespace

void declare_options(OptionList& options, ThrottleSettings& settings) {
  options.group("Adaptive throttling of a process: sends less when less is accepted");
  options.preset("throttle", settings, std::span<const ThrottleSettings>(kThrottles),
                 "the named throttling, which sets the defaults below");
  options.number("throttle-ratio", settings.ratio,
                 "K: how many attempts are sent for each accepted one before some are refused", 1,
                 1e6);
  options.number("throttle-padding", settings.padding,
                 "how many attempts are added to the count, so that few are refused while there "
                 "are only a few",
                 0.001, 1e6);
  options.duration("throttle-window", settings.window, "how long an attempt is counted",
                   std::chrono::milliseconds(1));
  options.choice<ThrottleCounts>(
      "throttle-counts", settings.counts,
      {{"asked", ThrottleCounts::kAsked}, {"answered", ThrottleCounts::kAnswered}},
      "when an attempt is counted: when it is asked for, or when it is answered or refused");
  options.needs_after("throttle", "throttle");
}

Throttle::Throttle(const ThrottleSettings& settings, TimePoint now)
    : settings_(settings), window_(now, settings.window, kSlices) {}

double Throttle::probability(TimePoint now) {
  const Counts& counts = window_.total(now);
  const auto requests = static_cast<double>(counts.requests);
  const double beyond = requests - settings_.ratio * static_cast<double>(counts.accepts);
  return beyond <= 0 ? 0 : beyond / (requests + settings_.padding);
}

Permission Throttle::ask(TimePoint now, Random& random) {
  const double p = probability(now);
  const bool refused = p > 0 && random.uniform() < p;
  if (refused || settings_.counts == ThrottleCounts::kAsked) window_.add(now, {.requests = 1});
  return {.kind = refused ? Permission::Kind::kRefused : Permission::Kind::kSend};
}

void Throttle::take_back(TimePoint now) {
  if (settings_.counts != ThrottleCounts::kAsked) return;
  // This is called at the time at which the request was counted, so it is in the same slice.
  window_.subtract(now, {.requests = 1});
}

void Throttle::attempt_ended(TimePoint now, const AttemptResult& result) {
  const bool answered = settings_.counts == ThrottleCounts::kAnswered;
  window_.add(now, {.requests = answered, .accepts = result.accepted});
}

namespace {

constexpr std::uint64_t kMostConcurrent = 1'000'000'000;

ConcurrencyLimitSettings::Kind limit_kind(std::string_view name) {
  using Kind = ConcurrencyLimitSettings::Kind;
  if (name == kNoneWord) return Kind::kNone;
  if (name == "fixed") return Kind::kFixed;
  if (name == "aimd") return Kind::kAimd;
  refuse(unknown_name(name, {kNoneWord, "fixed", "aimd"}));
}

// KIND[:LIMIT]
void parse_limit(std::string_view text, ConcurrencyLimitSettings& settings) {
  using Kind = ConcurrencyLimitSettings::Kind;
  const std::size_t colon = text.find(':');
  const Kind kind = limit_kind(text.substr(0, colon));
  std::uint32_t start = ConcurrencyLimitSettings().start;
  if (colon != text.npos) {
    if (kind == Kind::kNone) refuse("none takes no limit");
    start = static_cast<std::uint32_t>(parse_count(text.substr(colon + 1), 1, kMostConcurrent));
  } else if (kind == Kind::kFixed) {
    refuse("fixed takes a limit (fixed:100)");
  }
  settings.kind = kind;
  settings.start = start;
}

std::string print_limit(const ConcurrencyLimitSettings& settings) {
  using Kind = ConcurrencyLimitSettings::Kind;
  if (settings.kind == Kind::kNone) return std::string(kNoneWord);
  return (settings.kind == Kind::kFixed ? "fixed:" : "aimd:") + std::to_string(settings.start);
}

}  // namespace

void declare_options(OptionList& options, ConcurrencyLimitSettings& settings) {
  options.group("Concurrency limit of a process: refuses attempts beyond it");
  options
      .text(
          "concurrency-limit",
          "how many attempts may be in flight, as KIND[:LIMIT]: none, fixed:100, aimd:20 (starts "
          "at 20 and adapts)",
          [&settings](std::string_view text) { parse_limit(text, settings); },
          [&settings] { return print_limit(settings); })
      .with_examples({"none", "fixed:10", "aimd:20"});
  options.count("limit-min", settings.least, "aimd: the lowest limit", 1, kMostConcurrent,
                "attempts");
  options.count("limit-max", settings.most, "aimd: the highest limit", 1, kMostConcurrent,
                "attempts");
  options.number("limit-decrease", settings.decrease,
                 "aimd: the factor by which each dropped attempt lowers the limit", 0, 1);
  options.duration_or_none("limit-slow", settings.slow,
                           "aimd: how long an attempt may take before it counts as dropped");
  options.needs("limit-min limit-max limit-decrease limit-slow", "concurrency-limit=aimd");
}

void check(const ConcurrencyLimitSettings& settings) {
  if (settings.kind != ConcurrencyLimitSettings::Kind::kAimd) return;
  if (settings.least > settings.most) refuse("limit-min is above limit-max");
  if (settings.start < settings.least || settings.start > settings.most) {
    refuse("concurrency-limit starts outside limit-min and limit-max");
  }
}

ConcurrencyLimit::ConcurrencyLimit(const ConcurrencyLimitSettings& settings)
    : settings_(settings), limit_(settings.start) {}

Permission ConcurrencyLimit::ask(TimePoint /*now*/, Random& /*random*/) {
  if (in_flight_ >= limit_) return {.kind = Permission::Kind::kRefused};
  ++in_flight_;
  return {};
}

void ConcurrencyLimit::take_back(TimePoint /*now*/) {
  --in_flight_;
}

void ConcurrencyLimit::attempt_cancelled(TimePoint /*now*/) {
  if (in_flight_ > 0) --in_flight_;
}

void ConcurrencyLimit::attempt_ended(TimePoint /*now*/, const AttemptResult& result) {
  const std::uint64_t in_use = in_flight_;
  if (in_flight_ > 0) --in_flight_;
  if (settings_.kind != ConcurrencyLimitSettings::Kind::kAimd) return;
  const bool ok = result.outcome == Outcome::kOk;
  if (result.accepted && !ok) return;
  if (!ok || result.latency > settings_.slow) {
    limit_ = static_cast<std::uint32_t>(settings_.decrease * limit_);
  } else if (2 * in_use >= limit_) {
    ++limit_;
  }
  limit_ = std::clamp(limit_, settings_.least, settings_.most);
}

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
      refuse(unknown_name(text, {kNoneWord, kAdaptive}) +
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
  options.number("rate-min", settings.least, "how many attempts a second are always allowed", 0.001,
                 1e6, "attempts/s");
  options.needs("rate-decrease rate-scale rate-smoothing rate-min", "client-rate=aws-adaptive");
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
