// .NET: sections of appsettings for the standard resilience handler (HttpStandardResilienceOptions), or for
// its retries alone.
// Sources: dotnet/extensions (Microsoft.Extensions.Http.Resilience), App-vNext/Polly (Polly.Core's options and
// RetryHelper), dotnet/runtime (ConfigurationBinder).
#include <algorithm>
#include <array>

#include "model/base/text.h"
#include "policies/mesh.h"

namespace retrystorm {
namespace {

constexpr std::string_view kProgram = ".NET";
constexpr auto kCase = NameCase::kAny;
constexpr Duration kDay = std::chrono::hours(24);

template <int least_ms>
std::string time(std::string_view text) {
  constexpr Duration kLeast = std::chrono::milliseconds(least_ms);
  const Duration value = timespan(text);
  if (value < kLeast || value > kDay) {
    refuse("this must be from " + brief_duration(kLeast) + " to a day: the start fails");
  }
  return brief_duration(value);
}

std::string ratio(std::string_view text) {
  const std::string value = plain_share(text);
  if (parse_number(value, 0, 1e9) > 1) refuse("this must be at most 1: the start fails");
  return value;
}

std::string limit(std::string_view text) {
  return "fixed:" + count_from<1>(text);
}

// The number of the enum's value may stand for its name.
std::string growth(std::string_view text) {
  const auto name = meaning_of(to_lower(text),
                               "constant=constant linear=linear exponential=exponential "
                               "0=constant 1=linear 2=exponential");
  if (!name) refuse("this is Constant, Linear or Exponential: the start fails");
  return std::string(*name);
}

std::string hints(std::string_view text) {
  return is_true(text) ? "replace" : "ignore";
}

constexpr std::array kRetry{Field{"BackoffType", "growth", growth, "exponential"},
                            Field{"MaxRetryAttempts", "max-retries", count_from<1>, "3"},
                            Field{"Delay", "backoff-base", time<0>, "2s"},
                            Field{"MaxDelay", "backoff-cap", time<0>},
                            Field{"ShouldRetryAfterHeader", "retry-after", hints, "replace"}};
constexpr std::array kLimits{
    always("breaker", "polly", "the handler has a CircuitBreaker"),
    Field{"CircuitBreaker>FailureRatio", "breaker-failure-share", ratio, "0.1"},
    Field{"CircuitBreaker>MinimumThroughput", "breaker-min-calls", count_from<2>, "100"},
    Field{"CircuitBreaker>SamplingDuration", "breaker-time", time<500>, "30s"},
    Field{"CircuitBreaker>BreakDuration", "breaker-open-for", time<500>, "5s"},
    Field{"RateLimiter>DefaultRateLimiterOptions>PermitLimit", "concurrency-limit", limit,
          "fixed:1000"}};
// "Timeout" in a section of this name.
constexpr Field kTotal{"TotalRequestTimeout", "deadline", time<10>, "30s"};
constexpr Field kAttempt{"AttemptTimeout", "timeout", time<10>, "10s"};

const std::vector<std::string_view> kRetryNames{
    "MaxRetryAttempts", "BackoffType", "UseJitter", "Delay", "MaxDelay", "ShouldRetryAfterHeader"};

const Node& part(const Node& node, std::string_view name) {
  return node.member(name, kCase);
}

auto count_known(const Node& node) {
  return std::ranges::count_if(kRetryNames,
                               [&node](auto name) { return static_cast<bool>(part(node, name)); });
}

const Node& timeout_in(const Node& node, const Field& section) {
  return part(part(node, section.name), "Timeout");
}

// The retry options, of a policy that begins at `line`.
Policy begin(const Node& retry, const std::string& path, std::size_t line) {
  Policy policy{.names = {path.empty() ? "all" : shown(path)}, .line = line};
  note_others(policy.notes, retry, kRetryNames,
              "no property of the retry options: .NET skips it without a word", kCase);
  add_fields(policy, kRetry, retry, kProgram, kCase);
  const Node& jitter = part(retry, "UseJitter");
  const std::string kind = policy.value("growth");
  if (const Setting* base = policy.find("backoff-base"); base != nullptr && kind == "linear") {
    policy.set("backoff-step", base->value, base->line,
               base->source + ", and for each retry once more");
  }
  if (!jitter || is_true(jitter.text)) {
    const bool exponential = kind == "exponential";
    if (exponential) policy.remove("growth");
    policy.set("jitter", exponential ? "polly" : "proportional:0.25", jitter.line,
               jitter ? field_text(jitter) : "UseJitter is not given: true in the handler");
  }
  if (policy.find("backoff-cap") != nullptr) {
    policy.assume("cap-applies", "after-jitter", "MaxDelay limits the random wait");
  }
  policy.assume("retry-on", "408+429+5xx+transport+timeout",
                "what the handler takes for transient");
  if (policy.value("retry-after") == "replace") {
    policy.assumed(
        policy.line_of("retry-after"),
        "a Retry-After replaces the wait; one that is longer than the time in all makes the "
        "request fail at its end (dotnet/extensions issue 7701)");
  }
  return policy;
}

// What the handler checks when it starts.
void check_times(Policy& policy) {
  if (policy.refused) return;
  const Duration attempt = parse_duration(policy.value("timeout")),
                 total = parse_duration(policy.value("deadline")),
                 window = parse_duration(policy.value("breaker-time"));
  const std::string said = "AttemptTimeout (" + brief_duration(attempt) + ')';
  if (attempt > total) {
    policy.refuse(policy.find("timeout")->line, said + " is above TotalRequestTimeout (" +
                                                    brief_duration(total) + "): the start fails");
  }
  if (window < saturating_add(attempt, attempt)) {
    policy.refuse(policy.find("breaker-time")->line, "SamplingDuration (" + brief_duration(window) +
                                                         ") is below twice " + said +
                                                         ": the start fails");
  }
}

Policy handler(const Node& node, const std::string& path) {
  const Node &retry = part(node, "Retry"), &hedging = part(node, "Hedging");
  Policy policy = begin(retry, path, node.line);
  note_others(policy.notes, node,
              {"RateLimiter", "TotalRequestTimeout", "Retry", "CircuitBreaker", "AttemptTimeout",
               "Hedging", "Endpoint", "SelectPipelineByAuthority"},
              "no part of the standard handler: .NET skips it without a word", kCase);
  if (node.children.size() == 1 && retry) {
    policy.warn(kNoEffect, retry.line,
                "Retry alone in its section: if the program binds the section to "
                "HttpRetryStrategyOptions, as a sample of Microsoft does, nothing in Retry has an "
                "effect; it has as HttpStandardResilienceOptions, read so here");
  }
  if (hedging) {
    policy.settings.clear();
    policy.has_retries = false;
    policy.not_modelled(hedging.line, "Hedging: copies of a request, which are not retries");
    return policy;
  }
  add_field(policy, kTotal, timeout_in(node, kTotal), kProgram);
  policy.assume("deadline-check", "at-end", "a request ends at its timeout");
  add_field(policy, kAttempt, timeout_in(node, kAttempt), kProgram);
  add_fields(policy, kLimits, node, kProgram, kCase);
  check_times(policy);
  return policy;
}

Policy retries_alone(const Node& node, const std::string& path) {
  Policy policy = begin(node, path, node.line);
  policy.assume("retry-budget", "none", "retries alone have no limit on all of them together");
  policy.assumed(
      node.line,
      "read as HttpRetryStrategyOptions; as Polly's own RetryStrategyOptions it has Constant and "
      "no jitter where nothing is given");
  return policy;
}

void walk(PolicyFile& file, const Node& node, const std::string& path) {
  if (count_known(part(node, "Retry")) > 0 || timeout_in(node, kTotal) ||
      timeout_in(node, kAttempt)) {
    return file.add(handler(node, path));
  }
  if (part(node, "BackoffType") || (count_known(node) > 1 && part(node, "MaxRetryAttempts"))) {
    return file.add(retries_alone(node, path));
  }
  for (const Node& each : node.children) {
    walk(file, each, path.empty() ? each.name : path + ':' + each.name);
  }
}

}  // namespace

PolicyFile read_dotnet(const std::vector<Node>& documents, ReadAs) {
  PolicyFile file{.kind = ".NET settings", .format = "dotnet"};
  for (const Node& each : documents) walk(file, each, "");
  return file.policies.empty() ? PolicyFile() : file;
}

}  // namespace retrystorm
