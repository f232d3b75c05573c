#include "model/run/counts.h"

#include <algorithm>
#include <numeric>

namespace retrystorm {

std::size_t error_kind(const AttemptResult& error) {
  constexpr std::array kStatuses{400, 404, 429, 500, 502, 503, 504};
  constexpr std::size_t kOthers = kStatuses.size();  // 4xx, 5xx, all others
  if (error.status == 0) {  // refused, reset, unreachable, and then none of the kinds
    return kOthers + 3 + static_cast<std::size_t>(error.no_answer);
  }
  const auto known = std::find(kStatuses.begin(), kStatuses.end(), error.status);
  if (known != kStatuses.end()) return static_cast<std::size_t>(known - kStatuses.begin());
  return kOthers + (error.status / 100 == 4 ? 0 : error.status / 100 == 5 ? 1 : 2);
}

double Counts::amplification() const {
  return requests == 0 ? 1 : static_cast<double>(attempts) / static_cast<double>(requests);
}

std::uint64_t Counts::gave_up() const {
  return std::accumulate(gave_up_by.begin(), gave_up_by.end(), std::uint64_t{0});
}

std::uint64_t Counts::nothing_retried() const {
  return retries > 0 ? 0 : gave_up_by[static_cast<std::size_t>(GiveUp::kNotRetryable)];
}

double Counts::success_share() const {
  return known() == 0 ? 1 : static_cast<double>(ok) / static_cast<double>(known());
}

std::uint64_t Counts::left_out() const {
  return requests - std::min(requests, known());
}

double Counts::left_out_share() const {
  return requests == 0 ? 0 : static_cast<double>(left_out()) / static_cast<double>(requests);
}

double Counts::throttled_share() const {
  return finished() == 0 ? 0 : static_cast<double>(throttled) / static_cast<double>(finished());
}

void Counts::count(const AttemptResult& result) {
  switch (result.outcome) {
    case Outcome::kOk:
      ++ok;
      break;
    case Outcome::kError:
      ++errors;
      if (result.failure == Failure::kThrottled) ++throttled;
      if (const std::size_t kind = error_kind(result); kind < errors_by.size()) ++errors_by[kind];
      break;
    case Outcome::kTimedOut:
      ++timed_out;
      break;
  }
}

ClientStates operator+(const ClientStates& a, const ClientStates& b) {
  ClientStates sum{.thinking = a.thinking + b.thinking,
                   .in_flight = a.in_flight + b.in_flight,
                   .waiting_to_retry = a.waiting_to_retry + b.waiting_to_retry};
  for (const ClientStates* each : {&a, &b}) {
    if (!each->kept) continue;
    if (!sum.kept) sum.kept.emplace();
    *sum.kept += *each->kept;
  }
  return sum;
}

double Rates::gave_up() const {
  return std::accumulate(gave_up_by.begin(), gave_up_by.end(), 0.0);
}

Rates rates(const Counts& counts, Duration window) {
  if (window <= Duration::zero()) return {};
  const auto rate = [seconds = to_seconds(window)](std::uint64_t count) {
    return static_cast<double>(count) / seconds;
  };
  Rates result{.ok = rate(counts.ok),
               .errors = rate(counts.errors),
               .timed_out = rate(counts.timed_out),
               .attempts = rate(counts.attempts),
               .retries = rate(counts.retries),
               .hedges = rate(counts.hedges),
               .hedges_won = rate(counts.hedges_won),
               .requests = rate(counts.requests),
               .not_sent = rate(counts.not_sent),
               .throttled = rate(counts.throttled)};
  for (std::size_t i = 0; i < counts.gave_up_by.size(); ++i) {
    result.gave_up_by[i] = rate(counts.gave_up_by[i]);
  }
  for (std::size_t i = 0; i < counts.errors_by.size(); ++i) {
    result.errors_by[i] = rate(counts.errors_by[i]);
  }
  return result;
}

}  // namespace retrystorm
