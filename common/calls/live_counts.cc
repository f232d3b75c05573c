#include "common/calls/live_counts.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

namespace retrystorm {

namespace {

// In seconds. Fine near the defaults: a base delay of 0.1 and a timeout of 2.
const prometheus::Histogram::BucketBoundaries kLatencies{0.001, 0.01, 0.05, 0.1,  0.11, 0.125, 0.15,
                                                         0.2,   0.3,  0.5,  0.75, 1,    1.5,   2,
                                                         2.1,   3,    5,    10,   30,   60};
const prometheus::Histogram::BucketBoundaries kWaits{0.001, 0.01, 0.05, 0.1, 0.2, 0.5, 1,   2,
                                                     5,     10,   20,   30,  60,  120, 300, 900};
// A request may last from one quick attempt to many long waits.
const prometheus::Histogram::BucketBoundaries kRequestTimes{
    0.001, 0.01, 0.05, 0.1, 0.11, 0.125, 0.15, 0.2, 0.3, 0.5, 1,
    2,     3,    5,    10,  20,   30,    60,   120, 300, 900, 3600};

prometheus::MetricFamily family(
    const std::string& name, const std::string& help, const std::string& label,
    std::initializer_list<std::pair<const char*, const prometheus::Histogram*>> members) {
  prometheus::MetricFamily result{
      .name = name, .help = help, .type = prometheus::MetricType::Histogram, .metric = {}};
  for (const auto& [value, histogram] : members) {
    prometheus::ClientMetric metric = histogram->Collect();
    if (!label.empty()) metric.label.push_back({.name = label, .value = value});
    result.metric.push_back(std::move(metric));
  }
  return result;
}

constexpr std::size_t index_of(Outcome outcome) {
  return static_cast<std::size_t>(outcome);
}

}  // namespace

TimeHistograms::TimeHistograms()
    : ok_(kLatencies),
      error_(kLatencies),
      timed_out_(kLatencies),
      retry_wait_(kWaits),
      succeeded_(kRequestTimes),
      given_up_(kRequestTimes) {}

void TimeHistograms::add_attempt(Outcome outcome, Duration latency) {
  switch (outcome) {
    case Outcome::kOk:
      return ok_.Observe(to_seconds(latency));
    case Outcome::kError:
      return error_.Observe(to_seconds(latency));
    case Outcome::kTimedOut:
      return timed_out_.Observe(to_seconds(latency));
  }
}

void TimeHistograms::add_retry_wait(Duration wait) {
  retry_wait_.Observe(to_seconds(wait));
}

void TimeHistograms::add_request(RequestResult result, Duration time) {
  (result == RequestResult::kSucceeded ? succeeded_ : given_up_).Observe(to_seconds(time));
}

TimeHistograms::RetryWaits TimeHistograms::retry_waits() const {
  const auto now = retry_wait_.Collect().histogram;
  return {.count = now.sample_count, .seconds = now.sample_sum};
}

std::vector<prometheus::MetricFamily> TimeHistograms::families() const {
  return {
      family("retrystorm_attempt_latency_seconds", "How long attempts lasted, by outcome.",
             "outcome", {{"ok", &ok_}, {"error", &error_}, {"timed_out", &timed_out_}}),
      family("retrystorm_retry_wait_seconds",
             "How long the strategy let clients wait before a retry.", "", {{"", &retry_wait_}}),
      family("retrystorm_request_time_seconds",
             "How long requests took from the first attempt to the end, by how they ended.",
             "result", {{"succeeded", &succeeded_}, {"given_up", &given_up_}})};
}

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
