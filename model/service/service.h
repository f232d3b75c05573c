// A service as an engine drives it: admission, then the queue and its capacity.
#pragma once

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

namespace retrystorm {

// All that engines know of a service. An engine
//  - brings each request by `arrive`, and answers at once those that are rejected there;
//  - calls `take` when `next_event` is due, until it gives nothing more, and answers what it gives:
//    what is done, and what the service has come to reject. An event need not yield a request;
//  - calls `leave` for each request, arrived or taken, once it has been answered, or `lose`;
//  - asks for `next_event` again after each of these calls.
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
  Service(const ServiceOptions& options, std::uint64_t seed)
      : admission_(options.admission()),
        queue_(options.curve()),
        hint_(options.hint),
        errors_(options.errors),
        random_(seed, kStream) {}

  // From now on these are its settings. What it holds, it keeps.
  void configure(TimePoint now, const ServiceOptions& options) {
    admission_.configure(now, options.rate_limit, options.rate_burst, options.shed_above);
    queue_.set_curve(options.curve());
    hint_ = options.hint;
    errors_ = options.errors;
  }

  Arrival arrive(TimePoint now, Item& item) {
    ++counts_.offered;
    Answer answer = admission_.admit(now, queue_.concurrency());
    if (answer.rejection) {
      answer.retry_after = server_hint(hint_, answer.retry_after, random_);
    } else if (fails(errors_, ErrorAfter::kAdmission, random_)) {
      answer.rejection = Rejection::kError;
    }
    if (answer.rejection) {
      ++counts_.rejected[index_of(*answer.rejection)];
      ++being_rejected_;
      return {.answer = answer};
    }
    ++counts_.admitted;
    return {.answer = answer, .ticket = queue_.arrive(now, std::move(item))};
  }

  // From now on it is recorded how long requests are in the service, for `take_times`.
  void record_times() { times_.emplace(); }

  // `TimePoint::max()`: never, unless something arrives or leaves.
  TimePoint next_event() const { return queue_.next_departure(); }

  std::optional<Taken> take(TimePoint now) {
    const TimePoint admitted = times_ ? queue_.front_arrived() : TimePoint();
    auto item = queue_.depart(now);
    if (!item) return std::nullopt;
    return taken(std::move(*item), admitted);
  }

  // Takes a request whether or not its time has come: for a server that ends, or is started anew.
  std::optional<Taken> take_any() {
    const TimePoint admitted = times_ ? queue_.front_arrived() : TimePoint();
    auto item = queue_.take_front();
    if (!item) return std::nullopt;
    return taken(std::move(*item), admitted);
  }

  // A request has been answered. `received`: its client is taken to have its answer. `admitted` is
  // what `take` gave with it, of no use for one that was rejected.
  void leave(TimePoint now, const Answer& answer, bool received, TimePoint admitted = {}) {
    if (answer.rejection) {
      --being_rejected_;
      return;
    }
    queue_.leave();
    ++counts_.completed;
    if (answer.failed) {
      ++counts_.failed;
      return;
    }
    if (received) ++counts_.served;
    if (times_) (received ? times_->served : times_->late).add(now - admitted);
  }

  // A request that `take_any` gave is gone without an answer, and instead of `leave`.
  void lose() {
    queue_.leave();
    ++counts_.lost;
  }

  // A request that was not yet taken is given up: it leaves at once and is never taken.
  void cancel(TimePoint /*now*/, Ticket ticket) { queue_.cancel(ticket); }

  // Requests admitted and not yet answered.
  std::size_t concurrency() const { return queue_.concurrency(); }

  // Those, and the rejected ones that are not yet answered: all that hold a connection.
  std::size_t connections() const { return queue_.concurrency() + being_rejected_; }

  // What the service takes for a request as things stand.
  Duration current_delay() const { return queue_.current_delay(); }

  // Since the last call; nothing where times are not recorded.
  ServiceTimes take_times() {
    if (!times_) return {};
    const Times taken = std::exchange(*times_, Times());
    return {.served = quantiles(taken.served), .late = quantiles(taken.late)};
  }

  // Since the start.
  const ServiceCounts& counts() const { return counts_; }

 private:
  // What the service draws is a stream of its own, apart from all clients'.
  static constexpr std::uint64_t kStream = std::numeric_limits<std::uint64_t>::max() - 2;

  struct Times {
    LatencyHistogram served, late;
  };

  Taken taken(Item item, TimePoint admitted) {
    return {std::move(item), {.failed = fails(errors_, ErrorAfter::kService, random_)}, admitted};
  }

  AdmissionControl admission_;
  ServiceQueue<Item> queue_;
  ServerHintSettings hint_;
  ErrorSettings errors_;
  ClientRandom random_;
  ServiceCounts counts_;
  std::size_t being_rejected_ = 0;
  std::optional<Times> times_;
};

// Tells what happened from one time to the next that it is asked, and how things stand.
class IntervalTaker {
 public:
  template <typename Item>
  ServerInterval take(Service<Item>& service) {
    const ServiceCounts before = std::exchange(taken_, service.counts());
    return {.concurrency = service.concurrency(),
            .last_delay = service.current_delay(),
            .counts = taken_ - before,
            .times = service.take_times()};
  }

 private:
  ServiceCounts taken_;
};

}  // namespace retrystorm
