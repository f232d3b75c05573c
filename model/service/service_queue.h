// The heart of the service: who is in it, and who is done next.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>

#include "model/base/duration.h"
#include "model/base/fifo.h"
#include "model/service/service_curve.h"

namespace retrystorm {

// Requests in the order of their arrival. A request is done once it has been in the server for
// `delay(concurrency now)`. That delay is one number for all, so the oldest request is always the
// first to be done: the whole service is a FIFO with one time to watch, that of its front.
//
// Knows no clock and no thread: the caller says what time it is, never earlier than before, and
// sees to it that no two calls run at once. `Item` is what the engine must know of a request.
template <typename Item>
class ServiceQueue {
 public:
  // A request's place in the queue.
  using Ticket = std::uint64_t;

  explicit ServiceQueue(const ServiceCurve& curve) : curve_(curve) {}

  // From now on this is what everybody's delay is.
  void set_curve(const ServiceCurve& curve) {
    curve_ = curve;
    stale_ = true;
  }

  Ticket arrive(TimePoint now, Item item) {
    waiting_.push({now, std::move(item)});
    ++concurrency_;
    stale_ = true;
    return front_ticket_ + waiting_.size() - 1;
  }

  // When the front is done if nothing arrives or leaves before; `TimePoint::max()` when nobody
  // waits. Ask again after every change: it moves later with each arrival, earlier with each
  // request that leaves.
  TimePoint next_departure() const {
    if (stale_) {
      stale_ = false;
      next_departure_ = waiting_.empty()
                            ? TimePoint::max()
                            : saturating_add(waiting_.front().arrived, current_delay());
    }
    return next_departure_;
  }

  // When the front arrived; `TimePoint::max()` when nobody waits.
  TimePoint front_arrived() const {
    return waiting_.empty() ? TimePoint::max() : waiting_.front().arrived;
  }

  // Takes the front out of the queue if it is done. It counts in the concurrency until `leave()`.
  std::optional<Item> depart(TimePoint now) {
    if (waiting_.empty() || next_departure() > now) return std::nullopt;
    return take_front();
  }

  // Takes the front done or not: for a server that ends.
  std::optional<Item> take_front() {
    if (waiting_.empty()) return std::nullopt;
    std::optional<Item> item(waiting_.take().item);
    ++front_ticket_;
    drop_cancelled();
    stale_ = true;
    return item;
  }

  // A request that was taken out has been answered.
  void leave() {
    --concurrency_;
    stale_ = true;
  }

  // A request that was not yet taken out leaves at once, and is never taken out. Once a ticket.
  void cancel(Ticket ticket) {
    waiting_.at(static_cast<std::size_t>(ticket - front_ticket_)).arrived = kCancelled;
    drop_cancelled();
    leave();
  }

  // Requests accepted and not yet answered: those that wait and those taken but not yet gone.
  std::size_t concurrency() const { return concurrency_; }

  Duration current_delay() const { return curve_.delay(concurrency_); }

 private:
  // Stands for the time of arrival.
  static constexpr TimePoint kCancelled = TimePoint::min();

  struct Place {
    TimePoint arrived;
    Item item;
  };

  void drop_cancelled() {
    for (; !waiting_.empty() && waiting_.front().arrived == kCancelled; ++front_ticket_) {
      waiting_.take();
    }
  }

  ServiceCurve curve_;
  Fifo<Place> waiting_;  // the front is not cancelled
  Ticket front_ticket_ = 0;
  std::size_t concurrency_ = 0;
  // The delay is dear to compute, and often asked for.
  mutable TimePoint next_departure_ = TimePoint::max();
  mutable bool stale_ = false;
};

}  // namespace retrystorm
