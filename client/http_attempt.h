// One client's attempts: GET over HTTP within a total deadline.
#pragma once

#include <httplib.h>

#include <atomic>
#include <optional>
#include <string>

#include "client/deadlines.h"
#include "client/url.h"
#include "model/retry/attempt_result.h"

namespace retrystorm {

// Sends one attempt at a time, each on a connection of its own. For one thread.
class HttpAttempt final : private Expiring {
 public:
  // No attempt lasts longer than `timeout`. `deadlines` outlives the last attempt.
  HttpAttempt(const Url& url, Duration timeout, Deadlines& deadlines);

  // Returns within `patience` and a few milliseconds, whatever the server does. `service`, if
  // given, gets what the answer, which is asked for it, says of how long it was in the service.
  AttemptResult run(Duration patience, std::optional<Duration>* service = nullptr);

 private:
  void expire() override;

  httplib::Client client_;
  std::string path_;
  Deadlines& deadlines_;
  std::atomic<bool> expired_{false};  // the attempt at hand
};

}  // namespace retrystorm
