#include "client/deadlines.h"

#include <algorithm>

namespace retrystorm {

Deadlines::Deadlines(Duration timeout) : timeout_(timeout), thread_(&Deadlines::run, this) {}

Deadlines::~Deadlines() {
  {
    const std::scoped_lock lock(mutex_);
    end_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

void Deadlines::begin(Expiring& who, std::uint64_t attempt) {
  const std::scoped_lock lock(mutex_);
  queue_.push_back({saturating_add(Clock::now(), timeout_), &who, attempt});
  if (queue_.size() == 1) changed_.notify_one();
}

void Deadlines::run() {
  std::unique_lock lock(mutex_);
  while (!end_) {
    const TimePoint now = Clock::now();
    if (queue_.empty() || queue_.front().time > now) {
      // A far time point overflows inside the wait of some standard libraries.
      const TimePoint far = now + std::chrono::hours(1);
      changed_.wait_until(lock, queue_.empty() ? far : std::min(queue_.front().time, far));
      continue;
    }
    const Deadline due = queue_.front();
    queue_.pop_front();
    lock.unlock();
    due.who->expire(due.attempt);
    lock.lock();
  }
}

}  // namespace retrystorm
