// Which requests the service admits: rate limit, load shedding and deliberate errors; why it rejects one, and the
// `Retry-After` that it sends then.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/base/random.h"
#include "model/service/rate_limit.h"

namespace retrystorm {

// Index of a reason in `kRejections`.
enum class Rejection : std::uint8_t {
  kRateLimited,
  kShed,
  kError,
  kQueueFull,
  kDropped,
  kAbandoned
};

struct RejectionKind {
  const char* name;  // for JSON and metrics
  int status;        // HTTP status
};

// The reasons, as reports, metrics and the HTTP server know them. A new reason needs a line here,
// and a rule that returns it.
inline constexpr std::array kRejections{
    RejectionKind{.name = "rate_limited", .status = 429},
    RejectionKind{.name = "shed", .status = 503},
    RejectionKind{.name = "error", .status = 503},
    RejectionKind{.name = "queue_full", .status = 503},
    RejectionKind{.name = "dropped", .status = 503},
    // Its client has hung up, so no answer is sent. 499 is what nginx writes into its log then.
    RejectionKind{.name = "abandoned", .status = 499},
};

constexpr std::size_t index_of(Rejection rejection) {
  return static_cast<std::size_t>(rejection);
}

// Rejected requests by reason, in the order of `kRejections`.
using RejectionCounts = std::array<std::uint64_t, kRejections.size()>;

// The answer to a request.
struct Answer {
  std::optional<Rejection> rejection{};  // rejected if set
  bool failed = false;                   // served normally, but answered with an error
  bool no_retry = false;                 // not OK: it says that it should not be retried
  int with = 0;                          // not OK: the status, 0 = the usual one of the reason
  Duration retry_after{0};               // not OK: the `Retry-After` hint, 0 = none

  bool ok() const { return !rejection && !failed; }

  int status() const {
    if (ok()) return 200;
    return with != 0 ? with : kRejections[index_of(rejection.value_or(Rejection::kError))].status;
  }

  // Does the answer's body or header say that it is throttled? DynamoDB does so, because its status 400
  // alone only means that the request was not served.
  bool asks_for_less() const { return rejection == Rejection::kRateLimited && with == 400; }

  // Did the service fail it deliberately (see `ErrorSettings`)?
  bool is_error() const { return failed || rejection == Rejection::kError; }

  bool operator==(const Answer&) const = default;
};

// When such a request fails.
enum class ErrorAfter {
  kAdmission,  // at once, before it enters the service
  kService,    // after it has been served normally
};

struct ErrorSettings {
  double share = 0;  // in [0, 1], of requests that pass rate limit and load shedding; 0 = off
  int status = 503;  // HTTP status of the answer
  ErrorAfter after = ErrorAfter::kAdmission;
};

// The share that fails by one of two independent causes.
inline double either_fails(double a, double b) {
  if (a == 0 || b == 0) return a + b;
  return 1 - (1 - a) * (1 - b);
}

inline constexpr int kLeastErrorStatus = 400, kMostErrorStatus = 599;

void declare_options(OptionList& options, ErrorSettings& settings);

// Whether a request fails at this point. Each one fails independently. Draws no random number where
// the result is certain.
inline bool fails(const ErrorSettings& settings, ErrorAfter point, Random& random) {
  return settings.share > 0 && settings.after == point && random.uniform() < settings.share;
}

enum class HintKind {
  kNone,      // no hint
  kComputed,  // when a token is available, or a second after load shedding
  kFixed,     // always the same
  kSpread,    // random, so that clients rejected together do not return together
};

// HTTP sends whole seconds, and 0 seconds would be no hint. So the hint is rounded up, to at least
// one second.
struct HintOfferSettings {
  HintKind kind = HintKind::kComputed;
  Duration least = std::chrono::seconds(1);  // fixed: the hint itself
  Duration most = std::chrono::seconds(10);  // spread: the upper end, uniform over whole seconds
};

void declare_options(OptionList& options, HintOfferSettings& settings);

// Throws std::invalid_argument with a readable message if settings contradict each other.
void check(const HintOfferSettings& settings);

// Does a deliberate error of this status carry the hint? There is no estimate to compute one from.
inline bool hints_at_errors(const HintOfferSettings& settings, int status) {
  return (settings.kind == HintKind::kFixed || settings.kind == HintKind::kSpread) &&
         (status == 429 || status == 503);
}

// The hint in whole seconds, or zero for none. `computed` is the admission's own estimate. Draws no
// random number where the result is certain.
Duration offered_hint(const HintOfferSettings& settings, Duration computed, Random& random);

// Decides about each request on arrival. A rejected request never counts in the concurrency. Not
// thread-safe. Times must not go back.
class AdmissionControl {
 public:
  // shed_above: reject a request that would raise the concurrency above this, with `shed_status`.
  // 0 = never.
  AdmissionControl(const RateLimitSettings& rate_limit, std::size_t shed_above,
                   int shed_status = kRejections[index_of(Rejection::kShed)].status,
                   TimePoint start = {})
      : shed_above_(shed_above),
        shed_status_(shed_status),
        status_(rate_limit.status),
        rate_limit_(rate_limit, start) {}

  // `concurrency` does not include this request. A rejection carries a hint when to retry: when a
  // token is available, or a second after load shedding.
  Answer admit(TimePoint now, std::size_t concurrency) {
    return shed_above_ == 0 && !rate_limit_.on() ? Answer() : decide(now, concurrency);
  }

  // When the rate limit may next change. `TimePoint::max()` if it never does.
  TimePoint next_event() const { return rate_limit_.next_event(); }
  void advance(TimePoint now) { rate_limit_.advance(now); }

  const RateLimit& rate_limit() const { return rate_limit_; }

  // Applies new settings from now on.
  void configure(TimePoint now, const RateLimitSettings& rate_limit, std::size_t shed_above,
                 int shed_status);

 private:
  Answer decide(TimePoint now, std::size_t concurrency);

  std::size_t shed_above_;
  int shed_status_;
  int status_;
  RateLimit rate_limit_;
};

}  // namespace retrystorm
