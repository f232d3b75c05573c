#include "common/output/expectation.h"

#include "common/output/json_lines.h"
#include "tests/support/facts.h"
#include "tests/support/refusal.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

Expectation claim(const std::string& text) {
  Figures known = run_figures(any_summary());
  known["down_low"] = 0;
  known["down_high"] = 1;
  known["request_p99_ms"] = nullptr;
  known["ok_per_s"] = nullptr;
  return parse_expectation(text, known);
}

Finding found(const std::string& text, const Figures& figures) {
  return judge(claim(text), figures).finding;
}

// Clients without a timeout wait for a service that hangs. Nothing has failed, and nothing is known.
TEST(RunFigures, TakeNobodyWhoHangsForServed) {
  Summary summary;
  summary.counts.requests = summary.counts.attempts = 50;
  for (int i = 0; i < 50; ++i) summary.latencies.add_unfinished(TimePoint{}, TimePoint{16s});
  summary.latencies.end(Duration::max(), summary.counts);
  const Figures hanging = run_figures(summary);
  EXPECT_EQ(hanging["success_share_low"], 0);
  EXPECT_EQ(found("success-share>=99%", hanging), Finding::kUndecided);
  EXPECT_EQ(found("success-share>=99%", run_figures(Summary())), Finding::kUndecided)
      << "no request";
}

TEST(Expectation, NamesAFigureWithoutItsUnitAndWithEitherDash) {
  for (const char* text : {"success-share>=99%", "success_share>=99%", "success >= 0.99"}) {
    const Expectation each = claim(text);
    EXPECT_EQ(each.figure, "success_share") << text;
    EXPECT_DOUBLE_EQ(each.bound, 0.99) << text;
  }
  EXPECT_EQ(claim("time-to-recovery<20s").bound, 20);
  EXPECT_EQ(claim("request-p99<200ms").bound, 200);
  EXPECT_EQ(claim("request-p99-ms<200").bound, 200);
  EXPECT_EQ(claim("latency-ms.p99<1s").figure, "latency_ms_p99");
  EXPECT_EQ(claim("latency-p99<1s").bound, 1000);
  EXPECT_EQ(claim("no-outage").verdict, Verdict::kNoOutage);
  EXPECT_EQ(claim("success-after>99%").figure, "success_after");
  EXPECT_DOUBLE_EQ(claim("success-after>99%").bound, 0.99);
}

TEST(Expectation, NamesAFigureAsTablesAndSummariesDo) {
  for (const auto& [text, figure] :
       {std::pair("given up<1", "gave_up"), std::pair("given-up<1", "gave_up"),
        std::pair("OK/s>90", "ok_per_s"), std::pair("ok/s after the outage>90", "ok_per_s_after"),
        std::pair("attempts/request<2", "amplification"),
        std::pair("retry-amplification<2", "amplification"), std::pair("OK lost<9", "ok_lost"),
        std::pair("success in the outage>1%", "success_during"),
        std::pair("success after it>1%", "success_after"), std::pair("down at the end<5%", "down"),
        std::pair("request p99<2s", "request_p99_ms")}) {
    EXPECT_EQ(claim(text).figure, figure) << text;
  }
}

TEST(Expectation, TakesNoRateForATime) {
  EXPECT_EQ(claim("OK/s>90").time_unit, 0);
  EXPECT_EQ(claim("ok_per_s>90").bound, 90);
}

TEST(Expectation, RefusesTextThatIsNotAClaim) {
  test::expect_refusals([](const std::string& text) { claim(text); },
                        {{"recoverd", "did you mean recovered?"},
                         {"donw<5%", "did you mean down?"},
                         {"donw<5%", "choose down, "},
                         {"down<5", "is a share: write 5%"},
                         {"errors<5%", "'5%' is a share, but errors is none"},
                         {"timed out<1 %", "timed out is none"},
                         {"given up<10%", "is none"},
                         {"ok-lost<5%", "is none"},
                         {"OK/s>90%", "is none"},
                         {"down<", "is not a number"},
                         {"time-to-recovery<500", "500s or 500ms?"},
                         {"", "is not known"}});
  // Only the figures with the nearest names.
  EXPECT_LT(test::refusal_of([] { claim("donw<5%"); }).size(), 200u);
}

TEST(Expectation, HoldsWhenTheBoundOfTheIntervalDoes) {
  const Figures figures{{"down", 0.02}, {"down_low", 0.01}, {"down_high", 0.05}};
  EXPECT_EQ(found("down<6%", figures), Finding::kHolds);
  EXPECT_EQ(found("down<=5%", figures), Finding::kHolds);
  EXPECT_EQ(found("down<5%", figures), Finding::kUndecided);
  EXPECT_EQ(found("down<1%", figures), Finding::kBroken);
  EXPECT_EQ(found("down<=1%", figures), Finding::kUndecided);
  EXPECT_EQ(found("down>0.9%", figures), Finding::kHolds);
  EXPECT_EQ(found("down>=1%", figures), Finding::kHolds);
  EXPECT_EQ(found("down>5%", figures), Finding::kBroken);
  EXPECT_EQ(found("down=2%", figures), Finding::kUndecided);
  EXPECT_EQ(found("down=6%", figures), Finding::kBroken);
}

TEST(Expectation, EndsTheIntervalOfAShareAtNoneAndAll) {
  const Figures few{
      {"success_during", 0.02}, {"success_during_low", -0.01}, {"success_during_high", 0.05}};
  EXPECT_EQ(judge(parse_expectation("success-during<50%", few), few).low, 0);
  EXPECT_THROW(parse_expectation("success-during>99", few), std::invalid_argument);
  const Figures most{
      {"success_share", 0.98}, {"success_share_low", 0.95}, {"success_share_high", 1.01}};
  EXPECT_EQ(judge(parse_expectation("success-share<50%", most), most).high, 1);
}

TEST(Expectation, CountsATimeWithoutEndAsTheLongest) {
  const Figures never{{"time_to_recovery_s", nullptr}};
  EXPECT_EQ(found("time-to-recovery<1h", never), Finding::kBroken);
  EXPECT_EQ(found("time-to-recovery>1h", never), Finding::kHolds);
  EXPECT_EQ(found("baseline-ok>1", {{"baseline_ok", nullptr}}), Finding::kUndecided);
}

TEST(Expectation, OfATimeThatMayBeMoreHoldsNoUpperBound) {
  const Figures open{{"request_p99_ms", 5000}, {"request_p99_ms_high", nullptr}};
  EXPECT_EQ(found("request-p99<4s", open), Finding::kBroken);
  EXPECT_EQ(found("request-p99<6s", open), Finding::kUndecided);
  EXPECT_EQ(found("request-p99>4s", open), Finding::kHolds);
  EXPECT_EQ(test::facts(details_of(claim("request-p99<6s"), judge(claim("request-p99<6s"), open))),
            "claim-value-interval(value=5s, low=5s, high=never)");
  const Figures known{{"request_p99_ms", 5000}, {"request_p99_ms_high", 5000}};
  EXPECT_EQ(found("request-p99<6s", known), Finding::kHolds);
}

TEST(Expectation, SaysThatASuccessOfTheCalmMayBeLate) {
  const Expectation before{
      .text = "success-before>99%", .verdict = {}, .figure = "success_before", .percent = true};
  EXPECT_EQ(test::facts(details_of(before, {.finding = Finding::kHolds, .value = 0.995})),
            "claim-value(value=0.995); claim-late");
}

// The names that it gives are those of claims.
TEST(Expectation, OfTheWholeRunNamesTheFigureAfterTheOutage) {
  const Figures figures{{"ok_per_s", 33.7},
                        {"ok_per_s_after", 1.6},
                        {"success_share", 0.286},
                        {"success_after", 0.0045},
                        {"request_p99_ms", 6420},
                        {"request_p99_after_ms", 5000},
                        {"errors", 7},
                        {"errors_after", nullptr}};
  const auto text = [&figures](const std::string& typed) {
    return test::facts(details_of(claim(typed), judge(claim(typed), figures)));
  };
  EXPECT_EQ(text("OK/s>30"),
            "claim-value-whole(value=33.7); claim-after(name=OK/s-after, value=1.6)");
  EXPECT_EQ(text("success>20%"),
            "claim-value-whole(value=0.286); claim-after(name=success-after, value=0.0045)");
  EXPECT_EQ(text("request-p99<1s"),
            "claim-value-whole(value=6.42s); claim-after(name=request-p99-after, value=5s)");
  EXPECT_EQ(text("OK/s-after>1"), "claim-value(value=1.6)");
  EXPECT_EQ(text("errors<9"), "claim-value(value=7)");  // without an outage
  EXPECT_EQ(claim("OK/s-after>1").figure, "ok_per_s_after");
  EXPECT_EQ(claim("success-after>1%").figure, "success_after");
  EXPECT_EQ(claim("request-p99-after<1s").figure, "request_p99_after_ms");
}

TEST(Expectation, OfAVerdictIsNotDecidedByARunWithoutOne) {
  EXPECT_EQ(judge(claim("recovered"), Verdict::kRecovered).finding, Finding::kHolds);
  EXPECT_EQ(judge(claim("recovered"), Verdict::kRelapsed).finding, Finding::kBroken);
  EXPECT_EQ(judge(claim("recovered"), Verdict::kNoOutage).finding, Finding::kUndecided);
  EXPECT_EQ(judge(claim("recovered"), Verdict::kUndecided).finding, Finding::kUndecided);
  EXPECT_EQ(judge(claim("collapsed"), Verdict::kCollapsed).finding, Finding::kHolds);
}

TEST(Expectation, MakesTheExitCodeOfTheWorst) {
  EXPECT_EQ(exit_code_of({}), 0);
  EXPECT_EQ(exit_code_of({Finding::kHolds}), 0);
  EXPECT_EQ(exit_code_of({Finding::kHolds, Finding::kUndecided}), 4);
  EXPECT_EQ(exit_code_of({Finding::kBroken, Finding::kUndecided}), 3);
}

// The interval of a mean shrinks with the root of the runs: half of it takes four times as many. That of a share p of
// the runs ends at b after z^2 b (1 - b) / (p - b)^2 runs (Wilson).
TEST(Expectation, SaysHowManyRunsWouldDecide) {
  const auto needed = [](const std::string& text, double value, double low, double high) {
    return runs_to_decide(claim(text), {.value = value, .low = low, .high = high, .runs = 100});
  };
  EXPECT_EQ(needed("success>5%", 0.07, 0.028, 0.13), 450);      // 100 * (.042 / .02)^2 = 441
  EXPECT_EQ(needed("down<5%", 0.03, 0.01, 0.072), 460);         // 3.8415 * .0475 / .0004 = 456
  EXPECT_EQ(needed("down<5%", 0.07, 0.028, 0.13), 460);         // the same
  EXPECT_EQ(needed("down<5%", 0.0, 0.0, 0.104), 101);           // 73 would do: more than were made
  EXPECT_EQ(needed("down<5%", 0.05, 0.01, 0.1), std::nullopt);  // at the bound
  EXPECT_EQ(runs_to_decide(claim("down<5%"), {.finding = Finding::kHolds, .value = 0.0}),
            std::nullopt);
  EXPECT_EQ(runs_to_decide(claim("down<5%"), {.why = "undecided"}), std::nullopt);
  EXPECT_TRUE(
      says(details_of(claim("down<5%"), {.value = 0.0, .low = 0.0, .high = 0.104, .runs = 100}),
           "claim-more-runs"));
}

// What is found of each claim, in JSON, and the exit code.
std::pair<std::vector<std::string>, int> judged(const std::vector<std::string>& texts,
                                                const Summary& summary) {
  std::vector<Expectation> claims;
  for (const std::string& each : texts) claims.push_back(claim(each));
  const test::TempDir dir;
  std::ostringstream out;
  JsonLines json(dir.file("json"));
  RunJudge judge(claims, out, json);
  judge.on_summary(summary);
  json.finish();
  std::vector<std::string> findings;
  for (const std::string& line : test::lines(test::read_file(dir.file("json")))) {
    findings.push_back(nlohmann::json::parse(line)["finding"]);
  }
  return {findings, judge.exit_code()};
}

using Judged = std::pair<std::vector<std::string>, int>;

TEST(RunJudge, JudgesOneRunAsItIs) {
  Summary summary{.elapsed = 10s};
  summary.recovery.verdict = Verdict::kCollapsed;
  EXPECT_EQ(judged({"down<5%", "elapsed<1m", "recovered"}, summary),
            Judged({"broken", "holds", "broken"}, kExitBroken));
}

// Of a run without an outage nobody says that it is down.
TEST(RunJudge, DoesNotTakeFewAnswersForAServiceThatIsUp) {
  Summary summary{.elapsed = 5s};
  summary.counts = {.ok = 49, .requests = 100, .attempts = 100};
  summary.counts.gave_up_by[0] = 51;
  EXPECT_EQ(judged({"down<5%", "success<60%"}, summary),
            Judged({"not decided", "holds"}, kExitUndecided));
  summary.counts.ok = 51;
  summary.counts.gave_up_by[0] = 49;
  EXPECT_EQ(judged({"down<5%", "success<60%"}, summary), Judged({"holds", "holds"}, kExitHolds));
}

// 68 of 2,000 calls are 3.4 %: what becomes of the others is not known.
TEST(RunJudge, DoesNotKnowTheSuccessOfAJobThatIsNotDone) {
  Summary summary{.elapsed = 5s};
  summary.counts = {.ok = 68, .requests = 70, .attempts = 70};
  summary.job = JobResult{.settings = {.tasks = 20, .calls = 100}, .done = 68};
  EXPECT_EQ(judged({"success>99%", "success>3%"}, summary),
            Judged({"not decided", "holds"}, kExitUndecided));
}

TEST(RunJudge, DoesNotKnowWhetherARunThatIsRecoveringComesBack) {
  Summary summary{.elapsed = 10s};
  summary.recovery.verdict = Verdict::kRecovering;
  EXPECT_EQ(judged({"down<5%", "down>5%"}, summary),
            Judged({"not decided", "not decided"}, kExitUndecided));
}

}  // namespace
}  // namespace retrystorm
