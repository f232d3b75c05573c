#include "client/deadlines.h"

#include <algorithm>
#include <chrono>
#include <iterator>

namespace retrystorm {
namespace {

// After this it is tried again to interrupt who has not noticed.
constexpr Duration kAgain = std::chrono::milliseconds(5);

}  // namespace

Deadlines::Deadlines() : thread_(&Deadlines::run, this) {}

Deadlines::~Deadlines() {
  {
    const std::scoped_lock lock(mutex_);
    end_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Deadlines::begin(Expiring& who, Duration timeout) {
  const std::scoped_lock lock(mutex_);
  const TimePoint time = saturating_add(Clock::now(), timeout);
  who.place_.front().time = time;
  who.waits_in_ = &under_way_;
  auto place = under_way_.end();
  while (place != under_way_.begin() && std::prev(place)->time > time) --place;
  under_way_.splice(place, who.place_);
  // Only after a time without any: else the thread wakes soon enough for one that began before.
  if (time < wakes_at_) changed_.notify_one();
}

void Deadlines::end(Expiring& who) {
  std::unique_lock lock(mutex_);
  called_.wait(lock, [&] { return calling_ != &who; });
  who.place_.splice(who.place_.end(), *who.waits_in_, who.self_);
}

std::size_t Deadlines::size() const {
  const std::scoped_lock lock(mutex_);
  return under_way_.size() + expired_.size();
}

TimePoint Deadlines::next() const {
  // A far time point overflows inside the wait of some standard libraries.
  TimePoint next = Clock::now() + std::chrono::hours(1);
  for (const Queue* queue : {&under_way_, &expired_}) {
    if (!queue->empty()) next = std::min(next, queue->front().time);
  }
  return next;
}

void Deadlines::run() {
  std::unique_lock lock(mutex_);
  while (!end_) {
    const TimePoint now = Clock::now();
    if (!under_way_.empty() && under_way_.front().time <= now) {
      expire_first_of(under_way_, lock);
    } else if (!expired_.empty() && expired_.front().time <= now) {
      expire_first_of(expired_, lock);
    } else {
      wakes_at_ = next();
      changed_.wait_until(lock, wakes_at_);
      wakes_at_ = TimePoint::min();
    }
  }
}

void Deadlines::expire_first_of(Queue& queue, std::unique_lock<std::mutex>& lock) {
  Expiring& who = *queue.front().who;
  expired_.splice(expired_.end(), queue, queue.begin());
  who.waits_in_ = &expired_;
  calling_ = &who;
  lock.unlock();
  who.expire();
  lock.lock();
  calling_ = nullptr;
  expired_.back().time = Clock::now() + kAgain;
  called_.notify_all();
}

}  // namespace retrystorm
