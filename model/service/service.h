// A service as an engine sees it: admission, then the queue and its capacity.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <utility>

#include "model/base/duration.h"
#include "model/base/latency.h"
#include "model/base/random.h"
#include "model/service/admission.h"
#include "model/service/service_observer.h"
#include "model/service/service_options.h"
#include "model/service/service_queue.h"
#include "model/service/worker_queue.h"

namespace retrystorm {

// The whole interface between engines and a service. An engine
// - passes each request to `arrive`, and answers those that are rejected there at once;
// - calls `take` when `next_event` is due, until it returns nothing, and answers what it returns:
//   finished requests, and requests rejected late. An event need not yield a request;
// - calls `leave` for each request, arrived or taken, once it has been answered, or else `lose`;
// - asks for `next_event` again after each of these calls.
//
// An admitted request may still be returned with a rejection: because it was dropped from the
// queue, or because its rejection took a worker's time. The service hides whether requests wait for
// workers or are all served at once, their order, and changes over time.
//
// The class has no clock and no lock. The caller passes the time, which must not go back, and
// prevents concurrent calls. `Item` is what the engine keeps for a request.
template <typename Item>
class Service {
 public:
  // Identifies a request in the service, for `cancel`.
  using Ticket = std::uint64_t;
  static constexpr Ticket kNoTicket = std::numeric_limits<Ticket>::max();

  struct Arrival {
    Answer answer;              // rejected: the engine keeps the item
    Ticket ticket = kNoTicket;  // valid if admitted
  };

  struct Taken {
    Item item;
    Answer answer;
    TimePoint admitted{};  // set if times are recorded
  };

  // With the same seed, requests that arrive in the same order get the same answers. `start`: when
  // the service starts.
  Service(const ServiceOptions& options, std::uint64_t seed, TimePoint start = {})
      : has_workers_(options.capacity == Capacity::kWorkers),
        rejection_cost_(has_workers_ && options.workers.rejection_cost > Duration::zero()),
        random_(seed, kStream),
        errors_(options.errors),
        workers_(options.workers),
        queue_(options.curve()),
        admission_(options.admission(start)),
        hint_(options.hint) {}

  // Applies new settings from now on. The kind of capacity cannot change. All requests stay.
  void configure(TimePoint now, const ServiceOptions& options) {
    admission_.configure(now, options.rate_limit, options.shed_above, options.shed_status);
    hint_ = options.hint;
    errors_ = options.errors;
    if (has_workers_) {
      rejection_cost_ = options.workers.rejection_cost > Duration::zero();
      workers_.configure(now, options.workers, random_);
    } else {
      queue_.set_curve(options.curve());
    }
  }

  Arrival arrive(TimePoint now, Item& item) {
    ++counts_.offered;
    ++connections_;
    if (is_abandoned_ && is_abandoned_(item)) return {.answer = count_abandoned()};
    if (has_workers_) return arrive_at_workers(now, item);
    const Answer answer = decide(admission_.admit(now, queue_.concurrency()));
    if (answer.rejection) return {.answer = answer};
    return {.answer = answer, .ticket = queue_.arrive(now, std::move(item))};
  }

  // From now on, requests for which this returns true are not served: they are rejected as
  // abandoned when they arrive, or when a worker would take them. They get no answer. Call it before
  // the first request arrives.
  void skip_if(std::function<bool(const Item&)> is_abandoned) {
    is_abandoned_ = is_abandoned;
    workers_.skip_if(std::move(is_abandoned));
  }

  // From now on, a worker is not free before `leave` is called for the request that it has served. Call it
  // before the first request arrives.
  void hold_workers() { workers_.hold_workers(); }

  // From now on, a request is taken after this share of its service time. `resume` must follow for the rest, and then
  // it is taken again. Only with workers. Call it before the first request arrives.
  void serve_first(double share) { workers_.serve_first(share); }
  void resume(TimePoint now, Item item, TimePoint admitted) {
    workers_.resume(now, std::move(item), admitted, random_);
  }

  // Starts to record the times of requests in the service, for `take_times`.
  void record_times() { times_.emplace(); }

  // `TimePoint::max()`: no event unless a request arrives or leaves.
  [[gnu::always_inline]] TimePoint next_event() const {
    return std::min(has_workers_ ? workers_.next_event() : queue_.next_departure(),
                    admission_.next_event());
  }

  std::optional<Taken> take(TimePoint now) {
    if (now >= admission_.next_event()) admission_.advance(now);
    if (has_workers_) return take_from_workers(now);
    const TimePoint admitted = times_ ? queue_.front_arrived() : TimePoint();
    auto item = queue_.depart(now);
    if (!item) return std::nullopt;
    return served(std::move(*item), admitted);
  }

  // Takes a request, due or not. For a server that ends or restarts.
  std::optional<Taken> take_any() {
    if (has_workers_) return taken(workers_.take_any());
    const TimePoint admitted = times_ ? queue_.front_arrived() : TimePoint();
    auto item = queue_.take_front();
    if (!item) return std::nullopt;
    return served(std::move(*item), admitted);
  }

  // Takes a request that waits for a worker, for a server that gives it to another one. Empty if there is none.
  std::optional<Item> take_waiting() {
    std::optional<Item> item = workers_.take_waiting();
    if (item) {
      --connections_;
      ++counts_.lost;
    }
    return item;
  }

  // For prefetching: a request that will be taken soon, or some other one. Null if none is known.
  const Item* soon() const { return has_workers_ ? workers_.soon() : queue_.soon(); }

  // A request has been answered. `received`: its client is assumed to have the answer. `admitted`:
  // the time that `take` returned. It is ignored for a rejected request.
  void leave(TimePoint now, const Answer& answer, bool received, TimePoint admitted = {}) {
    --connections_;
    if (answer.rejection) return;
    leave_capacity();
    if (has_workers_) workers_.take_up(now, random_);
    ++counts_.completed;
    if (answer.failed) {
      ++counts_.failed;
      return;
    }
    if (received) ++counts_.served;
    if (times_) (received ? times_->served : times_->late).add(now - admitted);
  }

  // Call instead of `leave` for a request from `take_any` that gets no answer.
  void lose(const Answer& answer) {
    --connections_;
    if (answer.rejection) return;
    leave_capacity();
    ++counts_.lost;
  }

  // Cancels a request that was not taken yet. It leaves at once and is never taken.
  void cancel(TimePoint now, Ticket ticket) {
    --connections_;
    if (has_workers_) return workers_.cancel(now, ticket, random_);
    queue_.cancel(ticket);
  }

  // Requests admitted, and not yet answered or dropped.
  std::size_t concurrency() const {
    return has_workers_ ? workers_.concurrency() : queue_.concurrency();
  }

  // As above, plus rejected requests that are not yet answered: all that hold a connection.
  std::size_t connections() const { return connections_; }

  // The current time that a request takes in the service. With workers it is an estimate for a
  // request that arrives now and is served after all that wait.
  Duration current_delay() const {
    return has_workers_ ? workers_.expected_time() : queue_.current_delay();
  }

  // Of the requests that wait for a worker, those that are so. Looks at each.
  template <typename Predicate>
  std::size_t count_waiting(const Predicate& is_so) const {
    return workers_.count_waiting(is_so);
  }

  // Empty without workers.
  std::optional<WorkerState> worker_state() const {
    if (!has_workers_) return std::nullopt;
    return WorkerState{
        .workers = workers_.workers(), .busy = workers_.busy(), .waiting = workers_.waiting()};
  }

  // Times since the last call. Empty if times are not recorded.
  TimesInService take_times() {
    return times_ ? std::exchange(*times_, TimesInService()) : TimesInService();
  }

  // Counts since the start.
  const ServiceCounts& counts() const { return counts_; }

  // The current rate limit and its use since the start. Empty without a rate limit.
  std::optional<ProvisionedCapacity> capacity(TimePoint now) const {
    const RateLimit& limit = admission_.rate_limit();
    if (!limit.on()) return std::nullopt;
    return ProvisionedCapacity{.rate = limit.rate(), .use = limit.use(now)};
  }

 private:
  // The service's random stream, separate from those of all clients.
  static constexpr std::uint64_t kStream = std::numeric_limits<std::uint64_t>::max() - 2;

  // The hint after a full queue, or after a drop from the queue.
  static constexpr Duration kAfterDropping = std::chrono::seconds(1);

  // Completes and counts the answer to a new request. `answer` is the admission's decision.
  Answer decide(Answer answer) {
    if (answer.rejection) {
      answer.retry_after = offered_hint(hint_, answer.retry_after, random_);
    } else if (fails(errors_, ErrorAfter::kAdmission, random_)) {
      answer = {
          .rejection = Rejection::kError, .with = errors_.status, .retry_after = hint_at_error()};
    }
    ++(answer.rejection ? counts_.rejected[index_of(*answer.rejection)] : counts_.admitted);
    return answer;
  }

  Duration hint_at_error() {
    return hints_at_errors(hint_, errors_.status) ? offered_hint(hint_, Duration::zero(), random_)
                                                  : Duration::zero();
  }

  Answer count_abandoned() {
    ++counts_.rejected[index_of(Rejection::kAbandoned)];
    return {.rejection = Rejection::kAbandoned};
  }

  std::optional<Taken> served(Item item, TimePoint admitted) {
    std::optional<Taken> taken(Taken{std::move(item), {}, admitted});
    if (fails(errors_, ErrorAfter::kService, random_)) {
      taken->answer = {.failed = true, .with = errors_.status, .retry_after = hint_at_error()};
    }
    return taken;
  }

  void leave_capacity() {
    if (has_workers_) {
      workers_.leave();
    } else {
      queue_.leave();
    }
  }

  // Not inlined, so that the path without workers keeps its registers.
  [[gnu::noinline]] Arrival arrive_at_workers(TimePoint now, Item& item) {
    workers_.advance(now, random_);
    Answer answer = admission_.admit(now, workers_.concurrency());
    if (!answer.rejection && workers_.full()) {
      answer = {.rejection = Rejection::kQueueFull, .retry_after = kAfterDropping};
    }
    answer = decide(answer);
    if (!answer.rejection) {
      return {.answer = answer, .ticket = workers_.arrive(now, std::move(item), random_)};
    }
    if (rejection_cost_) {
      return {.answer = {}, .ticket = workers_.refuse(now, std::move(item), answer, random_)};
    }
    return {.answer = answer};
  }

  [[gnu::noinline]] std::optional<Taken> take_from_workers(TimePoint now) {
    return taken(workers_.take(now, random_));
  }

  std::optional<Taken> taken(std::optional<typename WorkerQueue<Item>::Given> given) {
    if (!given) return std::nullopt;
    if (given->answer == nullptr) return served(std::move(given->item), given->arrived);
    Answer answer = *given->answer;
    if (answer.rejection == Rejection::kAbandoned) {
      answer = count_abandoned();
    } else if (answer.rejection == Rejection::kDropped) {
      ++counts_.rejected[index_of(Rejection::kDropped)];
      answer.retry_after = offered_hint(hint_, kAfterDropping, random_);
    }
    return Taken{std::move(given->item), answer, given->arrived};
  }

  const bool has_workers_;
  bool rejection_cost_;  // true if a rejection takes a worker's time
  std::size_t connections_ = 0;
  ClientRandom random_;
  std::function<bool(const Item&)> is_abandoned_;  // empty: all are served
  ServiceCounts counts_;
  ErrorSettings errors_;
  WorkerQueue<Item> workers_;
  ServiceQueue<Item> queue_;  // if there are no workers
  AdmissionControl admission_;
  HintOfferSettings hint_;
  std::optional<TimesInService> times_;
};

// Reports what happened since the last call, and the current state.
class IntervalTaker {
 public:
  // Adds the times of requests to `times`, and leaves them out of the result.
  template <typename Item>
  ServerInterval take(TimePoint now, Service<Item>& service, TimesInService& times) {
    times.add(service.take_times());
    const ServiceCounts before = std::exchange(taken_, service.counts());
    ServerInterval interval{.concurrency = service.concurrency(),
                            .last_delay = service.current_delay(),
                            .workers = service.worker_state(),
                            .capacity = service.capacity(now),
                            .counts = taken_ - before};
    if (interval.capacity) {
      const CapacityUse used_before = std::exchange(used_, interval.capacity->use);
      interval.capacity->use = used_ - used_before;
    }
    return interval;
  }
  template <typename Item>
  ServerInterval take(TimePoint now, Service<Item>& service) {
    TimesInService times;
    ServerInterval interval = take(now, service, times);
    interval.times = times.quantiles();
    return interval;
  }

 private:
  ServiceCounts taken_;
  CapacityUse used_;
};

}  // namespace retrystorm
