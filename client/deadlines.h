// Ends attempts that have lasted their whole timeout.
#pragma once

#include <condition_variable>
#include <list>
#include <mutex>
#include <thread>

#include "model/base/duration.h"

namespace retrystorm {

// What a deadline can interrupt: whoever has begun something that must not last for ever, one at a
// time.
class Expiring {
 public:
  Expiring() : place_{Deadline{.who = this}}, self_(place_.begin()) {}

  Expiring(const Expiring&) = delete;
  Expiring& operator=(const Expiring&) = delete;

  // Must make what was begun return soon. Called from the deadlines' thread, again and again until
  // that is over: it may be called before there is anything to interrupt.
  virtual void expire() = 0;

 protected:
  ~Expiring() = default;

 private:
  friend class Deadlines;

  struct Deadline {
    Expiring* who;
    TimePoint time{};
  };

  // One element, which moves to the list where it waits and back: nothing is allocated.
  std::list<Deadline> place_;
  const std::list<Deadline>::iterator self_;
  std::list<Deadline>* waits_in_ = nullptr;
};

// cpp-httplib 0.11 has no total deadline: its read timeout starts anew with each byte. The timeout
// is the same for nearly all, so they expire in the order in which they began: a list and one
// thread are enough, where those that have less time go before some of the last. It holds what is
// under way and nothing else, however long the timeout. Safe from any thread.
class Deadlines {
 public:
  Deadlines();
  ~Deadlines();

  Deadlines(const Deadlines&) = delete;
  Deadlines& operator=(const Deadlines&) = delete;

  // What `who` does begins now, and has so much time. Not before the end of what it began before.
  void begin(Expiring& who, Duration timeout);

  // It is over: from now on `who` is not called.
  void end(Expiring& who);

  // How many are under way.
  std::size_t size() const;

 private:
  using Queue = std::list<Expiring::Deadline>;

  void run();
  void expire_first_of(Queue& queue, std::unique_lock<std::mutex>& lock);
  TimePoint next() const;

  mutable std::mutex mutex_;
  std::condition_variable changed_;  // for the thread
  std::condition_variable called_;   // for those who end while they are called
  Queue under_way_;                  // by time
  Queue expired_;                    // and not over yet: by the time to be called again
  const Expiring* calling_ = nullptr;
  TimePoint wakes_at_ = TimePoint::min();  // when the thread looks again unless it is told to
  bool end_ = false;
  std::thread thread_;
};

}  // namespace retrystorm
