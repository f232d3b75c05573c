#include "common/calls/client_waits.h"

#include "common/os/bounded_wait.h"

namespace retrystorm {

bool ClientWaits::wait(Duration duration) {
  const TimePoint until = bounded(saturating_add(Clock::now(), duration));
  std::unique_lock lock(mutex_);
  return !changed_.wait_until(lock, until, [this] { return stopping_.load(); });
}

std::optional<TimePoint> ClientWaits::wait_at_load(TimePoint from, Duration time) {
  std::unique_lock lock(mutex_);
  while (true) {
    const double load = load_;
    const TimePoint due = saturating_add(from, scale(time, 1 / load));
    const auto changed = [&] { return stopping_ || load_ != load; };
    if (!changed_.wait_until(lock, bounded(due), changed)) return due;
    if (stopping_) return std::nullopt;
    const TimePoint now = Clock::now();
    if (now >= due) return due;  // it was over before the load changed: this thread woke late
    time -= scale(now - from, load);
    from = now;
  }
}

void ClientWaits::set_load(double load) {
  {
    const std::scoped_lock lock(mutex_);
    load_ = load;
  }
  changed_.notify_all();
}

void ClientWaits::stop() {
  {
    const std::scoped_lock lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_all();
}

}  // namespace retrystorm
