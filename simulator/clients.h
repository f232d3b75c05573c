// The simulated clients: they think, send attempts, wait for answers, and retry as their policy
// says.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "model/base/duration.h"
#include "model/base/fifo.h"
#include "model/base/random.h"
#include "model/retry/retry_policy.h"
#include "model/run/client_behaviour.h"
#include "model/run/counts.h"
#include "model/run/job.h"
#include "model/run/open_arrivals.h"
#include "model/run/request_trace.h"
#include "model/run/run_latencies.h"
#include "simulator/caller.h"
#include "simulator/scenario.h"
#include "simulator/wait_queue.h"

namespace retrystorm {

class ServerNode;

// Drives the same behaviour and policy objects as the real client. Of time it knows only what it is
// told; times do not go back.
class Clients final : public Caller {
 public:
  // `server` is where they send their requests; it outlives them, and is not used before `start`.
  // So does `trace`, which is told what they do; null without.
  Clients(const Scenario& scenario, ServerNode& server, RequestTrace* trace);

  Clients(const Clients&) = delete;
  Clients& operator=(const Clients&) = delete;

  // Once, at the beginning of time.
  void start();

  // From now on they want so many times as much, > 0: they think as much faster, or come as much
  // more often.
  void set_load(TimePoint now, double load);

  // When an attempt's patience ends, and what follows.
  TimePoint next_timeout() const {
    const TimePoint whole = timeouts_.empty() ? TimePoint::max() : timeouts_.front().time;
    return cut_short_.empty() ? whole : std::min(whole, cut_short_.front().time);
  }
  void time_out(TimePoint now);

  // When a client has thought or backed off long enough, and sends.
  TimePoint next_wait() { return waits_.next(); }
  void end_wait(TimePoint now);

  // When arrivals are open: when the next request comes from outside. Of a job: when the next
  // worker comes, or the last one has gone.
  TimePoint next_arrival() const { return next_arrival_; }
  void arrive(TimePoint now);

  bool waits_for(const Attempt& attempt) const override {
    const Client& client = clients_[attempt.client];
    return client.in_flight && client.attempt == attempt.number;
  }
  void take_answer(TimePoint now, const Attempt& attempt, const Answer& answer) override;
  void lose_connection(TimePoint now, const Attempt& attempt) override;
  void expect(const Attempt& attempt) const override;

  // Of a job that is all done: nothing more will happen.
  bool all_done() const { return job_ && job_->all_done(); }
  // Of a job.
  std::optional<JobResult> job_result(TimePoint now) const {
    return job_ ? std::optional(job_->result(now - TimePoint{})) : std::nullopt;
  }

  const Counts& counts() const { return counts_; }
  ClientStates states() const;
  const RunLatencies& latencies() const { return latencies_; }
  const RetryMetrics& retry_metrics() const { return retry_metrics_; }
  Duration longest_without_ok(TimePoint now) const;  // of any single client

 private:
  struct alignas(64) Client {  // one line of the cache
    RetryState retry;
    std::uint64_t random;  // state of its stream
    TimePoint sent_at;     // the attempt under way
    TimePoint last_ok;
    std::uint32_t attempt = 0;  // its number
    bool in_flight = false;
    bool next_is_retry = false;
    bool unsent = false;  // no attempt of the request at hand has been sent so far
    bool in_line = false;
  };

  // What clients share, and who waits for its permission: the first one asks again.
  struct Process {
    std::unique_ptr<RetryProcess> parts;
    Fifo<std::uint32_t> line;
  };

  struct Timeout {
    TimePoint time;
    Attempt attempt;
  };
  static bool later(const Timeout& a, const Timeout& b) { return a.time > b.time; }

  void send(TimePoint now, std::uint32_t index);
  // Asks the client's policy. False when nothing is to be sent now.
  bool may_send(TimePoint now, std::uint32_t index);
  // Those that are missing up to this client's.
  void make_processes(TimePoint now, std::uint32_t last_client);
  RetryProcess* process_of(std::uint32_t client);
  void wait_for_permission(TimePoint now, std::uint32_t index, Duration wait);
  void leave_line(TimePoint now, std::uint32_t index);
  // `ended`: of an attempt that was sent; null where it was refused.
  void follow(TimePoint now, std::uint32_t index, NextAttempt next, const AttemptResult* ended);
  // Its end where that is watched. Apart, so that the usual way keeps its registers.
  [[gnu::noinline]] void follow_watched(TimePoint now, std::uint32_t index, const NextAttempt& next,
                                        const AttemptResult* ended);
  void finish(TimePoint now, const Attempt& attempt, const AttemptResult& result);
  void schedule(TimePoint now, std::uint32_t index, const NextAttempt& next);
  [[gnu::noinline]] void schedule_at_load(TimePoint now, std::uint32_t index,
                                          const NextAttempt& next);
  // Its slot is free for another.
  void end_request(TimePoint now, std::uint32_t index);
  void begin_worker(TimePoint now);
  // Its slot is there; it draws from the stream of that number, and sends.
  void enter(TimePoint now, std::uint32_t index, std::uint64_t stream);
  void find_next_worker();

  const ClientBehaviour behaviour_;
  RequestTrace* const trace_;
  // Most runs take neither of these ways aside, so that a trace costs them nothing.
  const bool asks_;     // whether a policy may keep attempts from being sent, or a trace is told
  const bool watches_;  // whether a request's end is no thinking, or a trace is told
  const bool has_processes_;
  const std::size_t clients_per_process_;
  const std::size_t count_;  // closed: of the clients
  const Duration timeout_;
  const std::uint64_t seed_;
  const Arrivals kind_;
  const TimePoint end_;
  const bool load_changes_;  // in this run
  double load_ = 1;
  ServerNode& server_;

  std::vector<Client> clients_;
  std::vector<std::uint32_t> free_clients_;  // open arrivals: slots of requests that have ended
  std::vector<Process> processes_;           // where the policy has any
  WaitQueue waits_;
  std::vector<WaitQueue::Wait> after_end_;  // that more load may bring back into the run
  Fifo<Timeout> timeouts_;                  // what lasts equally long needs no ordering
  std::vector<Timeout> cut_short_;          // by their request's deadline: a heap

  std::optional<Job> job_;
  std::vector<Duration> pauses_;  // of a job: what each worker decided on last; 0 once it has left

  OpenArrivals open_arrivals_;
  std::uint64_t arrivals_ = 0;
  TimePoint next_arrival_ = TimePoint::max();

  Counts counts_;
  std::size_t in_flight_ = 0;
  std::size_t waiting_to_retry_ = 0;
  RunLatencies latencies_;
  RetryMetrics retry_metrics_;
  Duration longest_without_ok_{0};  // of the waits that have ended
};

}  // namespace retrystorm
