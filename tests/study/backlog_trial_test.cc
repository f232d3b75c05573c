#include "study/backlog_trial.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <utility>

namespace retrystorm {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

// A service that is down in all runs, or in none, as `down` says.
class BacklogTrialTest : public testing::Test {
 protected:
  std::optional<BacklogTrial> try_with(const TriedBacklog& asked,
                                       const std::function<bool(std::size_t)>& down) {
    return try_backlogs(asked, 60, [&](std::size_t backlog, std::size_t runs) {
      asked_for_.emplace_back(backlog, runs);
      return std::optional(
          TriedBacklog{.backlog = backlog, .down = down(backlog) ? runs : 0, .runs = runs});
    });
  }

  std::vector<std::pair<std::size_t, std::size_t>> asked_for_;
};

TEST_F(BacklogTrialTest, SaysThatItMakesNoDifference) {
  const auto up = try_with({256, 0, 100}, [](std::size_t) { return false; });
  EXPECT_THAT(asked_for_, ElementsAre(Pair(511, 60), Pair(4096, 60), Pair(128, 60)));
  EXPECT_EQ(backlog_trial_text(*up), "backlog: 0 of 60 runs down at 128, 511 and 4096");
  asked_for_.clear();
  const auto down = try_with({256, 90, 100}, [](std::size_t) { return true; });
  EXPECT_THAT(asked_for_, ElementsAre(Pair(128, 60), Pair(511, 60), Pair(4096, 60)));
  EXPECT_EQ(backlog_trial_text(*down), "backlog: 60 of 60 runs down at 128, 511 and 4096");
  EXPECT_EQ(other_backlog_text({.backlog = 256, .down = 60, .runs = 60}, *down), "");
}

// All come back, but with the largest queue half of the requests after the outage fail.
TEST_F(BacklogTrialTest, SaysWhatComingBackCosts) {
  const auto trial = try_backlogs({256, 0, 60}, 60, [](std::size_t backlog, std::size_t runs) {
    return std::optional(
        TriedBacklog{.backlog = backlog, .runs = runs, .success = backlog == 4096 ? 0.48 : 1});
  });
  EXPECT_EQ(
      backlog_trial_text(*trial),
      "backlog: 0 of 60 runs down at 128, 511 and 4096; after the outage 100 % succeed at 511 "
      "and 48 % at 4096: ask what your server listens with (nginx and Node.js 511, Go 4096, "
      "Tomcat 100, or 8,292 if it hangs but still accepts)");
}

// From 256 to 511 there are 16 steps of a factor of 1.044: 291 comes back, 304 does not.
TEST_F(BacklogTrialTest, FindsTheEdgeAboveTheGivenBacklog) {
  const auto trial = try_with({256, 2, 100}, [](std::size_t backlog) { return backlog >= 300; });
  EXPECT_THAT(asked_for_, ElementsAre(Pair(511, 60), Pair(362, 15), Pair(304, 15), Pair(279, 15),
                                      Pair(291, 15)));
  EXPECT_EQ(
      backlog_trial_text(*trial),
      "backlog: comes back below about 300, not above (2 of 100 down at 256; 60 of 60 down "
      "at 511): ask what your server listens with (nginx and Node.js 511, Go 4096, Tomcat 100, or "
      "8,292 if it hangs but still accepts)");
  EXPECT_EQ(other_backlog_text({256, 2, 100}, *trial), "60 of 60 runs with --backlog=511");
}

TEST_F(BacklogTrialTest, FindsTheEdgeBeyondTheFirstOne) {
  const auto trial = try_with({256, 2, 100}, [](std::size_t backlog) { return backlog >= 1000; });
  EXPECT_EQ(trial->edge->below, (TriedBacklog{511, 0, 60}));
  EXPECT_EQ(trial->edge->above, (TriedBacklog{4096, 60, 60}));
  EXPECT_NEAR(static_cast<double>(trial->edge->about), 1000, 70) << "half a step of 13.9 %";
  EXPECT_LE(asked_for_.size(), 2 + 4);
}

TEST_F(BacklogTrialTest, FindsTheEdgeBelowTheGivenBacklog) {
  const auto trial = try_with({256, 60, 60}, [](std::size_t backlog) { return backlog >= 200; });
  EXPECT_EQ(trial->edge->below, (TriedBacklog{128, 0, 60}));
  EXPECT_EQ(trial->edge->above, (TriedBacklog{256, 60, 60}));
  EXPECT_NEAR(static_cast<double>(trial->edge->about), 200, 5);
}

TEST_F(BacklogTrialTest, FindsTheEdgeOfAServiceThatComesBackWithMore) {
  const auto trial = try_with({256, 60, 60}, [](std::size_t backlog) { return backlog < 400; });
  EXPECT_EQ(
      backlog_trial_text(*trial),
      "backlog: comes back above about 400, not below (60 of 60 down at 256; 0 of 60 down "
      "at 511): ask what your server listens with (nginx and Node.js 511, Go 4096, Tomcat 100, or "
      "8,292 if it hangs but still accepts)");
}

TEST(BacklogTrial, HasNoResultWhenItWasStopped) {
  for (const std::size_t until : {0, 1, 2}) {
    std::size_t calls = 0;
    EXPECT_FALSE(
        try_backlogs({256, 0, 60}, 60,
                     [&](std::size_t backlog, std::size_t runs) -> std::optional<TriedBacklog> {
                       if (calls++ == until) return std::nullopt;
                       return TriedBacklog{.backlog = backlog, .down = runs, .runs = runs};
                     }));
  }
}

TEST(BacklogTrial, SaysHowManyWereDownIfTheNumbersDiffer) {
  EXPECT_EQ(backlog_trial_text({.usual = {{128, 0, 60}, {511, 1, 60}, {4096, 0, 60}}}),
            "backlog: 0 of 60 runs down at 128, 1 of 60 down at 511 and 0 of 60 down at 4096");
  EXPECT_EQ(backlog_trial_text({.usual = {{128, 0, 60}, {511, 0, 60}, {4096, 0, 60, 60}}}),
            "backlog: 0 of 60 runs down at 128, 0 of 60 down at 511 and 0 of 60 down at 4096 (60 "
            "still recovering)");
}

}  // namespace
}  // namespace retrystorm
