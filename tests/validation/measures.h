// Measures the figures that the formulas predict: which runs are made, and what is read from them. For cases.cc only.
// Rates are per second, times are in seconds. `attempts` is the most that a request makes. `more`:
// additional options.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "model/base/duration.h"
#include "tests/support/given.h"
#include "tests/validation/cases.h"
#include "tests/validation/observed_run.h"

namespace retrystorm::validation {

using test::given;
using test::in_seconds;
using test::text;
using test::with;

using namespace std::chrono_literals;

constexpr double kNone = std::numeric_limits<double>::quiet_NaN();

// --- Options ---

inline NamedOptions undisturbed(double seconds) {
  return given("outage-at=0s, outage-for=0s, observe=?s", seconds);
}

// The options of open arrivals.
inline NamedOptions open(double rate, double seconds, const NamedOptions& more) {
  return with(with(undisturbed(seconds), given("arrivals=open, rate=?", rate)), more);
}

// The options of clients that think.
inline NamedOptions closed(int clients, double seconds, const NamedOptions& more) {
  return with(with(undisturbed(seconds), given("clients=?", clients)), more);
}

// --- Figures ---

// A measure of one run. `figure` is computed from the observed run.
template <typename Figure>
Measure of_run(Experiment experiment, Figure figure) {
  return [experiment = std::move(experiment), figure = std::move(figure)](std::uint64_t seed) {
    return static_cast<double>(figure(observe(experiment, seed)));
  };
}

inline double ratio(std::uint64_t part, std::uint64_t all) {
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

inline double attempts_of(const RunInterval& interval) {
  return interval.rates.attempts;
}

inline std::size_t waiting_to_retry(const RunInterval& interval) {
  return interval.clients.waiting_to_retry;
}

inline std::size_t waiting_for_workers(const ServiceReport& report) {
  return report.interval.workers->waiting;
}

inline std::size_t concurrency(const ServiceReport& report) {
  return report.interval.concurrency;
}

inline double most_waiting(Duration from, const ObservedRun& run) {
  std::size_t most = 0;
  for (const ServiceReport& each : run.service) {
    if (each.t > from) most = std::max(most, waiting_for_workers(each));
  }
  return static_cast<double>(most);
}

inline double share_of_errors(const ObservedRun& run) {
  const Counts& counts = run.summary.counts;
  return ratio(counts.errors, counts.errors + counts.ok);
}

// --- Retries ---

inline Experiment retried(double p, int attempts, const NamedOptions& more) {
  return {.options =
              with(open(200, 500, given("error-share=?, max-retries=?", p, attempts - 1)), more)};
}

// Attempts fail with probability p: the share of requests that succeed, and the attempts per
// request.
inline Measure retried_success(double p, int attempts, const NamedOptions& more = {}) {
  return of_run(retried(p, attempts, more), [](const ObservedRun& run) {
    const Counts& counts = run.summary.counts;
    return ratio(counts.ok, counts.ok + counts.gave_up());
  });
}

inline Measure retried_attempts(double p, int attempts, const NamedOptions& more = {}) {
  return of_run(retried(p, attempts, more), [](const ObservedRun& run) {
    const Counts& counts = run.summary.counts;
    return ratio(counts.ok + counts.errors, counts.ok + counts.gave_up());
  });
}

// Attempts per second if requests arrive at rate l, and the service accepts c and refuses the
// others.
inline Measure retried_load(double l, double c, int attempts, double seconds, double wait) {
  return of_run(
      {.options = open(l, seconds,
                       given("rate-limit=?, max-retries=?, backoff-base=?s, jitter=full, "
                             "base-delay=0s",
                             c, attempts - 1, wait)),
       .interval = 100s},
      [](const ObservedRun& run) { return mean_after(200s, run.intervals, attempts_of); });
}

// The same with retries exactly one second later, and a burst of `burst` more accepted at first:
// how many are refused in this second.
inline Measure refused_in(int second, double l, double c, int attempts, double burst) {
  return of_run(
      {.options = open(l, second,
                       given("rate-limit=?, rate-burst=?, max-retries=?, backoff-base=1s, "
                             "base-delay=0s",
                             c, burst, attempts - 1)),
       .interval = 1s},
      [](const ObservedRun& run) { return run.intervals.back().rates.errors; });
}

// Attempts per request while everything fails.
inline Measure all_failing(const NamedOptions& more) {
  return of_run({.options = open(200, 1000, with(given("error-share=1"), more))},
                [](const ObservedRun& run) {
                  const Counts& counts = run.summary.counts;
                  return ratio(counts.requests + counts.retries, counts.requests);
                });
}

// Attempts per second of clients that want rate g, with SRE's adaptive throttling by k, to a
// service that accepts c.
inline Measure sent(double g, double k, double c) {
  return of_run(
      {.options = open(g, 900,
                       given("throttle=sre, throttle-ratio=?, rate-limit=?, strategy=none, "
                             "base-delay=0s",
                             k, c)),
       .interval = 100s},
      [](const ObservedRun& run) { return mean_after(300s, run.intervals, attempts_of); });
}

// All requests have been sent to a frozen server. After its success, a client thinks for minutes.
inline Experiment contention(int n, const char* jitter) {
  return {.options =
              given("clients=?, lambda=200s, timeout=10000s, outage-at=0s, outage-for=3000s, "
                    "observe=300s, shed-above=1, base-delay=10ms, strategy=fixed, "
                    "growth=exponential, backoff-base=20ms, backoff-cap=2s, jitter=?",
                    n, jitter)};
}

// n clients begin at once at a server that serves one at a time: how many attempts are refused
// until all are served, and how long all clients together wait.
inline Measure contended_refusals(int n, const char* jitter) {
  return of_run(contention(n, jitter),
                [](const ObservedRun& run) { return run.summary.counts.errors; });
}

inline Measure contended_waits(int n, const char* jitter) {
  return of_run(contention(n, jitter), [](const ObservedRun& run) {
    return to_seconds(run.summary.retry_metrics.total_sleep);
  });
}

// How long each further retry waits once the cap is reached.
inline Measure clamped_wait(const NamedOptions& more) {
  // Uses the second half of a run: by then every client is at the cap.
  const auto run_for = [more](double seconds, std::uint64_t seed) {
    const NamedOptions options = with(given("lambda=1s, error-share=1, max-retries=none"), more);
    return observe({.options = closed(100, seconds, options)}, seed).summary.retry_metrics;
  };
  return [run_for](std::uint64_t seed) {
    const RetryMetrics half = run_for(2000, seed), whole = run_for(4000, seed);
    return to_seconds(whole.total_sleep - half.total_sleep) /
           static_cast<double>(whole.sleeps - half.sleeps);
  };
}

// --- Budgets ---

// All retries of a run.
inline Measure retries_in_all(const NamedOptions& more) {
  return of_run({.options = open(100, 100, more)},
                [](const ObservedRun& run) { return run.summary.counts.retries; });
}

// The share of failed attempts that are retried in the long run, if attempts fail with probability
// p.
inline Measure retried_failures(double p, const NamedOptions& more) {
  return of_run(
      {.options =
           open(1000, 600, with(given("error-share=?, base-delay=0s, backoff-base=1ms", p), more)),
       .interval = 100s},
      [](const ObservedRun& run) {
        return mean_after(400s, run.intervals, [](const RunInterval& each) {
          return each.rates.retries / each.rates.errors;
        });
      });
}

inline Measure retries_a_second(double rate, const NamedOptions& more) {
  return of_run({.options = open(rate, 1000, with(given("error-share=1"), more)), .interval = 100s},
                [](const ObservedRun& run) {
                  return mean_after(100s, run.intervals,
                                    [](const RunInterval& each) { return each.rates.retries; });
                });
}

// The same for clients whose attempts all fail, and whose retries mostly wait.
inline Measure retries_at_a_time(int clients, const NamedOptions& more) {
  return of_run(
      {.options = closed(
           clients, 1100,
           with(given("processes=1, lambda=1ms, base-delay=100ms, limit=1000, error-share=1, "
                      "error-after=service, max-retries=1, backoff-base=20s"),
                more)),
       .interval = 1s},
      [](const ObservedRun& run) { return mean_after(100s, run.intervals, waiting_to_retry); });
}

// Retries per request in the long run, with at most two, if attempts fail with probability p.
inline Measure retries_a_request(double p, const NamedOptions& more) {
  return of_run(
      {.options = open(
           1000, 1000,
           with(given("error-share=?, max-retries=2, base-delay=0s, backoff-base=1ms", p), more)),
       .interval = 100s},
      [](const ObservedRun& run) {
        return mean_after(300s, run.intervals, [](const RunInterval& each) {
          const Rates& rates = each.rates;
          return rates.retries / (rates.attempts - rates.retries);
        });
      });
}

// --- Hedges ---

// The intervals have no common rhythm with the service times.
inline Experiment hedged(int c, double l, const std::string& times, double seconds,
                         const NamedOptions& more) {
  return {.options = open(l, seconds,
                          with(given("service=workers, workers=?, service-time=?, strategy=none, "
                                     "timeout=1000s",
                                     c, times),
                               more)),
          .interval = 470ms,
          .service_interval = 470ms};
}

inline Experiment never_queues(double l, const std::string& times, const NamedOptions& more) {
  return hedged(100000, l, times, 600, more);
}

inline std::string exponential_time(double s) {
  return "exponential:" + in_seconds(s);
}

// By Little's law.
inline double mean_latency(double l, const ObservedRun& run) {
  return mean_after(10s, run.intervals,
                    [](const RunInterval& each) { return each.clients.in_flight; }) /
         l;
}

inline double mean_busy(const ObservedRun& run) {
  return mean_after(10s, run.service,
                    [](const ServiceReport& each) { return each.interval.workers->busy; });
}

// Requests arrive at rate l at a service that never queues. `times`: its times, as --service-time.
// Hedges for each request (also of clients without a pause, one request each), the mean latency, the latency that a share q does not exceed, and how long a
// request keeps workers busy.
inline Measure hedges_a_request(double l, const std::string& times, const NamedOptions& more) {
  return of_run(never_queues(l, times, more), [](const ObservedRun& run) {
    return ratio(run.summary.counts.hedges, run.summary.counts.requests);
  });
}

inline Measure hedges_of_clients(int clients, const std::string& times, const NamedOptions& more) {
  const NamedOptions service{
      {"service", "workers"}, {"workers", "1000"}, {"service-time", times}, {"timeout", "60s"}};
  return of_run({.options = with(closed(clients, 600, service), more)}, [](const ObservedRun& run) {
    return ratio(run.summary.counts.hedges, run.summary.counts.requests);
  });
}

inline Measure hedged_latency(double l, const std::string& times, const NamedOptions& more) {
  return of_run(never_queues(l, times, more),
                [l](const ObservedRun& run) { return mean_latency(l, run); });
}

inline Measure hedged_latency_at(double q, double l, const std::string& times,
                                 const NamedOptions& more) {
  return of_run(never_queues(l, times, more), [q](const ObservedRun& run) {
    return to_seconds(*run.summary.latencies.requests().ended.quantile(q));
  });
}

inline Measure hedged_work(double l, const std::string& times, const NamedOptions& more) {
  return of_run(never_queues(l, times, more),
                [l](const ObservedRun& run) { return mean_busy(run) / l; });
}

// The share of fan-outs to n parts of which one takes longer than `slow`.
inline Measure slow_fan_outs(int n, double slow, double l, const std::string& times,
                             const NamedOptions& more) {
  return of_run(never_queues(l, times, with(given("deadline=?s", slow), more)),
                [n](const ObservedRun& run) {
                  const Counts& counts = run.summary.counts;
                  const double share = ratio(counts.gave_up(), counts.requests);
                  return 1 - std::pow(1 - share, n);
                });
}

// c workers that take an exponential time of mean s: how many are busy, how fast the queue grows, and the mean
// latency.
inline Measure busy_with_hedges(int c, double l, double s, const NamedOptions& more) {
  return of_run(hedged(c, l, exponential_time(s), 2000, more), mean_busy);
}

inline Measure growing_queue(int c, double l, double s, const NamedOptions& more) {
  const NamedOptions room{{"max-connections", "1000000"}};
  return of_run(hedged(c, l, exponential_time(s), 3000, with(room, more)),
                [](const ObservedRun& run) {
                  const ServiceReport& last = run.service.back();
                  return static_cast<double>(waiting_for_workers(last)) / to_seconds(last.t);
                });
}

inline Measure latency_with_hedges(int c, double l, double s, const NamedOptions& more) {
  return of_run(hedged(c, l, exponential_time(s), 10000, more),
                [l](const ObservedRun& run) { return mean_latency(l, run); });
}

// Attempts a request if nothing is ever answered.
inline Measure unanswered_attempts(double l, const NamedOptions& more) {
  return of_run(hedged(1000000, l, "fixed:3000s", 500, more), [](const ObservedRun& run) {
    const auto attempts = sum_after(20s, run.intervals, attempts_of);
    const auto requests =
        sum_after(20s, run.intervals, [](const RunInterval& each) { return each.rates.requests; });
    return attempts.first / requests.first;
  });
}

// Hedges a second if all requests would have one.
inline Measure wanted_hedges(double l, const NamedOptions& more) {
  return of_run(hedged(1000000, l, "fixed:200ms", 60, with(given("hedge=100ms"), more)),
                [](const ObservedRun& run) {
                  return mean_after(30s, run.intervals,
                                    [](const RunInterval& each) { return each.rates.hedges; });
                });
}

// --- Queues and loss ---

// The mean number of requests that wait to retry. A busy server refuses. It takes s, or an
// exponential time with rate mu. Waits are exponential with rate nu.
inline Measure waiting(double l, double s, double nu) {
  return of_run(
      {.options = open(
           l, 30000,
           given("shed-above=1, base-delay=?s, backoff-base=?s, jitter=exponential", s, 1 / nu)),
       .interval = 5s},
      [](const ObservedRun& run) { return mean_after(1000s, run.intervals, waiting_to_retry); });
}

inline Measure waiting_for_worker(double l, double mu, double nu) {
  return of_run(
      {.options = open(l, 15000,
                       given("service=workers, workers=1, queue-length=0, timeout=1000s, "
                             "service-time=exponential:?s, backoff-base=?s, jitter=exponential",
                             1 / mu, 1 / nu)),
       .interval = 5s},
      [](const ObservedRun& run) { return mean_after(1000s, run.intervals, waiting_to_retry); });
}

// The share of time that the server is busy, and the requests that it serves per second.
inline Measure busy(double l, double s, const NamedOptions& more) {
  // The interval has no common rhythm with the service times.
  return of_run({.options = open(l, 10000, with(given("shed-above=1, base-delay=?s", s), more)),
                 .service_interval = 730ms},
                [](const ObservedRun& run) { return mean_after(1000s, run.service, concurrency); });
}

inline Measure throughput(double l, double s, const NamedOptions& more) {
  return of_run({.options = open(l, 10000, with(given("shed-above=1, base-delay=?s", s), more)),
                 .interval = 1000s},
                [](const ObservedRun& run) {
                  return mean_after(1000s, run.intervals,
                                    [](const RunInterval& each) { return each.rates.ok; });
                });
}

// The share of attempts that c servers refuse.
inline Measure lost(int c, double l, double s) {
  return of_run(
      {.options =
           open(l, 2000, given("shed-above=?, base-delay=?s, limit=1000, strategy=none", c, s))},
      share_of_errors);
}

// Attempts per request at c servers without a queue, with retries after minutes.
inline Measure patient_attempts(int c, double l, double s) {
  return of_run(
      {.options = open(l, 12001,
                       given("shed-above=?, base-delay=?s, limit=1000, backoff-base=600s, "
                             "jitter=full",
                             c, s)),
       .interval = 4000s},
      [](const ObservedRun& run) {
        return mean_after(4000s, run.intervals, [](const RunInterval& each) {
          return each.rates.attempts / each.rates.ok;
        });
      });
}

// The share of calls that c servers refuse, with n clients that think for z and do not retry.
inline Measure refused_calls(int n, int c, double z, double s) {
  return of_run(
      {.options = closed(
           n, 3000,
           given("shed-above=?, lambda=?s, base-delay=?s, limit=1000, strategy=none", c, z, s))},
      share_of_errors);
}

inline Experiment never_full(double l, double s) {
  return {.options = open(l, 4000, given("limit=100000, base-delay=?s, strategy=none", s)),
          .service_interval = 1s};
}

// The mean and the variance of the number of requests in a service that is never full.
inline Measure mean_in_service(double l, double s) {
  return of_run(never_full(l, s),
                [](const ObservedRun& run) { return mean_after(5s, run.service, concurrency); });
}

inline Measure variance_in_service(double l, double s) {
  return of_run(never_full(l, s), [](const ObservedRun& run) {
    const double mean = mean_after(5s, run.service, concurrency);
    const auto [squares, n] = sum_after(5s, run.service, [mean](const ServiceReport& each) {
      const double off = static_cast<double>(concurrency(each)) - mean;
      return off * off;
    });
    return squares / (n - 1);
  });
}

// The share of requests that c workers without a queue accept, if a share of the requests hangs.
inline Measure served_beside_hanging(int c, double l, double usual, double share, double hanging) {
  // A long run, because requests that hang at the same time stay together for long.
  return of_run({.options = open(l, 12000,
                                 given("service=workers, workers=?, queue-length=0, strategy=none, "
                                       "service-time=bimodal:?s:?:?s, timeout=1000s",
                                       c, usual, share, hanging)),
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

inline Experiment exponential_workers(int c, double l, double s, const NamedOptions& more) {
  return {.options = open(
              l, 5000,
              with(given("service=workers, workers=?, service-time=exponential:?s, strategy=none, "
                         "timeout=1000s",
                         c, s),
                   more)),
          .service_interval = 470ms};
}

// The share of time that all of c workers are busy, and the mean number of requests that wait.
inline Measure all_busy(int c, double l, double s) {
  return of_run(exponential_workers(c, l, s, {}), [](const ObservedRun& run) {
    return mean_after(100s, run.service, [](const ServiceReport& each) {
      return each.interval.workers->busy == each.interval.workers->workers ? 1 : 0;
    });
  });
}

inline Measure waiting_in_queue(int c, double l, double s, const NamedOptions& more = {}) {
  return of_run(exponential_workers(c, l, s, more), [](const ObservedRun& run) {
    return mean_after(100s, run.service, waiting_for_workers);
  });
}

inline NamedOptions kept_connections(int c, double l, double seconds, const NamedOptions& more) {
  return open(
      l, seconds,
      with(given("connections=keep-alive, pool-size=?, strategy=none, timeout=1000s", c), more));
}

// A service that never queues, and a process with a pool of c kept connections: the share of attempts
// that fail if none may wait in line, and the mean number of attempts in line.
inline Measure lost_for_connections(int c, double l, double s, const NamedOptions& more = {}) {
  return of_run({.options = kept_connections(
                     c, l, 2000, with(given("base-delay=?s, limit=1000, pool-wait=0s", s), more))},
                share_of_errors);
}

inline Measure in_line(int c, double l, double s, const NamedOptions& more = {}) {
  return of_run(
      {.options = kept_connections(
           c, l, 5000,
           with(given("service=workers, workers=1000, service-time=exponential:?s", s), more)),
       .interval = 470ms},
      [](const ObservedRun& run) {
        return mean_after(100s, run.intervals,
                          [](const RunInterval& each) { return each.clients.kept->in_line; });
      });
}

// The share of requests that open a connection, with a pool of one that is closed once it has been
// idle for t.
inline Measure connecting(double l, double s, double t) {
  return of_run(
      {.options = kept_connections(1, l, 5000, given("base-delay=?s, pool-idle=?s", s, t)),
       .interval = 100s},
      [](const ObservedRun& run) {
        return ratio(run.intervals.back().clients.kept->opened, run.summary.counts.requests);
      });
}

// A pool of c kept connections that many clients use all the time: OK a second.
inline Measure through_kept_connections(int c, double s) {
  constexpr double kSeconds = 500;
  return of_run(
      {.options = closed(20 * c, kSeconds,
                         given("processes=1, lambda=0s, connections=keep-alive, pool-size=?, "
                               "strategy=none, timeout=1000s, service=workers, workers=?, "
                               "service-time=?s",
                               c, 10 * c, s))},
      [](const ObservedRun& run) { return static_cast<double>(run.summary.counts.ok) / kSeconds; });
}

// A service that never ends: how many attempts are in it.
inline Measure in_streams(int connections, int streams) {
  return of_run(
      {.options = closed(10 * connections * streams, 100,
                         given("processes=1, lambda=1s, connections=multiplexed, pool-size=?, "
                               "streams=?, strategy=none, timeout=1000s, service=workers, "
                               "workers=10000, service-time=1000s",
                               connections, streams)),
       .service_interval = 10s},
      [](const ObservedRun& run) { return run.service.back().interval.concurrency; });
}

inline Experiment frozen(int n, double z, double s, double t, const NamedOptions& more) {
  return {.options =
              with(given("clients=?, lambda=?s, service=workers, workers=20, service-time=?s, "
                         "connections=keep-alive, timeout=1s, strategy=fixed, fixed-delay=400ms, "
                         "outage-at=20s, outage-for=?s, observe=1ms",
                         n, z, s, t),
                   more)};
}

// n clients think for z, and their service of 20 workers takes s. It is frozen for t: what it finds on waking, or of
// this only what is on kept connections.
inline Measure on_waking(int n, double z, double s, double t, int backlog) {
  return of_run(frozen(n, z, s, t, given("clients-per-process=1, backlog=?", backlog)),
                [](const ObservedRun& run) {
                  return run.summary.on_waking->kept + run.summary.on_waking->accept_queue;
                });
}

inline Measure on_waking_in_pools(int n, double z, double s, double t, int processes, int c) {
  return of_run(frozen(n, z, s, t, given("processes=?, pool-size=?", processes, c)),
                [](const ObservedRun& run) { return run.summary.on_waking->kept; });
}

// M/M/1: how long it takes from empty to n requests, and from n to empty. `longest`: the time that
// each repetition gets.
inline Measure filling_seconds(double l, double mu, int n, int longest) {
  // From a restart until a request finds no place. The errors of the restart itself come at once.
  constexpr int kTimes = 200;
  std::string restarts;
  for (int i = 0; i < kTimes; ++i) restarts += text(i * longest) + "s restart;";
  return of_run({.options = open(l, kTimes * longest,
                                 given("at=?, service=workers, workers=1, strategy=none, "
                                       "service-time=exponential:?s, shed-above=?, timeout=1000s",
                                       restarts, 1 / mu, n - 1)),
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

inline Measure emptying_seconds(double l, double mu, int n, int longest) {
  // From a full queue, made by a second of far too much load, until the service is empty.
  constexpr int kTimes = 15;
  std::string loads;
  for (int i = 0; i < kTimes; ++i) {
    loads += text(i * longest) + "s load 1000;" + text(i * longest + 1) + "s load 1;";
  }
  return of_run({.options = open(l, kTimes * longest,
                                 given("at=?, service=workers, workers=1, strategy=none, "
                                       "service-time=exponential:?s, queue-length=?, timeout=1000s",
                                       loads, 1 / mu, n - 1)),
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

// The smallest --max-connections at which the service stays down after an outage. Searches within a
// tenth of `expected`.
inline Measure trapping_connections(double l, int attempts, double expected,
                                    const NamedOptions& more = {}) {
  return [=](std::uint64_t seed) {
    int low = static_cast<int>(expected * .9), high = static_cast<int>(expected * 1.1);
    while (high - low > 1) {
      const int middle = (low + high) / 2;
      // Attempts in the kernel's queue stay there for 2 s, the clients' timeout.
      const double backlog = high + 2 * l * attempts;
      const ObservedRun run =
          observe({.options = with(
                       given("arrivals=open, rate=?, strategy=fixed, max-retries=?, outage-at=15s, "
                             "outage-for=30s, observe=300s, backlog=?, max-connections=?",
                             l, attempts - 1, backlog, middle),
                       more)},
                  seed);
      (run.summary.recovery.verdict == Verdict::kCollapsed ? high : low) = middle;
    }
    return high;
  };
}

// How many times larger the systems are than documented, because the fluid formulas ignore chance.
constexpr int kStaleScale = 20;
constexpr int kHerdScale = 10;

inline Experiment stale_queue() {
  return {
      .options = given("arrivals=open, rate=90, scale=?, service=workers, workers=10, "
                       "strategy=none, timeout=1s, outage=slow:3, outage-at=30s, outage-for=8s, "
                       "observe=120s",
                       kStaleScale),
      .service_interval = 100ms};
}

inline Experiment herd(int clients, double rate, double wait) {
  constexpr int kWorkers = 5;
  return {.options = given("clients=?, scale=?, lambda=400s, timeout=10000s, strategy=fixed, "
                           "fixed-delay=?s, outage=drop, outage-at=5s, outage-for=4000s, "
                           "at=4005s load 0.001, observe=60s, service=workers, workers=?, "
                           "service-time=?s",
                           clients, kHerdScale, wait, kWorkers, kWorkers / rate),
          .service_interval = 100ms};
}

// The requests are sent to a frozen server, and wait until it wakes.
inline Experiment at_one_moment(int n, double s, const NamedOptions& more) {
  return {
      .options = with(given("clients=?, lambda=1s, timeout=10000s, outage-at=0s, outage-for=1000s, "
                            "observe=?s, backlog=10000, strategy=none, service=workers, workers=1, "
                            "service-time=?s",
                            n, n * s + 1, s),
                      more),
      .traced = static_cast<std::size_t>(n)};
}

// When each request's only attempt ended.
inline std::vector<Duration> ends(const std::vector<TracedRequest>& requests) {
  std::vector<Duration> times;
  for (const TracedRequest& each : requests) {
    const TracedAttempt& attempt = each.attempts.front();
    times.push_back(attempt.t + attempt.latency.value());
  }
  return times;
}

// 90 requests per second for ten workers that take 100 ms, and three times as long for 8 s: the
// most that wait, and how long it then takes until fewer than `waiting` do.
inline Measure stale_backlog() {
  return of_run(stale_queue(),
                [](const ObservedRun& run) { return most_waiting(0s, run) / kStaleScale; });
}

inline Measure stale_seconds(int waiting) {
  return of_run(stale_queue(), [waiting](const ObservedRun& run) {
    // Two seconds after the slow phase there is certainly a queue.
    return 2 + first_after(40s, run.service, [waiting](const ServiceReport& each) {
             return waiting_for_workers(each) < static_cast<std::size_t>(kStaleScale * waiting);
           });
  });
}

// Clients whose connections were all dropped come back once, each at a random time within `wait`:
// the most that wait for a service with this rate, and how long it takes until none does.
inline Measure herd_backlog(int clients, double rate, double wait) {
  return of_run(herd(clients, rate, wait),
                [](const ObservedRun& run) { return most_waiting(4005s, run) / kHerdScale; });
}

inline Measure herd_seconds(int clients, double rate, double wait) {
  return of_run(herd(clients, rate, wait), [](const ObservedRun& run) {
    double last = kNone;
    for (const ServiceReport& each : run.service) {
      if (each.t > 4005s && waiting_for_workers(each) > 0) last = to_seconds(each.t - 4005s);
    }
    return last;
  });
}

// n requests arrive at once at a worker that takes s for each: when this share is done, how many
// CoDel drops, and the order in which adaptive LIFO serves them, as digits.
inline Measure lockstep_wait(int n, double s, double share) {
  return of_run(at_one_moment(n, s, {}), [share](const ObservedRun& run) {
    std::vector<Duration> times = ends(run.requests);
    std::sort(times.begin(), times.end());
    const double rank = std::ceil(share * static_cast<double>(times.size()));
    return to_seconds(times.at(static_cast<std::size_t>(rank) - 1) - 1000s);
  });
}

inline Measure dropped_by_codel(int n, double s, double target, double interval) {
  const std::string rule = "codel:" + in_seconds(target) + ':' + in_seconds(interval);
  return of_run(at_one_moment(n, s, given("queue-drop=?", rule)), [](const ObservedRun& run) {
    return std::count_if(run.requests.begin(), run.requests.end(), [](const TracedRequest& each) {
      return each.attempts.front().status == 503;
    });
  });
}

inline Measure served_order(int n, int threshold) {
  return of_run(at_one_moment(n, .01, given("queue-order=adaptive-lifo:?", threshold)),
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

// The capacity of a table that starts at 100 per second and autoscales to a use of 70 %, after so
// many seconds of far more demand.
inline Measure capacity_after(int seconds) {
  return of_run({.options = open(3000, seconds,
                                 given("base-delay=0s, rate-limit=100, strategy=none, "
                                       "autoscale=target-tracking")),
                 .service_interval = 10s},
                [](const ObservedRun& run) { return run.service.back().interval.capacity->rate; });
}

// How long a limit of c accepts rate l after 300 s without requests.
inline Measure first_throttled(double c, double l) {
  return of_run(
      {.options = open(l, 1400,
                       given("base-delay=0s, rate-limit=?, rate-burst=300s, strategy=none, "
                             "at=0s load 0.001;300s load 1",
                             c)),
       .interval = 1s},
      [](const ObservedRun& run) {
        return first_after(300s, run.intervals,
                           [](const RunInterval& each) { return each.rates.errors > 0; });
      });
}

constexpr double kPacedService = .01;

// The rate of `part` divided by the rate of attempts, between the two times.
template <typename Part>
Measure paced(int n, double c, double randomization, int from, int to, Part part) {
  return of_run(
      {.options = given("arrivals=job, clients=?, tasks=?, calls=1000000, workers-start=100ms, "
                        "time-limit=?s, strategy=responsive, randomization=?, base-delay=?s, "
                        "limit=100000, rate-limit=?, hint=none",
                        n, n, to, randomization, kPacedService, c),
       .interval = 10s},
      [from, part](const ObservedRun& run) {
        const auto since = std::chrono::seconds(from);
        return sum_after(since, run.intervals, part).first /
               sum_after(since, run.intervals, attempts_of).first;
      });
}

// n workers that pace themselves share a capacity of c: the time per attempt outside the service,
// and the share of attempts that are throttled.
inline Measure paced_pause(int n, double c, double randomization, int from, int to) {
  const auto workers = [](const RunInterval& each) {
    return each.clients.thinking + each.clients.in_flight + each.clients.waiting_to_retry;
  };
  const Measure time = paced(n, c, randomization, from, to, workers);
  return [time](std::uint64_t seed) { return time(seed) - kPacedService; };
}

inline Measure paced_throttled(int n, double c, double randomization, int from, int to) {
  return paced(n, c, randomization, from, to,
               [](const RunInterval& each) { return each.rates.throttled; });
}

// The quotient of two measures with the same seed.
inline Measure quotient(Measure over, Measure under) {
  return [over = std::move(over), under = std::move(under)](std::uint64_t seed) {
    return over(seed) / under(seed);
  };
}

}  // namespace retrystorm::validation
