// A simulated server: its kernel's accept queue, and its service.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "model/base/duration.h"
#include "model/run/request_trace.h"
#include "model/service/service.h"
#include "model/service/service_interval.h"
#include "model/service/service_options.h"
#include "simulator/accept_queue.h"
#include "simulator/caller.h"
#include "simulator/memory_hints.h"
#include "simulator/scenario.h"

namespace retrystorm {

// Drives the same service as the real server. It knows its callers
// only as a `Caller`, which outlives it, and of time only what it is told; times do not go back.
class ServerNode {
 public:
  // options.max_connections must be set; of `syn_linear_timeouts` and `patience` `SynRepeats`
  // says what they mean.
  // `trace`, if there is one, is told what becomes of each attempt, and outlives the server.
  ServerNode(const ServiceOptions& options, std::uint64_t seed, Abandoned abandoned,
             std::size_t syn_linear_timeouts, Duration patience, Caller& caller,
             RequestTrace* trace = nullptr);

  ServerNode(const ServerNode&) = delete;
  ServerNode& operator=(const ServerNode&) = delete;

  void connect(TimePoint now, const Attempt& attempt);

  // The caller of an attempt that it waited for gives up waiting. To be called before its
  // `waits_for` becomes false.
  void hang_up(TimePoint now, const Attempt& attempt);

  // A frozen server accepts, answers and reports nothing; its kernel goes on.
  void freeze() { awake_ = false; }
  void wake(TimePoint now);
  bool awake() const { return awake_; }

  // From now on these are the service's settings.
  void configure(TimePoint now, const ServiceOptions& options) { service_.configure(now, options); }

  // The server is started anew: every connection is reset, also those not yet accepted, and all
  // that the service held is gone. One that is frozen is so when it wakes.
  void restart(TimePoint now);

  // Until `listen` it stays down after that: who connects is refused.
  void go_down(TimePoint now);
  void listen() { down_ = false; }

  // When the service has something to give out, or changes by itself.
  TimePoint next_event() const { return awake_ ? service_.next_event() : TimePoint::max(); }
  void take(TimePoint now);

  // When a client's kernel repeats a SYN.
  TimePoint next_repeat() const { return accept_queue_.repeats().next(); }
  void repeat_syn(TimePoint now);

  // From now on intervals tell how long requests were in the service.
  void record_times() { service_.record_times(); }

  // What happened since the last call, and how things stand.
  ServerInterval take_interval(TimePoint now) { return intervals_.take(now, service_); }

  // The rate limit and what was made of it since the start; nothing without one.
  std::optional<ProvisionedCapacity> capacity(TimePoint now) const {
    return service_.capacity(now);
  }

  std::size_t peak_concurrency() const { return peak_concurrency_; }

 private:
  using Ticket = Service<Attempt>::Ticket;

  void accept(TimePoint now);
  void cancel(TimePoint now, Ticket ticket, const Attempt& attempt);
  // For who watches: an attempt was admitted, has been served, or is gone.
  void admitted(TimePoint now, const Attempt& attempt, Ticket ticket);
  void served(TimePoint now, const Attempt& attempt);
  void dismissed(TimePoint now, const Attempt& attempt);
  Ticket& ticket_of(const Attempt& attempt);

  const std::size_t max_connections_;
  const Abandoned abandoned_;
  Caller& caller_;
  RequestTrace* const trace_;
  const bool watches_;  // whether single attempts are kept track of: most runs need not
  AcceptQueue accept_queue_;
  Service<Attempt> service_;
  bool awake_ = true;
  bool down_ = false;
  bool restarts_on_waking_ = false;
  Foresight leaving_;
  std::vector<Ticket> tickets_;  // by client, of its attempt in service; for `kCancel` only
  // Those whose clients have left a frozen server.
  std::vector<std::pair<Ticket, Attempt>> gone_;
  IntervalTaker intervals_;
  std::size_t peak_concurrency_ = 0;
};

}  // namespace retrystorm
