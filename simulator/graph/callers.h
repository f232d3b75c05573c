// Those who call one service of a graph, and the deadlines of their attempts.
#pragma once

#include <algorithm>
#include <bit>
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
#include "simulator/hosts.h"

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
      attempts_[attempt.key()] = {.left = left, .at = kUnread};
    }
  }

  // The deadline of an attempt that the service has read, which was now if this is the first call. `TimePoint::max()`:
  // it has none.
  TimePoint of(TimePoint now, const Attempt& attempt) {
    const auto found = attempts_.find(attempt.key());
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
class Callers final : public CallerOfHosts {
 public:
  // `calls` must outlive the callers. `from`: the same, or null for the clients.
  void add(Calls& calls, const GraphCalls* from, DeadlinePropagation deadline) {
    doors_.push_back(std::make_unique<Door>(*this, calls, from, deadline));
    processes_ += std::max<std::uint32_t>(static_cast<std::uint32_t>(calls.processes()), 1);
    have_deadlines_ |= deadline != DeadlinePropagation::kNone;
  }
  std::size_t size() const { return doors_.size(); }
  // What the service answers to: the only caller, or these. Call it when all are added.
  CallerOfHosts& as_one();
  // From now on attempts go to these, which must answer to `as_one`.
  void call(Hosts& hosts) {
    hosts_ = &hosts;
    target_ = &hosts.target();
  }
  // Where the caller with this number sends its attempts.
  Target& door(std::size_t number) {
    Door& door = *doors_[number];
    const bool in_between = doors_.size() > 1 || door.deadline != DeadlinePropagation::kNone;
    return in_between ? static_cast<Target&>(door) : *target_;
  }
  // Where the attempts of all callers are that they wait for.
  AttemptPlaces places() const;
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
    door_of(attempt).calls.let_in(now, own(attempt));
  }
  void take_answer(TimePoint now, const Attempt& attempt, const Answer& answer) override {
    door_of(attempt).calls.take_answer(now, own(attempt), answer);
  }
  void lose_connection(TimePoint now, const Attempt& attempt, NoAnswer why) override {
    door_of(attempt).calls.lose_connection(now, own(attempt), why);
  }
  void keep_connections_to(const HostSettings& hosts) override;
  bool keeps_connections(const Attempt& attempt) const override {
    return door_of(attempt).calls.keeps_connections();
  }
  void lose_idle_connections(std::uint32_t host) override;
  std::optional<std::size_t> idle_connections(std::uint32_t host) const override;
  // That of the caller with most idle ones.
  bool lose_longest_idle_connection(std::uint32_t host) override;
  std::size_t processes() const override { return processes_; }
  std::size_t number_of(const Attempt& attempt) const override {
    return number_at(attempt, own(attempt).client);
  }
  std::size_t number_of_request(const Attempt& attempt) const override {
    return number_at(attempt, door_of(attempt).calls.number_of_request(own(attempt)));
  }
  bool is_first(const Attempt& attempt) const override {
    return door_of(attempt).calls.is_first(own(attempt));
  }
  Duration attempt_left(TimePoint now, const Attempt& attempt) const override {
    return door_of(attempt).calls.attempt_left(now, own(attempt));
  }
  // Does any of them? Their processes have numbers of their own here.
  bool multiplexes() const override;
  std::uint32_t process_of(const Attempt& attempt) const override;
  void lose_connections_of(TimePoint now, std::uint32_t pool) override;
  void expect(const Attempt& attempt) const override {
    door_of(attempt).calls.expect(own(attempt));
  }

 private:
  // Up to 64 callers have 67 million requests under way each; of more, each has room for fewer.
  static constexpr int kLeastDoorBits = 6;

  struct Door final : Target {
    Door(Callers& of, Calls& theirs, const GraphCalls* of_graph, DeadlinePropagation carries)
        : callers(of),
          number(static_cast<std::uint32_t>(of.doors_.size())),
          calls(theirs),
          from(of_graph),
          deadline(carries),
          first_process(of.processes_) {}

    Attempt outside(const Attempt& attempt) const {
      return {attempt.client | number << callers.own_bits_, attempt.number};
    }
    void note(TimePoint now, const Attempt& attempt);

    std::optional<std::uint32_t> pick(TimePoint now, const Attempt& attempt) override {
      return callers.target_->pick(now, outside(attempt));
    }
    std::optional<std::uint32_t> choose(TimePoint now, const Attempt& attempt) override {
      return callers.target_->choose(now, outside(attempt));
    }
    bool use(TimePoint now, const Attempt& attempt, std::uint32_t host) override {
      return callers.target_->use(now, outside(attempt), host);
    }
    void connect(TimePoint now, const Attempt& attempt) override {
      if (deadline != DeadlinePropagation::kNone) note(now, attempt);
      callers.target_->connect(now, outside(attempt));
    }
    void send(TimePoint now, const Attempt& attempt) override {
      if (deadline != DeadlinePropagation::kNone) note(now, attempt);
      callers.target_->send(now, outside(attempt));
    }
    void close_idle(TimePoint now) override { callers.target_->close_idle(now); }
    void reset(TimePoint now, std::uint32_t pool) override {
      callers.target_->reset(now, callers.first_pool(*this) + pool);
    }
    void hang_up(TimePoint now, const Attempt& attempt) override {
      callers.target_->hang_up(now, outside(attempt));
    }

    Callers& callers;
    const std::uint32_t number;
    Calls& calls;
    const GraphCalls* const from;
    const DeadlinePropagation deadline;
    const std::uint32_t first_process;
    Deadlines deadlines;
  };

  Attempt own(const Attempt& attempt) const {
    return {attempt.client & ((1U << own_bits_) - 1), attempt.number};
  }
  Door& door_of(const Attempt& attempt) const { return *doors_[attempt.client >> own_bits_]; }
  // A number of the attempt's caller, among those of all.
  std::size_t number_at(const Attempt& attempt, std::size_t own) const {
    return own * doors_.size() + door_of(attempt).number;
  }
  std::uint32_t first_pool(const Door& door) const {
    return door.first_process * static_cast<std::uint32_t>(hosts_->size());
  }

  std::vector<std::unique_ptr<Door>> doors_;
  std::uint32_t processes_ = 0;  // of all
  bool have_deadlines_ = false;
  int own_bits_ = 32 - kLeastDoorBits;
  Hosts* hosts_ = nullptr;
  Target* target_ = nullptr;
};

}  // namespace retrystorm
