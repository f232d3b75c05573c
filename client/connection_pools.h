// The connections that the processes of a fleet keep.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>

#include "common/http/connection.h"
#include "model/base/duration.h"
#include "model/run/connection_pool.h"
#include "model/run/counts.h"

namespace retrystorm {

// A pool for each process, used by the threads of its clients. All members are safe from any thread.
class ConnectionPools {
 public:
  ConnectionPools(const ConnectionSettings& settings, std::size_t processes);

  ConnectionPools(const ConnectionPools&) = delete;
  ConnectionPools& operator=(const ConnectionPools&) = delete;

  std::size_t processes() const { return pools_.size(); }

  // Returns a kept connection, or one that is yet to be opened. Waits in line until `until` if the
  // pool is full. Null if it still is then, or if `stop` was called. If it is full and `until` is before
  // `latest`, this takes as long as the process takes to fail the attempt (`ConnectionPool::fail`), up
  // to `latest`.
  std::unique_ptr<Connection> take(std::size_t process, TimePoint until,
                                   TimePoint latest = TimePoint::min());

  // The attempt is over. If its connection is open, it is kept.
  void give_back(std::size_t process, std::unique_ptr<Connection> connection);

  // Closes all idle connections.
  void lose_idle();

  // From now on nobody waits.
  void stop();

  KeptConnections totals() const;

 private:
  struct Waiter {
    std::condition_variable served;
    std::unique_ptr<Connection> connection{};
  };
  struct Pool {
    explicit Pool(const ConnectionSettings& settings) : connections(settings) {}

    mutable std::mutex mutex;
    ConnectionPool<std::unique_ptr<Connection>> connections;
    std::deque<Waiter*> line{};
    std::uint64_t waited = 0;  // attempts that had to wait in line
    bool stopping = false;
  };

  // Returns null if the pool is full. Call it with the lock held.
  static std::unique_ptr<Connection> take_free(Pool& pool);

  std::deque<Pool> pools_;
};

}  // namespace retrystorm
