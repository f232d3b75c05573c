#include "model/run/outlook.h"

#include <algorithm>
#include <cmath>

#include "model/base/crossing.h"
#include "model/base/portable_math.h"
#include "model/retry/attempt_result.h"
#include "model/retry/hint_use.h"
#include "model/retry/median_waits.h"
#include "model/run/outlook_warnings.h"
#include "model/run/storm.h"
#include "model/service/conditions.h"

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

// The number of the first retry (from 1) whose wait is shorter than the one before it; 0 if none is.
std::size_t first_fall(const std::vector<Duration>& waits) {
  // Waits that are computed by quantiles are inexact.
  constexpr double kTolerance = 0.97;
  for (std::size_t i = 1; i < waits.size(); ++i) {
    if (to_seconds(waits[i]) < kTolerance * to_seconds(waits[i - 1])) return i + 1;
  }
  return 0;
}

double requests_wanted(const WorkloadOptions& workload, Duration answer) {
  const Duration round = saturating_add(workload.mean_think_time(), answer);
  const double wanted = workload.arrivals == Arrivals::kOpen
                            ? workload.rate
                            : static_cast<double>(workload.clients) / to_seconds(round);
  return std::min(wanted, client_rate_of(workload));
}

Outlook::Service look_at_service(const ServiceOptions& options, Duration timeout) {
  Outlook::Service service{.kind = options.capacity,
                           .capacity = capacity_of(options),
                           .errors_cost = options.errors.after == ErrorAfter::kService};
  service.late_from = late_from(options, timeout);
  service.has_rate_limit = options.rate_limit.rate > 0;
  service.rate_limited = options.rate_limit.rate > 0 && service.capacity >= options.rate_limit.rate;
  service.burst = bucket_size(options.rate_limit.burst, options.rate_limit.rate);
  const auto bound = [&service](double count) { service.bound = std::min(service.bound, count); };
  const double shed_above = or_unlimited(options.shed_above, 0);
  // Other requests wait in the accept queue.
  const double connected =
      or_unlimited(options.most_connections(), 0) + static_cast<double>(options.backlog);
  if (options.capacity == Capacity::kCurve) {
    service.best_concurrency = most_in_service(options);
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
  const bool limited = service.rate_limited && service.burst <= number + service.late_from;
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
         outage.kind == Disturbance::Kind::kLoad;
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

// What refusals leave of the capacity of workers if each keeps one busy. `service.rate_limited` or its bound
// turns attempts away.
double left_beside_refusals(const Outlook::Service& service, const ServiceOptions& options,
                            double attempts) {
  const double cost = to_seconds(refusal_takes(options));
  const double each = mean_service_seconds(options);
  const double workers = full_capacity(options) * each;
  if (service.rate_limited) {
    return std::max(workers - std::max(attempts - service.capacity, 0.0) * cost, 0.0) / each;
  }
  if (attempts * cost >= workers) return 0;
  // Each attempt that is served is none that is refused.
  return cost < each ? std::min((workers - attempts * cost) / (each - cost), workers / each)
                     : workers / each;
}

// Can a storm sustain itself because of what refusals cost? Either the attempts keep all workers busy
// although only some of them fail: W <= answered x service time + refused x cost. Or, while all fail, refusals
// leave so little that those in the queue are answered too late.
bool refusals_hold(const Storm& storm, const Outlook::Failing& failing,
                   const Outlook::Service& service, const ServiceOptions& options) {
  const double cost = to_seconds(refusal_takes(options));
  if (cost <= 0 || !turns_away(options) || service.kind != Capacity::kWorkers) return false;
  const double each = mean_service_seconds(options);
  const double workers = full_capacity(options) * each;
  constexpr int kSteps = 500;
  for (int i = 1; i <= kSteps; ++i) {
    const Storm::Coming coming =
        storm.coming(failing, static_cast<double>(i) / kSteps, failing.takes);
    const double refused = coming.attempts - coming.answered;
    if (coming.answered * each + refused * cost >= workers) return true;
  }
  if (failing.rate < service.capacity) return false;
  const double left = left_beside_refusals(service, options, failing.rate);
  if (service.rate_limited) return left < service.capacity;
  const bool queues = options.workers.order.kind == QueueOrder::Kind::kFifo &&
                      options.workers.drop.kind == QueueDrop::Kind::kNone;
  return queues && service.bound * full_capacity(options) >= service.late_from * left;
}

// The rate of requests below which they make fewer attempts than the service has capacity for, if
// they are more or fewer than those that are wanted.
double drains_below(const Storm& storm, const Outlook::Failing& failing,
                    const Outlook::Service& service, const ServiceOptions& options, double wanted) {
  const double capacity = service.capacity;
  if (!(wanted > 0 && std::isfinite(wanted))) return capacity;
  const double share = find_crossing(0, capacity / wanted, [&](double some) {
                         const Storm fewer = storm.times(some);
                         const Outlook::Failing all = fewer.failing(failing.takes, failing.again);
                         return (service.in_time || all.rate < capacity) &&
                                !refusals_hold(fewer, all, service, options);
                       }).low;
  return std::min(share * wanted, capacity);
}

Outlook::Connections look_at_pools(const Outlook& outlook, const WorkloadOptions& workload,
                                   Duration answer) {
  const ConnectionSettings& settings = workload.connections;
  // A client uses one at a time. Requests of open arrivals have no client.
  const auto processes = static_cast<double>(outlook.processes);
  const double clients =
      workload.arrivals == Arrivals::kOpen ? kUnlimited : std::ceil(outlook.clients / processes);
  const double most = or_unlimited(settings.most(), ConnectionSettings::kUnbounded);
  Outlook::Connections pools{.streams = settings.attempts_each(),
                             .multiplexed = settings.multiplexed(),
                             .longest_wait = settings.pool_wait,
                             .wait_counts = settings.pool_wait_counts};
  const double room = most * static_cast<double>(pools.streams);
  if (room < clients) pools.room = processes * room;
  const double through = answer > Duration::zero() ? pools.room / to_seconds(answer) : kUnlimited;
  if (outlook.service && through < outlook.service->capacity) pools.through = through;
  if (pools.multiplexed) {
    pools.of_process = most;
    pools.open = processes * most;
    return pools;
  }
  pools.of_process = std::min(most, clients);
  // A pool grows to the most that its process has used at a time: here the mean and three standard
  // deviations of a Poisson distribution, and one. Those that are not used are idle.
  const double busy = outlook.wanted / processes * to_seconds(answer);
  const double idle =
      std::min(3 * std::sqrt(busy) + 1,
               or_unlimited(settings.pool_max_idle, ConnectionSettings::kUnbounded));
  pools.open = processes * std::min(busy + idle, pools.of_process);
  if (outlook.clients > 0) pools.open = std::min(pools.open, outlook.clients);
  return pools;
}

// For how long the queue of an outage drains at most, while everything fails. `saved` retries are left of
// the budgets at its end, of `full` ones.
Duration drains_in(double waiting, double saved, double full, const Outlook& outlook,
                   const Storm& storm, Duration outage) {
  const Outlook::Failing& failing = outlook.retries.overload();
  const double drain = *outlook.retries.drain;
  const auto after = [&](double retries) { return from_seconds((waiting + retries) / drain); };
  Duration time = after(saved);
  // What was spent in the outage is forgotten after a while, and may be spent again.
  if (storm.memory() != Duration::max() && saturating_add(time, outage) > storm.memory()) {
    time = after(std::max(saved, full));
  }
  const double at_first = outlook.service->capacity - failing.at_first;
  return at_first > 0 ? std::min(time, from_seconds(waiting / at_first)) : time;
}

// Is `bound` at most twice as long as the queue drains if only what comes too late is retried, and nothing by
// a budget that the outage has emptied?
bool is_near(Duration bound, double waiting, const Outlook& outlook) {
  const Outlook::Service& service = *outlook.service;
  const Outlook::Failing& failing = outlook.retries.overload();
  const double from = std::min(service.late_from, outlook.retries.hedged_from);
  const double late = failing.limited_by_budget ? 0 : std::max(waiting - from, 0.0);
  const double calm = std::min(outlook.wanted, failing.rate);
  return to_seconds(bound) <=
         2 * (late / *outlook.retries.drain + (waiting - late) / (service.capacity - calm));
}

Outlook::Outage look_at_outage(const OutlookInput& input, const Outlook& outlook,
                               const Storm& storm, const Storm& overloaded) {
  const WorkloadOptions& workload = input.workload;
  Outlook::Outage outage{.what = *input.outage, .length = input.outage_for};
  const double seconds = to_seconds(outage.length);
  const double factor = outage.what.value;
  const bool more = outage.what.kind == Disturbance::Kind::kLoad;
  const bool open = workload.arrivals == Arrivals::kOpen;
  const Duration think =
      more ? scale(workload.mean_think_time(), 1 / factor) : workload.mean_think_time();
  const Duration answer = input.service ? mean_answer(*input.service) : Duration::zero();
  const double wanted =
      !more  ? outlook.wanted
      : open ? outlook.wanted * factor
             : static_cast<double>(workload.clients) / to_seconds(saturating_add(think, answer));
  const Outlook::Retries& retries = outlook.retries;
  const auto failure = failure_in(outage.what, input.service.value_or(ServiceOptions()));
  const bool errs = failure ? failure->outcome == Outcome::kError : retries.turns_away;
  const Outlook::Failing& failing = errs ? retries.errors : retries.timeouts;
  const Duration life = std::min(failing.lasts, outage.length);
  using Kind = Disturbance::Kind;
  const Kind kind = outage.what.kind;
  const bool all_fail =
      kind == Kind::kFreeze || kind == Kind::kDrop || (kind == Kind::kErrors && factor >= 1);
  if (open) {
    outage.wanted = wanted * seconds;
    outage.unanswered = wanted * to_seconds(life);
  } else {
    const auto clients = static_cast<double>(workload.clients);
    outage.unanswered = clients_stuck(clients, think, life);
    outage.at_most = !all_fail;
    outage.wanted =
        all_fail ? requests_begun(clients, think, life, outage.length) : wanted * seconds;
  }
  if (outage.what.kind == Disturbance::Kind::kErrors) outage.unanswered *= factor;
  if (outage.what.kind == Disturbance::Kind::kThrottle) {
    outage.unanswered *= wanted > factor ? 1 - factor / wanted : 0;
  }
  if (!outlook.service) return outage;
  const Outlook::Service& service = *outlook.service;
  outage.errors_cost = service.errors_cost;
  const bool workers = service.kind == Capacity::kWorkers;
  const Outlook::Failing& overload = retries.overload();
  const double attempts =
      more ? overloaded.with_load(factor).failing(overload.takes, overload.again).rate
           : overload.rate;
  double late = 0;  // attempts of the outage that arrive after it
  const double cost =
      cost_of_retry(workload.retry.process.budget,
                    (retries.turns_away ? error_of(input) : timed_out(Duration::zero())).failure);
  const double full = storm.banked(overload, cost, outage.length);
  double saved = storm.banked(overload, cost, Duration::zero());
  if (outage.what.kind == Disturbance::Kind::kFreeze) {
    // A kept connection holds one request at most, because a timeout closes it. One that is multiplexed
    // holds any number.
    const double kept = !outlook.connections ? 0
                        : outlook.connections->multiplexed
                            ? Outlook::kUnlimited
                            : std::min(outlook.connections->open, outage.wanted);
    // Whatever the service turns away otherwise, it turns away nothing while it is frozen.
    const auto requests = [&](Duration time) {
      return open ? wanted * to_seconds(time)
                  : requests_begun(static_cast<double>(workload.clients), think, life, time);
    };
    const double in_long_run = retries.timeouts.rate * seconds;
    const double all =
        std::min(attempts_within(requests, outage.length, retries.timeouts.attempts,
                                 workload.timeout, storm.waits_after(workload.timeout)),
                 retries.timeouts.limited_by_pools ? in_long_run + outlook.connections->room
                                                   : std::max(outage.wanted, in_long_run));
    outage.waiting = std::min(static_cast<double>(input.service->backlog) + kept, all);
    const auto begun = [&](Duration time) {
      return open ? wanted * to_seconds(time)
                  : clients_stuck(static_cast<double>(workload.clients), think, time);
    };
    outage.attempts_at_end = attempts_at_end(begun, outage.length, life, workload.timeout,
                                             storm.waits_after(workload.timeout));
    if (retries.timeouts.limited_by_pools || retries.timeouts.limited_by_client_rate) {
      outage.attempts_at_end = std::min(outage.attempts_at_end, retries.timeouts.rate);
    }
    // If the accept queue is full, the client's kernel repeats the SYN each second. So attempts from the
    // last whole seconds of the timeout arrive too.
    const double syn_repeats = std::max(std::ceil(to_seconds(workload.timeout)) - 1, 0.0);
    outage.burst =
        workload.has_timeout()
            ? outage.waiting + outage.attempts_at_end * (to_seconds(workload.timeout) + syn_repeats)
            : outage.unanswered;
    // Those that wait already are not among them.
    if (outage.waiting < all) {
      // Without a timeout each comes in the end.
      late = workload.has_timeout()
                 ? std::min(outage.attempts_at_end * syn_repeats, all - outage.waiting)
                 : std::max(outage.unanswered - outage.waiting, 0.0);
    }
    saved = storm.left_after(overload, cost, outage.length);
  } else {
    Conditions conditions;
    outage.capacity = capacity_of(with_conditions(apply(outage.what, conditions), *input.service));
    if (piles_up(outage.what)) {
      // Attempts fail only if the requests alone are too many.
      if (wanted <= outage.capacity) {
        outage.unanswered = 0;
      } else if (workers) {
        outage.waiting = (attempts - outage.capacity) * seconds;
      }
    }
  }
  // Attempts without room in the service are refused when they get there.
  const double room =
      service.bound + (workers ? static_cast<double>(input.service->workers.workers) : 0);
  const double work = std::min(outage.waiting, room);
  // A refusal takes as long as so many answers.
  const double refusal =
      workers ? to_seconds(refusal_takes(*input.service)) / mean_service_seconds(*input.service)
              : 0;
  if (workers && retries.drain && work > 0) {
    const double queue = std::min(outage.waiting + late, room) +
                         std::max(outage.waiting + late - room, 0.0) * refusal;
    outage.drains_in = drains_in(queue, saved, full, outlook, storm, outage.length);
    outage.drains_in_is_near = is_near(*outage.drains_in, queue, outlook);
  }
  // What was saved is spent in the outage.
  if (outage.at_most && piles_up(outage.what)) {
    // A request ends when it is served, or given up.
    const auto clients = static_cast<double>(workload.clients);
    outage.wanted =
        std::min(outage.wanted,
                 outage.capacity * seconds + requests_begun(clients, think, life, outage.length));
  }
  if (piles_up(outage.what) && work > 0) outage.waiting = std::min(outage.waiting + saved, room);
  if (service.capacity != kUnlimited) {
    const double refused = std::max(outage.waiting - room, 0.0);
    const double does = workers ? full_capacity(*input.service) : service.capacity;
    outage.work = from_seconds(std::min(outage.waiting, room) / service.capacity);
    if (refused > 0 && refusal > 0) {
      outage.work = saturating_add(outage.work, from_seconds(refused * refusal / does));
    }
  }
  return outage;
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

Outlook::Herd look_at_herd(const OutlookInput& input, const Outlook& outlook) {
  const WorkloadOptions& workload = input.workload;
  const WaitSpan span = first_waits_span(workload.reconnect.backoff);
  Outlook::Herd herd{.clients = static_cast<double>(workload.clients),
                     .window = span.to - span.from,
                     .calls = static_cast<double>(workload.reconnect.calls),
                     .back = span.to};
  const double window = to_seconds(herd.window);
  herd.rate = window > 0 ? herd.clients / window : kUnlimited;
  if (!outlook.service || outlook.service->capacity == kUnlimited) return herd;
  const Outlook::Service& service = *outlook.service;
  const double room = std::max(service.capacity - outlook.wanted, 0.0);  // beside the load
  herd.capacity = room / herd.calls;
  if (room == 0) {
    herd.back = Duration::max();
    return herd;
  }
  // The curve serves less, the more wait beyond its best concurrency.
  const bool curve = service.kind == Capacity::kCurve && !service.rate_limited &&
                     std::isfinite(service.best_concurrency);
  const double best = curve ? service.best_concurrency : 0;
  const auto serves = [&](double waiting) {
    return curve && waiting > 0 ? input.service->curve().throughput(best + waiting)
                                : service.capacity;
  };
  const auto pile_up_of_some = [&](double clients, double seconds) {
    return pile_up_of({.clients = clients,
                       .calls = herd.calls,
                       .think = workload.mean_think_time(),
                       .from = span.from,
                       .window = from_seconds(seconds),
                       .load = outlook.wanted},
                      serves);
  };
  // By chance more come at a time, and on the curve that grows: here by two standard deviations.
  const auto pile_up_within = [&](double seconds) {
    const double mean = pile_up_of_some(herd.clients, seconds);
    return curve && mean > 0 ? pile_up_of_some(herd.clients + 2 * std::sqrt(herd.clients), seconds)
                             : mean;
  };
  const auto in_time = [&](double owed) {
    return service.in_time ||
           (std::min(owed, herd.clients) + (owed > 0 ? best : 0) <= service.late_from &&
            serves(owed) > outlook.wanted);
  };
  const double owed = pile_up_within(window);
  // A client has one attempt at a time.
  herd.piles_up = owed < 1 ? 0 : std::min(best + owed, herd.clients);
  herd.in_time = in_time(owed);
  // Connects wait in the queue with requests that came before them. Those of several calls wait anew.
  herd.back = saturating_add(
      span.to, from_seconds(owed / (herd.calls > 1 ? room : std::min(serves(owed), serves(0)))));
  // At the end of the window w a client makes its connect, and its request if it has wanted one by then:
  // w = N (calls + 1 - exp(-w / think)) / room. Below, more come than there is room for.
  const double most = herd.clients * (herd.calls + 1) / room;
  const double think = to_seconds(workload.mean_think_time());
  const double enough = find_crossing(0, most, [&](double seconds) {
                          const double by_then = to_seconds(span.from) + seconds;
                          const double wanted = think > 0 ? 1 - exponential(-by_then / think) : 1;
                          return seconds < herd.clients * (herd.calls + wanted) / room;
                        }).high;
  herd.all_room = from_seconds(enough);
  if (window < enough) {
    herd.base_for_room = base_for_window(workload.reconnect.backoff, herd.all_room);
  }
  herd.advised = from_seconds(find_crossing(0, enough, [&](double seconds) {
                                return !in_time(pile_up_within(seconds));
                              }).high);
  return herd;
}

}  // namespace

std::optional<std::size_t> advised_queue_length(const Outlook& outlook) {
  if (!outlook.service || outlook.service->kind != Capacity::kWorkers) return std::nullopt;
  const Outlook::Service& service = *outlook.service;
  if (service.in_time || service.late_from < 2 || !std::isfinite(service.late_from)) {
    return std::nullopt;
  }
  return static_cast<std::size_t>(service.late_from / 2);
}

void note_unused_by_open_arrivals(OutlookInput& input, const WorkloadOptions& asked) {
  const WorkloadOptions defaults;
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

Outlook look_ahead(const OutlookInput& asked) {
  OutlookInput input = asked;
  if (input.workload.arrivals == Arrivals::kJob) {
    // Each worker needs a task. The others never start, but their processes are there.
    input.workload.processes = process_count(asked.workload);
    input.workload.clients = static_cast<std::size_t>(
        std::min<std::uint64_t>(asked.workload.clients, asked.workload.job.tasks));
  }
  const WorkloadOptions& workload = input.workload;
  const RetrySettings& retry = workload.retry;
  Outlook outlook{.arrivals = workload.arrivals};
  if (workload.arrivals != Arrivals::kOpen) outlook.clients = static_cast<double>(workload.clients);
  outlook.processes = process_count(workload);
  outlook.budget = retry.process.budget.name;
  const BudgetSettings& budget = retry.process.budget;
  const bool tokens = budget.kind == BudgetSettings::Kind::kTokens;
  outlook.budget_is_bucket = tokens && budget.ttl == Duration::max();
  if (tokens && input.outage && input.calm > Duration::zero() && input.calm < budget.ttl &&
      !outlook.budget_is_bucket) {
    outlook.budget_saves = {.of = budget.ttl, .calm = input.calm};
  }
  outlook.budget_is_concurrent = budget.kind == BudgetSettings::Kind::kConcurrent;
  outlook.client_rate = client_rate_of(workload);
  ProcessSettings others = retry.process;
  if (outlook.client_rate != kUnlimited) others.client_rate = {};
  outlook.gates = others.has_gates() || others.retry_switch.on();
  if (input.service) {
    outlook.service = look_at_service(*input.service, workload.timeout);
  }
  const Duration answer = input.service ? mean_answer(*input.service) : Duration::zero();
  outlook.wanted = requests_wanted(workload, answer);
  if (workload.connections.kept()) outlook.connections = look_at_pools(outlook, workload, answer);

  Outlook::Retries& retries = outlook.retries;
  retries.waits = first_waits(retry);
  retries.falls_at = first_fall(retries.waits);
  UnusedOptions changed;
  find_unused<BackoffSettings>(changed, retry.backoff, RetrySettings().backoff, "");
  retries.usual_waits = retry.limit.max_retries > 0 && !retry.pacer.on && changed.empty();
  retries.may_err = may_err(input);
  retries.turns_away = input.service && turns_away(*input.service);
  Storm storm(input, outlook.wanted, outlook.processes, retries.waits);
  const AttemptResult error = error_of(input);
  OutlookInput erring = input;
  erring.workload.retry = if_all_fail(retry, error.failure);
  const bool other_waits =
      !retry.pacer.on && erring.workload.retry.backoff.base != retry.backoff.base;
  auto waits = other_waits ? first_waits(erring.workload.retry) : retries.waits;
  MiddleRandom middle;
  for (Duration& each : waits) each = with_hint(retry.hint, each, error.retry_after, middle);
  Storm of_errors(erring, outlook.wanted, outlook.processes, waits);
  if (outlook.connections) {
    storm.use(*outlook.connections);
    of_errors.use(*outlook.connections);
  }
  retries.hedge = retry.hedge;
  retries.hedges = storm.hedges();
  retries.hedge_delay = storm.hedge_delay();
  retries.attempts =
      1 + or_unlimited(retry.limit.max_retries, LimitSettings::kUnlimited) + retries.hedges;
  const auto failing = [&](const Storm& some, Duration takes, const AttemptResult& failure) {
    Outlook::Failing result = some.failing(takes, retry.limit.retry_on.covers(failure));
    result.budget_lasts =
        some.budget_lasts(result, cost_of_retry(retry.process.budget, failure.failure));
    return result;
  };
  retries.timeouts = workload.has_timeout()
                         ? failing(storm, workload.timeout, timed_out(Duration::zero()))
                         : storm.failing(retry.limit.deadline, false);
  retries.errors = failing(of_errors, error_takes(input), error);
  const Outlook::Failing& overload = retries.overload();
  const Storm& overloaded = retries.turns_away ? of_errors : storm;
  if (outlook.service) {
    Outlook::Service& service = *outlook.service;
    if (service.capacity != kUnlimited) service.used = outlook.wanted / service.capacity;
    if (retries.hedges > 0) {
      retries.hedged_from = late_from(*input.service, retries.hedge_delay);
    }
    if (service.kind == Capacity::kCurve) {
      const auto held_by = [&](double attempts) {
        const double limit = input.service->rate_limit.rate;
        const double offered = limit > 0 ? std::min(limit, attempts) : attempts;
        const ServiceCurve curve = input.service->curve();
        const double most = most_in_service(*input.service);
        // With so few in it, it never does less than its best.
        const bool falls = most >= curve.best_concurrency();
        const double held = falls                        ? curve.falling_concurrency(offered)
                            : offered < service.capacity ? kUnlimited
                                                         : 0;
        return std::max(service.late_from, held);
      };
      service.held_from = held_by(overload.rate);
    } else if (service.capacity != kUnlimited) {
      if (const auto& pools = outlook.connections;
          pools && pools->wait_counts && workload.has_timeout() &&
          saturating_add(pools->longest_wait, service.p50) >= workload.timeout) {
        retries.narrow = pools->through;
      }
      const bool held = refusals_hold(overloaded, overload, service, *input.service) ||
                        overload.rate >= retries.narrow;
      retries.can_hold = held || (overload.rate >= service.capacity && !service.in_time);
      if (service.in_time && retries.hedged_from < service.bound) {
        // If each attempt found no room with the same chance. But a hedge follows a refusal at once, and finds the
        // queue as full.
        const double refused = std::max(1 - service.capacity / overload.rate, 0.0);
        const double requests = overload.rate / overload.attempts;
        retries.answered =
            std::min(requests * (1 - std::pow(refused, overload.attempts)), service.capacity);
      }
      retries.drains_below =
          drains_below(overloaded, overload, service, *input.service, outlook.wanted);
      // A refusal may take longer than an answer.
      const double costs = retries.turns_away && service.kind == Capacity::kWorkers
                               ? std::max(to_seconds(refusal_takes(*input.service)) /
                                              mean_service_seconds(*input.service),
                                          1.0)
                               : 1;
      if (!held && overload.rate * costs < service.capacity) {
        retries.drain = std::min(service.capacity, retries.narrow) - overload.rate * costs;
      }
    }
  }
  // Whoever accepts nothing for a while, or only when a worker is free, has a full accept queue.
  const bool fills = (input.outage && input.outage->kind == Disturbance::Kind::kFreeze) ||
                     (input.service && input.service->accepts_when_free());
  outlook.repeats_syns =
      fills && !workload.connections.multiplexed() && workload.timeout > std::chrono::seconds(1);
  if (input.outage && input.outage_for > Duration::zero()) {
    outlook.outage = look_at_outage(input, outlook, storm, overloaded);
    if (loses_connections(workload, input.outage)) {
      outlook.herd = look_at_herd(input, outlook);
      outlook.outage->unanswered = 0;
    }
  }
  warn(outlook, input, of_errors);
  return outlook;
}

}  // namespace retrystorm
