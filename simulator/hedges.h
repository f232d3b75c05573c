// Which attempts belong to which request, where a request has several at a time.
#pragma once

#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

#include "model/base/duration.h"
#include "model/base/queues.h"
#include "model/retry/retry_policy.h"

namespace retrystorm {

// Exists only if requests are hedged. Then the slot of a request sends nothing. Each of its attempts has a place
// of its own, which is another slot of the same `Calls`. A place is also the client of the wait before a
// hedge. A place is used again once its attempt has ended and its wait is over.
class Hedges {
 public:
  using Slot = std::uint32_t;
  static constexpr Slot kNone = std::numeric_limits<Slot>::max();

  Hedges(const RetrySettings& settings, const RetryPolicy& of_requests)
      : policy(settings, of_requests) {}

  const HedgePolicy policy;

  struct Request {
    HedgeRace race{};
    Slot first = kNone;  // of its places with an attempt under way
    Slot wait = kNone;   // the place whose wait is before its next attempt
  };

  struct Place {
    Slot request = kNone;  // kNone: it is free, or its request is over
    Slot next = kNone;     // of the same request
    bool is_place = false;
    bool waits = false;
    bool hedge = false;    // not the attempt that the request was begun or retried with
    bool retried = false;  // it has timed out, and another one was sent beside it
  };

  bool is_place(Slot slot) const { return slot < places_.size() && places_[slot].is_place; }
  std::size_t places() const { return count_; }
  // Requests with an attempt under way.
  std::size_t requests_under_way() const { return under_way_; }

  Request& of(Slot request) {
    if (request >= requests_.size()) requests_.resize(request + 1);
    return requests_[request];
  }
  Place& place(Slot place) { return places_[place]; }

  // Returns kNone if there is none.
  Slot take_free() { return free_.empty() ? kNone : free_.take_back(); }
  void add(Slot place) {
    if (place >= places_.size()) places_.resize(place + 1);
    places_[place].is_place = true;
    ++count_;
  }
  void free(Slot place) {
    places_[place] = {.is_place = true};
    free_.push(place);
  }

  // All requests are over, and all places are free.
  void forget_all() {
    requests_.clear();
    free_ = {};
    under_way_ = 0;
    for (Slot slot = 0; slot < places_.size(); ++slot) {
      if (places_[slot].is_place) free(slot);
    }
  }

  // The place waits for the next attempt of the request. An earlier wait counts no more.
  void wait(Slot request, Slot place) {
    forget_wait(request);
    places_[place].request = request;
    places_[place].waits = true;
    of(request).wait = place;
  }
  void forget_wait(Slot request) {
    const Slot place = std::exchange(of(request).wait, kNone);
    if (place != kNone) places_[place].request = kNone;  // free once its wait is over
  }

  // An attempt begins in this place.
  void join(Slot request, Slot place, bool hedge) {
    Request& its = of(request);
    if (its.race.in_flight++ == 0) ++under_way_;
    places_[place] = {.request = request, .next = its.first, .is_place = true, .hedge = hedge};
    its.first = place;
  }
  // Its attempt has ended, or is no longer part of its request.
  void leave(Slot place) {
    const Slot request = std::exchange(places_[place].request, kNone);
    if (request == kNone) return;
    Request& its = of(request);
    if (--its.race.in_flight == 0) --under_way_;
    for (Slot* link = &its.first; *link != kNone; link = &places_[*link].next) {
      if (*link != place) continue;
      *link = places_[place].next;
      break;
    }
  }

 private:
  std::vector<Request> requests_;  // by slot
  std::vector<Place> places_;      // by slot
  Fifo<Slot> free_;
  std::size_t count_ = 0;
  std::size_t under_way_ = 0;
};

}  // namespace retrystorm
