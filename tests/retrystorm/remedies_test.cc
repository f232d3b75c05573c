// The numbers of the usual remedies, by hand from the rules of docs/remedies.md.
#include "retrystorm/remedies.h"

#include "study/named_options.h"
#include "tests/support/given.h"
#include "tests/support/refusal.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

using ::testing::IsSupersetOf;

std::vector<UsualRemedy> remedies_of(const NamedOptions& options) {
  return usual_remedies({scenario_of(options)});
}

std::vector<std::string> titles(const std::vector<UsualRemedy>& remedies) {
  std::vector<std::string> titles;
  for (const UsualRemedy& each : remedies) {
    if (each.left_out.empty()) titles.push_back(each.title);
  }
  return titles;
}

// The beginnings of titles, and why these are left out.
void expect_left_out(const std::vector<UsualRemedy>& remedies,
                     const std::vector<std::pair<std::string, std::string>>& rows) {
  expect_refusals(
      [&remedies](const std::string& begin) -> std::string {
        for (const UsualRemedy& each : remedies) {
          if (each.title.starts_with(begin)) return each.left_out;
        }
        return "no such remedy";
      },
      rows);
}

// 50 workers of 100 ms answer 500/s, 250 within half of a timeout of 1 s, 125 within a quarter of it. The load
// is 250/s, and a fifth of the way to 500/s is 300/s.
TEST(UsualRemedies, FollowFromTheServiceAndItsClients) {
  EXPECT_THAT(titles(remedies_of(
                  given("service=workers, workers=50, arrivals=open, rate=250, timeout=1s"))),
              IsSupersetOf({"rate limit of 300/s", "shed above 250", "restart and shed above 250",
                            "a queue of 130 places", "drop what has waited 0.5 s"}));
}

// 5 workers answer 50/s, 12.5 within half of a timeout of 500 ms, 6.25 within a quarter of it.
TEST(UsualRemedies, CountWholeRequests) {
  EXPECT_THAT(titles(remedies_of(
                  given("service=workers, workers=5, arrivals=open, rate=45, timeout=500ms"))),
              IsSupersetOf({"shed above 13", "a queue of 7 places"}));
}

// 500 workers of 4 s answer 125/s, which are 125 within half of 2 s: all of them may be busy all the same.
TEST(UsualRemedies, LeaveNoWorkerIdle) {
  EXPECT_THAT(titles(remedies_of(given("service=workers, workers=500, service-time=4s"))),
              Contains("shed above 500"));
}

// 20 workers of 100 ms answer 200/s.
TEST(UsualRemedies, AreLeftOutWithoutANumber) {
  const auto overloaded = remedies_of(given("service=workers, arrivals=open, rate=200"));
  expect_left_out(overloaded, {{"rate limit", "below the capacity"}});
  EXPECT_THAT(titles(overloaded), Contains("shed above 200"));
  const auto patient = remedies_of({{"service", "workers"}, {"timeout", "none"}});
  expect_left_out(patient, {{"drop what", "no timeout"}, {"shed above", "--timeout"}});
  EXPECT_THAT(titles(patient), Contains("rate limit of 120/s"));
}

TEST(UsualRemedies, MakeNoBoundLarger) {
  const auto bounded =
      remedies_of(given("service=workers, queue-length=50, shed-above=200, queue-drop=age:800ms"));
  expect_left_out(bounded, {{"a queue of 100", "has, 50"},
                            {"shed above 200", "has, 200"},
                            {"restart and shed", "has, 200"},
                            {"drop what has waited 1 s", "has, 0.8 s"}});
  EXPECT_THAT(titles(remedies_of({{"service", "workers"}, {"queue-length", "150"}})),
              Contains("a queue of 100 places"));
}

}  // namespace
}  // namespace retrystorm::test
