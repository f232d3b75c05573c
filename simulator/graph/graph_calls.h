// The calls of one service of a graph to another.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "model/base/duration.h"
#include "model/base/queues.h"
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
class GraphCalls final : private CallOwner, public Calls {
 public:
  // Everything passed in must outlive the calls. `end`: when the run ends.
  GraphCalls(const GraphEdge& edge, std::uint64_t seed, TimePoint end, GraphService& from);

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

  // As those of `Calls`, but for the time in which the calling service is frozen.
  TimePoint next_timeout() const;
  TimePoint next_wait();
  [[gnu::noinline]] TimePoint find_next();
  TimePoint next_pool_event() const;

  void take_answer(TimePoint now, const Attempt& attempt, const Answer& answer) override;
  void lose_connection(TimePoint now, const Attempt& attempt, NoAnswer why) override;
  void lose_connections_of(TimePoint now, std::uint32_t process) override;
  void expect(const Attempt& attempt) const override;

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

  void call_over(TimePoint now, std::uint32_t slot, const NextAttempt& next) override;
  // What the attempt's call fails with, unless another attempt succeeds.
  void note_failure(const Attempt& attempt, const Answer& failure);

  GraphService& from_;
  const bool has_deadlines_;
  std::vector<Call> slots_;
  Fifo<Slot> free_slots_;
  std::vector<Unread> unread_;
  std::vector<std::uint32_t> closed_;  // processes whose connections were closed meanwhile
  std::size_t under_way_ = 0;          // of those that somebody waits for
  std::uint64_t begun_ = 0;
  mutable Slot expected_ = 0;  // last
};

}  // namespace retrystorm
