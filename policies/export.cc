#include "policies/export.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "model/base/text.h"
#include "model/retry/schedule.h"
#include "policies/mesh.h"
#include "policies/readers.h"
#include "policies/values.h"
#include "words/words.h"

namespace retrystorm {
namespace {

constexpr std::array<std::pair<std::string_view, ExportFormat>, 7> kFormats{
    {{"grpc", ExportFormat::kGrpc},
     {"envoy", ExportFormat::kEnvoy},
     {"istio", ExportFormat::kIstio},
     {"resilience4j", ExportFormat::kResilience4j},
     {"aws", ExportFormat::kAws},
     {"dotnet", ExportFormat::kDotNet},
     {"envoy-gateway", ExportFormat::kEnvoyGateway}}};

// "1.5s", in plain digits.
std::string in_seconds(Duration duration) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  std::string fraction = std::to_string(kSecond + duration.count() % kSecond).substr(1);
  fraction.erase(fraction.find_last_not_of('0') + 1);
  return std::to_string(duration.count() / kSecond) + (fraction.empty() ? "" : '.' + fraction) +
         's';
}

// 0.007 is 0.7, though 100 x 0.007 is a little more.
std::string percent_text(double share) {
  constexpr double kDigits = 1e10;
  return print_number(std::round(100 * kDigits * share) / kDigits);
}

// Is all of `part` covered by `all`?
bool covers(RetryOn all, const RetryOn& part) {
  const std::string before = to_string(all);
  all |= part;
  return to_string(all) == before;
}

// Each of these, in their order, that is covered and brings something new.
std::vector<std::string> covered_by(const RetryOn& wanted,
                                    const std::vector<std::pair<std::string, std::string>>& parts,
                                    RetryOn& reached) {
  std::vector<std::string> chosen;
  for (const auto& [name, meaning] : parts) {
    const RetryOn part = parse_retry_on(meaning);
    if (!covers(wanted, part) || covers(reached, part)) continue;
    reached |= part;
    chosen.push_back(name);
  }
  return chosen;
}

Duration base_of(const BackoffSettings& backoff) {
  constexpr Duration kLeast = std::chrono::milliseconds(1);
  return backoff.growth == Growth::kNone ? kLeast : std::max(backoff.base, kLeast);
}

// The longest wait that a request has, for formats that want a cap, which must not be below the base.
Duration longest_wait(const RetrySettings& retry) {
  if (retry.backoff.cap != Duration::max())
    return std::max(retry.backoff.cap, base_of(retry.backoff));
  BackoffSettings plain = retry.backoff;
  if (!plain.jitter.is_growth()) plain.jitter = {};
  constexpr std::uint32_t kMost = 100;
  const auto waits = median_waits(plain, std::clamp(retry.limit.max_retries, 1u, kMost));
  const Duration longest = *std::ranges::max_element(waits);
  return std::max(std::min<Duration>(longest, std::chrono::hours(24)), base_of(retry.backoff));
}

double factor_of(const BackoffSettings& backoff) {
  return backoff.growth == Growth::kExponential ? backoff.factor : 1;
}

// What a budget comes to, for formats that have one of another kind: retries per request, and how many it
// allows at once beyond these.
struct Allowance {
  double per_request = 0, at_once = 0;
};

std::optional<Allowance> allowance_of(const BudgetSettings& budget) {
  if (budget.kind == BudgetSettings::Kind::kConcurrent) {
    if (!std::isfinite(budget.share)) return std::nullopt;
    return Allowance{budget.share, static_cast<double>(budget.min_concurrency)};
  }
  if (budget.kind != BudgetSettings::Kind::kTokens) return std::nullopt;
  const double cost = std::max(budget.cost, budget.failure_cost);
  if (cost == 0) return std::nullopt;
  if (budget.ttl != Duration::max()) {
    return Allowance{budget.deposit / cost, budget.minimum_rate * to_seconds(budget.ttl)};
  }
  const double kept = std::isfinite(budget.threshold) ? budget.threshold : 0;
  return Allowance{budget.deposit / cost, budget.tokens * (1 - kept) / cost};
}

// ---- gRPC ----

std::string grpc(const WorkloadOptions& workload, const FileNames&, const HostSettings&) {
  const RetrySettings& retry = workload.retry;
  std::string text = "{\n  \"methodConfig\": [\n    {\n      \"name\": [{}]";
  if (retry.limit.has_deadline()) {
    text += ",\n      \"timeout\": \"" + in_seconds(retry.limit.deadline) + '"';
  }
  // A method has retries or hedges.
  const HedgeSettings& hedge = retry.hedge;
  const bool hedged = retry.limit.max_retries == 0 && hedge.on == HedgeOn::kDelay &&
                      hedge.delay != Duration::max() && hedge.percentile == 0;
  if (retry.limit.max_retries > 0 || hedged) {
    constexpr std::uint32_t kMostRetries = 4;
    std::vector<std::pair<std::string, std::string>> codes;
    for (const std::string code :
         {"UNAVAILABLE", "DEADLINE_EXCEEDED", "RESOURCE_EXHAUSTED", "INTERNAL", "ABORTED",
          "CANCELLED", "NOT_FOUND", "PERMISSION_DENIED", "UNAUTHENTICATED", "UNIMPLEMENTED",
          "INVALID_ARGUMENT"}) {
      // With a timeout in all, none is left for a retry after it: no attempt has one of its own.
      if (retry.limit.has_deadline() && code == "DEADLINE_EXCEEDED") continue;
      codes.emplace_back(code, code);
    }
    RetryOn reached;
    auto chosen = covered_by(retry.limit.retry_on, codes, reached);
    if (chosen.empty() && !hedged) chosen.push_back("UNAVAILABLE");
    const std::string quoted = chosen.empty() ? "" : '"' + list_words(chosen, "\", \"") + '"';
    const std::uint32_t retries =
        std::min(hedged ? hedge.most : retry.limit.max_retries, kMostRetries);
    if (hedged) {
      text +=
          ",\n      \"hedgingPolicy\": {\n        \"maxAttempts\": " + std::to_string(retries + 1) +
          ",\n        \"hedgingDelay\": \"" + in_seconds(hedge.delay) +
          "\",\n        \"nonFatalStatusCodes\": [" + quoted + "]\n      }";
    } else {
      text +=
          ",\n      \"retryPolicy\": {\n        \"maxAttempts\": " + std::to_string(retries + 1) +
          ",\n        \"initialBackoff\": \"" + in_seconds(base_of(retry.backoff)) +
          "\",\n        \"maxBackoff\": \"" + in_seconds(longest_wait(retry)) +
          "\",\n        \"backoffMultiplier\": " + print_number(factor_of(retry.backoff)) +
          ",\n        \"retryableStatusCodes\": [" + quoted + "]\n      }";
    }
  }
  text += "\n    }\n  ]";
  const BudgetSettings& budget = retry.process.budget;
  const auto allowance = allowance_of(budget);
  double tokens = budget.tokens, ratio = budget.deposit;
  if (budget.name != "grpc" && allowance) {
    // Half of the tokens can be used. gRPC takes at most 1000, and three digits of the ratio.
    constexpr double kUsual = 10, kMost = 1000;
    tokens = std::clamp(std::round(2 * allowance->at_once), kUsual, kMost);
    ratio = std::max(std::round(1000 * allowance->per_request), 1.0) / 1000;
  }
  if (allowance) {
    text += ",\n  \"retryThrottling\": {\"maxTokens\": " + print_number(tokens) +
            ", \"tokenRatio\": " + print_number(ratio) + '}';
  }
  return text + "\n}\n";
}

// ---- Envoy, Istio and Envoy Gateway ----

// What limits the requests and retries under way.
struct MeshLimits {
  std::string requests{}, retries{};  // empty: not limited, or by a share
  std::string minimum{};              // of retries that a share allows
  std::optional<double> share{};
};

std::string or_no_limit(const std::string& most) {
  return most.empty() ? std::string(kNoLimit) : most;
}

MeshLimits limits_of(const ProcessSettings& process) {
  MeshLimits limits;
  if (process.concurrency_limit.kind == ConcurrencyLimitSettings::Kind::kFixed) {
    limits.requests = std::to_string(process.concurrency_limit.start);
  }
  BudgetSettings budget = process.budget;
  // The nearest to one of tokens is a share of the requests under way.
  if (const auto allowance = allowance_of(budget);
      allowance && budget.kind == BudgetSettings::Kind::kTokens) {
    budget = {};
    budget.kind = BudgetSettings::Kind::kConcurrent;
    budget.share = std::min(std::round(1000 * allowance->per_request) / 1000, 1.0);
  }
  if (budget.kind != BudgetSettings::Kind::kConcurrent) return limits;
  const bool has_share = std::isfinite(budget.share);
  (has_share ? limits.minimum : limits.retries) = std::to_string(budget.min_concurrency);
  if (has_share) limits.share = budget.share;
  return limits;
}

// A line with the timeout of a try, if one is retried after it.
std::string try_timeout(const WorkloadOptions& workload, std::string_view name,
                        std::string (*written)(Duration)) {
  if (!workload.retry.limit.retry_on.timeout || !workload.has_timeout()) return "";
  return std::string(name) + ": " + written(workload.timeout) + '\n';
}

struct RetryConditions {
  std::vector<std::string> words{}, codes{};
};

RetryConditions conditions_of(const RetryOn& wanted) {
  RetryConditions conditions;
  RetryOn reached;
  const std::string timeout = wanted.timeout ? "+timeout" : "";
  // Without a timeout of its own no try's timeout is retried, so these do not bring more.
  conditions.words = covered_by(wanted,
                                {{"5xx", "5xx+transport" + timeout},
                                 {"gateway-error", "502+503+504+transport" + timeout},
                                 {"reset", "transport" + timeout}},
                                reached);
  for (std::size_t status = 100; status < wanted.statuses.size(); ++status) {
    if (wanted.statuses[status] && !reached.statuses[status]) {
      conditions.codes.push_back(std::to_string(status));
    }
  }
  return conditions;
}

// In the order of `Balance`; where neither has the word, the nearest.
std::string balance_word(Balance balance) {
  constexpr std::array kWords{"RANDOM", "ROUND_ROBIN", "LEAST_REQUEST", "LEAST_REQUEST"};
  return kWords.at(static_cast<std::size_t>(balance));
}

std::string whole_percent(double share) {
  return print_number(std::round(100 * share));
}

std::string envoy_hosts(const HostSettings& hosts) {
  if (!hosts.many()) return "";
  std::string text = "  lb_policy: " + balance_word(hosts.balance) + '\n';
  if (!hosts.eject.on()) return text;
  return text +
         "  common_lb_config: {healthy_panic_threshold: {value: " + percent_text(hosts.panic) +
         "}}\n  outlier_detection:\n    consecutive_5xx: " + std::to_string(hosts.eject.failures) +
         "\n    base_ejection_time: " + in_seconds(hosts.eject.base) +
         "\n    max_ejection_percent: " + whole_percent(hosts.eject.most) +
         "\n    enforcing_success_rate: 0\n";
}

std::string istio_hosts(const HostSettings& hosts) {
  if (!hosts.many()) return "";
  std::string text = "    loadBalancer: {simple: " + balance_word(hosts.balance) + "}\n";
  if (!hosts.eject.on()) return text;
  return text + "    outlierDetection:\n      consecutive5xxErrors: " +
         std::to_string(hosts.eject.failures) +
         "\n      baseEjectionTime: " + brief_duration(hosts.eject.base) +
         "\n      maxEjectionPercent: " + whole_percent(hosts.eject.most) +
         "\n      minHealthPercent: " + whole_percent(hosts.panic) + '\n';
}

std::string envoy(const WorkloadOptions& workload, const FileNames& names,
                  const HostSettings& hosts) {
  const RetrySettings& retry = workload.retry;
  const LimitSettings& limit = retry.limit;
  RetryConditions conditions = conditions_of(limit.retry_on);
  if (!conditions.codes.empty()) conditions.words.push_back("retriable-status-codes");
  std::string text =
      "virtual_hosts:\n- name: policy\n  domains: [\"*\"]\n  routes:\n"
      "  - match: {prefix: /}\n    route:\n      cluster: " +
      names.service + '\n';
  text += "      timeout: " + (limit.has_deadline() ? in_seconds(limit.deadline) : "0s") + '\n';
  text += "      retry_policy:\n        retry_on: " + list_words(conditions.words, ",") +
          "\n        num_retries: " + std::to_string(limit.max_retries) + '\n';
  if (!conditions.codes.empty()) {
    text += "        retriable_status_codes: [" + list_words(conditions.codes, ", ") + "]\n";
  }
  text += try_timeout(workload, "        per_try_timeout", in_seconds);
  if (const RetryHost& again = hosts.retry_host; hosts.many() && again != RetryHost()) {
    text +=
        "        retry_host_predicate:\n        - name: envoy.retry_host_predicates.previous_hosts\n"
        "          typed_config:\n            \"@type\": type.googleapis.com/"
        "envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate\n"
        "        host_selection_retry_max_attempts: " +
        std::to_string(again.times > 0 ? again.times : 5) + '\n';
  }
  text +=
      "        retry_back_off:\n          base_interval: " + in_seconds(base_of(retry.backoff)) +
      '\n';
  text += "          max_interval: " + in_seconds(longest_wait(retry)) + '\n';
  text += "clusters:\n- name: " + names.service + '\n' + envoy_hosts(hosts) +
          "  circuit_breakers:\n    thresholds:\n";
  const MeshLimits limits = limits_of(retry.process);
  text += "    - ";
  if (!limits.requests.empty()) text += "max_requests: " + limits.requests + "\n      ";
  if (!limits.share) return text + "max_retries: " + or_no_limit(limits.retries) + '\n';
  return text + "retry_budget: {budget_percent: {value: " + percent_text(*limits.share) +
         "}, min_retry_concurrency: " + limits.minimum + "}\n";
}

std::string istio(const WorkloadOptions& workload, const FileNames& names,
                  const HostSettings& hosts) {
  const RetrySettings& retry = workload.retry;
  const LimitSettings& limit = retry.limit;
  RetryConditions conditions = conditions_of(limit.retry_on);
  std::string words = list_words(conditions.words, ",");
  for (const std::string& code : conditions.codes) append(words, code, ",");
  std::string text =
      "apiVersion: networking.istio.io/v1\nkind: VirtualService\nmetadata:\n  name: " +
      names.policy + "\nspec:\n  hosts: [" + names.service +
      "]\n  http:\n  - route:\n    - destination: {host: " + names.service + "}\n";
  if (limit.has_deadline()) text += "    timeout: " + brief_duration(limit.deadline) + '\n';
  text +=
      "    retries:\n      attempts: " + std::to_string(std::min(limit.max_retries, kMostSigned)) +
      '\n';
  if (limit.max_retries > 0) {
    text += "      retryOn: \"" + words +
            "\"\n      backoff: " + brief_duration(base_of(retry.backoff)) + '\n';
    text += try_timeout(workload, "      perTryTimeout", brief_duration);
    // Without, Istio prefers hosts that were not tried.
    if (hosts.many() && hosts.retry_host == RetryHost()) {
      text += "      retryIgnorePreviousHosts: false\n";
    }
  }
  const MeshLimits limits = limits_of(retry.process);
  std::string http, policy;
  if (!limits.retries.empty()) http += "        maxRetries: " + limits.retries + '\n';
  if (!limits.requests.empty()) http += "        http2MaxRequests: " + limits.requests + '\n';
  if (!http.empty()) policy += "    connectionPool:\n      http:\n" + http;
  if (limits.share) {
    if (http.empty()) policy += "    connectionPool: {tcp: {}}\n";  // without, a budget is ignored
    policy += "    retryBudget:\n      percent: " + percent_text(*limits.share) +
              "\n      minRetryConcurrency: " + limits.minimum + '\n';
  }
  policy += istio_hosts(hosts);
  if (policy.empty()) return text;
  return text +
         "---\napiVersion: networking.istio.io/v1\nkind: DestinationRule\nmetadata:\n  name: " +
         names.policy + "\nspec:\n  host: " + names.service + "\n  trafficPolicy:\n" + policy;
}

// ---- Envoy Gateway ----

// "1h2m3s4ms": no fractions.
std::string in_gateway_duration(Duration duration) {
  std::string text;
  std::int64_t rest = duration / std::chrono::milliseconds(1);
  for (const auto& [unit, size] : {std::pair{"h", 3'600'000}, std::pair{"m", 60'000},
                                   std::pair{"s", 1'000}, std::pair{"ms", 1}}) {
    if (rest >= size) text += std::to_string(rest / size) + unit;
    rest %= size;
  }
  return text.empty() ? "0s" : text;
}

std::string envoy_gateway(const WorkloadOptions& workload, const FileNames&, const HostSettings&) {
  const RetrySettings& retry = workload.retry;
  const LimitSettings& limit = retry.limit;
  RetryConditions conditions = conditions_of(limit.retry_on);
  if (!conditions.codes.empty()) conditions.words.push_back("retriable-status-codes");
  std::string text =
      "apiVersion: gateway.envoyproxy.io/v1alpha1\nkind: BackendTrafficPolicy\nmetadata:\n"
      "  name: policy\nspec:\n  targetRefs:\n  - group: gateway.networking.k8s.io\n"
      "    kind: HTTPRoute\n    name: route\n  retry:\n    numRetries: " +
      std::to_string(std::min(limit.max_retries, kMostSigned)) +
      "\n    retryOn:\n      triggers: [" + list_words(conditions.words, ", ") + "]\n";
  if (!conditions.codes.empty()) {
    text += "      httpStatusCodes: [" + list_words(conditions.codes, ", ") + "]\n";
  }
  text += "    perRetry:\n" + try_timeout(workload, "      timeout", in_gateway_duration) +
          "      backOff:\n        baseInterval: " + in_gateway_duration(base_of(retry.backoff)) +
          "\n        maxInterval: " + in_gateway_duration(longest_wait(retry)) +
          "\n  timeout:\n    http:\n      requestTimeout: " +
          (limit.has_deadline() ? in_gateway_duration(limit.deadline) : "0s") +
          "\n  circuitBreaker:\n";
  const MeshLimits limits = limits_of(retry.process);
  // Without it, 1,024.
  text += "    maxParallelRequests: " + or_no_limit(limits.requests) + '\n';
  if (!limits.share) {
    return text + "    maxParallelRetries: " + or_no_limit(limits.retries) + '\n';
  }
  // A share in thousandths.
  return text + "    retryBudget:\n      percent: {numerator: " +
         print_number(std::round(1000 * *limits.share)) +
         ", denominator: 1000}\n      minRetryConcurrency: " + limits.minimum + '\n';
}

// ---- resilience4j ----

std::string spring(Duration duration) {
  return std::to_string(duration / std::chrono::milliseconds(1)) + "ms";
}

std::string resilience4j(const WorkloadOptions& workload, const FileNames& names,
                         const HostSettings&) {
  const RetrySettings& retry = workload.retry;
  const BackoffSettings& backoff = retry.backoff;
  const bool grows = backoff.growth == Growth::kExponential;
  constexpr std::uint32_t kMost = kMostSigned - 1;  // the first one is counted, too
  std::string text =
      "resilience4j:\n  retry:\n    instances:\n      " + names.policy +
      ":\n        maxAttempts: " + std::to_string(std::min(retry.limit.max_retries, kMost) + 1) +
      "\n        waitDuration: " +
      spring(backoff.growth == Growth::kNone ? Duration(0) : backoff.base) + '\n';
  if (grows) {
    text += "        enableExponentialBackoff: true\n        exponentialBackoffMultiplier: " +
            print_number(backoff.factor) + '\n';
    if (backoff.cap != Duration::max()) {
      text += "        exponentialMaxWaitDuration: " + spring(backoff.cap) + '\n';
    }
  }
  if (backoff.jitter.kind != Jitter::Kind::kNone) {
    const bool given = backoff.jitter.kind == Jitter::Kind::kProportional;
    constexpr double kMostRandom = 0.99;  // for jitters of another kind: nearly all of the wait
    const double share = given ? std::min(backoff.jitter.amount, kMostRandom) : kMostRandom;
    text +=
        "        enableRandomizedWait: true\n        randomizedWaitFactor: " + print_number(share) +
        '\n';
  }
  const BreakerSettings& breaker = retry.process.breaker;
  if (breaker.on) {
    const bool by_time = breaker.window == BreakerWindow::kTime;
    text += "  circuitbreaker:\n    instances:\n      " + names.policy +
            ":\n        slidingWindowType: " + std::string(by_time ? "TIME_BASED" : "COUNT_BASED") +
            "\n        slidingWindowSize: " +
            std::to_string(by_time ? static_cast<std::size_t>(to_seconds(breaker.span))
                                   : static_cast<std::size_t>(breaker.calls)) +
            "\n        minimumNumberOfCalls: " + std::to_string(breaker.min_calls) +
            "\n        failureRateThreshold: " + percent_text(breaker.failure_share) +
            "\n        slowCallDurationThreshold: " + spring(breaker.slow_call) +
            "\n        slowCallRateThreshold: " + percent_text(breaker.slow_share) +
            "\n        waitDurationInOpenState: " + spring(breaker.open_for) +
            "\n        permittedNumberOfCallsInHalfOpenState: " + std::to_string(breaker.trials) +
            '\n';
  }
  if (!workload.has_timeout()) return text;
  return text + "  timelimiter:\n    instances:\n      " + names.policy +
         ":\n        timeoutDuration: " + spring(workload.timeout) + '\n';
}

// ---- AWS ----

std::string aws(const WorkloadOptions& workload, const FileNames&, const HostSettings&) {
  const std::string& strategy = workload.retry.strategy;
  const char* mode = strategy.starts_with("aws-legacy")     ? "legacy"
                     : strategy.starts_with("aws-adaptive") ? "adaptive"
                                                            : "standard";
  constexpr std::uint32_t kMost = 1'000'000;
  return std::string("[default]\nretry_mode = ") + mode + "\nmax_attempts = " +
         std::to_string(std::min(workload.retry.limit.max_retries, kMost) + 1) + '\n';
}

// ---- .NET ----

// "1.02:03:04.5000000", at most a day, as the handler takes it.
std::string in_timespan(Duration duration, Duration least) {
  constexpr std::int64_t kTick = 100, kSecond = 10'000'000, kDay = 86'400 * kSecond;
  const std::int64_t ticks =
      std::clamp<std::int64_t>(duration.count() / kTick, least.count() / kTick, kDay);
  const auto two = [](std::int64_t value) { return std::to_string(100 + value).substr(1); };
  const std::int64_t seconds = ticks % kDay / kSecond;
  std::string text = (ticks == kDay ? "1." : "") + two(seconds / 3600) + ':' +
                     two(seconds / 60 % 60) + ':' + two(seconds % 60);
  if (ticks % kSecond > 0) text += '.' + std::to_string(kSecond + ticks % kSecond).substr(1);
  return text;
}

std::string dotnet(const WorkloadOptions& workload, const FileNames&, const HostSettings&) {
  using std::chrono::milliseconds;
  const RetrySettings& retry = workload.retry;
  const BackoffSettings& backoff = retry.backoff;
  const BreakerSettings& breaker = retry.process.breaker;
  const bool random = backoff.jitter.kind != Jitter::Kind::kNone;
  const bool grows = backoff.jitter.is_growth() || backoff.growth == Growth::kExponential;
  const Duration timeout = std::min<Duration>(workload.timeout, retry.limit.deadline);
  constexpr Duration kLeastTime = milliseconds(10), kLeastWindow = milliseconds(500);
  constexpr std::uint32_t kMost = kMostSigned;  // a breaker that never opens
  std::string text =
      "{\n  \"HttpStandardResilienceOptions\": {\n    \"Retry\": {\"MaxRetryAttempts\": " +
      std::to_string(std::clamp(retry.limit.max_retries, 1u, kMost)) + ", \"BackoffType\": \"" +
      (grows                               ? "Exponential"
       : backoff.growth == Growth::kLinear ? "Linear"
                                           : "Constant") +
      "\", \"UseJitter\": " + (random ? "true" : "false") + ", \"Delay\": \"" +
      in_timespan(backoff.growth == Growth::kNone ? Duration(0) : backoff.base, {}) + '"';
  if (backoff.cap != Duration::max()) {
    text += ", \"MaxDelay\": \"" + in_timespan(backoff.cap, {}) + '"';
  }
  const Duration window = std::max(breaker.on ? breaker.span : Duration(std::chrono::seconds(30)),
                                   saturating_add(timeout, timeout));
  text +=
      std::string(", \"ShouldRetryAfterHeader\": ") +
      (retry.hint.use == HintUse::kIgnore ? "false" : "true") +
      "},\n    \"TotalRequestTimeout\": {\"Timeout\": \"" +
      in_timespan(retry.limit.deadline, kLeastTime) +
      "\"},\n    \"AttemptTimeout\": {\"Timeout\": \"" + in_timespan(timeout, kLeastTime) +
      "\"},\n    \"CircuitBreaker\": {\"FailureRatio\": " + print_number(breaker.failure_share) +
      ", \"MinimumThroughput\": " +
      std::to_string(breaker.on ? std::max(breaker.min_calls, 2u) : kMost) +
      ", \"SamplingDuration\": \"" + in_timespan(window, kLeastWindow) +
      "\", \"BreakDuration\": \"" + in_timespan(breaker.open_for, kLeastWindow) + "\"}";
  if (retry.process.concurrency_limit.kind == ConcurrencyLimitSettings::Kind::kFixed) {
    text += ",\n    \"RateLimiter\": {\"DefaultRateLimiterOptions\": {\"PermitLimit\": " +
            std::to_string(retry.process.concurrency_limit.start) + "}}";
  }
  return text + "\n  }\n}\n";
}

// ---- all ----

// In the order of ExportFormat.
constexpr std::array kWriters{grpc, envoy, istio, resilience4j, aws, dotnet, envoy_gateway};

// As lines NAME=value: each has the names that it stands under, or of AWS those of its variables.
std::string flat_text(std::string_view text, ExportFormat format) {
  std::string flat, path;
  std::vector<std::size_t> ends;  // of the path's parts
  for (const std::string_view line : split(text, '\n')) {
    const std::size_t separator = line.find_first_of(":=");
    if (separator == line.npos) continue;
    const std::string name(trimmed(line.substr(0, separator)));
    const std::string value(trimmed(line.substr(separator + 1)));
    if (format == ExportFormat::kAws) {
      flat += (name == "retry_mode" ? "AWS_RETRY_MODE=" : "AWS_MAX_ATTEMPTS=") + value + '\n';
      continue;
    }
    ends.resize(line.find_first_not_of(' ') / 2);
    path.resize(ends.empty() ? 0 : ends.back());
    path += (path.empty() ? "" : ".") + name;
    ends.push_back(path.size());
    if (!value.empty()) flat += path + '=' + value + '\n';
  }
  return flat;
}

}  // namespace

FileNames names_in(const PolicyFile& file, const Policy& policy, std::string_view path) {
  FileNames names;
  // What would have to be quoted is not worth it.
  const auto is_plain = [](const std::string& name) {
    return !name.empty() && std::ranges::all_of(name, [](char c) {
      return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '-' || c == '_' || c == '.';
    });
  };
  if (file.format == "resilience4j") {
    const std::string& name = policy.names.front();
    if (is_plain(name) && name.find('.') == name.npos) names.policy = name;
    names.flat = path.ends_with(".properties");
  } else if (!policy.hosts.empty() && is_plain(policy.hosts.front())) {
    // A namespace that no file names is that of the reader's own.
    constexpr std::string_view kAssumedSpace = ".default.svc.cluster.local";
    names.service = policy.hosts.front();
    if (names.service.ends_with(kAssumedSpace)) {
      names.service.resize(names.service.size() - kAssumedSpace.size());
    }
    names.policy = names.service.substr(0, names.service.find('.'));
  }
  names.flat |= file.kind.starts_with("AWS environment");
  return names;
}

ExportFormat parse_export_format(std::string_view word) {
  return value_of_word(kFormats, word);
}

Exported export_policy(const WorkloadOptions& workload, ExportFormat format, const FileNames& names,
                       const HostSettings& hosts) {
  const std::string text = kWriters[static_cast<std::size_t>(format)](workload, names, hosts);
  Exported exported{
      .text = names.flat ? flat_text(text, format) : text,
      .has_comments = format != ExportFormat::kGrpc && format != ExportFormat::kDotNet};
  const PolicyFile file = read_policies(exported.text, ReadAs::kGrpcChannel);
  if (file.policies.size() != 1 || file.policies.front().refused) {
    exported.differences.push_back({"export-refused"});
    return exported;
  }
  const LimitSettings& limit = workload.retry.limit;
  if (format == ExportFormat::kGrpc && limit.retry_on.timeout && limit.has_deadline()) {
    exported.differences.push_back({"export-no-attempt-timeout"});
  }
  const auto differs = [&exported](const std::string& option, const std::string& here,
                                   const std::string& there) {
    exported.differences.push_back(
        {"export-option", {{"option", option}, {"here", here}, {"there", there}}});
  };
  WorkloadOptions wanted = workload;
  ScenarioOptions read_all = scenario_of(options_to_run(file.policies.front(), true));
  WorkloadOptions& read = read_all.workload;
  HostSettings wanted_hosts = hosts;
  OptionList wanted_list, read_list;
  if (hosts.many()) {
    declare_options(wanted_list, wanted_hosts);
    declare_options(read_list, read_all.hosts);
  }
  declare_options(wanted_list, wanted.retry);
  declare_options(read_list, read.retry);
  std::string_view other;  // part, that only one of both has: its settings say no more than that
  for (std::size_t i = 0; i < wanted_list.all().size(); ++i) {
    const Option& option = wanted_list.all()[i];
    const std::string here = option.get(), there = read_list.all()[i].get();
    if (!option.same_as.empty() || here == there) continue;
    // Of those of hosts, these are not the file's to say.
    if (is_among(option.name, "strategy replicas picker outage-replicas")) continue;
    if (!other.empty() && option.name.starts_with(other)) continue;
    differs(option.name, here, there);
    const bool one_only = here == "none" || there == "none";
    if (one_only && option.name == "retry-budget") other = "budget-";
    if (one_only && option.name == "breaker") other = "breaker-";
    if (option.name == "retry-on" && exported.text.find("\"INTERNAL\"") != std::string::npos) {
      exported.differences.push_back({"export-internal"});
    }
  }
  const BudgetSettings& throttle = read.retry.process.budget;
  if (throttle.name == "grpc" && wanted.retry.process.budget.name != throttle.name) {
    // A failure takes a token, a success gives the deposit back: with a share p of failures it falls if
    // p > (1 - p) x deposit.
    const double share = throttle.deposit / (1 + throttle.deposit);
    exported.differences.push_back(
        {"export-throttle",
         {{"failures", throttle.tokens * throttle.threshold}, {"share", ShareOf{share}}}});
  }
  const bool timed = file.policies.front().find("timeout") != nullptr;
  if (workload.timeout != (timed ? read.timeout : Duration::max())) {
    differs("timeout", brief_duration(workload.timeout),
            timed ? brief_duration(read.timeout) : "none");
  }
  return exported;
}

}  // namespace retrystorm
