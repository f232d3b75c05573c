#include "model/run/timeline.h"

#include "tests/support/refusal.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

TimelineOptions with(const char* name, const char* value) {
  TimelineOptions timeline;
  OptionList options;
  declare_options(options, timeline, Engine::kReal);
  options.set(name, value);
  return timeline;
}

std::string text_of(const char* name, const char* value) {
  TimelineOptions timeline;
  OptionList options;
  declare_options(options, timeline, Engine::kReal);
  options.set(name, value);
  return options.find(name)->get();
}

TEST(Action, IsReadAsItIsPrinted) {
  for (const char* text : {"set shed-above=200", "set queue-order=adaptive-lifo:5", "capacity 2",
                           "load 0.5", "restart"}) {
    EXPECT_EQ(print_action(parse_action(text)), text);
  }
}

TEST(Action, TakesAFactorAsPeopleWriteIt) {
  EXPECT_EQ(print_action(parse_action("load 3x")), "load 3");
  EXPECT_EQ(print_action(parse_action("capacity 50%")), "capacity 0.5");
}

TEST(Action, RefusesOtherText) {
  for (const char* text : {"", "set", "set shed-above", "set =2", "capacity", "capacity 0",
                           "capacity -1", "load x", "load 1e9", "restart now", "shed 200"}) {
    EXPECT_THROW(parse_action(text), std::invalid_argument) << text;
  }
}

TEST(Timeline, TakesItsActionsInTheOrderOfTheirTimes) {
  TimelineOptions timeline = with("at", "70s load 1; 60s load 0.5;60s restart");
  timeline.capacity = with("capacity", "60s 2").capacity;
  std::vector<std::string> announcements;
  for (const TimedAction& each : actions(timeline)) {
    announcements.push_back(format_duration(each.t) + ' ' + each.announcement);
  }
  // At the same time, the schedule's actions come first, then those of --at in the given order.
  EXPECT_THAT(announcements,
              ElementsAre("1m0s capacity 2", "1m0s load 0.5", "1m0s restart", "1m10s load 1"));
}

TEST(Timeline, IsPrintedAsItIsRead) {
  EXPECT_EQ(text_of("at", "60s  set shed-above=200 ;90s load 0.5"),
            "1m0s set shed-above=200; 1m30s load 0.5");
  EXPECT_EQ(text_of("capacity", "0s 1, 60s 0.3, 90s..150s 1"), "0s 1; 1m0s 0.3; 1m30s..2m30s 1");
  EXPECT_EQ(text_of("capacity", "0s 1; 1m0s 0.3; 1m30s..2m30s 1"),
            "0s 1; 1m0s 0.3; 1m30s..2m30s 1");
}

TEST(Timeline, TakesTheValueOfADisturbanceBehindASpaceToo) {
  TimelineOptions timeline;
  OptionList options;
  declare_options(options, timeline, Engine::kSimulated);
  options.set("at", "30s..90s load 2; 10s..20s slow 3 of db");
  ASSERT_EQ(timeline.faults.size(), 2);
  EXPECT_EQ(print_fault(timeline.faults[0]), "30s-1m30s load:2");
  EXPECT_EQ(print_fault(timeline.faults[1]), "10s-20s slow:3 of db");
}

TEST(CapacitySchedule, RampsAreStairsAroundTheLine) {
  const auto steps = with("capacity", "10s 0.5, 20s..30s 1").capacity;
  ASSERT_EQ(steps.size(), 101u);
  EXPECT_EQ(steps[0],
            (TimedAction{10s, {.kind = Action::Kind::kCapacity, .factor = 0.5}, "capacity 0.5"}));
  EXPECT_EQ(steps[1].announcement, "capacity 0.5..1 until 30s");
  EXPECT_EQ(steps.back().action.factor, 1);
  Duration last{0};
  for (std::size_t i = 1; i < steps.size(); ++i) {
    EXPECT_EQ(steps[i].announcement.empty(), i > 1);
    EXPECT_GT(steps[i].t, last);
    last = steps[i].t;
    // Each step equals the line's value in the middle of its time.
    const double line = 0.5 + 0.5 * (to_seconds(steps[i].t) + 0.05 - 20) / 10;
    EXPECT_NEAR(steps[i].action.factor, line, 1e-9);
  }
  EXPECT_LT(last, 30s);
}

TEST(CapacitySchedule, ShortRampsHaveFewSteps) {
  EXPECT_EQ(with("capacity", "1s..1.35s 2").capacity.size(), 3u);
  EXPECT_EQ(with("capacity", "1s..1.05s 2").capacity.size(), 1u);
}

TEST(Timeline, RefusesBadInputInOneLine) {
  using NameAndValue = std::pair<const char*, const char*>;
  test::expect_refusals<NameAndValue>(
      [](const NameAndValue& given) { with(given.first, given.second); },
      {{{"capacity", "60s 1, 30s 2"}, "30s comes after 1m0s"},
       {{"capacity", "60s..50s 1"}, "50s comes after 1m0s"},
       {{"capacity", "60s"}, "TIME FACTOR"},
       {{"capacity", "60s 0"}, "capacity"},
       {{"capacity", "-1s 1"}, "negative"},
       {{"at", "60s"}, "TIME ACTION"},
       {{"at", "-60s restart"}, "negative"},
       {{"at", "60s shed"}, "choose set"},
       {{"at", "soon restart"}, "soon"}});
}

TEST(Timeline, StaysTheSameIfAValueIsRefused) {
  TimelineOptions timeline = with("capacity", "1s 2");
  OptionList options;
  declare_options(options, timeline, Engine::kReal);
  EXPECT_THROW(options.set("capacity", "5s 1, 1s 1"), std::invalid_argument);
  EXPECT_EQ(options.find("capacity")->get(), "1s 2");
}

}  // namespace
}  // namespace retrystorm
