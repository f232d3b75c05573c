// The connections that the processes of a fleet keep.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <utility>

#include "common/os/process.h"
#include "model/base/duration.h"
#include "model/base/random.h"
#include "model/run/connections.h"
#include "model/run/counts.h"

namespace retrystorm {

// A pool for each process, used by the threads of its clients. `Kept` is `Connection` or `Http2Connection`.
// All members are safe from any thread.
template <typename Kept>
class ConnectionPools {
 public:
  using Handle = std::shared_ptr<Kept>;

  // Makes a connection of a process that is not open yet, and says which host it is to go to.
  using Make = std::function<Handle(std::size_t process)>;

  // `seed`: of the ages of connections, if these have a greatest age.
  ConnectionPools(
      const ConnectionSettings& settings, std::size_t processes,
      Make make = [](std::size_t) { return std::make_shared<Kept>(); }, std::uint64_t seed = 1)
      : make_(std::move(make)), settings_(settings), ages_(seed, kStreamOfAges) {
    for (std::size_t i = 0; i < processes; ++i) pools_.emplace_back(settings_, i);
  }

  std::size_t processes() const { return pools_.size(); }

  // Returns a kept connection, or one that is yet to be opened. Waits in line until `until` if the pool is
  // full. Null if it still is then, or if `stop` was called. If it is full and `until` is before `latest`, this takes as long as the process takes to fail the
  // attempt (`ConnectionPool::fail`), up to `latest`.
  Handle take(std::size_t process, TimePoint until, TimePoint latest = TimePoint::min()) {
    Pool& pool = pools_[process];
    std::unique_lock lock(pool.mutex);
    if (Handle connection = take_free(pool)) return connection;
    Waiter self;
    if (until > Clock::now()) {
      pool.line.push_back(&self);
      ++pool.totals.waited;
    }
    const auto wait = [&](TimePoint end) {
      return self.served.wait_until(lock, bounded(end),
                                    [&] { return self.connection != nullptr || pool.stopping; });
    };
    if (!wait(until) && until < latest) {
      wait(std::min(pool.connections.fail(Clock::now()), latest));
    }
    std::erase(pool.line, &self);
    return std::move(self.connection);
  }

  // The server has accepted a connection that several attempts use at a time.
  void accepted(std::size_t process, const Handle& connection) {
    Pool& pool = pools_[process];
    const std::scoped_lock lock(pool.mutex);
    pool.connections.accepted(Clock::now(), connection);
    serve_line(pool);
  }

  // The attempt was lost with its kept connection, and is sent again. Returns another connection, as `take`: if it
  // carries one attempt at a time and has no choice of hosts, the same one, which has to be opened.
  Handle replace(std::size_t process, Handle lost, TimePoint until, TimePoint latest) {
    Pool& pool = pools_[process];
    {
      const std::scoped_lock lock(pool.mutex);
      ++pool.totals.sent_again;
      if (!kCarriesMany && !settings_.picked) {
        pool.connections.reopen();
        return lost;
      }
    }
    give_back(process, std::move(lost));
    return take(process, until, latest);
  }

  // The attempt is over. If its connection is open, it is kept. `given_up`: the client has ended it.
  void give_back(std::size_t process, Handle connection, bool given_up = false) {
    Pool& pool = pools_[process];
    const std::scoped_lock lock(pool.mutex);
    if (connection->can_be_used_again()) {
      pool.connections.give_back(Clock::now(), std::move(connection));
    } else if (used_by_others(*connection)) {
      pool.connections.close();
    } else {
      pool.connections.close_unaccepted();
      if (given_up) ++pool.totals.given_up;
    }
    serve_line(pool);
  }

  // Closes all idle connections.
  void lose_idle() {
    for (Pool& pool : pools_) {
      const std::scoped_lock lock(pool.mutex);
      pool.connections.lose_idle();
    }
  }

  // From now on nobody waits.
  void stop() {
    for (Pool& pool : pools_) {
      const std::scoped_lock lock(pool.mutex);
      pool.stopping = true;
      for (Waiter* each : pool.line) each->served.notify_one();
    }
  }

  KeptConnections totals() const {
    KeptConnections totals;
    for (const Pool& pool : pools_) {
      const std::scoped_lock lock(pool.mutex);
      totals.waited += pool.totals.waited;
      totals.given_up += pool.totals.given_up;
      totals.sent_again += pool.totals.sent_again;
      totals.open += pool.connections.open();
      totals.idle += pool.connections.idle_connections();
      totals.in_line += pool.line.size();
      totals.opened += pool.connections.opened();
    }
    return totals;
  }

 private:
  struct Waiter {
    std::condition_variable served;
    Handle connection{};
  };
  struct Pool {
    Pool(const ConnectionSettings& settings, std::size_t number)
        : process(number), connections(settings) {}

    const std::size_t process;
    mutable std::mutex mutex;
    ConnectionPool<Handle> connections;
    std::deque<Waiter*> line{};
    KeptConnections totals{};  // only what the pool itself does not count
    bool stopping = false;
  };

  static constexpr bool kCarriesMany = requires(const Kept& kept) { kept.is_accepted(); };

  static bool used_by_others(const Kept& connection) {
    if constexpr (kCarriesMany) return connection.is_accepted();
    return false;
  }

  // Returns null if the pool is full. Call these with the lock held.
  Handle take_free(Pool& pool) {
    using Place = typename ConnectionPool<Handle>::Place;
    while (true) {
      Handle kept;
      const Place place = pool.connections.take(Clock::now(), kept);
      if (place == Place::kNone) return nullptr;
      if (place == Place::kOpens) {
        Handle made = make_(pool.process);
        if (settings_.picked) made->place.until = until(pool);
        return made;
      }
      if (kept->can_be_used_again()) return kept;
      pool.connections.close();  // the server has closed it
    }
  }

  TimePoint until(Pool& pool) {
    const std::scoped_lock lock(ages_mutex_);
    return pool.connections.until(Clock::now(), ages_);
  }

  void serve_line(Pool& pool) {
    while (!pool.line.empty()) {
      Waiter& first = *pool.line.front();
      first.connection = take_free(pool);
      if (first.connection == nullptr) return;
      pool.line.pop_front();
      first.served.notify_one();
    }
  }

  const Make make_;
  const ConnectionSettings settings_;
  std::mutex ages_mutex_;  // guards the next one
  ClientRandom ages_;
  std::deque<Pool> pools_;
};

}  // namespace retrystorm
