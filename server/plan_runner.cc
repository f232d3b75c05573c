#include "server/plan_runner.h"

#include <condition_variable>
#include <limits>
#include <utility>

namespace retrystorm {

// The calls of a group. Its threads may outlive the request.
struct PlanRunner::AtOnce {
  std::mutex mutex;
  std::condition_variable changed;
  CallsAtOnce calls;
  Answer failure{};  // the last one of those that may not fail
  std::shared_ptr<LetGo> let_go;

  void end(bool optional, const Failure& result) {
    const std::scoped_lock lock(mutex);
    calls.end(optional, result.has_value());
    if (!optional && result) failure = *result;
    changed.notify_one();
  }
};

PlanRunner::PlanRunner(const GraphNode& node, std::vector<Call> callees, PlaceThreads& threads,
                       std::uint64_t seed)
    : plan_(node.calls),
      on_failure_(node.on_failure),
      callees_(std::move(callees)),
      threads_(threads),
      random_(seed, std::numeric_limits<std::uint64_t>::max() - 3) {}

PlanRunner::Failure PlanRunner::run(std::size_t place, TimePoint deadline,
                                    const std::shared_ptr<const LetGo>& let_go) {
  for (const auto& group : plan_) {
    std::vector<PlannedCall> needed;
    for (const PlannedCall& each : group) {
      if (is_needed(each)) needed.push_back(each);
    }
    if (needed.empty()) continue;
    const bool alone = needed.size() == 1;
    const Failure failure = alone ? make(place, needed.front(), deadline, let_go)
                                  : make_at_once(needed, deadline, let_go);
    if (failure && !(alone && needed.front().optional)) return failure;
  }
  return std::nullopt;
}

bool PlanRunner::is_needed(const PlannedCall& call) {
  if (call.share >= 1) return true;
  const std::scoped_lock lock(mutex_);
  return random_.uniform() < call.share;
}

PlanRunner::Failure PlanRunner::make(std::size_t place, const PlannedCall& call, TimePoint deadline,
                                     const std::shared_ptr<const LetGo>& let_go) const {
  for (std::size_t i = 0; i < call.times && !(i > 0 && let_go->is_set()); ++i) {
    if (const Failure failure = callees_[call.to](place, deadline, let_go)) return failure;
  }
  return std::nullopt;
}

PlanRunner::Failure PlanRunner::make_at_once(const std::vector<PlannedCall>& calls,
                                             TimePoint deadline,
                                             const std::shared_ptr<const LetGo>& let_go) {
  const auto group = std::make_shared<AtOnce>();
  group->let_go = std::make_shared<LetGo>(let_go);
  group->calls.under_way = static_cast<std::uint32_t>(calls.size());
  for (const PlannedCall& each : calls) group->calls.required += each.optional ? 0 : 1;
  for (const PlannedCall& each : calls) {
    const bool started = threads_.start([this, group, each, deadline](std::size_t place) {
      group->end(each.optional, make(place, each, deadline, group->let_go));
    });
    if (started) continue;
    ++without_thread_;
    group->end(each.optional, Answer{.failed = true, .with = kUnavailable});
  }
  std::unique_lock lock(group->mutex);
  std::optional<bool> succeeded;
  group->changed.wait(lock,
                      [&] { return (succeeded = group->calls.result(on_failure_)).has_value(); });
  group->let_go->set();
  return *succeeded ? std::nullopt : Failure(group->failure);
}

}  // namespace retrystorm
