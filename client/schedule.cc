#include "client/schedule.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "model/retry/retry_policy.h"

namespace retrystorm {
namespace {

std::string seconds_text(Duration delay) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), to_seconds(delay)).ptr};
}

// A failure that is retried, and as after an outage a timeout where that is.
AttemptResult retried_failure(const RetryOn& retried) {
  const AttemptResult late = timed_out(Duration::zero());
  for (const AttemptResult& each :
       {late, not_connected(Duration::zero()), answered(503, std::nullopt, Duration::zero())}) {
    if (retried.covers(each)) return each;
  }
  return late;
}

// A client whose attempts all fail.
class FailingClient {
 public:
  FailingClient(const RetryPolicy& policy, const WorkloadOptions& workload, std::uint64_t seed,
                std::uint64_t index)
      : policy_(&policy),
        failure_(retried_failure(workload.retry.limit.retry_on)),
        random_(seed, index) {
    policy.begin_request(state_, random_.exponential(workload.think_time));
  }

  // The wait that follows its next attempt; none once the request is given up.
  std::optional<Duration> fail() {
    if (gave_up_) return std::nullopt;
    policy_->may_send(now_, state_, nullptr, random_);
    const Decision decision = policy_->after(now_, failure_, state_, nullptr, random_, metrics_);
    now_ = saturating_add(now_, decision.wait);
    gave_up_ = decision.gave_up.has_value();
    return gave_up_ ? std::nullopt : std::optional(decision.wait);
  }

 private:
  const RetryPolicy* policy_;
  AttemptResult failure_;
  ClientRandom random_;
  RetryState state_;
  RetryMetrics metrics_;
  TimePoint now_{};
  bool gave_up_ = false;
};

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
  FailingClient client(policy, options.workload, seed, 0);
  std::vector<FailingClient> others;
  for (std::size_t i = 1; i <= kDraws; ++i) others.emplace_back(policy, options.workload, seed, i);

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
