// The calls of one service of a graph to another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/base/duration.h"
#include "model/graph/topology.h"
#include "simulator/calls.h"
#include "simulator/server_node.h"

namespace retrystorm {

class GraphService;

// The status of an answer after a call without one.
inline constexpr int kBadGateway = 502;

// What a call is made for.
struct Purpose {
  std::uint32_t request = 0;     // its number in the calling service
  std::uint32_t generation = 0;  // of that number, which is used again and again
  std::uint16_t times = 1;       // how often the call is made from now on, one after the other
  bool optional = false;
};

// Each call has a slot. While the calling service is frozen, answers wait in its sockets, and its timeouts and retries
// wait too.
class GraphCalls final : public CallerOfHosts, public CallOwner {
 public:
  using Slot = Calls::Slot;

  // Everything passed in must outlive the calls. `end`: when the run ends.
  GraphCalls(const GraphEdge& edge, std::uint64_t seed, TimePoint end, GraphService& from);

  GraphCalls(const GraphCalls&) = delete;
  GraphCalls& operator=(const GraphCalls&) = delete;

  void send_to(Target& target) { calls_.send_to(target); }
  Calls& calls() { return calls_; }
  const Calls& calls() const { return calls_; }
  const GraphService& from() const { return from_; }
  std::size_t under_way() const { return under_way_; }

  // Begins a call, which may fail at once: see `GraphService::call_over`. `deadline`: when the request that it is for
  // ends.
  Slot take_slot(const Purpose& purpose);
  void begin(TimePoint now, Slot slot, TimePoint deadline);
  // Nobody waits for the slot's result any more. Its attempt goes on to its end, but is not retried.
  void let_go(TimePoint now, Slot slot);
  // Does somebody need the answer to this attempt, which is under way: a client, in the end?
  bool is_wanted(const Attempt& attempt) const;
  // All calls end without a result, because the calling service restarts.
  void lose_all(TimePoint now);
  // Reads the answers that came while the calling service was frozen.
  void read_answers(TimePoint now);

  TimePoint next_timeout() const;
  TimePoint next_wait();
  // See `Calls`.
  TimePoint soonest() const { return calls_.soonest(); }
  [[gnu::noinline]] TimePoint find_next();
  TimePoint next_pool_event() const;
  void time_out(TimePoint now) { calls_.time_out(now); }
  void end_wait(TimePoint now) { calls_.end_wait(now); }

  bool waits_for(const Attempt& attempt) const override { return calls_.waits_for(attempt); }
  void let_in(TimePoint now, const Attempt& attempt) override { calls_.let_in(now, attempt); }
  void take_answer(TimePoint now, const Attempt& attempt, const Answer& answer) override;
  void lose_connection(TimePoint now, const Attempt& attempt, NoAnswer why) override;
  void keep_connections_to(const HostSettings& hosts) override {
    calls_.keep_connections_to(hosts);
  }
  bool keeps_connections(const Attempt&) const override { return calls_.keeps_connections(); }
  void lose_idle_connections(std::uint32_t host) override { calls_.lose_idle_connections(host); }
  std::optional<std::size_t> idle_connections(std::uint32_t host) const override {
    return calls_.idle_connections(host);
  }
  bool lose_longest_idle_connection(std::uint32_t host) override {
    return calls_.lose_longest_idle_connection(host);
  }
  std::size_t processes() const override { return calls_.processes(); }
  std::size_t number_of(const Attempt& attempt) const override { return attempt.client; }
  std::size_t number_of_request(const Attempt& attempt) const override {
    return calls_.number_of_request(attempt);
  }
  bool is_first(const Attempt& attempt) const override { return calls_.is_first(attempt); }
  Duration attempt_left(TimePoint now, const Attempt& attempt) const override {
    return calls_.attempt_left(now, attempt);
  }
  bool multiplexes() const override { return calls_.multiplexes(); }
  std::uint32_t process_of(const Attempt& attempt) const override {
    return calls_.process_of(attempt);
  }
  void lose_connections_of(TimePoint now, std::uint32_t process) override;
  void expect(const Attempt& attempt) const override;

  void call_over(TimePoint now, std::uint32_t slot, const NextAttempt& next) override;
  void waits(std::uint32_t, Duration) override {}

 private:
  static constexpr std::size_t kExpectedWaits = 1000;

  struct alignas(32) Call {  // half a line of the cache
    Purpose purpose{};
    bool in_use = false;
    bool let_go = false;
    Answer failure{};  // the last one
  };
  // What came for an attempt while the calling service was frozen: an answer, or else why there is none.
  struct Unread {
    Attempt attempt;
    std::optional<Answer> answer{};
    NoAnswer why = NoAnswer::kOther;
  };

  // What the attempt's call fails with, unless another attempt succeeds.
  void note_failure(const Attempt& attempt, const Answer& failure);

  Calls calls_;
  GraphService& from_;
  const bool has_deadlines_;
  std::vector<Call> slots_;
  std::vector<Slot> free_slots_;
  std::vector<Unread> unread_;
  std::vector<std::uint32_t> closed_;  // processes whose connections were closed meanwhile
  std::size_t under_way_ = 0;          // of those that somebody waits for
  std::uint64_t begun_ = 0;
  mutable Slot expected_ = 0;  // last
};

}  // namespace retrystorm
