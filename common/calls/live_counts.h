// What the clients have done so far and are doing now. Their threads count, and any thread may
// read.
#pragma once

#include <prometheus/histogram.h>
#include <prometheus/metric_family.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include "model/base/duration.h"
#include "model/retry/attempt.h"
#include "model/run/client_behaviour.h"
#include "model/run/counts.h"
#include "model/run/run_phases.h"

namespace retrystorm {

// All members are safe from any thread.
class TimeHistograms {
 public:
  TimeHistograms();

  void add_attempt(Outcome outcome, Duration latency);
  void add_retry_wait(Duration wait);

  // How requests end. The time of a request that succeeded goes from its first attempt to its
  // answer.
  enum class RequestResult { kSucceeded, kGivenUp };
  void add_request(RequestResult result, Duration time);

  struct RetryWaits {
    std::uint64_t count = 0;
    double seconds = 0;  // the sum
  };
  RetryWaits retry_waits() const;
  std::vector<prometheus::MetricFamily> families() const;

 private:
  prometheus::Histogram ok_, error_, timed_out_, retry_wait_, succeeded_, given_up_;
};

struct ClientHistory {
  RunLatencies latencies;
  RetryMetrics retry_metrics;      // of the clients that have left
  Duration longest_without_ok{0};  // of any single client
  std::string first_error{};       // in words; empty: none
};

// A client has a place from its arrival until it leaves. Members that take a `place` must be called
// from one thread at a time for that place. All other members are thread-safe.
class LiveCounts {
 public:
  explicit LiveCounts(std::size_t places);

  void arrive(std::size_t place, TimePoint now) { places_[place].last_ok = now; }
  void leave(std::size_t place, TimePoint now, const RetryMetrics& metrics);

  void begin_request(std::size_t place, TimePoint now) {
    ++requests_;
    places_[place].begun = now;
  }
  // It got its OK, or was given up.
  void end_request(std::size_t place) { places_[place].begun = TimePoint::max(); }
  // `first`: true for a request's first attempt that is sent.
  void send(bool first);
  // A pool has sent the attempt in flight again, on another connection.
  void send_again() {
    ++attempts_;
    ++retries_;
  }
  // An attempt is no longer in flight. It has ended, or it was interrupted and is not counted.
  void come_back() { --in_flight_; }
  // `why`: why there was no answer, in words.
  void end_attempt(const AttemptResult& result, const std::string& why);
  // `begun`: when the request began.
  void end_ok(std::size_t place, TimePoint now, TimePoint begun, Duration latency,
              Duration request_time);
  // A hedged request, which has several attempts at a time, or the attempts after one of its waits. Between these
  // calls it is one of `hedged_requests`.
  void begin_hedged() { ++hedged_; }
  void end_hedged() { --hedged_; }
  void hedge() { ++hedges_; }
  void hedge_won() { ++hedges_won_; }
  // It counts among those that are being retried from now on.
  void fail_so_far() { ++failing_; }
  // A gate refused an attempt.
  void refuse() { ++not_sent_; }
  // Counts what happens to a request after one of its attempts ended or was not sent.
  void follow(const NextAttempt& next, bool was_retry, TimePoint begun, Duration request_time);
  // The run ends. What comes later is not noted.
  void end(TimePoint now) { run_ended_ = now; }
  // The run stops while this request is under way.
  void leave_unfinished(std::size_t place, TimePoint begun, TimePoint now);
  // An outage begins or ends.
  void begin_phase(TimePoint now);

  void begin_wait_to_retry() { ++waiting_to_retry_; }
  void end_wait_to_retry() { --waiting_to_retry_; }
  void add_retry_wait(Duration wait) { histograms_.add_retry_wait(wait); }
  // Sets the pause or wait that a worker of a job decided on last. 0 once the worker has left.
  void decide_pause(std::size_t place, Duration pause) { places_[place].pause = pause; }

  Counts counts() const;
  std::size_t in_flight() const { return in_flight_; }
  std::size_t hedged_requests() const { return hedged_; }
  std::size_t waiting_to_retry() const { return waiting_to_retry_; }
  Duration pauses() const;  // of all workers
  const TimeHistograms& histograms() const { return histograms_; }
  // Requests that are under way count with their time so far.
  ClientHistory history(TimePoint now) const;

 private:
  struct Place {
    // When its client had its last OK, or arrived. `TimePoint::max()` if the place is empty.
    std::atomic<TimePoint> last_ok{TimePoint::max()};
    std::atomic<TimePoint> begun{TimePoint::max()};  // its request, if one is under way
    std::atomic<Duration> pause{Duration::zero()};
  };

  std::vector<Place> places_;
  std::array<std::atomic<std::uint64_t>, 3> ended_{};  // attempts, by `Outcome`
  std::array<std::atomic<std::uint64_t>, kGiveUpNames.size()> gave_up_by_{};
  std::array<std::atomic<std::uint64_t>, kErrorKinds.size()> errors_by_{};
  std::atomic<std::uint64_t> requests_{0}, attempts_{0}, retries_{0}, not_sent_{0}, throttled_{0},
      failing_{0}, hedges_{0}, hedges_won_{0};
  std::atomic<std::size_t> in_flight_{0}, waiting_to_retry_{0}, hedged_{0};
  TimeHistograms histograms_;

  std::atomic<TimePoint> run_ended_{TimePoint::max()};
  std::atomic<bool> has_error_{false};
  mutable std::mutex mutex_;  // guards `history_`
  ClientHistory history_;
};

}  // namespace retrystorm
