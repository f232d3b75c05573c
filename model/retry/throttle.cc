#include "model/retry/throttle.h"

#include <array>
#include <span>

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
}

void find_unused(UnusedOptions& unused, const ThrottleSettings& settings) {
  if (!settings.on) find_unused<ThrottleSettings>(unused, settings, {}, "without --throttle");
}

Throttle::Counts& Throttle::Counts::operator+=(const Counts& other) {
  requests += other.requests;
  accepts += other.accepts;
  return *this;
}

Throttle::Counts& Throttle::Counts::operator-=(const Counts& other) {
  requests -= other.requests;
  accepts -= other.accepts;
  return *this;
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

}  // namespace retrystorm
