#include "model/run/counts.h"

namespace retrystorm {

double Counts::amplification() const {
  return requests == 0 ? 1 : static_cast<double>(attempts()) / static_cast<double>(requests);
}

void Counts::count(Outcome outcome) {
  switch (outcome) {
    case Outcome::kOk:
      ++ok;
      break;
    case Outcome::kError:
      ++errors;
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
  retries += other.retries;
  gave_up += other.gave_up;
  not_sent += other.not_sent;
  unsent += other.unsent;
  return *this;
}

Counts operator-(const Counts& a, const Counts& b) {
  return {.ok = a.ok - b.ok,
          .errors = a.errors - b.errors,
          .timed_out = a.timed_out - b.timed_out,
          .requests = a.requests - b.requests,
          .retries = a.retries - b.retries,
          .gave_up = a.gave_up - b.gave_up,
          .not_sent = a.not_sent - b.not_sent,
          .unsent = a.unsent - b.unsent};
}

Rates rates(const Counts& counts, Duration window) {
  if (window <= Duration::zero()) return {};
  const auto rate = [seconds = to_seconds(window)](std::uint64_t count) {
    return static_cast<double>(count) / seconds;
  };
  return {.ok = rate(counts.ok),
          .errors = rate(counts.errors),
          .timed_out = rate(counts.timed_out),
          .attempts = rate(counts.attempts()),
          .retries = rate(counts.retries),
          .gave_up = rate(counts.gave_up),
          .not_sent = rate(counts.not_sent)};
}

}  // namespace retrystorm
