#include "client/schedule.h"

#include <charconv>
#include <string>

#include "model/retry/retry_policy.h"

namespace retrystorm {
namespace {

std::string seconds_text(Duration delay) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), to_seconds(delay)).ptr};
}

}  // namespace

void print_schedule(std::ostream& out, const ClientOptions& options, std::uint64_t seed) {
  const RetryOptions& retry = options.workload.retry;
  const auto policy = make_retry_policy(retry);
  ClientRandom random(seed, 0);
  RetryState state;
  RetryMetrics metrics;
  policy->begin_request(state, random.exponential(options.workload.think_time));

  const bool outcomes = options.schedule_fails_until.has_value();
  bool failing = true;
  bool failed = true;
  out << (outcomes ? "attempt,delay_seconds,outcome\n" : "attempt,delay_seconds\n");
  for (std::size_t attempt = 1; attempt <= options.print_schedule; ++attempt) {
    const auto limit = retry_limit(retry);
    if (limit > 0 && state.retries >= limit) break;
    const Duration wait = failed ? policy->after_failure(state, random, metrics)
                                 : policy->after_success(state, random, metrics);
    out << attempt << ',' << seconds_text(wait);
    if (outcomes) {
      out << (failed ? ",failure" : ",success");
      failing = failing && wait < *options.schedule_fails_until;
      failed = failing || wait <= *options.schedule_succeeds_above;
    }
    out << '\n';
  }
}

}  // namespace retrystorm
