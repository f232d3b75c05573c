#include "common/output/answer.h"

#include "common/output/before_line.h"
#include "tests/support/test.h"
#include "words/words.h"

namespace retrystorm {
namespace {

RunCurve curve_of(const std::vector<double>& ok) {
  RunCurve curve;
  for (std::size_t i = 0; i < ok.size(); ++i) {
    curve.points.push_back({5s * static_cast<int>(i + 1), ok[i]});
  }
  return curve;
}

TEST(Strip, HasAMarkForEachWindow) {
  const Style style;
  EXPECT_EQ(strip_of(curve_of({0, 1, 50, 100, 114}), 100, 48, style).marks, "·▁▄▇█");
  EXPECT_EQ(strip_of(curve_of({0, 1, 50, 100, 114}), 100, 48, Style{.unicode = false}).marks,
            "._-##");
  EXPECT_EQ(strip_of(RunCurve(), 100, 48, style).marks, "");
}

TEST(Strip, JoinsWindowsWhereThereAreTooMany) {
  const Strip strip = strip_of(curve_of({100, 0, 100, 100}), 100, 2, Style());
  EXPECT_EQ(strip.marks, "▄▇");
  EXPECT_EQ(strip.mark, Duration(10s));
}

TEST(Strip, HasBracketsAroundAnOutage) {
  RunCurve curve = curve_of({100, 100, 0, 0, 100});
  curve.outages = {{10s, Duration(20s)}};
  EXPECT_EQ(strip_of(curve, 100, 48, Style()).marks, "▇▇[··]▇");
  curve.outages = {{11s, Duration(12s)}};  // in the mark that begins at 10 s
  EXPECT_EQ(strip_of(curve, 100, 48, Style()).marks, "▇▇[]··▇");
  curve.outages = {{0s, std::nullopt}};
  EXPECT_EQ(strip_of(curve, 100, 48, Style()).marks, "[▇▇··▇");
}

Summary summary_of(Verdict verdict) {
  Summary summary;
  summary.recovery.verdict = verdict;
  return summary;
}

TEST(RunAnswer, HasAnIdAndATone) {
  const RunAnswer down = answer_of(summary_of(Verdict::kCollapsed));
  EXPECT_EQ(down.headline.id, "answer-down");
  EXPECT_EQ(down.tone, Tone::kBad);
  Summary back = summary_of(Verdict::kRecovered);
  EXPECT_EQ(answer_of(back).headline.id, "answer-back-at-once-alone");
  EXPECT_EQ(answer_of(back).tone, Tone::kGood);
  back.recovery.time_to_recovery = 5s;
  EXPECT_EQ(answer_of(back).headline.id, "answer-back-alone");
  back.recovery.queue_wait = 3s;
  EXPECT_EQ(answer_of(back).tone, Tone::kDoubt);
  EXPECT_EQ(answer_of(summary_of(Verdict::kUndecided)).tone, Tone::kDoubt);
  EXPECT_EQ(answer_of(summary_of(Verdict::kRelapsed)).headline.id, "answer-relapsed");
}

// Green is earned: nine in ten requests are answered before the outage, in it and after it.
TEST(RunAnswer, IsGreenOnlyIfNearlyAllIsAnswered) {
  const auto look = [](double before, double during, double after) {
    RunAnswer answer{Tone::kGood, {"answer-back-at-once-alone", {}}};
    look_at_failures(answer, {before, during, after});
    EXPECT_EQ(answer.tone == Tone::kGood, answer.headline.id == "answer-back-at-once-alone");
    return std::string(answer.headline.id);
  };
  EXPECT_EQ(look(1, 0.9, 0.9), "answer-back-at-once-alone");
  EXPECT_EQ(look(1, 0.89, 1), "but-during");
  EXPECT_EQ(look(1, 0.59, 0.79), "but-after");
  EXPECT_EQ(look(0.87, 0.03, 0.86), "but-before");  // it failed as much before
  EXPECT_EQ(look(0.87, 0.03, 0.7), "but-after");
  RunAnswer without{Tone::kGood, {"answer-back-at-once-alone", {}}};
  look_at_failures(without, {});
  EXPECT_EQ(without.tone, Tone::kGood);
}

// A server that somebody has stopped by hand, and nothing was announced.
TEST(SeenInTheRates, AServerThatWasStoppedAndWoken) {
  const auto seen = seen_in(curve_of({48, 50, 25, 24, 49, 50}));
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->headline.id, "seen-back");
  EXPECT_EQ(seen->tone, Tone::kGood);
  EXPECT_EQ(std::get<std::string>(seen->headline.values[0].of), "0:10");
  EXPECT_EQ(std::get<std::string>(seen->headline.values[1].of), "0:20");
  EXPECT_NEAR(std::get<ShareOf>(seen->headline.values[2].of).share, 24 / 49.0, 1e-9);
}

// Until the end of the last fall.
TEST(SeenInTheRates, AServerThatFallsAgain) {
  const auto seen = seen_in(curve_of({48, 50, 25, 49, 50, 10, 49}));
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->headline.id, "seen-back");
  EXPECT_EQ(std::get<std::string>(seen->headline.values[0].of), "0:10");
  EXPECT_EQ(std::get<std::string>(seen->headline.values[1].of), "0:30");
}

TEST(SeenInTheRates, AServerThatStaysDown) {
  const auto seen = seen_in(curve_of({48, 50, 0, 0, 0}));
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->headline.id, "seen-down");
  EXPECT_EQ(seen->tone, Tone::kBad);
}

// A burst is over, and nothing is broken.
TEST(SeenInTheRates, AServerThatStaysLower) {
  const auto seen = seen_in(curve_of({69, 50, 50}));
  ASSERT_TRUE(seen);
  EXPECT_EQ(seen->headline.id, "seen-low");
  EXPECT_EQ(seen->tone, Tone::kDoubt);
}

// Of 455 in a window 409 may be chance: it is back at 0:15.
TEST(SeenInTheRates, AServerThatIsBackButForChance) {
  const auto seen = seen_in(curve_of({91, 53, 0, 81.8, 84.4, 89}));
  ASSERT_TRUE(seen);
  EXPECT_EQ(std::get<std::string>(seen->headline.values[1].of), "0:15");
}

// 2/s are 10 in a window: five are no surprise.
TEST(SeenInTheRates, NothingThatIsChance) {
  EXPECT_FALSE(seen_in(curve_of({2, 2, 1, 2, 2})));
  EXPECT_FALSE(seen_in(curve_of({50, 45, 52, 44, 50})));
  EXPECT_FALSE(seen_in(RunCurve()));
}

TEST(Fitted, IsNoWiderThanItsStyle) {
  const Style narrow{.width = 20};
  EXPECT_EQ(fitted("- ", "one two three four five six", narrow),
            "- one two three four\n  five six\n");
  // A long word has a line of its own.
  EXPECT_EQ(fitted("", "a abcdefghijklmnopqrstuvwxyz b", narrow),
            "a\nabcdefghijklmnopqrstuvwxyz\nb\n");
}

TEST(Painted, HasColourOnlyWhereTheStyleHas) {
  EXPECT_EQ(painted("x", Tone::kGood, Style()), "x");
  EXPECT_EQ(painted("x", Tone::kGood, Style{.color = true}), "\033[32mx\033[0m");
  EXPECT_EQ(painted("x", Tone::kPlain, Style{.color = true}), "x");
  EXPECT_EQ(sign_of(Tone::kBad, Style{.unicode = false}), "[down]");
}

// What is said before a run.

Outlook look(Capacity capacity, const char* outage) {
  OutlookInput input;
  input.service = ServiceOptions{.max_connections = 20'000};
  input.service->capacity = capacity;
  input.outage = parse_disturbance(outage, Engine::kSimulated);
  input.outage_for = 20s;
  return look_ahead(input);
}

TEST(BeforeLine, HasWordsForEachFigureThatIsExplained) {
  for (const Capacity capacity : {Capacity::kCurve, Capacity::kWorkers}) {
    for (const char* outage : {"freeze", "slow:3", "reconnect"}) {
      const Outlook outlook = look(capacity, outage);
      for (const OutlookFigure& each : outlook_figures(outlook)) {
        if (each.shown == OutlookFigure::Shown::kJson) continue;
        EXPECT_NE(words_of(each.id), each.id);
      }
      const auto lines = figure_lines(outlook);
      EXPECT_LE(lines.size(), 16u);
      std::set<std::string> labels;
      for (const auto& [label, figure] : lines) EXPECT_TRUE(labels.insert(label).second) << label;
    }
  }
}

TEST(BeforeLine, NamesTheRetriesAndWhatIsTrueOfTheirBudget) {
  OutlookInput input = look(Capacity::kCurve, "freeze").input;
  input.workload.retry.limit.max_retries = 2;
  using Kind = BudgetSettings::Kind;
  for (const Kind kind : {Kind::kNone, Kind::kTokens}) {
    input.workload.retry.process.budget.kind = kind;
    for (const Arrivals arrivals : {Arrivals::kClosed, Arrivals::kOpen}) {
      input.workload.arrivals = arrivals;
      const std::string line = before_line(look_ahead(input), "RETRIES");
      EXPECT_NE(line.find("RETRIES"), line.npos);
      EXPECT_EQ(line.find(words_of("before-budget")) == line.npos, kind == Kind::kNone);
    }
  }
}

TEST(BeforeLine, SaysEachWarningOnce) {
  std::ostringstream out;
  const Statement warning{"no-capacity-left", {{"load", 900.0}, {"capacity", 800.0}}};
  print_before(out, "", {warning, warning}, Style());
  const std::string text = out.str();
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 1) << text;
}

// A line a figure, and what was assumed.
TEST(BeforeLine, PrintsFiguresInLines) {
  std::ostringstream out;
  const Outlook outlook = look(Capacity::kCurve, "freeze");
  print_figures(out, {{"", outlook}}, "--timeout=2s", Style());
  const std::string text = out.str();
  EXPECT_EQ(split(text, '\n').size(), figure_lines(outlook).size() + 2) << text;
  EXPECT_NE(text.find("1,247/s"), text.npos) << text;
}

}  // namespace
}  // namespace retrystorm
