// A simulated server: its kernel's accept queue, its limit on resets of HTTP/2 streams, and its service.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "model/base/duration.h"
#include "model/base/queues.h"
#include "model/run/counts.h"
#include "model/run/request_trace.h"
#include "model/service/service.h"
#include "model/service/service_observer.h"
#include "model/service/service_options.h"
#include "simulator/caller.h"
#include "simulator/syn_repeats.h"

namespace retrystorm {

// Models the parts of the kernel that affect the result: a queue of backlog + 1 connections. It
// keeps filling while the server is stopped. Connections stay in it after their client has hung up.
// When it is full, further SYNs are dropped.
class AcceptQueue {
 public:
  // The client's kernel repeats a dropped SYN (see `SynRepeats`).
  AcceptQueue(std::size_t backlog, std::size_t syn_linear_timeouts, Duration patience)
      : backlog_(backlog), repeats_(syn_linear_timeouts, patience) {}

  bool empty() const { return queue_.empty(); }
  // The SYNs, and their repeats, for which there was no room.
  std::uint64_t dropped() const { return dropped_; }
  // The connections in it, oldest first.
  const Fifo<Attempt>& waiting() const { return queue_; }

  // Returns true if there was room for the SYN, or for its repeat number `sent`. Otherwise it will
  // be repeated.
  bool connect(TimePoint now, const Attempt& attempt, std::uint32_t sent = 0) {
    if (queue_.size() > backlog_) {
      ++dropped_;
      repeats_.drop(now, attempt, sent);
      return false;
    }
    queue_.push(attempt);
    return true;
  }

  // Takes the oldest connection. The queue must not be empty.
  Attempt accept() { return queue_.take(); }

  // Dropped SYNs. When one is due, call `connect` unless its client has hung up.
  SynRepeats& repeats() { return repeats_; }
  const SynRepeats& repeats() const { return repeats_; }

 private:
  std::size_t backlog_;
  Fifo<Attempt> queue_;
  std::uint64_t dropped_ = 0;
  SynRepeats repeats_;
};

// A token bucket for each process of clients, as nghttp2 has one for each connection (CVE-2023-44487). Times
// passed in never decrease.
class ResetLimit {
 public:
  // `most`: resets at once. `rate`: further ones a second.
  ResetLimit(std::size_t most, double rate) : most_(static_cast<double>(most)), rate_(rate) {}

  // Takes up to `count` resets of a process. Returns how many; if that is less, its connections are closed, and new
  // ones begin with a full bucket.
  std::size_t take(TimePoint now, std::uint32_t process, std::size_t count) {
    if (process >= buckets_.size()) buckets_.resize(process + 1, {most_, now});
    Bucket& bucket = buckets_[process];
    bucket.left = std::min(most_, bucket.left + rate_ * to_seconds(now - bucket.since));
    bucket.since = now;
    const auto taken = std::min(count, static_cast<std::size_t>(bucket.left));
    bucket.left = taken < count ? most_ : bucket.left - static_cast<double>(taken);
    return taken;
  }

 private:
  struct Bucket {
    double left;
    TimePoint since;
  };

  double most_, rate_;
  std::vector<Bucket> buckets_;  // by process
};

// `stale`: of these, those whose caller has gone. A frozen service has attempts, too.
struct AttemptPlaces {
  struct Place {
    std::size_t all = 0, stale = 0;
  };

  std::size_t at_caller =
      0;  // in line for a connection, or the accept queue had no room for the SYN
  Place accept_queue{};
  Place buffers{};  // sent on accepted connections, and not read
  Place service{};  // waiting for it, or being served

  // Completes it where only the service's side is known: callers wait for `in_flight` attempts, `in_service` of these in
  // the service.
  void complete(std::size_t in_flight, std::size_t in_service) {
    // A request that is being turned away has left the service, but its client still waits.
    service.stale = service.all - std::min(in_service, service.all);
    const std::size_t there =
        in_service + accept_queue.all - accept_queue.stale + buffers.all - buffers.stale;
    at_caller = in_flight - std::min(there, in_flight);
  }
};

// Gets the time since the start, and the places of each service.
using PlacesObserver = std::function<void(Duration t, const std::vector<AttemptPlaces>& services)>;

// What a service does for a request besides its own work.
class Callees {
 public:
  using Taken = Service<Attempt>::Taken;

  // The service has done its own work, or its first part, and may have failed. `ServerNode::finish` or `resume` must
  // follow, now or later.
  virtual void work_done(TimePoint now, const Taken& taken) = 0;

  // Is the caller of a request looked at when the service has done its work?
  virtual bool looks_at_callers() const = 0;

  // A caller stops waiting for an attempt, wherever that is.
  virtual void hang_up(TimePoint now, const Attempt& attempt) = 0;

  // A request that waits for the rest of its work is given to another host.
  virtual void handed_back(const Attempt& attempt) = 0;

  // The service restarts. Returns the requests that are not finished. All their calls end.
  virtual std::vector<Taken> lose_all(TimePoint now) = 0;

 protected:
  ~Callees() = default;
};

// Drives the same service object as the real server. Times passed in never decrease. The caller and
// the trace must outlive the server.
class ServerNode final : public Target {
 public:
  // options.max_connections must be set. For `syn_linear_timeouts` and `patience`, see
  // `SynRepeats`. `trace` records each attempt. Null if nothing is traced.
  ServerNode(const ServiceOptions& options, std::uint64_t seed, std::size_t syn_linear_timeouts,
             Duration patience, Caller& caller, RequestTrace* trace = nullptr);

  ServerNode(const ServerNode&) = delete;
  ServerNode& operator=(const ServerNode&) = delete;

  // From now on, requests are passed to `callees` before they are answered, and after this share of their
  // service time. `holds`: their workers wait meanwhile. Call it before the first attempt. `callees` must outlive the
  // server.
  void call(Callees& callees, bool holds, double first_share);
  // From now on, a request for which this returns true is dropped when the server reads it, or when a worker would take
  // it. Call it before the first attempt.
  void drop_if(std::function<bool(const Attempt&)> expired);
  // Does a request for which no attempt waits any more never reach the service? Not if something lies unread.
  bool has_read_all() const { return awake_ && accept_queue_.empty() && unread_.empty(); }
  // The request needs the rest of its service time, and is then passed to the callees again.
  void resume(TimePoint now, const Callees::Taken& taken) {
    service_.resume(now, taken.item, taken.admitted);
  }
  // Answers a request. Must not be called while the server is frozen.
  void finish(TimePoint now, const Callees::Taken& taken) { answer(now, taken); }

  void connect(TimePoint now, const Attempt& attempt) override;
  void send(TimePoint now, const Attempt& attempt) override;
  void close_idle(TimePoint now) override { accept(now); }
  void hang_up(TimePoint now, const Attempt& attempt) override;
  void reset(TimePoint now, std::uint32_t process) override;

  // A frozen server accepts, answers and reports nothing. Its kernel goes on.
  void freeze();
  void wake(TimePoint now);
  bool awake() const { return awake_; }

  // From now on these are the service's settings.
  void configure(TimePoint now, const ServiceOptions& options);

  // Restarts the server. Every connection is reset, accepted or not, and all requests in the
  // service are lost. A frozen server restarts when it wakes.
  void restart(TimePoint now);

  // Ends the server, frozen or not, and starts another one in its place, that has nothing to do.
  void kill(TimePoint now);

  // Refuses connections until `listen` was called as often as `stop_listening` and `go_down`, which restarts it, too.
  void stop_listening() { ++down_; }
  void go_down(TimePoint now);
  void listen() { --down_; }
  bool listens() const { return down_ == 0; }

  // Takes out what waits, accepted or not, and was not begun. A frozen server gives nothing back.
  std::vector<Attempt> hand_back(TimePoint now);
  bool has_nothing_to_do() const { return service_.connections() == 0; }

  // When the service next has a request to return or a change of its state.
  TimePoint next_event() const { return awake_ ? service_.next_event() : TimePoint::max(); }
  void take(TimePoint now);

  // When a client's kernel next repeats a SYN.
  TimePoint next_repeat() const { return accept_queue_.repeats().next(); }
  void repeat_syn(TimePoint now);

  // From now on, intervals contain how long requests were in the service.
  void record_times() { service_.record_times(); }

  KernelState kernel() const {
    return {.accept_queue = accept_queue_.waiting().size(),
            .unread = unread_.size(),
            .no_room = accept_queue_.dropped()};
  }

  // Since the start.
  const ServiceCounts& counts() const { return service_.counts(); }
  // Empty if the service has no workers.
  std::optional<WorkerState> workers() const { return service_.worker_state(); }

  // What happened since the last call, and the current state.
  ServerInterval take_interval(TimePoint now) { return intervals_.take(now, service_); }
  // The same without the times of requests, which are added to `times`.
  ServerInterval take_interval(TimePoint now, TimesInService& times) {
    return intervals_.take(now, service_, times);
  }

  // The capacity that the rate limit provided since the start, and how much was used. Empty if
  // there is no rate limit.
  std::optional<ProvisionedCapacity> capacity(TimePoint now) const {
    return service_.capacity(now);
  }

  // Empty if the server was not frozen, or has not woken.
  const std::optional<FoundOnWaking>& found_on_waking() const { return found_on_waking_; }

  std::size_t concurrency() const { return service_.concurrency(); }
  std::size_t peak_concurrency() const { return peak_concurrency_; }
  // Was it as high as --max-connections let it be?
  bool peak_is_bound() const { return !when_free_ && peak_concurrency_ >= max_connections_; }

  // Where the attempts lie of callers who wait for `in_flight` of them, `in_service` of these in the service.
  AttemptPlaces places(std::size_t in_flight, std::size_t in_service) const;

  // The requests that wait for a worker although their callers have given up. Looks at each.
  std::size_t dead_in_queue() const {
    return service_.count_waiting(
        [this](const Attempt& attempt) { return !caller_.waits_for(attempt); });
  }

  // The requests that wait for a worker, with those that were not accepted. Empty if the service has none.
  std::optional<std::size_t> waiting() const {
    const auto workers = service_.worker_state();
    if (!workers) return std::nullopt;
    return workers->waiting + (when_free_ ? accept_queue_.waiting().size() : 0);
  }

 private:
  using Ticket = Service<Attempt>::Ticket;

  // Reads what was sent while it was frozen.
  void read_on_waking(TimePoint now);
  void accept(TimePoint now);
  // Is there room for another connection? If only idle ones take it, closes the one idle for longest, as
  // nginx does; but a worker waits for the next request of its connection.
  bool make_room() { return service_.connections() < sure_room_ || make_room_beside_idle(); }
  [[gnu::noinline]] bool make_room_beside_idle();
  // Reads an attempt's request from its accepted connection.
  void take_in(TimePoint now, Attempt attempt);
  // Removes a request that the service has returned, and answers it. Separate from `take`, because
  // the request counts as in the service until it is answered.
  void answer(TimePoint now, const Service<Attempt>::Taken& taken);
  void cancel(TimePoint now, Ticket ticket, const Attempt& attempt);
  // For the trace and for `kCancel`: an attempt was admitted, was served, or is gone.
  void admitted(TimePoint now, const Attempt& attempt, Ticket ticket);
  void served(TimePoint now, const Attempt& attempt);
  void dismissed(TimePoint now, const Attempt& attempt);
  // For the trace, which must be there: an attempt was rejected on arrival.
  void rejected(TimePoint now, const Attempt& attempt, Rejection why);
  Ticket& ticket_of(const Attempt& attempt);

  const bool when_free_;
  bool awake_ = true;
  const Abandoned abandoned_;
  int down_ = 0;
  std::size_t max_connections_;
  Caller& caller_;
  // With fewer connections than this there is room for one, whatever the caller keeps. 0: that matters always.
  std::size_t sure_room_;
  RequestTrace* const trace_;
  Callees* callees_ = nullptr;
  std::size_t peak_concurrency_ = 0;
  const bool watches_;  // true if single attempts are tracked; most runs do not need that
  AcceptQueue accept_queue_;
  // Sent on accepted connections while the server was frozen. `process`: only if connections are multiplexed.
  struct Unread {
    Attempt attempt;
    std::uint32_t process;
  };
  Fifo<Unread> unread_;
  std::optional<ResetLimit> reset_limit_;
  std::vector<std::size_t> resets_;  // of each process, while the server was frozen
  Service<Attempt> service_;
  std::uint64_t dropped_before_ = 0;  // by the accept queue, until the server froze
  std::optional<FoundOnWaking> found_on_waking_;
  bool restarts_on_waking_ = false;
  std::vector<Ticket> tickets_;  // by client, of its attempt in service; only for `kCancel`
  Ticket ticket_of_probe_ = Service<Attempt>::kNoTicket;
  // The attempts whose clients have hung up while the server was frozen.
  std::vector<std::pair<Ticket, Attempt>> gone_;
  IntervalTaker intervals_;
};

}  // namespace retrystorm
