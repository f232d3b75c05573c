#include "model/retry/breaker.h"

#include "model/base/text.h"
#include "tests/support/refusal.h"
#include "tests/support/retry_parts.h"
#include "tests/support/scripted_random.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

using State = Breaker::State;
using test::settings_of;

// What happens to a breaker, in words:
//
//   50F  49S       so many attempts fail, succeed, in no time
//   1T  1N         they are answered with the status 429, 404
//   3L             they time out after 90 s: they were sent before it opened
//   9W  1A         they succeed after more than a second, after exactly one
//   +60s           so much later
//   9sends         so many attempts are sent; refused: one is not
//   back           another gate has refused what was sent
//   closed  open  half   its state
void expect_story(const std::string& settings, const std::string& story, Duration begin = 0s) {
  TimePoint now = TimePoint(1h) + begin;
  Breaker breaker(settings_of<BreakerSettings>(settings), now);
  std::string until;
  for (const std::string_view word : split(story, ' ')) {
    SCOPED_TRACE(settings + (until += std::string(word) + ' '));
    if (word.front() == '+') {
      now += parse_duration(word.substr(1));
      continue;
    }
    const std::size_t digits = std::min(word.find_first_not_of("0123456789"), word.size());
    const int times = digits == 0 ? 1 : std::stoi(std::string(word.substr(0, digits)));
    const std::string_view what = word.substr(digits);
    for (int i = 0; i < times; ++i) {
      if (what == "sends" || what == "refused") {
        ScriptedRandom none{};
        EXPECT_EQ(breaker.ask(now, none).kind,
                  what == "sends" ? Permission::Kind::kSend : Permission::Kind::kRefused);
      } else if (what == "back") {
        breaker.take_back(now);
      } else if (what == "closed" || what == "open" || what == "half") {
        EXPECT_EQ(breaker.state(), what == "closed" ? State::kClosed
                                   : what == "open" ? State::kOpen
                                                    : State::kHalfOpen);
      } else {
        breaker.attempt_ended(now, what == "F"   ? timed_out(0s)
                                   : what == "T" ? answered(429, std::nullopt, 0s)
                                   : what == "N" ? answered(404, std::nullopt, 0s)
                                   : what == "L" ? timed_out(90s)
                                   : what == "W" ? AttemptResult{.latency = 1s + 1ns}
                                   : what == "A" ? AttemptResult{.latency = 1s}
                                                 : AttemptResult());
      }
    }
  }
}

TEST(Breaker, OpensAndClosesByItsRules) {
  const std::string own = "breaker = resilience4j\n";
  const std::string half = "100F open +60s +1ns sends half ";
  const std::string of_time =
      own +
      "breaker-window = time\nbreaker-time = 10s\nbreaker-slices = 10\nbreaker-min-calls = 4\n";
  // At the hundredth end with half of them failed, though that one was a success.
  expect_story(own, "50F 49S closed 1S open refused");
  // The last failure takes the place of the first success.
  expect_story(own, "51S 49F closed 1F open");
  expect_story(own + "breaker-calls = 4\n", "1T 1N 2S open");
  // For a minute exactly.
  expect_story(own, "100F +60s refused +1ns sends");
  // Ten trials. An end makes no room for another one; then its window is empty.
  expect_story(own, half + "9sends refused 4F 5S refused 1S closed 99F closed 1F open");
  expect_story(own, half + "5S 5F open +60s refused");
  expect_story(own + "breaker-trials = 1\n", half + "refused back sends refused");
  // Late ends count in its present state.
  expect_story(own, half + "10L open");
  // One of ten was not slow.
  expect_story(own + "breaker-calls = 10\nbreaker-slow-call = 1s\n", "9W 1A closed 10W open");
  // 3 of 4 in ten seconds of the clock; 1 of 4, as the second of the three has passed.
  expect_story(of_time, "3F +9299999999ns 2S open", 700ms);
  expect_story(of_time, "3F +9300ms 3S 1F closed", 700ms);
}

TEST(Breaker, CanBeThatOfALibrary) {
  // 10 % of at least 100 in 30 s, looked at as one fails; then 5 s, and one trial. Later the first hundred are
  // forgotten.
  expect_story("breaker = polly\n",
               "10F 90S closed 1F open +5s refused +1ns sends refused 1S closed "
               "10F 90S +30s 99F closed 1F open");
  expect_story("breaker = hystrix\n", "10S 9F closed 1F open");
  // More than 5 consecutive failures. What was sent before it opened does not count.
  expect_story("breaker = gobreaker\n",
               "5F 1S 5F closed 1F open +60s refused +1ns sends refused 3L half 1S closed "
               "6F +60s +1ns sends 1F open");
}

TEST(BreakerSettings, RefuseANumberThatHasNoEffect) {
  test::expect_refusals(settings_of<BreakerSettings>,
                        {{"breaker-trials = 5", "breaker-trials has no effect without --breaker"},
                         {"breaker = resilience4j\nbreaker-time = 5s",
                          "breaker-time has no effect with --breaker-window=calls"},
                         {"breaker = polly\nbreaker-calls = 5",
                          "breaker-calls has no effect with --breaker-window=time"},
                         {"breaker = polly\nbreaker-time = 0s", "breaker-time"},
                         {"breaker = gobreaker\nbreaker-calls = 0", "breaker-calls"},
                         {"breaker = gobreaker\nbreaker-calls = 5", ""}});
}

}  // namespace
}  // namespace retrystorm
