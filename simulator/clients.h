// The simulated clients: when each of them makes requests.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/base/duration.h"
#include "model/base/queues.h"
#include "model/run/counts.h"
#include "model/run/request_trace.h"
#include "model/run/workload.h"
#include "simulator/calls.h"
#include "simulator/scenario.h"

namespace retrystorm {

// Clients that think between their requests, requests that arrive from outside, or workers of a
// job. The load may change. Each client has a slot of the calls. Times passed in never decrease.
class Clients final : public CallOwner {
 public:
  // `workload`, `seed`: of these clients; nothing else of them is taken from the scenario. `trace` must outlive the
  // clients. Null if nothing is traced.
  Clients(const Scenario& scenario, const WorkloadOptions& workload, std::uint64_t seed,
          RequestTrace* trace);

  Clients(const Clients&) = delete;
  Clients& operator=(const Clients&) = delete;

  // Call once, at time 0. The clients send their requests to `server`, which must outlive them.
  void start(Target& server);

  // From now on the clients offer `load` times the configured load, > 0: think times are divided by
  // it, and arrival rates multiplied. Open arrivals may be without load.
  void set_load(TimePoint now, double load);

  // With open arrivals: when the next request arrives. With a job: when the next worker starts, or
  // when the last one has left.
  TimePoint next_arrival() const { return next_arrival_; }
  void arrive(TimePoint now);

  Calls& calls() { return calls_; }
  const Calls& calls() const { return calls_; }

  void call_over(TimePoint now, std::uint32_t slot, const NextAttempt& next) override;
  void waits(std::uint32_t slot, Duration wait) override { pauses_[slot] = wait; }

  // True once a job is done: nothing more will happen.
  bool all_done() const { return job_ && job_->all_done(); }
  // Empty if there is no job.
  std::optional<JobResult> job_result(TimePoint now) const {
    return job_ ? std::optional(job_->result(now - TimePoint{})) : std::nullopt;
  }

  ClientStates states() const;

 private:
  void begin_later(TimePoint now, std::uint32_t slot, Duration wait, Duration think);
  void begin_worker(TimePoint now);

  const std::size_t count_;  // of clients, in a closed system
  const Arrivals kind_;
  const TimePoint end_;
  const bool load_changes_;  // in this run
  double load_ = 1;
  Calls calls_;
  Fifo<std::uint32_t> free_slots_;  // with open arrivals: slots of requests that have ended
  std::vector<WaitCalendar::Wait> after_end_;  // end after the run, unless the load increases

  std::optional<Job> job_;
  std::vector<Duration> pauses_;  // with a job: each worker's last wait; 0 once it has left

  OpenArrivals open_arrivals_;
  std::uint64_t arrivals_ = 0;
  TimePoint next_arrival_ = TimePoint::max();
};

}  // namespace retrystorm
