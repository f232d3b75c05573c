// Runs requests from their beginning to their end: their attempts, and the waits between them.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "common/calls/called_hosts.h"
#include "common/calls/connection_pools.h"
#include "common/calls/live_counts.h"
#include "common/calls/threads.h"
#include "common/http/http_attempt.h"
#include "common/http/http_request.h"
#include "model/graph/topology.h"
#include "model/retry/retry_policy.h"
#include "model/run/client_behaviour.h"
#include "model/run/request_trace.h"
#include "model/run/workload.h"

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

class ClientConnections;

// How many attempts of one request may be under way at a time.
inline std::size_t attempts_at_once(const HedgeSettings& hedge) {
  if (hedge.on == HedgeOn::kTimeout) return 2;  // more only if several in a row are late
  return hedge.any() ? 1 + std::size_t{hedge.most} : 1;
}

// The caller's thread sends each attempt and waits before the next one. What the clients of one
// process share is used under that process's lock. Each client is run by one thread at a time.
// Different clients run at the same time.
class RequestRunner {
 public:
  // A client while it runs on a thread. In an open system this is the length of a request.
  struct Client {
    std::uint64_t index;   // its place
    std::uint64_t number;  // of the client, or in an open system of the request
    ClientRandom random;
    RetryState state{};
    RetryMetrics metrics{};
    // Of a call that is part of another request: when that ends, and whether somebody still waits for the call. After
    // either, its attempt goes on but is not repeated. Null: somebody does.
    TimePoint end = TimePoint::max();
    std::shared_ptr<const LetGo> let_go{};
    // The last error of its attempts; a timeout if there was none.
    AttemptResult failure = timed_out(Duration::zero());
  };
  // Makes an attempt in another way than by HTTP.
  using Transport = std::function<AttemptResult(Client& client, Duration patience)>;

  // `places`: how many clients there can be at a time. `hosts`: of a service that has several, to which each attempt
  // goes instead of `request`. They, `waits` and `counts` must outlive this object.
  RequestRunner(const WorkloadOptions& options, std::size_t places, const HttpRequest& request,
                ClientWaits& waits, LiveCounts& counts, CalledHosts* hosts = nullptr);

  // Traces the first `most` requests that begin once the trace is open. `start` is when the run
  // starts. Call before the first request.
  void follow(TimePoint start, std::size_t most) {
    trace_.emplace(TimePoint{} + (start - made_at_), most);
  }
  // From now on a client's attempts wait for its connection. It must outlive this object. Call before
  // the first request.
  void wait_for(ClientConnections& connections) { connections_ = &connections; }

  // What attempts carry along. `numbers`: the attempt's number, also without a deadline. Call before the first request.
  void carry(DeadlinePropagation deadline, bool numbers) {
    carries_ = deadline;
    numbers_ = numbers;
  }
  // From now on attempts are made by this. It is called at any time from the threads of all clients. Not with hedges. Call
  // before the first request.
  void send_by(Transport transport) { send_by_ = std::move(transport); }

  // Null if nothing is traced.
  SharedTrace* trace() { return trace_ ? &*trace_ : nullptr; }

  const ClientBehaviour& behaviour() const { return behaviour_; }

  // The time since this object was made. The simulator counts time in the same way, so that
  // policies that align to whole seconds do so alike in both engines.
  TimePoint now() const { return TimePoint{} + (Clock::now() - made_at_); }

  // Ends waits for a connection of a pool. Call it once the run stops.
  void stop();
  // Waits for attempts whose requests are over. Call it once no client is running.
  void join();

  // The kept connections on which no attempt is under way are lost.
  void lose_idle_connections();

  // Empty if connections are not kept.
  std::optional<KeptConnections> kept_connections() const;

  // Runs one request. Returns what follows its end, or nothing if the run stops. An attempt that
  // the stop interrupts is not counted.
  std::optional<NextAttempt> run(Client& client);
  // The same for a request that begins because its client has just lost its connection: with a wait.
  std::optional<NextAttempt> run_after_loss(Client& client);

 private:
  // What the clients of one process share, and its lock.
  struct Process {
    std::mutex mutex;
    std::unique_ptr<RetryProcess> parts;
    std::mutex turn;  // held by the client that asks for permission; the others wait in line
  };

  // An attempt that is sent, and what is known of it besides its result.
  struct Sending {
    const Client& client;
    HttpAttempt& http;
    Interruption* interruption = nullptr;  // null: nobody ends it
    bool traced = false;
    bool again = false;                 // its pool has sent it again
    std::optional<Duration> pool{};     // in line for a kept connection
    std::optional<Duration> service{};  // if it is traced

    bool interrupted() const { return interruption != nullptr && interruption->interrupted(); }
  };

  // A client's current request.
  struct Request {
    bool traced = false;
    bool unsent = true;   // none of its attempts has been sent so far
    bool retry = false;   // the current attempt is not its first
    bool waited = false;  // the current attempt waited for permission
    HedgeRace hedges{};
    CalledHosts::List tried{};  // if the picker must know
  };

  // Only if requests are hedged (common/calls/hedged_requests.cc).
  struct HedgedAttempt;
  struct Race;
  class Hedging;

  std::optional<NextAttempt> run_attempts(Client& client, Request& request);
  // Like `run_attempts`, for one attempt: asks for permission, sends it, and waits for its end.
  std::optional<NextAttempt> run_attempt(Client& client, Request& request);
  std::optional<NextAttempt> send(Client& client, Request& request);
  // Notes the result of an attempt, and looks whether its client's request has ended otherwise.
  NextAttempt bounded_by_end(Client& client, const AttemptResult& result, const NextAttempt& next);
  // Does the client's request end before this wait is over?
  static bool ends_within(const Client& client, Duration wait) {
    return (client.let_go != nullptr && client.let_go->is_set()) ||
           (client.end != TimePoint::max() && saturating_add(Clock::now(), wait) >= client.end);
  }
  // The same with other attempts beside it.
  std::optional<NextAttempt> send_hedged(Client& client, Request& request);
  void run_hedged_attempt(const std::shared_ptr<Race>& race,
                          const std::shared_ptr<HedgedAttempt>& attempt);
  // Another attempt of its request has won before.
  void end_lost_attempt(HedgedAttempt& attempt);
  // Ends a request of which no further attempt may be sent, or says what follows.
  NextAttempt after_refusal(Client& client, TimePoint now, Permission::Kind why);
  // Counts what happens to a client's request, which has begun then.
  void follow(const Client& client, const Request& request, TimePoint now, TimePoint begun,
              const NextAttempt& next) {
    counts_.follow(next, request.retry, begun, now - begun);
    counts_.decide_pause(client.index, next.wait);
  }
  Carried carried_by(const Client& client) const;
  // Until the deadline of the client's request, which may have passed since permission was given.
  Duration time_left(const Client& client) const;
  // The host for an attempt of this request. `Picker::kNone`: there is none, or its connection will have one.
  CalledHosts::Host pick(const Client& client, Request& request) {
    if (pool_settings_.picked) return Picker::kNone;
    return hosts_ == nullptr ? 0 : hosts_->pick(client.number, request.tried);
  }
  AttemptResult run_at(CalledHosts::Host host, Sending& sending);
  // Sends the attempt to this host. Of `pick`, or of its connection.
  template <typename Send>
  AttemptResult run_at_host(CalledHosts::Host host, const Sending& sending, Send send);
  AttemptResult run_on_a_connection(CalledHosts::Host host, Sending& sending);
  // Takes a connection of the process's pool, waiting in line if need be, and calls `send` with it and the
  // patience that is left.
  template <typename Kept, typename Send>
  AttemptResult run_pooled(ConnectionPools<Kept>& pools, Sending& sending, Send send);
  // Waits for the client's connection, if it lost one, and calls `send` with the patience that is left. If
  // there is none in time, the attempt has timed out.
  template <typename Send>
  AttemptResult run_connected(const Client& client, Duration patience, Send send);
  bool wait_to_retry(const Client& client, Duration duration);
  // Calls `ask` with the parts that the client's process shares, under their lock. Null if the
  // policy shares nothing.
  template <typename Ask>
  auto with_process(const Client& client, Ask ask);
  // Call this when `ask` has answered that the client must wait. Calls `ask` again until the answer
  // changes or the run stops.
  template <typename Ask>
  Permission wait_for_permission(const Client& client, Permission permission, bool retry, Ask ask);
  // Processes are dealt in turn. There must be some.
  Process& process_of(const Client& client) {
    return processes_[client.number % processes_.size()];
  }

  const TimePoint made_at_ = Clock::now();
  const HttpRequest request_;
  const Duration timeout_;
  const Duration longest_attempt_;  // the same, or none if a late attempt goes on beside its retry
  const ConnectionSettings pool_settings_;
  const ClientBehaviour behaviour_;
  const HedgePolicy hedges_;
  ClientWaits& waits_;
  LiveCounts& counts_;
  CalledHosts* const hosts_;                  // null if there is one
  ClientConnections* connections_ = nullptr;  // null if no connections are lost
  DeadlinePropagation carries_ = DeadlinePropagation::kNone;
  bool numbers_ = false;
  Transport send_by_;  // empty: by HTTP

  // Of each host; or one, if a host is picked for each connection.
  std::deque<ConnectionPools<Connection>> pools_;             // with --connections=keep-alive
  std::deque<ConnectionPools<Http2Connection>> multiplexed_;  // with --connections=multiplexed
  std::deque<Process> processes_;                             // empty if the policy shares nothing
  // One for each place, made and used by that place's thread.
  std::vector<std::unique_ptr<HttpAttempt>> attempts_;
  std::optional<SharedTrace> trace_;
  std::unique_ptr<PlaceThreads> attempt_threads_;  // of hedged attempts
};

template <typename Ask>
auto RequestRunner::with_process(const Client& client, Ask ask) {
  if (processes_.empty()) return ask(static_cast<RetryProcess*>(nullptr));
  Process& process = process_of(client);
  const std::scoped_lock lock(process.mutex);
  return ask(process.parts.get());
}

}  // namespace retrystorm
