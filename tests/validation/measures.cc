#include "tests/validation/measures.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/base/duration.h"
#include "tests/validation/observed_run.h"

namespace retrystorm::validation {
namespace {

using namespace std::chrono_literals;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// --- Options ---

std::string text(double number) {
  std::array<char, 32> digits{};
  std::snprintf(digits.data(), digits.size(), "%.6g", number);
  return digits.data();
}

std::string text(int count) {
  return std::to_string(count);
}

std::string in_seconds(double time) {
  return text(time) + 's';
}

// If both have an option, `more` counts.
NamedOptions with(NamedOptions options, const NamedOptions& more) {
  for (const auto& [name, value] : more) options.insert_or_assign(name, value);
  return options;
}

NamedOptions undisturbed(double seconds) {
  return {{"outage-at", "0s"}, {"outage-for", "0s"}, {"observe", in_seconds(seconds)}};
}

// The options of open arrivals.
NamedOptions open(double rate, double seconds, const NamedOptions& more) {
  return with(with(undisturbed(seconds), {{"arrivals", "open"}, {"rate", text(rate)}}), more);
}

// The options of clients that think.
NamedOptions closed(int clients, double seconds, const NamedOptions& more) {
  return with(with(undisturbed(seconds), {{"clients", text(clients)}}), more);
}

// --- Figures ---

// A measure of one run. `figure` is computed from the observed run.
template <typename Figure>
Measure of_run(Experiment experiment, Figure figure) {
  return [experiment = std::move(experiment), figure = std::move(figure)](std::uint64_t seed) {
    return static_cast<double>(figure(observe(experiment, seed)));
  };
}

double ratio(std::uint64_t part, std::uint64_t all) {
  return static_cast<double>(part) / static_cast<double>(all);
}

// The sum of `value` over the reports of intervals that end after `from`, and how many there are.
template <typename Report, typename Value>
std::pair<double, double> sum_after(Duration from, const std::vector<Report>& reports,
                                    const Value& value) {
  double sum = 0, n = 0;
  for (const Report& each : reports) {
    if (each.t <= from) continue;
    sum += static_cast<double>(value(each));
    ++n;
  }
  return {sum, n};
}

template <typename Report, typename Value>
double mean_after(Duration from, const std::vector<Report>& reports, const Value& value) {
  const auto [sum, n] = sum_after(from, reports, value);
  return sum / n;
}

// The time from `from` to the end of the first interval after it for which `is_it` holds.
template <typename Report, typename IsIt>
double first_after(Duration from, const std::vector<Report>& reports, const IsIt& is_it) {
  for (const Report& each : reports) {
    if (each.t > from && is_it(each)) return to_seconds(each.t - from);
  }
  return kNone;
}

double attempts_of(const RunInterval& interval) {
  return interval.rates.attempts;
}

std::size_t waiting_to_retry(const RunInterval& interval) {
  return interval.clients.waiting_to_retry;
}

std::size_t waiting_for_workers(const ServiceReport& report) {
  return report.interval.workers->waiting;
}

std::size_t concurrency(const ServiceReport& report) {
  return report.interval.concurrency;
}

double most_waiting(Duration from, const ObservedRun& run) {
  std::size_t most = 0;
  for (const ServiceReport& each : run.service) {
    if (each.t > from) most = std::max(most, waiting_for_workers(each));
  }
  return static_cast<double>(most);
}

double share_of_errors(const ObservedRun& run) {
  const Counts& counts = run.summary.counts;
  return ratio(counts.errors, counts.errors + counts.ok);
}

}  // namespace

// --- Retries ---

namespace {

Experiment retried(double p, int attempts, const NamedOptions& more) {
  return {.options =
              with(open(200, 500, {{"error-share", text(p)}, {"max-retries", text(attempts - 1)}}),
                   more)};
}

}  // namespace

Measure retried_success(double p, int attempts, const NamedOptions& more) {
  return of_run(retried(p, attempts, more), [](const ObservedRun& run) {
    const Counts& counts = run.summary.counts;
    return ratio(counts.ok, counts.ok + counts.gave_up());
  });
}

Measure retried_attempts(double p, int attempts, const NamedOptions& more) {
  return of_run(retried(p, attempts, more), [](const ObservedRun& run) {
    const Counts& counts = run.summary.counts;
    return ratio(counts.ok + counts.errors, counts.ok + counts.gave_up());
  });
}

Measure retried_load(double l, double c, int attempts, double seconds, double wait) {
  return of_run(
      {.options = open(l, seconds,
                       {{"rate-limit", text(c)},
                        {"max-retries", text(attempts - 1)},
                        {"backoff-base", in_seconds(wait)},
                        {"jitter", "full"},
                        {"base-delay", "0s"}}),
       .interval = 100s},
      [](const ObservedRun& run) { return mean_after(200s, run.intervals, attempts_of); });
}

Measure refused_in(int second, double l, double c, int attempts, double burst) {
  return of_run({.options = open(l, second,
                                 {{"rate-limit", text(c)},
                                  {"rate-burst", text(burst)},
                                  {"max-retries", text(attempts - 1)},
                                  {"backoff-base", "1s"},
                                  {"base-delay", "0s"}}),
                 .interval = 1s},
                [](const ObservedRun& run) { return run.intervals.back().rates.errors; });
}

Measure all_failing(const NamedOptions& more) {
  return of_run({.options = open(200, 1000, with({{"error-share", "1"}}, more))},
                [](const ObservedRun& run) {
                  const Counts& counts = run.summary.counts;
                  return ratio(counts.requests + counts.retries, counts.requests);
                });
}

Measure sent(double g, double k, double c) {
  return of_run(
      {.options = open(g, 900,
                       {{"throttle", "sre"},
                        {"throttle-ratio", text(k)},
                        {"rate-limit", text(c)},
                        {"strategy", "none"},
                        {"base-delay", "0s"}}),
       .interval = 100s},
      [](const ObservedRun& run) { return mean_after(300s, run.intervals, attempts_of); });
}

namespace {

// All requests have been sent to a frozen server. After its success, a client thinks for minutes.
Experiment contention(int n, const char* jitter) {
  return {.options = {{"clients", text(n)},
                      {"lambda", "200s"},
                      {"timeout", "10000s"},
                      {"outage-at", "0s"},
                      {"outage-for", "3000s"},
                      {"observe", "300s"},
                      {"shed-above", "1"},
                      {"base-delay", "10ms"},
                      {"strategy", "fixed"},
                      {"growth", "exponential"},
                      {"backoff-base", "20ms"},
                      {"backoff-cap", "2s"},
                      {"jitter", jitter}}};
}

}  // namespace

Measure contended_refusals(int n, const char* jitter) {
  return of_run(contention(n, jitter),
                [](const ObservedRun& run) { return run.summary.counts.errors; });
}

Measure contended_waits(int n, const char* jitter) {
  return of_run(contention(n, jitter), [](const ObservedRun& run) {
    return to_seconds(run.summary.retry_metrics.total_sleep);
  });
}

Measure clamped_wait(const NamedOptions& more) {
  // Uses the second half of a run: by then every client is at the cap.
  const auto run_for = [more](double seconds, std::uint64_t seed) {
    const NamedOptions options =
        with({{"lambda", "1s"}, {"error-share", "1"}, {"max-retries", "none"}}, more);
    return observe({.options = closed(100, seconds, options)}, seed).summary.retry_metrics;
  };
  return [run_for](std::uint64_t seed) {
    const RetryMetrics half = run_for(2000, seed), whole = run_for(4000, seed);
    return to_seconds(whole.total_sleep - half.total_sleep) /
           static_cast<double>(whole.sleeps - half.sleeps);
  };
}

// --- Budgets ---

Measure retries_in_all(const NamedOptions& more) {
  return of_run({.options = open(100, 100, more)},
                [](const ObservedRun& run) { return run.summary.counts.retries; });
}

Measure retried_failures(double p, const NamedOptions& more) {
  return of_run(
      {.options = open(
           1000, 600,
           with({{"error-share", text(p)}, {"base-delay", "0s"}, {"backoff-base", "1ms"}}, more)),
       .interval = 100s},
      [](const ObservedRun& run) {
        return mean_after(400s, run.intervals, [](const RunInterval& each) {
          return each.rates.retries / each.rates.errors;
        });
      });
}

Measure retries_a_second(double rate, const NamedOptions& more) {
  return of_run({.options = open(rate, 1000, with({{"error-share", "1"}}, more)), .interval = 100s},
                [](const ObservedRun& run) {
                  return mean_after(100s, run.intervals,
                                    [](const RunInterval& each) { return each.rates.retries; });
                });
}

Measure retries_at_a_time(int clients, const NamedOptions& more) {
  return of_run(
      {.options = closed(clients, 1100,
                         with({{"processes", "1"},
                               {"lambda", "1ms"},
                               {"base-delay", "100ms"},
                               {"limit", "1000"},
                               {"error-share", "1"},
                               {"error-after", "service"},
                               {"max-retries", "1"},
                               {"backoff-base", "20s"}},
                              more)),
       .interval = 1s},
      [](const ObservedRun& run) { return mean_after(100s, run.intervals, waiting_to_retry); });
}

Measure retries_a_request(double p, const NamedOptions& more) {
  return of_run({.options = open(1000, 1000,
                                 with({{"error-share", text(p)},
                                       {"max-retries", "2"},
                                       {"base-delay", "0s"},
                                       {"backoff-base", "1ms"}},
                                      more)),
                 .interval = 100s},
                [](const ObservedRun& run) {
                  return mean_after(300s, run.intervals, [](const RunInterval& each) {
                    const Rates& rates = each.rates;
                    return rates.retries / (rates.attempts - rates.retries);
                  });
                });
}

// --- Hedges ---

namespace {

// The intervals have no common rhythm with the service times.
Experiment hedged(int c, double l, const std::string& times, double seconds,
                  const NamedOptions& more) {
  return {.options = open(l, seconds,
                          with({{"service", "workers"},
                                {"workers", text(c)},
                                {"service-time", times},
                                {"strategy", "none"},
                                {"timeout", "1000s"}},
                               more)),
          .interval = 470ms,
          .service_interval = 470ms};
}

Experiment never_queues(double l, const std::string& times, const NamedOptions& more) {
  return hedged(100000, l, times, 600, more);
}

std::string exponential_time(double s) {
  return "exponential:" + in_seconds(s);
}

// By Little's law.
double mean_latency(double l, const ObservedRun& run) {
  return mean_after(10s, run.intervals,
                    [](const RunInterval& each) { return each.clients.in_flight; }) /
         l;
}

double mean_busy(const ObservedRun& run) {
  return mean_after(10s, run.service,
                    [](const ServiceReport& each) { return each.interval.workers->busy; });
}

}  // namespace

Measure hedges_a_request(double l, const std::string& times, const NamedOptions& more) {
  return of_run(never_queues(l, times, more), [](const ObservedRun& run) {
    return ratio(run.summary.counts.hedges, run.summary.counts.requests);
  });
}

Measure hedges_of_clients(int clients, const std::string& times, const NamedOptions& more) {
  const NamedOptions service{
      {"service", "workers"}, {"workers", "1000"}, {"service-time", times}, {"timeout", "60s"}};
  return of_run({.options = with(closed(clients, 600, service), more)}, [](const ObservedRun& run) {
    return ratio(run.summary.counts.hedges, run.summary.counts.requests);
  });
}

Measure hedged_latency(double l, const std::string& times, const NamedOptions& more) {
  return of_run(never_queues(l, times, more),
                [l](const ObservedRun& run) { return mean_latency(l, run); });
}

Measure hedged_latency_at(double q, double l, const std::string& times, const NamedOptions& more) {
  return of_run(never_queues(l, times, more), [q](const ObservedRun& run) {
    return to_seconds(*run.summary.latencies.requests().ended.quantile(q));
  });
}

Measure hedged_work(double l, const std::string& times, const NamedOptions& more) {
  return of_run(never_queues(l, times, more),
                [l](const ObservedRun& run) { return mean_busy(run) / l; });
}

Measure slow_fan_outs(int n, double slow, double l, const std::string& times,
                      const NamedOptions& more) {
  return of_run(never_queues(l, times, with({{"deadline", in_seconds(slow)}}, more)),
                [n](const ObservedRun& run) {
                  const Counts& counts = run.summary.counts;
                  const double share = ratio(counts.gave_up(), counts.requests);
                  return 1 - std::pow(1 - share, n);
                });
}

Measure busy_with_hedges(int c, double l, double s, const NamedOptions& more) {
  return of_run(hedged(c, l, exponential_time(s), 2000, more), mean_busy);
}

Measure growing_queue(int c, double l, double s, const NamedOptions& more) {
  const NamedOptions room{{"max-connections", "1000000"}};
  return of_run(hedged(c, l, exponential_time(s), 3000, with(room, more)),
                [](const ObservedRun& run) {
                  const ServiceReport& last = run.service.back();
                  return static_cast<double>(waiting_for_workers(last)) / to_seconds(last.t);
                });
}

Measure latency_with_hedges(int c, double l, double s, const NamedOptions& more) {
  return of_run(hedged(c, l, exponential_time(s), 10000, more),
                [l](const ObservedRun& run) { return mean_latency(l, run); });
}

Measure unanswered_attempts(double l, const NamedOptions& more) {
  return of_run(hedged(1000000, l, "fixed:3000s", 500, more), [](const ObservedRun& run) {
    const auto attempts = sum_after(20s, run.intervals, attempts_of);
    const auto requests =
        sum_after(20s, run.intervals, [](const RunInterval& each) { return each.rates.requests; });
    return attempts.first / requests.first;
  });
}

Measure wanted_hedges(double l, const NamedOptions& more) {
  return of_run(hedged(1000000, l, "fixed:200ms", 60, with({{"hedge", "100ms"}}, more)),
                [](const ObservedRun& run) {
                  return mean_after(30s, run.intervals,
                                    [](const RunInterval& each) { return each.rates.hedges; });
                });
}

// --- Queues and loss ---

Measure waiting(double l, double s, double nu) {
  return of_run(
      {.options = open(l, 30000,
                       {{"shed-above", "1"},
                        {"base-delay", in_seconds(s)},
                        {"backoff-base", in_seconds(1 / nu)},
                        {"jitter", "exponential"}}),
       .interval = 5s},
      [](const ObservedRun& run) { return mean_after(1000s, run.intervals, waiting_to_retry); });
}

Measure waiting_for_worker(double l, double mu, double nu) {
  return of_run(
      {.options = open(l, 15000,
                       {{"service", "workers"},
                        {"workers", "1"},
                        {"queue-length", "0"},
                        {"timeout", "1000s"},
                        {"service-time", "exponential:" + in_seconds(1 / mu)},
                        {"backoff-base", in_seconds(1 / nu)},
                        {"jitter", "exponential"}}),
       .interval = 5s},
      [](const ObservedRun& run) { return mean_after(1000s, run.intervals, waiting_to_retry); });
}

Measure busy(double l, double s, const NamedOptions& more) {
  // The interval has no common rhythm with the service times.
  return of_run(
      {.options = open(l, 10000, with({{"shed-above", "1"}, {"base-delay", in_seconds(s)}}, more)),
       .service_interval = 730ms},
      [](const ObservedRun& run) { return mean_after(1000s, run.service, concurrency); });
}

Measure throughput(double l, double s, const NamedOptions& more) {
  return of_run(
      {.options = open(l, 10000, with({{"shed-above", "1"}, {"base-delay", in_seconds(s)}}, more)),
       .interval = 1000s},
      [](const ObservedRun& run) {
        return mean_after(1000s, run.intervals,
                          [](const RunInterval& each) { return each.rates.ok; });
      });
}

Measure lost(int c, double l, double s) {
  return of_run({.options = open(l, 2000,
                                 {{"shed-above", text(c)},
                                  {"base-delay", in_seconds(s)},
                                  {"limit", "1000"},
                                  {"strategy", "none"}})},
                share_of_errors);
}

Measure patient_attempts(int c, double l, double s) {
  return of_run({.options = open(l, 12001,
                                 {{"shed-above", text(c)},
                                  {"base-delay", in_seconds(s)},
                                  {"limit", "1000"},
                                  {"backoff-base", "600s"},
                                  {"jitter", "full"}}),
                 .interval = 4000s},
                [](const ObservedRun& run) {
                  return mean_after(4000s, run.intervals, [](const RunInterval& each) {
                    return each.rates.attempts / each.rates.ok;
                  });
                });
}

Measure refused_calls(int n, int c, double z, double s) {
  return of_run({.options = closed(n, 3000,
                                   {{"shed-above", text(c)},
                                    {"lambda", in_seconds(z)},
                                    {"base-delay", in_seconds(s)},
                                    {"limit", "1000"},
                                    {"strategy", "none"}})},
                share_of_errors);
}

namespace {

Experiment never_full(double l, double s) {
  return {.options = open(
              l, 4000, {{"limit", "100000"}, {"base-delay", in_seconds(s)}, {"strategy", "none"}}),
          .service_interval = 1s};
}

}  // namespace

Measure mean_in_service(double l, double s) {
  return of_run(never_full(l, s),
                [](const ObservedRun& run) { return mean_after(5s, run.service, concurrency); });
}

Measure variance_in_service(double l, double s) {
  return of_run(never_full(l, s), [](const ObservedRun& run) {
    const double mean = mean_after(5s, run.service, concurrency);
    const auto [squares, n] = sum_after(5s, run.service, [mean](const ServiceReport& each) {
      const double off = static_cast<double>(concurrency(each)) - mean;
      return off * off;
    });
    return squares / (n - 1);
  });
}

Measure served_beside_hanging(int c, double l, double usual, double share, double hanging) {
  // A long run, because requests that hang at the same time stay together for long.
  return of_run({.options = open(l, 12000,
                                 {{"service", "workers"},
                                  {"workers", text(c)},
                                  {"queue-length", "0"},
                                  {"strategy", "none"},
                                  {"service-time", "bimodal:" + in_seconds(usual) + ':' +
                                                       text(share) + ':' + in_seconds(hanging)},
                                  {"timeout", "1000s"}}),
                 .interval = 500s},
                [](const ObservedRun& run) {
                  const auto refused = sum_after(2000s, run.intervals, [](const RunInterval& each) {
                    return each.rates.errors;
                  });
                  const auto all = sum_after(2000s, run.intervals, [](const RunInterval& each) {
                    return each.rates.requests;
                  });
                  return 1 - refused.first / all.first;
                });
}

namespace {

Experiment exponential_workers(int c, double l, double s, const NamedOptions& more) {
  return {.options = open(l, 5000,
                          with({{"service", "workers"},
                                {"workers", text(c)},
                                {"service-time", "exponential:" + in_seconds(s)},
                                {"strategy", "none"},
                                {"timeout", "1000s"}},
                               more)),
          .service_interval = 470ms};
}

}  // namespace

Measure all_busy(int c, double l, double s) {
  return of_run(exponential_workers(c, l, s, {}), [](const ObservedRun& run) {
    return mean_after(100s, run.service, [](const ServiceReport& each) {
      return each.interval.workers->busy == each.interval.workers->workers ? 1 : 0;
    });
  });
}

Measure waiting_in_queue(int c, double l, double s, const NamedOptions& more) {
  return of_run(exponential_workers(c, l, s, more), [](const ObservedRun& run) {
    return mean_after(100s, run.service, waiting_for_workers);
  });
}

namespace {

NamedOptions kept_connections(int c, double l, double seconds, const NamedOptions& more) {
  return open(l, seconds,
              with({{"connections", "keep-alive"},
                    {"pool-size", text(c)},
                    {"strategy", "none"},
                    {"timeout", "1000s"}},
                   more));
}

}  // namespace

Measure lost_for_connections(int c, double l, double s, const NamedOptions& more) {
  return of_run(
      {.options = kept_connections(
           c, l, 2000,
           with({{"base-delay", in_seconds(s)}, {"limit", "1000"}, {"pool-wait", "0s"}}, more))},
      share_of_errors);
}

Measure in_line(int c, double l, double s, const NamedOptions& more) {
  return of_run(
      {.options = kept_connections(c, l, 5000,
                                   with({{"service", "workers"},
                                         {"workers", "1000"},
                                         {"service-time", "exponential:" + in_seconds(s)}},
                                        more)),
       .interval = 470ms},
      [](const ObservedRun& run) {
        return mean_after(100s, run.intervals,
                          [](const RunInterval& each) { return each.clients.kept->in_line; });
      });
}

Measure connecting(double l, double s, double t) {
  return of_run({.options = kept_connections(
                     1, l, 5000, {{"base-delay", in_seconds(s)}, {"pool-idle", in_seconds(t)}}),
                 .interval = 100s},
                [](const ObservedRun& run) {
                  return ratio(run.intervals.back().clients.kept->opened,
                               run.summary.counts.requests);
                });
}

Measure through_kept_connections(int c, double s) {
  constexpr double kSeconds = 500;
  return of_run(
      {.options = closed(20 * c, kSeconds,
                         {{"processes", "1"},
                          {"lambda", "0s"},
                          {"connections", "keep-alive"},
                          {"pool-size", text(c)},
                          {"strategy", "none"},
                          {"timeout", "1000s"},
                          {"service", "workers"},
                          {"workers", text(10 * c)},
                          {"service-time", in_seconds(s)}})},
      [](const ObservedRun& run) { return static_cast<double>(run.summary.counts.ok) / kSeconds; });
}

Measure in_streams(int connections, int streams) {
  return of_run({.options = closed(10 * connections * streams, 100,
                                   {{"processes", "1"},
                                    {"lambda", "1s"},
                                    {"connections", "multiplexed"},
                                    {"pool-size", text(connections)},
                                    {"streams", text(streams)},
                                    {"strategy", "none"},
                                    {"timeout", "1000s"},
                                    {"service", "workers"},
                                    {"workers", "10000"},
                                    {"service-time", "1000s"}}),
                 .service_interval = 10s},
                [](const ObservedRun& run) { return run.service.back().interval.concurrency; });
}

namespace {

Experiment frozen(int n, double z, double s, double t, const NamedOptions& more) {
  return {.options = with({{"clients", text(n)},
                           {"lambda", in_seconds(z)},
                           {"service", "workers"},
                           {"workers", "20"},
                           {"service-time", in_seconds(s)},
                           {"connections", "keep-alive"},
                           {"timeout", "1s"},
                           {"strategy", "fixed"},
                           {"fixed-delay", "400ms"},
                           {"outage-at", "20s"},
                           {"outage-for", in_seconds(t)},
                           {"observe", "1ms"}},
                          more)};
}

}  // namespace

Measure on_waking(int n, double z, double s, double t, int backlog) {
  return of_run(frozen(n, z, s, t, {{"clients-per-process", "1"}, {"backlog", text(backlog)}}),
                [](const ObservedRun& run) {
                  return run.summary.on_waking->kept + run.summary.on_waking->accept_queue;
                });
}

Measure on_waking_in_pools(int n, double z, double s, double t, int processes, int c) {
  return of_run(frozen(n, z, s, t, {{"processes", text(processes)}, {"pool-size", text(c)}}),
                [](const ObservedRun& run) { return run.summary.on_waking->kept; });
}

Measure filling_seconds(double l, double mu, int n, int longest) {
  // From a restart until a request finds no place. The errors of the restart itself come at once.
  constexpr int kTimes = 200;
  std::string restarts;
  for (int i = 0; i < kTimes; ++i) restarts += text(i * longest) + "s restart;";
  return of_run({.options = open(l, kTimes * longest,
                                 {{"at", restarts},
                                  {"service", "workers"},
                                  {"workers", "1"},
                                  {"strategy", "none"},
                                  {"service-time", "exponential:" + in_seconds(1 / mu)},
                                  {"shed-above", text(n - 1)},
                                  {"timeout", "1000s"}}),
                 .interval = 2s},
                [longest](const ObservedRun& run) {
                  // On average, the refusal comes in the middle of its interval.
                  double sum = 0;
                  std::set<int> done;
                  for (const RunInterval& each : run.intervals) {
                    if (each.rates.errors == 0) continue;
                    const double t = to_seconds(each.t);
                    const int time = static_cast<int>((t - 1) / longest);
                    const double since = t - time * longest;
                    if (since > 2 && done.insert(time).second) sum += since - 1;
                  }
                  return sum / static_cast<double>(done.size());
                });
}

Measure emptying_seconds(double l, double mu, int n, int longest) {
  // From a full queue, made by a second of far too much load, until the service is empty.
  constexpr int kTimes = 15;
  std::string loads;
  for (int i = 0; i < kTimes; ++i) {
    loads += text(i * longest) + "s load 1000;" + text(i * longest + 1) + "s load 1;";
  }
  return of_run({.options = open(l, kTimes * longest,
                                 {{"at", loads},
                                  {"service", "workers"},
                                  {"workers", "1"},
                                  {"strategy", "none"},
                                  {"service-time", "exponential:" + in_seconds(1 / mu)},
                                  {"queue-length", text(n - 1)},
                                  {"timeout", "1000s"}}),
                 .service_interval = 100ms},
                [longest](const ObservedRun& run) {
                  double sum = 0;
                  std::set<int> done;
                  for (const ServiceReport& each : run.service) {
                    if (each.interval.concurrency > 0) continue;
                    const double t = to_seconds(each.t);
                    const int time = static_cast<int>(t / longest);
                    const double since = t - time * longest - 1;
                    if (since > 0 && done.insert(time).second) sum += since - .05;
                  }
                  return sum / static_cast<double>(done.size());
                });
}

Measure trapping_connections(double l, int attempts, double expected, const NamedOptions& more) {
  return [=](std::uint64_t seed) {
    int low = static_cast<int>(expected * .9), high = static_cast<int>(expected * 1.1);
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      // Attempts in the kernel's queue stay there for 2 s, the clients' timeout.
      const double backlog = high + 2 * l * attempts;
      const ObservedRun run = observe({.options = with({{"arrivals", "open"},
                                                        {"rate", text(l)},
                                                        {"strategy", "fixed"},
                                                        {"max-retries", text(attempts - 1)},
                                                        {"outage-at", "15s"},
                                                        {"outage-for", "30s"},
                                                        {"observe", "300s"},
                                                        {"backlog", text(backlog)},
                                                        {"max-connections", text(middle)}},
                                                       more)},
                                      seed);
      (run.summary.recovery.verdict == Verdict::kCollapsed ? high : low) = middle;
    }
    return high;
  };
}

namespace {

// How many times larger the systems are than documented, because the fluid formulas ignore chance.
constexpr int kStaleScale = 20;
constexpr int kHerdScale = 10;

Experiment stale_queue() {
  return {.options = {{"arrivals", "open"},
                      {"rate", "90"},
                      {"scale", text(kStaleScale)},
                      {"service", "workers"},
                      {"workers", "10"},
                      {"strategy", "none"},
                      {"timeout", "1s"},
                      {"outage", "slow:3"},
                      {"outage-at", "30s"},
                      {"outage-for", "8s"},
                      {"observe", "120s"}},
          .service_interval = 100ms};
}

Experiment herd(int clients, double rate, double wait) {
  constexpr int kWorkers = 5;
  return {.options = {{"clients", text(clients)},
                      {"scale", text(kHerdScale)},
                      {"lambda", "400s"},
                      {"timeout", "10000s"},
                      {"strategy", "fixed"},
                      {"fixed-delay", in_seconds(wait)},
                      {"outage", "drop"},
                      {"outage-at", "5s"},
                      {"outage-for", "4000s"},
                      {"at", "4005s load 0.001"},
                      {"observe", "60s"},
                      {"service", "workers"},
                      {"workers", text(kWorkers)},
                      {"service-time", in_seconds(kWorkers / rate)}},
          .service_interval = 100ms};
}

// The requests are sent to a frozen server, and wait until it wakes.
Experiment at_one_moment(int n, double s, const NamedOptions& more) {
  return {.options = with({{"clients", text(n)},
                           {"lambda", "1s"},
                           {"timeout", "10000s"},
                           {"outage-at", "0s"},
                           {"outage-for", "1000s"},
                           {"observe", in_seconds(n * s + 1)},
                           {"backlog", "10000"},
                           {"strategy", "none"},
                           {"service", "workers"},
                           {"workers", "1"},
                           {"service-time", in_seconds(s)}},
                          more),
          .traced = static_cast<std::size_t>(n)};
}

// When each request's only attempt ended.
std::vector<Duration> ends(const std::vector<TracedRequest>& requests) {
  std::vector<Duration> times;
  for (const TracedRequest& each : requests) {
    const TracedAttempt& attempt = each.attempts.front();
    times.push_back(attempt.t + attempt.latency.value());
  }
  return times;
}

}  // namespace

Measure stale_backlog() {
  return of_run(stale_queue(),
                [](const ObservedRun& run) { return most_waiting(0s, run) / kStaleScale; });
}

Measure stale_seconds(int waiting) {
  return of_run(stale_queue(), [waiting](const ObservedRun& run) {
    // Two seconds after the slow phase there is certainly a queue.
    return 2 + first_after(40s, run.service, [waiting](const ServiceReport& each) {
             return waiting_for_workers(each) < static_cast<std::size_t>(kStaleScale * waiting);
           });
  });
}

Measure herd_backlog(int clients, double rate, double wait) {
  return of_run(herd(clients, rate, wait),
                [](const ObservedRun& run) { return most_waiting(4005s, run) / kHerdScale; });
}

Measure herd_seconds(int clients, double rate, double wait) {
  return of_run(herd(clients, rate, wait), [](const ObservedRun& run) {
    double last = kNone;
    for (const ServiceReport& each : run.service) {
      if (each.t > 4005s && waiting_for_workers(each) > 0) last = to_seconds(each.t - 4005s);
    }
    return last;
  });
}

Measure lockstep_wait(int n, double s, double share) {
  return of_run(at_one_moment(n, s, {}), [share](const ObservedRun& run) {
    std::vector<Duration> times = ends(run.requests);
    std::sort(times.begin(), times.end());
    const double rank = std::ceil(share * static_cast<double>(times.size()));
    return to_seconds(times.at(static_cast<std::size_t>(rank) - 1) - 1000s);
  });
}

Measure dropped_by_codel(int n, double s, double target, double interval) {
  const std::string rule = "codel:" + in_seconds(target) + ':' + in_seconds(interval);
  return of_run(at_one_moment(n, s, {{"queue-drop", rule}}), [](const ObservedRun& run) {
    return std::count_if(run.requests.begin(), run.requests.end(), [](const TracedRequest& each) {
      return each.attempts.front().status == 503;
    });
  });
}

Measure served_order(int n, int threshold) {
  return of_run(at_one_moment(n, .01, {{"queue-order", "adaptive-lifo:" + text(threshold)}}),
                [](const ObservedRun& run) {
                  // Requests are numbered in the order of their arrival.
                  std::vector<TracedRequest> requests = run.requests;
                  std::sort(requests.begin(), requests.end(),
                            [](const auto& a, const auto& b) { return a.number < b.number; });
                  const std::vector<Duration> times = ends(requests);
                  std::vector<int> places(times.size());
                  std::iota(places.begin(), places.end(), 1);
                  std::sort(places.begin(), places.end(), [&times](int a, int b) {
                    return times[static_cast<std::size_t>(a) - 1] <
                           times[static_cast<std::size_t>(b) - 1];
                  });
                  return std::accumulate(places.begin(), places.end(), 0,
                                         [](int digits, int place) { return 10 * digits + place; });
                });
}

// --- Capacity ---

Measure capacity_after(int seconds) {
  return of_run({.options = open(3000, seconds,
                                 {{"base-delay", "0s"},
                                  {"rate-limit", "100"},
                                  {"strategy", "none"},
                                  {"autoscale", "target-tracking"}}),
                 .service_interval = 10s},
                [](const ObservedRun& run) { return run.service.back().interval.capacity->rate; });
}

Measure first_throttled(double c, double l) {
  return of_run({.options = open(l, 1400,
                                 {{"base-delay", "0s"},
                                  {"rate-limit", text(c)},
                                  {"rate-burst", "300s"},
                                  {"strategy", "none"},
                                  {"at", "0s load 0.001;300s load 1"}}),
                 .interval = 1s},
                [](const ObservedRun& run) {
                  return first_after(300s, run.intervals,
                                     [](const RunInterval& each) { return each.rates.errors > 0; });
                });
}

namespace {

constexpr double kPacedService = .01;

// The rate of `part` divided by the rate of attempts, between the two times.
template <typename Part>
Measure paced(int n, double c, double randomization, int from, int to, Part part) {
  return of_run({.options = {{"arrivals", "job"},
                             {"clients", text(n)},
                             {"tasks", text(n)},
                             {"calls", "1000000"},
                             {"workers-start", "100ms"},
                             {"time-limit", text(to) + 's'},
                             {"strategy", "responsive"},
                             {"randomization", text(randomization)},
                             {"base-delay", in_seconds(kPacedService)},
                             {"limit", "100000"},
                             {"rate-limit", text(c)},
                             {"hint", "none"}},
                 .interval = 10s},
                [from, part](const ObservedRun& run) {
                  const auto since = std::chrono::seconds(from);
                  return sum_after(since, run.intervals, part).first /
                         sum_after(since, run.intervals, attempts_of).first;
                });
}

}  // namespace

Measure paced_pause(int n, double c, double randomization, int from, int to) {
  const auto workers = [](const RunInterval& each) {
    return each.clients.thinking + each.clients.in_flight + each.clients.waiting_to_retry;
  };
  const Measure time = paced(n, c, randomization, from, to, workers);
  return [time](std::uint64_t seed) { return time(seed) - kPacedService; };
}

Measure paced_throttled(int n, double c, double randomization, int from, int to) {
  return paced(n, c, randomization, from, to,
               [](const RunInterval& each) { return each.rates.throttled; });
}

Measure quotient(Measure over, Measure under) {
  return [over = std::move(over), under = std::move(under)](std::uint64_t seed) {
    return over(seed) / under(seed);
  };
}

}  // namespace retrystorm::validation
