// The heart of the server: who is in the service, and who is done next.
#pragma once

#include <cstddef>
#include <deque>
#include <optional>
#include <utility>

#include "model/base/duration.h"
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
  explicit ServiceQueue(const ServiceCurve& curve) : curve_(curve) {}

  void arrive(TimePoint now, Item item) {
    waiting_.emplace_back(now, std::move(item));
    ++concurrency_;
  }

  // When the front is done if nothing arrives or leaves before; `TimePoint::max()` when nobody
  // waits. Ask again after every change: it moves later with each arrival, earlier with each
  // request that leaves.
  TimePoint next_departure() const {
    return waiting_.empty() ? TimePoint::max()
                            : saturating_add(waiting_.front().first, current_delay());
  }

  // Takes the front out of the queue if it is done. It counts in the concurrency until `leave()`.
  std::optional<Item> depart(TimePoint now) {
    if (waiting_.empty() || next_departure() > now) return std::nullopt;
    return take_front();
  }

  // Takes the front done or not: for a server that ends, or a request whose client has gone.
  std::optional<Item> take_front() {
    if (waiting_.empty()) return std::nullopt;
    std::optional<Item> item(std::move(waiting_.front().second));
    waiting_.pop_front();
    return item;
  }

  // A request that was taken out has been answered.
  void leave() { --concurrency_; }

  // Requests accepted and not yet answered: those that wait and those taken but not yet gone.
  std::size_t concurrency() const { return concurrency_; }

  Duration current_delay() const { return curve_.delay(concurrency_); }

 private:
  ServiceCurve curve_;
  std::deque<std::pair<TimePoint, Item>> waiting_;
  std::size_t concurrency_ = 0;
};

}  // namespace retrystorm
