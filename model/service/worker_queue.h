// So many workers, and the queue of those who wait for one.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "model/base/agenda.h"
#include "model/base/duration.h"
#include "model/base/fifo.h"
#include "model/base/random.h"
#include "model/service/queue_drop.h"
#include "model/service/rejection.h"
#include "model/service/worker_settings.h"

namespace retrystorm {

// A worker is a place, not a thread: a request has it from its start for the time drawn for it.
//  - A worker that is free takes at once: first what is to be turned away, if that costs time (in
//    the order of arrival), then what waits, as the queue's order and drop rule say. They are asked
//    at that moment, and not before: what is dropped stood in the queue until then.
//  - A worker is free when its request is due, however late the engine comes to take it: the next
//    one has started then. Only what is later than `kLateness` was no late timer, but a server that
//    stood still: nobody has worked meanwhile.
//  - Each refusal has a worker for the rejection's cost, if it has a cost: who is turned away at
//    the door waits for the next free worker, and nobody's place in the queue; who is dropped has
//    the worker to whom it fell. Only then it is given out, with its rejection.
//
// Knows no clock and no thread: the caller says what time it is, never earlier than before, and
// sees to it that no two calls run at once. `Item` is what the engine must know of a request. With
// the same random numbers, requests that come at the same times are treated alike.
template <typename Item>
class WorkerQueue {
 public:
  // A request in the queue or with a worker. Never used twice at a time.
  using Ticket = std::uint64_t;

  struct Given {
    Item item;
    Answer answer;  // dropped, or what `refuse` was told
    TimePoint arrived;
  };

  explicit WorkerQueue(const WorkerSettings& settings)
      : settings_(settings), codel_(settings.drop.time, settings.drop.interval) {}

  // Lets happen what was due by now. To be called before a request arrives.
  void advance(TimePoint now, Random& random) {
    while (next_completion_ <= now) {
      give_out(now, complete(now, random));
      update();
    }
  }

  // Whether a request that came now would find neither a worker nor a place to wait.
  bool full() const { return waiting_ >= settings_.queue_length && !has_free_worker(); }

  Ticket arrive(TimePoint now, Item item, Random& random) {
    const Index index = new_place(now, std::move(item));
    ++concurrency_;
    queue_.push(index);
    ++waiting_;
    if (has_free_worker()) {
      start_others(now, random);
      update();
    }
    return index;
  }

  // A request that is to be turned away, where that costs time.
  Ticket refuse(TimePoint now, Item item, const Answer& answer, Random& random) {
    const Index index = new_place(now, std::move(item));
    places_[index].rejection = answer.rejection;
    places_[index].retry_after = answer.retry_after;
    refused_.push(index);
    start_others(now, random);
    update();
    return index;
  }

  // When `take` has something to give out; `TimePoint::max()`: never, unless something arrives.
  TimePoint next_event() const { return next_event_; }

  // Gives out what is done or turned away. What is done counts in the concurrency until `leave`.
  std::optional<Given> take(TimePoint now, Random& random) {
    if (next_event_ > now) return std::nullopt;
    const Index index = given_out_.empty() ? complete(now, random) : given_out_.take();
    std::optional<Given> given = give(index);
    update();
    return given;
  }

  // Gives out anything that is here, done or not: for a server that ends.
  std::optional<Given> take_any() {
    std::optional<Index> index;
    if (!given_out_.empty()) {
      index = given_out_.take();
    } else if (!serving_.empty()) {
      index = serving_.first().item;
      serving_.pop();
      --busy_;
    } else if (!refused_.empty()) {
      index = refused_.take();
    } else if (!queue_.empty()) {
      index = queue_.take();
      --waiting_;
    } else {
      return std::nullopt;
    }
    std::optional<Given> given = give(*index);
    update();
    return given;
  }

  // A request that was given out without a rejection has been answered.
  void leave() { --concurrency_; }

  // A request that was not yet given out leaves at once: its place or its worker is free.
  void cancel(TimePoint now, Ticket ticket, Random& random) {
    advance(now, random);
    Place& place = places_[static_cast<Index>(ticket)];
    const State state = std::exchange(place.state, State::kCancelled);
    ++cancelled_;
    if (!place.rejection) {
      --concurrency_;
      if (state == State::kWaiting) --waiting_;
    }
    if (state == State::kServed) {
      --busy_;
      start_others(now, random);
    }
    update();
  }

  // From now on other settings hold. Those who are served are served to their end; with fewer
  // workers nobody starts until there is room. All who wait keep their places.
  void configure(TimePoint now, const WorkerSettings& settings, Random& random) {
    advance(now, random);
    if (settings.drop != settings_.drop) codel_ = {settings.drop.time, settings.drop.interval};
    settings_ = settings;
    start_others(now, random);
    update();
  }

  // Requests that wait, are served, or are being answered, but for those that are turned away.
  std::size_t concurrency() const { return concurrency_; }

  std::size_t workers() const { return settings_.workers; }
  std::size_t busy() const { return busy_; }
  std::size_t waiting() const { return waiting_; }

  // About how long a request that came now would be here, were it served behind all who wait.
  Duration expected_time() const {
    const Duration mean = settings_.service_time.mean();
    if (has_free_worker()) return mean;
    const double ahead = static_cast<double>(waiting_ + 1) / static_cast<double>(workers());
    return saturating_add(scale(mean, ahead), mean);
  }

 private:
  // What lies longer back was no late timer. A busy machine's timers are late by some milliseconds.
  static constexpr Duration kLateness = std::chrono::milliseconds(20);

  using Index = std::uint32_t;  // of a place
  static constexpr Index kNone = std::numeric_limits<Index>::max();

  enum class State : std::uint8_t { kWaiting, kServed, kGivenOut, kCancelled };

  struct Place {
    TimePoint arrived;
    Duration retry_after{0};  // of one that is turned away
    Item item;
    Index next_free = kNone;  // of a free place
    State state = State::kWaiting;
    std::optional<Rejection> rejection{};
  };

  bool has_free_worker() const { return busy_ < settings_.workers; }

  Index new_place(TimePoint now, Item item) {
    if (first_free_ == kNone) {
      places_.push_back({.arrived = now, .item = std::move(item)});
      return static_cast<Index>(places_.size() - 1);
    }
    const Index index = first_free_;
    Place& place = places_[index];
    first_free_ = place.next_free;
    place.arrived = now;
    place.retry_after = Duration::zero();
    place.item = std::move(item);
    place.state = State::kWaiting;
    place.rejection.reset();
    return index;
  }

  void free_place(Index index) { places_[index].next_free = std::exchange(first_free_, index); }

  Given give(Index index) {
    Place& place = places_[index];
    Given given{std::move(place.item),
                {.rejection = place.rejection, .retry_after = place.retry_after},
                place.arrived};
    free_place(index);
    return given;
  }

  // `take` will give it.
  void give_out(TimePoint now, Index index) {
    if (given_out_.empty()) given_out_at_ = now;
    given_out_.push(index);
    places_[index].state = State::kGivenOut;
  }

  // The first worker is done, and takes the next request.
  Index complete(TimePoint now, Random& random) {
    const auto [due, number, index] = serving_.first();
    serving_.pop();
    --busy_;
    start_others(std::max(due, now - kLateness), random);
    return index;
  }

  // Free workers take what is there for them.
  void start_others(TimePoint now, Random& random) {
    while (has_free_worker()) {
      if (!refused_.empty()) {
        const Index index = refused_.take();
        if (!was_cancelled(index)) start(now, index, settings_.rejection_cost);
      } else if (waiting_ > 0) {
        start_waiting(now, random);
      } else {
        return;
      }
    }
  }

  // One of those who wait gets a free worker, or is dropped.
  void start_waiting(TimePoint now, Random& random) {
    while (was_cancelled(queue_.front())) queue_.pop();
    const QueueDrop::Kind drop_rule = settings_.drop.kind;
    Index index;
    bool dropped = false;
    if (drop_rule == QueueDrop::Kind::kAge &&
        now - places_[queue_.front()].arrived > settings_.drop.time) {
      index = queue_.take();
      dropped = true;
    } else if (settings_.order.newest_first(waiting_)) {
      while (was_cancelled(queue_.back())) queue_.pop_back();
      index = queue_.take_back();
    } else {
      index = queue_.take();
    }
    if (drop_rule == QueueDrop::Kind::kCoDel) {
      dropped = codel_.overloaded(now, now - places_[index].arrived);
    }
    --waiting_;
    if (!dropped) {
      start(now, index, settings_.service_time.draw(random));
      return;
    }
    places_[index].rejection = Rejection::kDropped;
    --concurrency_;
    if (settings_.rejection_cost > Duration::zero()) {
      start(now, index, settings_.rejection_cost);
    } else {
      give_out(now, index);
    }
  }

  void start(TimePoint now, Index index, Duration time) {
    places_[index].state = State::kServed;
    ++busy_;
    serving_.add(saturating_add(now, time), index);
  }

  // Whether the place was left by its request; it is free then.
  bool was_cancelled(Index index) {
    if (places_[index].state != State::kCancelled) return false;
    --cancelled_;
    free_place(index);
    return true;
  }

  // What is to be given out or done next was not cancelled, and when that will be.
  void update() {
    if (cancelled_ > 0) forget_cancelled();
    next_completion_ = serving_.empty() ? TimePoint::max() : serving_.first().due;
    next_event_ = given_out_.empty() ? next_completion_ : given_out_at_;
  }

  void forget_cancelled() {
    while (!given_out_.empty() && was_cancelled(given_out_.front())) given_out_.pop();
    while (!serving_.empty() && was_cancelled(serving_.first().item)) serving_.pop();
    while (!refused_.empty() && was_cancelled(refused_.front())) refused_.pop();
    while (!queue_.empty() && was_cancelled(queue_.front())) queue_.pop();
    // What is left of them is seen when its turn comes, or here when there is much of it.
    if (2 * cancelled_ <= given_out_.size() + serving_.size() + refused_.size() + queue_.size()) {
      return;
    }
    const auto gone = [this](Index index) { return was_cancelled(index); };
    for (Fifo<Index>* each : {&given_out_, &refused_, &queue_}) each->erase_if(gone);
    serving_.erase_if(gone);
  }

  WorkerSettings settings_;
  CoDel codel_;
  std::vector<Place> places_;
  Index first_free_ = kNone;
  Fifo<Index> queue_;      // who waits for a worker
  Fifo<Index> refused_;    // who waits for one to be turned away
  Agenda<Index> serving_;  // who has one
  Fifo<Index> given_out_;  // who is to be taken
  TimePoint given_out_at_{};
  TimePoint next_completion_ = TimePoint::max();
  TimePoint next_event_ = TimePoint::max();
  std::size_t waiting_ = 0;
  std::size_t busy_ = 0;
  std::size_t concurrency_ = 0;
  std::size_t cancelled_ = 0;  // places that are still somewhere above, but left
};

}  // namespace retrystorm
