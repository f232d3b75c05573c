// Prints the server's line, and writes its JSON twin, at a steady pace.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>

#include "common/duration.h"
#include "common/json_lines.h"
#include "common/live_screen.h"
#include "server/http_server.h"

namespace retrystorm {

// Reports from its construction to its destruction, on a thread of its own.
class Reporter {
 public:
  // Both outlive the reporter; nobody else writes to `json` meanwhile. `live`: one screen instead
  // of the lines.
  Reporter(HttpServer& server, JsonLines& json, Duration interval, bool live);
  ~Reporter();

  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;

 private:
  void run();
  void report(TimePoint now);

  HttpServer& server_;
  JsonLines& json_;
  const Duration interval_;
  const std::unique_ptr<LiveScreen<ServerView>> screen_;
  const TimePoint start_;
  TimePoint last_;
  std::mutex mutex_;
  std::condition_variable ending_;
  bool end_ = false;
  std::thread thread_;
};

}  // namespace retrystorm
