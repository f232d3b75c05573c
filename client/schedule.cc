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
  const RetryPolicy policy(options.workload.retry);
  ClientRandom random(seed, 0);
  RetryState state;
  RetryMetrics metrics;
  policy.begin_request(state, random.exponential(options.workload.think_time));

  const bool outcomes = options.schedule_fails_until.has_value();
  bool failing = true;
  bool failed = true;
  TimePoint now{};
  out << (outcomes ? "attempt,delay_seconds,outcome\n" : "attempt,delay_seconds\n");
  for (std::size_t attempt = 1; attempt <= options.print_schedule; ++attempt) {
    policy.may_send(now, state, nullptr, random);
    const AttemptResult result = failed ? timed_out(Duration::zero()) : AttemptResult();
    const Decision decision = policy.after(now, result, state, nullptr, random, metrics);
    if (decision.gave_up) break;
    now = saturating_add(now, decision.wait);
    out << attempt << ',' << seconds_text(decision.wait);
    if (outcomes) {
      out << (failed ? ",failure" : ",success");
      failing = failing && decision.wait < *options.schedule_fails_until;
      if (!decision.retry) policy.begin_request(state, options.workload.think_time);
      failed = failing || decision.wait <= *options.schedule_succeeds_above;
    }
    out << '\n';
  }
}

}  // namespace retrystorm
