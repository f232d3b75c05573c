#include "model/service/admission.h"
#include "tests/support/scripted_random.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

// For a kind that draws nothing.
Duration hint_of(const HintOfferSettings& settings, Duration computed) {
  ScriptedRandom nothing{};
  return offered_hint(settings, computed, nothing);
}

// HTTP has whole seconds. Rounded down, clients would come too early, and 0 would be no hint.
TEST(ServerHint, IsRoundedUpToWholeSeconds) {
  EXPECT_EQ(hint_of({}, 0ns), 1s);
  EXPECT_EQ(hint_of({}, 250ms), 1s);
  EXPECT_EQ(hint_of({}, 1s + 1ns), 2s);
  EXPECT_EQ(hint_of({.kind = HintKind::kFixed, .least = 4500ms}, 1s), 5s);
  EXPECT_EQ(hint_of({}, Duration::max()),
            std::chrono::floor<std::chrono::seconds>(Duration::max()));
}

TEST(ServerHint, IsSpreadUniformlyOverTheWholeSecondsOfItsRange) {
  const HintOfferSettings settings{.kind = HintKind::kSpread, .least = 2s, .most = 5s};
  ScriptedRandom random{0, 0.2499, 0.25, 0.5, 0.7499, 0.75, 0.9999999999999999};
  for (const Duration expected : {2s, 2s, 3s, 4s, 4s, 5s, 5s}) {
    EXPECT_EQ(offered_hint(settings, 7s, random), expected);
  }
}

TEST(ServerHint, BothEndsOfARangeAreRoundedUp) {
  HintOfferSettings settings{.kind = HintKind::kSpread, .least = 1200ms, .most = 2500ms};
  ScriptedRandom random{0, 0.5, 0.5};
  EXPECT_EQ(offered_hint(settings, 7s, random), 2s);
  EXPECT_EQ(offered_hint(settings, 7s, random), 3s);
  settings.most = 1900ms;  // no whole second between
  EXPECT_EQ(offered_hint(settings, 7s, random), 2s);
}

TEST(ServerHint, CopesWithTheLongestRange) {
  const HintOfferSettings settings{.kind = HintKind::kSpread, .least = 1s, .most = Duration::max()};
  ScriptedRandom random{0.9999999999999999};
  EXPECT_LE(offered_hint(settings, 1s, random), Duration::max());
}

void refuse_bad(const HintOfferSettings& settings) {
  refuse(unused_of_part(settings));
  check(settings);
}

TEST(ServerHint, RefusesSettingsThatHaveNoEffect) {
  EXPECT_NO_THROW(refuse_bad(HintOfferSettings{}));
  EXPECT_NO_THROW(refuse_bad(HintOfferSettings{.kind = HintKind::kFixed, .least = 5s}));
  EXPECT_NO_THROW(
      refuse_bad(HintOfferSettings{.kind = HintKind::kSpread, .least = 5s, .most = 5s}));
  for (const HintKind kind : {HintKind::kNone, HintKind::kComputed}) {
    EXPECT_THAT([=] { refuse_bad(HintOfferSettings{.kind = kind, .least = 5s}); },
                ThrowsMessage<std::invalid_argument>(
                    "hint-for has no effect without --hint=fixed or spread"));
  }
  EXPECT_THAT([] { refuse_bad(HintOfferSettings{.kind = HintKind::kFixed, .most = 5s}); },
              ThrowsMessage<std::invalid_argument>("hint-to has no effect without --hint=spread"));
  EXPECT_THAT(
      [] { refuse_bad(HintOfferSettings{.kind = HintKind::kSpread, .least = 11s}); },
      ThrowsMessage<std::invalid_argument>("hint-to is shorter than hint-for: 10s and 11s"));
}

}  // namespace
}  // namespace retrystorm
