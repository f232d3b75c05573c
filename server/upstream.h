// The services behind this one: what it calls for each request.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "common/calls/called_hosts.h"
#include "common/calls/client_connections.h"
#include "common/calls/live_counts.h"
#include "common/calls/request_runner.h"
#include "common/calls/threads.h"
#include "model/base/duration.h"
#include "model/graph/topology.h"
#include "model/run/counts.h"
#include "model/service/admission.h"
#include "model/service/picker.h"
#include "server/plan_runner.h"

namespace retrystorm {

// One of them, and how it is called.
struct CalleeSettings {
  std::string name{};
  std::vector<std::string> urls{};  // of its hosts
  GraphEdge edge{};
  HostSettings hosts{};  // how one of them is picked
};

struct UpstreamSettings {
  GraphNode node{};  // its calls are numbers of callees
  std::vector<CalleeSettings> callees{};
  std::size_t threads = 0;  // the most; each call under way needs one

  bool any() const { return !callees.empty(); }
};

// A thread makes the calls of a request and waits for their end, and calls that are made at once have one each. All
// members are safe from any thread.
class Upstream {
 public:
  // Looks up the hosts. Throws std::runtime_error with a readable message if one is not known.
  Upstream(const UpstreamSettings& settings, std::uint64_t seed);
  ~Upstream();

  Upstream(const Upstream&) = delete;
  Upstream& operator=(const Upstream&) = delete;

  bool holds_workers() const { return node_.waiting == Waiting::kHold; }
  // The share of its own work that the service does before the calls.
  double first_share() const;

  // Makes the calls of a request. Then calls `over` with the answer to the request. `deadline` is that of the request;
  // `TimePoint::max()`: it has none. Both are called from another thread. Returns false, and counts it, if there is
  // no thread for it.
  bool start(std::function<TimePoint()> deadline, std::shared_ptr<const LetGo> let_go,
             std::function<void(const Answer&)> over);

  // Ends all waits. Attempts end with their sockets, or their timeouts.
  void stop();
  // Waits until all calls are over. Call it after `stop`.
  void join();

  // The calls so far, of each callee.
  struct Calls {
    std::string to;
    Counts counts;
    std::size_t in_flight;
  };
  std::vector<Calls> calls() const;
  // Requests and calls for which there was no thread.
  std::uint64_t refused() const { return refused_ + plan_.without_thread(); }
  std::size_t threads() const { return threads_.size(); }

 private:
  struct Callee {
    Callee(const CalleeSettings& settings, std::size_t places, ClientWaits& waits,
           std::uint64_t seed);

    const std::string name;
    LiveCounts counts;
    const std::unique_ptr<CalledHosts> hosts;  // null if there is one
    RequestRunner runner;
    std::optional<HostProbes> probes;
  };

  std::vector<PlanRunner::Call> calls_of(const UpstreamSettings& settings, std::uint64_t seed);
  PlanRunner::Failure run(std::size_t place, TimePoint deadline,
                          const std::shared_ptr<const LetGo>& let_go);
  // The answer to a request whose calls have failed for good.
  Answer answer_to(const Answer& failure) const;

  const GraphNode node_;
  ClientWaits waits_;
  std::deque<Callee> callees_;
  std::atomic<std::uint64_t> begun_{0}, refused_{0};
  PlaceThreads threads_;
  PlanRunner plan_;
  // Of all calls of a request together, if these are repeated.
  std::optional<LiveCounts> whole_counts_;
  std::optional<RequestRunner> whole_;
  const std::uint64_t seed_;
};

}  // namespace retrystorm
