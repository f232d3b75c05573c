// What is known of one attempt and of its client: the result, the state between attempts, and why a request has
// finally failed.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/base/duration.h"

namespace retrystorm {

enum class Outcome {
  kOk,        // an answer with a 2xx status within the timeout
  kError,     // any other answer, or none because the connection was refused, reset or closed
  kTimedOut,  // no answer within the timeout
};

// The kind of failure, as client libraries distinguish them.
enum class Failure {
  kNone,       // it was a success
  kThrottled,  // the service asks for less load: 429, 503 with Retry-After, 400 that says so
  kTransient,  // 408, 5xx other than 501, refused, reset: a retry may well succeed
  kTimedOut,   // no answer within the timeout
  kPermanent,  // any other status: a retry would probably fail again
};

// Why there was no answer.
enum class NoAnswer {
  kRefused,      // nothing listens
  kReset,        // the connection was reset or closed before an answer
  kUnreachable,  // no way to the host, or it did not take the connection
  kOther,
};

struct AttemptResult {
  Outcome outcome = Outcome::kOk;
  Failure failure = Failure::kNone;
  int status = 0;                         // of an answer that is not a success; 0 without one
  NoAnswer no_answer = NoAnswer::kOther;  // of an error without an answer
  std::optional<Duration> retry_after{};  // as the server asked, if it did
  Duration latency{0};                    // from sending to the answer or the timeout
  // Did the service accept the attempt, whatever its result? False for 429, 503, a 400 that asks
  // for less load, a connection refused or reset, and no answer at all.
  bool accepted = true;
  bool no_retry = false;  // the service said that it should not be retried
  // Without an answer: it was sent on a connection that was kept from before, and the connection ended
  // before any of the answer. So the server may have been closing it as the request arrived.
  bool lost = false;
};

// The result of an answer with this HTTP status. `retry_after`: the hint in the answer, if any.
// `asks_for_less`: does the answer's body or header ask for less load? It counts only with the status
// 400.
AttemptResult answered(int status, std::optional<Duration> retry_after, Duration latency,
                       bool asks_for_less = false);

// No answer: the connection was refused, reset or closed.
inline AttemptResult not_connected(Duration latency, NoAnswer why = NoAnswer::kOther) {
  return {.outcome = Outcome::kError,
          .failure = Failure::kTransient,
          .no_answer = why,
          .latency = latency,
          .accepted = false};
}

inline AttemptResult timed_out(Duration latency) {
  return {.outcome = Outcome::kTimedOut,
          .failure = Failure::kTimedOut,
          .latency = latency,
          .accepted = false};
}

// Half a cache line, because there may be millions of clients. Each member belongs to one part of
// the policy. No other part reads or writes it.
struct RetryState {
  // Of the current request:
  Duration backoff{0};             // the wait that the next one grows from
  TimePoint begun{};               // when its first attempt was asked for
  std::uint32_t retries : 28 = 0;  // until now; stays at its maximum
  std::uint32_t paid : 4 = 0;      // the charge for the last retry, in a code of the budget

  // Of the client:
  std::uint32_t successes : 31 = 0;  // pacer: counted since the last step down
  std::uint32_t reserved : 1 =
      0;              // gates: is the attempt that it waits for let through by the first one?
  Duration pause{0};  // pacer: before and after each attempt; 0 without recent failures

  void count_retry() {
    if (retries < kMostRetries) ++retries;
  }
  static constexpr std::uint32_t kMostRetries = (1u << 28) - 1;
};
static_assert(sizeof(RetryState) == 32);

enum class GiveUp : std::uint8_t {
  kAttempts,      // the limit on retries was reached
  kDeadline,      // the request's deadline has passed, or would pass before the next attempt
  kBudget,        // the retry budget of the process refused the retry
  kGate,          // a gate of the process refused the attempt
  kNotRetryable,  // this kind of failure is not retried
};

// The names in reports, in the order of the enumeration.
inline constexpr std::array<std::string_view, 5> kGiveUpNames{"attempts", "deadline", "budget",
                                                              "gate", "not_retryable"};

// How many requests were given up for each reason.
using GiveUpCounts = std::array<std::uint64_t, kGiveUpNames.size()>;

}  // namespace retrystorm
