// Asks the server how it is, once a second.
#pragma once

#include <httplib.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <string>
#include <thread>

#include "client/dashboard/server_status.h"
#include "client/url.h"

namespace retrystorm {

// Polls on a thread of its own, so that a server which is frozen, gone or has no status to give
// holds up nobody.
class ServerMonitor {
 public:
  // `url` answers with a JSON object that has `concurrency` and `last_delay_s`.
  explicit ServerMonitor(const Url& url);
  ~ServerMonitor();

  ServerMonitor(const ServerMonitor&) = delete;
  ServerMonitor& operator=(const ServerMonitor&) = delete;

  // Nothing when the server did not answer the last time. Safe from any thread.
  std::optional<ServerStatus> status() const;

 private:
  void run();
  std::optional<ServerStatus> ask();

  httplib::Client client_;
  const std::string path_;

  mutable std::mutex mutex_;
  std::condition_variable end_wanted_;
  bool end_ = false;
  std::atomic<bool> ended_{false};
  std::optional<ServerStatus> status_;
  std::thread thread_;
};

}  // namespace retrystorm
