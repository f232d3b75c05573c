// The part of `Calls` for requests that have several attempts at a time.
#include <utility>
#include <vector>

#include "simulator/calls.h"
#include "simulator/hedges.h"

namespace retrystorm {

Calls::Slot Calls::take_place(Slot request) {
  Slot place = hedges_->take_free();
  if (place == Hedges::kNone) {
    place = add_slot();
    hedges_->add(place);
    calls_[place].last_ok = TimePoint::max();  // it misses no answer
  }
  if (numbers_processes_) process_numbers_[place] = process_numbers_[request];
  calls_[place].retry = {.begun = calls_[request].retry.begun};
  return place;
}

void Calls::launch_first(TimePoint now, Slot request) {
  Call& call = calls_[request];
  ++counts_.attempts;
  if (!std::exchange(call.unsent, false)) ++counts_.retries;
  if (call.next_is_retry) --waiting_to_retry_;
  launch(now, request, take_place(request), false);
}

void Calls::launch(TimePoint now, Slot request, Slot place, bool hedge) {
  HedgeState& state = hedges_->of(request).state;
  if (hedge) {
    ++counts_.hedges;
    ++state.hedges;
  } else if (calls_[request].retry.retries == 0) {
    state = {};  // of the request before
  }
  Call& call = calls_[place];
  ++call.attempt;
  call.in_flight = true;
  call.sent_at = calls_[request].sent_at = now;
  ++in_flight_;
  hedges_->join(request, place, hedge);
  const Attempt attempt{place, call.attempt};
  if (trace_ != nullptr) trace_->sent(now, request, place, attempt.number);
  // Before it is sent, because the server may refuse it at once.
  const Duration delay = hedges_->policy.next_delay(now, state, parts_of(request));
  if (delay == Duration::max()) {
    hedges_->forget_wait(request);
  } else {
    wait_to_hedge(now, request, delay, false);
  }
  if (has_pools_) return enter_pool(now, attempt);
  start_timeout(now, attempt);
  target_->connect(now, attempt);
}

void Calls::wait_to_hedge(TimePoint now, Slot request, Duration wait, bool paid) {
  const Slot place = take_place(request);
  hedges_->wait(request, place, paid);
  wait_until(saturating_add(now, wait), place);
}

void Calls::end_wait_to_hedge(TimePoint now, Slot place) {
  const Slot request = hedges_->place(place).request;
  if (request == Hedges::kNone) return hedges_->free(place);
  Hedges::Request& its = hedges_->of(request);
  its.wait = Hedges::kNone;
  send_hedge(now, request, place, its.paid);
}

void Calls::send_hedge(TimePoint now, Slot request, Slot place, bool paid) {
  HedgeState& state = hedges_->of(request).state;
  Call& call = calls_[request];
  if (!paid && !hedges_->policy.pay(now, state, calls_[place].retry, parts_of(request))) {
    return hedges_->free(place);
  }
  ClientRandom random(call.random);
  const Duration left = is_bounded_ ? ends_[request] - now : Duration::max();
  const Permission permission =
      left <= Duration::zero()
          ? Permission{.kind = Permission::Kind::kTooLate}
          : behaviour_.may_send(now, calls_[place].retry, parts_of(request), random, left);
  call.random = random.state();
  if (permission.kind == Permission::Kind::kWait) {
    hedges_->wait(request, place, true);
    return wait_until(saturating_add(now, std::max(permission.wait, kTurnaround)), place);
  }
  const bool idle = std::exchange(hedges_->of(request).idle, false);
  if (idle) --waiting_to_retry_;
  if (permission.kind == Permission::Kind::kSend) {
    ++counts_.attempts;
    ++counts_.retries;
    return launch(now, request, place, true);
  }
  if (permission.kind == Permission::Kind::kRefused) ++counts_.not_sent;
  hedges_->free(place);
  state.stopped = true;
  if (!idle) return;
  const TimePoint begun = call.retry.begun;
  NextAttempt next = behaviour_.after_refusal(now, permission.kind, call.retry, parts_of(request),
                                              random, retry_metrics_);
  call.random = random.state();
  if (next.gave_up) latencies_.add_given_up(begun, now - begun);
  follow(now, request, next, nullptr);
}

TimePoint Calls::end_of_hedged(Slot slot) const {
  if (!hedges_->is_place(slot)) return ends_[slot];
  const Slot request = hedges_->place(slot).request;
  return request == Hedges::kNone ? TimePoint::max() : ends_[request];
}

bool Calls::outlives_timeout(TimePoint now, const Attempt& attempt) {
  if (!hedges_->policy.at_timeout()) return false;
  const Duration left = time_left(now, attempt);
  if (left <= Duration::zero()) return false;
  if (left != Duration::max()) cut_short(saturating_add(now, left), attempt);
  const Slot request = hedges_->place(attempt.client).request;
  if (request != Hedges::kNone) {
    retry_beside(now, request, attempt.client, timed_out(now - calls_[attempt.client].sent_at));
  }
  return true;
}

// One attempt is retried once: after its timeout, or after its failure.
void Calls::retry_beside(TimePoint now, Slot request, Slot place, const AttemptResult& failure) {
  if (hedges_->place(place).retried) return;
  Call& call = calls_[request];
  ClientRandom random(call.random);
  const Decision decision = behaviour_.policy().after_recorded(
      now, failure, call.retry, parts_of(request), random, retry_metrics_);
  call.random = random.state();
  if (!decision.retry) return;
  if (is_bounded_ && saturating_add(now, decision.wait) >= ends_[request]) return;
  hedges_->place(place).retried = true;
  fail_so_far(request);
  wait_to_hedge(now, request, std::max(decision.wait, kTurnaround), true);
}

// The request counts among those that are being retried.
void Calls::fail_so_far(Slot request) {
  if (calls_[request].next_is_retry) return;
  calls_[request].next_is_retry = true;
  ++counts_.failing;
}

void Calls::cancel(TimePoint now, const Attempt& attempt, RetryState& own) {
  const bool resets = resets_stream(calls_[attempt.client]);
  hang_up(now, attempt);  // others may be let in, and more places needed
  Call& call = calls_[attempt.client];
  const AttemptResult cancelled = timed_out(now - call.sent_at);
  call.in_flight = false;
  --in_flight_;
  if (std::exchange(call.in_service, false)) --in_service_;
  if (has_pools_) leave_pool(now, attempt.client, cancelled);
  forget_timeouts();
  RetryProcess* const process = parts_of(attempt.client);
  HedgePolicy::add_latency(now, cancelled, process);
  behaviour_.policy().attempt_cancelled(now, own, process);
  hedges_->free(attempt.client);
  if (resets) target_->reset(now, number_at_host(attempt.client));
}

// The other attempts of a request whose result is known.
void Calls::drop_others(TimePoint now, Slot request) {
  hedges_->forget_wait(request);
  struct Loser {
    Attempt attempt;
    bool hedge;
  };
  std::vector<Loser> losers;
  for (Slot place; (place = hedges_->of(request).first) != Hedges::kNone;) {
    const Call& call = calls_[place];
    losers.push_back({{place, call.attempt}, hedges_->place(place).hedge});
    hedges_->leave(place);
    if (trace_ != nullptr) {
      trace_->superseded(place, call.attempt, now - call.sent_at, hedges_->policy.cancels());
    }
  }
  if (!hedges_->policy.cancels()) return;
  // A server that is left by one of them may take another one.
  for (const auto& [attempt, hedge] : losers) {
    if (!waits_for(attempt)) continue;
    RetryState own = calls_[attempt.client].retry;
    cancel(now, attempt, hedge ? own : calls_[request].retry);
  }
}

void Calls::finish_hedged(TimePoint now, const Attempt& attempt, const AttemptResult& result) {
  const Slot place = attempt.client;
  forget_timeouts();
  const Hedges::Place ended = hedges_->place(place);
  const Slot request = ended.request;
  hedges_->leave(place);
  RetryState own = calls_[place].retry;
  if (trace_ != nullptr) trace_->ended(place, attempt.number, result);
  RetryProcess* const process = parts_of(place);
  HedgePolicy::add_latency(now, result, process);
  if (request == Hedges::kNone) {
    behaviour_.policy().attempt_ended(now, result, own, process);
    return hedges_->free(place);
  }
  counts_.count(result);
  behaviour_.policy().attempt_ended(now, result, ended.hedge ? own : calls_[request].retry,
                                    process);
  if (!hedges_->policy.is_final(result) && goes_on(now, request, place, result)) return;
  hedges_->free(place);
  drop_others(now, request);
  Call& call = calls_[request];
  const TimePoint begun = call.retry.begun;
  if (result.outcome == Outcome::kOk) {
    if (ended.hedge) ++counts_.hedges_won;
    latencies_.add_ok(begun, result.latency, now - begun);
    longest_without_ok_ = std::max(longest_without_ok_, now - call.last_ok);
    call.last_ok = now;
  }
  ClientRandom random(call.random);
  NextAttempt next =
      behaviour_.after_recorded(now, result, call.retry, process, random, retry_metrics_);
  call.random = random.state();
  if (ends_before(now, request, next)) next = give_up_at_end(now, request);
  if (next.gave_up) latencies_.add_given_up(begun, now - begun);
  follow(now, request, next, &result);
}

// After a failure that is not final: is another attempt of the request under way, or is it sent now? The place
// is free then.
bool Calls::goes_on(TimePoint now, Slot request, Slot place, const AttemptResult& failure) {
  Hedges::Request& its = hedges_->of(request);
  Call& call = calls_[request];
  if (hedges_->policy.at_timeout()) {
    if (its.state.in_flight == 0 && its.wait == Hedges::kNone) return false;
    hedges_->place(place).retried |= its.wait != Hedges::kNone;
    retry_beside(now, request, place, failure);
    hedges_->free(place);
  } else {
    ClientRandom random(call.random);
    const Duration wait = hedges_->policy.wait_after(failure, random);
    call.random = random.state();
    const bool in_time = wait < time_left(now, {request, 0});
    calls_[place].retry = {.begun = call.retry.begun};
    if (in_time && hedges_->policy.pay(now, its.state, calls_[place].retry, parts_of(request))) {
      fail_so_far(request);
      hedges_->forget_wait(request);
      if (wait == Duration::zero() && its.state.in_flight > 0) {
        send_hedge(now, request, place, true);
        return true;
      }
      hedges_->wait(request, place, true);
      wait_until(saturating_add(now, std::max(wait, kTurnaround)), place);
    } else if (its.state.in_flight == 0) {
      return false;
    } else {
      hedges_->free(place);
    }
  }
  if (its.state.in_flight == 0 && !std::exchange(hedges_->of(request).idle, true)) {
    fail_so_far(request);
    ++waiting_to_retry_;
  }
  return true;
}

}  // namespace retrystorm
