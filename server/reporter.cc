#include "server/reporter.h"

#include <algorithm>
#include <utility>

namespace retrystorm {

Reporter::Reporter(HttpServer& server, Duration interval, std::vector<ServiceObserver*> observers)
    : server_(server),
      interval_(interval),
      observers_(std::move(observers)),
      start_(Clock::now()),
      last_(start_),
      thread_(&Reporter::run, this) {}

Reporter::~Reporter() {
  {
    const std::scoped_lock lock(mutex_);
    end_ = true;
  }
  ending_.notify_all();
  thread_.join();
}

void Reporter::run() {
  std::unique_lock lock(mutex_);
  TimePoint next = start_;
  while (true) {
    // A server that was frozen leaves the missed lines out instead of printing them all at once.
    do next = saturating_add(next, interval_);
    while (next <= Clock::now());
    // In steps, for a far time point overflows inside the wait of some standard libraries.
    while (!end_ && Clock::now() < next) {
      ending_.wait_until(lock, std::min(next, Clock::now() + std::chrono::hours(1)));
    }
    if (end_) return;
    // The end must not wait for whoever listens.
    lock.unlock();
    report(Clock::now());
    lock.lock();
  }
}

void Reporter::report(TimePoint now) {
  const ServerInterval interval = server_.take_interval();
  for (ServiceObserver* each : observers_) each->on_interval(now - start_, now - last_, interval);
  last_ = now;
}

}  // namespace retrystorm
