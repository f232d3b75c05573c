#include "model/retry/gates.h"
#include "model/retry/retry_policy.h"
#include "tests/support/retry_parts.h"
#include "tests/support/scripted_random.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

using test::kOk;
using test::kStart;
using test::kThrottled;
using test::settings_of;

ClientRate client_rate(std::string_view settings = "") {
  const std::string all = "client-rate = aws-adaptive\n" + std::string(settings);
  return ClientRate(settings_of<ClientRateSettings>(all), kStart);
}

Permission ask(ClientRate& rate, TimePoint now) {
  ScriptedRandom none{};
  return rate.ask(now, none);
}

bool sends(ClientRate& rate, TimePoint now) {
  return ask(rate, now).kind == Permission::Kind::kSend;
}

// Ten answers a second from 0.05 s to before `end`.
void answer_steadily(ClientRate& rate, Duration end) {
  for (Duration at = 50ms; at < end; at += 100ms) rate.attempt_ended(kStart + at, kOk);
}

// Ten answers a second, measured without smoothing; the one at 1.05 s is throttling.
ClientRate throttled_at_ten() {
  ClientRate rate = client_rate("rate-smoothing = 1");
  answer_steadily(rate, 1050ms);
  rate.attempt_ended(kStart + 1050ms, kThrottled);
  EXPECT_EQ(rate.measured(), 10);
  return rate;
}

TEST(ClientRate, MeasuresAnswersBySlots) {
  ClientRate rate = client_rate();
  answer_steadily(rate, 500ms);
  EXPECT_EQ(rate.measured(), 0);
  rate.attempt_ended(kStart + 550ms, kOk);
  EXPECT_DOUBLE_EQ(rate.measured(), 9.6);
  for (Duration at = 650ms; at < 1100ms; at += 100ms) rate.attempt_ended(kStart + at, kOk);
  EXPECT_DOUBLE_EQ(rate.measured(), 9.92);
  for (Duration at = 1150ms; at < 1600ms; at += 100ms) rate.attempt_ended(kStart + at, kOk);
  EXPECT_DOUBLE_EQ(rate.measured(), 9.984);
}

// The first slot begins at a whole second, whenever the process starts.
TEST(ClientRate, BeginsItsFirstSlotAtAWholeSecond) {
  ClientRate rate(settings_of<ClientRateSettings>("client-rate = aws-adaptive"), kStart + 900ms);
  rate.attempt_ended(kStart + 950ms, kOk);
  EXPECT_DOUBLE_EQ(rate.measured(), 0.8 * 1 / 0.5);
}

TEST(ClientRate, FollowsTheCubic) {
  const ClientRate rate = throttled_at_ten();
  const std::vector<double> golden{7,         9.648936,  10.000031, 10.453285,
                                   13.408697, 21.266268, 36.425999};
  for (std::size_t second = 0; second < golden.size(); ++second) {
    EXPECT_NEAR(rate.calculated(kStart + 1050ms + second * 1s), golden[second], 5e-7) << second;
  }
}

TEST(ClientRate, IsOffUntilItIsThrottled) {
  ClientRate rate = client_rate();
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(sends(rate, kStart));
  rate.attempt_ended(kStart, timed_out(2s));
  rate.attempt_ended(kStart, answered(500, std::nullopt, 1ms));
  rate.attempt_ended(kStart, not_connected(1ms));
  for (int i = 0; i < 1000; ++i) EXPECT_TRUE(sends(rate, kStart));
  rate.attempt_ended(kStart, kThrottled);
  EXPECT_EQ(ask(rate, kStart).kind, Permission::Kind::kWait);
}

TEST(ClientRate, CutsTheRateByThirtyPercentEachTime) {
  ClientRate rate = throttled_at_ten();
  EXPECT_DOUBLE_EQ(rate.fill_rate(), 7);
  rate.attempt_ended(kStart + 1060ms, kThrottled);
  EXPECT_DOUBLE_EQ(rate.fill_rate(), 4.9) << "from the lesser of measured and filled";
  for (int i = 0; i < 20; ++i) rate.attempt_ended(kStart + 1060ms, kThrottled);
  EXPECT_DOUBLE_EQ(rate.fill_rate(), 0.5) << "the least";
}

TEST(ClientRate, GrowsToTwiceTheMeasuredRate) {
  ClientRate rate = throttled_at_ten();
  // A single answer in the 6 s up to the slot that begins at 7 s.
  rate.attempt_ended(kStart + 7050ms, kOk);
  EXPECT_DOUBLE_EQ(rate.measured(), 1.0 / 6);
  EXPECT_DOUBLE_EQ(rate.fill_rate(), 0.5);
  for (int i = 0; i < 30; ++i) rate.attempt_ended(kStart + 7060ms, kOk);
  rate.attempt_ended(kStart + 7500ms, kOk);
  EXPECT_DOUBLE_EQ(rate.measured(), 62);
  EXPECT_NEAR(rate.fill_rate(), rate.calculated(kStart + 7500ms), 1e-9);
  rate.attempt_ended(kStart + 20s, kOk);
  EXPECT_DOUBLE_EQ(rate.fill_rate(), std::max(0.5, 2 * rate.measured()));
}

TEST(ClientRate, WaitsForAToken) {
  ClientRate rate = throttled_at_ten();
  // Filled at 1 a second up to the first answer and at 0.5, the least, up to the throttling: 0.05 +
  // 0.5 tokens. At 7 a second now.
  TimePoint now = kStart + 1050ms;
  const Permission first = ask(rate, now);
  EXPECT_EQ(first.kind, Permission::Kind::kWait);
  EXPECT_NEAR(to_seconds(first.wait), 0.45 / 7, 1e-8);
  EXPECT_FALSE(sends(rate, now + first.wait - 10ns));
  now += first.wait;
  EXPECT_TRUE(sends(rate, now));
  EXPECT_EQ(ask(rate, now).wait, ClientRate::kLook) << "of 1/7 s: it looks again before";
  now += ClientRate::kLook;
  EXPECT_NEAR(to_seconds(ask(rate, now).wait), 1.0 / 7 - 0.1, 1e-8);
  now += ask(rate, now).wait;
  EXPECT_TRUE(sends(rate, now));
  EXPECT_FALSE(sends(rate, now));
  rate.take_back(now);
  EXPECT_TRUE(sends(rate, now));
}

TEST(ClientRate, SavesNoMoreThanASecondOfTokens) {
  ClientRate rate = throttled_at_ten();
  int sent = 0;
  while (sends(rate, kStart + 1h)) ++sent;
  EXPECT_EQ(sent, 7);
}

// A token each 100 ms. Three ask at once, the first is sent and each other has the next token.
TEST(FixedRate, ReservesTokensInTurn) {
  FixedRate rate(10, kStart);
  ScriptedRandom none{};
  EXPECT_EQ(rate.ask(kStart, none).kind, Permission::Kind::kSend);
  for (const Duration wait : {100ms, 200ms}) {
    const Permission permission = rate.ask(kStart, none);
    EXPECT_EQ(permission.kind, Permission::Kind::kWait);
    EXPECT_EQ(permission.wait, wait);
    EXPECT_TRUE(permission.reserved);
  }
  rate.take_back(kStart);
  EXPECT_EQ(rate.ask(kStart, none).wait, 200ms) << "as the one before has given it back";
}

// The token that was due, and the one of the slack.
TEST(FixedRate, SavesHardlyAnyTokens) {
  FixedRate rate(10, kStart);
  ScriptedRandom none{};
  int sent = 0;
  while (rate.ask(kStart + 1h, none).kind == Permission::Kind::kSend) ++sent;
  EXPECT_EQ(sent, 2);
}

// Two requests of a process that may send one a second. The deadline of the third ends before its token.
TEST(FixedRate, LetsAttemptsWaitForTheirToken) {
  const RetryPolicy policy(
      settings_of<RetrySettings>("client-rate = 60/min\ndeadline = 1500ms\nmax-retries = 0"));
  const auto process = policy.make_process(kStart);
  ScriptedRandom none{};
  const auto ask = [&](TimePoint now, RetryState& state) {
    return policy.may_send(now, state, process.get(), none);
  };
  RetryState first, second, third, fourth;
  for (RetryState* each : {&first, &second, &third, &fourth}) policy.begin_request(*each, 0s);
  EXPECT_EQ(ask(kStart, first).kind, Permission::Kind::kSend);
  EXPECT_EQ(ask(kStart, second).wait, 1s);
  EXPECT_EQ(ask(kStart, third).wait, 1500ms) << "until the deadline, not 2 s";
  EXPECT_EQ(ask(kStart + 1s, second).kind, Permission::Kind::kSend);
  EXPECT_EQ(ask(kStart + 1500ms, third).kind, Permission::Kind::kTooLate);
  EXPECT_EQ(ask(kStart + 1500ms, fourth).wait, 500ms) << "the third has kept no token";
}

// A call whose caller gives up in 1.5 s, before its token is due after 2 s.
TEST(FixedRate, KeepsNoTokenForACallThatEndsBefore) {
  const RetryPolicy policy(settings_of<RetrySettings>("client-rate = 1/s\nmax-retries = 0"));
  const auto process = policy.make_process(kStart);
  ScriptedRandom none{};
  RetryState first, second, third, fourth;
  const auto ask = [&](RetryState& state, Duration ends_in) {
    policy.begin_request(state, 0s);
    return policy.may_send(kStart, state, process.get(), none, ends_in);
  };
  EXPECT_EQ(ask(first, Duration::max()).kind, Permission::Kind::kSend);
  EXPECT_EQ(ask(second, 1500ms).wait, 1s);
  EXPECT_EQ(ask(third, 1500ms).wait, 1500ms);
  EXPECT_EQ(ask(fourth, Duration::max()).wait, 2s) << "the third has kept no token";
}

TEST(ClientRateSettings, TakeARate) {
  const std::pair<const char*, double> cases[] = {{"10/s", 10}, {"600/min", 10}, {"0.5", 0.5}};
  for (const auto& [text, rate] : cases) {
    const auto settings = settings_of<ClientRateSettings>(std::string("client-rate = ") + text);
    EXPECT_EQ(settings.kind, ClientRateSettings::Kind::kFixed);
    EXPECT_DOUBLE_EQ(settings.rate, rate);
  }
  for (const char* text : {"0", "-1/s", "10/d", "fast", ""}) {
    EXPECT_THROW(settings_of<ClientRateSettings>(std::string("client-rate = ") + text),
                 std::invalid_argument)
        << text;
  }
}

TEST(ClientRateSettings, RefuseANumberThatHasNoEffect) {
  EXPECT_THROW(settings_of<ClientRateSettings>("client-rate = 10/s\nrate-min = 3"),
               std::invalid_argument);
  EXPECT_THROW(settings_of<ClientRateSettings>("rate-min = 3"), std::invalid_argument);
  EXPECT_THROW(settings_of<ClientRateSettings>("client-rate = aws-adaptive\nrate-min = 0"),
               std::invalid_argument);
}

}  // namespace
}  // namespace retrystorm
