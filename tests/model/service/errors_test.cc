#include "model/service/admission.h"
#include "tests/support/scripted_random.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

TEST(Errors, FailWhoseNumberIsBelowTheShare) {
  const ErrorSettings settings{.share = 0.25};
  ScriptedRandom random{0, 0.249, 0.25, 0.999};
  EXPECT_TRUE(fails(settings, ErrorAfter::kAdmission, random));
  EXPECT_TRUE(fails(settings, ErrorAfter::kAdmission, random));
  EXPECT_FALSE(fails(settings, ErrorAfter::kAdmission, random));
  EXPECT_FALSE(fails(settings, ErrorAfter::kAdmission, random));
}

TEST(Errors, FailAllOrNone) {
  ScriptedRandom random{0, 0.999999999};
  EXPECT_TRUE(fails({.share = 1}, ErrorAfter::kAdmission, random));
  EXPECT_TRUE(fails({.share = 1}, ErrorAfter::kAdmission, random));
  EXPECT_FALSE(fails({.share = 0}, ErrorAfter::kAdmission, random));  // and draws nothing
}

TEST(Errors, AreDrawnOnceARequest) {
  ScriptedRandom random{0};
  const ErrorSettings late{.share = 1, .after = ErrorAfter::kService};
  EXPECT_FALSE(fails(late, ErrorAfter::kAdmission, random));
  EXPECT_EQ(random.left(), 1u);
  EXPECT_TRUE(fails(late, ErrorAfter::kService, random));
}

TEST(Errors, TheirStatusHasNoEffectWithoutThem) {
  EXPECT_TRUE(unused_of_part<ErrorSettings>({.share = 0.1, .status = 500}).empty());
  EXPECT_EQ(unused_of_part<ErrorSettings>({.status = 500})["error-status"],
            "error-status has no effect without --error-share");
}

TEST(Errors, TheirTimeHasNoEffectWithoutThem) {
  EXPECT_TRUE(unused_of_part<ErrorSettings>({}).empty());
  EXPECT_TRUE(unused_of_part<ErrorSettings>({.share = 0.1, .after = ErrorAfter::kService}).empty());
  EXPECT_EQ(unused_of_part<ErrorSettings>({.after = ErrorAfter::kService})["error-after"],
            "error-after has no effect without --error-share");
}

}  // namespace
}  // namespace retrystorm
