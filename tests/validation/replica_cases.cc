#include <chrono>
#include <cmath>
#include <string>

#include "tests/support/given.h"
#include "tests/validation/cases.h"
#include "tests/validation/formulas.h"
#include "tests/validation/observed_run.h"

namespace retrystorm::validation {
namespace {

using test::given;
using test::text;
using test::with;
using namespace std::chrono_literals;

// The requests that fail if `bad` of so many hosts fail all their attempts at once.
Measure failing_requests(int hosts, int bad, int attempts, const std::string& retry_host) {
  const NamedOptions options = with(
      given(
          "arrivals=open, rate=200, service=workers, workers=1000, service-time=1ms, replicas=?, balance=random, "
          "outage=errors:1, outage-at=0s, outage-for=600s, observe=0s, outage-replicas=?",
          hosts, bad),
      attempts == 1 ? given("strategy=none")
                    : given("strategy=fixed, fixed-delay=5ms, max-attempts=?, retry-host=?",
                            attempts, retry_host));
  return [options](std::uint64_t seed) {
    return 1 - observe({.options = options}, seed).summary.counts.success_share();
  };
}

// Hosts with `workers` each, whose exponential times have a mean of 100 ms and of which `used` is needed: the mean time
// of a request in the service, in means. Little's law, from samples each second after the first `warm_up`.
Measure time_at(int hosts, int workers, double used, const std::string& balance, int warm_up,
                int length) {
  const double rate = hosts * workers * used / 0.1;
  const NamedOptions options = given(
      "arrivals=open, rate=?, strategy=none, timeout=none, service=workers, workers=?, "
      "service-time=exponential:100ms, replicas=?, balance=?, outage-at=0s, outage-for=0s, observe=?s",
      rate, workers, hosts, balance, warm_up + length);
  return [options, rate, warm_up](std::uint64_t seed) {
    const ObservedRun run = observe({.options = options, .service_interval = 100ms}, seed);
    double sum = 0;
    int samples = 0;
    for (const ServiceReport& each : run.service) {
      if (each.t <= std::chrono::seconds(warm_up)) continue;
      sum += static_cast<double>(each.interval.concurrency);
      ++samples;
    }
    return sum / samples / rate / 0.1;
  };
}

// Hosts that do 900/s each and are used to `used` of them: how many seconds of one host's work wait after so much time, if
// `at` happens after 10 s. Requests wait for as long as it takes.
Measure waiting_after(int hosts, double used, const std::string& balance, int start,
                      const std::string& at, int after) {
  NamedOptions options = given(
      "arrivals=open, rate=?, strategy=none, timeout=none, service=workers, workers=9, service-time=fixed:10ms, "
      "backlog=1000000, replicas=?, balance=?, host-start=?s, outage-at=0s, outage-for=0s, observe=?s",
      900 * used, hosts, balance, start, 10 + after);
  options["at"] = at;
  return [options](std::uint64_t seed) {
    const ObservedRun run = observe({.options = options, .service_interval = 1s}, seed);
    return static_cast<double>(run.service.back().interval.workers->waiting) / 900;
  };
}

// How unevenly hosts are used by processes that know some of them each: the coefficient of variation.
Measure spread_of_subsets(int processes, int hosts, int known) {
  const NamedOptions options = given(
      "arrivals=open, rate=20000, processes=?, strategy=none, service=workers, workers=1000, service-time=1ms, replicas=?, "
      "picker=client, subset=?, outage-at=0s, outage-for=0s, observe=50s",
      processes, hosts, known);
  return [options](std::uint64_t seed) {
    const ObservedRun run = observe({.options = options}, seed);
    double sum = 0, squares = 0;
    for (const HostInterval& each : run.summary.hosts->hosts) {
      const auto attempts = static_cast<double>(each.attempts);
      sum += attempts;
      squares += attempts * attempts;
    }
    const auto count = static_cast<double>(run.summary.hosts->hosts.size());
    return std::sqrt(squares / count / (sum / count * sum / count) - 1);
  };
}

// The share of attempts that one of so many hosts gets, so many seconds after it has come back from a restart that took 10 s,
// if each client keeps a connection of at most `age`. From the 4 s around then, which are an interval's if `after` is 2 more than a
// multiple of 4.
Measure share_of_returned(int hosts, const std::string& age, int after) {
  const NamedOptions options = given(
      "clients=20000, clients-per-process=1, lambda=1s, strategy=none, service=workers, workers=1000, service-time=1ms, "
      "connections=keep-alive, pick-per=connection, balance=random, replicas=?, connection-age=?, host-start=10s, "
      "at=30s restart host 1, outage-at=0s, outage-for=0s, observe=?s",
      hosts, age, 40 + after + 2);
  return [options](std::uint64_t seed) {
    const ObservedRun run = observe({.options = options, .interval = 4s}, seed);
    std::uint64_t all = 0;
    for (const HostInterval& each : run.hosts.back()) all += each.attempts;
    return static_cast<double>(run.hosts.back()[0].attempts) / static_cast<double>(all);
  };
}

// The restarts of all hosts, so many seconds apart.
std::string restarts(int hosts, int apart) {
  std::string all;
  for (int i = 0; i < hosts; ++i) {
    all += (i > 0 ? "; " : "") + std::to_string(10 + i * apart) + "s restart host " +
           std::to_string(i + 1);
  }
  return all;
}

}  // namespace

std::vector<Case> replica_cases() {
  std::vector<Case> list;
  const auto fails = [&list](int row, int hosts, int bad, int attempts, const std::string& where,
                             double expected) {
    list.push_back({row,
                    "requests that fail, " + text(bad) + " of " + text(hosts) + " hosts do, " +
                        text(attempts) + " attempts, at " + where + " host",
                    expected, Case::Relation::kEqual, 0,
                    failing_requests(hosts, bad, attempts, where)});
  };
  fails(60, 3, 1, 1, "any", 1. / 3);
  fails(60, 3, 1, 2, "any", 1. / 9);
  fails(60, 3, 1, 3, "any", 1. / 27);
  fails(60, 5, 2, 2, "any", .16);
  fails(61, 10, 3, 2, "other", 3. / 10 * 2 / 9);
  fails(61, 10, 3, 3, "other", 3. / 10 * 2 / 9 * 1 / 8);
  fails(61, 5, 2, 2, "other", 2. / 5 * 1 / 4);
  fails(62, 3, 1, 2, "other:1", 1. / 3 * 1 / 9);
  fails(62, 4, 2, 2, "other:1", 1. / 2 * (1. / 4 + 1. / 4 * 1 / 2));

  const auto takes = [&list](int row, int hosts, int workers, double used, const std::string& how,
                             double expected, int warm_up, int length) {
    list.push_back({row,
                    "mean time, in service times, " + text(hosts) + " hosts of " + text(workers) +
                        ", used to " + text(used) + ", " + how,
                    expected, Case::Relation::kEqual, .01,
                    time_at(hosts, workers, used, how, warm_up, length)});
  };
  // With so many hosts a random one is an M/M/c queue, whatever the others do.
  const auto of_random = [](int c, double used) {
    return 1 + erlang_c(c, c * used) / (c * (1 - used));
  };
  takes(63, 4, 5, .8, "random", of_random(5, .8), 20, 600);
  takes(63, 6, 3, .8, "random", of_random(3, .8), 20, 600);
  takes(64, 100, 1, .9, "random", 10, 200, 400);
  takes(64, 100, 1, .7, "random", 1 / .3, 20, 100);
  // D/M/1, and the mean-field limit of the better of two (Vvedenskaya, Dobrushin, Karpelevich 1996).
  takes(65, 1000, 1, .9, "round-robin", 5.18, 60, 60);
  takes(65, 1000, 1, .7, "round-robin", 1.876, 10, 20);
  takes(66, 1000, 1, .9, "two", 2.614, 10, 20);
  takes(66, 1000, 1, .7, "two", 1.614, 5, 20);
  // Erlang-R times between the arrivals at a host.
  takes(67, 2, 1, .8, "round-robin", 3.844, 20, 10000);
  takes(67, 3, 1, .8, "round-robin", 3.459, 20, 10000);
  takes(67, 4, 1, .9, "round-robin", 6.383, 100, 20000);

  const auto waits = [&list](int row, const std::string& what, int hosts, double used,
                             const std::string& balance, int start, const std::string& at,
                             int after, double expected) {
    list.push_back({row,
                    "seconds of a host's work that wait, " + text(hosts) + " hosts used to " +
                        text(used) + ", " + what + ", away for " + text(start) + " s, after " +
                        text(after) + " s, " + balance,
                    expected, Case::Relation::kEqual, .01,
                    waiting_after(hosts, used, balance, start, at, after)});
  };
  // One is away: what the others cannot do waits. Then all work on it, or in turn only those that have it.
  const std::string one = "10s restart host 1";
  waits(68, "one restarts", 3, 2.7, "least", 60, one, 60, .7 * 60);
  waits(68, "one restarts", 3, 2.7, "least", 60, one, 160, .7 * 60 - .3 * 100);
  waits(68, "one restarts", 3, 2.7, "round-robin", 60, one, 160, .7 * 60 - .2 * 100);
  waits(68, "one restarts", 4, 3.4, "least", 30, one, 35, .4 * 30 - .6 * 5);
  waits(68, "one restarts", 4, 3.4, "round-robin", 30, one, 35, .4 * 30 - .45 * 5);
  // One after the other: nothing is lost if each gives what waits to the others. Else each takes its share along.
  const std::string rolling = "10s rolling-restart";
  waits(69, "all, one after the other", 3, 2.1, "least", 60, rolling, 180, .1 * 180);
  waits(69, "all, one after the other", 5, 4.2, "least", 20, rolling, 100, .2 * 100);
  waits(69, "all, and what waits is lost", 3, 2.1, "least", 60, restarts(3, 60), 180, 10.5);
  waits(69, "all, and what waits is lost", 3, 2.1, "round-robin", 60, restarts(3, 60), 180, 9);
  double left = 0;
  for (int i = 0; i < 5; ++i) left += .2 * 20 - (i > 0 ? left / 4 : 0);
  waits(69, "all, and what waits is lost", 5, 4.2, "least", 20, restarts(5, 20), 100, left);

  const auto spread = [&list](int processes, int hosts, int known) {
    const double share = static_cast<double>(known) / hosts;
    list.push_back({70,
                    "spread of the hosts' load, " + text(processes) + " processes know " +
                        text(known) + " of " + text(hosts),
                    std::sqrt((1 - share) / (processes * share)), Case::Relation::kEqual, .01,
                    spread_of_subsets(processes, hosts, known)});
  };
  spread(100, 400, 80);
  spread(400, 500, 25);

  const auto returns = [&list](int hosts, const std::string& age, int after, double expected) {
    list.push_back({71,
                    "share of a host of " + text(hosts) + ", " + text(after) +
                        " s after its return, connections of at most " + age,
                    expected, Case::Relation::kEqual, .005, share_of_returned(hosts, age, after)});
  };
  // Of those of the others the part that ends within that time is picked anew, by the attempt after it: those that end in the
  // mean think time of 1 s before the host is back go to it, too. Those that it lost are renewed together, later.
  const auto renewed = [](double n, double age, double after) {
    return (1 - 1 / n) * (after + 1) / age / n;
  };
  returns(3, "100s", 26, renewed(3, 100, 26));
  returns(3, "100s", 50, renewed(3, 100, 50));
  returns(5, "80s", 34, renewed(5, 80, 34));
  returns(5, "60s", 66, 1. / 5);
  return list;
}

}  // namespace retrystorm::validation
