// A service as an engine drives it: admission, then the queue and its capacity.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>

#include "model/base/duration.h"
#include "model/base/latency.h"
#include "model/base/random.h"
#include "model/service/admission.h"
#include "model/service/errors.h"
#include "model/service/rejection.h"
#include "model/service/server_hint.h"
#include "model/service/service_interval.h"
#include "model/service/service_options.h"
#include "model/service/service_queue.h"
#include "model/service/worker_queue.h"

namespace retrystorm {

// All that engines know of a service. An engine
//  - brings each request by `arrive`, and answers at once those that are rejected there;
//  - calls `take` when `next_event` is due, until it gives nothing more, and answers what it gives:
//    what is done, and what the service has come to reject. An event need not yield a request;
//  - calls `leave` for each request, arrived or taken, once it has been answered, or `lose`;
//  - asks for `next_event` again after each of these calls.
// A request that is admitted may be given out with a rejection none the less: it was dropped from
// the queue, or turned away at once where that takes time.
// Whether requests wait for a worker or are all served at once, in which order, and what changes
// with time is the service's own affair.
//
// Knows no clock and no thread: the engine says what time it is, never earlier than before, and
// sees to it that no two calls run at once. `Item` is what the engine must know of a request.
template <typename Item>
class Service {
 public:
  // A request in the service, for `cancel`.
  using Ticket = std::uint64_t;
  static constexpr Ticket kNoTicket = std::numeric_limits<Ticket>::max();

  struct Arrival {
    Answer answer;              // rejected: the item is still the engine's
    Ticket ticket = kNoTicket;  // admitted
  };

  struct Taken {
    Item item;
    Answer answer;
    TimePoint admitted{};  // where times are recorded
  };

  // With the same seed, requests that come in the same order are answered alike.
  // `start`: when it begins to be there.
  Service(const ServiceOptions& options, std::uint64_t seed, TimePoint start = {})
      : has_workers_(options.capacity == Capacity::kWorkers),
        rejection_cost_(has_workers_ && options.workers.rejection_cost > Duration::zero()),
        admission_(options.admission(start)),
        queue_(options.curve()),
        workers_(options.workers),
        hint_(options.hint),
        errors_(options.errors),
        random_(seed, kStream) {}

  // From now on these are its settings, but for the kind of its capacity. What it holds, it keeps.
  void configure(TimePoint now, const ServiceOptions& options) {
    admission_.configure(now, options.rate_limit, options.shed_above);
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
    if (has_workers_) return arrive_at_workers(now, item);
    const Answer answer = decide(admission_.admit(now, queue_.concurrency()));
    if (answer.rejection) return {.answer = answer};
    return {.answer = answer, .ticket = queue_.arrive(now, std::move(item))};
  }

  // From now on it is recorded how long requests are in the service, for `take_times`.
  void record_times() { times_.emplace(); }

  // `TimePoint::max()`: never, unless something arrives or leaves.
  TimePoint next_event() const {
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

  // Takes a request whether or not its time has come: for a server that ends, or is started anew.
  std::optional<Taken> take_any() {
    if (has_workers_) return taken(workers_.take_any());
    const TimePoint admitted = times_ ? queue_.front_arrived() : TimePoint();
    auto item = queue_.take_front();
    if (!item) return std::nullopt;
    return served(std::move(*item), admitted);
  }

  // A request has been answered. `received`: its client is taken to have its answer. `admitted` is
  // what `take` gave with it, of no use for one that was rejected.
  void leave(TimePoint now, const Answer& answer, bool received, TimePoint admitted = {}) {
    --connections_;
    if (answer.rejection) return;
    leave_capacity();
    ++counts_.completed;
    if (answer.failed) {
      ++counts_.failed;
      return;
    }
    if (received) ++counts_.served;
    if (times_) (received ? times_->served : times_->late).add(now - admitted);
  }

  // A request that `take_any` gave with this answer is gone without one, and instead of `leave`.
  void lose(const Answer& answer) {
    --connections_;
    if (answer.rejection) return;
    leave_capacity();
    ++counts_.lost;
  }

  // A request that was not yet taken is given up: it leaves at once and is never taken.
  void cancel(TimePoint now, Ticket ticket) {
    --connections_;
    if (has_workers_) return workers_.cancel(now, ticket, random_);
    queue_.cancel(ticket);
  }

  // Requests admitted and not yet answered or turned away.
  std::size_t concurrency() const {
    return has_workers_ ? workers_.concurrency() : queue_.concurrency();
  }

  // Those, and the rejected ones that are not yet answered: all that hold a connection.
  std::size_t connections() const { return connections_; }

  // What the service takes for a request as things stand; with workers, about what it would take
  // for one that came now and were served behind all who wait.
  Duration current_delay() const {
    return has_workers_ ? workers_.expected_time() : queue_.current_delay();
  }

  // Nothing where there are no workers.
  std::optional<WorkerState> worker_state() const {
    if (!has_workers_) return std::nullopt;
    return WorkerState{
        .workers = workers_.workers(), .busy = workers_.busy(), .waiting = workers_.waiting()};
  }

  // Since the last call; nothing where times are not recorded.
  ServiceTimes take_times() {
    if (!times_) return {};
    const Times taken = std::exchange(*times_, Times());
    return {.served = quantiles(taken.served), .late = quantiles(taken.late)};
  }

  // Since the start.
  const ServiceCounts& counts() const { return counts_; }

  // The rate limit and what was made of it since the start; nothing without one.
  std::optional<ProvisionedCapacity> capacity(TimePoint now) const {
    const RateLimit& limit = admission_.rate_limit();
    if (!limit.on()) return std::nullopt;
    return ProvisionedCapacity{.rate = limit.rate(), .use = limit.use(now)};
  }

 private:
  // What the service draws is a stream of its own, apart from all clients'.
  static constexpr std::uint64_t kStream = std::numeric_limits<std::uint64_t>::max() - 2;

  // When to come again after a full queue, or after having been dropped from it.
  static constexpr Duration kAfterDropping = std::chrono::seconds(1);

  struct Times {
    LatencyHistogram served, late;
  };

  // The answer to one that comes now, counted. `answer` is what the door says.
  Answer decide(Answer answer) {
    if (answer.rejection) {
      answer.retry_after = server_hint(hint_, answer.retry_after, random_);
    } else if (fails(errors_, ErrorAfter::kAdmission, random_)) {
      answer.rejection = Rejection::kError;
    }
    ++(answer.rejection ? counts_.rejected[index_of(*answer.rejection)] : counts_.admitted);
    return answer;
  }

  Taken served(Item item, TimePoint admitted) {
    return {std::move(item), {.failed = fails(errors_, ErrorAfter::kService, random_)}, admitted};
  }

  void leave_capacity() {
    if (has_workers_) {
      workers_.leave();
    } else {
      queue_.leave();
    }
  }

  // With workers. Apart, so that the way without them keeps its registers.
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
    if (!given->answer.rejection) return served(std::move(given->item), given->arrived);
    Answer answer = given->answer;
    if (answer.rejection == Rejection::kDropped) {
      ++counts_.rejected[index_of(Rejection::kDropped)];
      answer.retry_after = server_hint(hint_, kAfterDropping, random_);
    }
    return Taken{std::move(given->item), answer, given->arrived};
  }

  const bool has_workers_;
  bool rejection_cost_;  // whether a rejection has a cost
  AdmissionControl admission_;
  ServiceQueue<Item> queue_;  // without workers
  WorkerQueue<Item> workers_;
  ServerHintSettings hint_;
  ErrorSettings errors_;
  ClientRandom random_;
  ServiceCounts counts_;
  std::size_t connections_ = 0;
  std::optional<Times> times_;
};

// Tells what happened from one time to the next that it is asked, and how things stand.
class IntervalTaker {
 public:
  template <typename Item>
  ServerInterval take(TimePoint now, Service<Item>& service) {
    const ServiceCounts before = std::exchange(taken_, service.counts());
    ServerInterval interval{.concurrency = service.concurrency(),
                            .last_delay = service.current_delay(),
                            .workers = service.worker_state(),
                            .capacity = service.capacity(now),
                            .counts = taken_ - before,
                            .times = service.take_times()};
    if (interval.capacity) {
      const CapacityUse used_before = std::exchange(used_, interval.capacity->use);
      interval.capacity->use = used_ - used_before;
    }
    return interval;
  }

 private:
  ServiceCounts taken_;
  CapacityUse used_;
};

}  // namespace retrystorm
