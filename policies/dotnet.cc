// .NET: sections of appsettings for the standard resilience handler (HttpStandardResilienceOptions), or for
// its retries alone.
// Sources: dotnet/extensions (Microsoft.Extensions.Http.Resilience), App-vNext/Polly (Polly.Core's options and
// RetryHelper), dotnet/runtime (ConfigurationBinder).
#include <algorithm>
#include <array>
#include <stdexcept>
#include <utility>

#include "model/base/text.h"
#include "policies/readers.h"
#include "policies/values.h"

namespace retrystorm {
namespace {

constexpr std::string_view kProgram = ".NET";
constexpr auto kCase = NameCase::kAny;
constexpr Duration kDay = std::chrono::hours(24);

std::string at_most_a_day(std::string_view text, Duration least) {
  const Duration value = timespan(text);
  if (value < least || value > kDay) {
    throw std::invalid_argument("this must be from " + option_text(least) +
                                " to a day: the start fails");
  }
  return option_text(value);
}

std::string delay(std::string_view text) {
  return at_most_a_day(text, Duration::zero());
}

std::string timeout(std::string_view text) {
  return at_most_a_day(text, std::chrono::milliseconds(10));
}

std::string breaker_time(std::string_view text) {
  return at_most_a_day(text, std::chrono::milliseconds(500));
}

template <int least>
std::string count(std::string_view text) {
  std::string value = whole_number(text);
  if (std::stoul(value) < least) {
    throw std::invalid_argument("this must be at least " + std::to_string(least) +
                                ": the start fails");
  }
  return value;
}

std::string ratio(std::string_view text) {
  const std::string value = plain_share(text);
  if (parse_number(value, 0, 1e9) > 1)
    throw std::invalid_argument("this must be at most 1: the start fails");
  return value;
}

std::string limit(std::string_view text) {
  return "fixed:" + count<1>(text);
}

std::string growth(std::string_view text) {
  std::size_t number = 0;  // of the enum's value, which may stand for its name
  for (const std::string_view name : {"constant", "linear", "exponential"}) {
    if (is_same_name(name, text, kCase) || text == std::to_string(number++)) {
      return std::string(name);
    }
  }
  throw std::invalid_argument("this is Constant, Linear or Exponential: the start fails");
}

std::string hints(std::string_view text) {
  return is_true(text) ? "replace" : "ignore";
}

constexpr Field kGrowth{"BackoffType", "growth", growth, "exponential"};
constexpr std::array kRetry{Field{"MaxRetryAttempts", "max-retries", count<1>, "3"},
                            Field{"Delay", "backoff-base", delay, "2s"},
                            Field{"MaxDelay", "backoff-cap", delay},
                            Field{"ShouldRetryAfterHeader", "retry-after", hints, "replace"}};
constexpr std::array kBreaker{Field{"FailureRatio", "breaker-failure-share", ratio, "0.1"},
                              Field{"MinimumThroughput", "breaker-min-calls", count<2>, "100"},
                              Field{"SamplingDuration", "breaker-time", breaker_time, "30s"},
                              Field{"BreakDuration", "breaker-open-for", breaker_time, "5s"}};
constexpr Field kPermits{"PermitLimit", "concurrency-limit", limit, "fixed:1000"};
// "Timeout" in a section of this name.
constexpr Field kTotal{"TotalRequestTimeout", "deadline", timeout, "30s"};
constexpr Field kAttempt{"AttemptTimeout", "timeout", timeout, "10s"};

const std::vector<std::string_view> kRetryNames{
    "MaxRetryAttempts", "BackoffType", "UseJitter", "Delay", "MaxDelay", "ShouldRetryAfterHeader"};

std::size_t count_known(const Node& node, const std::vector<std::string_view>& names) {
  return static_cast<std::size_t>(std::count_if(names.begin(), names.end(), [&node](auto name) {
    return node.find(name, kCase) != nullptr;
  }));
}

const Node* part(const Node* node, std::string_view name) {
  return node == nullptr ? nullptr : node->find(name, kCase);
}

// The options of the whole handler.
bool is_handler(const Node& node) {
  const Node* retry = node.find("Retry", kCase);
  return node.is_map() && ((retry != nullptr && count_known(*retry, kRetryNames) > 0) ||
                           part(node.find("TotalRequestTimeout", kCase), "Timeout") != nullptr ||
                           part(node.find("AttemptTimeout", kCase), "Timeout") != nullptr);
}

// The options of retries alone.
bool is_retry(const Node& node) {
  return node.is_map() &&
         (node.find("BackoffType", kCase) != nullptr ||
          (count_known(node, kRetryNames) > 1 && node.find("MaxRetryAttempts", kCase)));
}

void read_retry(Policy& policy, const Node* retry) {
  add_field(policy, kGrowth, part(retry, "BackoffType"), kProgram);
  add_fields(policy, kRetry, retry, kProgram, kCase);
  const Node* jitter = part(retry, "UseJitter");
  const bool random = jitter == nullptr || is_true(jitter->text);
  const Setting* type = policy.find("growth");
  const std::string kind = type == nullptr ? "" : type->value;
  const Setting* base = policy.find("backoff-base");
  if (kind == "linear" && base != nullptr) {
    const Setting copy = *base;
    policy.set("backoff-step", copy.value, copy.line,
               copy.source + ", and for each retry once more");
  }
  if (random) {
    const bool exponential = kind == "exponential";
    if (exponential) policy.remove("growth");
    policy.set("jitter", exponential ? "polly" : "proportional:0.25", jitter ? jitter->line : 0,
               jitter ? field_text(*jitter) : "UseJitter is not given: true in the handler");
  }
  if (policy.find("backoff-cap") != nullptr) {
    policy.assume("cap-applies", "after-jitter", "MaxDelay limits the random wait");
  }
  policy.assume("retry-on", "408+429+5xx+transport+timeout",
                "what the handler takes for transient");
  if (const Setting* hint = policy.find("retry-after"); hint && hint->value == "replace") {
    policy.assumed(
        hint->line ? hint->line : policy.line,
        "a Retry-After replaces the wait; one that is longer than the time in all makes the "
        "request fail at its end (dotnet/extensions issue 7701)");
  }
}

void refuse(Policy& policy, std::size_t line, std::string text) {
  policy.refuse(line, std::move(text));
}

// What the handler checks when it starts.
void check_times(Policy& policy) {
  const auto time = [&policy](std::string_view name) {
    const Setting* found = policy.find(name);
    return found == nullptr ? Duration::zero() : parse_duration(found->value);
  };
  const Duration attempt = time("timeout"), total = time("deadline"), window = time("breaker-time");
  if (policy.refused) return;
  if (attempt > total) {
    refuse(policy, policy.find("timeout")->line,
           "AttemptTimeout (" + option_text(attempt) + ") is above TotalRequestTimeout (" +
               option_text(total) + "): the start fails");
  }
  if (window < saturating_add(attempt, attempt)) {
    refuse(policy, policy.find("breaker-time")->line,
           "SamplingDuration (" + option_text(window) + ") is below twice AttemptTimeout (" +
               option_text(attempt) + "): the start fails");
  }
}

class Reader {
 public:
  PolicyFile read(const std::vector<Node>& documents) {
    file_.kind = ".NET settings";
    file_.format = "dotnet";
    for (const Node& each : documents) walk(each, "");
    return std::move(file_);
  }

 private:
  void walk(const Node& node, const std::string& path) {
    if (is_handler(node)) return read_handler(node, path);
    if (is_retry(node)) return read_alone(node, path);
    for (const Node& each : node.children) {
      walk(each, path.empty() ? each.name : path + ':' + each.name);
    }
  }

  Policy begin(const Node& node, const std::string& path, const Node* retry) {
    Policy policy{.names = {path.empty() ? "all" : shown(path)}, .line = node.line};
    if (retry != nullptr) {
      note_others(policy.notes, *retry, kRetryNames,
                  "no property of the retry options: .NET skips it without a word", kCase);
    }
    read_retry(policy, retry);
    return policy;
  }

  void read_handler(const Node& node, const std::string& path) {
    const Node* retry = node.find("Retry", kCase);
    Policy policy = begin(node, path, retry);
    note_others(policy.notes, node,
                {"RateLimiter", "TotalRequestTimeout", "Retry", "CircuitBreaker", "AttemptTimeout",
                 "Hedging", "Endpoint", "SelectPipelineByAuthority"},
                "no part of the standard handler: .NET skips it without a word", kCase);
    if (node.children.size() == 1 && retry != nullptr) {
      policy.warn(
          kNoEffect, retry->line,
          "Retry alone in its section: if the program binds the section to "
          "HttpRetryStrategyOptions, as a sample of Microsoft does, nothing in Retry has an "
          "effect; it has as HttpStandardResilienceOptions, read so here");
    }
    if (const Node* hedging = node.find("Hedging", kCase)) {
      policy.settings.clear();
      policy.has_retries = false;
      policy.not_modelled(hedging->line, "Hedging: copies of a request, which are not retries");
      file_.add(std::move(policy));
      return;
    }
    add_field(policy, kTotal, part(part(&node, kTotal.name), "Timeout"), kProgram);
    policy.assume("deadline-check", "at-end", "a request ends at its timeout");
    add_field(policy, kAttempt, part(part(&node, kAttempt.name), "Timeout"), kProgram);
    policy.assume("breaker", "polly", "the handler has a CircuitBreaker");
    add_fields(policy, kBreaker, node.find("CircuitBreaker", kCase), kProgram, kCase);
    const Node* limiter = part(part(&node, "RateLimiter"), "DefaultRateLimiterOptions");
    add_field(policy, kPermits, part(limiter, kPermits.name), kProgram);
    check_times(policy);
    file_.add(std::move(policy));
  }

  void read_alone(const Node& node, const std::string& path) {
    Policy policy = begin(node, path, &node);
    policy.assume("retry-budget", "none", "retries alone have no limit on all of them together");
    policy.assumed(
        node.line,
        "read as HttpRetryStrategyOptions; as Polly's own RetryStrategyOptions it has Constant and "
        "no jitter where nothing is given");
    file_.add(std::move(policy));
  }

  PolicyFile file_;
};

bool has_options(const Node& node) {
  return is_handler(node) || is_retry(node) ||
         std::any_of(node.children.begin(), node.children.end(), has_options);
}

}  // namespace

PolicyFile read_dotnet(const std::vector<Node>& documents, ReadAs) {
  const bool ours = std::any_of(documents.begin(), documents.end(), has_options);
  return ours ? Reader().read(documents) : PolicyFile();
}

}  // namespace retrystorm
