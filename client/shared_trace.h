// The trace of a run whose clients are threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "model/run/request_trace.h"

namespace retrystorm {

// A `RequestTrace` under a lock, which only those whose requests are followed take. Of the server
// it sees the answers. All members are safe from any thread.
class SharedTrace {
 public:
  // `start` is the run's.
  SharedTrace(TimePoint start, std::size_t most)
      : trace_(RequestTrace::Sees::kAnswers, start, most) {}

  // Requests that begin from now on are followed.
  void open() {
    const std::scoped_lock lock(mutex_);
    trace_.open();
    wants_ = trace_.wants();
  }

  // Returns whether the request that begins is followed: then, and only then, the others are to be
  // called for it. See `RequestTrace`.
  bool begin(TimePoint now, std::uint64_t client) {
    if (!wants_) return false;
    const std::scoped_lock lock(mutex_);
    const bool followed = trace_.begin(now, client);
    wants_ = trace_.wants();
    return followed;
  }
  void sent(TimePoint now, std::uint64_t client) {
    const std::scoped_lock lock(mutex_);
    trace_.sent(now, client, 0);
  }
  void not_sent(TimePoint now, std::uint64_t client, Permission::Kind why,
                const NextAttempt& next) {
    const std::scoped_lock lock(mutex_);
    trace_.not_sent(now, client, why);
    trace_.follow(now, client, next);
  }
  void ended(TimePoint now, std::uint64_t client, const AttemptResult& result,
             std::optional<Duration> service, const NextAttempt& next) {
    const std::scoped_lock lock(mutex_);
    trace_.ended(client, result, service);
    trace_.follow(now, client, next);
  }

  std::vector<TracedRequest> take_finished() {
    const std::scoped_lock lock(mutex_);
    return trace_.take_finished();
  }
  std::vector<TracedRequest> take_rest() {
    const std::scoped_lock lock(mutex_);
    return trace_.take_rest();
  }

 private:
  std::mutex mutex_;
  RequestTrace trace_;
  std::atomic<bool> wants_{false};
};

}  // namespace retrystorm
