#include "model/run/counts.h"

#include <algorithm>
#include <numeric>

namespace retrystorm {

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
  const std::uint64_t known = ok + gave_up() + failing;
  return known == 0 ? 1 : static_cast<double>(ok) / static_cast<double>(known);
}

std::uint64_t Counts::left_out() const {
  return requests - std::min(requests, ok + gave_up() + failing);
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

Counts& Counts::operator+=(const Counts& other) {
  ok += other.ok;
  errors += other.errors;
  timed_out += other.timed_out;
  requests += other.requests;
  attempts += other.attempts;
  retries += other.retries;
  hedges += other.hedges;
  hedges_won += other.hedges_won;
  for (std::size_t i = 0; i < gave_up_by.size(); ++i) gave_up_by[i] += other.gave_up_by[i];
  not_sent += other.not_sent;
  throttled += other.throttled;
  failing += other.failing;
  for (std::size_t i = 0; i < errors_by.size(); ++i) errors_by[i] += other.errors_by[i];
  return *this;
}

Counts operator-(const Counts& a, const Counts& b) {
  Counts result{.ok = a.ok - b.ok,
                .errors = a.errors - b.errors,
                .timed_out = a.timed_out - b.timed_out,
                .requests = a.requests - b.requests,
                .attempts = a.attempts - b.attempts,
                .retries = a.retries - b.retries,
                .hedges = a.hedges - b.hedges,
                .hedges_won = a.hedges_won - b.hedges_won,
                .gave_up_by = a.gave_up_by,
                .not_sent = a.not_sent - b.not_sent,
                .throttled = a.throttled - b.throttled,
                .failing = a.failing - b.failing,
                .errors_by = a.errors_by};
  for (std::size_t i = 0; i < b.gave_up_by.size(); ++i) result.gave_up_by[i] -= b.gave_up_by[i];
  for (std::size_t i = 0; i < b.errors_by.size(); ++i) result.errors_by[i] -= b.errors_by[i];
  return result;
}

KeptConnections& KeptConnections::operator+=(const KeptConnections& other) {
  open += other.open;
  idle += other.idle;
  in_line += other.in_line;
  opened += other.opened;
  given_up += other.given_up;
  waited += other.waited;
  sent_again += other.sent_again;
  return *this;
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
