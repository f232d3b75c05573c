#include "tests/validation/validation.h"

#include "tests/support/test.h"
#include "tests/validation/observed_run.h"

namespace retrystorm::validation {
namespace {

constexpr auto kLess = Case::Relation::kLess;

// Student's t for nine degrees of freedom is 2.262.
const std::vector<double> kTen{1, 2, 3, 4, 5, 6, 7, 8, 9, 10};  // 5.5 +- 2.166

std::vector<double> ten_around(double middle, double step) {
  std::vector<double> values;
  for (const double each : kTen) values.push_back(middle + step * (each - 5.5));
  return values;
}

TEST(Judge, TakesTheMeanAndItsInterval) {
  const Finding finding = judge({.expected = 5}, kTen);
  EXPECT_DOUBLE_EQ(finding.measured, 5.5);
  EXPECT_NEAR(finding.half_width, 2.166, 1e-3);
}

TEST(Judge, AllowsTwiceTheInterval) {
  const auto values = ten_around(100, .1);  // +- .2166
  EXPECT_TRUE(judge({.expected = 100.43}, values).agrees);
  EXPECT_FALSE(judge({.expected = 100.44}, values).agrees);
  EXPECT_TRUE(judge({.expected = 99.57}, values).agrees);
  EXPECT_FALSE(judge({.expected = 99.56}, values).agrees);
}

TEST(Judge, AllowsTheTolerance) {
  const std::vector<double> values(10, 99);
  EXPECT_FALSE(judge({.expected = 100}, values).agrees);
  EXPECT_TRUE(judge({.expected = 100, .tolerance = .01}, values).agrees);
  EXPECT_FALSE(judge({.expected = 100, .tolerance = .009}, values).agrees);
}

TEST(Judge, RefusesAWideInterval) {
  EXPECT_TRUE(judge({.expected = 100}, ten_around(100, 2)).agrees);   // +- 4.3
  EXPECT_FALSE(judge({.expected = 100}, ten_around(100, 3)).agrees);  // +- 6.5
  EXPECT_TRUE(judge({.expected = 100}, ten_around(100, 3)).undecided);
  // Off by more than twice 6.5: no seeds too few.
  EXPECT_FALSE(judge({.expected = 85}, ten_around(100, 3)).undecided);
  EXPECT_FALSE(judge({.expected = 100}, ten_around(100, 2)).undecided);
}

TEST(Judge, NeedsADifferenceOfTwiceTheInterval) {
  const auto values = ten_around(100, .1);
  EXPECT_TRUE(judge({.expected = 100.44, .relation = kLess}, values).agrees);
  EXPECT_FALSE(judge({.expected = 100.43, .relation = kLess}, values).agrees);
}

TEST(Judge, AgreesWithNothingIfNothingWasMeasured) {
  const std::vector<double> values(10, std::nan(""));
  EXPECT_FALSE(judge({.expected = 1}, values).agrees);
  EXPECT_FALSE(judge({.expected = 1, .relation = kLess}, values).agrees);
}

TEST(Validate, GivesEachRunItsOwnSeed) {
  const Case seeds{.row = 1, .what = "seed", .measure = [](std::uint64_t seed) {
                     return static_cast<double>(seed);
                   }};
  for (const std::size_t threads : {1, 3}) {
    const auto findings = validate({seeds, seeds}, 2, threads);
    ASSERT_EQ(findings.size(), 2);
    EXPECT_EQ(findings[0].measured, 101.5);  // of 101 and 102
    EXPECT_EQ(findings[1].measured, 201.5);
  }
}

TEST(Validate, PassesOnTheExceptionOfARun) {
  const Case broken{.measure = [](std::uint64_t) -> double { throw std::runtime_error("why"); }};
  EXPECT_THROW(validate({broken}, 10, 2), std::runtime_error);
}

TEST(Observe, RefusesOptionsThatHaveNoEffect) {
  EXPECT_THROW(observe({.options = {{"arrivals", "closed"}, {"rate", "5"}}}, 1),
               std::invalid_argument);
}

TEST(Observe, RecordsTheRequestedFigures) {
  using namespace std::chrono_literals;
  const ObservedRun run = observe({.options = {{"outage-at", "0s"},
                                               {"outage-for", "0s"},
                                               {"observe", "10s"},
                                               {"clients", "10"}},
                                   .interval = 5s,
                                   .service_interval = 2s,
                                   .traced = 3},
                                  1);
  EXPECT_EQ(run.intervals.size(), 2);
  EXPECT_EQ(run.service.size(), 5);
  EXPECT_EQ(run.requests.size(), 3);
  EXPECT_EQ(run.summary.elapsed, 10s);
}

TEST(Cells, HaveFiveDigitsOrAWholeNumber) {
  const Finding finding{{.row = 3, .what = "x", .expected = 1.234567}, 1.2345678, .00123, true};
  EXPECT_THAT(cells(finding), ElementsAre("3", "x", "1.2346", "1.2346", "0.0012", "yes"));
  const Finding large{
      {.row = 3, .what = "x", .expected = 1762345}, 1762344.9999999998, 1e-9, false};
  EXPECT_THAT(cells(large), ElementsAre("3", "x", "1762345", "1762345", "0", "no"));
  const Finding less{{.row = 3, .what = "x", .expected = .25, .relation = kLess}, 31600, 1133};
  EXPECT_THAT(cells(less), ElementsAre("3", "x", "<0.25", "31600", "1133", "no"));
}

TEST(Cells, AreALineOfCsv) {
  EXPECT_EQ(csv_line(kTitles), "row,case,expected,measured,±,agrees");
  const Finding finding{{.row = 3, .what = "x, \"y\"", .expected = 2}, 2, 0, true};
  EXPECT_EQ(csv_line(cells(finding)), "3,\"x, \"\"y\"\"\",2,2,0,yes");
}

// The measured values are checked by a test of the program, because that takes longer.
TEST(ValidationTable, StatesTheExpectedValues) {
  std::ifstream file(RETRYSTORM_DOCS "/validation.csv");
  std::string stated;
  ASSERT_TRUE(std::getline(file, stated));
  EXPECT_EQ(stated, csv_line(kTitles));
  for (const Case& each : cases()) {
    ASSERT_TRUE(std::getline(file, stated)) << "missing: " << each.what;
    const std::string expected = csv_line(cells(Finding{.held_against = each, .agrees = true}));
    // All columns but the measured value and its interval.
    const std::string start = expected.substr(0, expected.rfind(",0,0,yes") + 1);
    EXPECT_THAT(stated, testing::StartsWith(start)) << "run `scripts/validate --write`";
    EXPECT_THAT(stated, testing::EndsWith(",yes"));
  }
  EXPECT_FALSE(std::getline(file, stated)) << "too much: " << stated;
}

}  // namespace
}  // namespace retrystorm::validation
