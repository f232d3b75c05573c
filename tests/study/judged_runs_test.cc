#include "study/judged_runs.h"

#include "model/base/text.h"
#include "study/cell_result.h"
#include "study/named_options.h"
#include "study/statistics.h"
#include "tests/support/facts.h"
#include "tests/support/given.h"
#include "tests/support/scenario_settings.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

Expectation claim_of(const std::string& text) {
  return parse_expectation(text, known_figures());
}

Judgement once(const std::vector<RunResult>& runs, const std::string& claim) {
  return judge_once(runs, {claim_of(claim)}).at(0);
}

// What is said of it.
Statements details(const std::vector<RunResult>& runs, const std::string& claim) {
  return details_of(claim_of(claim), once(runs, claim));
}

Scenario scenario_with(std::size_t backlog) {
  auto options = options_from("clients = 100\nlimit = 3\nk = 5\n");
  options.service.backlog = backlog;
  return make_scenario(options, 0);
}

JudgedRuns judged(const std::vector<std::string>& claims, std::size_t most,
                  std::size_t backlog = 10, std::size_t threads = 2) {
  std::vector<Expectation> expectations;
  for (const std::string& each : claims) expectations.push_back(claim_of(each));
  return judge_runs(Evaluator(threads), scenario_with(backlog), 1, most, expectations).value();
}

TEST(JudgedRuns, AreJudgedAfterNumbersThatAreFixedBeforehand) {
  const auto runs = [](std::size_t most) {
    std::vector<std::size_t> all;
    for (const Look& each : looks(most)) all.push_back(each.runs);
    return all;
  };
  EXPECT_THAT(runs(1), ElementsAre(1));
  EXPECT_THAT(runs(25), ElementsAre(25));
  EXPECT_THAT(runs(26), ElementsAre(25, 26));
  EXPECT_THAT(runs(1000), ElementsAre(25, 50, 100, 200, 400, 800, 1000));
}

// The probability of each finding about a share of the runs that are down, exactly: every number of them at each look,
// with its probability, until the claim is decided.
struct Found {
  double holds = 0, broken = 0;
};
Found found(double bound, std::size_t most) {
  const Expectation claim = claim_of("down<" + std::to_string(bound));
  std::vector<double> open{1};  // by runs that are down
  std::size_t before = 0;
  Found all;
  for (const Look& look : looks(most)) {
    const std::size_t more = look.runs - before;
    std::vector<double> now(look.runs + 1);
    for (std::size_t down = 0; down <= more; ++down) {
      const double is_so = binomial_at_most(down, more, bound) -
                           (down == 0 ? 0 : binomial_at_most(down - 1, more, bound));
      for (std::size_t i = 0; i < open.size(); ++i) now[i + down] += open[i] * is_so;
    }
    for (std::size_t down = 0; down <= look.runs; ++down) {
      if (now[down] < 1e-12) continue;
      std::vector<RunResult> runs(down, {.verdict = Verdict::kCollapsed});
      runs.resize(look.runs, {.verdict = Verdict::kRecovered});
      const Finding finding = judge(claim, cell_figures(summarize(runs, look.misses))).finding;
      if (finding == Finding::kUndecided) continue;
      (finding == Finding::kHolds ? all.holds : all.broken) += now[down];
      now[down] = 0;
    }
    open = now;
    before = look.runs;
  }
  return all;
}

// A share that is just the bound, where "down<bound" does not hold, and hardly less, where it does: either finding is
// wrong for one of them.
TEST(JudgedRuns, AreWrongAsRarelyAsTheySay) {
  for (const std::size_t most : {3, 25, 100, 150}) {
    for (const double bound : {0.001, 0.004, 0.01, 0.02, 0.0371, 0.05, 0.1, 0.2, 0.5, 0.8, 0.95}) {
      const Found all = found(bound, most);
      EXPECT_LE(all.holds, kUsualMisses) << bound << ' ' << most;
      EXPECT_LE(all.broken, kUsualMisses) << bound << ' ' << most;
    }
  }
}

// None of 100: Wilson's bound is z^2 / (n + z^2) = 3.70 % with z = 1.96, as in the table.
TEST(JudgedRuns, AreEnoughIfOneLookAtAllOfThemIs) {
  const auto at_100 = [](const std::string& claim) {
    const JudgedRuns runs = judged({claim}, 100);
    EXPECT_EQ(summarize(runs.runs).down()->value, 0);
    return runs.judgements[0];
  };
  EXPECT_EQ(at_100("down<5%").finding, Finding::kHolds);
  EXPECT_EQ(at_100("down<3.71%").finding, Finding::kHolds);
  EXPECT_EQ(at_100("down<3.69%").finding, Finding::kUndecided);
  EXPECT_NEAR(*at_100("down<3.69%").high, 3.8415 / 103.8415, 1e-5);
}

// If none of n runs is down, Wilson's bound is z^2 / (n + z^2), with z = 2.64 for 5 % in 6 looks.
// 6.96 / (n + 6.96) is below 10 % from 63 runs on.
TEST(JudgedRuns, EndWhenTheClaimIsDecided) {
  const JudgedRuns runs = judged({"down<10%"}, 1000);
  EXPECT_EQ(runs.runs.size(), 100);
  EXPECT_EQ(runs.judgements[0].finding, Finding::kHolds);
  EXPECT_EQ(runs.judgements[0].runs, 100);
  EXPECT_NEAR(*runs.judgements[0].high, 6.96 / 106.96, 1e-3);
  EXPECT_EQ(judged({"down>10%"}, 1000).judgements[0].finding, Finding::kBroken);
  const JudgedRuns few = judged({"down<10%"}, 20);
  EXPECT_EQ(few.runs.size(), 20);
  EXPECT_EQ(few.judgements[0].finding, Finding::kUndecided);
}

TEST(JudgedRuns, EndAtTheFirstRunThatBreaksTheClaim) {
  const JudgedRuns runs = judged({"down>90%", "amplification<1.5"}, 1000);
  EXPECT_EQ(runs.runs.size(), 25);
  EXPECT_EQ(runs.judgements[0].finding, Finding::kBroken);
  EXPECT_EQ(runs.judgements[1].finding, Finding::kUndecided);  // no mean of 25 runs is judged
}

TEST(JudgedRuns, GiveMeansOfEveryFigureOfTheSummary) {
  const JudgedRuns runs = judged({"baseline-ok>1", "pauses>=0", "peak-concurrency>0"}, 100);
  EXPECT_EQ(runs.runs.size(), 100);
  for (const Judgement& each : runs.judgements) EXPECT_EQ(each.finding, Finding::kHolds);
  EXPECT_LT(*runs.judgements[0].low, *runs.judgements[0].high);
}

TEST(JudgedRuns, MustAllHaveTheExpectedVerdict) {
  const JudgedRuns runs = judged({"recovered"}, 30);
  EXPECT_EQ(runs.runs.size(), 30);
  EXPECT_EQ(runs.judgements[0].finding, Finding::kHolds);
  const JudgedRuns other = judged({"collapsed"}, 30);
  EXPECT_EQ(other.runs.size(), 25);
  EXPECT_EQ(other.judgements[0].finding, Finding::kBroken);
}

// Of 100 runs none is down. The interval ends at 3.7 %, but 30 runs may still go down: with these it begins
// at 21.9 %. No number of runs decides such a claim.
TEST(JudgedRuns, DecideNothingForRunsThatAreStillRecovering) {
  std::vector<RunResult> runs(70, {.verdict = Verdict::kRecovered});
  runs.resize(100, {.verdict = Verdict::kRecovering});
  for (const auto& [claim, finding] : {std::pair("down<5%", Finding::kUndecided),
                                       {"down>=5%", Finding::kUndecided},
                                       {"down<45%", Finding::kHolds},
                                       {"down>45%", Finding::kBroken}}) {
    const bool open = finding == Finding::kUndecided;
    EXPECT_EQ(once(runs, claim).finding, finding) << claim;
    EXPECT_EQ(once(runs, claim).recovering, open ? 30 : 0) << claim;
    EXPECT_EQ(says(details(runs, claim), "claim-recovering"), open) << claim;
  }
}

// Of 3 runs none is down: the advised number is the least whose interval decides, and more than 3.
TEST(JudgedRuns, AdviseTheLeastNumberOfRunsThatDecides) {
  const std::vector<RunResult> runs(3, {.verdict = Verdict::kRecovered});
  for (const double bound : {0.05, 0.1, 0.2, 0.3, 0.5, 0.56}) {
    const std::string claim = "down<" + std::to_string(bound);
    const auto advised = runs_to_decide(claim_of(claim), once(runs, claim));
    ASSERT_TRUE(advised) << bound;
    EXPECT_GT(*advised, runs.size());
    EXPECT_LT(sure_interval(0, *advised).high, bound);
    EXPECT_GT(sure_interval(0, *advised - 1).high, bound);
  }
}

// However few they are: with six of six that are still recovering the claim is as open as with three of three.
TEST(JudgedRuns, AdviseNoMoreRunsWhereAllAreStillRecovering) {
  const std::vector<RunResult> runs(3, {.verdict = Verdict::kRecovering});
  EXPECT_TRUE(says(details(runs, "down<50%"), "claim-recovering"));
  EXPECT_FALSE(says(details(runs, "down<50%"), "claim-more-runs"));
}

// Of n perfect runs the interval begins at 0 and ends at 1, the other end is never there: such a claim is neither
// broken nor shown.
TEST(JudgedRuns, DoNotBreakAClaimThatAllOfThemSatisfy) {
  for (const std::size_t n : {25, 30, 50, 100, 1000}) {
    const std::vector<RunResult> runs(n, {.verdict = Verdict::kRecovered});
    for (const char* text : {"collapsed=0", "collapsed<=0", "relapsed=0", "recovering=0", "down=0",
                             "undecided=0", "recovered=100%", "recovered>=100%"}) {
      EXPECT_EQ(once(runs, text).finding, Finding::kUndecided) << text << ' ' << n;
    }
    EXPECT_TRUE(says(details(runs, "recovered>=100%"), "claim-not-exact"));
  }
}

// In most runs the slowest of a hundred requests had lasted for a minute at the end, and was not over.
TEST(JudgedRuns, DecideNothingThatUnfinishedRequestsMayChange) {
  std::vector<RunResult> runs(10);
  for (RunResult& run : runs) run.phases[2].request_p99 = TimeBound{.time = 1min, .or_more = true};
  runs[0].phases[2].request_p99 = TimeBound{.time = 1s};
  EXPECT_EQ(once(runs, "request-p99-after<50s").finding, Finding::kBroken);
  EXPECT_EQ(once(runs, "request-p99-after<70s").finding, Finding::kUndecided);
  EXPECT_EQ(once(runs, "request-p99-after>50s").finding, Finding::kHolds);
}

// 500 answers in 10 s are 50/s.
TEST(JudgedRuns, GiveOneRunTheFiguresOfItsTable) {
  SimulationResult run{.summary = {.elapsed = 10s}, .peak_concurrency = 7};
  run.summary.counts.ok = 500;
  run.summary.recovery.verdict = Verdict::kRecovered;
  run.summary.recovery.time_to_recovery = 3s;
  const Figures figures = one_run_figures(run);
  const auto found = [&figures](const std::string& text) {
    return judge(claim_of(text), figures).finding;
  };
  for (const char* claim : {"OK/s=50", "peak-concurrency=7", "recovery<=3s", "recovery-p90<4s",
                            "back after>=3s", "recovered=100%", "collapsed=0", "elapsed<11s"}) {
    EXPECT_EQ(found(claim), Finding::kHolds) << claim;
  }
  for (const char* claim : {"OK/s>50", "recovery<3s", "peak-concurrency>7"}) {
    EXPECT_EQ(found(claim), Finding::kBroken) << claim;
  }
}

// 16 workers of 68 ms serve 235/s. Ten seconds of three times 188/s leave 3,290 requests, which drain at
// 47/s, in 70 s: longer than the watch. The first look shows that only a longer watch decides.
TEST(JudgedRuns, EndEarlyWhereOnlyALongerWatchDecides) {
  const ScenarioOptions options = scenario_of(
      test::given("service=workers, workers=16, service-time=68ms, arrivals=open, "
                  "rate=188, max-retries=0, outage=load:3, outage-for=10s, observe=1m"));
  const JudgedRuns runs =
      judge_runs(Evaluator(2), make_scenario(options, 1), 1, 1000, {claim_of("down<5%")}).value();
  EXPECT_EQ(runs.runs.size(), 25);
  EXPECT_EQ(runs.judgements[0].finding, Finding::kUndecided);
  EXPECT_EQ(runs.judgements[0].recovering, 25);
}

// All requests that ended succeeded, and half have not ended: from 50 % to 100 % will succeed, whatever the number
// of runs.
TEST(JudgedRuns, DecideNothingThatRequestsLeftOutMayChange) {
  const std::vector<RunResult> runs(200, {.success_share = 1, .doubtful = 0.5});
  EXPECT_EQ(once(runs, "success>95%").finding, Finding::kUndecided);
  EXPECT_EQ(test::facts(details(runs, "success>95%")),
            "claim-value-interval(value=1, low=0.5, high=1); claim-runs(runs=200 runs); "
            "claim-left-out(share=0.5)");
  EXPECT_EQ(once(runs, "success>49%").finding, Finding::kHolds);
  EXPECT_EQ(once(runs, "success<49%").finding, Finding::kBroken);
}

// Where 40 of 100 requests a second are answered in the calm, 40 again are no service. 60 are, for better or worse.
TEST(JudgedRuns, DoNotCallItBackWhatWasNotThere) {
  const auto found = [](double answered, const std::string& text) {
    RunResult run{.verdict = Verdict::kRecovered};
    for (PhaseResult& phase : run.phases) {
      phase = {.success = answered / 100, .ok_per_s = answered, .requests_per_s = 100};
    }
    return once(std::vector<RunResult>(100, run), text).finding;
  };
  for (const char* claim : {"down<20%", "recovered", "recovered>90%"}) {
    EXPECT_EQ(found(60, claim), Finding::kHolds) << claim;
    EXPECT_EQ(found(40, claim), Finding::kUndecided) << claim;
  }
  EXPECT_EQ(found(40, "down>20%"), Finding::kBroken);
  EXPECT_EQ(found(40, "success-after<50%"), Finding::kHolds);
}

// 20 workers do 200/s. A client's own limit lets 120/s through, and 10 connections of 100 ms each 100/s.
TEST(JudgedRuns, KnowWhatTheClientsLetThrough) {
  NamedOptions options = test::given(
      "arrivals=open, service=workers, workers=20, service-time=100ms, client-rate=120/s");
  const auto scenario = [&options](const std::string& rate) {
    options["rate"] = rate;
    return make_scenario(scenario_of(options), 1);
  };
  EXPECT_FALSE(held_back(scenario("119")));
  EXPECT_EQ(test::facts({*held_back(scenario("300"))}),
            "claim-held-back(load=300, through=120, option=--client-rate)");
  const Expectation claim = claim_of("down<50%");
  const auto runs = judge_runs(Evaluator(2), scenario("300"), 1, 10, {claim}).value();
  EXPECT_EQ(runs.judgements[0].finding, Finding::kUndecided);
  EXPECT_TRUE(says(details_of(claim, runs.judgements[0]), "claim-held-back"));
  options.erase("client-rate");
  options["connections"] = "keep-alive";
  options["pool-size"] = "10";
  EXPECT_EQ(test::facts({*held_back(scenario("300"))}),
            "claim-held-back(load=300, through=100, option=--pool-size)");
}

TEST(JudgedRuns, SayThatAnotherClaimEndedThem) {
  const JudgedRuns runs = judged({"down>50%", "recovered"}, 1000);
  ASSERT_LT(runs.runs.size(), 1000);
  EXPECT_EQ(runs.judgements[0].finding, Finding::kBroken);
  EXPECT_TRUE(runs.judgements[1].stopped);
  EXPECT_TRUE(says(details_of(claim_of("recovered"), runs.judgements[1]), "claim-stopped"));
}

TEST(JudgedRuns, AreTheSameWithAnyNumberOfThreads) {
  const std::vector<std::string> claims{"down<10%", "success>10%", "ok-lost<1m"};
  const JudgedRuns one = judged(claims, 200, 10, 1), three = judged(claims, 200, 10, 3);
  ASSERT_EQ(one.runs.size(), three.runs.size());
  for (std::size_t i = 0; i < claims.size(); ++i) {
    EXPECT_EQ(one.judgements[i].finding, three.judgements[i].finding);
    EXPECT_EQ(one.judgements[i].value, three.judgements[i].value);
    EXPECT_EQ(one.judgements[i].low, three.judgements[i].low);
  }
}

// What stands above a column can be claimed. The ends of an interval are no claims of their own.
TEST(Claims, MayHaveTheHeadsOfTables) {
  for (const auto head :
       split("success in it,load,back after,down,errors gone,gone p90,recovery,rec. p90,"
             "amplif.,OK lost,peak conc.,success,given up,not sent,req. p50,req. p99,"
             "success before,given up during,not sent after,attempts/s before,OK/s during,"
             "timed out after,errors before,req. p50 during,req. p99 after",
             ',')) {
    EXPECT_NO_THROW(parse_expectation(std::string(head) + "<1", cell_figures({}))) << head;
  }
  EXPECT_EQ(parse_expectation("success in it>99%", cell_figures({})).figure, "success_during");
  EXPECT_EQ(parse_expectation("load<2", cell_figures({})).figure, "amplification");
  EXPECT_EQ(parse_expectation("req. p99 after<1s", cell_figures({})).figure,
            "request_p99_after_ms");
}

}  // namespace
}  // namespace retrystorm
