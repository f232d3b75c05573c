// The clients: threads that think, send requests and retry until they are stopped.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "common/calls/called_hosts.h"
#include "common/calls/client_connections.h"
#include "common/calls/live_counts.h"
#include "common/calls/request_runner.h"
#include "common/calls/threads.h"
#include "common/cli/options.h"
#include "common/http/http_request.h"
#include "model/graph/topology.h"
#include "model/run/counts.h"
#include "model/run/run_observer.h"

namespace retrystorm {

// What all clients have done so far, and what they are doing now.
struct FleetTotals {
  Counts counts;
  ClientStates clients;
  ArrivalLag arrival_lag{};  // with open arrivals
};

// What a fleet needs in addition to its workload.
struct FleetLimits {
  // With open arrivals: how many requests may be in progress at a time, each on a thread.
  std::size_t max_threads = kDefaultMaxThreads;
  std::vector<int> spared_ports{};  // see `shut_down_all_sockets`
  bool loses_connections = false;   // will the clients lose their connections?
  DeadlinePropagation deadline = DeadlinePropagation::kNone;  // what attempts carry along
  std::shared_ptr<CalledHosts> hosts{};  // of a service that has several; null: it has one

  // About the number of requests that a storm of a hundred requests a second leaves in a minute.
  static constexpr std::size_t kDefaultMaxThreads = 5000;
};

// All clients of one run. In a closed system each client is a thread with a behaviour's state and a
// random stream. In an open system each request has these, and takes a thread for as long as it
// lasts. The place of that thread is its client. So with the same seed the waits are the same,
// however the threads are scheduled. What clients of one process share is used under that process's
// lock. A fleet is started once and stopped once. Owned by the experiment. Other threads may only
// call the members marked as safe.
class Fleet {
 public:
  // Starts nothing yet.
  Fleet(const WorkloadOptions& options, std::uint64_t seed, const HttpRequest& request,
        const FleetLimits& limits = {});
  ~Fleet();

  Fleet(const Fleet&) = delete;
  Fleet& operator=(const Fleet&) = delete;

  // Traces the first `most` requests that begin once the trace is open. `start` is when the run
  // starts. Call before `start`.
  void follow(TimePoint start, std::size_t most) { runner_.follow(start, most); }
  // Null if nothing is traced.
  SharedTrace* trace() { return runner_.trace(); }

  // Starts the clients, or the arrivals. Throws std::runtime_error if the system does not have
  // enough threads.
  void start();

  // From now on the clients offer `load` times the configured load, > 0: think times are divided
  // by it, and arrival rates multiplied.
  void set_load(double load) { waits_.set_load(load); }

  // All clients lose their connection. Once at most, and only if the limits say so.
  void lose_connections() {
    runner_.lose_idle_connections();
    connections_->lose_all(limits_.spared_ports);
  }

  // An outage begins or ends.
  void begin_phase() { counts_.begin_phase(runner_.now()); }

  // Safe from any thread.
  FleetTotals totals() const;
  const TimeHistograms& histograms() const { return counts_.histograms(); }
  bool is_open() const { return options_.arrivals == Arrivals::kOpen; }
  // True once a job is done: nothing more will happen.
  bool all_done() const { return job_done_; }
  // Empty if there is no job.
  std::optional<JobResult> job_result() const;
  // Empty if no connections are lost.
  std::optional<ReconnectResult> reconnect_result() const {
    return connections_ ? std::optional(connections_->result()) : std::nullopt;
  }
  std::size_t threads() const { return is_open() ? arrival_threads_.size() : options_.clients; }

  // Interrupts waits and attempts, by shutting down the sockets of the process, and waits for the
  // clients to end. Interrupted attempts are not counted.
  void stop();

  // Safe from any thread.
  ClientHistory history() const { return counts_.history(runner_.now()); }

 private:
  using Client = RequestRunner::Client;

  // A job and its lock. All workers use it.
  struct SharedJob {
    explicit SharedJob(const WorkloadOptions& options) : job(options.job, options.clients) {}
    mutable std::mutex mutex;
    Job job;
    TimePoint ended{};  // set once it is done
  };

  // Waits until it is this worker's turn to start. Returns its number in the job, or nothing if no
  // work is left or the fleet stops.
  std::optional<std::size_t> join_job(std::uint64_t index);

  // The threads' functions. A worker of a job.
  void run_worker(std::uint64_t index);
  // A client of a closed system.
  void run_client(std::uint64_t index);
  // The arrivals of an open system.
  void run_arrivals();
  // One of these arrivals, from its first attempt to its end.
  void begin_request(std::size_t place, std::uint64_t number, TimePoint due);

  // Adds the counts of a client that ends.
  void retire(Client& client);

  const WorkloadOptions options_;
  const std::uint64_t seed_;
  const FleetLimits limits_;
  const std::size_t places_;  // how many clients there can be at a time
  ClientWaits waits_;
  LiveCounts counts_;
  RequestRunner runner_;
  std::unique_ptr<ClientConnections> connections_;  // null if no connections are lost

  std::optional<SharedJob> job_;
  std::atomic<bool> job_done_{false};
  std::atomic<std::size_t> running_{0};
  std::atomic<std::uint64_t> dropped_arrivals_{0};
  std::atomic<Duration> latest_start_{Duration::zero()};
  std::atomic<std::uint64_t> late_starts_{0};

  std::vector<std::jthread> threads_;
  PlaceThreads arrival_threads_;
};

// A run may end, and another one begin, while a reader uses the old one. Thread-safe.
class CurrentFleet {
 public:
  void set(std::shared_ptr<const Fleet> fleet) {
    const std::scoped_lock lock(mutex_);
    fleet_.swap(fleet);
  }

  // Null before the first run begins.
  std::shared_ptr<const Fleet> get() const {
    const std::scoped_lock lock(mutex_);
    return fleet_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<const Fleet> fleet_;
};

}  // namespace retrystorm
