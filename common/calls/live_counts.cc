#include "common/calls/live_counts.h"

#include <algorithm>

namespace retrystorm {
namespace {

constexpr std::size_t index_of(Outcome outcome) {
  return static_cast<std::size_t>(outcome);
}

}  // namespace

LiveCounts::LiveCounts(std::size_t places) : places_(places) {}

void LiveCounts::leave(std::size_t place, TimePoint now, const RetryMetrics& metrics) {
  std::atomic<TimePoint>& last_ok = places_[place].last_ok;
  const std::scoped_lock lock(mutex_);
  history_.retry_metrics += metrics;
  history_.longest_without_ok = std::max(history_.longest_without_ok, now - last_ok.load());
  last_ok = TimePoint::max();
}

void LiveCounts::send(bool first) {
  if (!first) ++retries_;
  ++attempts_;
  ++in_flight_;
}

void LiveCounts::end_attempt(const AttemptResult& result, const std::string& why) {
  if (result.failure == Failure::kThrottled) ++throttled_;
  if (result.outcome == Outcome::kError) {
    if (const std::size_t kind = error_kind(result); kind < errors_by_.size()) ++errors_by_[kind];
    if (!has_error_.exchange(true)) {
      const std::scoped_lock lock(mutex_);
      history_.first_error =
          result.status > 0 ? "the answer " + std::to_string(result.status) : why;
    }
  }
  ++ended_[index_of(result.outcome)];  // after its kind, so that none is seen without its kind
  histograms_.add_attempt(result.outcome, result.latency);
}

void LiveCounts::end_ok(std::size_t place, TimePoint now, TimePoint begun, Duration latency,
                        Duration request_time) {
  histograms_.add_request(TimeHistograms::RequestResult::kSucceeded, request_time);
  std::atomic<TimePoint>& last_ok = places_[place].last_ok;
  const std::scoped_lock lock(mutex_);
  history_.latencies.add_ok(begun, latency, request_time);
  history_.longest_without_ok = std::max(history_.longest_without_ok, now - last_ok.load());
  last_ok = now;
}

void LiveCounts::follow(const NextAttempt& next, bool was_retry, TimePoint begun,
                        Duration request_time) {
  if (next.retry && !was_retry) ++failing_;
  if (!next.retry && was_retry) --failing_;
  if (!next.gave_up) return;
  ++gave_up_by_[static_cast<std::size_t>(*next.gave_up)];
  histograms_.add_request(TimeHistograms::RequestResult::kGivenUp, request_time);
  const std::scoped_lock lock(mutex_);
  history_.latencies.add_given_up(begun, request_time);
}

void LiveCounts::leave_unfinished(std::size_t place, TimePoint begun, TimePoint now) {
  end_request(place);
  const std::scoped_lock lock(mutex_);
  history_.latencies.add_unfinished(begun, std::min(now, run_ended_.load()));
}

void LiveCounts::begin_phase(TimePoint now) {
  const std::scoped_lock lock(mutex_);
  history_.latencies.begin_phase(now);
}

Counts LiveCounts::counts() const {
  // In the reverse of the order of counting, so that no attempt is counted without its request.
  const std::uint64_t hedges_won = hedges_won_, hedges = hedges_;
  const std::uint64_t attempts = attempts_, retries = retries_, requests = requests_;
  Counts counts{.ok = ended_[index_of(Outcome::kOk)],
                .errors = ended_[index_of(Outcome::kError)],
                .timed_out = ended_[index_of(Outcome::kTimedOut)],
                .requests = requests,
                .attempts = attempts,
                .retries = retries,
                .hedges = hedges,
                .hedges_won = hedges_won,
                .not_sent = not_sent_,
                .throttled = throttled_,
                .failing = failing_};
  std::copy(errors_by_.begin(), errors_by_.end(), counts.errors_by.begin());
  std::copy(gave_up_by_.begin(), gave_up_by_.end(), counts.gave_up_by.begin());
  return counts;
}

Duration LiveCounts::pauses() const {
  Duration pauses{0};
  for (const Place& each : places_) pauses += each.pause.load();
  return pauses;
}

ClientHistory LiveCounts::history(TimePoint now) const {
  const std::scoped_lock lock(mutex_);
  ClientHistory history = history_;
  for (const Place& each : places_) {
    const TimePoint begun = each.begun;
    if (begun < now) history.latencies.add_unfinished(begun, now);
    const TimePoint last = each.last_ok;
    if (last == TimePoint::max()) continue;
    history.longest_without_ok = std::max(history.longest_without_ok, now - last);
  }
  return history;
}

}  // namespace retrystorm
