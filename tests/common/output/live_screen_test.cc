#include "common/output/live_screen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace retrystorm {
namespace {

using namespace std::chrono_literals;
using ::testing::Each;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

const ScreenStyle kPlain{.colour = false, .unicode = true};
const ScreenStyle kAscii{.colour = false, .unicode = false};

TEST(Sparkline, ScalesToTheTop) {
  EXPECT_EQ(sparkline({0, 1, 2, 4, 8}, 5, 8, kPlain), " ▁▂▄█");
  EXPECT_EQ(sparkline({0, 1, 2, 4, 8}, 5, 8, kAscii), " .:=@");
}

TEST(Sparkline, ShowsTheNewestAtTheRight) {
  EXPECT_EQ(sparkline({8, 8, 1, 4}, 2, 8, kPlain), "▁▄");
  EXPECT_EQ(sparkline({8}, 3, 8, kPlain), "  █");
  EXPECT_EQ(sparkline({}, 3, 8, kPlain), "   ");
  EXPECT_EQ(sparkline({8}, 0, 8, kPlain), "");
}

TEST(Sparkline, ShowsSmallValuesAboveZero) {
  EXPECT_EQ(sparkline({0, 0.001, 1e9}, 3, 1000, kPlain), " ▁█");
  EXPECT_EQ(sparkline({0, 0}, 2, 0, kPlain), "  ");
}

ClientView client_view() {
  ClientView view("fixed retries, 1000 clients");
  view.add({{.t = 1s, .rates = {.ok = 100, .attempts = 100}, .clients = {.in_flight = 10}}});
  view.add({{.t = 2s,
             .rates = {.timed_out = 200, .attempts = 400},
             .totals = {.ok = 75, .requests = 200, .attempts = 700, .retries = 500, .failing = 25},
             .clients = {.in_flight = 900},
             .outage = "freeze",
             .verdict = Verdict::kCollapsed}});
  return view;
}

TEST(ClientView, ShowsTheRatesOnOneScale) {
  const auto lines = client_view().render({.columns = 40, .rows = 24}, kPlain);
  EXPECT_THAT(
      lines,
      testing::ElementsAre(  //
          "fixed retries, 1000 clients           2s", "",
          "OK                  0.0/s             ▂ ", "errors              0.0/s               ",
          "timed out         200.0/s              ▄", "attempts          400.0/s             ▂█",
          "in flight             900             ▁█", "outage             frozen              █",
          "", "rates: 0 to 400.0/s, amplification 3.5", "success: 75.00 % of the requests; 0 give",
          "verdict so far: collapsed"));
}

TEST(ClientView, ShowsWhatWasNotSentOnceThereIsAny) {
  ClientView view = client_view();
  view.add({{.t = 3s,
             .rates = {.attempts = 100, .not_sent = 300},
             .totals = {.ok = 900, .gave_up_by = {0, 0, 70, 30, 0}, .not_sent = 300}}});
  auto lines = view.render({.columns = 80, .rows = 24}, kPlain);
  ASSERT_THAT(lines, SizeIs(13));
  EXPECT_THAT(lines[5], StartsWith("not sent          300.0/s "));
  EXPECT_THAT(lines[5], EndsWith("▆"));
  EXPECT_THAT(lines[11], "success: 90.00 % of the requests; 100 given up (budget 70, gate 30)");
  // The row stays after attempts are sent again.
  view.add({{.t = 4s, .totals = {.not_sent = 300}}});
  EXPECT_THAT(view.render({.columns = 80, .rows = 24}, kPlain)[5],
              StartsWith("not sent            0.0/s "));
}

TEST(ClientView, BreaksTheAdviceIntoLines) {
  ClientView view("none");
  view.add({{.t = 1s}, "It is held down by its clients.\nWhat may help: half the load."});
  const auto lines = view.render({.columns = 20, .rows = 24}, kPlain);
  EXPECT_THAT(std::vector(lines.end() - 5, lines.end()),
              testing::ElementsAre("", "It is held down by", "its clients.", "What may help: half",
                                   "the load."));
}

TEST(ClientView, HasColoursOnlyIfWanted) {
  EXPECT_THAT(client_view().render({}, kPlain), Each(Not(HasSubstr("\033"))));
  EXPECT_THAT(client_view().render({}, {.colour = true}).back(),
              "\033[31mverdict so far: collapsed\033[0m");
}

TEST(ClientView, FitsASmallScreen) {
  const auto lines = client_view().render({.columns = 10, .rows = 4}, kAscii);
  EXPECT_THAT(lines, SizeIs(4));
  for (const std::string& line : lines) EXPECT_LE(line.size(), 10) << line;
  EXPECT_THAT(client_view().render({.columns = 0, .rows = 0}, kAscii), SizeIs(0));
}

TEST(ServerView, ShowsConcurrencyAndDelay) {
  ServerView view("retrystorm server");
  EXPECT_THAT(view.render({}, kPlain), SizeIs(0));  // no interval yet
  view.add({.t = 1s, .window = 1s, .interval = {.concurrency = 10, .last_delay = 100ms}});
  view.add(
      {.t = 2s,
       .window = 500ms,
       .interval = {.concurrency = 1040, .last_delay = 2671444385ns, .counts = {.offered = 200}}});
  const auto lines = view.render({.columns = 40, .rows = 24}, kPlain);
  EXPECT_THAT(lines[2], "concurrency          1040             ▁█");
  EXPECT_THAT(lines[3], "delay (log)        2.671s             ▅█");
  EXPECT_THAT(lines[4], "offered           400.0/s              █");
  EXPECT_THAT(lines.back(), "concurrency: 0 to 1040.0, rates: 0 to 40");  // cut
}

TEST(ServerView, ShowsBusyWorkersAndTheQueue) {
  ServerView view("retrystorm server");
  view.add({.t = 1s,
            .window = 1s,
            .interval = {.last_delay = 870ms,
                         .workers = WorkerState{.workers = 20, .busy = 10, .waiting = 153}}});
  const auto lines = view.render({.columns = 40, .rows = 24}, kPlain);
  EXPECT_THAT(lines[2], "busy             10 of 20              ▄");
  EXPECT_THAT(lines[3], "waiting               153              █");
  EXPECT_THAT(lines[4], "delay (log)         870ms              █");
  EXPECT_THAT(lines.back(), "waiting: 0 to 153.0, rates: 0 to 0.0/s");
}

TEST(ServerView, KeepsToTheEndOfItsHistory) {
  ServerView view("retrystorm server");
  for (int i = 0; i < 5000; ++i) {
    view.add({.t = i * 1s, .window = 1s, .interval = {.last_delay = Duration::max()}});
  }
  const auto lines = view.render({.columns = 2000, .rows = 24}, kAscii);
  EXPECT_THAT(lines[3], HasSubstr("@@@"));
}

}  // namespace
}  // namespace retrystorm
