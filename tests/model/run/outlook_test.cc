// Compares what is printed before a run with closed forms (`tests/validation` has their sources) and
// with figures computed by hand.
#include "model/run/outlook.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/base/option_list.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::IsSupersetOf;
using testing::Not;

// A run with these options, in the form of a file.
OutlookInput input_of(const std::string& settings, const std::string& outage = "freeze",
                      Duration outage_for = 20s) {
  OutlookInput input;
  ServiceOptions service{.max_connections = 20'000};
  OptionList options;
  declare_options(options, input.workload);
  declare_options(options, service, Engine::kSimulated);
  options.apply(settings);
  input.service = service;
  input.outage = parse_disturbance(outage, Engine::kSimulated);
  input.outage_for = outage_for;
  note_unused_by_open_arrivals(input, input.workload);
  return input;
}

Outlook look(const std::string& settings, const std::string& outage = "freeze",
             Duration outage_for = 20s) {
  return look_ahead(input_of(settings, outage, outage_for));
}

// The ids of what it warns of.
std::vector<std::string> ids(const Statements& warnings) {
  std::vector<std::string> all;
  for (const Statement& each : warnings) all.emplace_back(each.id);
  return all;
}

// A number of a statement, a time in seconds.
double number_of(const Statement& statement, std::string_view name) {
  for (const StatementValue& each : statement.values) {
    if (each.name != name) continue;
    if (const auto* number = std::get_if<double>(&each.of)) return *number;
    if (const auto* share = std::get_if<ShareOf>(&each.of)) return share->share;
    if (const auto* time = std::get_if<Duration>(&each.of)) return to_seconds(*time);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

// A payment service: 64 workers that take 80 ms, called by a library that tries three times.
const std::string kPayments =
    "service = workers\nworkers = 64\nservice-time = 80ms\narrivals = open\nrate = 400\n"
    "timeout = 1s\nmax-attempts = 3\n";

// 600 clients of a service that takes 50 ms, each for 2.05 s a request.
TEST(Outlook, CountsTheRequestsThatKeptConnectionsHold) {
  const std::string settings =
      "service = workers\nworkers = 20\nservice-time = 50ms\nbacklog = 32\nclients = 600\n"
      "lambda = 2s\ntimeout = 1s\nstrategy = fixed\n";
  const auto waiting = [&](const std::string& more) {
    return look(settings + more).outage->waiting;
  };
  const std::string kept = "connections = keep-alive\n";
  EXPECT_DOUBLE_EQ(waiting(""), 32);
  const double asking = 600 * (1 - std::exp(-20 / 2.));  // within the 20 s of the outage
  EXPECT_NEAR(waiting(kept + "clients-per-process = 1\n"), 32 + asking, 1e-6);
  const double busy = 600 / 2.05 * 0.05 / 6;  // of each of six processes
  EXPECT_NEAR(waiting(kept), 32 + 6 * (busy + 3 * std::sqrt(busy) + 1), 1e-6);
  EXPECT_NEAR(waiting(kept + "pool-max-idle = 2\n"), 32 + 6 * (busy + 2), 1e-6);
  EXPECT_DOUBLE_EQ(waiting(kept + "pool-size = 2\n"), 44);
}

// A service that does 1,600/s. Each request is sent again after 50 ms, when 30 ms in the queue are (32 workers)
// 48 requests.
TEST(Outlook, CountsHedges) {
  const std::string settings =
      "service = workers\nworkers = 32\nservice-time = 20ms\narrivals = open\nrate = 900\n"
      "max-retries = 0\nbacklog = 4096\nhedge = 50ms\n";
  const Outlook all = look(settings);
  EXPECT_DOUBLE_EQ(all.retries.attempts, 2);
  EXPECT_DOUBLE_EQ(all.retries.timeouts.rate, 1800);
  EXPECT_TRUE(all.retries.can_hold);
  EXPECT_NEAR(all.retries.drains_below, 800, 1e-6);
  EXPECT_NEAR(all.retries.hedged_from, 48, 1e-9);
  EXPECT_THAT(deciding_options(all), IsSupersetOf({"hedge-max", "hedge-budget"}));
  // Finagle's budget: a share of the requests, and 10/s in each process.
  const Outlook budget = look(settings + "hedge-budget = 0.05\n");
  EXPECT_DOUBLE_EQ(budget.retries.timeouts.rate, 900 * 1.05 + 10);
  EXPECT_FALSE(budget.retries.can_hold);
  EXPECT_DOUBLE_EQ(*budget.retries.drain, 1600 - 955);
  EXPECT_DOUBLE_EQ(look(settings + "hedge-budget = 0.05\nprocesses = 20\n").retries.timeouts.rate,
                   1145);
  EXPECT_DOUBLE_EQ(look(settings + "hedge-budget = 0\n").retries.timeouts.rate, 900);
  // It counts hedges as retries.
  EXPECT_DOUBLE_EQ(look(settings + "retry-budget = 10%\n").retries.timeouts.rate, 990);
  // All requests are hedged by a delay that an idle service needs.
  EXPECT_THAT(ids(look(settings + "hedge = 19ms\n").warnings), Contains("half-hedged"));
  EXPECT_THAT(look(settings + "hedge = 20ms\n").warnings, IsEmpty());  // answered at that moment
  EXPECT_THAT(all.warnings, IsEmpty());
  // Answers are in time, but 1 in 9 of 1,800/s finds no room: 900 (1 - 1 / 81) requests are answered.
  const Outlook bounded = look(settings + "queue-length = 100\n");
  EXPECT_NEAR(bounded.retries.answered, 900 * (1 - 1 / 81.), 1e-6);
}

TEST(Outlook, CountsHedgesBesideRetries) {
  // The hedges after 100, 200 and 300 ms, and when the last attempt has timed out after 1.3 s, two retries.
  const Outlook both =
      look("timeout = 1s\nmax-attempts = 3\nfixed-delay = 100ms\nhedge = 100ms\nhedge-max = 3\n");
  EXPECT_DOUBLE_EQ(both.retries.timeouts.attempts, 6);
  EXPECT_EQ(both.retries.timeouts.lasts, 3500ms);
  EXPECT_NEAR(both.retries.timeouts.rate, 6 * 1000 / (10 + 3.5), 1e-6);
  // Where attempts fail at once, so do hedges.
  EXPECT_NEAR(both.retries.errors.rate, 6 * 1000 / (10 + 0.2), 1e-6);
  // A failure that is not retried ends the request, here at 2 s: after hedges at 0.5, 1 and 1.5 s.
  const Outlook grpc = look("strategy = grpc\nretry-budget = none\nhedge = 500ms\nhedge-max = 5\n");
  EXPECT_DOUBLE_EQ(grpc.retries.timeouts.attempts, 4);
  EXPECT_NEAR(grpc.retries.timeouts.rate, 4 * 1000 / 12., 1e-6);
  EXPECT_DOUBLE_EQ(grpc.retries.errors.attempts, 9);
  // It is the same with the deadline, where there is no timeout.
  const Outlook hangs = look("timeout = none\ndeadline = 2s\nhedge = 500ms\nhedge-max = 5\n");
  EXPECT_NEAR(hangs.retries.timeouts.rate, 4 * 1000 / 12., 1e-6);
  // Ten processes may send 10 hedges/s each. A hedge makes its request 0.5 s longer.
  const Outlook budget =
      look("max-retries = 0\nhedge = 500ms\nhedge-max = 3\nhedge-budget = 0.05\n");
  const double requests = (1000 - 100 * 0.5) / (10 + 2 + 0.05 * 0.5);
  EXPECT_NEAR(budget.retries.timeouts.rate, 1.05 * requests + 100, 1e-6);
  // 100/s begin: 50 are due for their hedge at any time, and 200 have had it.
  const auto begun = [](Duration time) { return 100 * to_seconds(time); };
  EXPECT_DOUBLE_EQ(attempts_at_end(begun, 20s, 2500ms, 2s, {-1500ms, 0s}), 200);
}

TEST(Outlook, SaysWhereRetriesHoldAServiceOfWorkers) {
  const Outlook outlook = look(kPayments, "freeze", 30s);
  EXPECT_DOUBLE_EQ(outlook.service->capacity, 800);
  EXPECT_DOUBLE_EQ(outlook.service->used, 0.5);
  EXPECT_NEAR(outlook.service->late_from, 736, 1e-6);
  EXPECT_DOUBLE_EQ(outlook.retries.timeouts.rate, 1200);
  EXPECT_TRUE(outlook.retries.can_hold);
  EXPECT_NEAR(outlook.retries.drains_below, 800 / 3., 1e-6);
  EXPECT_EQ(outlook.retries.drain, std::nullopt);
  EXPECT_DOUBLE_EQ(outlook.outage->wanted, 12'000);
  EXPECT_DOUBLE_EQ(outlook.outage->waiting, 256);
  EXPECT_EQ(outlook.outage->work, 320ms);
  EXPECT_THAT(outlook.warnings, IsEmpty());
}

// 64 workers refuse 1,200/s, each refusal for c, and serve x/s for 80 ms: x 80 ms + (1,200 - x) c = 64. 300 wait
// in the queue, so 326/s (300 / 0.92 s) are answered in time.
TEST(Outlook, CountsTheWorkOfRefusals) {
  const auto at = [](const std::string& more) {
    return look(kPayments + "queue-length = 300\n" + more, "freeze", 10s);
  };
  const Outlook cheap = at("rejection-cost = 40ms\n");
  EXPECT_FALSE(cheap.retries.can_hold);
  const Outlook late = at("rejection-cost = 50ms\n");
  EXPECT_TRUE(late.retries.can_hold);
  const Outlook all = at("rejection-cost = 60ms\n");
  EXPECT_TRUE(all.retries.can_hold);
  EXPECT_NEAR(all.retries.drains_below, (64 - 0.02 * 300 / 0.92) / 0.18, 0.5);
  // A refusal that takes longer than an answer: 64 - 300 x 0.2 = 4 workers are left, for 50/s.
  EXPECT_NEAR(*at("rejection-cost = 200ms\nrate = 100\n").retries.drain, 50, 1e-6);
}

// A frozen service turns nothing away, and gRPC does not retry timeouts: 150/s for 10 s. Then 320 have room, and
// 1,180 are refused.
TEST(Outlook, CountsWhatAFrozenServiceCannotTurnAway) {
  const Outlook outlook = look(
      "service = workers\nstrategy = grpc\nretry-budget = none\nconnections = multiplexed\n"
      "arrivals = open\nrate = 150\nqueue-length = 300\nrejection-cost = 20ms\n",
      "freeze", 10s);
  EXPECT_DOUBLE_EQ(outlook.outage->waiting, 1500);
  EXPECT_NEAR(to_seconds(outlook.outage->work), 320 / 200. + 1180 * 0.02 / 20, 1e-6);
}

// The curve does less, the more are in it: 1,500 clients within 1 s are more than it can do, and it does
// fewer and fewer.
TEST(Outlook, DoesNotPromiseThatAHerdIsBackWhereTheCurveFalls) {
  const std::string clients = "clients = 1500\nlambda = 10s\n";
  const Outlook falls = look(clients + "reconnect-base = 1s\n", "reconnect", 1s);
  EXPECT_FALSE(falls.herd->in_time);
  const Outlook spread = look(clients + "reconnect-base = 1600ms\n", "reconnect", 1s);
  EXPECT_TRUE(spread.herd->in_time);
}

// At 250/s, three attempts each leave 50/s of capacity, so 4,096 waiting requests take 82 s.
TEST(Outlook, SaysWhenTheQueueIsEmptyAgain) {
  const Outlook outlook = look(kPayments + "rate = 250\nbacklog = 4096\n", "freeze", 30s);
  EXPECT_FALSE(outlook.retries.can_hold);
  EXPECT_DOUBLE_EQ(*outlook.retries.drain, 50);
  EXPECT_NEAR(to_seconds(*outlook.outage->drains_in), 4096 / 50., 1e-6);
}

// 200/s, of which 190 are wanted: what came in 20 s takes 3,800 / 10 s. No attempt makes a second SYN, because
// all have room. With room for 256 the others repeat theirs, but are no more than came.
TEST(Outlook, CountsEachAttemptOfAFreezeOnce) {
  const std::string settings =
      "service = workers\nworkers = 20\nservice-time = 100ms\narrivals = open\nrate = 190\n"
      "strategy = none\n";
  for (const char* others :
       {"timeout = none\nbacklog = 4096\n", "timeout = 60s\nbacklog = 4096\n",
        "timeout = 30s\nbacklog = 4096\n", "timeout = 5s\nbacklog = 4096\n", "timeout = 70s\n"}) {
    const Outlook outlook = look(settings + others, "freeze", 20s);
    EXPECT_LE(to_seconds(*outlook.outage->drains_in), 380 + 1e-6) << others;
    EXPECT_GE(to_seconds(*outlook.outage->drains_in), 360) << others;
  }
}

// Of a request that begins in a freeze of 20 s attempt k begins after k timeouts of 2 s and its waits.
TEST(Outlook, CountsOnlyAttemptsThatCanBeginInAFreeze) {
  const std::string workers = "service = workers\narrivals = open\nrate = ";
  double all = 0, from = 0, wait = 0.1;
  for (; from < 20; from += 2 + wait, wait *= std::exp(1)) all += 100 * (20 - from);
  EXPECT_NEAR(
      look(workers + "100\nstrategy = exponential\nconnections = multiplexed\n").outage->waiting,
      all, 20);
  // Before the first timeout there is one attempt each, and later 10 s + 7.9 s of them: 2.1 s are a timeout and a wait.
  EXPECT_DOUBLE_EQ(look(workers + "10\n", "freeze", 1s).outage->waiting, 10);
  EXPECT_NEAR(look(workers + "10\nmax-retries = 1\n", "freeze", 10s).outage->waiting, 179, 1e-6);
  // Each of five connections sends one attempt each 2 s.
  EXPECT_NEAR(
      look(workers + "100\nconnections = keep-alive\npool-size = 5\npool-wait-counts = no\n",
           "freeze", 10s)
          .outage->waiting,
      5 + 5 * 10 / 2., 1e-6);
}

// A budget takes nothing for failures that are not retried, so it does not end their hedges.
TEST(Outlook, KnowsThatABudgetOfFailuresDoesNotLimitHedgesOfTimeouts) {
  const std::string settings =
      "service = workers\narrivals = open\nrate = 110\nstrategy = none\nhedge = 30ms\nhedge-max = 2\n"
      "timeout = 1s\nretry-budget = grpc\nretry-on = ";
  EXPECT_DOUBLE_EQ(look(settings + "unavailable\n").retries.timeouts.rate, 330);
  EXPECT_FALSE(look(settings + "unavailable\n").retries.timeouts.limited_by_budget);
  EXPECT_TRUE(look(settings + "timeout\nmax-retries = 1\n").retries.timeouts.limited_by_budget);
}

// Three times slower for 8 s; and Arolla's spike: three times the load for 10 s.
TEST(Outlook, ComputesBacklogsOfAServiceThatIsTooSlow) {
  const Outlook slow = look(
      "service = workers\nworkers = 10\nservice-time = 100ms\narrivals = open\nrate = 90\n"
      "timeout = 1s\nstrategy = none\n",
      "slow:3", 8s);
  EXPECT_NEAR(slow.outage->waiting, 453, .5);
  EXPECT_NEAR(to_seconds(*slow.outage->drains_in), 45.3, .05);
  const Outlook spike = look(
      "service = workers\nworkers = 16\nservice-time = 67.99ms\narrivals = open\nrate = 188\n"
      "timeout = 192ms\nstrategy = none\n",
      "load:3", 10s);
  EXPECT_NEAR(spike.service->used, .799, .001);
  EXPECT_NEAR(spike.outage->waiting, 3287, 2);
  EXPECT_NEAR(to_seconds(*spike.outage->drains_in), 69.4, .2);
  // A service that can still serve the whole load has no backlog.
  EXPECT_EQ(look(kPayments, "slow:1.5").outage->waiting, 0);
  EXPECT_EQ(look(kPayments, "capacity:0.6").outage->unanswered, 0);
}

TEST(Outlook, SaysFromHowManyRequestsOnACurveKeepsAStormGoing) {
  const double held[] = {1588, 1317, 1151, 1028, 951, 951};
  for (int n = 1; n <= 6; ++n) {
    const Outlook outlook =
        look("arrivals = open\nrate = 100\nmax-attempts = " + std::to_string(n) + '\n');
    EXPECT_NEAR(outlook.service->held_from, held[n - 1], .5) << n;
  }
  const Outlook defaults = look("");
  EXPECT_NEAR(defaults.service->capacity, 1246.9, .1);
  EXPECT_NEAR(defaults.wanted, 1000 / 10.1, 1e-9);
  EXPECT_NEAR(defaults.outage->unanswered, 1000 * (1 - std::exp(-2)), .01);
}

// A hundred requests a second begin. Those of the last 2 + 1 s are in their first cycle, those of the
// 2 + 4 s before in their second, and so on.
TEST(Outlook, CountsTheAttemptsAtTheEndOfAnOutage) {
  const auto begun = [](Duration time) { return 100 * to_seconds(time); };
  const std::vector<Duration> waits = {1s, 4s};
  EXPECT_DOUBLE_EQ(attempts_at_end(begun, 3s, 3s, 2s, waits), 100);
  EXPECT_DOUBLE_EQ(attempts_at_end(begun, 20s, 20s, 2s, waits), 100 + 17 * 100 / 6.);
  EXPECT_DOUBLE_EQ(attempts_at_end(begun, 20s, 6s, 2s, waits), 150);  // given up after 6 s
  EXPECT_DOUBLE_EQ(attempts_at_end(begun, 20s, 2s, 2s, {}), 100);     // no retries

  // 1,000 clients with fixed retries: 865 fail, each in 2.1 s. Their kernels send each SYN once more.
  const Outlook defaults = look("");
  const double rate = 1000 * (1 - std::exp(-2)) / 2.1;
  EXPECT_NEAR(defaults.outage->attempts_at_end, rate, .01);
  EXPECT_NEAR(defaults.outage->burst, 256 + 3 * rate, .05);
}

// Each client thinks for 10 s, then makes n attempts with their waits, and begins again. Without a
// bound to the attempts it goes on at the first request.
TEST(Outlook, CountsTheAttemptsOfClosedClients) {
  const Outlook many = look("");
  EXPECT_NEAR(many.retries.timeouts.rate, 1000 / 2.1, 1e-9);
  EXPECT_NEAR(many.retries.errors.rate, 1000 / 0.1, 1e-9);
  const Outlook two = look("max-attempts = 2\n");
  EXPECT_NEAR(two.retries.timeouts.rate, 1000 * 2 / (10 + 2 * 2 + 0.1), 1e-6);
  EXPECT_NEAR(to_seconds(two.retries.timeouts.cycle), (10 + 2 * 2 + 0.1) / 2, 1e-6);
  EXPECT_NEAR(two.retries.errors.rate, 1000 * 2 / (10 + 0.1), 1e-6);
  EXPECT_NEAR(look("strategy = none\n").retries.timeouts.rate, 1000 / 12., 1e-6);
}

// gRPC does not retry what times out. Errors it tries four times: waits of 100, 200 and 400 ms.
TEST(Outlook, CountsAttemptsByHowTheyFail) {
  const Outlook outlook = look("strategy = grpc\nretry-budget = none\n");
  EXPECT_NEAR(outlook.retries.timeouts.rate, 1000 / (10 + 2.), 1e-6);
  EXPECT_NEAR(outlook.retries.errors.rate, 1000 * 4 / (10 + 0.7), 1e-3);
  // A 500 is not retried.
  EXPECT_NEAR(look("strategy = grpc\n", "errors:1:500").retries.errors.rate, 1000 / 10., 1e-6);
  // Served before they fail: 100 ms each.
  EXPECT_NEAR(look("strategy = grpc\nretry-budget = none\nerror-after = service\n", "errors:1")
                  .retries.errors.rate,
              1000 * 4 / (10 + 4 * 0.1 + 0.7), 1e-3);
  // Ten attempts of 1 s do not fit into 4 s, those that fail at once do.
  const Outlook bounded =
      look("arrivals = open\nrate = 10\ntimeout = 1s\nmax-attempts = 10\ndeadline = 4s\n", "drop");
  EXPECT_DOUBLE_EQ(bounded.retries.timeouts.rate, 40);
  EXPECT_DOUBLE_EQ(bounded.retries.errors.rate, 100);
}

// Clients that are turned away at once only wait: three attempts in two waits of 100 ms.
TEST(Outlook, CountsTheAttemptsOfClientsThatAreTurnedAway) {
  const Outlook outlook = look(
      "clients = 60\nlambda = 0s\nmax-attempts = 3\nrate-limit = 15\nservice = workers\n"
      "workers = 1000\nservice-time = 3s\ntimeout = 30s\n");
  EXPECT_NEAR(outlook.retries.errors.rate, 60 * 3 / 0.2, 1e-3);
  const Outlook endless = look("clients = 60\nshed-above = 10\n");
  EXPECT_NEAR(endless.retries.errors.rate, 60 / 0.1, 1e-6);
}

// After a 429 the waits begin with 1 s, and a retry takes no token: all have their three attempts. Without throttling
// they begin with 50 ms, and the budget ends them.
TEST(Outlook, CountsTheWaitsAndCostsAfterThrottling) {
  const std::string settings =
      "arrivals = open\nrate = 100\ngrowth = exponential\nfactor = 2\nbackoff-base = 50ms\njitter = full\n"
      "max-attempts = 3\nthrottled-base = 1s\nretry-budget = aws-2025\nbudget-throttled-cost = 0\n";
  const Outlook throttled = look(settings, "throttle:10");
  EXPECT_DOUBLE_EQ(throttled.retries.errors.rate, 300);
  EXPECT_FALSE(throttled.retries.errors.limited_by_budget);
  const Outlook failing = look(settings, "errors:1:503");
  EXPECT_TRUE(failing.retries.errors.limited_by_budget);
}

// A budget that is empty ends the requests of such clients sooner, so that they begin more of them.
TEST(Outlook, CountsTheAttemptsOfClientsWhoseBudgetIsEmpty) {
  OutlookInput input = input_of("strategy = aws-standard\nclients = 1000\n", "errors:1");
  const auto errors = [&input] { return look_ahead(input).retries.errors; };
  EXPECT_NEAR(errors().rate, 1000 / 10., 1e-6);
  EXPECT_TRUE(errors().limited_by_budget);
  input.workload.think_time = 0s;
  EXPECT_EQ(errors().rate, Outlook::kUnlimited);
  input.turnaround = 100us;
  EXPECT_NEAR(errors().rate, 1000 / 100e-6, 1e-3);
  // 10 % of the requests are tried once more, after 100 ms: q (10 + 2) + q / 10 (2 + 0.1) = N.
  const Outlook sre = look("retry-budget = 10%\nmax-attempts = 3\n");
  EXPECT_NEAR(sre.retries.timeouts.rate, 1.1 * 1000 / (12 + 0.21), 1e-6);
}

// Also gRPC's throttle, which pays for no retry while everything fails.
TEST(Outlook, CountsTheRetriesThatABudgetPaysFor) {
  const auto paid = [](const std::string& settings, double processes = 1, double requests = 100) {
    const OutlookInput input = input_of(settings);
    return retries_paid(input.workload.retry.process.budget, processes, requests, 1s, 0s);
  };
  EXPECT_DOUBLE_EQ(paid("retry-budget = sre\n"), 10);
  EXPECT_DOUBLE_EQ(paid("retry-budget = finagle\n"), 30);
  EXPECT_DOUBLE_EQ(paid("retry-budget = finagle\n", 10), 120);
  EXPECT_EQ(paid("retry-budget = grpc\n"), 0);
  EXPECT_EQ(paid("retry-budget = aws\n"), 0);
  EXPECT_DOUBLE_EQ(paid("retry-budget = envoy\n"), 3);
  EXPECT_DOUBLE_EQ(paid("retry-budget = concurrent\n"), 25);
  EXPECT_TRUE(std::isinf(paid("retry-budget = none\n")));
  const Outlook budget = look(kPayments + "retry-budget = sre\n");
  EXPECT_DOUBLE_EQ(budget.retries.timeouts.rate, 440);
  EXPECT_TRUE(budget.retries.timeouts.limited_by_budget);
  EXPECT_NEAR(budget.retries.drains_below, 800 / 1.1, 1e-6);
}

// A bucket is full when the first attempt fails. With r requests and n attempts a second, a retry's cost
// c and waits w of the first retry, r c t + r c (t - w) tokens are spent.
TEST(Outlook, SaysWhenABudgetIsEmpty) {
  const auto lasts = [](const std::string& settings, double processes, double rate, double attempts,
                        double cost, Duration takes = 0s) {
    const OutlookInput input = input_of(settings);
    return budget_lasts(input.workload.retry.process.budget, processes,
                        {.begun = [=](Duration time) { return rate * to_seconds(time); },
                         .takes = takes,
                         .attempts = attempts,
                         .cost = cost,
                         .calm_rate = rate,
                         .calm = 30s},
                        {100ms, 200ms, 400ms});
  };
  const auto expect = [](const std::optional<Duration>& time, double seconds) {
    ASSERT_TRUE(time);
    EXPECT_NEAR(to_seconds(*time), seconds, 1e-6);
  };
  // Half of 100 tokens, one for each failure: 100 t + 100 (t - 0.1) = 50 at t = 0.3.
  expect(lasts("retry-budget = grpc\nbudget-tokens = 100\n", 1, 100, 4, 0), 0.3);
  // The first failure is later by the time that an attempt takes: 100 (t - 1) = 50.
  expect(lasts("retry-budget = grpc\nbudget-tokens = 100\n", 1, 100, 4, 0, 1s), 1.5);
  // Down to the cost of a retry: 150 x 14 x (2 t - 0.1) = 486, with two processes 972.
  expect(lasts("retry-budget = aws\n", 1, 150, 3, 14), 696 / 4200.);
  expect(lasts("retry-budget = aws\n", 2, 150, 3, 14), 1182 / 4200.);
  // A reserve of 100, and a fifth of the requests of the last 10 s, 200: 100 t = 300 - 1.
  expect(lasts("retry-budget = finagle\n", 1, 100, 2, 1), 2.99);
  // A tenth of the requests of 30 s, and of those that come: 300 + 10 t = 100 t.
  expect(lasts("retry-budget = sre\n", 1, 100, 2, 1), 300 / 90.);
  EXPECT_FALSE(lasts("retry-budget = sre\nbudget-deposit = 2\n", 1, 100, 2, 1));
  EXPECT_FALSE(lasts("retry-budget = envoy\n", 1, 100, 2, 1));
  EXPECT_FALSE(lasts("", 1, 100, 2, 1));
}

// Agents that share nothing: it makes no difference how many processes they are.
TEST(Outlook, TakesAProcessForEachClient) {
  const auto unused = [](const std::string& settings) {
    UnusedOptions found;
    find_unused(found, input_of(settings).workload);
    return found;
  };
  const std::string agents = "clients = 60\nstrategy = openai\nprocesses = ";
  EXPECT_THAT(unused(agents + "60\n"), IsEmpty());
  EXPECT_TRUE(unused(agents + "6\n").contains("processes"));
  EXPECT_TRUE(unused("arrivals = open\nclients = 60\nprocesses = 60\n").contains("processes"));
}

TEST(Outlook, SaysWhichSettingsBoundAQueueInTime) {
  for (const char* setting : {"queue-length = 100", "queue-drop = age:500ms", "queue-drop = codel",
                              "queue-order = lifo", "rate-limit = 700", "shed-above = 200"}) {
    const Outlook outlook = look(kPayments + setting + '\n');
    const std::string option =
        "--" + std::string(setting).substr(0, std::string(setting).find(' '));
    EXPECT_TRUE(outlook.service->in_time) << setting;
    EXPECT_FALSE(outlook.retries.can_hold) << setting;
  }
  // Half a second is too long a target for answers that are waited for for one.
  for (const char* setting : {"queue-length = 1000", "queue-drop = codel:500ms:1s"}) {
    EXPECT_FALSE(look(kPayments + setting + '\n').service->in_time) << setting;
  }
  EXPECT_DOUBLE_EQ(look(kPayments + "rate-limit = 700\n").service->capacity, 700);
}

// 400 requests a second arrive, and 100 of them are admitted.
TEST(Outlook, SaysHowManyRequestsAThrottleAdmits) {
  const Outlook outlook = look(kPayments, "throttle:100");
  EXPECT_DOUBLE_EQ(outlook.outage->capacity, 100);
  EXPECT_DOUBLE_EQ(outlook.outage->wanted, 400 * 20);
  // 300/s are turned away three times, with two waits of 100 ms.
  EXPECT_DOUBLE_EQ(outlook.outage->unanswered, 300 * 0.2);
  EXPECT_EQ(outlook.outage->waiting, 0);
}

TEST(Outlook, CountsTheAttemptsThatCanBeginBeforeTheDeadline) {
  EXPECT_EQ(attempts_before(2s, 1s, {100ms, 200ms}, 4), 2);
  EXPECT_EQ(attempts_before(2200ms, 1s, {100ms}, 4), 2);
  EXPECT_EQ(attempts_before(2201ms, 1s, {100ms}, 4), 3);
  EXPECT_EQ(attempts_before(10s, 1s, {}, 4), 4);
  EXPECT_EQ(attempts_before(Duration::max(), 1s, {}, 4), 4);
  EXPECT_EQ(attempts_before(10s, 1s, {}, Outlook::kUnlimited), 10);
}

// 1,000 tokens of processes that retry at a cost of 1. Of 250 requests a second, 50/s of capacity are left.
TEST(Outlook, CountsWhatTheBudgetHasSavedWhenAQueueDrains) {
  const auto drains = [](const std::string& settings, const char* outage, Duration outage_for) {
    OutlookInput input = input_of(kPayments + "rate = 700\n" + settings, outage, outage_for);
    input.calm = 30s;
    const Outlook outlook = look_ahead(input);
    return outlook.outage->drains_in ? to_seconds(*outlook.outage->drains_in) : -1;
  };
  const std::string tokens = "retry-budget = tokens\nbudget-deposit = 0\nbudget-tokens = 1000\n";
  // 100/s are left of the capacity. In 1 ms of a freeze nothing is spent.
  EXPECT_NEAR(drains(tokens, "freeze", 1ms), (0.7 + 1000) / 100, 0.1);
  // In 20 s all is: 256 wait.
  EXPECT_NEAR(drains(tokens, "freeze", 20s), 256 / 100., 1e-6);
  // In a surge that piles up 600/s for 10 s, the retries come besides.
  EXPECT_NEAR(drains(tokens, "load:2", 10s), (600 * 10 + 1000) / 100., 1e-6);
  // A tenth of the requests of the calm, and of those that came while 256 wait: 770/s are tried for long.
  EXPECT_NEAR(drains("retry-budget = 10%\nrate = 600\n", "freeze", 1s), (256 + 60 * 31) / 140.,
              0.1);
  // What was spent is forgotten after 10 s, and saved up again.
  EXPECT_NEAR(drains("retry-budget = tower\n", "freeze", 30s), (256 + 100 + 140 * 10) / 90., 0.1);
}

// A client thinks for 1 s, gives up after 6.2 s, and begins again: within 20 s at most four times, and three
// times (20 + 6.2 - ...) in the mean. Each request's chance is that of a Poisson process (Cox).
TEST(Outlook, CountsTheRequestsOfClientsThatGiveUp) {
  const auto tail = [](int k, double mean) {  // P(more than k)
    double sum = 0, term = std::exp(-mean);
    for (int i = 0; i <= k; term *= mean / ++i) sum += term;
    return 1 - sum;
  };
  EXPECT_NEAR(requests_begun(1000, 1s, 6200ms, 20s),
              1000 * (tail(0, 20) + tail(1, 13.8) + tail(2, 7.6) + tail(3, 1.4)), 1e-6);
  EXPECT_NEAR(requests_begun(1000, 10s, 20s, 20s), clients_stuck(1000, 10s, 20s), 1e-9);
  EXPECT_DOUBLE_EQ(requests_begun(10, 0s, 6s, 20s), 40);
  EXPECT_NEAR(requests_begun(1000, 2s, 0s, 20s), 10'000, 1e-6);
  const std::string three = "clients = 1000\nlambda = 1s\nmax-attempts = 3\n";
  const double given_up = look(three).outage->wanted;
  EXPECT_NEAR(given_up, requests_begun(1000, 1s, 6200ms, 20s), 1e-6);
  // Others are served, by a third of the capacity.
  const Outlook slow = look(three, "slow:3");
  EXPECT_NEAR(slow.outage->wanted, given_up + slow.service->capacity / 3 * 20, 1);
  // With 20 times the load, all are soon in a request.
  EXPECT_NEAR(look("", "load:20").outage->unanswered, 1000, 1e-6);
}

// Twelve connections of 50 ms each are 240/s. 20 workers would do 400.
TEST(Outlook, SaysWhatPoolsLetThrough) {
  const std::string settings =
      "service = workers\nworkers = 20\nservice-time = 50ms\nclients = 600\nlambda = 2s\n"
      "timeout = 1s\nstrategy = fixed\nconnections = keep-alive\npool-size = 2\n";
  const Outlook narrow = look(settings);
  EXPECT_NEAR(narrow.connections->through, 240, 1e-9);
  EXPECT_THAT(ids(narrow.warnings), ElementsAre("connections-below-load"));
  // 0.95 s of that.
}

// Each worker has a task, so 20 tasks are 20 workers, and 200 retries a second after 100 ms each.
TEST(Outlook, KnowsThatAJobHasNoMoreWorkersThanTasks) {
  EXPECT_EQ(look("arrivals = job\ntasks = 20\nclients = 5\n").clients, 5);
  OutlookInput input = input_of("arrivals = job\ntasks = 20\ncalls = 5\n");
  input.service.reset();
}

// 5,000 clients want 1,000 requests a second of a service that does 2,000. With 2 s until an attempt times
// out, 3,800 (2,000 x 1.9) may wait.
const std::string kHerd =
    "clients = 5000\nlambda = 4900ms\nservice = workers\nworkers = 200\nservice-time = 100ms\n"
    "reconnect-growth = constant\n";

// Within a window w that begins at 0, N / w (c + 1 - exp(-t / 4.9)) + 1,000 t / w come a second: connects of c
// calls, what was wanted meanwhile, and the load of those that are back. Where they are always more than
// 2,000, the integral of what is too much is this.
double owed_after(double w, double from, double calls) {
  const double not_wanted = 4.9 * (std::exp(-from / 4.9) - std::exp(-(from + w) / 4.9));
  return 5000 / w * ((calls + 1) * w - not_wanted) + 1000 * w / 2 - 2000 * w;
}

// The window at whose end as many come as there is room for: w = 5 (c + 1 - exp(-(from + w) / 4.9)).
double window_with_room(double from, double calls) {
  double w = 0;
  for (int i = 0; i < 100; ++i) w = 5 * (calls + 1 - std::exp(-(from + w) / 4.9));
  return w;
}

TEST(Outlook, SaysHowAHerdComesBack) {
  const Outlook spread = look(kHerd + "reconnect-base = 5s\n", "reconnect", 1s);
  ASSERT_TRUE(spread.herd);
  EXPECT_NEAR(spread.herd->rate, 1000, 1e-3);
  EXPECT_NEAR(spread.herd->capacity, 1000, 1e-9);
  double begins = 3;  // the queue: 200 t = 1,000 exp(-t / 4.9)
  for (int i = 0; i < 50; ++i) begins = 5 * std::exp(-begins / 4.9);
  const double piles_up =
      100 * (25 - begins * begins) - 4900 * (std::exp(-begins / 4.9) - std::exp(-5 / 4.9));
  EXPECT_NEAR(spread.herd->piles_up, piles_up, 1);
  EXPECT_NEAR(to_seconds(spread.herd->back), 5 + piles_up / 2000, 1e-3);
  EXPECT_THAT(spread.warnings, IsEmpty());
  EXPECT_NEAR(to_seconds(spread.herd->all_room), window_with_room(0, 1), 1e-3);
  EXPECT_EQ(spread.herd->base_for_room, 9300ms);
  const Outlook long_enough = look(kHerd + "reconnect-base = 9300ms\n", "reconnect", 1s);
  EXPECT_NEAR(long_enough.herd->piles_up, 0, 1);
  // Clients that hardly send anything: 5,000 connects of 2,000/s.
  const Outlook idle = look(kHerd + "reconnect-base = 1s\nlambda = 1h\n", "reconnect", 1s);
  EXPECT_NEAR(to_seconds(idle.herd->all_room), 2.5, 0.01);
  EXPECT_EQ(idle.herd->base_for_room, 2600ms);
  // The cap bounds the window.
  const Outlook capped = look(kHerd + "reconnect-base = 1s\nreconnect-cap = 3s\n", "reconnect", 1s);
  EXPECT_EQ(capped.herd->base_for_room, 0s);

  const Outlook at_once =
      look(kHerd + "reconnect-base = 1s\nreconnect-jitter = none\n", "reconnect", 1s);
  EXPECT_EQ(at_once.herd->rate, Outlook::kUnlimited);
  // After the wait of 1 s, 5,000 connects take 2.5 s.
  EXPECT_NEAR(to_seconds(at_once.herd->back), 3.5, 1e-6);
  EXPECT_DOUBLE_EQ(at_once.herd->piles_up, 5000);
  EXPECT_NEAR(owed_after(to_seconds(at_once.herd->advised), 1, 1), 3800, 5);
  ASSERT_THAT(ids(at_once.warnings), ElementsAre("herd-too-late"));
  EXPECT_NEAR(number_of(at_once.warnings[0], "late_from"), 3800, 1);
  EXPECT_NEAR(to_seconds(at_once.herd->all_room), window_with_room(1, 1), 1e-3);

  const Outlook costly =
      look(kHerd + "reconnect-base = 5s\nreconnect-calls = 3\n", "reconnect", 1s);
  EXPECT_NEAR(costly.herd->capacity, 1000 / 3., 1e-6);
  EXPECT_DOUBLE_EQ(costly.herd->piles_up, 5000);  // one attempt of each
  EXPECT_NEAR(to_seconds(costly.herd->back), 5 + owed_after(5, 0, 3) / 1000, 0.01);
  EXPECT_NEAR(to_seconds(costly.herd->all_room), window_with_room(0, 3), 1e-2);
}

TEST(Outlook, SaysThatAHerdFindsNoRoom) {
  const Outlook full = look(kHerd + "clients = 12000\nreconnect-base = 5s\n", "reconnect", 1s);
  EXPECT_EQ(full.herd->capacity, 0);
  EXPECT_THAT(ids(full.warnings), Contains("herd-without-room"));
}

TEST(Outlook, WritesNumbersAsPeopleDo) {
  EXPECT_EQ(readable(1234567.), "1,234,567");
  EXPECT_EQ(readable(266.7), "267");
  EXPECT_EQ(readable(33.333), "33.3");
  EXPECT_EQ(readable(0.1), "0.1");
  EXPECT_EQ(readable(0.), "0");
  EXPECT_EQ(readable(100.), "100");
  EXPECT_EQ(readable(Outlook::kUnlimited), "unlimited");
  EXPECT_EQ(readable(Duration(214'666'666)), "215ms");
  EXPECT_EQ(readable(Duration(81'920'000'000)), "1m21.9s");
  EXPECT_EQ(readable(Duration::max()), "unlimited");
  EXPECT_EQ(readable(Duration::max() - Duration(100'000'000)),
            "unlimited");  // rounded, it would be negative
}

// Thirty connections of six processes. An attempt that times out has had one for all of its second, or for
// what the wait in line has left of it.
TEST(Outlook, CountsTheAttemptsForWhichThereIsAConnection) {
  const std::string settings =
      "service = workers\nworkers = 20\nservice-time = 50ms\nclients = 600\nlambda = 2s\n"
      "timeout = 1s\nstrategy = fixed\nfixed-delay = 400ms\nconnections = keep-alive\n";
  const auto rate = [&](const std::string& more) {
    return look(settings + more).retries.timeouts.rate;
  };
  const double all = 600 / 1.4;
  EXPECT_NEAR(rate(""), all, 1e-6);
  EXPECT_NEAR(rate("pool-size = 5\n"), all, 1e-6);
  EXPECT_NEAR(rate("pool-size = 5\npool-wait-counts = no\n"), 30, 1e-6);
  EXPECT_NEAR(rate("pool-size = 5\npool-wait = 300ms\n"), 30 / 0.7, 1e-6);
  EXPECT_NEAR(rate("pool-size = 5\npool-wait-counts = no\nprocesses = 12\n"), 60, 1e-6);
  // There is a connection for each client.
  EXPECT_NEAR(rate("pool-size = 100\npool-wait-counts = no\n"), all, 1e-6);
  // A deadline can cut an attempt short that has waited.
  EXPECT_NEAR(rate("pool-size = 5\npool-wait-counts = no\ndeadline = 1m\n"),
              rate("deadline = 1m\n"), 1e-6);
  const std::string multiplexed =
      settings + "connections = multiplexed\nstreams = 5\npool-wait-counts = no\n";
  EXPECT_NEAR(look(multiplexed).retries.timeouts.rate, 30, 1e-6);

  const std::string small = settings + "pool-size = 5\n";
  EXPECT_TRUE(look(small).retries.can_hold);
  EXPECT_FALSE(look(small + "pool-wait-counts = no\n").retries.can_hold);
}

TEST(Outlook, SaysWhatClientsWithoutATimeoutDo) {
  const std::string settings =
      "service = workers\nworkers = 20\nservice-time = 50ms\nclients = 600\nlambda = 2s\n"
      "timeout = none\nstrategy = fixed\n";
  const Outlook closed = look(settings);
  EXPECT_FALSE(closed.retries.can_hold);
  EXPECT_TRUE(closed.service->in_time);
  EXPECT_EQ(closed.service->late_from, Outlook::kUnlimited);
  // Each of them waits.
  EXPECT_NEAR(closed.outage->unanswered, 600 * (1 - std::exp(-20 / 2.)), 1e-6);
  EXPECT_THAT(closed.warnings, IsEmpty());
  // With a deadline, a client begins its next request after it.
  const Outlook ends = look(settings + "deadline = 3s\n");
  EXPECT_NEAR(ends.retries.timeouts.rate, 600 / (2 + 3.), 1e-6);
  EXPECT_THAT(ends.warnings, IsEmpty());
  // The experiment's curve, and requests of their own accord.
}

TEST(Outlook, NamesTheOptionsThatDecide) {
  EXPECT_THAT(
      deciding_options(look(kPayments)),
      ElementsAre("strategy", "workers", "service-time", "accepts", "rate", "timeout", "outage",
                  "outage-for", "observe", "backlog", "connections", "abandoned"));
  EXPECT_THAT(
      deciding_options(look(kPayments + "retry-budget = 10%\n", "errors:1")),
      ElementsAre("strategy", "workers", "service-time", "accepts", "rate", "timeout", "outage",
                  "outage-for", "observe", "error-after", "abandoned", "processes", "outage-at"));
  EXPECT_THAT(deciding_options(look(kPayments + "retry-budget = grpc\n", "errors:1")),
              ElementsAre("strategy", "workers", "service-time", "accepts", "rate", "timeout",
                          "outage", "outage-for", "observe", "error-after", "abandoned",
                          "processes", "outage-at", "budget-tokens"));
  EXPECT_THAT(deciding_options(look(kPayments + "retry-budget = envoy\n", "errors:1")),
              ElementsAre("strategy", "workers", "service-time", "accepts", "rate", "timeout",
                          "outage", "outage-for", "observe", "error-after", "abandoned",
                          "processes", "outage-at", "backoff-base", "retry-on"));
  EXPECT_THAT(deciding_options(look("connections = keep-alive\npool-size = 5\n")),
              ElementsAre("strategy", "service", "arrivals", "clients", "lambda", "timeout",
                          "outage", "outage-for", "observe", "syn-linear-timeouts", "abandoned",
                          "pool-size", "processes", "pool-wait", "pool-wait-counts"));
  EXPECT_THAT(
      deciding_options(look("connections = multiplexed\n")),
      ElementsAre("strategy", "service", "arrivals", "clients", "lambda", "timeout", "outage",
                  "outage-for", "observe", "abandoned", "pool-size", "processes", "streams"));
  EXPECT_THAT(deciding_options(look(kPayments + "connections = multiplexed\n")),
              Not(Contains("accepts")));
  EXPECT_THAT(deciding_options(look("")),
              ElementsAre("strategy", "service", "arrivals", "clients", "lambda", "timeout",
                          "outage", "outage-for", "observe", "syn-linear-timeouts", "abandoned"));
  // A client rate, as any gate, is one for all clients of a process.
  EXPECT_THAT(deciding_options(look("client-rate = aws-adaptive\n")), Contains("processes"));
  EXPECT_THAT(deciding_options(look("client-rate = 10/s\n")), Contains("processes"));
  // No timeout is retried, so it decides how the service turns requests away.
  const std::string unavailable = kPayments + "retry-on = UNAVAILABLE\nmax-attempts = 3\n";
  EXPECT_THAT(deciding_options(look(unavailable)),
              IsSupersetOf({"queue-length", "rejection-cost"}));
  EXPECT_THAT(ids(look(unavailable).warnings), Contains("hangs-on-rejections"));
  EXPECT_THAT(deciding_options(look(unavailable + "queue-length = 100\n")),
              Not(Contains("rejection-cost")));
  // Who gives no option of the waits retries for ever.
  EXPECT_THAT(deciding_options(look("")), Contains("strategy"));
  for (const char* given : {"strategy = exponential\n", "backoff-base = 1s\n"}) {
    EXPECT_THAT(deciding_options(look(given)), Not(Contains("strategy"))) << given;
  }
  EXPECT_THAT(deciding_options(look("", "reconnect", 1s)),
              IsSupersetOf({"reconnect-base", "reconnect-calls"}));
}

// Connections that outlast a freeze make no use of the accept queue.
TEST(Outlook, NamesNoBacklogOfSharedConnections) {
  const std::string shared = kPayments + "connections = multiplexed\n";
  EXPECT_THAT(deciding_options(look(shared)), Not(Contains("backlog")));
}

// Workers without enough connections are idle: 10 at a time of 100 ms are 100/s, and answer 190 that wait within 2 s.
// What waits in the accept queue counts.
TEST(Outlook, CountsTheConnectionsThatWorkersNeed) {
  const std::string settings =
      "service = workers\nworkers = 20\nservice-time = 100ms\nmax-connections = 10\n"
      "arrivals = open\nrate = 70\nmax-attempts = 3\n";
  const auto service = [&](const std::string& backlog) {
    return *look(settings + "backlog = " + backlog + '\n').service;
  };
  EXPECT_DOUBLE_EQ(service("256").capacity, 100);
  EXPECT_NEAR(service("256").late_from, 190, 1e-9);
  EXPECT_FALSE(service("256").in_time);
  EXPECT_DOUBLE_EQ(service("100").bound, 100);
  EXPECT_TRUE(service("100").in_time);
}

// 50 at a time, of which each takes 50 / 469/s: in 2 s these answer 937.
TEST(Outlook, CountsTheConnectionsOfTheCurve) {
  const std::string settings = "arrivals = open\nrate = 300\nmax-attempts = 3\n";
  const Outlook all = look(settings + "max-connections = 50\nbacklog = 2000\n");
  const double rate = ServiceOptions().curve().throughput(50);
  EXPECT_DOUBLE_EQ(all.service->capacity, rate);
  EXPECT_DOUBLE_EQ(all.service->late_from, 2 * rate);
  EXPECT_DOUBLE_EQ(all.service->held_from, 2 * rate) << "900/s are more than it does";
  EXPECT_FALSE(all.service->in_time);
  EXPECT_NEAR(to_seconds(all.outage->work), 2000 / rate, 1e-3);
  EXPECT_TRUE(look(settings + "max-connections = 50\nbacklog = 256\n").service->in_time);
}

// What a limit has saved, or what the threshold of a queue lets wait, is too late from 380 on, with the 20 that are
// served 400.
TEST(Outlook, KnowsWhichQueuesAreTooLongInSpiteOfALimit) {
  const auto in_time = [](const std::string& more) {
    return look(
               "service = workers\nworkers = 20\nservice-time = 100ms\narrivals = open\n"
               "rate = 100\n" +
               more)
        .service->in_time;
  };
  EXPECT_TRUE(in_time("rate-limit = 150\n"));
  EXPECT_TRUE(in_time("rate-limit = 150\nrate-burst = 400\n"));
  EXPECT_FALSE(in_time("rate-limit = 150\nrate-burst = 401\n"));
  EXPECT_TRUE(in_time("queue-order = adaptive-lifo:379\n"));
  EXPECT_FALSE(in_time("queue-order = adaptive-lifo:380\n"));
  EXPECT_TRUE(in_time("queue-order = lifo\n"));
}

// 6 connections of 50 ms let through 120/s of the 800/s that the workers can do: attempts beyond that time out in
// line, unless the wait in line is shorter than the timeout or beside it.
TEST(Outlook, KnowsThatAStormCanSustainItselfInLineForAConnection) {
  const std::string settings =
      "service = workers\nworkers = 40\nservice-time = 50ms\narrivals = open\ntimeout = 500ms\n"
      "connections = keep-alive\npool-size = 6\nmax-attempts = ";
  const auto holds = [&](const std::string& more) {
    return look(settings + more).retries.can_hold;
  };
  EXPECT_TRUE(holds("8\nrate = 60\n")) << "480/s";
  EXPECT_FALSE(holds("8\nrate = 14\n")) << "112/s";
  EXPECT_FALSE(holds("8\nrate = 60\npool-wait = 125ms\n"));
  EXPECT_FALSE(holds("8\nrate = 60\npool-wait-counts = no\n"));
  EXPECT_DOUBLE_EQ(*look(settings + "8\nrate = 14\n").retries.drain, 120 - 112);
}

// What the clients send at most bounds the load and every storm.
TEST(Outlook, CountsAGivenClientRate) {
  // 64 / 80 ms = 800/s.
  EXPECT_EQ(look(kPayments + "client-rate = 50/s\nprocesses = 4\n").retries.timeouts.rate, 200);
}

const char* const kOpenWorkers = "service = workers\narrivals = open\nrate = 150\n";

// A client that is turned away at once, and waits as long as it is told, comes once in that time: w clients wait, the
// others think, and 200 / (1 + w) = the rate of their requests; each of these attempts once, then a second time.
TEST(Outlook, CountsTheWaitsThatAHintMakes) {
  const std::string limited =
      "clients = 200\nlambda = 0s\nrate-limit = 10\nhint = fixed\nhint-for = 2s\ngrowth = constant\n"
      "backoff-base = 10s\njitter = none\nmax-retries = none\nretry-after = ";
  const auto rate = [&](const std::string& use) {
    return look(limited + use + '\n').retries.errors.rate;
  };
  EXPECT_NEAR(rate("ignore"), 200 / 10.0, 0.1);
  EXPECT_NEAR(rate("replace"), 200 / 2.0, 0.1);
  EXPECT_NEAR(rate("at-least"), 200 / 10.0, 0.1);
  EXPECT_NEAR(rate("clamp"), 200 / 10.0, 0.1);
  EXPECT_NEAR(rate("spread"), 200 / 2.5, 0.1) << "the hint, and up to half of it more";
  EXPECT_NEAR(look(limited + "replace\nhint = spread\nhint-to = 6s\n").retries.errors.rate,
              200 / 4.0, 0.1);
  EXPECT_NEAR(look(limited + "replace\nhint = computed\n").retries.errors.rate, 200 / 1.0, 0.1)
      << "a whole second at least";
  EXPECT_NEAR(look(limited + "replace\nhint = none\n").retries.errors.rate, 200 / 10.0, 0.1);
}

// Which options are warned of, with which numbers of the last warning.
TEST(Outlook, WarnsOfWhatCannotWork) {
  const std::string open = "service = workers\narrivals = open\nrate = 150\n";
  const std::string job = "arrivals = job\ntasks = 20\nservice = workers\nservice-time = 50ms\n";
  const std::string limited = "clients = 10\nlambda = 0s\nrate-limit = 600/min\n";
  const std::string hasty = "lambda = 0s\nstrategy = ";
  const std::string table = "growth = table\nbackoff-table = 1+1+2+3+5+8\nmax-retries = ";
  struct Case {
    std::string settings;
    const char* outage;
    std::vector<std::string> ids;
    std::vector<std::pair<std::string_view, double>> numbers{};
  };
  for (
      const Case& each : std::vector<Case>{
          {"", "freeze", {}},
          {kPayments, "freeze", {}},
          {kPayments + "rate = 900\n",
           "freeze",
           {"no-capacity-left"},
           {{"load", 900}, {"capacity", 800}}},
          {kPayments + "timeout = 60ms\n",
           "freeze",
           {"half-after-timeout"},
           {{"answer", 0.08}, {"timeout", 0.06}}},
          {kPayments + "service-time = lognormal:80ms:2\nrate = 1\ntimeout = 500ms\n",
           "freeze",
           {"some-after-timeout"}},
          {kPayments + "deadline = 500ms\n",
           "freeze",
           {"deadline-before-timeout"},
           {{"deadline", 0.5}}},
          {kPayments + "deadline = 1s\n",
           "freeze",
           {"deadline-cuts-timeouts"},
           {{"attempts", 3}, {"begin", 1}}},
          // Retries of errors begin 1, 3 and 7 s after the request.
          {kPayments +
               "growth = exponential\nbackoff-base = 1s\njitter = 0\nmax-attempts = 10\ndeadline = 5s\n"
               "retry-on = 503\nqueue-length = 100\n",
           "errors:0.3:503",
           {"deadline-cuts-failures"},
           {{"attempts", 10}, {"begin", 3}, {"deadline", 5}, {"take", 7}}},
          // 400/s for 20 s, each of which sends an attempt every 1.1 s.
          {kPayments + "strategy = fixed\nfixed-delay = 100ms\nmax-attempts = none\n",
           "freeze",
           {"no-request-gives-up"},
           {{"requests", 8000}, {"attempts", 8000 / 1.1}}},
          {kPayments + "max-attempts = none\ndeadline = 5s\n", "freeze", {}},
          // Clients that share nothing need no processes.
          {kPayments + "clients = 7\n", "freeze", {"unused-by-open-arrivals"}},
          {kPayments + "clients = 7\nlambda = 1s\n", "freeze", {"unused-by-open-arrivals"}},
          {kPayments + "clients = 7\nretry-budget = 10%\n",
           "freeze",
           {"unused-by-open-arrivals-processes"},
           {{"clients", 7}}},
          {kPayments + "clients = 7\nretry-budget = 10%\nprocesses = 3\n",
           "freeze",
           {"unused-by-open-arrivals"}},
          {"strategy = exponential\nbackoff-base = 10s\nbackoff-cap = 1s\n",
           "freeze",
           {"base-above-cap"},
           {{"base", 10}, {"cap", 1}}},
          {"strategy = none\nmax-retries = 5\n", "freeze", {"none-retries"}, {{"retries", 5}}},
          {table + "2\n", "freeze", {"table-not-reached"}, {{"retries", 2}, {"numbers", 6}}},
          {table + "5\n", "freeze", {"table-not-reached"}},
          {table + "6\n", "freeze", {}},
          {table + "none\n", "freeze", {}},
          {"strategy = grpc\n", "errors:0.3:500", {"status-not-retried"}, {{"status", 500}}},
          {"strategy = grpc\n", "errors:0.3", {}},
          {kPayments + "retry-on = 500+timeout\n",
           "throttle:20",
           {"status-not-retried"},
           {{"status", 429}}},
          {kPayments, "throttle:20", {}},
          {"", "throttle:20", {"curve-throttled"}},
          {open, "throttle:1000", {"throttle-above-load"}, {{"rate", 1000}, {"load", 150}}},
          {open, "throttle:100", {}},
          {open + "rate = 100\nrate-limit = 120\n",
           "throttle:130",
           {"throttle-above-limit"},
           {{"rate", 130}, {"limit", 120}}},
          {open + "retry-on = hinted\n", "throttle:50", {}},
          // Nothing random spreads the workers of this job; a random time or wait does, and one is alone.
          {job + "strategy = none\n", "freeze", {"job-in-step"}, {{"workers", 20}}},
          {job + "backoff-base = 1s\njitter = none\n", "freeze", {"job-in-step"}},
          {job + "backoff-base = 1s\njitter = full\n", "freeze", {}},
          {job + "strategy = none\nservice-time = exponential:50ms\n", "freeze", {}},
          {job + "strategy = none\ntasks = 1\n", "freeze", {}},
          {"lambda = 10h\nbackoff-base = 5s\n", "reconnect", {"reconnect-waits"}, {{"base", 1}}},
          {"lambda = 10h\nstrategy = exponential\n", "reconnect", {"reconnect-waits"}},
          {"lambda = 10h\nbackoff-base = 5s\n", "drop", {}},
          {"lambda = 10h\nbackoff-base = 5s\nreconnect-base = 2s\n", "reconnect", {}},
          {"lambda = 10h\n", "reconnect", {}},
          {kPayments + "client-rate = 50/s\nprocesses = 4\n",
           "freeze",
           {"client-rate-below-load"},
           {{"load", 400}, {"through", 200}}},
          // Ten clients ask for 10 / 100 ms = 100/s, 10/s are admitted. Each of the nine that are not being answered
          // calls every 100 ms: 90/s are turned away beside the 10/s.
          {limited + "strategy = fixed\n",
           "freeze",
           {"above-rate-limit"},
           {{"clients", 10},
            {"load", 100},
            {"limit", 10},
            {"attempts", 100},
            {"wasted", 0.9},
            {"think", 0.9}}},
          // With a budget of 10 %, r first attempts a second take the clients' time: r (0.1 ms + 0.1 x 250 ms) = 10,
          // so r = 398, 1.1 r = 438, by nine of ten clients 394.
          {limited + "growth = constant\nbackoff-base = 500ms\njitter = full\nretry-budget = 10%\n",
           "freeze",
           {"above-rate-limit"},
           {{"attempts", 390}}},
          {limited + "strategy = responsive\n", "freeze", {"above-rate-limit-adapting"}},
          {limited + "client-rate = 10/s\n", "freeze", {}},
          {limited + "client-rate = 20/s\n",
           "freeze",
           {"above-rate-limit-held"},
           {{"processes", 1}, {"load", 20}}},
          {limited + "processes = 10\nclient-rate = 10/s\n",
           "freeze",
           {"above-rate-limit-held"},
           {{"processes", 10}, {"load", 100}, {"each", 1}}},
          {hasty + "polly\n",
           "freeze",
           {"no-capacity-left", "no-pause-at-gate"},
           {{"attempts", 1e7}}},
          {hasty + "none\n", "drop", {"no-capacity-left", "no-pause-if-refused"}},
          {hasty + "polly\nlambda = 10s\n", "freeze", {}},
      }) {
    OutlookInput input = input_of(each.settings, each.outage);
    input.turnaround = 100us;
    const Statements warnings = look_ahead(input).warnings;
    EXPECT_EQ(ids(warnings), each.ids) << each.settings << each.outage;
    if (warnings.empty()) continue;
    for (const auto& [name, value] : each.numbers) {
      EXPECT_NEAR(number_of(warnings.back(), name), value, 0.004 * value)
          << each.settings << each.outage << ' ' << name;
    }
  }
}

// Divisions by zero, and times that are as long as possible.
TEST(Outlook, CopesWithExtremes) {
  for (const char* settings :
       {"lambda = 0s\nbase-delay = 0s\n", "base-delay = 0s\n", "curve-factor = 1\n",
        "timeout = 2000000h\n", "service = workers\nservice-time = 0s\n",
        "arrivals = open\nrate = 1e9\ndeadline = 100000h\ntimeout = 1ms\n",
        "arrivals = job\nmax-retries = 0\n", "pacer = yes\n", "limit = 0\nk = 1e-9\n"}) {
    for (const char* outage : {"freeze", "drop", "slow:3", "errors:0.5", "capacity:0.5",
                               "throttle:20", "load:3", "reconnect"}) {
      for (const OutlookFigure& each : outlook_figures(look(settings, outage))) {
        const auto* number = std::get_if<double>(&each.value);
        EXPECT_FALSE(number && std::isnan(*number)) << settings << outage << each.id;
      }
    }
  }
}

// What --explain shows is read at a glance.
TEST(Outlook, HasFewFigures) {
  for (const std::string& settings :
       {std::string(), kPayments, kPayments + "retry-budget = finagle\nrate = 250\n",
        kPayments + "service-time = lognormal:80ms\nretry-budget = 10%\n",
        std::string("strategy = resilience4j\nshed-above = 200\n"),
        std::string("strategy = grpc\n"), std::string("strategy = aws-standard\n"),
        std::string("strategy = finagle\n")}) {
    const auto all = outlook_figures(look(settings));
    EXPECT_LE(std::count_if(all.begin(), all.end(),
                            [](const OutlookFigure& each) {
                              return each.shown != OutlookFigure::Shown::kJson &&
                                     each.value.index() > 0;
                            }),
              16)
        << settings;
  }
}

TEST(Outlook, KnowsWhereMedianWaitsFall) {
  EXPECT_EQ(look("growth = table\nbackoff-table = 1+4+2\n").retries.falls_at, 3u);
  const std::string full = "strategy = exponential\njitter = full\n";
  EXPECT_EQ(look(full + "grow-from = jittered\nbackoff-factor = 2\n").retries.falls_at, 2u);
  EXPECT_EQ(look(full).retries.falls_at, 0u);
}

// 3,000 / (10 + 2 * 0.1) and 3,000 / (10 + 3 * 2 + 2 * 0.1)
TEST(Outlook, KnowsLessIfNothingIsKnownOfTheService) {
  OutlookInput input = input_of("max-attempts = 3\n");
  input.service.reset();
  const Outlook outlook = look_ahead(input);
  EXPECT_NEAR(outlook.retries.errors.rate, 3000 / 10.2, 1e-6);
  EXPECT_NEAR(outlook.retries.timeouts.rate, 3000 / 16.2, 1e-6);
  EXPECT_FALSE(outlook.service);
}

}  // namespace
}  // namespace retrystorm
