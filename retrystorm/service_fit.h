// A service from steps of concurrency: how long its answers take while so many requests are in it.
#pragma once

#include <cstddef>
#include <vector>

namespace retrystorm {

// What was measured while a number of closed clients without a think time kept as many requests in the service.
struct LoadStep {
  double clients = 0;  // the requests in the service; of others' files an average
  double rate = 0;     // OK answers a second
  double time = 0;     // the mean time of an OK answer, seconds
  double p50 = 0, p95 = 0;
  double variation = 0;  // the times' standard deviation by their mean (CV)
  std::size_t answers = 0;
  double errors = 0;  // the share of all attempts that were not OK
  double quick = 0;   // the share of the OK answers in less than half the mean time; not of tables
};

// The step of OK answers that took these times (at least one), in so many seconds, beside so many errors.
LoadStep step_of(double clients, std::vector<double> times, std::size_t errors, double seconds);

// The greatest concurrency; 0 without steps.
double most_clients(const std::vector<LoadStep>& steps);

// The time of an answer as a function of the concurrency n.
//   workers: time x max(1, n / workers): all that n clients keep busy are min(n, workers) (exact for closed clients
//            without a think time, whatever the law of the times).
//   curve:   time x e^(growth x max(0, n - limit)), the server's own curve: factor = e, K = 1 / growth.
struct ServiceModel {
  enum class Kind { kWorkers, kCurve };
  Kind kind = Kind::kWorkers;
  double time = 0;     // of an answer without other load, seconds
  double workers = 0;  // 0: as many as were measured, or more
  double limit = 0, growth = 0;

  double time_at(double n) const;
  // The most answers a second, and of a curve at which concurrency. Infinite without a knee.
  double capacity() const;
  double best_concurrency() const;
};

// The least squares of the logarithm of the times: workers and limits are scanned, the rest follows. Needs two steps with
// different concurrency for workers, three for a curve. `steps` in the order of their concurrency.
ServiceModel fit_workers(const std::vector<LoadStep>& steps);
ServiceModel fit_curve(const std::vector<LoadStep>& steps);

struct FitRange {
  double low = 0, high = 0;
};

struct FittedService {
  ServiceModel model;
  // How far the times of the steps that were held out (every third) are from this model and from the other one: the
  // root of the mean square of the logarithms, about a relative error.
  double error = 0, other_error = 0;
  // 95 % of 200 resamples of the steps, with the errors of the means that their answers allow.
  FitRange time, workers, limit, growth, capacity;
};

constexpr std::size_t kLeastSteps = 4;

// The model that is nearer to the steps that were held out, fitted to all of them. Throws std::invalid_argument for
// fewer than `kLeastSteps`.
FittedService fit_service(std::vector<LoadStep> steps);

}  // namespace retrystorm
