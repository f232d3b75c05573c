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

void Calls::launch(TimePoint now, Slot request, Slot place, bool hedge) {
  HedgeRace& race = hedges_->of(request).race;
  if (hedge) {
    ++counts_.hedges;
  } else if (calls_[request].retry.retries == 0) {
    race = {};  // of the request before
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
  const Duration delay = hedges_->policy.sent(now, hedge, race, parts_of(request));
  if (delay == Duration::max()) {
    hedges_->forget_wait(request);
  } else {
    wait_to_hedge(now, request, take_place(request), delay);
  }
  if (has_pools_) return enter_pool(now, attempt);
  start_timeout(now, attempt);
  target_->connect(now, attempt);
}

template <typename Ask>
HedgeMove Calls::ask_hedges(TimePoint now, Slot request, RetryState& hedge, Ask ask) {
  Call& call = calls_[request];
  ClientRandom random(call.random);
  const HedgeMove move =
      ask(HedgePolicy::Asker{.race = hedges_->of(request).race,
                             .request = call.retry,
                             .hedge = hedge,
                             .process = parts_of(request),
                             .random = random,
                             .metrics = retry_metrics_,
                             .left = time_left(now, {request, 0}),
                             .ends_in = is_bounded_ ? ends_[request] - now : Duration::max()});
  call.random = random.state();
  if (move.fails && !call.next_is_retry) {
    call.next_is_retry = true;
    ++counts_.failing;
  }
  if (move.idles) ++waiting_to_retry_;
  if (move.resumes) --waiting_to_retry_;
  return move;
}

void Calls::wait_to_hedge(TimePoint now, Slot request, Slot place, Duration wait) {
  hedges_->wait(request, place);
  wait_until(saturating_add(now, wait), place);
}

void Calls::end_wait_to_hedge(TimePoint now, Slot place) {
  const Slot request = hedges_->place(place).request;
  if (request == Hedges::kNone) return hedges_->free(place);
  hedges_->of(request).wait = Hedges::kNone;
  send_hedge(now, request, place);
}

void Calls::send_hedge(TimePoint now, Slot request, Slot place) {
  const HedgeMove move =
      ask_hedges(now, request, calls_[place].retry,
                 [&](const HedgePolicy::Asker& asker) { return hedges_->policy.due(now, asker); });
  if (move.kind == HedgeMove::Kind::kSend) {
    ++counts_.attempts;
    ++counts_.retries;
    return launch(now, request, place, true);
  }
  if (move.kind == HedgeMove::Kind::kWait) {
    return wait_to_hedge(now, request, place, std::max(move.wait, kTurnaround));
  }
  if (move.permission == Permission::Kind::kRefused) ++counts_.not_sent;
  hedges_->free(place);
  if (move.kind == HedgeMove::Kind::kGoesOn) return;
  refuse(now, request, move.permission);
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
  if (request == Hedges::kNone) return true;
  RetryState hedge;
  const AttemptResult late = timed_out(now - calls_[attempt.client].sent_at);
  const HedgeMove move = ask_hedges(now, request, hedge, [&](const HedgePolicy::Asker& asker) {
    return hedges_->policy.late(now, late, hedges_->place(attempt.client).retried, asker);
  });
  if (move.kind == HedgeMove::Kind::kWait) {
    const Slot place = take_place(request);
    calls_[place].retry = hedge;
    wait_to_hedge(now, request, place, std::max(move.wait, kTurnaround));
  }
  return true;
}

void Calls::cancel(TimePoint now, const Attempt& attempt, RetryState& own) {
  const bool resets = resets_stream(calls_[attempt.client]);
  hang_up(now, attempt);  // others may be let in, and more places needed
  Call& call = calls_[attempt.client];
  const Duration latency = now - call.sent_at;
  call.in_flight = false;
  --in_flight_;
  if (std::exchange(call.in_service, false)) --in_service_;
  if (has_pools_) leave_pool(now, attempt.client, timed_out(latency));
  forget_timeouts();
  hedges_->policy.cancelled(now, latency, own, parts_of(attempt.client));
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
  const bool lost = request == Hedges::kNone;
  hedges_->policy.ended(now, result, lost || ended.hedge ? own : calls_[request].retry,
                        parts_of(place));
  if (lost) return hedges_->free(place);
  counts_.count(result);
  if (!hedges_->policy.is_final(result) && goes_on(now, request, place, result)) return;
  hedges_->free(place);
  drop_others(now, request);
  if (result.outcome == Outcome::kOk && ended.hedge) ++counts_.hedges_won;
  conclude(now, request, result);
}

// After a failure that is not final: is another attempt of the request under way, or is it sent now? The place
// is free then.
bool Calls::goes_on(TimePoint now, Slot request, Slot place, const AttemptResult& failure) {
  const HedgeMove move =
      ask_hedges(now, request, calls_[place].retry, [&](const HedgePolicy::Asker& asker) {
        return hedges_->policy.failed(now, failure, hedges_->place(place).retried, asker);
      });
  if (move.kind == HedgeMove::Kind::kOver) return false;
  if (move.kind == HedgeMove::Kind::kGoesOn) {
    hedges_->free(place);
  } else if (move.wait == Duration::zero() && hedges_->of(request).race.in_flight > 0) {
    hedges_->forget_wait(request);
    send_hedge(now, request, place);
  } else {
    wait_to_hedge(now, request, place, std::max(move.wait, kTurnaround));
  }
  return true;
}

}  // namespace retrystorm
