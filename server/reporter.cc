#include "server/reporter.h"

#include <algorithm>
#include <iostream>

#include "common/report.h"

namespace retrystorm {
namespace {

std::string title(const HttpServer& server) {
  return "retrystorm server, port " + std::to_string(server.port()) + " (Ctrl-C ends it)";
}

}  // namespace

Reporter::Reporter(HttpServer& server, JsonLines& json, Duration interval, bool live)
    : server_(server),
      json_(json),
      interval_(interval),
      screen_(live ? std::make_unique<LiveScreen<ServerView>>(title(server)) : nullptr),
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
    report(Clock::now());
  }
}

void Reporter::report(TimePoint now) {
  const ServerInterval interval = server_.take_interval();
  if (screen_) {
    screen_->show({.t = now - start_, .window = now - last_, .interval = interval});
  } else {
    std::cout << server_line(time_stamp(std::chrono::system_clock::now()), interval) << std::endl;
  }
  json_.write(server_interval_json(now - start_, now - last_, interval));
  last_ = now;
}

}  // namespace retrystorm
