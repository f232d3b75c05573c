// A number of workers, and the queue of requests that wait for one.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "model/base/duration.h"
#include "model/base/queues.h"
#include "model/base/random.h"
#include "model/service/admission.h"
#include "model/service/queue_rules.h"

namespace retrystorm {

// A worker is a slot, not a thread. A request occupies it for the service time drawn for it.
// - A free worker takes the next request at once. Rejections that take time come first, in order of
//   arrival. Then come waiting requests, as the queue's order and drop rule say. These rules apply
//   only at that moment: a request that is dropped stood in the queue until then.
// - A worker becomes free when its request is due, even if the engine takes the request late. The
//   next request has started at the due time. A delay above `kLateness` was not a late timer but a
//   stopped server, in which no work was done.
// - If a rejection has a cost, it occupies a worker for that time. A request refused on arrival
//   waits for a free worker but takes no place in the queue. A dropped request occupies the worker
//   that it would have had. It is returned with its rejection only after that time.
//
// The class has no clock and no lock. The caller passes the time, which must not go back, and
// prevents concurrent calls. `Item` is what the engine keeps for a request. With the same random
// numbers, requests that arrive at the same times are treated the same.
template <typename Item>
class WorkerQueue {
 public:
  // Identifies a request in the queue or with a worker. Never used for two at a time.
  using Ticket = std::uint64_t;

  struct Given {
    Item item;
    const Answer* answer;  // valid until the next call; null unless dropped or passed to `refuse`
    TimePoint arrived;
  };

  explicit WorkerQueue(const WorkerSettings& settings)
      : settings_(settings), codel_(settings.drop.time, settings.drop.interval) {}

  // Processes everything due until now. Called before a request arrives.
  void advance(TimePoint now, Random& random) {
    while (next_completion_ <= now) {
      give_out(now, complete(now, random));
      update();
    }
  }

  // True if a request that arrived now would find no free worker and no place to wait.
  bool full() const { return waiting_ >= settings_.queue_length && !has_free_worker(); }

  // Of the requests in the queue, those that are so. Looks at each.
  template <typename Predicate>
  std::size_t count_waiting(const Predicate& is_so) const {
    return queue_.count_if([&](Index index) {
      return places_[index].state != State::kCancelled && is_so(places_[index].item);
    });
  }

  // From now on, a worker does not take a request for which this returns true. Such a request stood
  // in the queue until then, and takes no worker's time. It is returned as `Rejection::kAbandoned`,
  // or with the answer passed to `refuse`.
  void skip_if(std::function<bool(const Item&)> is_abandoned) {
    is_abandoned_ = std::move(is_abandoned);
  }

  // From now on, a worker is not free when it has served a request, but only when `leave` is called for that
  // request: it waits meanwhile for what the request still needs. Call it before the first request arrives.
  void hold_workers() { holds_workers_ = true; }

  // From now on, a worker needs only this share of the service time for a request before it is taken. For the rest,
  // `resume` must follow. 0 <= share <= 1. Call it before the first request arrives.
  void serve_first(double share) { first_share_ = share; }

  // A request that was taken needs a worker for the rest of its service time, and is then taken again. Its worker goes
  // on if it is held. Otherwise the request waits for one, in the queue. It is neither skipped nor dropped there.
  void resume(TimePoint now, Item item, TimePoint arrived, Random& random) {
    const Index index = new_place(arrived, std::move(item));
    places_[index].resumed = true;
    if (holds_workers_) {
      --busy_;
      start(now, index, scale(settings_.service_time.draw(random), 1 - first_share_));
    } else {
      queue_.push(index);
      ++waiting_;
      if (has_free_worker()) start_others(now, random);
    }
    update();
  }

  Ticket arrive(TimePoint now, Item item, Random& random) {
    const Index index = new_place(now, std::move(item));
    ++concurrency_;
    if (has_free_worker() && !others_wait()) {
      start_new(now, index, false, random);
      update();
      return index;
    }
    queue_.push(index);
    ++waiting_;
    if (has_free_worker()) {
      start_others(now, random);
      update();
    }
    return index;
  }

  // Adds a request to be rejected, where a rejection takes time.
  Ticket refuse(TimePoint now, Item item, const Answer& answer, Random& random) {
    const Index index = new_place(now, std::move(item));
    reject(index, answer);
    refused_.push(index);
    start_others(now, random);
    update();
    return index;
  }

  // When `take` will return a request. `TimePoint::max()`: not before another one arrives.
  TimePoint next_event() const { return next_event_; }

  // Returns a finished or rejected request. A finished one counts in the concurrency until `leave`.
  std::optional<Given> take(TimePoint now, Random& random) {
    if (next_event_ > now) return std::nullopt;
    const Index index = given_out_.empty() ? complete(now, random) : given_out_.take();
    std::optional<Given> given = give(index);
    update();
    return given;
  }

  // For prefetching: a request that will be taken soon, or some other one. Its place was prefetched before.
  const Item* soon() const {
    return serving_.empty() ? nullptr : &places_[serving_.soon(kPrefetch / 2)].item;
  }

  // Returns any request, finished or not. For a server that ends.
  std::optional<Given> take_any() {
    std::optional<Index> index;
    if (!given_out_.empty()) {
      index = given_out_.take();
    } else if (!serving_.empty()) {
      index = serving_.first().item;
      serving_.pop();
      if (!is_held(*index)) --busy_;
    } else if (!refused_.empty()) {
      index = refused_.take();
    } else if (!queue_.empty()) {
      index = queue_.take();
      --waiting_;
      if (holds_workers_) ++busy_;  // `leave` gives back what it never had
    } else {
      return std::nullopt;
    }
    std::optional<Given> given = give(*index);
    update();
    return given;
  }

  // Takes a request from the queue that no worker has begun with. Empty if there is none.
  std::optional<Item> take_waiting() {
    while (waiting_ > 0) {
      const Index index = queue_.take();
      if (was_cancelled(index)) continue;
      --waiting_;
      --concurrency_;
      free_place(index);
      update();
      return std::move(places_[index].item);
    }
    return std::nullopt;
  }

  // A request that was returned without a rejection has been answered.
  void leave() {
    --concurrency_;
    if (holds_workers_) --busy_;
  }

  // Call it after `leave`, unless the server ends: a worker that is free now takes the next request.
  void take_up(TimePoint now, Random& random) {
    if (!holds_workers_) return;
    advance(now, random);
    if (!others_wait()) return;
    start_others(now, random);
    update();
  }

  // Removes a request that was not returned yet. It leaves at once and frees its place or worker.
  void cancel(TimePoint now, Ticket ticket, Random& random) {
    advance(now, random);
    Place& place = places_[static_cast<Index>(ticket)];
    const State state = std::exchange(place.state, State::kCancelled);
    ++cancelled_;
    if (!place.rejected) {
      --concurrency_;
      if (state == State::kWaiting) --waiting_;
    }
    if (state == State::kServed) {
      --busy_;
      start_others(now, random);
    }
    update();
  }

  // Applies new settings. Requests in service are finished. If there are fewer workers, none starts
  // until enough are free. All waiting requests keep their places.
  void configure(TimePoint now, const WorkerSettings& settings, Random& random) {
    advance(now, random);
    if (settings.drop != settings_.drop) codel_ = {settings.drop.time, settings.drop.interval};
    settings_ = settings;
    start_others(now, random);
    update();
  }

  // Requests that wait, are served, or are being answered. Rejected requests do not count.
  std::size_t concurrency() const { return concurrency_; }

  std::size_t workers() const { return settings_.workers; }
  std::size_t busy() const { return busy_; }
  std::size_t waiting() const { return waiting_; }

  // Estimated time of a request that arrives now and is served after all that wait.
  Duration expected_time() const {
    const Duration mean = settings_.service_time.mean();
    if (has_free_worker()) return mean;
    const double ahead = static_cast<double>(waiting_ + 1) / static_cast<double>(workers());
    return saturating_add(scale(mean, ahead), mean);
  }

 private:
  // The longest delay that still counts as a late timer. Timers of a busy machine are late by some
  // milliseconds.
  static constexpr Duration kLateness = std::chrono::milliseconds(20);

  using Index = std::uint32_t;  // of a place
  static constexpr Index kNone = std::numeric_limits<Index>::max();

  enum class State : std::uint8_t { kWaiting, kServed, kGivenOut, kCancelled };

  struct Place {
    TimePoint arrived;
    Item item;
    Index next_free = kNone;  // for a free place
    State state = State::kWaiting;
    bool resumed = false;
    bool rejected = false;
  };

  bool has_free_worker() const { return busy_ < settings_.workers; }
  bool others_wait() const { return waiting_ > 0 || !refused_.empty(); }

  Index new_place(TimePoint now, Item item) {
    if (first_free_ == kNone) {
      places_.push_back({.arrived = now, .item = std::move(item)});
      return static_cast<Index>(places_.size() - 1);
    }
    const Index index = first_free_;
    Place& place = places_[index];
    first_free_ = place.next_free;
    place.arrived = now;
    place.item = std::move(item);
    place.state = State::kWaiting;
    place.resumed = place.rejected = false;
    return index;
  }

  void reject(Index index, const Answer& answer) {
    places_[index].rejected = true;
    if (index >= answers_.size()) answers_.resize(places_.size());
    answers_[index] = answer;
  }

  void free_place(Index index) { places_[index].next_free = std::exchange(first_free_, index); }

  Given give(Index index) {
    Place& place = places_[index];
    Given given{std::move(place.item), place.rejected ? &answers_[index] : nullptr, place.arrived};
    free_place(index);
    return given;
  }

  // Queues the request for `take`.
  void give_out(TimePoint now, Index index) {
    if (given_out_.empty()) given_out_at_ = now;
    given_out_.push(index);
    places_[index].state = State::kGivenOut;
  }

  // The worker that finishes first does so, and takes the next request.
  Index complete(TimePoint now, Random& random) {
    const auto [due, number, index] = serving_.first();
    prefetch(places_[serving_.soon(kPrefetch)]);
    serving_.pop();
    if (is_held(index)) return index;
    --busy_;
    if (others_wait()) start_others(std::max(due, now - kLateness), random);
    return index;
  }

  // Does its worker stay with this request after it has served it? Not if it only rejects it.
  bool is_held(Index index) const { return holds_workers_ && !places_[index].rejected; }

  // Lets free workers start on the requests that wait.
  void start_others(TimePoint now, Random& random) {
    while (has_free_worker()) {
      if (!refused_.empty()) {
        const Index index = refused_.take();
        if (was_cancelled(index)) continue;
        if (is_abandoned(index)) {
          give_out(now, index);
        } else {
          start(now, index, settings_.rejection_cost);
        }
      } else if (waiting_ > 0) {
        start_waiting(now, random);
      } else {
        return;
      }
    }
  }

  // Is the newest request next? There is one that waits.
  bool takes_newest(TimePoint now) {
    const QueueOrder& order = settings_.order;
    if (order.kind == QueueOrder::Kind::kFifo) return false;
    while (was_cancelled(queue_.back())) queue_.pop_back();
    if (order.kind != QueueOrder::Kind::kUnfair) return order.newest_first(waiting_);
    constexpr double kSlack = 1e-9;  // ten times 0.1 is a little less than 1
    newest_due_ += order.share;
    if (newest_due_ < 1 - kSlack) return false;
    newest_due_ -= 1;
    return places_[queue_.back()].arrived >= (now > taken_at_ ? taken_at_ : taken_before_);
  }

  // Gives a waiting request to a free worker, or drops it.
  void start_waiting(TimePoint now, Random& random) {
    while (was_cancelled(queue_.front())) queue_.pop();
    const Place& first = places_[queue_.front()];
    const bool too_old = settings_.drop.kind == QueueDrop::Kind::kAge && !first.resumed &&
                         now - first.arrived > settings_.drop.time;
    const Index index = !too_old && takes_newest(now) ? queue_.take_back() : queue_.take();
    if (now > taken_at_) taken_before_ = std::exchange(taken_at_, now);
    --waiting_;
    if (places_[index].resumed) {
      start(now, index, scale(settings_.service_time.draw(random), 1 - first_share_));
      return;
    }
    start_new(now, index, too_old, random);
  }

  // A free worker takes a request that was not resumed, unless it is abandoned or `dropped`.
  void start_new(TimePoint now, Index index, bool dropped, Random& random) {
    if (is_abandoned(index)) {
      --concurrency_;
      reject(index, {.rejection = Rejection::kAbandoned});
      give_out(now, index);
      return;
    }
    if (settings_.drop.kind == QueueDrop::Kind::kCoDel) {
      dropped = codel_.overloaded(now, now - places_[index].arrived);
    }
    if (!dropped) {
      const Duration time = settings_.service_time.draw(random);
      start(now, index, first_share_ < 1 ? scale(time, first_share_) : time);
      return;
    }
    --concurrency_;
    reject(index, {.rejection = Rejection::kDropped});
    if (settings_.rejection_cost > Duration::zero()) {
      start(now, index, settings_.rejection_cost);
    } else {
      give_out(now, index);
    }
  }

  bool is_abandoned(Index index) const {
    return is_abandoned_ && is_abandoned_(places_[index].item);
  }

  void start(TimePoint now, Index index, Duration time) {
    places_[index].state = State::kServed;
    ++busy_;
    serving_.add(saturating_add(now, time), index);
  }

  // True if the request of this place was cancelled. The place is then freed.
  bool was_cancelled(Index index) {
    if (places_[index].state != State::kCancelled) return false;
    --cancelled_;
    free_place(index);
    return true;
  }

  // Removes cancelled requests from the fronts, and finds the next times.
  void update() {
    if (cancelled_ > 0) forget_cancelled();
    next_completion_ = serving_.empty() ? TimePoint::max() : serving_.first().due;
    next_event_ = given_out_.empty() ? next_completion_ : given_out_at_;
  }

  [[gnu::noinline]] void forget_cancelled() {
    while (!given_out_.empty() && was_cancelled(given_out_.front())) given_out_.pop();
    while (!serving_.empty() && was_cancelled(serving_.first().item)) serving_.pop();
    while (!refused_.empty() && was_cancelled(refused_.front())) refused_.pop();
    while (!queue_.empty() && was_cancelled(queue_.front())) queue_.pop();
    // Other cancelled places are removed when they reach the front, or here if there are many.
    if (2 * cancelled_ <= given_out_.size() + serving_.size() + refused_.size() + queue_.size()) {
      return;
    }
    const auto gone = [this](Index index) { return was_cancelled(index); };
    for (Fifo<Index>* each : {&given_out_, &refused_, &queue_}) each->erase_if(gone);
    serving_.erase_if(gone);
  }

  // What each request needs comes first: with many hosts, every line of memory counts.
  TimePoint next_event_ = TimePoint::max();
  TimePoint next_completion_ = TimePoint::max();
  std::size_t waiting_ = 0;
  std::size_t busy_ = 0;
  std::size_t concurrency_ = 0;
  std::size_t cancelled_ = 0;  // cancelled places that are still in one of the lists below
  double first_share_ = 1;     // of the service time, before a request is taken
  Index first_free_ = kNone;
  bool holds_workers_ = false;
  WorkerSettings settings_;
  std::vector<Place> places_;
  Agenda<Index> serving_;                          // being served or rejected
  std::function<bool(const Item&)> is_abandoned_;  // empty: all are served
  Fifo<Index> given_out_;                          // waiting for `take`
  Fifo<Index> refused_;                            // waiting for a worker to reject them
  Fifo<Index> queue_;                              // waiting for a worker
  // When the last request that waited was taken, and when one was before that: workers may be free at the same time.
  TimePoint taken_at_{}, taken_before_{};
  TimePoint given_out_at_{};
  CoDel codel_;
  double newest_due_ = 0;        // of an unfair order: how much of the newest one's turn has come
  std::vector<Answer> answers_;  // by place, to rejected requests
};

}  // namespace retrystorm
