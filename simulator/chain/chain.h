// The services behind the first one of a run, and the calls between them.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "model/base/duration.h"
#include "model/run/chain_report.h"
#include "simulator/calls.h"
#include "simulator/scenario.h"
#include "simulator/server_node.h"

namespace retrystorm {

class ChainLink;

// One service of a chain. A request that it has worked for is answered when the next service, if there is one, has
// answered. If that fails for good, its answer is a 502. It does not learn that its caller has gone.
class ChainNode final : public Callees {
 public:
  // `calls`: of those who call it. `from`: the link by which services call it; null if clients do. All must
  // outlive the node.
  ChainNode(ServerNode& server, const Calls& calls, const ChainLink* from)
      : server_(server), calls_(calls), from_(from) {}

  // Sets whom it calls. `link` must outlive the node.
  void call(ChainLink& link) { next_ = &link; }

  ServerNode& server() { return server_; }
  const ServerNode& server() const { return server_; }

  // Does a client wait for what this attempt is part of?
  bool is_wanted(const Attempt& attempt) const;

  void work_done(TimePoint now, const Taken& taken) override;
  std::vector<Taken> lose_all(TimePoint now) override;

  // Adds the state to the means of the window.
  void sample();
  // What happened in the window that ends now, without the amplification.
  NodeInterval take_interval(Duration window, bool holds);

 private:
  struct Totals {
    ServiceCounts service{};
    Counts calls{};
    std::uint64_t worked = 0, for_nobody = 0;
  };

  ServerNode& server_;
  const Calls& calls_;
  const ChainLink* const from_;
  ChainLink* next_ = nullptr;
  Totals totals_, taken_;
  std::size_t samples_ = 0, busy_ = 0, calling_ = 0;  // sums of the window's samples
};

// The calls of one service to the next one. Each request of the calling service has a slot. While that service is
// frozen, answers wait in its sockets, and its timeouts and retries wait too.
class ChainLink final : public Caller, public CallOwner {
 public:
  ChainLink(const WorkloadOptions& caller, std::uint64_t seed, TimePoint end, ChainNode& from)
      : calls_(caller, seed, end, kExpectedWaits, *this, nullptr), from_(from) {}

  ChainLink(const ChainLink&) = delete;
  ChainLink& operator=(const ChainLink&) = delete;

  void send_to(Target& target) { calls_.send_to(target); }
  const Calls& calls() const { return calls_; }
  const ChainNode& from() const { return from_; }
  // The request of the calling service that this attempt, for which it waits, is part of.
  const Attempt& request_of(const Attempt& attempt) const { return requests_[attempt.client].item; }
  std::size_t under_way() const { return under_way_; }

  void begin(TimePoint now, const Callees::Taken& request);
  // All requests end without a result.
  std::vector<Callees::Taken> lose_all(TimePoint now);
  // Reads the answers that came while the calling service was frozen.
  void read_answers(TimePoint now);

  TimePoint next_timeout() const {
    return from_.server().awake() ? calls_.next_timeout() : TimePoint::max();
  }
  TimePoint next_wait() { return from_.server().awake() ? calls_.next_wait() : TimePoint::max(); }
  void time_out(TimePoint now) { calls_.time_out(now); }
  void end_wait(TimePoint now) { calls_.end_wait(now); }

  bool waits_for(const Attempt& attempt) const override { return calls_.waits_for(attempt); }
  void let_in(TimePoint now, const Attempt& attempt) override { calls_.let_in(now, attempt); }
  void take_answer(TimePoint now, const Attempt& attempt, const Answer& answer) override;
  void lose_connection(TimePoint now, const Attempt& attempt, NoAnswer why) override;
  void lose_idle_connections() override {}
  bool lose_longest_idle_connection() override { return false; }
  void expect(const Attempt& attempt) const override { calls_.expect(attempt); }

  void call_over(TimePoint now, std::uint32_t slot, const NextAttempt& next) override;
  void waits(std::uint32_t, Duration) override {}

 private:
  static constexpr std::size_t kExpectedWaits = 1000;

  // What came for an attempt while the calling service was frozen: an answer, or else why there is none.
  struct Unread {
    Attempt attempt;
    std::optional<Answer> answer{};
    NoAnswer why = NoAnswer::kOther;
  };

  Calls calls_;
  ChainNode& from_;
  std::vector<Callees::Taken> requests_;  // of the calling service, by slot
  std::vector<bool> in_use_;              // slots
  std::vector<std::uint32_t> free_slots_;
  std::vector<Unread> unread_;
  std::size_t under_way_ = 0;
  std::uint64_t begun_ = 0;
};

// All services of a run with a chain, the first one included.
class Chain {
 public:
  // `front`: the first service, which `clients` call. They and the scenario must outlive the chain.
  Chain(const Scenario& scenario, ServerNode& front, const Calls& clients);

  Chain(const Chain&) = delete;
  Chain& operator=(const Chain&) = delete;

  // The service that has the outage and whose settings change.
  ServerNode& disturbed() { return nodes_[disturbed_]->server(); }
  // It has woken.
  void wake(TimePoint now);
  void outage_begins(TimePoint now) { watch_.outage_begins(now - TimePoint{}); }
  void outage_ends(TimePoint now) { watch_.outage_ends(now - TimePoint{}); }

  // Of the services behind the first one, the calls to them, and the samples of all.
  TimePoint next_event();
  void take_event(TimePoint now);

  // The window that ends now, if one does.
  std::optional<ChainInterval> take_interval(TimePoint now);
  TimePoint next_interval() const { return window_end_; }

  const ChainNames& names() const { return watch_.names(); }
  ChainResult result() const { return watch_.result(); }

 private:
  static constexpr Duration kSample = std::chrono::milliseconds(100);

  const std::size_t disturbed_;
  std::vector<std::unique_ptr<ServerNode>> servers_;  // but the first one
  std::vector<std::unique_ptr<ChainLink>> links_;
  std::vector<std::unique_ptr<ChainNode>> nodes_;
  TimePoint sample_at_ = TimePoint{} + kSample;
  TimePoint window_end_ = TimePoint{} + ChainWatch::kWindow;
  ChainWatch watch_;
};

}  // namespace retrystorm
