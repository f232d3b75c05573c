// One client's attempts: GET over HTTP within a total deadline.
#pragma once

#include <httplib.h>

#include <cstdint>
#include <mutex>

#include "client/deadlines.h"
#include "client/url.h"
#include "model/retry/attempt_result.h"

namespace retrystorm {

// Sends one attempt at a time, each on a connection of its own. For one thread.
class HttpAttempt final : private Expiring {
 public:
  // `deadlines` outlives the last attempt; this object outlives `deadlines`, or its own last
  // attempt by the timeout: until then it may be called back.
  HttpAttempt(const Url& url, Deadlines& deadlines);

  // Returns within the timeout and a few milliseconds, whatever the server does.
  AttemptResult run();

 private:
  void expire(std::uint64_t attempt) override;

  httplib::Client client_;
  std::string path_;
  Deadlines& deadlines_;

  std::mutex mutex_;           // held while the attempt at hand is being expired
  std::uint64_t attempt_ = 0;  // number of the attempt at hand
  bool under_way_ = false;
  bool expired_ = false;
};

}  // namespace retrystorm
