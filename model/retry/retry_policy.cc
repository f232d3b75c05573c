#include "model/retry/retry_policy.h"

#include <algorithm>
#include <array>

namespace retrystorm {
namespace {

Duration count_sleep(RetryMetrics& metrics, Duration wait) {
  ++metrics.sleeps;
  metrics.total_sleep = saturating_add(metrics.total_sleep, wait);
  return wait;
}

}  // namespace

std::string_view to_string(GiveUp reason) {
  constexpr std::array<std::string_view, kGiveUps> kNames{"retries_used_up", "budget", "refused",
                                                          "permanent"};
  return kNames.at(static_cast<std::size_t>(reason));
}

RetryMetrics& RetryMetrics::operator+=(const RetryMetrics& other) {
  invocations += other.invocations;
  ups += other.ups;
  downs += other.downs;
  sleeps += other.sleeps;
  total_sleep = saturating_add(total_sleep, other.total_sleep);
  return *this;
}

RetryPolicy::RetryPolicy(const RetrySettings& settings)
    : backoff_(settings.backoff),
      hint_(settings.hint),
      max_retries_(settings.limit.max_retries),
      shared_(settings.process),
      when_refused_(settings.when_refused) {
  if (settings.pacer.on) pacer_.emplace(settings.pacer);
}

std::unique_ptr<RetryProcess> RetryPolicy::make_process(TimePoint now) const {
  return retrystorm::make_process(shared_, now);
}

Permission RetryPolicy::ask(TimePoint now, bool first, RetryState& state, RetryProcess& process,
                            Random& random) const {
  if (first && process.budget) process.budget->request_begins(now);
  for (std::size_t i = 0; i < process.gates.size(); ++i) {
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

Decision RetryPolicy::after_success(RetryState& state, Random& random,
                                    RetryMetrics& metrics) const {
  if (!pacer_ || state.pause == Duration::zero()) return {};
  if (pacer_->count_success(state, random)) ++metrics.downs;
  return {.wait = count_sleep(metrics, state.pause)};
}

Decision RetryPolicy::give_up(GiveUp reason, RetryState& state, Random& random,
                              RetryMetrics& metrics) const {
  Decision decision{.gave_up = reason};
  // A client that paces itself goes on pausing when it gives up.
  if (pacer_) decision.wait = count_sleep(metrics, step_up(state, random, metrics));
  return decision;
}

std::optional<GiveUp> RetryPolicy::reason_to_give_up(TimePoint now, const AttemptResult& result,
                                                     RetryState& state,
                                                     RetryProcess* process) const {
  if (result.failure == Failure::kPermanent) return GiveUp::kPermanent;
  if (state.retries >= max_retries_) return GiveUp::kRetriesUsedUp;
  if (process != nullptr && process->budget && !process->budget->withdraw(now, result, state)) {
    return GiveUp::kBudget;
  }
  return std::nullopt;
}

Decision RetryPolicy::decide(TimePoint now, const AttemptResult& result, RetryState& state,
                             RetryProcess* process, Random& random, RetryMetrics& metrics) const {
  if (process != nullptr) {
    for (const auto& gate : process->gates) gate->attempt_ended(now, result);
    if (process->budget) process->budget->attempt_ended(now, result, state);
  }
  const bool ok = result.outcome == Outcome::kOk;
  const auto reason = ok ? std::nullopt : reason_to_give_up(now, result, state, process);
  if (ok || reason) {
    if (process != nullptr && process->budget) process->budget->request_ends(now, state);
    return ok ? after_success(state, random, metrics) : give_up(*reason, state, random, metrics);
  }
  return back_off(result, state, random, metrics);
}

Decision RetryPolicy::back_off(const AttemptResult& result, RetryState& state, Random& random,
                               RetryMetrics& metrics) const {
  Duration wait = backoff_.next(state, result.failure == Failure::kThrottled, random);
  wait = with_hint(hint_, wait, result.retry_after, random);
  if (pacer_) wait = saturating_add(wait, step_up(state, random, metrics));
  state.count_retry();
  return {.wait = count_sleep(metrics, wait), .retry = true};
}

Decision RetryPolicy::after_refusal(TimePoint now, RetryState& state, RetryProcess* process,
                                    Random& random, RetryMetrics& metrics) const {
  if (when_refused_ == WhenRefused::kBackOff && state.retries < max_retries_) {
    return back_off({}, state, random, metrics);
  }
  if (process != nullptr && process->budget) process->budget->request_ends(now, state);
  return give_up(GiveUp::kRefused, state, random, metrics);
}

}  // namespace retrystorm
