// Why a service rejects a request, and how it answers then.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "model/base/duration.h"

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

  // Did the service fail it deliberately (see errors.h)?
  bool is_error() const { return failed || rejection == Rejection::kError; }

  bool operator==(const Answer&) const = default;
};

}  // namespace retrystorm
