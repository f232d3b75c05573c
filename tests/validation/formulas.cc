#include "tests/validation/formulas.h"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <numeric>
#include <vector>

#include "model/base/random.h"
#include "model/service/service_time.h"

namespace retrystorm::validation {

double retry_success(double p, int n) {
  return 1 - std::pow(p, n);
}

double retry_attempts(double p, int n) {
  return (1 - std::pow(p, n)) / (1 - p);
}

double refused_share(double l, double c, int n) {
  return std::pow(1 - c / l, 1.0 / n);
}

double retry_load(double l, double c, int n) {
  return c / (1 - refused_share(l, c, n));
}

double refused_in_second(double l, double c, int n, double b, int k) {
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

double throttled_rate(double g, double k, double c) {
  return std::min(g, k * c);
}

int retries_to_half(double t) {
  int retries = 0;
  while (t - (retries + 1) > t / 2) ++retries;
  return retries;
}

double draining_share(double d) {
  return d / (1 + d);
}

int retries_for(int t, int c) {
  return t / c;
}

double quota_draining_share(double c) {
  return find_crossing(0, 1, [c](double p) { return 1 - p > c * p * (p + p * p); }).low;
}

double quota_retries(double p, double c) {
  return std::min(p + p * p, (1 - p) / (c * p));
}

double hedged_share(double m, double d) {
  return std::exp(-d / m);
}

double hedged_mean(double m, double d) {
  return m * (1 - hedged_share(m, d) / 2);
}

double hedged_quantile(double m, double d, double q) {
  const double alone = -m * std::log(1 - q);
  return alone <= d ? alone : d + (alone - d) / 2;
}

double hedged_mean_of_two(double a, double b, double p, double d) {
  return (1 - p) * a + p * ((1 - p) * (d + a) + p * b);
}

double hedged_slow_share(double p) {
  return p * p;
}

double fan_out(double p, int n) {
  return 1 - std::pow(1 - p, n);
}

double mean_in_system(double l, double mu) {
  return 1 / (mu - l);
}

double mean_in_two(double l, double mu) {
  return mean_in_system(2 * l, 2 * mu);
}

double budgeted_hedges(double l, double share) {
  return share * l + 10;
}

int vain_attempts(double t, double d, int n) {
  return std::min(n, static_cast<int>(std::ceil(t / d)));
}

double retrial_orbit(double l, double s, double nu) {
  const double r = l * s;
  return r * r / (2 * (1 - r)) + l * r / (nu * (1 - r));
}

double exponential_orbit(double l, double mu, double nu) {
  const double r = l / mu;
  return r / (1 - r) * (r + l / nu);
}

double erlang_b(int c, double a) {
  double b = 1;
  for (int k = 1; k <= c; ++k) b = a * b / (k + a * b);
  return b;
}

double slow_retrial_attempts(int c, double a) {
  const auto is_below = [c, a](double all) { return all * (1 - erlang_b(c, all)) < a; };
  return find_crossing(a, 1000 * a, is_below).low / a;
}

double engset(int n, int c, double z, double s) {
  const double a = s / z;
  double b = 1;
  for (int k = 1; k <= c; ++k) b = a * (n - k) * b / (k + a * (n - k) * b);
  return b;
}

double erlang_c(int c, double a) {
  const double b = erlang_b(c, a);
  return b / (1 - a / c * (1 - b));
}

double erlang_queue(int c, double a) {
  return erlang_c(c, a) * a / (c - a);
}

double connecting_share(double l, double s, double t) {
  return (1 - l * s) * std::exp(-l * t);
}

double found_on_waking(int n, double z, double s, double t, int backlog) {
  const double idle = n * z / (z + s);
  return idle * (1 - std::exp(-t / z)) + backlog + 1;
}

double filling_time(double l, double mu, int n) {
  double step = 1 / l, sum = step;  // from 0 to 1
  for (int i = 1; i < n; ++i) {
    step = 1 / l + mu / l * step;
    sum += step;
  }
  return sum;
}

double emptying_time(double l, double mu, int n) {
  double step = 1 / mu, sum = step;  // from n to n - 1: there is no room for arrivals
  for (int i = n - 1; i > 0; --i) {
    step = 1 / mu + l / mu * step;
    sum += step;
  }
  return sum;
}

double backlog(double l, double c, double t) {
  return (l - c) * t;
}

double lockstep(int n, double s, double share) {
  return s * std::ceil(n * share);
}

int codel_drops(int n, double s, double target, double interval) {
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

int adaptive_order(int n, int threshold) {
  int order = 1, oldest = 2, newest = n;
  while (oldest <= newest) {
    order = 10 * order + (newest - oldest >= threshold ? newest-- : oldest++);
  }
  return order;
}

double chain_calls(double p, int n, int hops) {
  double calls = 1, fails = p;
  for (int i = 0; i < hops; ++i) {
    calls *= retry_attempts(fails, n);
    fails = std::pow(fails, n);
  }
  return calls;
}

double chain_success(double p, int n, int hops) {
  return 1 - std::pow(p, std::pow(n, hops));
}

double hops_failing(double e, int n, const std::vector<bool>& retries) {
  double fails = 0;
  for (const bool retried : retries) {
    fails = e + (1 - e) * fails;
    if (retried) fails = std::pow(fails, n);
  }
  return fails;
}

double tandem_mean(double l, const std::vector<double>& mu) {
  double mean = 0;
  for (const double each : mu) mean += 1 / (each - l);
  return mean;
}

double tandem_longer(double l, double mu_1, double mu_2, double t) {
  const double a = mu_1 - l, b = mu_2 - l;
  return (a * std::exp(-b * t) - b * std::exp(-a * t)) / (a - b);
}

double fed_back(double g, double p, int n) {
  return g * retry_attempts(p, n);
}

double in_station(double l, double mu) {
  return l / (mu - l);
}

double repaired(int n, double z, double s) {
  // Mean values of a closed network, for one request more at a time.
  double waiting = 0, rate = 0;
  for (int i = 1; i <= n; ++i) {
    const double time = s * (1 + waiting);
    rate = i / (z + time);
    waiting = rate * time;
  }
  return rate;
}

double fan_out_success(int k, double p, int n, int need) {
  const double ok = retry_success(p, n);
  double share = 0, ways = 1;  // k over i
  for (int i = k; i >= need; --i) {
    share += ways * std::pow(ok, i) * std::pow(1 - ok, k - i);
    ways *= static_cast<double>(i) / (k - i + 1);
  }
  return share;
}

double fork_join(double l, double mu) {
  return (12 - l / mu) / 8 / (mu - l);
}

double longest_of(int k, double s) {
  double sum = 0;
  for (int i = 1; i <= k; ++i) sum += s / i;
  return sum;
}

double paid_retries(double p, double d) {
  // r retries a request, for 1 + r attempts of which 1 - p succeed.
  return d * (1 - p) / (1 - d * (1 - p));
}

double falling_concurrency(double rate, double d, double f, double limit, double k) {
  return ServiceCurve(from_seconds(d), static_cast<std::size_t>(limit), f, k)
      .falling_concurrency(rate);
}

double tracked_capacity(double c, double target, int steps) {
  constexpr double kRounding = 1e-9;  // so that 70 / .7 is not 101
  for (int i = 0; i < steps; ++i) c = std::ceil(c / target - kRounding);
  return c;
}

double saved_seconds(double c, double seconds, double l) {
  return c * seconds / (l - c);
}

double paced_failures(double up, double down, int n) {
  const double down_a_success = -std::log(down) / n;
  return down_a_success / (down_a_success + std::log(up));
}

double spread(double r) {
  return std::exp(((1 + r) * std::log(1 + r) - (1 - r) * std::log(1 - r)) / (2 * r) - 1);
}

}  // namespace retrystorm::validation
