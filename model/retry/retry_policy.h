// How long a client waits before it tries again: the strategies of the articles.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "model/base/duration.h"
#include "model/base/random.h"

namespace retrystorm {

enum class Strategy { kFixed, kLinear, kExponential, kTruncated, kResponsive };

// Where the exponential sequence starts: at min_delay, as the article says, or at the last think
// time, as the original's code does.
enum class BackoffFrom { kMinDelay, kThinkTime };

// Every strategy's parameters, with the defaults of the articles.
struct RetryOptions {
  Strategy strategy = Strategy::kFixed;
  std::uint32_t max_retries = 0;  // then the request is given up; 0 = never (truncated: 5)

  Duration fixed_delay = std::chrono::milliseconds(100);

  Duration linear_initial = std::chrono::seconds(1);
  Duration linear_step = std::chrono::seconds(1);

  Duration max_delay = std::chrono::minutes(5);  // linear and exponential

  Duration min_delay = std::chrono::milliseconds(100);
  double factor = 2.71828;
  double jitter = 0.1;
  BackoffFrom backoff_from = BackoffFrom::kMinDelay;

  Duration truncated_base = std::chrono::seconds(1);
  Duration maximum_backoff = std::chrono::seconds(32);
  Duration random = std::chrono::seconds(1);

  Duration initial_interval = std::chrono::milliseconds(500);
  Duration max_interval = std::chrono::minutes(15);
  double up_multiplier = 1.5;
  double down_multiplier = 0.9;
  std::uint32_t down_threshold = 10;
  double randomization = 0.3;
  Duration max_randomization = std::chrono::minutes(2);
};

// After how many retries of one request these options give up; 0 = never.
std::uint32_t retry_limit(const RetryOptions& options);

// What a policy remembers of one client. Small, for there may be millions.
struct RetryState {
  Duration delay{0};            // the last wait, from which the next one is computed
  std::uint32_t retries = 0;    // of the request at hand
  std::uint32_t successes = 0;  // responsive: counted since the last step down
};

// What the policies did, summed over the clients that share the object: the AutoSleeper's metrics.
struct RetryMetrics {
  std::uint64_t invocations = 0;  // outcomes seen
  std::uint64_t ups = 0;          // responsive: steps up
  std::uint64_t downs = 0;        // responsive: steps down
  std::uint64_t sleeps = 0;       // waits asked for, think times apart
  Duration total_sleep{0};

  RetryMetrics& operator+=(const RetryMetrics& other);
};

// A strategy. It is a rule without memory, shared by all clients and threads; what it remembers of
// a client is in that client's RetryState. It never sleeps and never asks the time: it answers
// "wait so long".
class RetryPolicy {
 public:
  virtual ~RetryPolicy() = default;
  RetryPolicy(const RetryPolicy&) = delete;
  RetryPolicy& operator=(const RetryPolicy&) = delete;

  // A new request is to be sent after `think_time`.
  void begin_request(RetryState& state, Duration think_time) const {
    state.retries = 0;
    on_begin_request(state, think_time);
  }

  // The wait before the next retry.
  Duration after_failure(RetryState& state, Random& random, RetryMetrics& metrics) const;

  // The wait before the think time that follows a success.
  Duration after_success(RetryState& state, Random& random, RetryMetrics& metrics) const;

  // The wait before the think time that follows the last failure of a request that is given up.
  Duration after_giving_up(RetryState& state, Random& random, RetryMetrics& metrics) const;

 protected:
  RetryPolicy() = default;

 private:
  virtual void on_begin_request(RetryState&, Duration /*think_time*/) const {}
  virtual Duration next_wait(RetryState& state, Random& random, RetryMetrics& metrics) const = 0;
  // A client that paces itself goes on sleeping after successes and when it gives up.
  virtual bool paces() const { return false; }
  virtual Duration wait_after_success(RetryState&, Random&, RetryMetrics&) const {
    return Duration::zero();
  }
};

// The policy of these options, which must be in range (see options.h). Owned by the caller.
std::unique_ptr<RetryPolicy> make_retry_policy(const RetryOptions& options);

}  // namespace retrystorm
