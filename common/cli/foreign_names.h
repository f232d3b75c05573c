// What the files of other programs call settings that are options here. The readers of these files
// (policies/) follow this table; --explain and the messages about unknown options know it, too.
#pragma once

#include <array>
#include <stdexcept>
#include <string_view>

namespace retrystorm {

struct ForeignName {
  std::string_view program, name;
  std::string_view option;  // of several the first
};

inline constexpr std::array kForeignNames{
    ForeignName{"gRPC", "initialBackoff", "backoff-base"},
    ForeignName{"gRPC", "backoffMultiplier", "backoff-factor"},
    ForeignName{"gRPC", "maxBackoff", "backoff-cap"},
    ForeignName{"gRPC", "timeout", "deadline"},
    ForeignName{"gRPC", "perAttemptRecvTimeout", "timeout"},
    ForeignName{"gRPC", "maxAttempts", "max-attempts"},
    ForeignName{"gRPC", "maxTokens", "budget-tokens"},
    ForeignName{"gRPC", "tokenRatio", "budget-deposit"},
    ForeignName{"gRPC", "retryThrottling", "retry-budget"},
    ForeignName{"gRPC", "retryableStatusCodes", "retry-on"},
    ForeignName{"Envoy", "retry_on", "retry-on"},
    ForeignName{"Envoy", "retriable_status_codes", "retry-on"},
    ForeignName{"Envoy", "num_retries", "max-retries"},
    ForeignName{"Envoy", "per_try_timeout", "timeout"},
    ForeignName{"Envoy", "timeout", "deadline"},
    ForeignName{"Envoy", "base_interval", "backoff-base"},
    ForeignName{"Envoy", "max_interval", "backoff-cap"},
    ForeignName{"Envoy", "budget_percent", "budget-share"},
    ForeignName{"Envoy", "min_retry_concurrency", "budget-min-concurrency"},
    ForeignName{"Envoy", "budget_interval", "budget-interval"},
    ForeignName{"Envoy", "max_retries", "budget-min-concurrency"},
    ForeignName{"Istio", "retryOn", "retry-on"},
    ForeignName{"Istio", "attempts", "max-retries"},
    ForeignName{"Istio", "perTryTimeout", "timeout"},
    ForeignName{"Istio", "timeout", "deadline"},
    ForeignName{"Istio", "backoff", "backoff-base"},
    ForeignName{"Istio", "percent", "budget-share"},
    ForeignName{"Istio", "minRetryConcurrency", "budget-min-concurrency"},
    ForeignName{"Istio", "budgetInterval", "budget-interval"},
    ForeignName{"Istio", "maxRetries", "budget-min-concurrency"},
    ForeignName{"resilience4j", "maxAttempts", "max-attempts"},
    ForeignName{"resilience4j", "waitDuration", "backoff-base"},
    ForeignName{"resilience4j", "exponentialBackoffMultiplier", "backoff-factor"},
    ForeignName{"resilience4j", "exponentialMaxWaitDuration", "backoff-cap"},
    ForeignName{"resilience4j", "randomizedWaitFactor", "jitter"},
    ForeignName{"resilience4j", "timeoutDuration", "timeout"},
    ForeignName{"resilience4j", "slidingWindowType", "breaker-window"},
    ForeignName{"resilience4j", "slidingWindowSize", "breaker-calls"},
    ForeignName{"resilience4j", "minimumNumberOfCalls", "breaker-min-calls"},
    ForeignName{"resilience4j", "failureRateThreshold", "breaker-failure-share"},
    ForeignName{"resilience4j", "slowCallDurationThreshold", "breaker-slow-call"},
    ForeignName{"resilience4j", "slowCallRateThreshold", "breaker-slow-share"},
    ForeignName{"resilience4j", "waitDurationInOpenState", "breaker-open-for"},
    ForeignName{"resilience4j", "permittedNumberOfCallsInHalfOpenState", "breaker-trials"},
    ForeignName{"AWS", "retry_mode", "strategy"},
    ForeignName{"AWS", "AWS_RETRY_MODE", "strategy"},
    ForeignName{"AWS", "max_attempts", "max-attempts"},
    ForeignName{"AWS", "AWS_MAX_ATTEMPTS", "max-attempts"},
};

// The entry of the table. It must be there.
consteval const ForeignName& foreign_name(std::string_view program, std::string_view name) {
  for (const ForeignName& each : kForeignNames) {
    if (each.program == program && each.name == name) return each;
  }
  throw std::invalid_argument("there is no such name");
}

}  // namespace retrystorm
