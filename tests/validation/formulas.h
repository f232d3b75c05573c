// Closed forms that the simulator is compared with: plain functions of numbers, for any parameters.
// Rates are per second, times are in seconds. `a` is the offered traffic in Erlangs: rate * service
// time. docs/validation-sources.csv lists the sources.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "model/base/random.h"
#include "model/service/service_time.h"

namespace retrystorm::validation {

// --- Retries ---

// Requests with at most n attempts, each of which fails independently with probability p: the share
// of requests that succeed, and the attempts per request. Geometric series; Marc Brooker's
// simulator_example (`retry_sim`) uses the same.
inline double retry_success(double p, int n) {
  return 1 - std::pow(p, n);
}

inline double retry_attempts(double p, int n) {
  return (1 - std::pow(p, n)) / (1 - p);
}

// Requests arrive at rate l > c. A service accepts c attempts per second and refuses the others at
// once. Each request makes up to n attempts, spread in time, so that each is refused with the same
// probability q. The requests that succeed are those that the service accepts: l (1 - q^n) = c. The
// limit of the example in "Site Reliability Engineering" (2016), ch. 22.
inline double refused_share(double l, double c, int n) {
  return std::pow(1 - c / l, 1.0 / n);
}

// All attempts per second: c / (1 - q).
inline double retry_load(double l, double c, int n) {
  return c / (1 - refused_share(l, c, n));
}

// The same from an empty start, with retries exactly one second later: how many are refused in the
// k-th second. In the first second, a burst of b more is accepted. Same chapter, "Retries".
inline double refused_in_second(double l, double c, int n, double b, int k) {
  std::vector<double> load(static_cast<std::size_t>(n));  // by attempt
  double refused = 0;
  for (int second = 1; second <= k; ++second) {
    load.front() = l;
    const double all = std::accumulate(load.begin(), load.end(), 0.0);
    refused = std::max(all - c - (second == 1 ? b : 0), 0.0);
    for (std::size_t i = load.size() - 1; i > 0; --i) load[i] = load[i - 1] * refused / all;
  }
  return refused;
}

// Adaptive throttling: clients that want rate g send at most k attempts for each accepted one. Same
// book, ch. 21, equation 21-1.
inline double throttled_rate(double g, double k, double c) {
  return std::min(g, k * c);
}

// --- Budgets ---

// Retries from a full bucket of t tokens while every attempt fails and costs one token. A retry is
// allowed while more than half of the tokens are left after the failure. grpc/proposal A6.
inline int retries_to_half(double t) {
  int retries = 0;
  while (t - (retries + 1) > t / 2) ++retries;
  return retries;
}

// Failures cost 1 token and successes add d. Above this share of failures the bucket drains.
// Balance of the two: f = (1 - f) d.
inline double draining_share(double d) {
  return d / (1 + d);
}

// Retries from a bucket of t tokens if each costs c. botocore, AWS SDKs and Tools Reference Guide.
inline int retries_for(int t, int c) {
  return t / c;
}

// The AWS quota with refunds and at most 3 attempts. A first success adds 1, a retry costs c, and
// its success refunds that. Attempts fail with probability p, and r retries per request are sent.
// Then failed retries cost c p r per request, and first successes add 1 - p. botocore.
//
// The quota drains above this share of failures if all wanted retries are sent, r = p + p^2. The
// guide gives 32 % for c = 5.
inline double quota_draining_share(double c) {
  return find_crossing(0, 1, [c](double p) { return 1 - p > c * p * (p + p * p); }).low;
}

// Retries per request: all that are wanted, or as many as the quota pays for: (1 - p) / (c p).
inline double quota_retries(double p, double c) {
  return std::min(p + p * p, (1 - p) / (c * p));
}

// --- Hedges ---

// Services take an exponential time of mean m, and never queue. One hedge is sent at time d. Memoryless.
// Its share of the requests: e^(-d/m).
inline double hedged_share(double m, double d) {
  return std::exp(-d / m);
}

// The mean latency: m (1 - share / 2), because from d on two are under way.
inline double hedged_mean(double m, double d) {
  return m * (1 - hedged_share(m, d) / 2);
}

// The latency that a share q of the requests does not exceed. Below d it is that without hedges. Beyond
// it the rest falls twice as fast.
inline double hedged_quantile(double m, double d, double q) {
  const double alone = -m * std::log(1 - q);
  return alone <= d ? alone : d + (alone - d) / 2;
}

// Services take a, but b > a + d with probability p, and one hedge is sent at d, a < d < a + d < b. The mean
// latency; and the share that takes longer than a + d: both are slow.
inline double hedged_mean_of_two(double a, double b, double p, double d) {
  return (1 - p) * a + p * ((1 - p) * (d + a) + p * b);
}

inline double hedged_slow_share(double p) {
  return p * p;
}

// The share of fan-outs to n parts that are slow, if each part is with probability p. Jeffrey Dean and
// Luiz Barroso, "The Tail at Scale" (2013).
inline double fan_out(double p, int n) {
  return 1 - std::pow(1 - p, n);
}

// M/M/1, mean time in it. Each request goes to two such hosts in the same order, and the first answer
// cancels the other one in its queue or its service: together they are one host of twice the rate.
inline double mean_in_system(double l, double mu) {
  return 1 / (mu - l);
}

inline double mean_in_two(double l, double mu) {
  return mean_in_system(2 * l, 2 * mu);
}

// Finagle's budget: hedges a second if all requests would have one.
inline double budgeted_hedges(double l, double share) {
  return share * l + 10;
}

// A request of which no attempt is answered within t, with a hedge after each d, at most n attempts.
inline int vain_attempts(double t, double d, int n) {
  return std::min(n, static_cast<int>(std::ceil(t / d)));
}

// --- Queues and loss ---

// M/G/1 retrial queue with constant service time s: the mean number of requests that wait to retry.
// Each waits for an exponential time with rate nu. Falin and Templeton, "Retrial Queues" (1997).
inline double retrial_orbit(double l, double s, double nu) {
  const double r = l * s;
  return r * r / (2 * (1 - r)) + l * r / (nu * (1 - r));
}

// M/M/1 retrial queue with service rate mu. The same book.
inline double exponential_orbit(double l, double mu, double nu) {
  const double r = l / mu;
  return r / (1 - r) * (r + l / nu);
}

// The share of requests that c servers without a queue refuse. Erlang (1917). Holds for any
// distribution of service times.
inline double erlang_b(int c, double a) {
  double b = 1;
  for (int k = 1; k <= c; ++k) b = a * b / (k + a * b);
  return b;
}

// Retries until success, after long and spread waits. All attempts together are again a Poisson
// stream, with traffic A. All requests are served in the end: A (1 - B(c, A)) = a. Attempts per
// request: A / a. Slow-retrial limit (Cohen 1957; Falin and Templeton).
inline double slow_retrial_attempts(int c, double a) {
  const auto is_below = [c, a](double all) { return all * (1 - erlang_b(c, all)) < a; };
  return find_crossing(a, 1000 * a, is_below).low / a;
}

// The share of calls that are refused if n sources think for z, call one of c servers for s, and
// think again after a refusal. Engset (1918), as a caller sees it.
inline double engset(int n, int c, double z, double s) {
  const double a = s / z;
  double b = 1;
  for (int k = 1; k <= c; ++k) b = a * (n - k) * b / (k + a * (n - k) * b);
  return b;
}

// The share of requests that must wait for one of c workers, a < c. Erlang (1917).
inline double erlang_c(int c, double a) {
  const double b = erlang_b(c, a);
  return b / (1 - a / c * (1 - b));
}

// How many wait on average. Holds for any order of service.
inline double erlang_queue(int c, double a) {
  return erlang_c(c, a) * a / (c - a);
}

// One kept connection, with a line for it, that is closed once it has been idle for t. The share of
// requests that must open another: those that find nobody (1 - l s), with none in the time t before.
inline double connecting_share(double l, double s, double t) {
  return (1 - l * s) * std::exp(-l * t);
}

// n clients with a kept connection each, which think for z and are served within s, are frozen out for t: the
// attempts that the service finds on waking, besides those that it had begun with. On each connection that was
// idle one, unless its client thought all the time, and what the accept queue holds, one more than its backlog.
inline double found_on_waking(int n, double z, double s, double t, int backlog) {
  const double idle = n * z / (z + s);
  return idle * (1 - std::exp(-t / z)) + backlog + 1;
}

// M/M/1 with room for n: the mean time from empty to n requests, and from n to empty. Birth and
// death: the sum of the mean times of the single steps.
inline double filling_time(double l, double mu, int n) {
  double step = 1 / l, sum = step;  // from 0 to 1
  for (int i = 1; i < n; ++i) {
    step = 1 / l + mu / l * step;
    sum += step;
  }
  return sum;
}

inline double emptying_time(double l, double mu, int n) {
  double step = 1 / mu, sum = step;  // from n to n - 1: there is no room for arrivals
  for (int i = n - 1; i > 0; --i) {
    step = 1 / mu + l / mu * step;
    sum += step;
  }
  return sum;
}

// Fluid approximation: how much waits after time t with arrival rate l and service rate c.
inline double backlog(double l, double c, double t) {
  return (l - c) * t;
}

// n requests arrive at once at a worker that takes s for each: the time until this share is done.
inline double lockstep(int n, double s, double share) {
  return s * std::ceil(n * share);
}

// n requests arrive at once at a worker that takes s for each: how many of them CoDel drops.
// facebook/folly, folly/executors/Codel.cpp.
inline int codel_drops(int n, double s, double target, double interval) {
  double now = 0, interval_ends = 0, least = 0;
  bool fresh = true;  // true until the interval's first request
  bool standing = false;
  int drops = 0;
  for (int i = 0; i < n; ++i) {
    if (now > interval_ends && !fresh) {
      fresh = true;
      interval_ends = now + interval;
      standing = least > target;
    }
    bool dropped = false;
    if (fresh) {
      fresh = false;
      least = now;
    } else {
      least = std::min(least, now);
      dropped = standing && now > 2 * target;
    }
    if (dropped) {
      ++drops;
    } else {
      now += s;
    }
  }
  return drops;
}

// n < 10 requests arrive at once: the order in which adaptive LIFO serves them, as the digits of a
// number. The first one finds the worker free. facebook/hhvm, hphp/util/job-queue.h.
inline int adaptive_order(int n, int threshold) {
  int order = 1, oldest = 2, newest = n;
  while (oldest <= newest) {
    order = 10 * order + (newest - oldest >= threshold ? newest-- : oldest++);
  }
  return order;
}

// --- Services behind services ---

// A row of `hops` services, of which only the last one fails, with p. Every caller makes at most n attempts: calls of
// the last service for a request, and the share of requests that succeed.
inline double chain_calls(double p, int n, int hops) {
  double calls = 1, fails = p;
  for (int i = 0; i < hops; ++i) {
    calls *= retry_attempts(fails, n);
    fails = std::pow(fails, n);
  }
  return calls;
}

inline double chain_success(double p, int n, int hops) {
  return 1 - std::pow(p, std::pow(n, hops));
}

// Each of them fails by itself with e before it calls: the share of requests that fail at the first service. `retries`:
// whether a caller retries, from the caller of the last service to the clients.
inline double hops_failing(double e, int n, const std::vector<bool>& retries) {
  double fails = 0;
  for (const bool retried : retries) {
    fails = e + (1 - e) * fails;
    if (retried) fails = std::pow(fails, n);
  }
  return fails;
}

// One service after the other, each with one worker, exponential services and freed workers: the times in them are
// independent and exponential. Burke (1956), Reich (1957). The mean, and the share of two that takes longer than t.
inline double tandem_mean(double l, const std::vector<double>& mu) {
  double mean = 0;
  for (const double each : mu) mean += 1 / (each - l);
  return mean;
}

inline double tandem_longer(double l, double mu_1, double mu_2, double t) {
  const double a = mu_1 - l, b = mu_2 - l;
  return (a * std::exp(-b * t) - b * std::exp(-a * t)) / (a - b);
}

// Requests arrive at rate g, fail with probability p after their service, and come again: the arrival rate with at most
// n attempts, and the mean number in the queue and with the worker. Jackson (1957).
inline double fed_back(double g, double p, int n) {
  return g * retry_attempts(p, n);
}

inline double in_station(double l, double mu) {
  return l / (mu - l);
}

// n requests think for z and share one exponential worker that takes s: what it serves. Machine repair, any law of z.
inline double repaired(int n, double z, double s) {
  // Mean values of a closed network, for one request more at a time.
  double waiting = 0, rate = 0;
  for (int i = 1; i <= n; ++i) {
    const double time = s * (1 + waiting);
    rate = i / (z + time);
    waiting = rate * time;
  }
  return rate;
}

// k calls at once, each of which fails with p after at most n attempts: the share of requests for which `need` succeed.
inline double fan_out_success(int k, double p, int n, int need) {
  const double ok = retry_success(p, n);
  double share = 0, ways = 1;  // k over i
  for (int i = k; i >= need; --i) {
    share += ways * std::pow(ok, i) * std::pow(1 - ok, k - i);
    ways *= static_cast<double>(i) / (k - i + 1);
  }
  return share;
}

// Two M/M/1 services called at once: the mean time until both have answered. Flatto and Hahn (1984).
inline double fork_join(double l, double mu) {
  return (12 - l / mu) / 8 / (mu - l);
}

// k exponential services of mean s, without a queue, at once: the mean of the longest. s times the k-th harmonic number.
inline double longest_of(int k, double s) {
  double sum = 0;
  for (int i = 1; i <= k; ++i) sum += s / i;
  return sum;
}

// Retries that cost a token, of which a success pays d, with room for few: retries a request, if p fail.
inline double paid_retries(double p, double d) {
  // r retries a request, for 1 + r attempts of which 1 - p succeed.
  return d * (1 - p) / (1 - d * (1 - p));
}

// --- The service's own curve ---

// With x requests in the service, x above the limit, a request takes d f^((x - limit) / k). Beyond
// its peak, throughput falls with x. Returns the x at which it has fallen to `rate`.
inline double falling_concurrency(double rate, double d, double f, double limit, double k) {
  const ServiceCurve curve(from_seconds(d), static_cast<std::size_t>(limit), f, k);
  const double low = curve.best_concurrency();
  double high = 2 * low;
  while (curve.throughput(high) > rate) high *= 2;
  return find_crossing(low, high, [&](double some) { return curve.throughput(some) > rate; }).low;
}

// --- Capacity ---

// The capacity after so many steps of target tracking while all of it is used. Each step is rounded
// up. Amazon DynamoDB Developer Guide.
inline double tracked_capacity(double c, double target, int steps) {
  constexpr double kRounding = 1e-9;  // so that 70 / .7 is not 101
  for (int i = 0; i < steps; ++i) c = std::ceil(c / target - kRounding);
  return c;
}

// How long a capacity c < l accepts rate l after it was unused for so many seconds. The same guide.
inline double saved_seconds(double c, double seconds, double l) {
  return c * seconds / (l - c);
}

// A failure multiplies a pause by `up`, and every n-th success by `down`. The share of failures f
// at which the mean pause does not change: f ln(up) = (1 - f) / n ln(1 / down).
inline double paced_failures(double up, double down, int n) {
  const double down_a_success = -std::log(down) / n;
  return down_a_success / (down_a_success + std::log(up));
}

// A pause is multiplied by a factor drawn uniformly from 1 - r to 1 + r, 0 < r < 1: the geometric
// mean of the factor.
inline double spread(double r) {
  return std::exp(((1 + r) * std::log(1 + r) - (1 - r) * std::log(1 - r)) / (2 * r) - 1);
}

}  // namespace retrystorm::validation
