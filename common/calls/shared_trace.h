// The request trace of a run whose clients are threads.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <vector>

#include "model/run/request_trace.h"

namespace retrystorm {

// A `RequestTrace` under a lock. Only clients with traced requests take the lock. Of the server, it
// sees only the answers. Thread-safe.
class SharedTrace {
 public:
  // `start` is when the run starts.
  SharedTrace(TimePoint start, std::size_t most)
      : trace_(RequestTrace::Sees::kAnswers, start, most) {}

  // Requests that begin from now on are traced.
  void open() {
    const std::scoped_lock lock(mutex_);
    trace_.open();
    wants_ = trace_.wants();
  }

  // Returns true if the request that begins is traced. Only then call the other members for it. See
  // `RequestTrace`.
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
             std::optional<Duration> service, std::optional<Duration> pool,
             const NextAttempt& next) {
    const std::scoped_lock lock(mutex_);
    trace_.ended(client, result, service, pool);
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
