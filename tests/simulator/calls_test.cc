#include "simulator/calls.h"

#include "tests/support/retry_parts.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

// A target that the test answers for, and an owner that begins no further requests.
class CallsTest : public testing::Test, public Target, public CallOwner {
 protected:
  void connect(TimePoint, const Attempt& attempt) override { sent_ = attempt; }
  void send(TimePoint, const Attempt&) override {}
  void hang_up(TimePoint, const Attempt&) override {}
  void call_over(TimePoint, std::uint32_t, const NextAttempt&) override {}
  void waits(std::uint32_t, Duration) override {}

  Attempt sent_{};
};

// With a deadline, clients that wait for permission do not form a line. Each asks again by itself.
TEST_F(CallsTest, TakesBackRequestsThatHaveNotBegunAndNoOthers) {
  WorkloadOptions workload;
  workload.retry = test::settings_of<RetrySettings>(
      "max-retries = 0\ndeadline = 1h\nclient-rate = aws-adaptive\n");
  Calls calls(workload, 1, TimePoint{1h}, 2, *this, nullptr);
  calls.send_to(*this);
  calls.add_slots(2);
  for (const Calls::Slot slot : {0u, 1u}) calls.occupy(TimePoint{}, slot, slot);
  calls.begin(TimePoint{}, 0);
  calls.take_answer(TimePoint{10ms}, sent_, {.rejection = Rejection::kRateLimited});
  calls.begin(TimePoint{20ms}, 0);
  EXPECT_EQ(calls.in_flight(), 0) << "it waits for permission";
  const TimePoint asks_again = calls.next_wait();
  calls.begin_at(TimePoint{5s}, 1);

  const auto taken = calls.take_beginnings();
  ASSERT_EQ(taken.size(), 1);
  EXPECT_EQ(taken[0].client, 1);
  EXPECT_EQ(taken[0].end, TimePoint{5s});
  EXPECT_EQ(calls.next_wait(), asks_again);
}

}  // namespace
}  // namespace retrystorm
