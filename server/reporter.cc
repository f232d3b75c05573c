#include "server/reporter.h"

#include <algorithm>
#include <new>
#include <utility>

#include "common/os/process.h"

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
    // A server that was suspended skips the missed reports instead of printing them all at once.
    do next = saturating_add(next, interval_);
    while (next <= Clock::now());
    while (!end_ && Clock::now() < next) {
      ending_.wait_until(lock, bounded(next));
    }
    if (end_) return;
    // Unlocked, so that slow observers do not delay the end of the program.
    lock.unlock();
    try {
      report(Clock::now());
    } catch (const std::bad_alloc&) {
      // Out of memory: this report is skipped.
    }
    lock.lock();
  }
}

void Reporter::report(TimePoint now) {
  const ServerInterval interval = server_.take_interval();
  for (ServiceObserver* each : observers_) each->on_interval(now - start_, now - last_, interval);
  last_ = now;
}

}  // namespace retrystorm
