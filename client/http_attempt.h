// One client's attempts: over HTTP or HTTPS, within a total deadline.
#pragma once

#include <httplib.h>

#include <atomic>
#include <memory>
#include <optional>

#include "client/deadlines.h"
#include "client/http_request.h"
#include "model/retry/attempt_result.h"

namespace retrystorm {

// Sends one attempt at a time, each on a connection of its own. For one thread.
class HttpAttempt final : private Expiring {
 public:
  // No attempt lasts longer than `timeout`. `request` and `deadlines` outlive the last attempt.
  HttpAttempt(const HttpRequest& request, Duration timeout, Deadlines& deadlines);

  // Returns within `patience` and a few milliseconds, whatever the server does. `service`, if
  // given, gets what the answer, which is asked for it, says of how long it was in the service.
  AttemptResult run(Duration patience, std::optional<Duration>* service = nullptr);

 private:
  void expire() override;

  const HttpRequest& request_;
  std::unique_ptr<httplib::ClientImpl> client_;
  Deadlines& deadlines_;
  std::atomic<bool> expired_{false};    // the attempt at hand
  std::atomic<int> interruptible_{-1};  // https: a descriptor of ours for its socket
};

}  // namespace retrystorm
