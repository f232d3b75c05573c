// The connections of clients that keep one: lost all at once, and made anew.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "common/calls/live_counts.h"
#include "common/calls/request_runner.h"
#include "common/http/http_request.h"
#include "model/base/duration.h"
#include "model/run/connections.h"
#include "model/run/workload.h"

namespace retrystorm {

// Which clients have a connection. To this client a connection is the permission to send: each
// attempt opens a socket of its own, or uses one of its process's pool. Each client has a thread that connects again, beside the one
// that sends its requests, so that it comes back although it has nothing to send. Clients lose
// their connections at most once. All members are safe from any thread, but `start` and `join`.
class ClientConnections {
 public:
  // All clients have a connection. `waits` must outlive this object.
  ClientConnections(const WorkloadOptions& workload, std::uint64_t seed, const HttpRequest& request,
                    ClientWaits& waits);
  // `waits` must be stopped by then.
  ~ClientConnections();

  ClientConnections(const ClientConnections&) = delete;
  ClientConnections& operator=(const ClientConnections&) = delete;

  // Starts the threads. Throws std::system_error if the system does not have enough of them.
  void start();

  // All clients lose their connection, also those that wait for nothing, and begin to come back.
  // Attempts in flight fail, because all sockets of this process are shut down but those of
  // `spared_ports`.
  void lose_all(const std::vector<int>& spared_ports);

  // Waits until this client has a connection, at most for `patience`. Returns whether it has one.
  bool wait(std::size_t client, Duration patience);

  // Ends all waits.
  void stop();
  // The threads that have not ended. After `stop` they do, unless an attempt keeps them.
  std::size_t running() const { return running_; }
  void join();

  // The clients without a connection.
  std::size_t without() const;
  ReconnectResult result() const;

 private:
  struct Client {
    bool connected = true;
    std::condition_variable changed{};
  };

  void run(std::uint64_t index);
  // Returns false if the run ends before that.
  bool wait_for_loss(Client& client);

  const std::size_t calls_;  // of a connect
  const std::uint64_t seed_;
  LiveCounts counts_;
  RequestRunner runner_;

  mutable std::mutex mutex_;  // guards what follows
  bool stopping_ = false;
  std::deque<Client> clients_;
  ReconnectProgress progress_;

  std::atomic<std::size_t> running_{0};
  std::vector<std::jthread> threads_;
};

}  // namespace retrystorm
