// Reports the state of the service at regular intervals.
#pragma once

#include <condition_variable>
#include <mutex>
#include <thread>
#include <vector>

#include "model/base/duration.h"
#include "model/service/service_observer.h"
#include "server/http_server.h"

namespace retrystorm {

// Reports from its construction to its destruction, on a separate thread.
class Reporter {
 public:
  // The server and the observers must outlive the reporter. Only the reporter may use the observers
  // during its lifetime.
  Reporter(HttpServer& server, Duration interval, std::vector<ServiceObserver*> observers);
  ~Reporter();

  Reporter(const Reporter&) = delete;
  Reporter& operator=(const Reporter&) = delete;

 private:
  void run();
  void report(TimePoint now);

  HttpServer& server_;
  const Duration interval_;
  const std::vector<ServiceObserver*> observers_;
  const TimePoint start_;
  TimePoint last_;
  std::mutex mutex_;
  std::condition_variable ending_;
  bool end_ = false;
  std::thread thread_;
};

}  // namespace retrystorm
