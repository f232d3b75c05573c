#include "server/reporter.h"

#include <iostream>

#include "common/report.h"

namespace retrystorm {

Reporter::Reporter(HttpServer& server, JsonLines& json, Duration interval)
    : server_(server),
      json_(json),
      interval_(interval),
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
    do next += interval_;
    while (next <= Clock::now());
    if (ending_.wait_until(lock, next, [this] { return end_; })) return;
    report(Clock::now());
  }
}

void Reporter::report(TimePoint now) {
  const ServerInterval interval = server_.take_interval();
  std::cout << server_line(time_stamp(std::chrono::system_clock::now()), interval) << std::endl;
  json_.write(server_interval_json(now - start_, now - last_, interval));
  last_ = now;
}

}  // namespace retrystorm
