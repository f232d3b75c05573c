#include "model/service/admission.h"

#include <algorithm>

namespace retrystorm {

void declare_options(OptionList& options, ErrorSettings& settings) {
  options.number("error-share", settings.share,
                 "the share of admitted requests that get --error-status; 0 = none", 0, 1);
  options
      .count("error-status", settings.status, "the HTTP status of these errors", kLeastErrorStatus,
             kMostErrorStatus)
      .with_range("400", "599");
  options.choice<ErrorAfter>(
      "error-after", settings.after,
      {{"admission", ErrorAfter::kAdmission}, {"service", ErrorAfter::kService}},
      "whether they are answered when they are admitted, or when they have been served like the others");
  options.needs("error-status error-after", "error-share");
}

namespace {

using Seconds = std::chrono::seconds;

// Rounds up to whole seconds, within the range of both types.
Seconds whole_seconds(Duration time) {
  const auto cut = std::chrono::duration_cast<Seconds>(time);
  return std::max(cut + Seconds(cut < time && time < Duration::max() - Seconds(1) ? 1 : 0),
                  Seconds(1));
}

}  // namespace

void declare_options(OptionList& options, HintOfferSettings& settings) {
  options.choice<HintKind>("hint", settings.kind,
                           {{"none", HintKind::kNone},
                            {"computed", HintKind::kComputed},
                            {"fixed", HintKind::kFixed},
                            {"spread", HintKind::kSpread}},
                           "the Retry-After of rejected requests: none, the time until the next "
                           "token (1 s after shedding), a fixed time, or a random one for each; "
                           "errors of 429 and 503 have a fixed or random one, too");
  options.duration("hint-for", settings.least,
                   "fixed: how long the Retry-After is; spread: how long at least; in whole "
                   "seconds (rounded up)",
                   Seconds(1));
  options.duration("hint-to", settings.most,
                   "spread: how long the Retry-After is at most; uniform over the whole seconds "
                   "between",
                   Seconds(1));
  options.needs("hint-to", "hint=spread");
  options.needs("hint-for hint-to", "hint=fixed|spread");
}

void check(const HintOfferSettings& settings) {
  if (settings.kind == HintKind::kSpread && settings.most < settings.least) {
    refuse("hint-to is shorter than hint-for: " + format_duration(settings.most) + " and " +
           format_duration(settings.least));
  }
}

Duration offered_hint(const HintOfferSettings& settings, Duration computed, Random& random) {
  const Seconds least = whole_seconds(settings.least);
  switch (settings.kind) {
    case HintKind::kNone:
      return Duration::zero();
    case HintKind::kComputed:
      return whole_seconds(computed);
    case HintKind::kFixed:
      return least;
    case HintKind::kSpread: {
      const Seconds range = whole_seconds(settings.most) - least;
      const auto values = static_cast<double>(range.count() + 1);
      return least + std::min(range, Seconds(static_cast<Seconds::rep>(values * random.uniform())));
    }
  }
  return Duration::zero();
}

namespace {

constexpr Duration kAfterShedding = std::chrono::seconds(1);

// The status of a rejection: 0 if it is the usual one of the reason.
int status_for(Rejection reason, int status) {
  return status == kRejections[index_of(reason)].status ? 0 : status;
}

}  // namespace

Answer AdmissionControl::decide(TimePoint now, std::size_t concurrency) {
  if (shed_above_ > 0 && concurrency >= shed_above_) {
    return {.rejection = Rejection::kShed,
            .with = status_for(Rejection::kShed, shed_status_),
            .retry_after = kAfterShedding};
  }
  if (!rate_limit_.on()) return {};
  const auto wait = rate_limit_.take(now);
  if (!wait) return {};
  return {.rejection = Rejection::kRateLimited,
          .with = status_for(Rejection::kRateLimited, status_),
          .retry_after = *wait};
}

void AdmissionControl::configure(TimePoint now, const RateLimitSettings& rate_limit,
                                 std::size_t shed_above, int shed_status) {
  rate_limit_.configure(now, rate_limit);
  status_ = rate_limit.status;
  shed_above_ = shed_above;
  shed_status_ = shed_status;
}

}  // namespace retrystorm
