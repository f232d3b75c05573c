#include "model/run/outlook.h"

#include <algorithm>
#include <cmath>

#include "model/base/random.h"
#include "model/retry/attempt.h"
#include "model/retry/backoff.h"
#include "model/retry/schedule.h"
#include "model/run/storm.h"

namespace retrystorm {
namespace {

// The median waits before the first retries, or the pauses of a pacer.
std::vector<Duration> first_waits(const RetrySettings& retry) {
  // If a wait depends on the jitter of the one before, it takes milliseconds to compute.
  const bool slow = retry.backoff.grow_from == GrowFrom::kJittered ||
                    retry.backoff.from == BackoffFrom::kThinkTime ||
                    retry.backoff.jitter.is_growth();
  constexpr std::size_t kWaits = 20, kSlowWaits = 4;
  const std::size_t count = std::min<std::size_t>(retry.limit.max_retries, kWaits);
  if (!retry.pacer.on) {
    std::vector<Duration> waits =
        median_waits(retry.backoff, slow ? std::min(count, kSlowWaits) : count);
    // The others grow like the last one that was computed.
    if (slow && waits.size() == kSlowWaits && waits[kSlowWaits - 2] > Duration::zero()) {
      const double growth = to_seconds(waits.back()) / to_seconds(waits[kSlowWaits - 2]);
      while (waits.size() < count) {
        waits.push_back(std::min(scale(waits.back(), growth), retry.backoff.cap));
      }
    }
    return waits;
  }
  std::vector<Duration> pauses;
  Duration pause = retry.pacer.initial_interval;
  for (std::size_t i = 0; i < count; ++i) {
    pauses.push_back(std::min(pause, retry.pacer.max_interval));
    pause = scale(pause, retry.pacer.up_multiplier);
  }
  return pauses;
}

double requests_wanted(const WorkloadOptions& workload, Duration answer) {
  const Duration round = saturating_add(workload.mean_think_time(), answer);
  const double wanted = workload.arrivals == Arrivals::kOpen
                            ? arrival_rate(workload)
                            : static_cast<double>(workload.clients) / to_seconds(round);
  return std::min(wanted, client_rate_of(workload));
}

Outlook::Service look_at_service(const ServiceOptions& options, Duration timeout) {
  Outlook::Service service{.capacity = capacity_of(options),
                           .late_from = late_from(options, timeout)};
  service.rate_limited = options.rate_limit.rate > 0 && service.capacity >= options.rate_limit.rate;
  const auto bound = [&service](double count) { service.bound = std::min(service.bound, count); };
  const double shed_above = or_unlimited(options.shed_above, 0);
  // Other requests wait in the accept queue.
  const double connected =
      or_unlimited(options.most_connections(), 0) + static_cast<double>(options.backlog);
  if (options.capacity == Capacity::kCurve) {
    service.p50 = service.p99 = options.base_delay;
    bound(shed_above);
    bound(connected);
    service.in_time = service.bound < service.late_from;
    return service;
  }
  const WorkerSettings& workers = options.workers;
  const double number = most_in_service(options);
  const double mean = mean_service_seconds(options);
  service.p50 = workers.service_time.quantile(0.5);
  service.p99 = workers.service_time.quantile(0.99);
  bound(or_unlimited(workers.queue_length, WorkerSettings::kUnbounded));
  bound(std::max(shed_above - number, 0.0));
  bound(std::max(connected - number, 0.0));
  if (workers.drop.kind == QueueDrop::Kind::kAge && mean > 0) {
    bound(to_seconds(workers.drop.time) * number / mean);
  }
  // It drops what waited for twice its target, within an interval. (A service that cancels requests serves in
  // order those that are about to be late, and cancels many of them half done.)
  const bool codel = workers.drop.kind == QueueDrop::Kind::kCoDel &&
                     2 * workers.drop.time + workers.drop.interval < timeout;
  const QueueOrder& order = workers.order;
  // What a limit has saved it admits at once.
  const bool limited =
      service.rate_limited &&
      bucket_size(options.rate_limit.burst, options.rate_limit.rate) <= number + service.late_from;
  const bool newest_first = order.kind == QueueOrder::Kind::kLifo ||
                            (order.kind == QueueOrder::Kind::kAdaptiveLifo &&
                             static_cast<double>(order.threshold) < service.late_from);
  const bool bounded = service.bound < service.late_from;
  service.in_time = service.late_from > 0 && (bounded || limited || codel || newest_first);
  return service;
}

// Does the service refuse requests beyond its capacity, instead of letting them wait?
bool turns_away(const ServiceOptions& service) {
  return service.shed_above > 0 || service.rate_limit.rate > 0 ||
         (service.capacity == Capacity::kWorkers &&
          (service.workers.queue_length != WorkerSettings::kUnbounded ||
           service.workers.drop.kind != QueueDrop::Kind::kNone));
}

// Does the outage make more requests arrive than can be served, so that they queue in the service?
bool piles_up(const Disturbance& outage) {
  return outage.kind == Disturbance::Kind::kSlow || outage.kind == Disturbance::Kind::kCapacity ||
         outage.kind == Disturbance::Kind::kLoad || outage.kind == Disturbance::Kind::kLoadStep;
}

// How an attempt fails that meets an error, in the outage or because there is too much.
AttemptResult error_of(const OutlookInput& input) {
  const ServiceOptions service = input.service.value_or(ServiceOptions());
  if (input.outage) {
    const auto failure = failure_in(*input.outage, service);
    if (failure && failure->outcome == Outcome::kError) return *failure;
  }
  const bool limited = service.rate_limit.rate > 0;
  const auto hint =
      turns_away(service) ? usual_hint(service.hint, service.rate_limit.rate) : std::nullopt;
  return answered(limited ? service.rate_limit.status : service.shed_status, hint, Duration::zero(),
                  limited && service.rate_limit.status == 400);
}

// Can attempts fail with an error, in the outage or at any time?
bool may_err(const OutlookInput& input) {
  if (!input.service || turns_away(*input.service) || input.service->errors.share > 0) return true;
  if (!input.outage) return false;
  const auto failure = failure_in(*input.outage, *input.service);
  return failure && failure->outcome == Outcome::kError;
}

// How long a worker is busy with a refusal.
Duration refusal_takes(const ServiceOptions& service) {
  return service.capacity == Capacity::kWorkers ? service.workers.rejection_cost : Duration::zero();
}

// How long an attempt takes that fails with an error.
Duration error_takes(const OutlookInput& input) {
  if (!input.service) return Duration::zero();
  if (turns_away(*input.service)) return refusal_takes(*input.service);
  const ErrorSettings& errors = input.service->errors;
  const bool served =
      errors.after == ErrorAfter::kService &&
      (errors.share > 0 || (input.outage && input.outage->kind == Disturbance::Kind::kErrors));
  return served ? mean_answer(*input.service) : Duration::zero();
}

// What a retry costs after an attempt that failed so, in tokens of the budget.
double cost_of_retry(const BudgetSettings& budget, Failure failure) {
  const double cost = failure == Failure::kTimedOut    ? budget.timeout_cost
                      : failure == Failure::kThrottled ? budget.throttled_cost
                                                       : BudgetSettings::kNone;
  return cost == BudgetSettings::kNone ? budget.cost : cost;
}

// The same, where attempts fail only like this: with these waits, and these costs of retries.
RetrySettings if_all_fail(RetrySettings retry, Failure failure) {
  BackoffSettings& backoff = retry.backoff;
  const bool throttled = failure == Failure::kThrottled;
  if (throttled && backoff.throttled_base != Duration::max()) backoff.base = backoff.throttled_base;
  BudgetSettings& budget = retry.process.budget;
  budget.cost = cost_of_retry(budget, failure);
  budget.timeout_cost = BudgetSettings::kNone;
  return retry;
}

// What workers can serve without a rate limit.
double full_capacity(ServiceOptions service) {
  service.rate_limit.rate = 0;
  return capacity_of(service);
}

// Can a storm sustain itself because of what refusals cost? Either the attempts keep all workers busy
// although only some of them fail: W <= answered x service time + refused x cost. Or, while all fail, refusals
// leave so little that those in the queue are answered too late.
bool refusals_hold(const Storm& storm, const Outlook& outlook) {
  const ServiceOptions& options = *outlook.input.service;
  const Outlook::Service& service = *outlook.service;
  const Outlook::Failing& failing = outlook.retries.overload();
  const double cost = to_seconds(refusal_takes(options));
  if (cost <= 0 || !outlook.retries.turns_away) return false;
  const double each = mean_service_seconds(options), full = full_capacity(options);
  const double workers = full * each;
  constexpr int kSteps = 500;
  for (int i = 1; i <= kSteps; ++i) {
    const Storm::Coming coming =
        storm.coming(failing, static_cast<double>(i) / kSteps, failing.takes);
    const double refused = coming.attempts - coming.answered;
    if (coming.answered * each + refused * cost >= workers) return true;
  }
  if (failing.rate < service.capacity) return false;
  if (service.rate_limited) {
    const double refused = failing.rate - service.capacity;
    return std::max(workers - refused * cost, 0.0) / each < service.capacity;
  }
  if (options.workers.order.kind != QueueOrder::Kind::kFifo ||
      options.workers.drop.kind != QueueDrop::Kind::kNone) {
    return false;
  }
  // Each attempt that is served is none that is refused.
  const double left = failing.rate * cost >= workers ? 0
                      : cost < each
                          ? std::min((workers - failing.rate * cost) / (each - cost), full)
                          : full;
  return service.bound * full >= service.late_from * left;
}

Outlook::Connections look_at_pools(const Outlook& outlook, Duration answer) {
  const ConnectionSettings& settings = outlook.input.workload.connections;
  // A client uses one at a time. Requests of open arrivals have no client.
  const auto processes = static_cast<double>(outlook.processes);
  const double clients = outlook.open() ? kUnlimited : std::ceil(outlook.clients() / processes);
  const double most = or_unlimited(settings.most(), ConnectionSettings::kUnbounded);
  Outlook::Connections pools;
  const double room = most * static_cast<double>(settings.attempts_each());
  if (room < clients) pools.room = processes * room;
  const double through = answer > Duration::zero() ? pools.room / to_seconds(answer) : kUnlimited;
  if (outlook.service && through < outlook.service->capacity) pools.through = through;
  if (settings.multiplexed()) {
    pools.open = processes * most;
    return pools;
  }
  // A pool grows to the most that its process has used at a time: here the mean and three standard
  // deviations of a Poisson distribution, and one. Those that are not used are idle.
  const double busy = outlook.wanted / processes * to_seconds(answer);
  const double idle =
      std::min(3 * std::sqrt(busy) + 1,
               or_unlimited(settings.pool_max_idle, ConnectionSettings::kUnbounded));
  pools.open = processes * std::min({busy + idle, most, clients});
  if (!outlook.open()) pools.open = std::min(pools.open, outlook.clients());
  return pools;
}

// How many attempts wait when an outage ends, or come right after it, at most.
double waiting_after(const Outlook& outlook) {
  const OutlookInput& input = outlook.input;
  const double factor = load_factor(*input.outage), seconds = to_seconds(input.outage_for);
  if (outlook.has_outage(Disturbance::Kind::kFreeze)) {
    // A kept connection holds one request at most, because a timeout closes it. One that is multiplexed
    // holds any number.
    const double kept = !outlook.connections    ? 0
                        : outlook.multiplexed() ? kUnlimited
                                                : outlook.connections->open;
    // If the accept queue is full, the client's kernel repeats the SYN each second. So attempts from the
    // last whole seconds of the timeout arrive too.
    const double repeated = std::max(std::ceil(to_seconds(input.workload.timeout)) - 1, 0.0);
    const double rate = outlook.retries.timeouts.rate;
    return std::min(static_cast<double>(input.service->backlog) + kept + rate * repeated,
                    rate * seconds);
  }
  if (!piles_up(*input.outage)) return 0;
  Conditions conditions;
  const double capacity =
      capacity_of(with_conditions(apply(*input.outage, conditions), *input.service));
  // Attempts fail only if the requests alone are too many.
  return outlook.wanted * factor <= capacity
             ? 0
             : (outlook.retries.overload().rate * factor - capacity) * seconds;
}

// `overloaded`: the storm of the failures of an overload.
std::optional<Duration> drains_in(const Outlook& outlook, const Storm& overloaded) {
  const Outlook::Retries& retries = outlook.retries;
  if (!outlook.of_workers() || !retries.drain) return std::nullopt;
  const OutlookInput& input = outlook.input;
  const BudgetSettings& budget = input.workload.retry.process.budget;
  const Outlook::Failing& overload = retries.overload();
  const double room = outlook.service->bound + static_cast<double>(input.service->workers.workers);
  const double waiting = waiting_after(outlook);
  // Attempts without room in the service are refused when they get there. A refusal takes as long as so many answers.
  const double refusal =
      to_seconds(refusal_takes(*input.service)) / mean_service_seconds(*input.service);
  const double queue = std::min(waiting, room) + std::max(waiting - room, 0.0) * refusal;
  const auto after = [&](double saved) { return from_seconds((queue + saved) / *retries.drain); };
  const Duration length = input.outage_for;
  const AttemptResult failure = retries.turns_away ? error_of(input) : timed_out(Duration::zero());
  const double full = overloaded.banked(overload, cost_of_retry(budget, failure.failure), length);
  // In a freeze the budget is spent from the first timeout on.
  const double spent = outlook.has_outage(Disturbance::Kind::kFreeze)
                           ? (overload.at_first - overload.rate) *
                                 to_seconds(std::max(length - overload.takes, Duration::zero()))
                           : 0;
  Duration time = after(std::max(full - spent, 0.0));
  // What was spent is forgotten after a while, and may be spent again.
  if (budget.ttl != Duration::max() && saturating_add(time, length) > budget.ttl) {
    time = after(full);
  }
  const double at_first = outlook.service->capacity - overload.at_first;
  return at_first > 0 ? std::min(time, from_seconds(queue / at_first)) : time;
}

// The base of a first wait that spreads the clients over this window. 0 if the base alone does not: its cap,
// or a jitter of a fixed length, decides.
Duration base_for_window(BackoffSettings waits, Duration window) {
  const double seconds = to_seconds(window);
  const double digit = std::pow(10, std::floor(std::log10(seconds)) - 1);  // the second one
  waits.base = from_seconds(std::ceil(seconds / digit - 1e-9) * digit);
  const WaitSpan span = first_waits_span(waits);
  return to_seconds(span.to - span.from) < 0.999 * seconds ? Duration::zero() : waits.base;
}

// In a window w that begins at `from`, N clients ask for at most N (calls + 1 - exp(-(from + w) / think)) requests beside
// the load of those that are back.
Outlook::Herd look_at_herd(const Outlook& outlook) {
  const WorkloadOptions& workload = outlook.input.workload;
  const double clients = outlook.clients();
  const auto calls = static_cast<double>(workload.reconnect.calls);
  const WaitSpan span = first_waits_span(workload.reconnect.backoff);
  Outlook::Herd herd{.window = span.to - span.from};
  const double window = to_seconds(herd.window);
  herd.rate = window > 0 ? clients / window : kUnlimited;
  if (!outlook.service || outlook.service->capacity == kUnlimited) return herd;
  const Outlook::Service& service = *outlook.service;
  herd.room = std::max(service.capacity - outlook.wanted, 0.0);
  if (herd.room == 0) return herd;
  const double from = to_seconds(span.from), think = to_seconds(workload.mean_think_time());
  const auto asked = [&](double seconds) {
    const double has_wanted = think > 0 ? 1 - exponential(-(from + seconds) / think) : 1;
    return clients * (calls + has_wanted);
  };
  // A client has one attempt at a time.
  const auto owed = [&](double seconds) {
    return std::clamp(asked(seconds) - herd.room * seconds, 0.0, clients);
  };
  // The curve does less, the more are in it.
  const double may_wait =
      outlook.of_workers() || service.rate_limited ? std::max(service.late_from, 0.0) : 0;
  const auto in_time = [&](double time) { return service.in_time || owed(time) <= may_wait; };
  const auto shortest = [&](const auto& is_too_short) {
    return from_seconds(find_crossing(0, clients * (calls + 1) / herd.room, is_too_short).high);
  };
  herd.piles_up = owed(window);
  herd.in_time = in_time(window);
  herd.advised = shortest([&](double time) { return !in_time(time); });
  herd.all_room = shortest([&](double time) { return owed(time) > 0; });
  if (herd.window < herd.all_room) {
    herd.base_for_room = base_for_window(workload.reconnect.backoff, herd.all_room);
  }
  return herd;
}

}  // namespace

std::optional<std::size_t> advised_queue_length(const Outlook& outlook) {
  if (!outlook.service || !outlook.of_workers() || outlook.service->in_time) return std::nullopt;
  // Each host has a queue of its own.
  const double late_from =
      outlook.service->late_from / static_cast<double>(outlook.input.hosts.replicas);
  if (late_from < 2 || !std::isfinite(late_from)) return std::nullopt;
  return static_cast<std::size_t>(late_from / 2);
}

void note_unused_by_open_arrivals(OutlookInput& input, const WorkloadOptions& asked) {
  const WorkloadOptions defaults;
  if (asked.plan.on()) return;  // they are refused there
  input.clients_given = asked.clients != defaults.clients;
  // Waits may start from the think time.
  input.think_time_given = asked.think_time != defaults.think_time &&
                           asked.retry.backoff.from != BackoffFrom::kThinkTime;
}

Duration longest_request(const RetrySettings& retry, Duration timeout) {
  const std::vector<Duration> waits = first_waits(retry);
  const double most = or_unlimited(retry.limit.max_retries, LimitSettings::kUnlimited) + 1;
  const double attempts = !retry.limit.retry_on.timeout
                              ? 1
                              : attempts_before(retry.limit.deadline, timeout, waits, most);
  return std::min(time_of(waits, timeout, attempts), retry.limit.deadline);
}

namespace {

// Whether retries keep workers busy, or how fast their queue shrinks while all attempts fail.
void look_at_workers(Outlook& outlook, const Storm& overloaded) {
  const OutlookInput& input = outlook.input;
  const WorkloadOptions& workload = input.workload;
  const Outlook::Service& service = *outlook.service;
  Outlook::Retries& retries = outlook.retries;
  const Outlook::Failing& overload = retries.overload();
  // What the connections let through, if that is less than the service can do and waiting in line for one uses
  // up the timeout. More attempts than that keep the line full.
  const ConnectionSettings& pools = workload.connections;
  const bool narrow = outlook.connections && pools.pool_wait_counts && workload.has_timeout() &&
                      saturating_add(pools.pool_wait, service.p50) >= workload.timeout;
  const double through = narrow ? outlook.connections->through : kUnlimited;
  const bool held = refusals_hold(overloaded, outlook) || overload.rate >= through;
  retries.can_hold = held || (overload.rate >= service.capacity && !service.in_time);
  // A refusal may take longer than an answer.
  const double costs = retries.turns_away ? std::max(to_seconds(refusal_takes(*input.service)) /
                                                         mean_service_seconds(*input.service),
                                                     1.0)
                                          : 1;
  if (!held && overload.rate * costs < service.capacity) {
    retries.drain = std::min(service.capacity, through) - overload.rate * costs;
  }
}

}  // namespace

Outlook look_ahead(const OutlookInput& asked) {
  Outlook outlook{.input = asked, .processes = process_count(asked.workload)};
  OutlookInput& input = outlook.input;
  WorkloadOptions& workload = input.workload;
  if (workload.arrivals == Arrivals::kJob) {
    // Each worker needs a task. The others never start, but their processes are there.
    workload.processes = outlook.processes;
    workload.clients =
        static_cast<std::size_t>(std::min<std::uint64_t>(workload.clients, workload.job.tasks));
  }
  const RetrySettings& retry = workload.retry;
  const BudgetSettings& budget = retry.process.budget;
  if (budget.kind == BudgetSettings::Kind::kTokens && budget.ttl != Duration::max() &&
      input.outage && input.calm > Duration::zero() && input.calm < budget.ttl) {
    outlook.budget_saves = {.of = budget.ttl, .calm = input.calm};
  }
  outlook.client_rate = client_rate_of(workload);
  ProcessSettings others = retry.process;
  if (outlook.client_rate != kUnlimited) others.client_rate = {};
  outlook.gates = others.has_gates() || others.retry_switch.on();
  if (input.service) outlook.service = look_at_service(*input.service, workload.timeout);
  const Duration answer = input.service ? mean_answer(*input.service) : Duration::zero();
  outlook.wanted = requests_wanted(workload, answer);
  if (workload.connections.kept()) outlook.connections = look_at_pools(outlook, answer);
  if (outlook.service && outlook.service->capacity != kUnlimited) {
    outlook.service->used = outlook.wanted / outlook.service->capacity;
  }

  Outlook::Retries& retries = outlook.retries;
  retries.waits = first_waits(retry);
  retries.usual_waits =
      retry.limit.max_retries > 0 && !retry.pacer.on && retry.backoff == RetrySettings().backoff;
  retries.may_err = may_err(input);
  retries.turns_away = input.service && turns_away(*input.service);
  const Storm storm(input, outlook, retries.waits);
  const AttemptResult error = error_of(input);
  OutlookInput erring = input;
  erring.workload.retry = if_all_fail(retry, error.failure);
  const bool other_waits =
      !retry.pacer.on && erring.workload.retry.backoff.base != retry.backoff.base;
  auto waits = other_waits ? first_waits(erring.workload.retry) : retries.waits;
  MiddleRandom middle;
  for (Duration& each : waits) each = with_hint(retry.hint, each, error.retry_after, middle);
  const Storm of_errors(erring, outlook, waits);
  retries.hedges = storm.hedges();
  retries.hedge_delay = storm.hedge_delay();
  retries.attempts =
      1 + or_unlimited(retry.limit.max_retries, LimitSettings::kUnlimited) + retries.hedges;
  const auto failing = [&](const Storm& some, Duration takes, const AttemptResult& failure) {
    return some.failing(takes, retry.limit.retry_on.covers(failure));
  };
  retries.timeouts = workload.has_timeout()
                         ? failing(storm, workload.timeout, timed_out(Duration::zero()))
                         : storm.failing(retry.limit.deadline, false);
  retries.errors = failing(of_errors, error_takes(input), error);
  const Storm& overloaded = retries.turns_away ? of_errors : storm;
  if (outlook.of_workers() && outlook.service->capacity != kUnlimited) {
    look_at_workers(outlook, overloaded);
  }
  // Whoever accepts nothing for a while, or only when a worker is free, has a full accept queue.
  const bool fills = outlook.has_outage(Disturbance::Kind::kFreeze) ||
                     (input.service && input.service->accepts_when_free());
  outlook.repeats_syns =
      fills && !outlook.multiplexed() && workload.timeout > std::chrono::seconds(1);
  if (input.outage && input.outage_for > Duration::zero()) {
    outlook.outage = true;
    outlook.drains_in = drains_in(outlook, overloaded);
    if (loses_connections(workload, input.outage)) outlook.herd = look_at_herd(outlook);
  }
  warn(outlook, of_errors);
  return outlook;
}

}  // namespace retrystorm
