// Why a service turns a request away, and what it answers then.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/base/duration.h"

namespace retrystorm {

// The place of a reason in `kRejections`.
enum class Rejection : std::uint8_t { kRateLimited, kShed, kError, kQueueFull, kDropped };

struct RejectionKind {
  const char* name;  // in JSON and metrics
  int status;        // of the HTTP answer
};

// All that reports, metrics and the HTTP server know of the reasons: a new one is a line here and
// the rule that gives it.
inline constexpr std::array kRejections{
    RejectionKind{.name = "rate_limited", .status = 429},
    RejectionKind{.name = "shed", .status = 503},
    RejectionKind{.name = "error", .status = 500},
    RejectionKind{.name = "queue_full", .status = 503},
    RejectionKind{.name = "dropped", .status = 503},
};

constexpr std::size_t index_of(Rejection rejection) {
  return static_cast<std::size_t>(rejection);
}

// How many were turned away, by reason, in the order of `kRejections`.
using RejectionCounts = std::array<std::uint64_t, kRejections.size()>;

// What a request is answered with.
struct Answer {
  std::optional<Rejection> rejection{};  // turned away when set
  Duration retry_after{0};               // rejected: what `Retry-After` says, 0 if it is not there
  bool failed = false;                   // served like any other, and then answered with an error
  int rejected_with = 0;                 // rejected: the status, 0 = the reason's own

  bool ok() const { return !rejection && !failed; }

  int status() const {
    if (failed) return kRejections[index_of(Rejection::kError)].status;
    if (!rejection) return 200;
    return rejected_with != 0 ? rejected_with : kRejections[index_of(*rejection)].status;
  }

  // The name of the error, where the answer has one besides its status: DynamoDB tells by it that a
  // request was one too many, for its status says only that it was not served.
  std::string_view error_name() const {
    const bool named = rejection == Rejection::kRateLimited && rejected_with == 400;
    return named ? "ProvisionedThroughputExceededException" : "";
  }

  bool operator==(const Answer&) const = default;
};

}  // namespace retrystorm
