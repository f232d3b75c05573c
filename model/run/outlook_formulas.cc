#include "model/run/outlook_formulas.h"

#include <algorithm>
#include <chrono>
#include <cmath>

namespace retrystorm {

double mean_service_seconds(const ServiceOptions& service) {
  return to_seconds(service.workers.service_time.mean());
}

namespace {

// The wait before the retry with this number, from 0. The last one repeats.
Duration wait_of(const std::vector<Duration>& waits, std::size_t retry) {
  return waits.empty() ? Duration::zero() : waits[std::min(retry, waits.size() - 1)];
}

}  // namespace

Duration time_of(const std::vector<Duration>& waits, Duration timeout, double attempts) {
  if (attempts == kUnlimited) return Duration::max();
  Duration sum = scale(timeout, attempts);
  if (waits.empty()) return sum;
  const auto before_last = static_cast<double>(waits.size() - 1);
  for (std::size_t i = 0; static_cast<double>(i) < std::min(attempts - 1, before_last); ++i) {
    sum = saturating_add(sum, waits[i]);
  }
  const double repeated = attempts - 1 - before_last;
  return repeated > 0 ? saturating_add(sum, scale(waits.back(), repeated)) : sum;
}

double client_rate_of(const WorkloadOptions& workload) {
  const ClientRateSettings& rate = workload.retry.process.client_rate;
  return rate.kind != ClientRateSettings::Kind::kFixed
             ? kUnlimited
             : rate.rate * static_cast<double>(process_count(workload));
}

double most_in_service(const ServiceOptions& service) {
  const double most =
      std::min(or_unlimited(service.shed_above, 0), or_unlimited(service.max_connections, 0));
  return service.capacity == Capacity::kCurve
             ? std::min(service.curve().best_concurrency(), most)
             : std::min(static_cast<double>(service.workers.workers), most);
}

double late_from(const ServiceOptions& service, Duration timeout) {
  if (timeout == Duration::max()) return kUnlimited;
  if (service.capacity == Capacity::kCurve) {
    const double late = service.curve().concurrency_of_delay(timeout);
    const double most = or_unlimited(service.max_connections, 0);
    // With fewer in it the others wait in the accept queue, and as many are answered in time.
    return most >= late ? late : service.curve().throughput(most) * to_seconds(timeout);
  }
  const double mean = mean_service_seconds(service);
  if (mean <= 0) return kUnlimited;
  return std::max((to_seconds(timeout) - mean) * most_in_service(service) / mean, 0.0);
}

double capacity_of(const ServiceOptions& service) {
  double capacity = kUnlimited;
  const double most = most_in_service(service);
  if (service.capacity == Capacity::kCurve) {
    if (most != kUnlimited) capacity = service.curve().throughput(most);
  } else if (const double mean = mean_service_seconds(service); mean > 0) {
    capacity = most / mean;
  }
  return service.rate_limit.rate > 0 ? std::min(capacity, service.rate_limit.rate) : capacity;
}

double attempts_before(Duration deadline, Duration timeout, const std::vector<Duration>& waits,
                       double most) {
  if (deadline == Duration::max()) return most;
  Duration begins{0};
  double attempts = 0;
  for (const Duration wait : waits) {
    if (begins >= deadline) break;
    ++attempts;
    begins = saturating_add(begins, saturating_add(timeout, wait));
  }
  if (begins < deadline) {  // the last wait repeats
    const Duration cycle = saturating_add(timeout, wait_of(waits, waits.size()));
    attempts += std::ceil(to_seconds(deadline - begins) / to_seconds(cycle));
  }
  return std::min(attempts, most);
}

double retries_paid(const BudgetSettings& budget, double processes, double requests,
                    Duration timeout, Duration wait) {
  if (budget.kind == BudgetSettings::Kind::kNone) return kUnlimited;
  if (budget.kind == BudgetSettings::Kind::kTokens) {
    const double cost =
        budget.timeout_cost == BudgetSettings::kNone ? budget.cost : budget.timeout_cost;
    const double deposit = budget.deposit_on == DepositOn::kRequest ? budget.deposit : 0;
    const double spent = cost + budget.failure_cost;
    const double paid = std::max(deposit - budget.failure_cost, 0.0);
    if (spent == 0) return kUnlimited;
    const double free = budget.ttl == Duration::max() ? 0 : budget.minimum_rate * processes;
    return requests * paid / spent + free;
  }
  // The limit is on retries at a time. Each counts during its wait and its attempt.
  const double seconds = to_seconds(saturating_add(timeout, wait));
  const double least = budget.min_concurrency * processes / seconds;
  if (budget.share == BudgetSettings::kNone) return least;
  if (budget.interval != Duration::max()) {
    return std::max(least, budget.share * requests * to_seconds(budget.interval) / seconds);
  }
  if (budget.share >= 1) return kUnlimited;
  return std::max(least, budget.share / (1 - budget.share) * requests);
}

double retries_banked(const BudgetSettings& budget, double processes, double cost, double calm_rate,
                      Duration calm) {
  if (budget.kind != BudgetSettings::Kind::kTokens) return 0;
  // Each retry follows a failure.
  const double spent = cost + budget.failure_cost;
  if (spent <= 0) return 0;
  const bool bucket = budget.ttl == Duration::max();
  double tokens = processes * budget.tokens;
  if (bucket && budget.threshold != BudgetSettings::kNone) tokens *= 1 - budget.threshold;
  if (!bucket) {
    tokens = processes * budget.minimum_rate * to_seconds(budget.ttl) * budget.cost +
             budget.deposit * calm_rate * to_seconds(std::min(calm, budget.ttl));
  }
  return tokens / spent;
}

bool grows_with_processes(const BudgetSettings& budget) {
  switch (budget.kind) {
    case BudgetSettings::Kind::kTokens:
      return budget.ttl == Duration::max() || budget.minimum_rate > 0;
    case BudgetSettings::Kind::kConcurrent:
      return budget.min_concurrency > 0;
    case BudgetSettings::Kind::kNone:
      break;
  }
  return false;
}

Duration mean_answer(const ServiceOptions& service) {
  return service.capacity == Capacity::kWorkers ? service.workers.service_time.mean()
                                                : service.base_delay;
}

std::optional<Duration> usual_hint(const HintOfferSettings& hint, double rate) {
  if (hint.kind == HintKind::kNone) return std::nullopt;
  MiddleRandom middle;
  return offered_hint(hint, rate > 0 ? from_seconds(0.5 / rate) : Duration::zero(), middle);
}

std::optional<AttemptResult> failure_in(const Disturbance& outage, const ServiceOptions& service) {
  switch (outage.kind) {
    case Disturbance::Kind::kFreeze:
      return timed_out(Duration::zero());
    case Disturbance::Kind::kDrop:
      return not_connected(Duration::zero());
    case Disturbance::Kind::kErrors: {
      const int status = outage.status.value_or(service.errors.status);
      const bool hinted = hints_at_errors(service.hint, status);
      return answered(status, hinted ? usual_hint(service.hint, 0) : std::nullopt, {});
    }
    case Disturbance::Kind::kThrottle: {
      const int status = service.rate_limit.status;
      return answered(status, usual_hint(service.hint, outage.value), Duration::zero(),
                      status == 400);
    }
    default:
      return std::nullopt;
  }
}

}  // namespace retrystorm
