#include "model/retry/breaker.h"

#include <algorithm>
#include <array>
#include <span>

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

constexpr std::array<BreakerSettings, 5> kBreakers{{
    {},
    {.name = "resilience4j", .on = true},
    {.name = "polly",
     .on = true,
     .window = BreakerWindow::kTime,
     .span = 30s,
     .slices = 10,
     .failure_share = 0.1,
     .open_for = 5s,
     .trials = 1,
     .judges = BreakerJudges::kFailures},
    {.name = "hystrix",
     .on = true,
     .window = BreakerWindow::kTime,
     .span = 10s,
     .slices = 10,
     .min_calls = 20,
     .open_for = 5s,
     .trials = 1},
    {.name = "gobreaker",
     .on = true,
     .calls = 6,
     .min_calls = 6,
     .failure_share = 1,
     .trials = 1,
     .late_ends = LateEnds::kIgnore},
}};

}  // namespace

void declare_options(OptionList& options, BreakerSettings& settings) {
  constexpr std::uint64_t kMany = 1'000'000;
  options.group("Circuit breaker of a process: sends nothing while too much fails");
  options.preset("breaker", settings, std::span<const BreakerSettings>(kBreakers),
                 "the named breaker, which sets the defaults below");
  options.choice<BreakerWindow>("breaker-window", settings.window,
                                {{"calls", BreakerWindow::kCalls}, {"time", BreakerWindow::kTime}},
                                "whether the window is a number of calls or a length of time");
  options.count("breaker-calls", settings.calls, "how many calls the window holds", 1, kMany,
                "calls");
  options.duration("breaker-time", settings.span, "how long the window is",
                   std::chrono::milliseconds(1));
  options.count("breaker-slices", settings.slices,
                "how many slices a window of time has; the oldest is dropped as a whole", 1,
                100'000, "slices");
  options.count("breaker-min-calls", settings.min_calls,
                "how many calls the window must hold before the breaker may open", 1, kMany,
                "calls");
  options.number("breaker-failure-share", settings.failure_share,
                 "the share of failed calls at which the breaker opens", 0, 1);
  options.duration_or_none("breaker-slow-call", settings.slow_call,
                           "how long a call may take before it counts as slow");
  options.number("breaker-slow-share", settings.slow_share,
                 "the share of slow calls at which the breaker opens", 0, 1);
  options.duration("breaker-open-for", settings.open_for,
                   "how long the breaker stays open before it lets trial calls through");
  options.count("breaker-trials", settings.trials, "how many trial calls it lets through", 1, kMany,
                "calls");
  options.choice<BreakerJudges>(
      "breaker-judges", settings.judges,
      {{"every-end", BreakerJudges::kEveryEnd}, {"failures", BreakerJudges::kFailures}},
      "when the window is checked: when any call ends, or when one fails");
  options.choice<LateEnds>("breaker-late-ends", settings.late_ends,
                           {{"count", LateEnds::kCount}, {"ignore", LateEnds::kIgnore}},
                           "whether a call counts that was sent before the breaker last opened "
                           "or closed");
  options.needs("breaker-time breaker-slices", "breaker-window!=calls");
  options.needs("breaker-calls", "breaker-window!=time");
  options.needs_after("breaker", "breaker");
}

Breaker::Breaker(const BreakerSettings& settings, TimePoint now) : settings_(settings) {
  if (settings_.window == BreakerWindow::kCalls) {
    // The window holds at most `calls`, so a greater minimum would never be reached.
    settings_.min_calls = std::min(settings_.min_calls, settings_.calls);
  }
  change_to(State::kClosed, now);
  changed_ = TimePoint::min();
}

void Breaker::change_to(State state, TimePoint now) {
  state_ = state;
  changed_ = now;
  if (state == State::kHalfOpen) {
    permits_ = settings_.trials;
    trials_ = Calls();
  }
  if (state != State::kClosed) return;
  if (settings_.window == BreakerWindow::kTime) {
    // resilience4j aligns its slices with the seconds of the clock.
    const TimePoint second = std::chrono::floor<std::chrono::seconds>(now);
    in_time_.emplace(second, settings_.span, settings_.slices);
  } else {
    last_.assign(settings_.calls, Calls());
    sum_ = Calls();
    next_ = 0;
  }
}

const Breaker::Calls& Breaker::count(TimePoint now, const Calls& call) {
  if (in_time_) {
    in_time_->add(now, call);
    return in_time_->total(now);
  }
  sum_ -= last_[next_];
  sum_ += call;
  last_[next_] = call;
  next_ = next_ + 1 < last_.size() ? next_ + 1 : 0;
  return sum_;
}

bool Breaker::too_many(const Calls& calls) const {
  const auto share = [&](std::uint32_t some) { return static_cast<double>(some) / calls.ended; };
  return share(calls.failed) >= settings_.failure_share ||
         share(calls.slow) >= settings_.slow_share;
}

Permission Breaker::ask(TimePoint now, Random& /*random*/) {
  if (state_ == State::kOpen && now > saturating_add(changed_, settings_.open_for)) {
    change_to(State::kHalfOpen, now);
  }
  if (state_ == State::kClosed) return {};
  if (state_ == State::kOpen || permits_ == 0) return {.kind = Permission::Kind::kRefused};
  --permits_;
  return {};
}

void Breaker::take_back(TimePoint /*now*/) {
  if (state_ == State::kHalfOpen) ++permits_;
}

void Breaker::attempt_ended(TimePoint now, const AttemptResult& result) {
  if (state_ == State::kOpen) return;
  const bool sent_before = now - result.latency < changed_;
  if (sent_before && settings_.late_ends == LateEnds::kIgnore) return;
  const bool failed = result.outcome != Outcome::kOk;
  const Calls call{.ended = 1, .failed = failed, .slow = result.latency > settings_.slow_call};
  if (state_ == State::kHalfOpen) {
    trials_ += call;
    if (trials_.ended < std::min(settings_.min_calls, settings_.trials)) return;
    change_to(too_many(trials_) ? State::kOpen : State::kClosed, now);
    return;
  }
  const Calls& calls = count(now, call);
  if (calls.ended < settings_.min_calls) return;
  if (settings_.judges == BreakerJudges::kFailures && !failed) return;
  if (too_many(calls)) change_to(State::kOpen, now);
}

}  // namespace retrystorm
