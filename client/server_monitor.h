// Asks the server for its status once a second.
#pragma once

#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>

#include "client/server_status.h"
#include "common/http/http_client.h"
#include "common/http/http_request.h"

namespace retrystorm {

// Polls on a separate thread, so that a server that is frozen, gone or without a status blocks
// nobody.
class ServerMonitor {
 public:
  // `url` must answer with a JSON object that has `concurrency` and `last_delay_s`.
  explicit ServerMonitor(const Url& url);
  ~ServerMonitor();

  ServerMonitor(const ServerMonitor&) = delete;
  ServerMonitor& operator=(const ServerMonitor&) = delete;

  // Empty if the server did not answer the last time. Safe from any thread.
  std::optional<ServerStatus> status() const;

 private:
  void run();
  std::optional<ServerStatus> ask();

  const HttpRequest request_;
  HttpClient client_;

  mutable std::mutex mutex_;
  std::condition_variable end_wanted_;
  bool end_ = false;
  std::optional<ServerStatus> status_;
  std::thread thread_;
};

}  // namespace retrystorm
