#include "study/library.h"
#include "study/sweep.h"
#include "tests/support/refusal.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

// The value of `name` in the cell of these values.
std::string in_cell(const std::string& name, const NamedOptions& given, std::vector<Axis> axes,
                    const std::vector<std::string>& values) {
  ScenarioOptions scenario = cell_options(given, Grid(std::move(axes)), values);
  OptionList list;
  declare_options(list, scenario);
  return list.find(name)->get();
}

TEST(CellOptions, AreTheGivenOptionsWithTheValuesOfTheAxes) {
  EXPECT_EQ(in_cell("backlog", {{"backlog", "5"}}, {{"clients", {"7"}}}, {"7"}), "5");
  EXPECT_EQ(in_cell("clients", {{"clients", "5"}}, {{"clients", {"7"}}}, {"7"}), "7");
}

// Given options overrule a strategy, also a swept one, by any of their names.
TEST(CellOptions, AreAppliedInTheOrderOfTheirDeclaration) {
  const NamedOptions given{{"backoff-base", "3s"}};
  EXPECT_EQ(in_cell("backoff-base", given, {{"strategy", {"polly"}}}, {"polly"}), "3s");
  const std::vector<Axis> both{{"max-delay", {"9s"}}, {"strategy", {"exponential"}}};
  EXPECT_EQ(in_cell("backoff-cap", {}, both, {"9s", "exponential"}), "9s");
}

TEST(CellOptions, OverruleOptionsGivenInAnotherForm) {
  EXPECT_EQ(in_cell("jitter", {{"jitter", "full"}}, {{"random", {"1s"}}}, {"1s"}), "additive:1s");
  EXPECT_EQ(in_cell("jitter", {{"random", "1s"}}, {{"jitter", {"full"}}}, {"full"}), "full");
  EXPECT_THROW(in_cell("jitter", {}, {{"jitter", {"full"}}, {"random", {"1s"}}}, {"full", "1s"}),
               std::invalid_argument);
}

TEST(CellOptions, AreAddedToAnOptionThatIsGivenSeveralTimes) {
  EXPECT_EQ(in_cell("at", {{"at", "60s restart"}}, {{"at", {"70s load 0.5"}}}, {"70s load 0.5"}),
            "1m0s restart; 1m10s load 0.5");
}

// Its load and service are not a policy. What was given holds instead, but what is the same is not named.
TEST(Overruled, NamesWhatAFileSetsBesidesAPolicy) {
  const std::vector<ListedStrategy> listed{
      {.name = "fixed"},
      {.name = "mine.ini",
       .settings = NamedOptions{{"max-attempts", "3"}, {"rate", "190"}, {"timeout", "1s"}}},
      {.name = "pol.ini", .settings = NamedOptions{{"jitter", "full"}}}};
  const Statement overriding{"overriding",
                             {{"whose", "every strategy"}, {"list", "max-attempts=5"}}},
      both{"file-brings", {{"list", "mine.ini has rate=190, timeout=1s"}}},
      timeout{"file-brings", {{"list", "mine.ini has timeout=1s"}}},
      rate{"file-not-used", {{"list", "mine.ini has rate=190"}}};
  EXPECT_THAT(overruled({}, listed), ElementsAre(both));
  EXPECT_THAT(overruled({{"max-attempts", "5"}}, listed), ElementsAre(overriding, both));
  EXPECT_THAT(overruled({{"rate", "190"}}, listed), ElementsAre(timeout));
  EXPECT_THAT(overruled({{"rate", "5"}}, listed), ElementsAre(timeout, rate));
  EXPECT_THAT(overruled({{"rate", "5"}, {"timeout", "1s"}}, listed), ElementsAre(rate));
}

TEST(CheckValues, NamesTheAxisAndTheErrorInTheValue) {
  EXPECT_THAT(test::refusal_of([] {
                check_values({}, Grid({{"clients", {"5", "none"}}}));
              }),
              StartsWith("--sweep clients: 'none'"));
}

// 100 is the default of --rate, and 20 of --workers: these values alone are not reported as unused.
TEST(RefuseUnused, RefusesOptionsWithoutEffectThatHaveTheDefault) {
  const auto refused = [](const NamedOptions& given, const std::vector<Axis>& axes,
                          const std::vector<std::string>& typed = {}) {
    const Grid grid(axes);
    std::vector<std::string> named = grid.names();
    named.insert(named.end(), typed.begin(), typed.end());
    return test::refusal_of<NoEffect>([&] {
      refuse_unused(
          static_cast<std::size_t>(grid.size()),
          [&](std::size_t cell) { return cell_options(given, grid, grid.values(cell)); }, named);
    });
  };
  const Axis rate{"rate", {"60", "100"}}, workers{"workers", {"10", "20", "30"}};
  const Axis outage{"outage-for", {"5s", "10s"}};
  const NamedOptions closed{{"arrivals", "closed"}, {"service", "curve"}};
  EXPECT_EQ(refused(closed, {rate}), "rate has no effect without --arrivals=open");
  EXPECT_THAT(refused(closed, {outage, rate}), StartsWith("rate has no effect"));
  EXPECT_THAT(refused(closed, {{"rate", {"100", "60"}}}), StartsWith("rate has no effect"));
  EXPECT_THAT(refused(closed, {workers}), StartsWith("workers has no effect"));
  // What they imply is enough.
  EXPECT_EQ(refused({}, {rate}), "");
  EXPECT_EQ(refused({}, {workers}), "");
  EXPECT_THAT(refused({}, {{"streams", {"100", "250"}}}), StartsWith("streams has no effect"));
  EXPECT_EQ(refused({{"arrivals", "open"}}, {outage, rate}), "");
  EXPECT_EQ(refused({}, {{"service", {"curve", "workers"}}, workers}), "");
  EXPECT_EQ(refused({}, {{"strategy", {"fixed", "exponential"}}, outage}), "");
  EXPECT_EQ(refused({{"service", "curve"}, {"workers", "20"}}, {outage}, {"workers"}),
            "workers has no effect without --service=workers");
  EXPECT_EQ(refused({{"workers", "20"}}, {{"service", {"curve", "workers"}}}, {"workers"}), "");
  EXPECT_EQ(refused({{"workers", "20"}}, {outage}), "");  // of a settings file
}

// While half of all attempts fail, each of 100 requests/s is retried once: 150 attempts/s, and 3/4 succeed.
TEST(Library, RunsAScenarioAndReadsItsFigures) {
  const NamedOptions options{{"rate", "100"},          {"workers", "1000"}, {"max-retries", "1"},
                             {"outage", "errors:0.5"}, {"outage-at", "5s"}, {"outage-for", "300s"},
                             {"observe", "15s"}};
  const CellResult result = run_scenario(options, 30, 7);
  EXPECT_EQ(result.runs, 30);
  EXPECT_NEAR(figure(result, "attempts_per_s_during").get<double>(), 150, 1);
  EXPECT_NEAR(figure(result, "success_during").get<double>(), 0.75, 0.005);
  EXPECT_TRUE(figure(result, "makespan_median_s").is_null());
  EXPECT_EQ(figure(run_scenario(options, 30, 7, 1), "success_during"),
            figure(result, "success_during"));
}

TEST(Library, SaysWhatItCannotRun) {
  EXPECT_THROW(run_scenario({{"no-such-option", "1"}}), std::invalid_argument);
  EXPECT_THROW(run_scenario({{"rate", "-1"}}), std::invalid_argument);
  EXPECT_THROW(run_scenario({{"observe", "1s"}}), std::invalid_argument);
  EXPECT_THROW(run_scenario({}, 0), std::invalid_argument);
  EXPECT_THROW(figure({}, "nothing"), std::invalid_argument);
}

}  // namespace
}  // namespace retrystorm
