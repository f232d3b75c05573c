#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "model/base/duration.h"
#include "tests/support/given.h"
#include "tests/validation/cases.h"
#include "tests/validation/formulas.h"
#include "tests/validation/observed_run.h"

namespace retrystorm::validation {
namespace {

using test::given;
using test::in_seconds;
using test::text;
using test::with;

using namespace std::chrono_literals;

// --- Graphs ---

// Services that are never busy and take next to no time.
const std::string kFree = "workers = 5000\nservice-time = 100us\n";
std::string section(const std::string& name, const std::string& calls = "",
                    const std::string& work = kFree, const std::string& more = "") {
  return '[' + name + "]\n" + work + (calls.empty() ? "" : "calls = " + calls + '\n') + more;
}

std::string workers(int count, const std::string& service_time) {
  return "workers = " + std::to_string(count) + "\nservice-time = " + service_time + '\n';
}

// Up to so many attempts, in quick succession.
std::string attempts(const std::string& edge, int most) {
  return '[' + edge +
         "]\nstrategy = fixed\nfixed-delay = 5ms\nmax-attempts = " + std::to_string(most) + '\n';
}

std::string letter(int place) {
  return std::string(1, static_cast<char>('a' + place));
}

// The services a, b, c, ... in a row, each of which calls the next one, with what `more` says of each.
template <typename More>
std::string row_with(int services, const More& more) {
  std::string graph;
  for (int i = 0; i < services; ++i) {
    graph += section(letter(i), i + 1 < services ? letter(i + 1) : "", kFree, more(i));
  }
  return graph;
}

// Those who call make at most so many attempts; the clients one.
std::string row_of(int services, int most, const std::string& more = "") {
  return row_with(services, [&](int i) {
    return more + (i + 1 < services ? attempts(letter(i) + '.' + letter(i + 1), most) : "");
  });
}

// Requests at this rate. Nothing retries unless it is said.
NamedOptions arriving(double rate, double length, const NamedOptions& more = {}) {
  return with(
      given("arrivals=open, rate=?, strategy=none, timeout=60s, outage-at=0s, outage-for=0s, "
            "backlog=100000, observe=?s",
            rate, length),
      more);
}

// The last service fails with this share, at once.
NamedOptions failing(double share, double rate, double length, const NamedOptions& more = {}) {
  return with(arriving(rate, 0, given("outage=errors:?, outage-for=?s", share, length)), more);
}

NamedOptions retried(int most, const NamedOptions& options) {
  return with(options, given("strategy=fixed, fixed-delay=5ms, max-attempts=?", most));
}

// --- Figures ---

template <typename Figure>
Measure of_graph(std::string graph, NamedOptions options, Figure figure, Duration interval = 0s) {
  return [graph = std::move(graph), options = std::move(options), figure = std::move(figure),
          interval](std::uint64_t seed) {
    return static_cast<double>(figure(
        observe({.options = options, .topology = {"graph", graph}, .interval = interval}, seed)));
  };
}

const NodeResult& node(const ObservedRun& run, const std::string& name) {
  for (const NodeResult& each : run.summary.graph->nodes) {
    if (each.name == name) return each;
  }
  throw std::runtime_error("there is no service " + name);
}

Measure calls_of(const std::string& name, std::string graph, NamedOptions options) {
  return of_graph(std::move(graph), std::move(options),
                  [name](const ObservedRun& run) { return node(run, name).amplification; });
}

Measure success(std::string graph, NamedOptions options) {
  return of_graph(std::move(graph), std::move(options),
                  [](const ObservedRun& run) { return run.summary.counts.success_share(); });
}

// Good answers a second.
Measure goodput(std::string graph, NamedOptions options) {
  return of_graph(std::move(graph), std::move(options), [](const ObservedRun& run) {
    return static_cast<double>(run.summary.counts.ok) / to_seconds(run.summary.elapsed);
  });
}

double mean_in_flight(const ObservedRun& run) {
  double sum = 0;
  for (const RunInterval& each : run.intervals) sum += static_cast<double>(each.clients.in_flight);
  return sum / static_cast<double>(run.intervals.size());
}

// The share of attempts that time out.
double late(const ObservedRun& run) {
  return static_cast<double>(run.summary.counts.timed_out) /
         static_cast<double>(run.summary.counts.attempts);
}

// The mean time of a request, by Little's law.
Measure mean_time(double rate, std::string graph, NamedOptions options) {
  return of_graph(
      std::move(graph), std::move(options),
      [rate](const ObservedRun& run) { return mean_in_flight(run) / rate; }, 100ms);
}

Measure time_at(double quantile, std::string graph, NamedOptions options) {
  return of_graph(std::move(graph), std::move(options), [quantile](const ObservedRun& run) {
    return to_seconds(run.summary.latencies.requests().quantile(quantile)->time);
  });
}

}  // namespace

std::vector<Case> graph_cases() {
  std::vector<Case> list;
  const auto add = [&list](int row, std::string what, double expected, double tolerance,
                           Measure measure) {
    list.push_back(
        {row, std::move(what), expected, Case::Relation::kEqual, tolerance, std::move(measure)});
  };

  // Everything fails, so requests at the end of the run are not through yet.
  add(40, "calls of the last of 3 dead services, 4 attempts each", std::pow(4, 3), .02,
      calls_of("c", row_of(3, 4), retried(4, failing(1, 10, 30))));
  add(40, "calls of the last of 5 dead services, 3 attempts each", std::pow(3, 5), .05,
      calls_of("e", row_of(5, 3), retried(3, failing(1, 5, 40))));

  struct Failing {
    double p;
    int n, hops;
    double rate;
  };
  for (const auto& [p, n, hops, rate] : {Failing{.5, 3, 3, 200}, Failing{.9, 3, 3, 100},
                                         Failing{.99, 4, 3, 50}, Failing{.8, 2, 2, 200}}) {
    const std::string name = ", the last of " + std::to_string(hops) + " fails with " + text(p) +
                             ", " + std::to_string(n) + " attempts each";
    const NamedOptions options = retried(n, failing(p, rate, 100));
    add(41, "calls of it" + name, chain_calls(p, n, hops), .01,
        calls_of(letter(hops - 1), row_of(hops, n), options));
    add(41, "success" + name, chain_success(p, n, hops), .005, success(row_of(hops, n), options));
  }

  for (const auto& [e, n] : {std::pair(.3, 3), std::pair(.1, 3), std::pair(.4, 2)}) {
    const std::string name =
        ", each of 3 fails with " + text(e) + ", " + std::to_string(n) + " attempts";
    const NamedOptions sent_once = arriving(200, 100, given("error-share=?", e));
    const NamedOptions options = retried(n, sent_once);
    add(42, "success" + name + " of every caller", 1 - hops_failing(e, n, {true, true, true}), .002,
        success(row_of(3, n), options));
    add(42, "success" + name + " of the clients", 1 - hops_failing(e, n, {false, false, true}),
        .002, success(row_of(3, n), with(options, given("retry-at=top"))));
    add(42, "success" + name + " of the last caller", 1 - hops_failing(e, n, {true, false, false}),
        .005, success(row_of(3, n), with(sent_once, given("retry-at=bottom"))));
  }

  for (const auto& [n, hops] : {std::pair(4, 3), std::pair(3, 5)}) {
    add(43,
        "calls of the last of " + std::to_string(hops) + " dead services, " + std::to_string(n) +
            " attempts, each says that it should not be retried",
        n, .01,
        calls_of(letter(hops - 1), row_of(hops, n, "upstream-failure = no-retry\n"),
                 retried(n, failing(1, 20, 50))));
  }

  struct Hanging {
    double timeout;
    const char* deadline;
    double calls;
  };
  for (const auto& [timeout, deadline, calls] :
       {Hanging{1, "none", 9}, Hanging{1, "attempt", 3}, Hanging{.6, "attempt", 6},
        Hanging{.4, "attempt", 9}, Hanging{.3, "none", 9}}) {
    NamedOptions options =
        arriving(10, 0,
                 given("outage-for=600s, strategy=fixed, fixed-delay=0s, max-attempts=3, "
                       "timeout=1s, deadline-propagation=?",
                       deadline));
    add(44,
        "calls of a service that hangs, 3 attempts of 1 s and 3 of " + text(timeout) +
            " s, deadlines: " + deadline,
        calls, .01,
        calls_of(
            "b",
            section("a", "b") + section("b") + "[a.b]\ntimeout = " + in_seconds(timeout) + '\n',
            options));
  }

  const auto queues = [](const std::vector<double>& mu) {
    std::string graph;
    for (std::size_t i = 0; i < mu.size(); ++i) {
      const int place = static_cast<int>(i);
      graph += section(letter(place), i + 1 < mu.size() ? letter(place + 1) : "",
                       workers(1, "exponential:" + in_seconds(1 / mu[i])), "waiting = free\n");
    }
    return graph;
  };
  add(45, "mean time, s, two M/M/1 in a row, 10/s and 8/s, load 5/s", tandem_mean(5, {10, 8}), .01,
      mean_time(5, queues({10, 8}), arriving(5, 5000)));
  add(45, "mean time, s, three, 10/s, 8/s and 6.5/s", tandem_mean(5, {10, 8, 6.5}), .02,
      mean_time(5, queues({10, 8, 6.5}), arriving(5, 8000)));
  for (const double quantile : {.5, .95}) {
    // The time that just this share takes longer than, by bisection.
    double low = 0, high = 20;
    for (int i = 0; i < 60; ++i) {
      const double middle = (low + high) / 2;
      (tandem_longer(5, 10, 8, middle) > 1 - quantile ? low : high) = middle;
    }
    add(45, 'p' + text(100 * quantile) + ", s, two M/M/1 in a row", low, .01,
        time_at(quantile, queues({10, 8}), arriving(5, 5000)));
  }

  struct Blocked {
    double load, own, behind;
  };
  for (const auto& [load, own, behind] :
       {Blocked{60, .05, .05}, Blocked{60, .05, .1}, Blocked{60, .05, .2}, Blocked{30, .1, .3}}) {
    const std::string graph =
        section("a", "b", workers(10, "exponential:" + in_seconds(own)), "queue-length = 0\n") +
        section("b", "", workers(5000, in_seconds(behind)));
    const std::string name = ", 10 workers, " + text(load) + "/s of " + text(own) + " s and " +
                             text(behind) + " s behind it";
    add(46, "refused by held workers" + name, erlang_b(10, load * (own + behind)), 0,
        of_graph(graph, arriving(load, 400),
                 [](const ObservedRun& run) { return 1 - run.summary.counts.success_share(); }));
  }

  for (const auto& [n, z, s] : {std::tuple(4, .05, .02), std::tuple(10, .1, .02)}) {
    const std::string graph = section("a", "b", workers(n, in_seconds(z)), "queue-length = 100\n") +
                              section("b", "", workers(1, "exponential:" + in_seconds(s)));
    add(47,
        std::to_string(n) + " threads that work " + text(z) + " s and call one worker of " +
            text(s) + " s, requests/s",
        repaired(n, z, s), .005, goodput(graph, arriving(200, 200)));
  }

  // All workers begin and end together, so a window has a whole number of such rounds.
  const auto capped = [&add](const char* what, double behind, double timeout, double share) {
    const double held = 1 / 32. * (.005 + share * std::min(behind, timeout));
    const std::string graph =
        section("a", share < 1 ? "b@" + text(share) : "b", workers(32, "5ms")) +
        section("b", "", workers(50000, in_seconds(behind))) +
        "[a.b]\ntimeout = " + in_seconds(timeout) + '\n';
    add(48, std::string("32 held workers of 5 ms, ") + what + ", worked off a second", 1 / held,
        .025, of_graph(graph, arriving(7000, 20), [](const ObservedRun& run) {
          return node(run, "a").end->worked;
        }));
  };
  capped("40 ms behind them", .04, 10, 1);
  capped("calls that hang for 250 ms", 1000, .25, 1);
  capped("calls that hang for 1 s", 1000, 1, 1);
  capped("40 ms behind one of two requests", .04, 10, .5);

  struct FanOut {
    int k, n, need;
    double p;
  };
  for (const auto& [k, n, need, p] :
       {FanOut{100, 1, 100, .01}, FanOut{100, 2, 100, .01}, FanOut{5, 3, 5, .1},
        FanOut{5, 1, 4, .1}, FanOut{8, 2, 6, .4}}) {
    const std::string name = ", " + std::to_string(k) + " calls at once, " + std::to_string(need) +
                             " needed, " + text(p) + " fail, " + std::to_string(n) + " attempts";
    const std::string graph = section("a", "b&" + std::to_string(k), kFree,
                                      "on-failure = need:" + std::to_string(need) + '\n') +
                              section("b") + attempts("a.b", n);
    add(49, "success" + name, fan_out_success(k, p, n, need), .003,
        success(graph, failing(p, 2000. / k + 50, 60)));
  }
  add(49, "calls, 5 calls at once, 0.1 fail, 3 attempts", 5 * retry_attempts(.1, 3), .005,
      calls_of("b", section("a", "b&5") + section("b") + attempts("a.b", 3), failing(.1, 200, 60)));

  for (const double p : {.5, .9, .7}) {
    const auto diamond = [](const std::string& of_first) {
      return section("a", "l & r", kFree, of_first) + section("l", "d") + section("r", "d") +
             section("d") + attempts("a.l", 3) + attempts("a.r", 3) + attempts("l.d", 3) +
             attempts("r.d", 3);
    };
    // A side fails with p^3 after its calls. Both are waited for, and both repeated if one has failed.
    const double side = std::pow(p, 3), either = 1 - std::pow(1 - side, 2);
    add(50, "calls of both sides of a diamond, 3 attempts on each edge, " + text(p) + " fail",
        2 * retry_attempts(p, 3) * retry_attempts(side, 3), .02,
        calls_of("d", diamond("on-failure = all\n"), failing(p, 100, 100)));
    add(50, "the same if both sides are called again",
        2 * retry_attempts(p, 3) * retry_attempts(either, 3), .02,
        calls_of("d", diamond("on-failure = all\nretry-scope = all\n"), failing(p, 100, 100)));
  }

  const auto fork = [](double mu) {
    const std::string work = workers(1, "exponential:" + in_seconds(1 / mu));
    return section("a", "b & c", "workers = 5000\nservice-time = 100ns\n") +
           section("b", "", work) + section("c", "", work);
  };
  add(51, "mean time, s, until two M/M/1 have answered, 10/s, load 5/s", fork_join(5, 10), .01,
      mean_time(5, fork(10), arriving(5, 5000)));
  add(51, "mean time, s, the same, 20/s, load 14/s", fork_join(14, 20), .02,
      mean_time(14, fork(20), arriving(14, 4000)));
  for (const int k : {2, 3, 10}) {
    add(51, "mean time, s, of the longest of " + std::to_string(k) + " calls of 1 s",
        longest_of(k, 1), .005,
        mean_time(20,
                  section("a", "b&" + std::to_string(k), "workers = 5000\nservice-time = 100ns\n") +
                      section("b", "", workers(5000, "exponential:1s")),
                  arriving(20, 600)));
  }

  // One service, as every row of services is made of such.
  const auto again = [](double rate, double p, const char* most) {
    return arriving(rate, 12000,
                    given("strategy=fixed, fixed-delay=1s, max-attempts=?, error-share=?, "
                          "error-after=service",
                          most, p));
  };
  const std::string station = section("a", "", workers(1, "exponential:100ms"));
  struct FedBack {
    double rate, p;
    const char* most;
    int n;
  };
  for (const auto& [rate, p, most, n] :
       {FedBack{4, .2, "none", 100}, FedBack{4, .5, "none", 100}, FedBack{6, .3, "3", 3}}) {
    const double attempts = fed_back(rate, p, n);
    add(52,
        "requests in the service, 10/s, load " + text(rate) + "/s, " + text(p) +
            " fail after it and come again, attempts: " + most,
        in_station(attempts, 10), .02,
        of_graph(station, again(rate, p, most), mean_in_flight, 100ms));
  }
  for (const auto& [rate, limit] : {std::pair(8., 1.), std::pair(9., 1.), std::pair(7., .5)}) {
    add(53,
        "share that takes longer than " + text(limit) + " s, M/M/1 of 10/s, load " + text(rate) +
            "/s",
        std::exp(-(10 - rate) * limit), 0,
        of_graph(station, arriving(rate, 8000, given("timeout=?s", limit)), late));
  }
  for (const auto& [p, deposit] : {std::pair(.9, .5), std::pair(.5, .5), std::pair(.8, .2)}) {
    const NamedOptions options =
        with(retried(3, arriving(200, 400)),
             given("error-share=?, retry-budget=sre, budget-tokens=10, budget-deposit=?, "
                   "budget-deposit-on=success, max-attempts=none",
                   p, deposit));
    add(54,
        "retries a request, " + text(p) + " fail, a success pays " + text(deposit) + " of a retry",
        paid_retries(p, deposit), .01, of_graph(section("a"), options, [](const ObservedRun& run) {
          return static_cast<double>(run.summary.counts.retries) /
                 static_cast<double>(run.summary.counts.requests);
        }));
  }
  return list;
}

std::vector<Case> layer_cases() {
  std::vector<Case> list;
  const auto add = [&list](int row, std::string what, double expected, double tolerance,
                           Measure measure, Case::Relation relation = Case::Relation::kEqual) {
    list.push_back({row, std::move(what), expected, relation, tolerance, std::move(measure)});
  };

  // Waits are spread, so each attempt is refused with the same probability: as for one service with n^L attempts.
  struct Refusing {
    double l, c;
    int n, hops;
  };
  for (const auto& [l, c, n, hops] :
       {Refusing{150, 100, 3, 2}, Refusing{200, 100, 3, 2}, Refusing{300, 200, 2, 3}}) {
    const std::string graph = row_with(hops, [c = c, last = hops - 1](int i) {
      return i == last ? "rate-limit = " + text(c) + '\n' : "waiting = free\n";
    });
    const NamedOptions options = arriving(
        l, 400,
        given("timeout=none, strategy=fixed, fixed-delay=20s, jitter=full, max-attempts=?", n));
    add(55,
        "calls/s of the last of " + std::to_string(hops) + " services, which accepts " + text(c) +
            " of " + text(l) + "/s, " + std::to_string(n) + " attempts each",
        retry_load(l, c, static_cast<int>(std::lround(std::pow(n, hops)))), .01,
        of_graph(graph, options, [hops = hops](const ObservedRun& run) {
          return run.summary.graph->nodes[static_cast<std::size_t>(hops - 1)].end->offered;
        }));
  }

  const auto budgeted = [](double share, const NamedOptions& options) {
    return with(retried(2, options), given("max-attempts=none, retry-budget=?", share));
  };
  for (const auto& [share, hops] : {std::pair(.1, 2), std::pair(.1, 3), std::pair(.2, 3)}) {
    const std::string graph = row_with(hops, [](int) { return ""; });
    add(56,
        "calls of the last of " + std::to_string(hops) + " dead services, a budget of " +
            text(share) + " in each",
        std::pow(1 + share, hops), .01,
        calls_of(letter(hops - 1), graph,
                 budgeted(share, failing(1, 100, 300, given("processes=1")))));
  }
  for (const double p : {.3, .4}) {
    const std::string graph = section("a");
    const NamedOptions options = failing(p, 1000, 100, given("processes=1"));
    const std::string name = ", " + text(p) + " fail, 2 attempts";
    add(56, "attempts" + name, retry_attempts(p, 2), .005,
        calls_of("a", graph, retried(2, options)));
    add(56, "success" + name, 1 - p * p, .005, success(graph, retried(2, options)));
    const NamedOptions limited = with(budgeted(.1, options), given("max-attempts=2"));
    add(56, "attempts" + name + ", a budget of 0.1", 1.1, .005, calls_of("a", graph, limited));
    add(56, "success" + name + ", a budget of 0.1", 1 - p + .1 * (1 - p), .005,
        success(graph, limited));
  }

  // Four services that call the next one, and clients that do not retry.
  const auto behind_clients = [](int callers, int n, const std::string& work,
                                 const std::string& leaf, const std::string& waiting) {
    std::string graph;
    for (int i = 0; i < callers; ++i) {
      graph += section(letter(i), letter(i + 1), work, "waiting = " + waiting + '\n') + '[' +
               letter(i) + '.' + letter(i + 1) +
               "]\nstrategy = fixed\nfixed-delay = 50ms\nmax-attempts = " + std::to_string(n) +
               '\n';
    }
    return graph + section(letter(callers), "", leaf);
  };
  const std::string hop = workers(32, "3ms"), leaf = workers(64, "lognormal:5.23ms:0.307");
  struct Callers {
    double p;
    int n, callers;
  };
  for (const auto& [p, n, callers] : {Callers{.5, 3, 4}, Callers{.9, 3, 4}, Callers{.7, 2, 3}}) {
    const std::string graph = behind_clients(callers, n, hop, leaf, "free");
    const std::string name = ", " + std::to_string(callers) + " callers in a row, " +
                             std::to_string(n) + " attempts each, the last service fails with " +
                             text(p);
    const NamedOptions options = failing(p, 50, 200, given("error-after=service"));
    add(57, "calls of it" + name, chain_calls(p, n, callers), .01,
        calls_of(letter(callers), graph, options));
    add(57, "success" + name, chain_success(p, n, callers), .002, success(graph, options));
  }
  add(57, "the same, it is dead, 3 attempts", 81, .02,
      calls_of("e", behind_clients(4, 3, hop, leaf, "free"),
               failing(1, 20, 200, given("error-after=service"))));
  // Of 200 requests a second each worker of the last caller is held for at least 3 attempts of 1 ms and 2 waits.
  add(57, "calls/s of it, 200/s, 32 held workers in each caller", 3 * 32 / .103, 0,
      of_graph(behind_clients(4, 3, hop, leaf, "hold"),
               failing(1, 200, 100, given("error-after=service")),
               [](const ObservedRun& run) { return node(run, "e").end->offered; }),
      Case::Relation::kLess);

  struct Layers {
    double p;
    int outer, inner;
  };
  for (const auto& [p, outer, inner] : {Layers{.7, 7, 1}, Layers{.7, 7, 7}, Layers{.6, 2, 4}}) {
    const std::string graph = section("a", "b") + section("b") + attempts("a.b", inner);
    const std::string name = ", " + std::to_string(outer) + " attempts of the gateway and " +
                             std::to_string(inner) + " behind it, " + text(p) + " fail";
    const NamedOptions options = retried(outer, failing(p, 200, 100));
    const double behind = std::pow(p, inner);
    add(58, "calls" + name, retry_attempts(p, inner) * retry_attempts(behind, outer), .01,
        calls_of("b", graph, options));
    add(58, "success" + name, 1 - std::pow(behind, outer), .002, success(graph, options));
  }

  // A caller hedges each of its calls.
  struct Hedged {
    const char* work;
    double slow, time, hedge;
  };
  for (const auto& [work, slow, time, hedge] : {Hedged{"bimodal:10ms:0.01:1s", .01, .035, .02},
                                                Hedged{"bimodal:20ms:0.05:2s", .05, .055, .03}}) {
    for (const bool hedges : {false, true}) {
      const std::string graph =
          section("a", "b&100", kFree) + section("b", "", workers(50000, work)) +
          (hedges ? "[a.b]\nhedge = " + in_seconds(hedge) + '\n' : std::string());
      add(59,
          "fan-outs to 100 that take longer than " + text(1000 * time) + " ms, " +
              text(100 * slow) + " % of calls are slow" +
              (hedges ? ", hedged after " + text(1000 * hedge) + " ms" : ""),
          fan_out(hedges ? hedged_slow_share(slow) : slow, 100), 0,
          of_graph(graph, arriving(50, 300, given("timeout=?s", time)), late));
    }
  }
  return list;
}

}  // namespace retrystorm::validation
