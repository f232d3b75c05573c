#include "model/base/random.h"
#include "model/retry/gates.h"
#include "tests/support/retry_parts.h"
#include "tests/support/scripted_random.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

using test::kOk;
using test::kStart;
using test::kThrottled;
using test::settings_of;

class ThrottleTest : public ::testing::Test {
 protected:
  void make(std::string_view settings) {
    throttle_.emplace(settings_of<ThrottleSettings>(settings), kStart);
  }
  void ask(int times, TimePoint now = kStart) {
    // The greatest number below 1: refused only if the probability is 1.
    test::SameRandom random(1 - 0x1p-53);
    for (int i = 0; i < times; ++i) {
      EXPECT_EQ(throttle_->ask(now, random).kind, Permission::Kind::kSend);
    }
  }
  void end(int times, const AttemptResult& result, TimePoint now = kStart) {
    for (int i = 0; i < times; ++i) throttle_->attempt_ended(now, result);
  }
  double probability(TimePoint now = kStart) { return throttle_->probability(now); }

  std::optional<Throttle> throttle_;
};

TEST_F(ThrottleTest, RefusesByTheBooksFormula) {
  struct Row {
    int requests;
    int accepts;
    double probability;
  };
  for (const Row& row :
       {Row{100, 50, 0}, Row{100, 25, 50.0 / 101}, Row{9, 0, 0.9}, Row{1000, 100, 800.0 / 1001}}) {
    make("throttle = sre");
    ask(row.requests);
    end(row.accepts, kOk);
    EXPECT_DOUBLE_EQ(probability(), row.probability) << row.requests;
  }
}

TEST_F(ThrottleTest, RefusesBelowThatProbabilityAndCountsTheRefused) {
  make("throttle = sre");
  ask(9);
  ScriptedRandom random{0.899, 0.91};  // 9 of 10, then 10 of 11
  EXPECT_EQ(throttle_->ask(kStart, random).kind, Permission::Kind::kRefused);
  EXPECT_EQ(throttle_->ask(kStart, random).kind, Permission::Kind::kSend);
  EXPECT_DOUBLE_EQ(probability(), 11.0 / 12);
}

TEST_F(ThrottleTest, DrawsNothingWhileNothingFails) {
  make("throttle = sre");
  ScriptedRandom none{};
  for (int i = 0; i < 10; ++i) {
    EXPECT_EQ(throttle_->ask(kStart, none).kind, Permission::Kind::kSend);
    end(1, kOk);
  }
}

TEST_F(ThrottleTest, CountsErrorsOfTheApplicationAsAccepted) {
  const auto after = [&](const AttemptResult& result) {
    make("throttle = sre");
    ask(4);
    end(2, result);
    return probability();
  };
  EXPECT_EQ(after(kOk), 0);
  EXPECT_EQ(after(answered(500, std::nullopt, 1ms)), 0);
  EXPECT_EQ(after(answered(404, std::nullopt, 1ms)), 0);
  EXPECT_EQ(after(kThrottled), 0.8);
  EXPECT_EQ(after(answered(503, std::nullopt, 1ms)), 0.8);
  EXPECT_EQ(after(timed_out(2s)), 0.8);
  EXPECT_EQ(after(not_connected(1ms)), 0.8);
}

TEST_F(ThrottleTest, UncountsAttemptsThatAnotherGateRefused) {
  make("throttle = sre");
  ask(9);
  ask(1);
  throttle_->take_back(kStart);
  EXPECT_EQ(probability(), 0.9);
}

TEST_F(ThrottleTest, ForgetsAfterTwoMinutes) {
  make("throttle = sre");
  ask(9);
  EXPECT_EQ(probability(kStart + 2min - 1ns), 0.9);
  EXPECT_EQ(probability(kStart + 2min), 0);
}

TEST_F(ThrottleTest, OfGrpcSeesAnswersAndRefusals) {
  make("throttle = grpc");
  ask(1000);
  EXPECT_EQ(probability(), 0) << "attempts that are under way do not count";
  end(10, kOk);
  end(30, kThrottled);
  EXPECT_DOUBLE_EQ(probability(), 20.0 / 48);
  ScriptedRandom random{0.416};
  EXPECT_EQ(throttle_->ask(kStart, random).kind, Permission::Kind::kRefused);
  EXPECT_DOUBLE_EQ(probability(), 21.0 / 49);
  EXPECT_EQ(probability(kStart + 30s), 0);
}

// While nothing is answered, request n + 1 is sent with a probability of 1 / (n + 1). So of n requests
// 1 + 1/2 + 1/3 + ... are sent, ln n + 0.577: for n = 1000, 7.5. The variance of that number is less
// than its mean. The mean of 200 seeds has a standard deviation of 0.19 at most: five of these are 1.
TEST_F(ThrottleTest, ProbesLessAndLessOften) {
  double sent = 0;
  constexpr int kSeeds = 200;
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    make("throttle = sre");
    ClientRandom random(seed, 0);
    for (int i = 0; i < 1000; ++i) {
      if (throttle_->ask(kStart, random).kind == Permission::Kind::kSend) ++sent;
    }
  }
  EXPECT_NEAR(sent / kSeeds, 7.485, 1);
}

TEST(ThrottleSettings, RefuseANumberThatHasNoEffect) {
  EXPECT_THROW(settings_of<ThrottleSettings>("throttle-ratio = 3"), std::invalid_argument);
  EXPECT_THROW(settings_of<ThrottleSettings>("throttle = sre\nthrottle-window = 0s"),
               std::invalid_argument);
  EXPECT_THROW(settings_of<ThrottleSettings>("throttle = sre\nthrottle-ratio = nan"),
               std::invalid_argument);
}

}  // namespace
}  // namespace retrystorm
