#include "retrystorm/service_fit.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "model/base/random.h"
#include "model/base/text.h"

namespace retrystorm {
namespace {

constexpr double kEndless = std::numeric_limits<double>::infinity();

// The root of the mean square of the logarithms of measured by modelled.
double error_of(const ServiceModel& model, const std::vector<LoadStep>& steps) {
  double sum = 0;
  for (const LoadStep& step : steps) {
    const double log = std::log(step.time / model.time_at(step.clients));
    sum += log * log;
  }
  return std::sqrt(sum / static_cast<double>(steps.size()));
}

// Tries each whole number from `least` up to the greatest concurrency.
template <typename Fit>
ServiceModel scan(const std::vector<LoadStep>& steps, double least, Fit fit) {
  ServiceModel best;
  double nearest = kEndless;
  for (double value = least; value <= std::ceil(steps.back().clients); ++value) {
    const ServiceModel model = fit(value);
    const double error = error_of(model, steps);
    // A tie, such as workers that no step has filled, goes to the greater one.
    if (error > nearest * (1 + 1e-9)) continue;
    nearest = error;
    best = model;
  }
  return best;
}

double mean_log_time(const std::vector<LoadStep>& steps, const ServiceModel& of_one_second) {
  double sum = 0;
  for (const LoadStep& step : steps) {
    sum += std::log(step.time / of_one_second.time_at(step.clients));
  }
  return sum / static_cast<double>(steps.size());
}

ServiceModel curve_above(const std::vector<LoadStep>& steps, double limit) {
  double x = 0, y = 0, xx = 0, xy = 0;
  for (const LoadStep& step : steps) {
    const double above = std::max(0.0, step.clients - limit), log = std::log(step.time);
    x += above;
    y += log;
    xx += above * above;
    xy += above * log;
  }
  const auto count = static_cast<double>(steps.size());
  const double spread = count * xx - x * x;
  const double growth = spread > 0 ? std::max(0.0, (count * xy - x * y) / spread) : 0;
  return {.kind = ServiceModel::Kind::kCurve,
          .time = std::exp((y - growth * x) / count),
          .limit = limit,
          .growth = growth};
}

ServiceModel fit(ServiceModel::Kind kind, const std::vector<LoadStep>& steps) {
  return kind == ServiceModel::Kind::kWorkers ? fit_workers(steps) : fit_curve(steps);
}

FitRange span_of(std::vector<double> values) {
  std::ranges::sort(values);
  const std::size_t cut = values.size() / 40;
  return {values[cut], values[values.size() - 1 - cut]};
}

}  // namespace

LoadStep step_of(double clients, std::vector<double> times, std::size_t errors, double seconds) {
  std::ranges::sort(times);
  double sum = 0, squares = 0;
  for (const double time : times) {
    sum += time;
    squares += time * time;
  }
  const auto count = static_cast<double>(times.size()), failed = static_cast<double>(errors);
  const auto at = [&times](double q) {
    return times[static_cast<std::size_t>(q * static_cast<double>(times.size() - 1))];
  };
  const double time = sum / count;
  return {.clients = clients,
          .rate = count / seconds,
          .time = time,
          .p50 = at(0.5),
          .p95 = at(0.95),
          .variation = std::sqrt(std::max(0.0, squares / count / (time * time) - 1)),
          .answers = times.size(),
          .errors = failed / (count + failed),
          .quick = static_cast<double>(std::ranges::lower_bound(times, time / 2) - times.begin()) /
                   count};
}

double most_clients(const std::vector<LoadStep>& steps) {
  double most = 0;
  for (const LoadStep& each : steps) most = std::max(most, each.clients);
  return most;
}

double ServiceModel::time_at(double n) const {
  if (kind == Kind::kCurve) return time * std::exp(growth * std::max(0.0, n - limit));
  return workers > 0 ? time * std::max(1.0, n / workers) : time;
}

double ServiceModel::best_concurrency() const {
  if (kind == Kind::kWorkers) return workers > 0 ? workers : kEndless;
  return growth > 0 ? std::max(limit, 1 / growth) : kEndless;
}

double ServiceModel::capacity() const {
  const double n = best_concurrency();
  return std::isinf(n) ? kEndless : n / time_at(n);
}

ServiceModel fit_workers(const std::vector<LoadStep>& steps) {
  ServiceModel model = scan(steps, 1, [&steps](double workers) {
    ServiceModel each{.time = 1, .workers = workers};
    each.time = std::exp(mean_log_time(steps, each));
    return each;
  });
  if (model.workers >= steps.back().clients) model.workers = 0;
  return model;
}

ServiceModel fit_curve(const std::vector<LoadStep>& steps) {
  return scan(steps, 0, [&steps](double limit) { return curve_above(steps, limit); });
}

FittedService fit_service(std::vector<LoadStep> steps) {
  std::ranges::stable_sort(steps, {}, &LoadStep::clients);
  if (steps.size() < kLeastSteps) {
    refuse("a service follows from at least " + std::to_string(kLeastSteps) +
           " steps, and there are " + std::to_string(steps.size()));
  }
  std::vector<LoadStep> fitted, held_out;
  for (std::size_t i = 0; i < steps.size(); ++i)
    (i % 3 == 2 ? held_out : fitted).push_back(steps[i]);
  using Kind = ServiceModel::Kind;
  const double of_workers = error_of(fit_workers(fitted), held_out);
  const double of_curve = error_of(fit_curve(fitted), held_out);
  // The curve has a parameter more: it must be nearer by more than chance, and by what overhead alone does not make.
  constexpr double kNearer = 0.8, kOverhead = 0.02;
  const bool curve = of_curve < std::min(kNearer * of_workers, of_workers - kOverhead);
  const Kind kind = curve ? Kind::kCurve : Kind::kWorkers;
  FittedService service;
  service.model = fit(kind, steps);
  service.error = kind == Kind::kCurve ? of_curve : of_workers;
  service.other_error = kind == Kind::kCurve ? of_workers : of_curve;

  constexpr std::size_t kResamples = 200;
  ClientRandom random(1, 0);
  std::vector<double> time, workers, limit, growth, capacity;
  for (std::size_t i = 0; i < kResamples; ++i) {
    std::vector<LoadStep> again = steps;
    for (LoadStep& step : again) {
      const double answers = std::max<double>(1, static_cast<double>(step.answers));
      step.time *= std::exp(random.normal() * step.variation / std::sqrt(answers));
    }
    const ServiceModel model = fit(kind, again);
    time.push_back(model.time);
    workers.push_back(model.workers > 0 ? model.workers : kEndless);
    limit.push_back(model.limit);
    growth.push_back(model.growth);
    capacity.push_back(model.capacity());
  }
  service.time = span_of(time);
  service.workers = span_of(workers);
  service.limit = span_of(limit);
  service.growth = span_of(growth);
  service.capacity = span_of(capacity);
  return service;
}

}  // namespace retrystorm
