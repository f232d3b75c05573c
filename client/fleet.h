// The clients: threads that think, request and retry until told to stop.
#pragma once

#include <array>
#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "client/arrival_threads.h"
#include "client/deadlines.h"
#include "client/http_attempt.h"
#include "client/http_request.h"
#include "client/shared_trace.h"
#include "client/time_histograms.h"
#include "common/cli/options.h"
#include "model/run/client_behaviour.h"
#include "model/run/counts.h"
#include "model/run/run_latencies.h"
#include "model/run/run_observer.h"

namespace retrystorm {

// What all clients have done so far, and what they are doing.
struct FleetTotals {
  Counts counts;
  ClientStates clients;
  Punctuality punctuality{};  // of an open system
};

struct FleetHistory {
  RunLatencies latencies;
  RetryMetrics retry_metrics;      // of the clients that have ended
  Duration longest_without_ok{0};  // of any single client
};

// What a run of the fleet needs besides its workload.
struct FleetLimits {
  // Open arrivals: so many requests are under way at a time, each on a thread.
  std::size_t max_threads = kDefaultMaxThreads;
  std::vector<int> spared_ports{};  // see `shut_down_all_sockets`

  // As many as storms of a hundred requests a second come to in a minute.
  static constexpr std::size_t kDefaultMaxThreads = 5000;
};

// All clients of one run. In a closed system each is a thread that has a behaviour's state and a
// random stream of its own; in an open one each request has, and takes a thread for as long as it
// lasts: the place of that thread is its client. So with the same seed the waits are the same
// however the threads are scheduled. What clients of one process share is asked under that
// process's lock. A fleet is started once and stopped once. Owned by the experiment; whoever looks
// on from another thread calls only what says that it is safe.
class Fleet {
 public:
  // Nothing runs yet.
  Fleet(const WorkloadOptions& options, std::uint64_t seed, const HttpRequest& request,
        const FleetLimits& limits = {});
  ~Fleet();

  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  // Before `start`: the first `most` requests that begin once the trace is open are followed.
  // `start` is the run's.
  void follow(TimePoint start, std::size_t most) {
    trace_.emplace(TimePoint{} + (start - made_at_), most);
  }
  // Null without.
  SharedTrace* trace() { return trace_ ? &*trace_ : nullptr; }

  // Starts the clients, or the arrivals. Throws std::runtime_error when the system has not so many
  // threads.
  void start();

  // From now on the clients want so many times as much, > 0: they think as much faster, or
  // come as much more often.
  void set_load(double load);

  // Safe from any thread.
  FleetTotals totals() const;
  const TimeHistograms& histograms() const { return histograms_; }
  bool is_open() const { return options_.arrivals == Arrivals::kOpen; }
  // Of a job that is all done: nothing more will happen.
  bool all_done() const { return job_done_; }
  // Of a job.
  std::optional<JobResult> job_result() const;
  std::size_t threads() const { return is_open() ? arrival_threads_.size() : options_.clients; }

  // Interrupts waits and attempts (by shutting down the sockets of the process) and waits for the
  // clients to end. What was interrupted is not counted.
  void stop();

  // Safe from any thread.
  FleetHistory history() const;

 private:
  // When a client had its last OK, or was started; `TimePoint::max()` once it has ended.
  using LastOk = std::atomic<TimePoint>;

  // The time since the fleet was made, as the simulator counts it: what policies align to whole
  // seconds of their clock is aligned alike in both engines.
  TimePoint now() const { return TimePoint{} + (Clock::now() - made_at_); }

  // What the clients of one process share: made, asked and told under its lock.
  struct Process {
    std::mutex mutex;
    std::unique_ptr<RetryProcess> parts;
    std::mutex turn;  // held by the one client that looks for permission; the others stand in line
  };

  // A client while it runs on a thread: in an open system, for the length of a request.
  struct Client {
    std::uint64_t index;
    ClientRandom random;
    RetryState state{};
    RetryMetrics metrics{};
  };

  // The request that a client is at.
  struct Request {
    bool traced = false;
    bool unsent = true;   // no attempt of it has been sent so far
    bool retry = false;   // the attempt at hand is not its first
    bool waited = false;  // for permission to send the attempt at hand
  };

  // A job, and what its workers ask and tell under the lock.
  struct SharedJob {
    explicit SharedJob(const WorkloadOptions& options) : job(options.job, options.clients) {}
    mutable std::mutex mutex;
    Job job;
    TimePoint ended{};  // once it is all done
  };

  // What threads run. A worker of a job: ...
  void run_worker(std::uint64_t index);
  // ... a client of a closed system: ...
  void run_client(std::uint64_t index);
  // ... the arrivals of an open one: ...
  void run_arrivals();
  // ... and one of them.
  void serve(std::size_t place, const Arrival& arrival);

  // A request from the moment at which it is wanted to its end. Returns what follows, nothing when
  // the fleet is to stop.
  std::optional<NextAttempt> run_request(Client& client);
  // The same of one attempt: from the question whether it may be sent to its end.
  std::optional<NextAttempt> run_attempt(Client& client, Request& request);
  std::optional<NextAttempt> send(Client& client, Request& request);
  // Adds what the client has counted: it ends.
  void retire(Client& client);

  void join();
  // Waits unless the fleet is to stop. Returns whether the client goes on.
  bool wait(Duration duration);
  // Waits so long from `from` on, as long as the load is as configured. Returns when that was over;
  // nothing when the fleet is to stop.
  std::optional<TimePoint> wait_at_load(TimePoint from, Duration time);
  bool wait_to_retry(Duration duration);
  void count(Outcome outcome);
  // A worker of a job decided on this pause.
  void set_pause(std::uint64_t index, Duration pause) {
    if (job_) pauses_[index] = pause;
  }
  // Counts what becomes of a request of which an attempt has ended, or was not sent.
  void count_end(const NextAttempt& next, bool was_retry, Duration request_time);
  // Calls `ask` with the parts that the client's process shares, under their lock; null without.
  template <typename Ask>
  auto with_process(std::uint64_t client, Ask ask);
  // Calls `ask`, which said that the client is to wait, again and again while it says so and the
  // fleet goes on.
  template <typename Ask>
  Permission wait_for_permission(std::uint64_t client, Permission permission, bool retry, Ask ask);

  const WorkloadOptions options_;
  const std::uint64_t seed_;
  const TimePoint made_at_ = Clock::now();
  const HttpRequest request_;
  const FleetLimits limits_;
  const ClientBehaviour behaviour_;

  const std::size_t places_;       // of clients at a time
  std::deque<Process> processes_;  // where the policy has any
  std::vector<LastOk> last_ok_;    // one a place
  // One a place, made and used by the thread that is there.
  std::vector<std::unique_ptr<HttpAttempt>> attempts_;
  Deadlines deadlines_;
  std::optional<SharedTrace> trace_;
  std::optional<SharedJob> job_;
  std::vector<std::atomic<Duration>> pauses_;  // of a job's workers; 0 once one has left
  std::atomic<bool> job_done_{false};

  std::mutex stop_mutex_;  // of the load too
  std::condition_variable stop_wanted_;
  double load_ = 1;
  std::atomic<bool> stopping_{false};

  std::atomic<std::uint64_t> ok_{0}, errors_{0}, timed_out_{0}, requests_{0}, retries_{0},
      not_sent_{0}, throttled_{0}, unsent_{0}, failing_{0}, dropped_arrivals_{0};
  std::array<std::atomic<std::uint64_t>, kGiveUpNames.size()> gave_up_by_{};
  std::atomic<std::size_t> in_flight_{0}, waiting_to_retry_{0}, running_{0};
  std::atomic<Duration> latest_start_{Duration::zero()};
  TimeHistograms histograms_;

  mutable std::mutex history_mutex_;
  FleetHistory history_;

  std::vector<std::thread> threads_;
  ArrivalThreads arrival_threads_;
};

}  // namespace retrystorm
