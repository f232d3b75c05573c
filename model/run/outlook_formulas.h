// The formulas of the outlook: what a service can do, what comes while everything fails, and what budgets
// pay for. They are averages that ignore randomness. Rates are per second; what has no limit is infinite. A wait
// below zero is that before a hedge, which begins before the attempt ends.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <vector>

#include "model/base/duration.h"
#include "model/base/random.h"
#include "model/retry/attempt.h"
#include "model/retry/budgets.h"
#include "model/run/disturbance.h"
#include "model/run/workload.h"
#include "model/service/service_options.h"

namespace retrystorm {

inline constexpr double kUnlimited = std::numeric_limits<double>::infinity();

// A setting of which the value `none` means no limit.
inline double or_unlimited(std::size_t count, std::size_t none) {
  return count == none ? kUnlimited : static_cast<double>(count);
}

// The mean service time of workers, in seconds.
double mean_service_seconds(const ServiceOptions& service);

// How long an idle service takes to answer, on average.
Duration mean_answer(const ServiceOptions& service);

// The middle of all that is random.
class MiddleRandom final : public Random {
 public:
  using Random::uniform;
  double uniform() override { return 0.5; }
};

// The usual hint of what is turned away, where `rate` requests a second are admitted (0: no limit). Empty: none.
std::optional<Duration> usual_hint(const HintOfferSettings& hint, double rate);

// How attempts fail during the outage, if all fail in the same way. Empty if they do not.
std::optional<AttemptResult> failure_in(const Disturbance& outage, const ServiceOptions& service);

// The attempts that all processes send at most.
double client_rate_of(const WorkloadOptions& workload);

// How long a request takes whose attempts all take the timeout. The last wait repeats. `Duration::max()` without
// a limit on the attempts.
Duration time_of(const std::vector<Duration>& waits, Duration timeout, double attempts);

// How many requests are served at the same time when the service does the most it can.
double most_in_service(const ServiceOptions& service);

// How many requests a second the service can serve.
double capacity_of(const ServiceOptions& service);

// With more requests than this in the service and its accept queue (workers: waiting for one), answers come
// after the timeout. Infinite if they never do.
double late_from(const ServiceOptions& service, Duration timeout);

// How many attempts of a request can begin before its deadline if each takes the timeout.
double attempts_before(Duration deadline, Duration timeout, const std::vector<Duration>& waits,
                       double most);

// The retries per second that the budgets of this many processes pay for while everything fails.
// `requests` begin each second, and a failed attempt takes the timeout. Infinite without a budget.
double retries_paid(const BudgetSettings& budget, double processes, double requests,
                    Duration timeout, Duration wait);

// The retries that full budgets of this many processes pay for once, besides `retries_paid`. `calm_rate`
// requests per second succeeded for `calm`.
double retries_banked(const BudgetSettings& budget, double processes, double cost, double calm_rate,
                      Duration calm);

// Do more processes pay for more retries of the same requests?
bool grows_with_processes(const BudgetSettings& budget);

}  // namespace retrystorm
