// Makes the calls of one request after the other, as the plan of a service says.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <vector>

#include "common/calls/threads.h"
#include "model/base/duration.h"
#include "model/base/random.h"
#include "model/graph/topology.h"
#include "model/service/admission.h"

namespace retrystorm {

// The status of a call that could not be made.
inline constexpr int kUnavailable = 503;

// A thread makes the calls of a request, and others those
// that are made at once. Safe from any thread.
class PlanRunner {
 public:
  // Why calls have failed for good, as an answer; empty: they have not.
  using Failure = std::optional<Answer>;
  // Makes a call and waits for its end. `place`: of the thread. `deadline`: of the request; `TimePoint::max()` if it has none.
  using Call = std::function<Failure(std::size_t place, TimePoint deadline,
                                     const std::shared_ptr<const LetGo>& let_go)>;

  // `callees`: by the numbers that `node.calls` has for them. `threads` must outlive this object, and must have ended
  // before the callees do.
  PlanRunner(const GraphNode& node, std::vector<Call> callees, PlaceThreads& threads,
             std::uint64_t seed);

  // Makes the calls of a request. Returns when it is clear whether they have succeeded; some may be under way.
  Failure run(std::size_t place, TimePoint deadline, const std::shared_ptr<const LetGo>& let_go);

  // Calls that failed because there was no thread for them.
  std::uint64_t without_thread() const { return without_thread_; }

 private:
  struct AtOnce;

  bool is_needed(const PlannedCall& call);
  Failure make(std::size_t place, const PlannedCall& call, TimePoint deadline,
               const std::shared_ptr<const LetGo>& let_go) const;
  Failure make_at_once(const std::vector<PlannedCall>& calls, TimePoint deadline,
                       const std::shared_ptr<const LetGo>& let_go);

  const CallPlan plan_;
  const OnFailure on_failure_;
  const std::vector<Call> callees_;
  PlaceThreads& threads_;
  std::mutex mutex_;  // guards `random_`
  ClientRandom random_;
  std::atomic<std::uint64_t> without_thread_{0};
};

}  // namespace retrystorm
