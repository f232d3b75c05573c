// The core of the service: which requests are in it, and which finishes next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "model/base/duration.h"
#include "model/base/queues.h"
#include "model/service/service_time.h"

namespace retrystorm {

// Requests in order of arrival. A request is finished once it has been in the service for
// `delay(current concurrency)`. This delay is the same for all, so the oldest request always
// finishes first. The whole service is a FIFO, and only the time of its front matters.
//
// The class has no clock and no lock. The caller passes the time, which must not go back, and
// prevents concurrent calls. `Item` is what the engine keeps for a request.
template <typename Item>
class ServiceQueue {
 public:
  // A request's place in the queue.
  using Ticket = std::uint64_t;

  explicit ServiceQueue(const ServiceCurve& curve) : curve_(curve) {}

  // Sets the delay of all requests from now on.
  void set_curve(const ServiceCurve& curve) {
    curve_ = curve;
    known_.clear();
    stale_ = true;
  }

  Ticket arrive(TimePoint now, Item item) {
    waiting_.push({now, std::move(item)});
    ++concurrency_;
    stale_ = true;
    return front_ticket_ + waiting_.size() - 1;
  }

  // When the front is finished if no request arrives or leaves before. `TimePoint::max()` if the
  // queue is empty. Ask again after every change. An arrival makes it later, a departure earlier.
  [[gnu::always_inline]] TimePoint next_departure() const {
    if (stale_) {
      stale_ = false;
      next_departure_ = waiting_.empty()
                            ? TimePoint::max()
                            : saturating_add(waiting_.front().arrived, current_delay());
    }
    return next_departure_;
  }

  // When the front arrived. `TimePoint::max()` if the queue is empty.
  TimePoint front_arrived() const {
    return waiting_.empty() ? TimePoint::max() : waiting_.front().arrived;
  }

  // Takes the front if it is finished. It counts in the concurrency until `leave()`.
  std::optional<Item> depart(TimePoint now) {
    if (waiting_.empty() || next_departure() > now) return std::nullopt;
    return take_front();
  }

  // Takes the front, finished or not. For a server that ends.
  std::optional<Item> take_front() {
    if (waiting_.empty()) return std::nullopt;
    std::optional<Item> item(waiting_.take().item);
    ++front_ticket_;
    drop_cancelled();
    stale_ = true;
    return item;
  }

  // For prefetching: a request that is taken soon, or some earlier one.
  const Item* soon() const { return waiting_.empty() ? nullptr : &waiting_.peek(kPrefetch).item; }

  // A request that was taken out has been answered.
  void leave() {
    --concurrency_;
    stale_ = true;
  }

  // Removes a request that was not taken out yet. It leaves at once. Call only once per ticket.
  void cancel(Ticket ticket) {
    waiting_.at(static_cast<std::size_t>(ticket - front_ticket_)).arrived = kCancelled;
    drop_cancelled();
    leave();
  }

  // Requests accepted and not yet answered: those that wait, and those taken that have not left.
  std::size_t concurrency() const { return concurrency_; }

  Duration current_delay() const {
    if (known_.empty()) known_.resize(kKnown);
    KnownDelay& known = known_[concurrency_ % kKnown];
    if (known.concurrency != concurrency_) known = {concurrency_, curve_.delay(concurrency_)};
    return known.delay;
  }

 private:
  // A special time of arrival that marks cancelled requests.
  static constexpr TimePoint kCancelled = TimePoint::min();

  struct Place {
    TimePoint arrived;
    Item item;
  };

  struct KnownDelay {
    std::size_t concurrency = std::numeric_limits<std::size_t>::max();
    Duration delay{0};
  };
  static constexpr std::size_t kKnown = 1024;

  void drop_cancelled() {
    for (; !waiting_.empty() && waiting_.front().arrived == kCancelled; ++front_ticket_) {
      waiting_.take();
    }
  }

  ServiceCurve curve_;
  Fifo<Place> waiting_;  // the front is never cancelled
  Ticket front_ticket_ = 0;
  std::size_t concurrency_ = 0;
  // Cached, because the delay is expensive to compute and often needed. The concurrency goes up and down
  // by one, so it mostly had its value before.
  mutable std::vector<KnownDelay> known_{};  // empty until one is asked for
  mutable TimePoint next_departure_ = TimePoint::max();
  mutable bool stale_ = false;
};

}  // namespace retrystorm
