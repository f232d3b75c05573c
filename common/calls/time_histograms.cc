#include "common/calls/time_histograms.h"

#include <initializer_list>
#include <string>
#include <utility>

namespace retrystorm {
namespace {

// In seconds. Fine near the defaults: a base delay of 0.1 and a timeout of 2.
const prometheus::Histogram::BucketBoundaries kLatencies{0.001, 0.01, 0.05, 0.1,  0.11, 0.125, 0.15,
                                                         0.2,   0.3,  0.5,  0.75, 1,    1.5,   2,
                                                         2.1,   3,    5,    10,   30,   60};
const prometheus::Histogram::BucketBoundaries kWaits{0.001, 0.01, 0.05, 0.1, 0.2, 0.5, 1,   2,
                                                     5,     10,   20,   30,  60,  120, 300, 900};
// A request may last from one quick attempt to many long waits.
const prometheus::Histogram::BucketBoundaries kRequestTimes{
    0.001, 0.01, 0.05, 0.1, 0.11, 0.125, 0.15, 0.2, 0.3, 0.5, 1,
    2,     3,    5,    10,  20,   30,    60,   120, 300, 900, 3600};

prometheus::MetricFamily family(
    const std::string& name, const std::string& help, const std::string& label,
    std::initializer_list<std::pair<const char*, const prometheus::Histogram*>> members) {
  prometheus::MetricFamily result{
      .name = name, .help = help, .type = prometheus::MetricType::Histogram, .metric = {}};
  for (const auto& [value, histogram] : members) {
    prometheus::ClientMetric metric = histogram->Collect();
    if (!label.empty()) metric.label.push_back({.name = label, .value = value});
    result.metric.push_back(std::move(metric));
  }
  return result;
}

}  // namespace

TimeHistograms::TimeHistograms()
    : ok_(kLatencies),
      error_(kLatencies),
      timed_out_(kLatencies),
      retry_wait_(kWaits),
      succeeded_(kRequestTimes),
      given_up_(kRequestTimes) {}

void TimeHistograms::add_attempt(Outcome outcome, Duration latency) {
  switch (outcome) {
    case Outcome::kOk:
      return ok_.Observe(to_seconds(latency));
    case Outcome::kError:
      return error_.Observe(to_seconds(latency));
    case Outcome::kTimedOut:
      return timed_out_.Observe(to_seconds(latency));
  }
}

void TimeHistograms::add_retry_wait(Duration wait) {
  retry_wait_.Observe(to_seconds(wait));
}

void TimeHistograms::add_request(RequestResult result, Duration time) {
  (result == RequestResult::kSucceeded ? succeeded_ : given_up_).Observe(to_seconds(time));
}

TimeHistograms::RetryWaits TimeHistograms::retry_waits() const {
  const auto now = retry_wait_.Collect().histogram;
  return {.count = now.sample_count, .seconds = now.sample_sum};
}

std::vector<prometheus::MetricFamily> TimeHistograms::families() const {
  return {
      family("retrystorm_attempt_latency_seconds", "How long attempts lasted, by outcome.",
             "outcome", {{"ok", &ok_}, {"error", &error_}, {"timed_out", &timed_out_}}),
      family("retrystorm_retry_wait_seconds",
             "How long the strategy let clients wait before a retry.", "", {{"", &retry_wait_}}),
      family("retrystorm_request_time_seconds",
             "How long requests took from the first attempt to the end, by how they ended.",
             "result", {{"succeeded", &succeeded_}, {"given_up", &given_up_}})};
}

}  // namespace retrystorm
