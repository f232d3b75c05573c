// Each formula gives the figures that its source has published, or that were computed by hand, to the
// digits shown.
#include "tests/validation/formulas.h"

#include "tests/support/test.h"

namespace retrystorm::validation {
namespace {

TEST(Formulas, IndependentFailures) {
  EXPECT_DOUBLE_EQ(retry_success(.5, 4), .9375);
  EXPECT_DOUBLE_EQ(retry_attempts(.5, 4), 1.875);
}

TEST(Formulas, RefusedAndRetried) {
  EXPECT_NEAR(retry_load(150, 100, 2), 236.6, .05);
  EXPECT_NEAR(retry_load(150, 100, 3), 326.1, .05);
  EXPECT_NEAR(retry_load(150, 100, 4), 416.4, .05);
  EXPECT_NEAR(retry_load(200, 100, 2), 341.4, .05);
  EXPECT_NEAR(retry_load(200, 100, 3), 484.7, .05);
  EXPECT_NEAR(retry_load(200, 100, 4), 628.5, .05);
  // The service is fully used.
  EXPECT_NEAR(retry_load(200, 100, 3) * (1 - refused_share(200, 100, 3)), 100, 1e-9);
}

// 1 % more than 10,000 a second. A hundred more are refused each second, until requests are given up. In
// the end there are 27,051 attempts a second.
TEST(Formulas, ExampleOfSiteReliabilityEngineering) {
  for (int k = 1; k <= 8; ++k) {
    EXPECT_NEAR(refused_in_second(10100, 10000, 10, 0, k), 100 * k, 1e-3) << k;
  }
  EXPECT_NEAR(refused_in_second(10100, 10000, 10, 0, 3000), 27051 - 10000, .5);
  EXPECT_NEAR(retry_load(10100, 10000, 10), 27051, .5);
  EXPECT_NEAR(refused_in_second(10100, 10000, 10, 40, 1), 60, 1e-9);
  EXPECT_EQ(refused_in_second(90, 100, 3, 0, 5), 0);
}

TEST(Formulas, AdaptiveThrottling) {
  EXPECT_EQ(throttled_rate(1000, 1.5, 200), 300);
  EXPECT_EQ(throttled_rate(1000, 2, 200), 400);
  EXPECT_EQ(throttled_rate(1000, 3, 200), 600);
  EXPECT_EQ(throttled_rate(80, 2, 50), 80);
}

TEST(Formulas, Budgets) {
  EXPECT_EQ(retries_to_half(10), 4);
  EXPECT_NEAR(draining_share(.1), .0909, 5e-5);
  EXPECT_EQ(retries_for(500, 5), 100);
  EXPECT_EQ(retries_for(500, 10), 50);
  EXPECT_EQ(retries_for(500, 14), 35);
  EXPECT_NEAR(quota_draining_share(5), .321, 5e-4);
  EXPECT_NEAR(quota_draining_share(14), .215, 5e-4);
  // While the quota lasts, all are sent. Then as many are sent as the successes pay for.
  EXPECT_DOUBLE_EQ(quota_retries(.2, 5), .2 + .04);
  EXPECT_DOUBLE_EQ(quota_retries(.4, 5), .3);
  const double border = quota_draining_share(5);
  EXPECT_NEAR((1 - border) / (5 * border), border + border * border, 1e-9);
}

// Hand-computed; the fan-outs and "one in five" are Dean and Barroso's, who have 63 %.
TEST(Formulas, Hedges) {
  EXPECT_NEAR(hedged_share(.1, .0693147), .5, 1e-6);
  EXPECT_NEAR(hedged_share(.1, .2995732), .05, 1e-6);
  EXPECT_NEAR(hedged_mean(.1, .0693147), .075, 1e-6);
  EXPECT_NEAR(hedged_mean(.1, .2302585), .095, 1e-6);
  EXPECT_NEAR(hedged_quantile(.1, .0693147, .99), .2649, 5e-5);
  EXPECT_NEAR(hedged_quantile(.1, .2302585, .999), .4605, 5e-5);
  EXPECT_NEAR(hedged_quantile(.1, .4605170, .99), .4605, 5e-5);
  EXPECT_NEAR(hedged_mean_of_two(.01, 1, .01, .02), .010297, 1e-7);
  EXPECT_NEAR(fan_out(.01, 100), .63397, 5e-6);
  EXPECT_NEAR(fan_out(hedged_slow_share(.01), 100), .00995, 5e-6);
  EXPECT_NEAR(fan_out(hedged_slow_share(.01), 2000), .18128, 5e-5);
  EXPECT_NEAR(mean_in_two(3, 10), .0714, 5e-5);
  EXPECT_NEAR(mean_in_system(3, 10), .1429, 5e-5);
  EXPECT_EQ(budgeted_hedges(10000, .01), 110);
  EXPECT_EQ(vain_attempts(2, .5, 4), 4);
  EXPECT_EQ(vain_attempts(2, .5, 9), 4);
  EXPECT_EQ(vain_attempts(2, .7, 9), 3);
}

TEST(Formulas, RetrialQueues) {
  EXPECT_NEAR(exponential_orbit(.5, 1, 1), 1, 1e-9);
  EXPECT_NEAR(exponential_orbit(.4, 1, .5), .8, 1e-9);
  EXPECT_NEAR(exponential_orbit(.7, 1, 1), 3.2667, 5e-5);
  EXPECT_NEAR(retrial_orbit(5, .1, 1), 5.25, 1e-9);
  EXPECT_NEAR(retrial_orbit(8, .1, 1), 33.6, 1e-9);
}

TEST(Formulas, Loss) {
  EXPECT_NEAR(erlang_b(10, 6), .04314, 5e-6);
  EXPECT_NEAR(erlang_b(10, 8), .12166, 5e-6);
  EXPECT_NEAR(erlang_b(10, 10), .21458, 5e-6);
  EXPECT_NEAR(erlang_b(10, 12), .30193, 1e-5);
  // Site Reliability Engineering, ch. 22: 1000 threads, 1000/s of 100 ms, 5 % hang for 100 s.
  EXPECT_NEAR(1 - erlang_b(1000, 1000 * (.95 * .1 + .05 * 100)), .196, 5e-4);
  EXPECT_NEAR(connecting_share(4, .1, .3), .1807, 5e-5);
  EXPECT_NEAR(slow_retrial_attempts(10, 6), 1.0575, 5e-5);
  EXPECT_NEAR(slow_retrial_attempts(10, 7), 1.1355, 5e-5);
  EXPECT_NEAR(slow_retrial_attempts(10, 8), 1.3092, 5e-5);
  EXPECT_NEAR(slow_retrial_attempts(10, 9), 1.8362, 5e-5);
  EXPECT_NEAR(engset(1000, 10, 10, .1), .21059, 5e-6);
  EXPECT_NEAR(engset(1000, 15, 10, .1), .03417, 1e-5);
  EXPECT_NEAR(engset(1000, 20, 10, .1), .00161, 5e-6);
}

TEST(Formulas, Workers) {
  EXPECT_NEAR(erlang_c(5, 2.5), .1304, 5e-5);
  EXPECT_NEAR(erlang_c(10, 5), .0361, 5e-5);
  EXPECT_NEAR(erlang_queue(1, .8), .8 * .8 / (1 - .8), 1e-9);  // M/M/1: r^2 / (1 - r)
}

TEST(Formulas, FillingAndEmptying) {
  EXPECT_NEAR(filling_time(9.5, 10, 30), 86.4, .05);
  EXPECT_NEAR(filling_time(9, 10, 30), 195.9, .05);
  EXPECT_NEAR(emptying_time(9.5, 10, 100), 162.2, .05);
  EXPECT_NEAR(emptying_time(8, 10, 100), 48, .05);
  EXPECT_NEAR(emptying_time(5, 10, 100), 19.8, .05);
}

TEST(Formulas, Fluids) {
  const double stale = backlog(90, 100 / 3., 8);
  EXPECT_NEAR(stale, 453, .5);
  EXPECT_NEAR(stale / (100 - 90), 45.3, .05);
  EXPECT_NEAR((stale - 100) / (100 - 90), 35.3, .05);
  EXPECT_EQ(backlog(1000 / 10., 50, 10), 500);
  EXPECT_DOUBLE_EQ(lockstep(25, .2, .5), 2.6);
  EXPECT_DOUBLE_EQ(lockstep(25, .2, 1), 5);
}

// The concurrency at which the service's curve has come down to 100 n a second.
TEST(Formulas, FallingConcurrency) {
  EXPECT_NEAR(falling_concurrency(200, .1, 1.05, 30, 15), 1317, .5);
  EXPECT_NEAR(falling_concurrency(300, .1, 1.05, 30, 15), 1151, .5);
  EXPECT_NEAR(falling_concurrency(400, .1, 1.05, 30, 15), 1028, .5);
}

TEST(Formulas, Capacity) {
  const double published[] = {100, 143, 205, 293, 419, 599, 856, 1223};
  for (int step = 0; step <= 7; ++step) {
    EXPECT_EQ(tracked_capacity(100, .7, step), published[step]) << step;
  }
  EXPECT_EQ(tracked_capacity(70, .7, 1), 100);
  EXPECT_EQ(saved_seconds(100, 300, 200), 300);
}

TEST(Formulas, Pacers) {
  EXPECT_NEAR(paced_failures(1.5, .9, 10), .0253, 5e-5);
  EXPECT_NEAR(paced_failures(1.5 * spread(.3), .9 * spread(.3), 10), .03, 5e-5);
  EXPECT_NEAR(spread(1e-4), 1, 1e-8);
}

// Followed by hand: 100 at once, 20 ms each, target 5 ms, interval 100 ms. The second one that is
// taken, after 20 ms, begins an interval until 120 ms, in which the least wait is 20 ms. The eighth
// is the first one after that, and begins the next. All requests taken after it are dropped.
TEST(Formulas, QueueRules) {
  EXPECT_EQ(codel_drops(1, .02, .005, .1), 0);
  EXPECT_EQ(codel_drops(100, .02, .005, .1), 92);
  EXPECT_EQ(adaptive_order(5, 2), 15423);
  EXPECT_EQ(adaptive_order(3, 9), 123);
}

// Published figures, and those that follow by hand.
TEST(Formulas, OfServicesBehindServices) {
  EXPECT_NEAR(chain_calls(.9, 3, 3), 9.4185, 1e-4);
  EXPECT_NEAR(chain_calls(.99, 4, 3), 47.4403, 1e-4);
  EXPECT_NEAR(chain_success(.9, 3, 2), .61258, 1e-5);
  EXPECT_NEAR(1 - hops_failing(.3, 3, {true, true, true}), .966395, 1e-6);
  EXPECT_NEAR(1 - hops_failing(.3, 3, {false, false, true}), .716407, 1e-6);
  EXPECT_NEAR(1 - hops_failing(.3, 3, {true, false, false}), .476770, 1e-6);
  EXPECT_NEAR(tandem_mean(5, {10, 8}), .53333, 1e-5);
  EXPECT_NEAR(tandem_longer(5, 10, 8, 1), .11436, 1e-5);
  EXPECT_NEAR(tandem_longer(5, 10, 8, .4414), .5, 1e-4);
  EXPECT_NEAR(fed_back(6, .3, 3), 8.34, 1e-9);
  EXPECT_NEAR(in_station(8, 10), 4, 1e-9);
  EXPECT_NEAR(repaired(4, .05, .02), 42.504, 1e-3);
  EXPECT_NEAR(repaired(10, .1, .02), 49.081, 1e-3);
  EXPECT_NEAR(fan_out_success(100, .01, 1, 100), .366032, 1e-6);
  EXPECT_NEAR(fan_out_success(5, .1, 1, 4), .91854, 1e-5);
  EXPECT_NEAR(fork_join(5, 10), .2875, 1e-9);
  EXPECT_NEAR(fork_join(8, 10), .7, 1e-9);
  EXPECT_NEAR(longest_of(3, 1), 1.8333, 1e-4);
  EXPECT_NEAR(paid_retries(.5, .5), .33333, 1e-5);
  EXPECT_NEAR(paid_retries(.9, .5), .05263, 1e-5);
}

}  // namespace
}  // namespace retrystorm::validation
