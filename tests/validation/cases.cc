#include "tests/validation/cases.h"

#include <string>
#include <utility>

#include "tests/support/given.h"
#include "tests/validation/formulas.h"
#include "tests/validation/measures.h"

namespace retrystorm::validation {
namespace {

using test::given;
using test::text;

constexpr auto kLess = Case::Relation::kLess;
constexpr auto kEqual = Case::Relation::kEqual;

}  // namespace

std::vector<Case> cases() {
  std::vector<Case> list;
  const auto add = [&list](int row, std::string what, double expected, double tolerance,
                           Measure measure, Case::Relation relation = kEqual) {
    list.push_back({row, std::move(what), expected, relation, tolerance, std::move(measure)});
  };

  add(1, "requests that succeed, attempts fail with 0.5, at most 4", retry_success(.5, 4), 0,
      retried_success(.5, 4));
  add(1, "attempts a request, they fail with 0.5, at most 4", retry_attempts(.5, 4), 0,
      retried_attempts(.5, 4));
  add(1, "requests that succeed, 0.8 fail after service, at most 10", retry_success(.8, 10), 0,
      retried_success(.8, 10, {{"error-after", "service"}}));
  add(1, "attempts a request, 0.2 fail after service, at most 3", retry_attempts(.2, 3), 0,
      retried_attempts(.2, 3, {{"error-after", "service"}}));

  add(2, "attempts/s, 150/s for a capacity of 100/s, at most 2", retry_load(150, 100, 2), .005,
      retried_load(150, 100, 2, 1200, 5));
  add(2, "attempts/s, 150/s for 100/s, at most 4", retry_load(150, 100, 4), .005,
      retried_load(150, 100, 4, 1200, 5));
  add(2, "attempts/s, 200/s for 100/s, at most 3", retry_load(200, 100, 3), .005,
      retried_load(200, 100, 3, 1200, 5));
  add(3, "attempts/s, 5050/s for 5000/s (1 % too much), at most 10", retry_load(5050, 5000, 10),
      .01, retried_load(5050, 5000, 10, 400, 1));
  add(3, "refused/s in second 8, 404,000/s for 400,000/s, at most 10",
      refused_in_second(404000, 400000, 10, 400, 8), 0, refused_in(8, 404000, 400000, 10, 400));
  for (const int second : {3, 6}) {
    add(3, "refused/s in second " + std::to_string(second) + ", 60,000/s for 50,000/s, at most 10",
        refused_in_second(60000, 50000, 10, 200, second), 0,
        refused_in(second, 60000, 50000, 10, 200));
  }

  add(4, "attempts a request, all fail, at most 3", 3, .001, all_failing({{"max-retries", "2"}}));
  add(4, "attempts a request, all fail, at most 3, budget of 10 %", 1.1, .001,
      all_failing(given("max-retries=2, retry-budget=sre")));
  add(4, "attempts a request, all fail, at most 3, budget of 25 %", 1.25, .001,
      all_failing(given("max-retries=2, retry-budget=sre, budget-deposit=.25")));

  add(5, "attempts/s, 1000/s wanted, 200/s taken, K=1.5", throttled_rate(1000, 1.5, 200), .005,
      sent(1000, 1.5, 200));
  add(5, "attempts/s, 1000/s wanted, 200/s taken, K=3", throttled_rate(1000, 3, 200), .005,
      sent(1000, 3, 200));
  add(5, "attempts/s, 80/s wanted, 50/s taken, K=2", throttled_rate(80, 2, 50), .005,
      sent(80, 2, 50));

  add(6, "served, 100 threads, 100/s of 100 ms, 5 % hang for 100 s",
      1 - erlang_b(100, 100 * (.95 * .1 + .05 * 100)), 0,
      served_beside_hanging(100, 100, .1, .05, 100));
  add(6, "served, 50 threads, 100/s of 50 ms, 2 % hang for 30 s",
      1 - erlang_b(50, 100 * (.98 * .05 + .02 * 30)), 0,
      served_beside_hanging(50, 100, .05, .02, 30));

  add(7, "gRPC, retries from 10 tokens, all fail", retries_to_half(10), 0,
      retries_in_all(given("error-share=1, retry-budget=grpc")));
  add(7, "gRPC, retries from 100 tokens", retries_to_half(100), 0,
      retries_in_all(given("error-share=1, retry-budget=grpc, budget-tokens=100")));
  const NamedOptions large{{"retry-budget", "grpc"}, {"budget-tokens", "1000"}};
  add(7, "gRPC, share of failures retried, 5 % below what drains the bucket", 1, .001,
      retried_failures(.95 * draining_share(.1), large));
  add(7, "gRPC, share of failures retried, 5 % above it", 0, 0,
      retried_failures(1.05 * draining_share(.1), large));
  add(7, "share of failures retried, successes pay 0.3, 5 % above what drains it", 0, 0,
      retried_failures(1.05 * draining_share(.3),
                       given("retry-budget=grpc, budget-tokens=1000, budget-deposit=.3")));

  add(8, "Envoy, retries at a time of 25 to 30 attempts in flight, 20 %", 5, .01,
      retries_at_a_time(33, {{"retry-budget", "concurrent"}}));
  add(8, "Envoy, retries at a time of 2 attempts in flight, at least 3", 3, .01,
      retries_at_a_time(5, {{"retry-budget", "concurrent"}}));
  add(8, "Envoy, retries at a time of 60 to 69 attempts in flight, 10 %", 6, .01,
      retries_at_a_time(71, given("retry-budget=concurrent, budget-share=.1")));
  add(8, "Finagle, retries/s at 100/s, all fail, 20 % and 10/s", .2 * 100 + 10, .01,
      retries_a_second(100, {{"retry-budget", "finagle"}}));
  add(8, "Finagle, retries/s at 400/s", .2 * 400 + 10, .01,
      retries_a_second(400, {{"retry-budget", "finagle"}}));

  const NamedOptions aws_2025{{"retry-budget", "aws-2025"}}, aws{{"retry-budget", "aws"}};
  add(9, "AWS, retries from 500 tokens at 5, all fail", retries_for(500, 5), 0,
      retries_in_all(given("error-share=1, max-retries=2, retry-budget=aws-2025")));
  add(9, "AWS, retries from 500 tokens at 10, all time out", retries_for(500, 10), 0,
      retries_in_all(given("base-delay=1h, timeout=100ms, max-retries=2, retry-budget=aws-2025")));
  add(9, "AWS 2026, retries from 500 tokens at 14, all fail", retries_for(500, 14), 0,
      retries_in_all(given("error-share=1, max-retries=2, retry-budget=aws")));
  double share = .95 * quota_draining_share(5);
  add(9, "AWS at 5, retries a request, 5 % below the draining share (" + text(share) + " fail)",
      quota_retries(share, 5), .005, retries_a_request(share, aws_2025));
  add(9, "AWS at 5, retries a request, 40 % fail", quota_retries(.4, 5), .01,
      retries_a_request(.4, aws_2025));
  share = .95 * quota_draining_share(14);
  add(9,
      "AWS 2026 at 14, retries a request, 5 % below the draining share (" + text(share) + " fail)",
      quota_retries(share, 14), .005, retries_a_request(share, aws));
  add(9, "AWS 2026 at 14, retries a request, 40 % fail", quota_retries(.4, 14), .01,
      retries_a_request(.4, aws));

  add(10, "waiting to retry, one worker of 0.1 s, 5/s, waits of 0.1 s",
      exponential_orbit(5, 10, 10), 0, waiting_for_worker(5, 10, 10));
  add(10, "waiting to retry, 4/s, waits of 0.2 s", exponential_orbit(4, 10, 5), 0,
      waiting_for_worker(4, 10, 5));
  add(10, "waiting to retry, 7/s, waits of 0.1 s", exponential_orbit(7, 10, 10), 0,
      waiting_for_worker(7, 10, 10));

  add(11, "waiting to retry, one server of 100 ms, 5/s, waits of 1 s", retrial_orbit(5, .1, 1), 0,
      waiting(5, .1, 1));
  add(11, "waiting to retry, 6/s, waits of 2 s", retrial_orbit(6, .1, .5), 0, waiting(6, .1, .5));
  add(11, "waiting to retry, 8/s, waits of 1 s", retrial_orbit(8, .1, 1), 0, waiting(8, .1, 1));
  const NamedOptions up_to_3_s{{"backoff-base", "3s"}, {"jitter", "full"}};
  add(12, "busy share, 5/s of 100 ms, waits of exactly 1 s", 5 * .1, 0,
      busy(5, .1, {{"backoff-base", "1s"}}));
  add(12, "busy share, 8/s of 100 ms, waits up to 3 s", 8 * .1, 0, busy(8, .1, up_to_3_s));
  add(12, "served/s, 8/s of 100 ms, waits up to 3 s", 8, 0, throughput(8, .1, up_to_3_s));

  for (const int rate : {60, 80, 100, 120}) {
    add(13, "refused, 10 servers of 100 ms, " + std::to_string(rate) + "/s",
        erlang_b(10, rate * .1), 0, lost(10, rate, .1));
  }
  add(13, "refused, 30 servers of 250 ms, 100/s", erlang_b(30, 25), 0, lost(30, 100, .25));
  add(14, "attempts a request, 10 servers of 100 ms, 60/s, waits of minutes",
      slow_retrial_attempts(10, 6), .005, patient_attempts(10, 60, .1));
  add(14, "attempts a request, 80/s", slow_retrial_attempts(10, 8), .005,
      patient_attempts(10, 80, .1));
  add(14, "attempts a request, 20 servers of 200 ms, 85/s", slow_retrial_attempts(20, 17), .005,
      patient_attempts(20, 85, .2));
  add(15, "refused, 1000 clients that think for 10 s, 10 servers of 100 ms",
      engset(1000, 10, 10, .1), 0, refused_calls(1000, 10, 10, .1));
  add(15, "refused, 15 servers", engset(1000, 15, 10, .1), 0, refused_calls(1000, 15, 10, .1));
  add(15, "refused, 100 clients that think for 1 s, 12 servers of 100 ms", engset(100, 12, 1, .1),
      0, refused_calls(100, 12, 1, .1));
  add(16, "in service, mean, 99/s of 100 ms", 99 * .1, 0, mean_in_service(99, .1));
  add(16, "in service, variance, 99/s of 100 ms", 99 * .1, 0, variance_in_service(99, .1));
  add(16, "in service, variance, 50/s of 500 ms", 50 * .5, 0, variance_in_service(50, .5));

  add(17, "all busy, 5 workers of 100 ms, 25/s", erlang_c(5, 2.5), 0, all_busy(5, 25, .1));
  add(17, "all busy, 10 workers of 100 ms, 50/s", erlang_c(10, 5), 0, all_busy(10, 50, .1));
  add(17, "waiting, 4 workers of 50 ms, 60/s", erlang_queue(4, 3), 0, waiting_in_queue(4, 60, .05));
  add(17, "waiting, the same, last in, first out", erlang_queue(4, 3), 0,
      waiting_in_queue(4, 60, .05, {{"queue-order", "lifo"}}));

  add(18, "seconds from empty to a queue of 30, 9.5/s for 10/s", filling_time(9.5, 10, 30), .01,
      filling_seconds(9.5, 10, 30, 500));
  add(18, "seconds from 100, full, to empty, 8/s for 10/s", emptying_time(8, 10, 100), .01,
      emptying_seconds(8, 10, 100, 140));
  add(18, "seconds from 100, full, to empty, 5/s for 10/s", emptying_time(5, 10, 100), .01,
      emptying_seconds(5, 10, 100, 60));

  for (const int n : {2, 3, 4, 6}) {
    const double expected = falling_concurrency(100 * n, .1, 1.05, 30, 15);
    add(19,
        "connections from which it stays down, 100/s, at most " + std::to_string(n) + " attempts",
        expected, .01, trapping_connections(100, n, expected));
  }

  const double stale = backlog(90, 100 / 3., 8);
  add(20, "backlog, 90/s, 10 workers of 100 ms, three times slower for 8 s", stale, .02,
      stale_backlog());
  add(20, "seconds until it is gone", stale / (100 - 90), .02, stale_seconds(1));
  add(20, "seconds until new requests wait for less than the timeout of 1 s",
      (stale - 100) / (100 - 90), .02, stale_seconds(100));

  add(21, "wait, s, at half of 25 jobs that come at once, one worker of 200 ms",
      lockstep(25, .2, .5), 0, lockstep_wait(25, .2, .5));
  add(21, "wait, s, of the last of them", lockstep(25, .2, 1), 0, lockstep_wait(25, .2, 1));
  add(21, "wait, s, at nine tenths of 60 jobs, one worker of 70 ms", lockstep(60, .07, .9), 0,
      lockstep_wait(60, .07, .9));

  add(22, "truncated, 32 s at most: each wait at last", 32, 0,
      clamped_wait({{"strategy", "truncated"}}));
  add(22, "truncated, 0.5 s to 9 s", 9, 0,
      clamped_wait(given("strategy=truncated, truncated-base=500ms, maximum-backoff=9s")));
  add(23, "backlog, 1000 clients come back within 10 s, 50/s", backlog(1000 / 10., 50, 10), .03,
      herd_backlog(1000, 50, 10));
  add(23, "seconds until it is gone", 1000 / 50., .01, herd_seconds(1000, 50, 10));
  add(23, "backlog, within 5 s, 80/s", backlog(1000 / 5., 80, 5), .03, herd_backlog(1000, 80, 5));
  add(23, "backlog, within 40 s, 50/s: no overload", 5, 0, herd_backlog(1000, 50, 40), kLess);

  const auto refusals = [](const char* jitter) { return contended_refusals(100, jitter); };
  const auto waits = [](const char* jitter) { return contended_waits(100, jitter); };
  add(24, "refused, 100 clients at once, no jitter", 100 * 99 / 2., 0, refusals("none"));
  add(24, "refused, full jitter against none", .2, 0, quotient(refusals("full"), refusals("none")),
      kLess);
  add(24, "refused, decorrelated against none", .25, 0,
      quotient(refusals("decorrelated"), refusals("none")), kLess);
  add(24, "waiting in all, equal jitter against none", .1, 0,
      quotient(waits("equal"), waits("none")), kLess);
  add(24, "waiting in all, full against equal jitter", 1, 0,
      quotient(waits("full"), waits("equal")), kLess);
  add(24, "waiting in all, decorrelated against equal jitter", 1, 0,
      quotient(waits("decorrelated"), waits("equal")), kLess);

  for (int step = 1; step <= 7; ++step) {
    add(25,
        "capacity after " + std::to_string(3 * step) + " min, demand far above 100/s, target 70 %",
        tracked_capacity(100, .7, step), 0, capacity_after(3 * step * 60 + 30));
  }
  add(26, "s of 200/s until the first is throttled, 100/s after 5 min of calm",
      saved_seconds(100, 300, 200), .02, first_throttled(100, 200));
  add(26, "s of 200/s, 150/s (the guide says 900)", saved_seconds(150, 300, 200), .02,
      first_throttled(150, 200));
  add(27, "pause before an attempt, s, 200 pacers share 100/s", 200 / 100. - .01, .05,
      paced_pause(200, 100, .3, 100, 800));
  add(27, "throttled share, 200 pacers share 100/s, not randomised", paced_failures(1.5, .9, 10),
      .05, paced_throttled(200, 100, 0, 2000, 7200));
  add(27, "throttled share, randomised by 0.3",
      paced_failures(1.5 * spread(.3), .9 * spread(.3), 10), .1,
      paced_throttled(200, 100, .3, 100, 800));
  add(28, "CoDel, dropped of 100 at once, 20 ms each", codel_drops(100, .02, .005, .1), 0,
      dropped_by_codel(100, .02, .005, .1));
  add(28, "CoDel, dropped of 200 at once, 7 ms each, target 30 ms, interval 250 ms",
      codel_drops(200, .007, .03, .25), 0, dropped_by_codel(200, .007, .03, .25));
  add(28, "adaptive LIFO, order of 5 at once, threshold 2", adaptive_order(5, 2), 0,
      served_order(5, 2));
  add(28, "adaptive LIFO, order of 7 at once, threshold 4", adaptive_order(7, 4), 0,
      served_order(7, 4));

  add(29, "no connection, a pool of 5, no line, 40/s of 100 ms", erlang_b(5, 4), 0,
      lost_for_connections(5, 40, .1));
  add(29, "no connection, a pool of 30, no line, 100/s of 250 ms", erlang_b(30, 25), 0,
      lost_for_connections(30, 100, .25));
  add(29, "in line for a connection, a pool of 4, 60/s of 50 ms", erlang_queue(4, 3), 0,
      in_line(4, 60, .05));
  add(29, "no stream, one connection of 5, no line, 40/s of 100 ms", erlang_b(5, 4), 0,
      lost_for_connections(1, 40, .1, given("connections=multiplexed, streams=5")));
  add(29, "in line for a stream, 2 connections of 2, 60/s of 50 ms", erlang_queue(4, 3), 0,
      in_line(2, 60, .05, given("connections=multiplexed, streams=2")));
  add(29, "share that connects, a pool of 1, 4/s of 100 ms, closed when idle for 300 ms",
      connecting_share(4, .1, .3), 0, connecting(4, .1, .3));
  add(29, "share that connects, 5/s of 100 ms, idle for 100 ms", connecting_share(5, .1, .1), 0,
      connecting(5, .1, .1));
  for (Case& each : graph_cases()) list.push_back(std::move(each));

  const auto hedge = [](const std::string& delay, NamedOptions more = {}) {
    more.insert_or_assign("hedge", delay);
    return more;
  };
  const NamedOptions in_service{{"abandoned", "cancel"}}, in_vain{{"hedge-cancel", "no"}};
  struct Delay {
    const char *what, *option;
    double mean, delay;
  };
  const std::array delays{Delay{"at the median of 100 ms", "69.3147ms", .1, .0693147},
                          Delay{"at the p95 of 100 ms", "299.573ms", .1, .299573},
                          Delay{"at the p80 of 40 ms", "64.3775ms", .04, .0643775}};
  for (const auto& [what, option, mean, delay] : delays) {
    const std::string name = std::string(", exponential, a hedge ") + what;
    const std::string times = "exponential:" + text(mean) + 's';
    add(30, "hedges a request" + name, hedged_share(mean, delay), 0,
        hedges_a_request(200, times, hedge(option)));
    add(30, "mean latency, s" + name, hedged_mean(mean, delay), .005,
        hedged_latency(200, times, hedge(option)));
    for (const double q : {.99, .999}) {
      add(30, 'p' + text(100 * q) + ", s" + name, hedged_quantile(mean, delay, q), .005,
          hedged_latency_at(q, 200, times, hedge(option)));
    }
  }
  for (const auto& [what, option, mean, delay] : delays) {
    const std::string name = std::string(", exponential, a hedge ") + what;
    const std::string times = "exponential:" + text(mean) + 's';
    add(31, "work a request, s" + name + ", losers cancelled", mean, .005,
        hedged_work(200, times, hedge(option, in_service)));
    add(31, "work a request, s" + name + ", not cancelled", mean * (1 + hedged_share(mean, delay)),
        .005, hedged_work(200, times, hedge(option, in_vain)));
  }
  const std::string one_slow = "bimodal:10ms:0.01:1s", more_slow = "bimodal:20ms:0.05:2s";
  add(32, "hedges a request, 10 ms, but 1 s in 1 %, a hedge at 20 ms", .01, 0,
      hedges_a_request(200, one_slow, hedge("20ms")));
  add(32, "mean latency, s, of these", hedged_mean_of_two(.01, 1, .01, .02), .005,
      hedged_latency(1000, one_slow, hedge("20ms")));
  add(32, "mean latency, s, 20 ms, but 2 s in 5 %, a hedge at 30 ms",
      hedged_mean_of_two(.02, 2, .05, .03), .01, hedged_latency(1000, more_slow, hedge("30ms")));
  add(33, "fan-outs to 100 that are slow, 1 % of parts are, no hedge", fan_out(.01, 100), 0,
      slow_fan_outs(100, .035, 200, one_slow, {}));
  add(33, "fan-outs to 100 that are slow, 5 % of parts are, a hedge at 30 ms",
      fan_out(hedged_slow_share(.05), 100), 0,
      slow_fan_outs(100, .055, 300, more_slow, hedge("30ms")));
  add(34, "busy of 10 workers of 100 ms, 45/s, each sent twice", 45 * 2 * .1, 0,
      busy_with_hedges(10, 45, .1, hedge("0s", in_vain)));
  add(34, "growth of the queue/s, 60/s, each sent twice", 60 * 2 - 100, 0,
      growing_queue(10, 60, .1, hedge("0s", in_vain)));
  add(34, "growth of the queue/s, 45/s, each sent three times", 45 * 3 - 100, 0,
      growing_queue(10, 45, .1, hedge("0s", given("hedge-cancel=no, hedge-max=2"))));
  for (const int l : {3, 4}) {
    add(35,
        "mean latency, s, two hosts of 10/s, " + std::to_string(l) + "/s each, all sent to both",
        mean_in_two(l, 10), .005, latency_with_hedges(2, 2 * l, .1, hedge("0s", in_service)));
  }
  add(35, "growth of their queues/s, 6/s each, losers not cancelled", 4 * 6 - 20, 0,
      growing_queue(2, 12, .1, hedge("0s", in_vain)));
  const auto dead = [&](const char* delay, int most, const char* deadline, NamedOptions more = {}) {
    more.merge(given("hedge-max=?, deadline=?", std::to_string(most - 1), deadline));
    return unanswered_attempts(20, hedge(delay, more));
  };
  add(36, "gRPC, attempts a request, dead service, 4 at 500 ms, deadline 2 s",
      vain_attempts(2, .5, 4), .005, dead("500ms", 4, "2s"));
  add(36, "the same with its throttle", 1, .005,
      dead("500ms", 4, "2s", {{"retry-budget", "grpc"}}));
  for (const int l : {100, 1000, 10000}) {
    add(37, "Finagle, hedges/s at " + std::to_string(l) + "/s, all late, budget of 1 %",
        budgeted_hedges(l, .01), .01, wanted_hedges(l, {{"hedge-budget", ".01"}}));
  }
  add(37, "Finagle, hedges/s at 600/s, all late, budget of 5 %", budgeted_hedges(600, .05), .01,
      wanted_hedges(600, {{"hedge-budget", ".05"}}));
  add(38, "attempts a request, dead service, at most 9 at 300 ms, 1 s", vain_attempts(1, .3, 9),
      .005, dead("300ms", 9, "1s"));
  add(38, "attempts a request, dead service, at most 3 at 300 ms, 1 s", vain_attempts(1, .3, 3),
      .005, dead("300ms", 3, "1s"));
  for (const int n : {2, 3}) {
    const double expected = falling_concurrency(100 * n, .1, 1.05, 30, 15);
    add(38,
        "connections from which it stays down, 100/s, no retries, hedges to " + std::to_string(n) +
            " attempts",
        expected, .01,
        trapping_connections(
            100, n, expected,
            hedge("500ms", given("max-retries=0, hedge-max=?", std::to_string(n - 1)))));
  }
  add(29, "OK/s, a pool of 5, 200 ms, always in use", 5 / .2, .005,
      through_kept_connections(5, .2));
  add(29, "OK/s, a pool of 12, 50 ms, always in use", 12 / .05, .005,
      through_kept_connections(12, .05));
  add(29, "found on waking, 600 with a connection each, think 2 s, frozen 10 s, backlog 32",
      found_on_waking(600, 2, .05, 10, 32), 0, on_waking(600, 2, .05, 10, 32));
  add(29, "found on waking, 400, think 5 s, frozen 4 s, backlog 10",
      found_on_waking(400, 5, .02, 4, 10), 0, on_waking(400, 5, .02, 4, 10));
  add(29, "found on kept connections, six pools of 5 for 600: at most 30", 31, 0,
      on_waking_in_pools(600, 2, .05, 10, 6, 5), kLess);
  add(29, "in the service, 7 streams, all hang", 7, 0, in_streams(1, 7));
  add(29, "in the service, 2 connections of 50 streams, all hang", 100, 0, in_streams(2, 50));
  for (Case& each : layer_cases()) list.push_back(std::move(each));
  for (const auto& [clients, most] : {std::pair(32, 8), std::pair(50, 20)}) {
    const std::string requests = std::to_string(clients) + " requests at a time, all late";
    NamedOptions at_once{{"lambda", "1ms"}};
    add(39, "hedges a request, " + requests, 1, .005,
        hedges_of_clients(clients, "fixed:1s", hedge("50ms", at_once)));
    at_once.merge(given("retry-budget=concurrent, budget-share=0, budget-min-concurrency=?",
                        std::to_string(most)));
    add(39,
        "hedges a request, " + requests + ", at most " + std::to_string(most) + " hedges at a time",
        double(most) / clients, .005,
        hedges_of_clients(clients, "fixed:1s", hedge("50ms", at_once)));
  }
  const std::vector<Case> of_hosts = replica_cases();
  list.insert(list.end(), of_hosts.begin(), of_hosts.end());
  return list;
}

}  // namespace retrystorm::validation
