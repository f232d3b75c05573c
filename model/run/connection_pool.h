// The connections of one process.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <utility>

#include "model/base/duration.h"
#include "model/base/queues.h"
#include "model/run/connections.h"

namespace retrystorm {

// Decides which attempt uses a kept connection, opens one, or has to wait in line. The engine keeps
// the line: whenever a connection is given back or closed, it asks again for the first attempt in
// line. The class has no clock and no lock. The caller passes the time, which must not go back, and
// prevents concurrent calls. `Connection` is what the engine keeps for an idle connection. Destroying
// it closes the connection.
template <typename Connection>
class ConnectionPool {
 public:
  // What it costs a process that an attempt fails for want of a connection.
  static constexpr Duration kFailing = std::chrono::microseconds(100);

  // `settings` must outlive the pool: there may be a million of them.
  explicit ConnectionPool(const ConnectionSettings& settings) : settings_(&settings) {}

  // What an attempt gets.
  enum class Place {
    kNone,   // the pool is full: it has to wait in line
    kOpens,  // a place to open a connection
    kKept,   // a kept connection
  };

  // Sets `kept` if the attempt gets a kept connection.
  Place take(TimePoint now, Connection& kept) {
    close_idle(now);
    if (!idle_.empty()) {
      kept =
          (settings_->pool_order == PoolOrder::kLifo ? idle_.take_back() : idle_.take()).connection;
      return Place::kKept;
    }
    const std::size_t most = settings_->most(), each = settings_->attempts_each();
    if (most != ConnectionSettings::kUnbounded && open_ + each > most * each) return Place::kNone;
    open_ += each;
    ++opened_;
    return Place::kOpens;
  }

  // The server has accepted the connection that an attempt has opened. If it is multiplexed, there is
  // now room for others on it.
  void accepted(TimePoint now, const Connection& connection = {}) {
    for (std::size_t i = 1; i < settings_->attempts_each(); ++i) idle_.push({now, connection});
  }

  // The attempt that opened a connection timed out or was lost before that.
  void close_unaccepted() { open_ -= settings_->attempts_each(); }

  // The attempt that took a place got an answer: its connection is idle, or closed if there are
  // enough of these. Returns whether it is kept.
  bool give_back(TimePoint now, Connection connection = {}) {
    const bool kept = idle_.size() < settings_->pool_max_idle;
    if (kept) {
      idle_.push({now, std::move(connection)});
    } else {
      close();
    }
    return kept;
  }

  // The attempt that took a place timed out or was lost: its connection is closed.
  void close() { --open_; }

  // The attempt that took a place opens another connection there, because its own was lost. Not if
  // multiplexed.
  void reopen() { ++opened_; }

  // An attempt may wait no longer, and has no connection. Returns when it has failed: that costs its
  // process some time (an exception, a line of a log, the next try), for one attempt after the other.
  TimePoint fail(TimePoint now) {
    const TimePoint failed = std::max(now, fails_from_);
    fails_from_ = saturating_add(failed, kFailing);
    return failed;
  }

  // Closes connections that have been idle for too long.
  void close_idle(TimePoint now) {
    if (settings_->pool_idle == Duration::max()) return;
    while (next_idle_end() <= now) drop_idle();
  }

  // The server has closed those that have been idle since `latest` or longer.
  void lose_idle_since(TimePoint latest) {
    while (!idle_.empty() && idle_.front().since <= latest) drop_idle();
  }

  // The server has closed the one that has been idle for longest. There must be one.
  void lose_longest_idle() { drop_idle(); }

  // Since when the one idle for longest is. There must be one.
  TimePoint longest_idle_since() const { return idle_.front().since; }

  // When the next connection has been idle for too long. `TimePoint::max()`: none is idle.
  TimePoint next_idle_end() const {
    return idle_.empty() ? TimePoint::max()
                         : saturating_add(idle_.front().since, settings_->pool_idle);
  }

  // The server has closed all idle connections.
  void lose_idle() {
    while (!idle_.empty()) drop_idle();
  }

  // Connections: idle, in use, and being opened.
  std::size_t open() const {
    return (open_ + settings_->attempts_each() - 1) / settings_->attempts_each();
  }
  // Those that are idle. If they are multiplexed: the attempts that have room on them.
  std::size_t idle() const { return idle_.size(); }
  std::size_t idle_connections() const { return idle_.size() / settings_->attempts_each(); }
  // Since the start.
  std::uint64_t opened() const { return opened_; }

 private:
  struct Idle {
    TimePoint since{};
    [[no_unique_address]] Connection connection{};
  };

  void drop_idle() {
    idle_.take();
    --open_;
  }

  const ConnectionSettings* settings_;
  // These count connections. If they are multiplexed, they count the attempts that have room.
  Fifo<Idle> idle_;  // those given back first are in front
  std::size_t open_ = 0;
  std::uint64_t opened_ = 0;
  TimePoint fails_from_{};  // the process is busy with attempts that fail until then
};

}  // namespace retrystorm
