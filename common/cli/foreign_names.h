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
    ForeignName{"gRPC", "hedgingDelay", "hedge"},
    ForeignName{"gRPC", "nonFatalStatusCodes", "retry-on"},
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
    ForeignName{"Envoy", "hedge_on_per_try_timeout", "hedge-on"},
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
    ForeignName{"Spring Cloud Gateway", "retries", "max-retries"},
    ForeignName{"Spring Cloud Gateway", "response-timeout", "timeout"},
    ForeignName{"Spring Cloud Gateway", "firstBackoff", "backoff-base"},
    ForeignName{"Spring Cloud Gateway", "maxBackoff", "backoff-cap"},
    ForeignName{"Spring Cloud Gateway", "factor", "backoff-factor"},
    ForeignName{"AWS", "retry_mode", "strategy"},
    ForeignName{"AWS", "AWS_RETRY_MODE", "strategy"},
    ForeignName{"AWS", "max_attempts", "max-attempts"},
    ForeignName{"AWS", "AWS_MAX_ATTEMPTS", "max-attempts"},
    ForeignName{"AWS", "cli_read_timeout", "timeout"},
    ForeignName{"Gateway API", "attempts", "max-retries"},
    ForeignName{"Gateway API", "backoff", "backoff-base"},
    ForeignName{"Gateway API", "codes", "retry-on"},
    ForeignName{"Gateway API", "request", "deadline"},
    ForeignName{"Gateway API", "backendRequest", "timeout"},
    ForeignName{"Gateway API", "percent", "budget-deposit"},
    ForeignName{"Gateway API", "interval", "budget-ttl"},
    ForeignName{"Envoy Gateway", "numRetries", "max-retries"},
    ForeignName{"Envoy Gateway", "timeout", "timeout"},
    ForeignName{"Envoy Gateway", "requestTimeout", "deadline"},
    ForeignName{"Envoy Gateway", "baseInterval", "backoff-base"},
    ForeignName{"Envoy Gateway", "maxInterval", "backoff-cap"},
    ForeignName{"Envoy Gateway", "retryOn", "retry-on"},
    ForeignName{"Envoy Gateway", "percent", "budget-share"},
    ForeignName{"Envoy Gateway", "minRetryConcurrency", "budget-min-concurrency"},
    ForeignName{"Envoy Gateway", "maxParallelRetries", "budget-min-concurrency"},
    ForeignName{"Envoy Gateway", "maxParallelRequests", "concurrency-limit"},
    ForeignName{"Linkerd", "retryRatio", "budget-deposit"},
    ForeignName{"Linkerd", "minRetriesPerSecond", "budget-minimum-rate"},
    ForeignName{"Linkerd", "ttl", "budget-ttl"},
    ForeignName{"Linkerd", "timeout", "deadline"},
    ForeignName{"Linkerd", "isRetryable", "max-retries"},
    ForeignName{"Linkerd", "retry.linkerd.io/http", "retry-on"},
    ForeignName{"Linkerd", "retry.linkerd.io/grpc", "retry-on"},
    ForeignName{"Linkerd", "retry.linkerd.io/limit", "max-retries"},
    ForeignName{"Linkerd", "retry.linkerd.io/timeout", "timeout"},
    ForeignName{"Linkerd", "timeout.linkerd.io/request", "deadline"},
    ForeignName{"Traefik", "attempts", "max-attempts"},
    ForeignName{"Traefik", "initialInterval", "backoff-base"},
    ForeignName{"Traefik", "timeout", "deadline"},
    ForeignName{"Traefik", "status", "retry-on"},
    ForeignName{"NGINX", "proxy_next_upstream", "retry-on"},
    ForeignName{"NGINX", "proxy_next_upstream_tries", "max-attempts"},
    ForeignName{"NGINX", "proxy_read_timeout", "timeout"},
    ForeignName{"HAProxy", "retries", "max-retries"},
    ForeignName{"HAProxy", "timeout server", "timeout"},
    ForeignName{"HAProxy", "timeout connect", "backoff-base"},
    ForeignName{".NET", "MaxRetryAttempts", "max-retries"},
    ForeignName{".NET", "BackoffType", "growth"},
    ForeignName{".NET", "Delay", "backoff-base"},
    ForeignName{".NET", "MaxDelay", "backoff-cap"},
    ForeignName{".NET", "UseJitter", "jitter"},
    ForeignName{".NET", "ShouldRetryAfterHeader", "retry-after"},
    ForeignName{".NET", "TotalRequestTimeout", "deadline"},
    ForeignName{".NET", "AttemptTimeout", "timeout"},
    ForeignName{".NET", "FailureRatio", "breaker-failure-share"},
    ForeignName{".NET", "MinimumThroughput", "breaker-min-calls"},
    ForeignName{".NET", "SamplingDuration", "breaker-time"},
    ForeignName{".NET", "BreakDuration", "breaker-open-for"},
    ForeignName{".NET", "PermitLimit", "concurrency-limit"},
};

// The entry of the table. It must be there.
consteval const ForeignName& foreign_name(std::string_view program, std::string_view name) {
  for (const ForeignName& each : kForeignNames) {
    if (each.program == program && each.name == name) return each;
  }
  throw std::invalid_argument("there is no such name");
}

}  // namespace retrystorm
