#include "simulate/next_to_try.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "simulator/scenario_options.h"

namespace retrystorm {
namespace {

std::vector<std::string> tried_after(Verdict verdict, const NamedOptions& options) {
  std::vector<std::string> texts;
  for (const Suggestion& each : next_to_try(scenario_of(options), {.verdict = verdict})) {
    texts.push_back(each.text);
  }
  return texts;
}

// 64 workers that take 80 ms, called by a library that tries three times.
const NamedOptions kPayments{
    {"service", "workers"},    {"workers", "64"},         {"service-time", "80ms"},
    {"arrivals", "open"},      {"rate", "400"},           {"timeout", "1s"},
    {"growth", "exponential"}, {"backoff-base", "500ms"}, {"max-attempts", "3"},
    {"outage-for", "30s"},     {"backlog", "128"}};

NamedOptions payments_with(const NamedOptions& more) {
  NamedOptions all = more;
  all.insert(kPayments.begin(), kPayments.end());
  return all;
}

// A request ends after three timeouts of 1 s and waits of 0.5 and 1 s, so after 4.5 s of an outage as many
// are under way as after an hour, and the accept queue is full.
TEST(NextToTry, OffersMoreLoadWhereALongerOutageIsTheSame) {
  const auto offered = [](const NamedOptions& more) {
    return tried_after(Verdict::kRecovered, payments_with(more));
  };
  const std::string load = " --expect='down<20%', to see how much load it survives";
  const std::string longer =
      "--most=outage-for --expect='down<20%', to see how long an outage it survives";
  EXPECT_THAT(offered({}), testing::ElementsAre("--most=rate" + load));
  EXPECT_THAT(offered({{"outage-for", "4s"}}), testing::ElementsAre(longer));
  EXPECT_THAT(offered({{"backlog", "40000"}}), testing::ElementsAre(longer));  // of 36,000 attempts
  EXPECT_THAT(offered({{"outage", "drop"}}), testing::ElementsAre(longer));
  EXPECT_THAT(tried_after(Verdict::kRecovered, {{"max-attempts", "3"}}),
              testing::ElementsAre("--most=clients" + load));
}

// With 30 % of errors 1 - 0.3^2 = 91 % succeed at most with two attempts, and 1 - 0.3^4 = 99.19 % with four, the first
// number from log(0.01) / log(0.3) = 3.8 on. A request takes (1 - 0.3^n) / 0.7 attempts: 1.3 and 1.417.
TEST(NextToTry, OffersMoreAttemptsWhereAsManySucceedAsCan) {
  const auto offered = [](const std::string& attempts, double success) {
    const auto all = next_to_try(
        scenario_of({{"max-attempts", attempts}, {"outage", "errors:30%"}}),
        {.verdict = Verdict::kRecovered, .budget_used_up = true, .success_in_outage = success});
    return all.empty() ? "" : all.front().text;
  };
  EXPECT_EQ(offered("2", 0.909),
            "--max-attempts=4: 2 attempts let 1 - 0.3^2 = 91.00 % succeed while it lasts, 4 "
            "99.19 %, for 1.42 attempts a request, not 1.3");
  EXPECT_EQ(offered("2", 0.8), "");      // something else limits it
  EXPECT_EQ(offered("4", 0.9919), "");   // enough
  EXPECT_EQ(offered("none", 0.99), "");  // no limit
}

// An outage whose attempts fail at once leaves no queue, however long it is.
TEST(NextToTry, OffersNoLongerOutageOfErrorsOrThrottles) {
  for (const char* outage : {"errors:50%", "throttle:200"}) {
    EXPECT_THAT(tried_after(Verdict::kRecovered, payments_with({{"outage", outage}})),
                testing::IsEmpty())
        << outage;
  }
}

// Of 33 % errors a request has 0.33 / 0.67 = 0.493 failures, and a tenth more is 0.542.
TEST(NextToTry, OffersTheDepositThatErrorsNeed) {
  const auto offered = [](const NamedOptions& more) {
    std::vector<std::string> texts;
    const Seen seen{.verdict = Verdict::kRecovered, .budget_used_up = true, .processes = 6};
    for (const Suggestion& each : next_to_try(scenario_of(payments_with(more)), seen)) {
      texts.push_back(each.text);
    }
    return texts;
  };
  EXPECT_THAT(offered({{"retry-budget", "grpc"}, {"outage", "errors:33%"}}),
              testing::ElementsAre("--budget-deposit=0.55 (gRPC's tokenRatio)"));
  EXPECT_THAT(offered({{"retry-budget", "10%"}, {"outage", "errors:33%"}}),
              testing::ElementsAre("--budget-deposit=0.55"));
  EXPECT_THAT(offered({{"retry-budget", "60%"}, {"outage", "errors:33%"}}), testing::IsEmpty());
}

// What is offered to a row says `down<20%`, so it must not be offered where a fifth is down.
TEST(NextToTry, OffersNoSearchWhoseClaimTheRowItselfBreaks) {
  const auto verdict = [](std::size_t down) {
    return seen_in(CellResult{.runs = 100, .recovered = 100 - down, .collapsed = down}).verdict;
  };
  EXPECT_EQ(verdict(0), Verdict::kRecovered);
  EXPECT_EQ(verdict(19), Verdict::kRecovered);
  EXPECT_EQ(verdict(20), Verdict::kCollapsed);
  EXPECT_EQ(verdict(45), Verdict::kCollapsed);
  for (const std::string& text : tried_after(Verdict::kCollapsed, {{"strategy", "exponential"}})) {
    EXPECT_THAT(text, testing::Not(testing::HasSubstr("--most")));
  }
}

// 5,000 clients that hardly send anything, and 2,000 connects a second: 2.5 s.
TEST(NextToTry, OffersTheWindowThatAReconnectNeeds) {
  const auto offered = [](Verdict verdict, const std::string& base) {
    return tried_after(verdict, {{"clients", "5000"},
                                 {"lambda", "1h"},
                                 {"service", "workers"},
                                 {"workers", "200"},
                                 {"service-time", "100ms"},
                                 {"outage", "reconnect"},
                                 {"reconnect-base", base}});
  };
  const std::string window = "--reconnect-base=2.6s: no attempts pile up";
  EXPECT_THAT(offered(Verdict::kRecovered, "1s"), testing::ElementsAre(window));
  EXPECT_THAT(offered(Verdict::kCollapsed, "1s"), testing::ElementsAre(window));
  EXPECT_THAT(offered(Verdict::kRecovered, "5s"), testing::IsEmpty());
}

// Where each process has few connections, the wait for one uses up the timeout.
TEST(NextToTry, OffersATimeoutWithoutTheWaitForAConnection) {
  const auto offered = [](const NamedOptions& more) {
    NamedOptions all{{"connections", "keep-alive"}, {"processes", "4"}};
    all.insert(more.begin(), more.end());
    return tried_after(Verdict::kCollapsed, payments_with(all));
  };
  const std::string text = "--pool-wait-counts=no";
  EXPECT_THAT(offered({{"pool-size", "10"}}), testing::Contains(text));
  EXPECT_THAT(offered({{"pool-size", "10"}}), testing::Contains("--pool-wait=100ms"));
  EXPECT_THAT(offered({}), testing::Not(testing::Contains(text)));
  EXPECT_THAT(offered({{"pool-size", "10"}, {"pool-wait-counts", "no"}}),
              testing::Not(testing::Contains(text)));
}

// 1 s less 80 ms of 64 workers: 736 can wait. 95 % of 800/s less 1.05 x 400/s leave 340/s.
TEST(NextToTry, OffersABudgetOfHedges) {
  const auto offered = [](const NamedOptions& more) {
    NamedOptions all = payments_with(more);
    all.insert_or_assign("max-attempts", "1");
    return tried_after(Verdict::kCollapsed, all);
  };
  const std::string without = "--hedge=none: the same without hedges";
  EXPECT_THAT(offered({{"hedge", "300ms"}}),
              testing::ElementsAre(
                  "--hedge-budget=0.05 (and 10/s in each process: room for at most 34 --processes)",
                  "--queue-length=368", without));
  EXPECT_THAT(offered({{"hedge", "300ms"}, {"hedge-budget", "0.5"}}),
              testing::ElementsAre("--queue-length=368", without));
  EXPECT_THAT(offered({}), testing::ElementsAre("--queue-length=368"));
}

TEST(NextToTry, BoundsAQueueThatEmptiesSlowly) {
  EXPECT_THAT(tried_after(Verdict::kRecovering, payments_with({{"observe", "1m"}})),
              testing::ElementsAre("--queue-length=368", "--observe=2m"));
  EXPECT_THAT(tried_after(Verdict::kRecovering, payments_with({{"queue-length", "100"}})),
              testing::ElementsAre(testing::StartsWith("--observe=")));
}

TEST(NextToTry, SaysWhenTheAttemptsAreTooFewForAClaim) {
  const auto few = [](const std::string& attempts, const std::string& claim,
                      const std::string& outage = "errors:50%") {
    const auto options = scenario_of({{"max-attempts", attempts}, {"outage", outage}});
    return too_few_attempts(options, {parse_expectation(claim, run_figures(any_summary()))});
  };
  EXPECT_EQ(few("6", "success-during>99%"),
            "where 50.00 % of the attempts fail, 6 attempts let 1 - 0.5^6 = 98.44 % of the "
            "requests succeed while it lasts, and no budget more\ntry: --max-retries=6 (99.22 %)");
  EXPECT_EQ(few("1", "success-during>=70%", "errors:20%"), "");
  EXPECT_THAT(
      few("1", "success-during>=90%", "errors:20%"),
      testing::EndsWith("1 attempt lets 1 - 0.2^1 = 80.00 % of the requests succeed while it "
                        "lasts, and no budget more\ntry: --max-retries=1 (96.00 %)"));
  for (const char* claim : {"success-during<99%", "success-after>99%", "down<5%"}) {
    EXPECT_EQ(few("2", claim), "") << claim;
  }
  EXPECT_EQ(few("7", "success-during>99%"), "");
  EXPECT_EQ(few("none", "success-during>99%"), "");
  EXPECT_EQ(few("2", "success-during>99%", "errors:100%"), "");
  EXPECT_EQ(few("2", "success-during>99%", "freeze"), "");
}

// A request needs 1 / 0.7 attempts, and 99.9 % of 300/s then need 428/s of the workers, who do 20 / 50 ms = 400/s.
TEST(TooFewAttempts, SaysThatTheyAreMoreThanTheServiceCanDo) {
  const auto said = [](const std::string& rate, const std::string& after) {
    return too_few_attempts(
        scenario_of({{"service", "workers"},
                     {"workers", "20"},
                     {"service-time", "50ms"},
                     {"arrivals", "open"},
                     {"rate", rate},
                     {"max-attempts", "10"},
                     {"outage", "errors:30%"},
                     {"error-after", after}}),
        {parse_expectation("success-during>99.9%", run_figures(any_summary()))});
  };
  EXPECT_THAT(said("300", "service"),
              testing::AllOf(testing::HasSubstr("428 attempts/s"), testing::HasSubstr("400/s")));
  EXPECT_EQ(said("270", "service"), "");    // 385/s
  EXPECT_EQ(said("300", "admission"), "");  // errors cost nothing
}

TEST(RowToImprove, IsTheFirstRowEvenIfNoneIsDecided) {
  RowToImprove row;
  row.see(1, {.runs = 3, .undecided = 3});
  row.see(0, {.runs = 2, .undecided = 2});
  EXPECT_EQ(row.row(), 0);
  EXPECT_EQ(row.result().runs, 2);
  EXPECT_TRUE(row.is_well());
  row.see(2, {.runs = 2, .collapsed = 2});
  EXPECT_EQ(row.row(), 2);
  EXPECT_FALSE(row.is_well());
}

// Two processes share the 20/s that are admitted.
TEST(NextToTry, OffersTheLimitToTheClientsItself) {
  const NamedOptions metered{{"rate-limit", "20/s"}, {"lambda", "0s"}, {"processes", "2"}};
  const auto offered = [&](const NamedOptions& more) {
    NamedOptions all = more;
    all.insert(metered.begin(), metered.end());
    return next_to_try(scenario_of(all), {.verdict = Verdict::kNoOutage, .throttled = 0.5});
  };
  ASSERT_FALSE(offered({}).empty());
  EXPECT_EQ(offered({}).front().options, (NamedOptions{{"client-rate", "10/s"}}));
  for (const Suggestion& each : offered({{"client-rate", "20/s"}})) {
    EXPECT_THAT(each.text, testing::Not(testing::HasSubstr("client-rate")));
  }
}

TEST(LimitByArithmetic, IsTheLoadThatLeavesNoRoomForRetries) {
  const auto limit = [](const std::string& searched, const std::string& budget) {
    ScenarioOptions options = scenario_of({{"service", "workers"},  // 20 x 100 ms: 200/s
                                           {"arrivals", "open"},
                                           {"rate", "120"},
                                           {"retry-budget", budget}});
    return limit_by_arithmetic(searched, options);
  };
  EXPECT_THAT(limit("budget-deposit", "sre"), testing::HasSubstr("above 0.667 = 200/s / 120 - 1 "));
  EXPECT_THAT(limit("budget-share", "envoy"), testing::HasSubstr("above 0.4 = 1 - 120 / 200/s "));
  EXPECT_EQ(limit("budget-tokens", "sre"), "");
  EXPECT_EQ(limit("budget-deposit", "none"), "");
}

}  // namespace
}  // namespace retrystorm
