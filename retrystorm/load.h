// Load for a real service: closed clients without a think time, and what else is asked of it to learn how it works.
#pragma once

#include <atomic>
#include <cstddef>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "common/http/single_request.h"
#include "model/base/duration.h"

namespace retrystorm {

// So many clients, a thread each, of which each sends its next request when the last one has ended: so many requests are
// in the service, and never more. Sends until its end. Not thread-safe.
class ClosedLoad {
 public:
  static constexpr Duration kAfterFailure =
      std::chrono::milliseconds(10);  // a refusal costs no time at all

  // `load` must outlive this object. Clients begin within `spread`, evenly, so that they do not go on in step. `once`:
  // each client sends a single request. Throws std::system_error if there are no threads for them.
  ClosedLoad(const LoadRequest& load, std::size_t clients, Duration spread, bool once = false);
  // Waits for the answers that are still to come, for the timeout at most.
  ~ClosedLoad() { stop(); }

  ClosedLoad(const ClosedLoad&) = delete;
  ClosedLoad& operator=(const ClosedLoad&) = delete;

  // What has ended since the last call.
  std::vector<Answered> take();
  // Sends no more, and waits as the destructor does.
  void stop();
  // The requests on their way fail, and all clients end. Returns when they have.
  void interrupt();

 private:
  void run(const std::stop_token& done, Connection& connection, TimePoint begin);

  const LoadRequest& load_;
  const bool once_;
  std::mutex mutex_;
  std::vector<Answered> ended_;
  std::vector<std::unique_ptr<Connection>> connections_;
  std::atomic<std::size_t> running_{0};
  std::vector<std::jthread> threads_;
};

// Sends so many requests within `held`, each on a new connection, and hangs up on all of them after as long again.
// Returns when each was sent: fewer if one cannot connect within the timeout, or all not within a second.
std::vector<TimePoint> hang_up(const LoadRequest& load, std::size_t requests, Duration held);

// The accept queue of the sockets of this machine that listen at the URL's port.
struct ListenQueue {
  std::size_t waiting = 0;  // connections that no process has accepted
  std::size_t most = 0;     // its end
};
// Nothing if none listens there, which is so for an address of another machine, or if the kernel does not say.
std::optional<ListenQueue> listen_queue(const Url& url);

}  // namespace retrystorm
