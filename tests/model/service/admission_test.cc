#include "model/service/admission.h"

#include "tests/support/test.h"

namespace retrystorm {
namespace {

constexpr TimePoint kBeginning{1h};

RateLimitSettings limit(double rate, double burst) {
  return {.rate = rate, .burst = {.requests = burst}};
}

// How many of a hundred requests at the same moment are let in.
int let_in(AdmissionControl& control, TimePoint now) {
  int served = 0;
  for (int i = 0; i < 100; ++i) served += control.admit(now, 0) == Answer() ? 1 : 0;
  return served;
}

TEST(AdmissionControl, IsOpenByDefault) {
  AdmissionControl control({}, 0);
  EXPECT_EQ(let_in(control, kBeginning), 100);
  EXPECT_EQ(control.admit(kBeginning, 1'000'000), Answer());
}

TEST(AdmissionControl, LetsInABurstAndThenTheRate) {
  AdmissionControl control(limit(10, 5), 0);
  EXPECT_EQ(let_in(control, kBeginning), 5);
  EXPECT_EQ(let_in(control, kBeginning + 200ms), 2);
  EXPECT_EQ(let_in(control, kBeginning + 250ms), 0);
  EXPECT_EQ(let_in(control, kBeginning + 300ms), 1);
}

TEST(AdmissionControl, SavesNoMoreThanTheBurst) {
  AdmissionControl control(limit(10, 5), 0);
  let_in(control, kBeginning);
  EXPECT_EQ(let_in(control, kBeginning + 1h), 5);
}

TEST(AdmissionControl, BurstIsOneSecondsWorthByDefault) {
  AdmissionControl fast(limit(20, 0), 0);
  EXPECT_EQ(let_in(fast, kBeginning), 20);
  AdmissionControl slow(limit(0.5, 0), 0);
  EXPECT_EQ(let_in(slow, kBeginning), 1);
  EXPECT_EQ(let_in(slow, kBeginning + 1999ms), 0);
  EXPECT_EQ(let_in(slow, kBeginning + 2s), 1);
}

// Otherwise a bucket that never holds a whole token would refuse all requests for ever.
TEST(AdmissionControl, BurstHoldsAtLeastOneRequest) {
  AdmissionControl control(limit(10, 0.5), 0);
  EXPECT_EQ(let_in(control, kBeginning), 1);
  EXPECT_EQ(let_in(control, kBeginning + 100ms), 1);
}

TEST(AdmissionControl, SaysWhenTheNextTokenComes) {
  AdmissionControl control(limit(4, 1), 0);
  EXPECT_EQ(control.admit(kBeginning, 0), Answer());
  EXPECT_EQ(control.admit(kBeginning, 0),
            (Answer{.rejection = Rejection::kRateLimited, .retry_after = 250ms}));
  EXPECT_EQ(control.admit(kBeginning + 125ms, 0),
            (Answer{.rejection = Rejection::kRateLimited, .retry_after = 125ms}));
}

TEST(AdmissionControl, ShedsRequestsThatWouldExceedTheBound) {
  AdmissionControl control({}, 10);
  EXPECT_EQ(control.admit(kBeginning, 0), Answer());
  EXPECT_EQ(control.admit(kBeginning, 9), Answer());  // becomes the tenth
  EXPECT_EQ(control.admit(kBeginning, 10),
            (Answer{.rejection = Rejection::kShed, .retry_after = 1s}));
  EXPECT_EQ(control.admit(kBeginning, 11),
            (Answer{.rejection = Rejection::kShed, .retry_after = 1s}));
}

// As by a service that limits its concurrency and answers with 429.
TEST(AdmissionControl, ShedsWithTheChosenStatus) {
  AdmissionControl control({}, 10, 429);
  EXPECT_EQ(control.admit(kBeginning, 10).status(), 429);
  control.configure(kBeginning, {}, 10, 503);
  EXPECT_EQ(control.admit(kBeginning, 10).status(), 503);
}

TEST(AdmissionControl, ShedRequestsTakeNoToken) {
  AdmissionControl control(limit(10, 1), 10);
  EXPECT_EQ(control.admit(kBeginning, 10).rejection, Rejection::kShed);
  EXPECT_EQ(control.admit(kBeginning, 0), Answer());
  EXPECT_EQ(control.admit(kBeginning, 0).rejection, Rejection::kRateLimited);
}

}  // namespace
}  // namespace retrystorm
