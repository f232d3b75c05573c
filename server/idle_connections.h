// The connections of a server on which no request is under way.
#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <utility>

#include "common/os/process.h"
#include "model/base/duration.h"

namespace retrystorm {

// Counts the open connections, whether busy or idle. All members may be called from any thread.
class OpenConnections {
 public:
  // Returns how many there are then.
  std::size_t add(std::ptrdiff_t change) {
    const std::scoped_lock lock(mutex_);
    changed_.notify_all();
    return open_ += static_cast<std::size_t>(change);
  }
  // Waits a moment for fewer than `most`, and says whether that is so.
  bool wait_for_room(const std::atomic<std::size_t>& most) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::milliseconds(10), [&] { return open_ < most; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t open_ = 0;
};

// A connection that counts itself. It is closed on destruction.
class OpenConnection {
 public:
  // `open` must outlive it.
  OpenConnection(Descriptor descriptor, OpenConnections& open)
      : descriptor_(std::move(descriptor)), open_(open) {
    open_.add(1);
  }
  ~OpenConnection() { open_.add(-1); }

  OpenConnection(const OpenConnection&) = delete;
  OpenConnection& operator=(const OpenConnection&) = delete;

  int number() const { return descriptor_.number(); }

 private:
  Descriptor descriptor_;
  OpenConnections& open_;
};

// One thread watches them all. All members may be called from any thread.
class IdleConnections {
 public:
  using Connection = std::shared_ptr<const OpenConnection>;

  // `longest`: a connection that has been idle for this time is closed. `on_request` is called on the watching
  // thread with a connection on which something arrives: it is no longer idle. Throws
  // std::runtime_error with a readable message if the system has no descriptor or thread left.
  IdleConnections(Duration longest, std::function<void(Connection)> on_request);
  ~IdleConnections();

  IdleConnections(const IdleConnections&) = delete;
  IdleConnections& operator=(const IdleConnections&) = delete;

  // Watches a connection, until something arrives on it, or it is closed on either side.
  void add(Connection connection);

  // Closes the `count` that have been idle for longest, or all if there are fewer.
  void close_oldest(std::size_t count);

  // Closes all connections, and those that are added later. `on_request` is not called any more.
  void stop();

 private:
  struct Idle {
    Connection connection;
    TimePoint since;
    std::list<int>::iterator place;  // in `order_`
  };

  void watch();
  // Removes and returns it. Null if it is not watched.
  Connection take(int number);
  // The same, with the lock held.
  Connection remove(int number);
  // Closes those that have been idle for too long. Returns how many milliseconds epoll may wait.
  int close_old();

  const Duration longest_;
  const std::function<void(Connection)> on_request_;
  Descriptor events_;  // of epoll
  Descriptor wake_;    // an eventfd that ends the thread
  std::mutex mutex_;
  std::unordered_map<int, Idle> connections_;
  std::list<int> order_;  // their numbers; the one idle for longest is in front
  bool stopping_ = false;
  std::thread thread_;
};

}  // namespace retrystorm
