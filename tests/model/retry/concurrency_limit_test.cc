#include "model/retry/gates.h"
#include "tests/support/retry_parts.h"
#include "tests/support/scripted_random.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

using test::kOk;
using test::kStart;
using test::settings_of;

class ConcurrencyLimitTest : public ::testing::Test {
 protected:
  void make(std::string_view settings) {
    limit_.emplace(settings_of<ConcurrencyLimitSettings>(settings));
  }
  bool sends() {
    ScriptedRandom none{};
    return limit_->ask(kStart, none).kind == Permission::Kind::kSend;
  }
  void send(int times) {
    for (int i = 0; i < times; ++i) ASSERT_TRUE(sends());
  }
  std::uint32_t end(const AttemptResult& result) {
    limit_->attempt_ended(kStart, result);
    return limit_->limit();
  }

  std::optional<ConcurrencyLimit> limit_;
};

TEST_F(ConcurrencyLimitTest, FixedRefusesAttemptsBeyondIt) {
  make("concurrency-limit = fixed:2");
  send(2);
  EXPECT_FALSE(sends());
  EXPECT_EQ(end(timed_out(10s)), 2u);
  EXPECT_TRUE(sends());
  EXPECT_FALSE(sends());
  limit_->take_back(kStart);
  EXPECT_TRUE(sends());
}

TEST_F(ConcurrencyLimitTest, AimdFallsByATenthWithEachDrop) {
  make("concurrency-limit = aimd:100");
  send(6);
  std::vector<std::uint32_t> limits;
  for (int i = 0; i < 6; ++i) limits.push_back(end(timed_out(2s)));
  EXPECT_THAT(limits, ::testing::ElementsAre(90, 81, 72, 64, 57, 51));
}

TEST_F(ConcurrencyLimitTest, AimdGrowsByOneWhileHalfOfItIsUsed) {
  make("concurrency-limit = aimd");
  send(11);
  EXPECT_EQ(end(kOk), 21u) << "11 of 20 in use";
  EXPECT_EQ(end(kOk), 21u) << "10 of 21";
  send(2);
  EXPECT_EQ(end(kOk), 22u) << "11 of 21";
  EXPECT_EQ(end(kOk), 22u);
}

TEST_F(ConcurrencyLimitTest, AimdStaysWithinItsBounds) {
  make("concurrency-limit = aimd:21\nlimit-max = 22");
  send(20);
  for (int i = 0; i < 5; ++i) end(kOk);
  EXPECT_EQ(limit_->limit(), 22u);
  for (int i = 0; i < 5; ++i) end(timed_out(2s));
  EXPECT_EQ(limit_->limit(), 20u);
}

TEST_F(ConcurrencyLimitTest, AimdCountsSlownessAndRefusalAsDropsButNotErrors) {
  make("concurrency-limit = aimd:100");
  send(100);
  EXPECT_EQ(end({.latency = 5s}), 101u);
  EXPECT_EQ(end({.latency = 5s + 1ns}), 90u);
  EXPECT_EQ(end(answered(429, std::nullopt, 1ms)), 81u);
  EXPECT_EQ(end(answered(503, std::nullopt, 1ms)), 72u);
  EXPECT_EQ(end(not_connected(1ms)), 64u);
  EXPECT_EQ(end(answered(500, std::nullopt, 10s)), 64u);
  EXPECT_EQ(end(answered(404, std::nullopt, 1ms)), 64u);
}

// A service that takes C requests at a time and drops any more, with endless clients. The limit moves
// between 0.9 (C + 1) and C + 1. Nothing is random.
TEST_F(ConcurrencyLimitTest, AimdFindsTheConcurrencyOfTheService) {
  make("concurrency-limit = aimd");
  constexpr std::uint32_t kCapacity = 100;
  std::uint32_t lowest = 1000;
  std::uint32_t highest = 0;
  std::uint32_t in_flight = 0;
  for (int i = 0; i < 100'000; ++i) {
    while (in_flight < kCapacity && sends()) ++in_flight;
    if (in_flight == kCapacity && sends()) {
      end(answered(503, std::nullopt, 1ms));  // one too many
    } else {
      --in_flight;
      end(kOk);
    }
    if (i < 10'000) continue;
    lowest = std::min(lowest, limit_->limit());
    highest = std::max(highest, limit_->limit());
  }
  EXPECT_EQ(highest, kCapacity + 1);
  EXPECT_EQ(lowest, 90u);
}

TEST(ConcurrencyLimitSettings, AreReadStrictly) {
  const auto refused = [](std::string_view settings) {
    EXPECT_THROW(settings_of<ConcurrencyLimitSettings>(settings), std::invalid_argument)
        << settings;
  };
  refused("concurrency-limit = fixed");
  refused("concurrency-limit = fixed:0");
  refused("concurrency-limit = fixed:");
  refused("concurrency-limit = fixed:1.5");
  refused("concurrency-limit = none:3");
  refused("concurrency-limit = aimd:10");
  refused("concurrency-limit = aimd\nlimit-min = 201");
  refused("concurrency-limit = fixed:5\nlimit-min = 3");
  refused("limit-slow = 3s");
  refused("concurrency-limit = vegas");
  const auto settings =
      settings_of<ConcurrencyLimitSettings>("limit-min = 5\nconcurrency-limit = aimd:10");
  EXPECT_EQ(settings.least, 5u);
  EXPECT_EQ(settings.start, 10u);
}

}  // namespace
}  // namespace retrystorm
