#include "client/schedule.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/retry/failing_client.h"

namespace retrystorm {
namespace {

std::string seconds_text(Duration delay) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), to_seconds(delay)).ptr};
}

// The least of `waits` that a share `p` of them does not exceed.
Duration quantile(std::vector<Duration>& waits, double p) {
  const double rank = std::ceil(p * static_cast<double>(waits.size()));
  const auto at =
      waits.begin() + std::max<std::ptrdiff_t>(static_cast<std::ptrdiff_t>(rank), 1) - 1;
  std::nth_element(waits.begin(), at, waits.end());
  return *at;
}

void print_waits(std::ostream& out, const ClientOptions& options, std::uint64_t seed) {
  constexpr std::size_t kDraws = 1000;
  constexpr std::array kShares{0.05, 0.5, 0.95};
  const RetryPolicy policy(options.workload.retry);
  const WorkloadOptions& workload = options.workload;
  FailingClient client(policy, workload.retry, workload.think_time, seed, 0);
  std::vector<FailingClient> others;
  for (std::size_t i = 1; i <= kDraws; ++i) {
    others.emplace_back(policy, workload.retry, workload.think_time, seed, i);
  }

  struct Row {
    Duration wait;
    std::array<Duration, kShares.size()> quantiles{};
  };
  std::vector<Row> rows;
  bool random = false;
  std::vector<Duration> waits;
  for (std::size_t attempt = 1; attempt <= options.print_schedule; ++attempt) {
    const auto wait = client.fail();
    if (!wait) break;
    waits.assign(1, *wait);
    for (FailingClient& other : others) {
      if (const auto its = other.fail()) waits.push_back(*its);
    }
    const auto [least, most] = std::minmax_element(waits.begin(), waits.end());
    random = random || *least < *most;
    Row row{.wait = *wait};
    for (std::size_t i = 0; i < kShares.size(); ++i) row.quantiles[i] = quantile(waits, kShares[i]);
    rows.push_back(row);
  }
  out << (random ? "attempt,delay_seconds,p5,p50,p95\n" : "attempt,delay_seconds\n");
  for (std::size_t i = 0; i < rows.size(); ++i) {
    out << i + 1 << ',' << seconds_text(rows[i].wait);
    if (random) {
      for (const Duration each : rows[i].quantiles) out << ',' << seconds_text(each);
    }
    out << '\n';
  }
}

// Attempts fail until a wait has reached one bound, and then succeed while it is above the other.
void print_story(std::ostream& out, const ClientOptions& options, std::uint64_t seed) {
  const RetryPolicy policy(options.workload.retry);
  ClientRandom random(seed, 0);
  RetryState state;
  RetryMetrics metrics;
  policy.begin_request(state, random.exponential(options.workload.think_time));
  const AttemptResult failure = retried_failure(options.workload.retry.limit.retry_on);
  bool failing = true;
  bool failed = true;
  TimePoint now{};
  out << "attempt,delay_seconds,outcome\n";
  for (std::size_t attempt = 1; attempt <= options.print_schedule; ++attempt) {
    policy.may_send(now, state, nullptr, random);
    const AttemptResult result = failed ? failure : AttemptResult();
    const Decision decision = policy.after(now, result, state, nullptr, random, metrics);
    if (decision.gave_up) break;
    now = saturating_add(now, decision.wait);
    out << attempt << ',' << seconds_text(decision.wait) << (failed ? ",failure" : ",success")
        << '\n';
    failing = failing && decision.wait < *options.schedule_fails_until;
    if (!decision.retry) policy.begin_request(state, options.workload.think_time);
    failed = failing || decision.wait <= *options.schedule_succeeds_above;
  }
}

}  // namespace

void print_schedule(std::ostream& out, const ClientOptions& options, std::uint64_t seed) {
  if (options.schedule_fails_until) {
    print_story(out, options, seed);
  } else {
    print_waits(out, options, seed);
  }
}

}  // namespace retrystorm
