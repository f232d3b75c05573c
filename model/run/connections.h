// How clients connect to a service, the pools of kept connections, and how clients come back when the service has
// lost their connections.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/base/queues.h"
#include "model/base/random.h"
#include "model/retry/attempt.h"
#include "model/retry/backoff.h"

namespace retrystorm {

enum class Connections {
  kNew,        // each attempt opens a connection of its own
  kKeepAlive,  // a process keeps connections, each for one attempt at a time, as HTTP/1.1 does
  // A process keeps connections, each for many attempts at a time, as HTTP/2 and gRPC do.
  kMultiplexed,
};

// Which idle connection an attempt takes.
enum class PoolOrder {
  kLifo,  // the one that was used last, so that those that are not needed become too old
  kFifo,  // the one that has been idle for longest
};

// The pool of each process. An attempt takes an idle connection, or else opens one, or else waits in
// line. An attempt in line is under way: the caller waits for it. After an answer, whatever its
// status, the connection is idle again. An attempt that times out or is lost closes it. With
// `kMultiplexed` an attempt takes a stream. One that times out ends its stream only: there is room for the
// next attempt at once, and both requests lie in the connection's buffer until the service reads them. An attempt
// whose kept connection is lost is sent again at once, if `retry_lost`: on a connection of its own, if multiplexed on
// any other. That is an attempt more, within the timeout of the first. The policy does not learn of the first: it uses
// up neither attempts nor budget. If the second is lost too, the attempt has failed.
struct ConnectionSettings {
  static constexpr std::size_t kUnbounded = std::numeric_limits<std::size_t>::max();

  Connections kind = Connections::kNew;
  // Connections of a process: idle, in use and being opened. If multiplexed, 1 unless it is given.
  std::size_t pool_size = kUnbounded;
  std::size_t pool_max_idle = kUnbounded;  // of these, idle
  Duration pool_idle = Duration::max();    // after this time an idle one is closed
  PoolOrder pool_order = PoolOrder::kLifo;
  Duration pool_wait = Duration::max();  // in line at most; then the attempt fails
  bool pool_wait_counts = true;          // does the attempt's timeout include the wait?
  std::size_t streams = 100;             // multiplexed: attempts at a time on a connection
  bool retry_lost = true;                // does the pool send a lost attempt again?
  // Not options: each connection is picked a host (`HostSettings::pick_per`), and takes no more attempts at this age.
  bool picked = false;
  Duration age = Duration::max();

  bool kept() const { return kind != Connections::kNew; }
  bool multiplexed() const { return kind == Connections::kMultiplexed; }
  // How many connections a process may have, and how many attempts each takes at a time.
  std::size_t most() const { return multiplexed() && pool_size == kUnbounded ? 1 : pool_size; }
  std::size_t attempts_each() const { return multiplexed() ? streams : 1; }
  // Does the pool send an attempt with this result again? Ask once for each attempt.
  bool sends_again(const AttemptResult& result) const { return retry_lost && result.lost; }
  bool operator==(const ConnectionSettings&) const = default;
};

// The choice of connections that stands for those of the strategy's library.
inline constexpr std::string_view kLibraryWay = "library";

// `take_library` is called when that choice is made. Without it there is no such choice. What it sets can be
// overridden by the options that are declared later.
void declare_options(OptionList& options, ConnectionSettings& settings,
                     std::function<void()> take_library = {});

// Throws std::invalid_argument with a readable message if an attempt would time out before its wait
// in line can end.
void check(const ConnectionSettings& settings, Duration timeout);

// How a client that has lost its connection makes another one. It waits, and sends requests until
// each of them has succeeded. Each failure makes it wait again. It never gives up.
struct ReconnectSettings {
  // Its waits. The first one is before the first attempt.
  BackoffSettings backoff{.growth = Growth::kExponential,
                          .base = std::chrono::seconds(1),
                          .cap = std::chrono::seconds(30),
                          .jitter = {.kind = Jitter::Kind::kFull}};
  std::size_t calls = 1;  // how many requests a connect is, one after the other
};

void declare_options(OptionList& options, ReconnectSettings& settings);

// The random stream of the ages of connections: see `ConnectionPool::until`.
inline constexpr std::uint64_t kStreamOfAges =
    std::numeric_limits<std::uint64_t>::max() - 3'000'000;

// The random stream of a client's connects. Those of the clients' requests are before these.
constexpr std::uint64_t stream_of_connects(std::size_t clients, std::uint64_t client) {
  return clients + client;
}

// How far the clients have come back. Times are since they lost their connections.
struct ReconnectResult {
  std::size_t clients = 0;                 // that lost their connection
  std::size_t back = 0;                    // of these, with a connection again
  std::uint64_t attempts = 0, failed = 0;  // of connects; one whose answer is not there is neither
  std::optional<Duration> half_back{}, all_back{};
};

// Follows the clients while they come back. Not thread-safe.
class ReconnectProgress {
 public:
  void lose(TimePoint now, std::size_t clients) {
    lost_at_ = now;
    result_.clients = clients;
  }
  void come_back(TimePoint now) {
    ++result_.back;
    if (result_.back == (result_.clients + 1) / 2) result_.half_back = now - lost_at_;
    if (result_.back == result_.clients) result_.all_back = now - lost_at_;
  }

  // The clients without a connection.
  std::size_t without() const { return result_.clients - result_.back; }

  // All but the attempts, which the engine counts.
  const ReconnectResult& result() const { return result_; }

 private:
  TimePoint lost_at_{};
  ReconnectResult result_;
};

// What a connection of a pool is bound to.
struct ConnectionPlace {
  std::uint32_t host = 0;              // it goes to
  TimePoint until = TimePoint::max();  // then it is too old (`ConnectionSettings::age`)
};

// Decides which attempt uses a kept connection, opens one, or has to wait in line. The engine keeps
// the line: whenever a connection is given back or closed, it asks again for the first attempt in
// line. The class has no clock and no lock. The caller passes the time, which must not go back, and
// prevents concurrent calls. `Connection` is what the engine keeps for an idle connection. Destroying
// it closes the connection. If it has a `ConnectionPlace`, or points to one that has, the pool looks when it is too old.
template <typename Connection>
class ConnectionPool {
 public:
  struct Nobody {
    void operator()(const Connection&) const {}
  };

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

  // Sets `kept` if the attempt gets a kept connection. Calls `closed` for each idle one that is closed.
  template <typename Closed = Nobody>
  Place take(TimePoint now, Connection& kept, const Closed& closed = {}) {
    close_idle(now, closed);
    while (!idle_.empty()) {
      const bool last = settings_->pool_order == PoolOrder::kLifo;
      kept = (last ? idle_.take_back() : idle_.take()).connection;
      if (end_of(kept) > now) return Place::kKept;
      --open_;
      closed(kept);
    }
    const std::size_t most = settings_->most(), each = settings_->attempts_each();
    const bool bounded = most != ConnectionSettings::kUnbounded && newest_until_ > now;
    if (bounded && open_ + each > most * each) return Place::kNone;
    open_ += each;
    ++opened_;
    return Place::kOpens;
  }

  // When the connection that an attempt opens now becomes too old. Those by which the pool grows have a part of the age
  // behind them, so that a process does not renew all at once. Those that are too old count no longer towards the
  // pool's size once the newest is.
  TimePoint until(TimePoint now, Random& random) {
    if (settings_->age == Duration::max()) return TimePoint::max();
    const bool grows = open() > std::exchange(most_open_, std::max(most_open_, open()));
    const Duration left = grows ? scale(settings_->age, 1 - random.uniform()) : settings_->age;
    return newest_until_ = saturating_add(now, left);
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
    const bool kept = idle_.size() < settings_->pool_max_idle && end_of(connection) > now;
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
  template <typename Closed = Nobody>
  void close_idle(TimePoint now, const Closed& closed = {}) {
    if (settings_->pool_idle == Duration::max()) return;
    while (next_idle_end() <= now) drop_idle(closed);
  }

  // The server has closed those that have been idle since `latest` or longer.
  template <typename Closed = Nobody>
  void lose_idle_since(TimePoint latest, const Closed& closed = {}) {
    while (!idle_.empty() && idle_.front().since <= latest) drop_idle(closed);
  }

  // The server has closed the one that has been idle for longest. There must be one.
  void lose_longest_idle() { drop_idle(Nobody()); }

  // Since when the one idle for longest is, of those for which `which` is true. Empty: there is none.
  template <typename Which>
  std::optional<TimePoint> longest_idle_since(const Which& which) const {
    for (std::size_t i = 0; i < idle_.size(); ++i) {
      if (which(idle_.peek(i).connection)) return idle_.peek(i).since;
    }
    return std::nullopt;
  }
  // Of all. There must be one.
  TimePoint longest_idle_since() const { return idle_.front().since; }

  // When the next connection has been idle for too long. `TimePoint::max()`: none is idle.
  TimePoint next_idle_end() const {
    return idle_.empty() ? TimePoint::max()
                         : saturating_add(idle_.front().since, settings_->pool_idle);
  }

  // The server has closed all idle connections for which `which` is true. Returns how many.
  template <typename Which>
  std::size_t lose_idle(const Which& which) {
    const std::size_t before = idle_.size();
    idle_.erase_if([&](const Idle& each) { return which(each.connection); });
    open_ -= before - idle_.size();
    return before - idle_.size();
  }
  void lose_idle() {
    lose_idle([](const Connection&) { return true; });
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

  static TimePoint end_of(const Connection& connection) {
    if constexpr (requires { connection.until; }) return connection.until;
    if constexpr (requires { connection->place; }) return connection->place.until;
    return TimePoint::max();
  }

  template <typename Closed>
  void drop_idle(const Closed& closed) {
    closed(idle_.take().connection);
    --open_;
  }

  const ConnectionSettings* settings_;
  // These count connections. If they are multiplexed, they count the attempts that have room.
  Fifo<Idle> idle_;  // those given back first are in front
  std::size_t open_ = 0;
  std::uint64_t opened_ = 0;
  TimePoint fails_from_{};  // the process is busy with attempts that fail until then
  TimePoint newest_until_ = TimePoint::max();
  std::size_t most_open_ = 0;
};

}  // namespace retrystorm
