#include "model/retry/retry_policy.h"

#include <utility>

namespace retrystorm {

namespace {

Duration count_sleep(RetryMetrics& metrics, Duration wait) {
  ++metrics.sleeps;
  metrics.total_sleep = saturating_add(metrics.total_sleep, wait);
  return wait;
}

// A budget distinguishes two kinds of failures: those that are retried, and permanent ones.
AttemptResult as_budgets_see(AttemptResult result, const RetryOn& retry_on) {
  if (result.outcome == Outcome::kOk) return result;
  if (!retry_on.covers(result)) {
    result.failure = Failure::kPermanent;
  } else if (result.failure == Failure::kPermanent) {
    result.failure = Failure::kTransient;
  }
  return result;
}

}  // namespace

RetryMetrics& RetryMetrics::operator+=(const RetryMetrics& other) {
  invocations += other.invocations;
  ups += other.ups;
  downs += other.downs;
  sleeps += other.sleeps;
  total_sleep = saturating_add(total_sleep, other.total_sleep);
  not_retryable |= other.not_retryable;
  return *this;
}

RetryPolicy::RetryPolicy(const RetrySettings& settings)
    : limit_(settings.limit),
      backoff_(settings.backoff),
      hint_(settings.hint),
      shared_(settings.process),
      hedge_(settings.hedge),
      when_refused_(settings.when_refused) {
  if (settings.pacer.on) pacer_.emplace(settings.pacer);
}

std::unique_ptr<RetryProcess> RetryPolicy::make_process(TimePoint now) const {
  auto process = retrystorm::make_process(shared_, now);
  if (!hedge_.shares()) return process;
  if (process == nullptr) process = std::make_unique<RetryProcess>();
  process->hedges = std::make_unique<HedgeProcess>(hedge_, now);
  return process;
}

Permission RetryPolicy::ask(TimePoint now, bool first, RetryState& state, RetryProcess* process,
                            Random& random, Duration ends_in) const {
  const Duration left = std::min(time_left(now, state), ends_in);
  if (left <= Duration::zero()) return {.kind = Permission::Kind::kTooLate};
  if (process == nullptr) return {};
  Permission permission = ask_process(now, first, state, *process, random);
  if (permission.reserved) {
    if (permission.wait < left) {
      state.reserved = 1;
    } else {
      process->gates.front()->take_back(now);
    }
  }
  permission.wait = std::min(permission.wait, left);
  return permission;
}

Permission RetryPolicy::ask_process(TimePoint now, bool first, RetryState& state,
                                    RetryProcess& process, Random& random) const {
  if (first && process.budget) process.budget->request_begins(now);
  if (first && process.hedges) process.hedges->request_begins(now);
  const bool reserved = state.reserved == 1;
  state.reserved = 0;
  for (std::size_t i = reserved ? 1 : 0; i < process.gates.size(); ++i) {
    const Permission permission = process.gates[i]->ask(now, random);
    if (permission.kind == Permission::Kind::kSend) continue;
    while (i-- > 0) process.gates[i]->take_back(now);
    return permission;
  }
  if (process.budget) process.budget->attempt_sent(now, state);
  return {};
}

Duration RetryPolicy::step_up(RetryState& state, Random& random, RetryMetrics& metrics) const {
  ++metrics.ups;
  return pacer_->step_up(state, random);
}

Decision RetryPolicy::pause(RetryState& state, Random& random, RetryMetrics& metrics) const {
  if (pacer_->count_success(state, random)) ++metrics.downs;
  return {.wait = count_sleep(metrics, state.pause)};
}

Decision RetryPolicy::give_up(GiveUp reason, TimePoint now, RetryState& state,
                              RetryProcess* process, Random& random, RetryMetrics& metrics) const {
  if (process != nullptr && process->budget) process->budget->request_ends(now, state);
  Decision decision{.gave_up = reason};
  // A client with a pacer also pauses after it has given up.
  if (pacer_) decision.wait = count_sleep(metrics, step_up(state, random, metrics));
  return decision;
}

[[gnu::always_inline]] inline std::optional<GiveUp> RetryPolicy::limited(TimePoint now,
                                                                         const RetryState& state,
                                                                         Duration& wait) const {
  if (!limit_.has_deadline()) return std::nullopt;
  const Duration left = time_left(now, state);
  if (left <= Duration::zero()) return GiveUp::kDeadline;
  if (limit_.deadline_check == DeadlineCheck::kAtEnd) {
    wait = std::min(wait, left);  // `may_send` then returns kTooLate
  } else if (wait > left) {
    return GiveUp::kDeadline;
  }
  return std::nullopt;
}

void RetryPolicy::record(TimePoint now, const AttemptResult& result, RetryState& state,
                         RetryProcess& process) const {
  for (const auto& gate : process.gates) gate->attempt_ended(now, result);
  if (process.retry_switch) {
    process.retry_switch->attempt_ended(now, result.outcome != Outcome::kOk);
  }
  if (!process.budget) return;
  process.budget->attempt_ended(now, as_budgets_see(result, limit_.retry_on), state);
}

void RetryPolicy::attempt_cancelled(TimePoint now, RetryState& own, RetryProcess* process) const {
  if (process == nullptr) return;
  for (const auto& gate : process->gates) gate->attempt_cancelled(now);
  if (process->budget) process->budget->attempt_cancelled(now, own);
}

Decision RetryPolicy::after_failure(TimePoint now, const AttemptResult& result, RetryState& state,
                                    RetryProcess* process, Random& random,
                                    RetryMetrics& metrics) const {
  const auto end = [&](GiveUp reason) {
    return give_up(reason, now, state, process, random, metrics);
  };
  if (result.no_retry) return end(GiveUp::kNotRetryable);
  if (!limit_.retry_on.covers(result)) {
    metrics.not_retryable.include(result);
    return end(GiveUp::kNotRetryable);
  }
  if (state.retries >= limit_.max_retries) return end(GiveUp::kAttempts);
  Duration wait = backoff_.next(state, result.failure == Failure::kThrottled, random);
  wait = with_hint(hint_, wait, result.retry_after, random);
  if (const auto reason = limited(now, state, wait)) return end(*reason);
  if (process == nullptr) return retry(wait, state, random, metrics);
  const bool off = process->retry_switch && !process->retry_switch->lets_retry(now);
  if (off || (process->budget && !process->budget->withdraw(now, result, state))) {
    Decision denied = end(off ? GiveUp::kGate : GiveUp::kBudget);
    if (when_refused_ == WhenRefused::kBackOff) {
      denied.wait = saturating_add(denied.wait, count_sleep(metrics, wait));
    }
    return denied;
  }
  return retry(wait, state, random, metrics);
}

Decision RetryPolicy::retry(Duration wait, RetryState& state, Random& random,
                            RetryMetrics& metrics) const {
  if (pacer_) wait = saturating_add(wait, step_up(state, random, metrics));
  state.count_retry();
  return {.wait = count_sleep(metrics, wait), .retry = true};
}

Decision RetryPolicy::after_refusal(TimePoint now, Permission::Kind why, RetryState& state,
                                    RetryProcess* process, Random& random,
                                    RetryMetrics& metrics) const {
  GiveUp reason = GiveUp::kDeadline;
  if (why == Permission::Kind::kRefused) {
    reason = GiveUp::kGate;
    if (when_refused_ == WhenRefused::kBackOff && state.retries < limit_.max_retries) {
      Duration wait = backoff_.next(state, false, random);
      const auto too_late = limited(now, state, wait);
      if (!too_late) return retry(wait, state, random, metrics);
      reason = *too_late;
    }
  }
  return give_up(reason, now, state, process, random, metrics);
}

namespace {

// The next attempt, for which the budgets have paid, is due after the wait.
HedgeMove paid_wait(HedgeRace& race, Duration wait, bool fails) {
  race.waits = race.paid = true;
  return {.kind = HedgeMove::Kind::kWait, .wait = wait, .fails = fails};
}

}  // namespace

Duration HedgePolicy::sent(TimePoint now, bool hedge, HedgeRace& race,
                           RetryProcess* process) const {
  if (hedge) ++race.hedges;
  Duration delay = Duration::max();
  if (has_more(race)) {
    delay = process != nullptr && process->hedges ? process->hedges->delay(now) : settings_.delay;
  }
  race.waits = delay != Duration::max();
  race.paid = false;
  return delay;
}

bool HedgePolicy::pay(TimePoint now, HedgeRace& race, RetryState& hedge,
                      RetryProcess* process) const {
  if (!has_more(race)) return false;
  if (process == nullptr) return true;
  // Like a retry after a failure of no particular kind.
  const AttemptResult failure{.outcome = Outcome::kError, .failure = Failure::kTransient};
  const bool paid = (!process->retry_switch || process->retry_switch->lets_retry(now)) &&
                    (!process->hedges || process->hedges->withdraw(now)) &&
                    (!process->budget || process->budget->withdraw(now, failure, hedge));
  race.stopped = !paid;
  return paid;
}

HedgeMove HedgePolicy::failed(TimePoint now, const AttemptResult& failure, bool& retried,
                              Asker asker) const {
  HedgeRace& race = asker.race;
  HedgeMove move;
  if (at_timeout()) {
    if (race.in_flight == 0 && !race.waits) return {.kind = HedgeMove::Kind::kOver};
    if (!race.waits) move = late(now, failure, retried, asker);
  } else {
    // The next one takes its place: at once, or when the server has asked for it.
    const Duration wait = with_hint(hint_, Duration::zero(), failure.retry_after, asker.random);
    asker.hedge = {.begun = asker.request.begun};
    if (wait < asker.left && pay(now, race, asker.hedge, asker.process)) {
      move = paid_wait(race, wait, true);
    } else if (race.in_flight == 0) {
      return {.kind = HedgeMove::Kind::kOver};
    }
  }
  if (race.in_flight == 0 && !race.idle) race.idle = move.idles = move.fails = true;
  return move;
}

HedgeMove HedgePolicy::late(TimePoint now, const AttemptResult& failure, bool& retried,
                            Asker asker) const {
  if (retried) return {};
  const Decision decision = policy_.after_recorded(now, failure, asker.request, asker.process,
                                                   asker.random, asker.metrics);
  if (!decision.retry || decision.wait >= asker.ends_in) return {};
  retried = true;
  asker.hedge = {.begun = asker.request.begun};
  return paid_wait(asker.race, decision.wait, true);
}

HedgeMove HedgePolicy::due(TimePoint now, Asker asker) const {
  HedgeRace& race = asker.race;
  race.waits = false;
  if (!race.paid) {
    asker.hedge = {.begun = asker.request.begun};
    if (!pay(now, race, asker.hedge, asker.process)) return {};
  }
  Permission permission{.kind = Permission::Kind::kTooLate};
  if (asker.ends_in > Duration::zero()) {
    permission = policy_.may_send(now, asker.hedge, asker.process, asker.random, asker.ends_in);
  }
  if (permission.kind == Permission::Kind::kWait) return paid_wait(race, permission.wait, false);
  HedgeMove move{.resumes = std::exchange(race.idle, false), .permission = permission.kind};
  if (permission.kind == Permission::Kind::kSend) {
    move.kind = HedgeMove::Kind::kSend;
  } else {
    race.stopped = true;
    if (move.resumes) move.kind = HedgeMove::Kind::kOver;
  }
  return move;
}

}  // namespace retrystorm
