#include "simulator/graph/graph_calls.h"

#include <utility>

#include "simulator/graph/graph_service.h"

namespace retrystorm {
namespace {

constexpr int kGatewayTimeout = 504;

Answer failure_with(int status) {
  return {.failed = true, .with = status};
}

}  // namespace

GraphCalls::GraphCalls(const GraphEdge& edge, std::uint64_t seed, TimePoint end, GraphService& from)
    : Calls(edge.caller, seed, end, kExpectedWaits, *this, nullptr),
      from_(from),
      has_deadlines_(edge.deadline != DeadlinePropagation::kNone) {
  skip_latencies();
  if (has_deadlines_ || from.may_let_go()) bound_requests();
}

GraphCalls::Slot GraphCalls::take_slot(const Purpose& purpose) {
  const Slot slot = free_slots_.empty() ? add_slot() : free_slots_.take_back();
  if (slot >= slots_.size()) slots_.resize(slot + 1);  // those in between are of hedged attempts
  slots_[slot] = {.purpose = purpose, .in_use = true, .failure = failure_with(kGatewayTimeout)};
  ++under_way_;
  return slot;
}

void GraphCalls::begin(TimePoint now, Slot slot, TimePoint deadline) {
  occupy(now, slot, begun_++);
  set_end(slot, has_deadlines_ ? deadline : TimePoint::max());
  Calls::begin(now, slot);
}

void GraphCalls::let_go(TimePoint now, Slot slot) {
  slots_[slot].let_go = true;
  --under_way_;
  set_end(slot, now);
}

bool GraphCalls::is_wanted(const Attempt& attempt) const {
  const auto slot = request_of(attempt);
  return slot && !slots_[*slot].let_go && from_.is_wanted(slots_[*slot].purpose);
}

void GraphCalls::note_failure(const Attempt& attempt, const Answer& failure) {
  if (const auto slot = request_of(attempt)) slots_[*slot].failure = failure;
}

void GraphCalls::lose_all(TimePoint now) {
  forget_all(now);
  unread_.clear();
  closed_.clear();
  for (Slot slot = 0; slot < slots_.size(); ++slot) {
    if (std::exchange(slots_[slot].in_use, false)) free_slots_.push(slot);
  }
  under_way_ = 0;
}

void GraphCalls::read_answers(TimePoint now) {
  for (const Unread& each : std::exchange(unread_, {})) {
    if (!waits_for(each.attempt)) continue;
    if (each.answer) {
      take_answer(now, each.attempt, *each.answer);
    } else {
      lose_connection(now, each.attempt, each.why);
    }
  }
  for (const std::uint32_t each : std::exchange(closed_, {})) Calls::lose_connections_of(now, each);
}

TimePoint GraphCalls::next_timeout() const {
  return from_.awake() ? Calls::next_timeout() : TimePoint::max();
}

TimePoint GraphCalls::next_wait() {
  return from_.awake() ? Calls::next_wait() : TimePoint::max();
}

TimePoint GraphCalls::find_next() {
  return from_.awake() ? Calls::find_next() : TimePoint::max();
}

TimePoint GraphCalls::next_pool_event() const {
  return from_.awake() ? Calls::next_pool_event() : TimePoint::max();
}

void GraphCalls::lose_connections_of(TimePoint now, std::uint32_t process) {
  if (!from_.awake()) return closed_.push_back(process);
  Calls::lose_connections_of(now, process);
}

void GraphCalls::take_answer(TimePoint now, const Attempt& attempt, const Answer& answer) {
  if (!from_.awake()) return unread_.push_back({.attempt = attempt, .answer = answer});
  if (!answer.ok()) {
    Answer failure = failure_with(answer.status());
    failure.retry_after = answer.retry_after;
    note_failure(attempt, failure);
  }
  Calls::take_answer(now, attempt, answer);
}

void GraphCalls::lose_connection(TimePoint now, const Attempt& attempt, NoAnswer why) {
  if (!from_.awake()) return unread_.push_back({.attempt = attempt, .why = why});
  note_failure(attempt, failure_with(kBadGateway));
  Calls::lose_connection(now, attempt, why);
}

// What is prefetched now tells what to prefetch for it next time.
void GraphCalls::expect(const Attempt& attempt) const {
  Calls::expect(attempt);
  if (attempt.client >= slots_.size()) return;  // of a hedge
  prefetch(slots_[attempt.client]);
  from_.expect(slots_[std::exchange(expected_, attempt.client)].purpose.request);
}

void GraphCalls::call_over(TimePoint now, std::uint32_t slot, const NextAttempt& next) {
  const Call call = slots_[slot];
  slots_[slot].in_use = false;
  free_slots_.push(slot);
  vacate(now, slot);
  if (call.let_go) return;
  --under_way_;
  from_.call_over(now, *this, slot, call.purpose, next.gave_up ? &call.failure : nullptr);
}

}  // namespace retrystorm
