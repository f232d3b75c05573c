// Requests to one server. A policy retries them until they succeed or are given up.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "model/base/duration.h"
#include "model/base/queues.h"
#include "model/base/random.h"
#include "model/retry/retry_policy.h"
#include "model/run/client_behaviour.h"
#include "model/run/connections.h"
#include "model/run/counts.h"
#include "model/run/request_trace.h"
#include "model/run/run_phases.h"
#include "model/run/workload.h"
#include "simulator/caller.h"
#include "simulator/hedges.h"
#include "simulator/wait_calendar.h"

namespace retrystorm {

// The owner of the slots. Each slot makes one request at a time.
class CallOwner {
 public:
  // A request has succeeded, or was given up (`next.gave_up`). `next.wait` and `next.think` are the
  // pause and the think time before the slot's next request. They are not both 0.
  virtual void call_over(TimePoint now, std::uint32_t slot, const NextAttempt& next) = 0;

  // A slot waits for permission or for a retry, or pauses. Called only after `Calls::report_waits`.
  virtual void waits(std::uint32_t /*slot*/, Duration /*wait*/) {}

 protected:
  ~CallOwner() = default;
};

// All attempts in flight to one target, their timeouts, the waits between them, and what the
// clients of a process share. Drives the same behaviour and policy objects as the real client. A
// slot is the place of a client that makes one request at a time. Waits for the next request may be
// kept here too, so that one queue orders all waits. Times passed in never decrease.
class Calls : public CallerOfHosts {
 public:
  using Slot = std::uint32_t;

  // Networks and processors take no time here. If a server refused without delay and a client
  // retried without delay, the simulation would never get past that moment. So such a client comes
  // back after this time, about as fast as a real one could.
  static constexpr Duration kTurnaround = std::chrono::microseconds(100);

  // Uses the think time, the timeout, the retries and the processes of `workload`. The processes
  // begin at the start of the run. `end`: when the run ends. `expected_waits`: about how many waits
  // there are at a time. `trace`: null if nothing is traced. `owner` and `trace` must outlive the
  // calls.
  Calls(const WorkloadOptions& workload, std::uint64_t seed, TimePoint end,
        std::size_t expected_waits, CallOwner& owner, RequestTrace* trace);

  virtual ~Calls();
  Calls(const Calls&) = delete;
  Calls& operator=(const Calls&) = delete;

  // Sets where attempts are sent. Call before the first one. `target` must outlive the calls.
  void send_to(Target& target) { target_ = &target; }

  // From now on, a request may have an end besides the policy's deadline: no attempt begins then, and one under
  // way ends then. Call it before the first slot is added.
  void bound_requests() { asks_ = is_bounded_ = true; }
  // Sets the end of the slot's request. An attempt in flight is not cut short. `TimePoint::max()`: none. Does nothing
  // unless requests are bounded.
  void set_end(Slot slot, TimePoint end) {
    if (is_bounded_) ends_[slot] = end;
  }
  // How long the slot's attempt may still take, and its request. `Duration::max()`: without a limit.
  Duration attempt_left(TimePoint now, const Attempt& attempt) const final {
    const Duration whole = timeout_ == Duration::max()
                               ? timeout_
                               : saturating_add(calls_[attempt.client].sent_at, timeout_) - now;
    return std::min(whole, time_left(now, attempt));
  }
  Duration request_left(TimePoint now, const Attempt& attempt) const {
    return time_left(now, attempt);
  }

  // The slot whose request an attempt belongs to. Empty if that is over: another attempt of it has won.
  std::optional<Slot> request_of(const Attempt& attempt) const {
    const Slot request =
        hedges_ == nullptr ? attempt.client : hedges_->place(attempt.client).request;
    return request == Hedges::kNone ? std::nullopt : std::optional(request);
  }

  bool is_first(const Attempt& attempt) const final {
    const Slot request = *request_of(attempt);
    return calls_[request].retry.retries == 0 &&
           (hedges_ == nullptr || hedges_->of(request).race.hedges == 0);
  }

  // Nobody will ask for `latencies`.
  void skip_latencies() { keeps_latencies_ = false; }

  // From now on, calls `CallOwner::waits` for each wait.
  void report_waits() { reports_waits_ = true; }

  void keep_connections_to(const HostSettings& hosts) final;

  // Adds `count` slots at once.
  void add_slots(std::size_t count);
  Slot add_slot();
  // Of clients: without the places of hedged attempts.
  std::size_t slots() const { return calls_.size() - (hedges_ == nullptr ? 0 : hedges_->places()); }

  // A client takes the slot. It draws from the random stream with this number. Processes are dealt
  // in turn, by the same number. Returns the think time before its first request.
  Duration occupy(TimePoint now, Slot slot, std::uint64_t stream);
  // The slot's client leaves.
  void vacate(TimePoint now, Slot slot);

  // Begins the slot's next request, now or later.
  void begin(TimePoint now, Slot slot) { send(now, slot); }
  void begin_at(TimePoint time, Slot slot) { wait_until(time, slot); }
  // Begins the slot's next request because its client has just lost its connection: with a wait.
  void begin_after_loss(TimePoint now, Slot slot);

  // Removes and returns the requests passed to `begin_at` that have not begun.
  std::vector<WaitCalendar::Wait> take_beginnings();

  // When the pause after the last request is over. Counts it from when the last attempt was sent,
  // which is close enough.
  TimePoint pauses_until(Slot slot) const {
    return saturating_add(calls_[slot].sent_at, calls_[slot].retry.pause);
  }

  // When the next attempt times out.
  [[gnu::always_inline]] TimePoint next_timeout() const {
    const TimePoint whole = timeouts_.empty() ? TimePoint::max() : timeouts_.front().time;
    return cut_short_.empty() ? whole : std::min(whole, cut_short_.front().time);
  }
  void time_out(TimePoint now);

  // All requests end without a result, because their process restarts. What it knew of the service is gone, and its
  // connections.
  void forget_all(TimePoint now);

  // The connections of all attempts in flight are lost, and those that are kept.
  void lose_connections(TimePoint now);

  // When the next wait ends. Then the slot sends its attempt.
  [[gnu::always_inline]] TimePoint next_wait() { return waits_.next(); }
  [[gnu::always_inline]] void end_wait(TimePoint now) {
    prefetch(calls_[waits_.soon(kPrefetch)]);
    send(now, waits_.pop().client);
  }

  // No attempt times out and no wait ends before this. It may be too early until `find_next`, but costs less to ask.
  TimePoint soonest() const { return soonest_; }
  // When one does.
  TimePoint find_next() { return soonest_ = std::min(next_timeout(), next_wait()); }

  // With kept connections: when the next attempt in line gets one or has waited for too long, or
  // the next connection has been idle for too long.
  TimePoint next_pool_event() const { return next_pool_event_; }
  void take_pool_event(TimePoint now);
  bool keeps_connections() const { return has_pools_; }
  bool keeps_connections(const Attempt&) const final { return has_pools_; }
  // From now on the server closes a connection that has been idle for this time. `Duration::max()`: it
  // closes none, or is frozen.
  void close_idle_after(TimePoint now, Duration time);

  bool waits_for(const Attempt& attempt) const final {
    const Call& call = calls_[attempt.client];
    return call.in_flight && call.attempt == attempt.number;
  }
  void let_in(TimePoint now, const Attempt& attempt) final {
    // One that its host has given to another one is in a service already.
    if (!std::exchange(calls_[attempt.client].in_service, true)) ++in_service_;
    if (calls_[attempt.client].opens) accepted(now, attempt.client);
  }
  void take_answer(TimePoint now, const Attempt& attempt, const Answer& answer) override;
  void lose_connection(TimePoint now, const Attempt& attempt, NoAnswer why) override;
  using CallerOfHosts::idle_connections;
  using CallerOfHosts::lose_idle_connections;
  using CallerOfHosts::lose_longest_idle_connection;
  void lose_idle_connections(std::uint32_t host) final;
  std::optional<std::size_t> idle_connections(std::uint32_t host) const final {
    return connections_.kind == Connections::kKeepAlive ? std::optional(idle_[host]) : std::nullopt;
  }
  bool lose_longest_idle_connection(std::uint32_t host) final;
  bool multiplexes() const final { return connections_.multiplexed(); }
  std::uint32_t process_of(const Attempt& attempt) const final {
    return process_numbers_[attempt.client];
  }
  void lose_connections_of(TimePoint now, std::uint32_t number) override;
  void expect(const Attempt& attempt) const override {
    prefetch(calls_[attempt.client]);
    if (has_pools_) prefetch(pool_of(attempt.client));
  }

  const Counts& counts() const { return counts_; }
  Duration timeout() const { return timeout_; }
  std::size_t in_flight() const { return in_flight_; }
  // The requests that these belong to. Fewer if requests are hedged.
  std::size_t requests_in_flight() const {
    return hedges_ == nullptr ? in_flight_ : hedges_->requests_under_way();
  }
  // Of these, the attempts that are in the service.
  std::size_t in_service() const { return in_service_; }
  std::size_t waiting_to_retry() const { return waiting_to_retry_; }
  // Those that share something. 0: none.
  std::size_t processes() const final { return process_count_; }
  std::size_t number_of(const Attempt& attempt) const final { return attempt.client; }
  std::size_t number_of_request(const Attempt& attempt) const final { return *request_of(attempt); }
  // Empty if connections are not kept.
  std::optional<KeptConnections> kept_connections() const;
  const RunLatencies& latencies() const { return latencies_; }
  // An outage begins or ends.
  void begin_phase(TimePoint now) { latencies_.begin_phase(now); }
  // Notes the requests that are under way, and returns all latencies. Call it once, at the end of the
  // run.
  RunLatencies end(TimePoint now);
  const RetryMetrics& retry_metrics() const { return retry_metrics_; }
  Duration longest_without_ok(TimePoint now) const;  // of any slot

 private:
  struct alignas(64) Call {  // one line of the cache
    RetryState retry;
    std::uint64_t random;  // state of its stream
    TimePoint sent_at;     // of the last attempt
    TimePoint last_ok;
    std::uint32_t attempt = 0;  // its number
    bool in_flight = false;
    bool in_service = false;  // the attempt in flight has been let in
    bool unsent = false;      // no attempt of the current request has been sent so far
    bool next_is_retry : 1 = false;
    bool in_line : 1 = false;  // for permission
    bool in_pool_line : 1 = false;
    bool opens : 1 = false;  // the attempt in flight opens a connection that is not accepted yet
    bool connected : 1 = false;  // the attempt in flight has a connection of its process's pool
    bool on_kept : 1 = false;    // that connection was kept, and the attempt is not sent again
    bool again : 1 = false;      // its pool has sent the attempt in flight again
  };
  static_assert(sizeof(Call) == 64);

  // What the slots of a process share, and the slots that wait for its permission. Only the first
  // one in line asks again.
  struct Process {
    std::unique_ptr<RetryProcess> parts;
    Fifo<Slot> line;
  };

  using PooledConnections = ConnectionPool<ConnectionPlace>;
  using Place = PooledConnections::Place;

  // The connections of a process, and the attempts that wait for one. Some of these may have ended.
  struct alignas(64) Pool {
    bool watched = false;  // among `longest_idle_`, if it needs to be
    bool has_line = false;
    PooledConnections connections;  // what most attempts use is in one line of the cache with this
    Fifo<Attempt> line{};
  };
  struct Grant {
    Attempt attempt;
    Place place;
    ConnectionPlace kept;
    std::uint32_t pool;
  };
  struct IdleSince {
    TimePoint time;
    std::uint32_t pool;
  };

  struct Timeout {
    TimePoint time;
    Attempt attempt;
  };
  template <typename Event>
  static bool later(const Event& a, const Event& b) {
    return a.time > b.time;
  }

  void send(TimePoint now, Slot slot);
  // Asks the policy. Returns false if nothing may be sent now.
  bool may_send(TimePoint now, Slot slot);
  Process& parts_in_turn(Slot slot) { return processes_[process_numbers_[slot]]; }
  RetryProcess* parts_of(Slot slot) {
    return has_processes_ ? parts_in_turn(slot).parts.get() : nullptr;
  }
  template <typename Event>
  static void add(std::vector<Event>& heap, const Event& event) {
    heap.push_back(event);
    std::push_heap(heap.begin(), heap.end(), later<Event>);
  }
  template <typename Event>
  static Event take(std::vector<Event>& heap) {
    std::pop_heap(heap.begin(), heap.end(), later<Event>);
    const Event event = heap.back();
    heap.pop_back();
    return event;
  }
  void start_timeout(TimePoint now, const Attempt& attempt);
  void cut_short(TimePoint time, const Attempt& attempt) {
    soonest_ = std::min(soonest_, time);
    add(cut_short_, {time, attempt});
  }
  void wait_until(TimePoint time, Slot slot) {
    soonest_ = std::min(soonest_, time);
    waits_.push({time, slot});
  }
  // Until the deadline of the attempt's request.
  Duration time_left(TimePoint now, const Attempt& attempt) const {
    const Duration left = behaviour_.policy().time_left(now, calls_[attempt.client].retry);
    if (!is_bounded_) return left;
    const TimePoint end = end_of(attempt.client);
    return end == TimePoint::max() ? left : std::min(left, end - now);
  }
  // Of the slot's attempt in flight: its connection, and the number of its pool.
  ConnectionPlace place_of(Slot slot) const {
    return picks_hosts_ ? places_[slot] : ConnectionPlace();
  }
  std::uint32_t pool_number(Slot slot) const {
    return picks_hosts_ && !connections_.picked ? number_at_host(slot) : process_numbers_[slot];
  }
  // As `lose_connections_of` has it.
  std::uint32_t number_at_host(Slot slot) const {
    return process_numbers_[slot] * hosts_ + place_of(slot).host;
  }
  const Pool& pool_of(Slot slot) const { return pools_[pool_number(slot)]; }
  Pool& pool_of(Slot slot) { return pools_[pool_number(slot)]; }
  // What a pool calls for each idle connection that it closes.
  auto closes() {
    return [this](const ConnectionPlace& closed) { --idle_[closed.host]; };
  }
  // Chooses the attempt's host, if they are picked here. Returns false if there is none: the attempt has failed.
  bool find_host(TimePoint now, const Attempt& attempt) {
    return !picks_hosts_ || connections_.picked || find_picked_host(now, attempt);
  }
  // The same for its connection, which it has taken. Returns false if the attempt has failed, or looks for another one.
  bool bind_connection(TimePoint now, const Attempt& attempt, Place place,
                       const ConnectionPlace& kept);
  // The attempt ends. Nobody knows of it if it has no connection, and so no host.
  void hang_up(TimePoint now, const Attempt& attempt) {
    if (!connections_.picked || calls_[attempt.client].connected) target_->hang_up(now, attempt);
  }
  [[gnu::noinline]] bool find_picked_host(TimePoint now, const Attempt& attempt);
  // An attempt takes a connection, or else its place in line.
  [[gnu::noinline]] void enter_pool(TimePoint now, const Attempt& attempt);
  void find_connection(TimePoint now, const Attempt& attempt);
  [[gnu::noinline]] void wait_in_line(TimePoint now, const Attempt& attempt, Pool& pool);
  // A kept connection still counts as idle until it is used.
  Place take_connection(TimePoint now, Pool& pool, ConnectionPlace& kept);
  // The attempt has been cancelled since.
  void give_back(TimePoint now, const Grant& grant);
  void use_connection(TimePoint now, const Attempt& attempt, Place place,
                      const ConnectionPlace& kept = {});
  // The attempt was lost. See `ConnectionSettings`.
  void send_again(TimePoint now, const Attempt& lost, const AttemptResult& result);
  // The attempt has ended.
  [[gnu::noinline]] void leave_pool(TimePoint now, Slot slot, const AttemptResult& result);
  // The server has accepted the connection that the slot's attempt opens.
  [[gnu::noinline]] void accepted(TimePoint now, Slot slot);
  bool lacks_connection(const Attempt& attempt) const {
    return waits_for(attempt) && !calls_[attempt.client].connected;
  }
  // The attempt has waited for a connection for as long as it may.
  void fail(TimePoint now, const Attempt& attempt);
  void fail_now(TimePoint now, const Attempt& attempt);
  // All pools are empty.
  void begin_pools();
  // Each process begins anew, without connections.
  void close_all(TimePoint now);
  // Adds the pool to `longest_idle_` if it has idle connections.
  void watch_idle(std::uint32_t number);
  // Closes those connections of the next pool that have been idle for too long.
  void close_idle(TimePoint now);
  // Something of the pool may be free for those in line.
  void serve_line(TimePoint now, Pool& pool) {
    if (pool.has_line) grant(now, pool);
  }
  [[gnu::noinline]] void grant(TimePoint now, Pool& pool);
  void take_first_pool_event(TimePoint now);
  void await_pool_event(TimePoint time) { next_pool_event_ = std::min(next_pool_event_, time); }
  bool lose_longest_idle_of_any_pool(std::uint32_t host);
  // When pools have fewer events than before.
  void find_next_pool_event();
  // The same as `time_out` with kept connections or hedges.
  [[gnu::noinline]] void time_out_otherwise(TimePoint now, const Attempt& attempt);
  void wait_for_permission(TimePoint now, Slot slot, Duration wait);
  void leave_line(TimePoint now, Slot slot);
  void finish(TimePoint now, const Attempt& attempt, const AttemptResult& result);
  // Attempts end almost in the order in which they were sent. So most timeouts are removed here, and
  // never become an event.
  void forget_timeouts() {
    while (!timeouts_.empty() && !waits_for(timeouts_.front().attempt)) {
      timeouts_.pop();
      prefetch(timeouts_.peek(kPrefetch));
    }
  }
  // Must the attempt's stream be reset if it is given up?
  bool resets_stream(const Call& call) const {
    return connections_.multiplexed() && call.connected && !call.opens;
  }
  // The slot's request has this result, or goes on after it.
  void conclude(TimePoint now, Slot slot, const AttemptResult& result);
  // The slot's next attempt may not be sent.
  [[gnu::noinline]] NextAttempt after_refusal(TimePoint now, Slot slot, Permission::Kind why);
  void refuse(TimePoint now, Slot slot, Permission::Kind why);
  // `ended`: the result of the attempt; null if it was not sent.
  void follow(TimePoint now, Slot slot, NextAttempt& next, const AttemptResult* ended);
  // When the request that the slot belongs to ends, where requests are bounded.
  TimePoint end_of(Slot slot) const {
    return hedges_ == nullptr ? ends_[slot] : end_of_hedged(slot);
  }
  TimePoint end_of_hedged(Slot slot) const;
  // Does the request's end come before its next attempt?
  bool ends_before(TimePoint now, Slot slot, const NextAttempt& next) const {
    return is_bounded_ && next.retry && saturating_add(now, next.wait) >= ends_[slot];
  }
  // Not inlined, so that the common path keeps its registers.
  [[gnu::noinline]] void report(TimePoint now, Slot slot, const NextAttempt& next,
                                const AttemptResult* ended);

  // Only if requests are hedged (simulator/hedged_calls.cc). `request`: its slot. `place`: that of the attempt.
  Slot take_place(Slot request);
  void launch(TimePoint now, Slot request, Slot place, bool hedge);
  // Asks the rules of hedges, and does of their move what is counted.
  template <typename Ask>
  HedgeMove ask_hedges(TimePoint now, Slot request, RetryState& hedge, Ask ask);
  // The place waits for the next attempt of the request.
  void wait_to_hedge(TimePoint now, Slot request, Slot place, Duration wait);
  [[gnu::noinline]] void end_wait_to_hedge(TimePoint now, Slot place);
  void send_hedge(TimePoint now, Slot request, Slot place);
  [[gnu::noinline]] bool outlives_timeout(TimePoint now, const Attempt& attempt);
  void cancel(TimePoint now, const Attempt& attempt, RetryState& own);
  void drop_others(TimePoint now, Slot request);
  [[gnu::noinline]] void finish_hedged(TimePoint now, const Attempt& attempt,
                                       const AttemptResult& result);
  bool goes_on(TimePoint now, Slot request, Slot place, const AttemptResult& failure);

  const ClientBehaviour behaviour_;
  RequestTrace* const trace_;
  // Most runs need neither of these paths, so traces and gates cost them nothing.
  bool asks_;  // true if a policy may refuse attempts, requests have ends, or there is a trace
  bool is_bounded_ = false;
  bool reports_waits_ = false;
  bool keeps_latencies_ = true;
  const bool has_processes_;  // the policy shares something
  const bool has_pools_;
  const bool ends_otherwise_;  // the end of an attempt is more than that of its request
  const std::size_t process_count_;
  const bool numbers_processes_;
  ConnectionSettings connections_;
  const Duration timeout_;
  const std::uint64_t seed_;
  CallOwner& owner_;
  const std::unique_ptr<Hedges> hedges_;  // null if requests are not hedged
  Target* target_ = nullptr;

  std::vector<Call> calls_;                     // by slot
  std::vector<Process> processes_;              // empty if the policy shares nothing
  bool picks_hosts_ = false;                    // there are several for kept connections
  std::uint32_t hosts_ = 1;                     // to which each process keeps connections
  std::vector<Pool> pools_;                     // of the processes; empty without kept connections
  std::vector<ConnectionPlace> places_;         // by slot; empty unless hosts are picked
  std::vector<std::uint32_t> process_numbers_;  // by slot; empty if processes share nothing
  std::vector<TimePoint> ends_;                 // of the requests, by slot; empty unless bounded
  WaitCalendar waits_;
  Fifo<Timeout> timeouts_;          // in order, because all last equally long
  std::vector<Timeout> cut_short_;  // those cut short by a request's deadline; a heap
  TimePoint soonest_ = TimePoint::max();

  TimePoint next_pool_event_ = TimePoint::max();
  Fifo<Grant> granted_;  // attempts that were in line and go on at once
  TimePoint granted_at_{};
  Fifo<Timeout> line_ends_;       // in order, because all last equally long; some have ended before
  std::vector<Timeout> failing_;  // after that, while their process is busy; a heap
  // Of each pool with idle connections, since when the oldest has been idle; it may have been used
  // since. A heap.
  std::vector<IdleSince> longest_idle_;
  Duration most_idle_;             // then a connection is closed, by its client or by the server
  std::vector<std::size_t> idle_;  // connections of all processes, by host
  std::size_t in_line_ = 0;        // attempts of all processes
  KeptConnections kept_{};         // only its counts since the start, but for those of the pools
  ClientRandom ages_;

  Counts counts_;
  std::size_t in_flight_ = 0;
  std::size_t in_service_ = 0;
  std::size_t waiting_to_retry_ = 0;
  RunLatencies latencies_;
  RetryMetrics retry_metrics_;
  Duration longest_without_ok_{0};  // among clients that have left or had an OK since
};

}  // namespace retrystorm
