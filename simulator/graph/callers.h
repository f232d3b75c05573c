// Those who call one service of a graph, and the deadlines of their attempts.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "model/base/duration.h"
#include "model/graph/topology.h"
#include "simulator/caller.h"
#include "simulator/calls.h"
#include "simulator/server_node.h"

namespace retrystorm {

// An attempt carries along how much time it has left. The service counts that from when it reads the request. So a
// request that has waited in the kernel, or in the sockets of a frozen service, has its whole time again.
class Deadlines {
 public:
  // The attempt is sent. `left`: `Duration::max()` without a deadline.
  void sent(const Attempt& attempt, Duration left) {
    if (left == Duration::max()) {
      all_have_one_ = false;
    } else {
      attempts_[key(attempt)] = {.left = left, .at = kUnread};
    }
  }

  // The deadline of an attempt that the service has read, which was now if this is the first call. `TimePoint::max()`:
  // it has none.
  TimePoint of(TimePoint now, const Attempt& attempt) {
    const auto found = attempts_.find(key(attempt));
    // Those that are over may be forgotten.
    if (found == attempts_.end()) return all_have_one_ ? TimePoint::min() : TimePoint::max();
    Deadline& deadline = found->second;
    if (deadline.at == kUnread) deadline.at = saturating_add(now, deadline.left + kOnTheWay);
    return deadline.at;
  }

  // Are there so many that some should be forgotten?
  bool are_many() const { return attempts_.size() >= many_; }
  // Forgets what is over, and the unread attempts for which `never_comes` returns true.
  template <typename NeverComes>
  void forget_old(TimePoint now, const NeverComes& never_comes) {
    std::erase_if(attempts_, [&](const auto& each) {
      const auto& [key, deadline] = each;
      return deadline.at == kUnread ? never_comes(attempt_of(key))
                                    : all_have_one_ && deadline.at <= now;
    });
    many_ = kLeast + 2 * attempts_.size();
  }

 private:
  static constexpr std::size_t kLeast = 10'000;
  // An attempt is read after it was sent, so its caller gives up first: the answer to a request that has ended with its
  // deadline comes too late.
  static constexpr Duration kOnTheWay = std::chrono::nanoseconds(1);
  static constexpr TimePoint kUnread = TimePoint::max();

  struct Deadline {
    Duration left{0};
    TimePoint at;
  };

  static std::uint64_t key(const Attempt& attempt) {
    return static_cast<std::uint64_t>(attempt.client) << 32 | attempt.number;
  }
  static Attempt attempt_of(std::uint64_t key) {
    return {static_cast<std::uint32_t>(key >> 32), static_cast<std::uint32_t>(key)};
  }

  std::unordered_map<std::uint64_t, Deadline> attempts_;
  std::size_t many_ = kLeast;
  bool all_have_one_ = true;
};

class GraphCalls;

// Stands between a service and its callers. Each caller numbers its attempts by itself, so the service gets them with
// the caller's number in the upper bits of `Attempt::client`. The first caller's number is 0: its attempts are the same
// on both sides.
class Callers final : public Caller {
 public:
  // Everything passed in must outlive the callers. `calls`: what `caller` sends its attempts with. `from`: null for the
  // clients.
  void add(Caller& caller, Calls& calls, const GraphCalls* from, DeadlinePropagation deadline) {
    doors_.push_back(
        std::make_unique<Door>(*this, doors_.size(), caller, calls, from, deadline, processes_));
    processes_ += static_cast<std::uint32_t>(calls.processes_with_pools());
    have_deadlines_ |= deadline != DeadlinePropagation::kNone;
  }
  std::size_t size() const { return doors_.size(); }
  // Call it when all are added.
  void call(ServerNode& server) { server_ = &server; }

  // What the service answers to: the only caller, or these.
  Caller& as_one() { return doors_.size() == 1 ? doors_.front()->caller : *this; }
  // Where the caller with this number sends its attempts.
  Target& door(std::size_t number) {
    Door& door = *doors_[number];
    const bool in_between = doors_.size() > 1 || door.deadline != DeadlinePropagation::kNone;
    return in_between ? static_cast<Target&>(door) : *server_;
  }
  // The attempts of all callers that they wait for, and those of these in the service.
  std::size_t in_flight() const;
  std::size_t in_service() const;
  // From now on the service closes a kept connection that has been idle for this time: see `Calls`.
  void close_idle_after(TimePoint now, Duration time);
  // The longest timeout.
  Duration patience() const;
  // Do attempts carry deadlines along?
  bool have_deadlines() const { return have_deadlines_; }
  TimePoint deadline_of(TimePoint now, const Attempt& attempt) {
    Door& door = door_of(attempt);
    return door.deadline == DeadlinePropagation::kNone ? TimePoint::max()
                                                       : door.deadlines.of(now, own(attempt));
  }
  // Does somebody need the answer to this attempt: a client, in the end?
  bool want(const Attempt& attempt) const;

  bool waits_for(const Attempt& attempt) const override {
    return door_of(attempt).calls.waits_for(own(attempt));
  }
  void let_in(TimePoint now, const Attempt& attempt) override {
    door_of(attempt).caller.let_in(now, own(attempt));
  }
  void take_answer(TimePoint now, const Attempt& attempt, const Answer& answer) override {
    door_of(attempt).caller.take_answer(now, own(attempt), answer);
  }
  void lose_connection(TimePoint now, const Attempt& attempt, NoAnswer why) override {
    door_of(attempt).caller.lose_connection(now, own(attempt), why);
  }
  void lose_idle_connections() override;
  std::optional<std::size_t> idle_connections() const override;
  // That of the caller with most idle ones.
  bool lose_longest_idle_connection() override;
  // Does any of them? Their processes have numbers of their own here.
  bool multiplexes() const override;
  std::uint32_t process_of(const Attempt& attempt) const override;
  void lose_connections_of(TimePoint now, std::uint32_t process) override;
  void expect(const Attempt& attempt) const override {
    door_of(attempt).caller.expect(own(attempt));
  }

 private:
  static constexpr unsigned kOwnBits = 26;  // 64 callers, with 67 million requests under way each
  static constexpr std::uint32_t kOwn = (1U << kOwnBits) - 1;
  static_assert(Topology::kMostNodes <= 1U << (32 - kOwnBits));

  struct Door final : Target {
    Door(Callers& of, std::size_t number, Caller& from_caller, Calls& their_calls,
         const GraphCalls* their_graph_calls, DeadlinePropagation carries,
         std::uint32_t processes_before)
        : callers(of),
          tag(static_cast<std::uint32_t>(number) << kOwnBits),
          caller(from_caller),
          calls(their_calls),
          from(their_graph_calls),
          deadline(carries),
          first_process(processes_before) {}

    Attempt outside(const Attempt& attempt) const { return {attempt.client | tag, attempt.number}; }
    void note(TimePoint now, const Attempt& attempt);

    void connect(TimePoint now, const Attempt& attempt) override {
      if (deadline != DeadlinePropagation::kNone) note(now, attempt);
      callers.server_->connect(now, outside(attempt));
    }
    void send(TimePoint now, const Attempt& attempt) override {
      if (deadline != DeadlinePropagation::kNone) note(now, attempt);
      callers.server_->send(now, outside(attempt));
    }
    void close_idle(TimePoint now) override { callers.server_->close_idle(now); }
    void reset(TimePoint now, std::uint32_t process) override {
      callers.server_->reset(now, first_process + process);
    }
    void hang_up(TimePoint now, const Attempt& attempt) override {
      callers.server_->hang_up(now, outside(attempt));
    }

    Callers& callers;
    const std::uint32_t tag;
    Caller& caller;
    Calls& calls;
    const GraphCalls* const from;
    const DeadlinePropagation deadline;
    const std::uint32_t first_process;
    Deadlines deadlines;
  };

  static Attempt own(const Attempt& attempt) { return {attempt.client & kOwn, attempt.number}; }
  Door& door_of(const Attempt& attempt) const { return *doors_[attempt.client >> kOwnBits]; }

  std::vector<std::unique_ptr<Door>> doors_;
  std::uint32_t processes_ = 0;  // of all
  bool have_deadlines_ = false;
  ServerNode* server_ = nullptr;
};

}  // namespace retrystorm
