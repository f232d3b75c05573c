// One attempt of one client, against servers of every kind.
#include "client/http_attempt.h"

#include <gtest/gtest.h>

#include <csignal>

#include "tests/support/child_process.h"
#include "tests/support/sockets.h"

namespace retrystorm::test {
namespace {

using namespace std::chrono_literals;

class HttpAttemptTest : public testing::Test {
 protected:
  HttpAttemptTest() { std::signal(SIGPIPE, SIG_IGN); }

  // Lasts `timeout` at most, or a lot longer on a busy machine; but not as long as a server that
  // goes on for ten seconds or for ever.
  static Outcome attempt(const std::string& url, Duration timeout) {
    Deadlines deadlines;
    HttpAttempt attempt(resolve_url(url), timeout, deadlines);
    const TimePoint start = Clock::now();
    const Outcome outcome = attempt.run(timeout).outcome;
    const Duration lasted = Clock::now() - start;
    EXPECT_TRUE(outcome != Outcome::kTimedOut || lasted >= timeout);
    EXPECT_LT(lasted, timeout + 2s);
    return outcome;
  }

  static Outcome answered_with(const std::string& status) {
    const FakeServer server([&](const Socket& socket) { answer(socket, status); });
    return attempt(server.url(), kPatience);
  }
};

TEST_F(HttpAttemptTest, IsOkWithAnyStatusOf2xx) {
  EXPECT_EQ(answered_with("200 OK"), Outcome::kOk);
  EXPECT_EQ(answered_with("201 Created"), Outcome::kOk);
  EXPECT_EQ(answered_with("299 Whatever"), Outcome::kOk);
}

TEST_F(HttpAttemptTest, IsAnErrorWithAnyOther) {
  EXPECT_EQ(answered_with("302 Found"), Outcome::kError);
  EXPECT_EQ(answered_with("404 Not Found"), Outcome::kError);
  EXPECT_EQ(answered_with("429 Too Many Requests"), Outcome::kError);
  EXPECT_EQ(answered_with("500 Internal Server Error"), Outcome::kError);
  EXPECT_EQ(answered_with("503 Service Unavailable"), Outcome::kError);
}

TEST_F(HttpAttemptTest, IsAnErrorWhenRefused) {
  std::string url;
  {
    const Listener gone;
    url = gone.url();
  }
  EXPECT_EQ(attempt(url, kPatience), Outcome::kError);
}

TEST_F(HttpAttemptTest, IsAnErrorWhenReset) {
  const FakeServer server(reset);
  EXPECT_EQ(attempt(server.url(), kPatience), Outcome::kError);
}

TEST_F(HttpAttemptTest, IsAnErrorWhenClosedWithoutAnAnswer) {
  const FakeServer server([](const Socket& socket) { socket.receive(5s, "\r\n\r\n"); });
  EXPECT_EQ(attempt(server.url(), kPatience), Outcome::kError);
}

TEST_F(HttpAttemptTest, IsAnErrorWhenTheAnswerIsCutOff) {
  const FakeServer server([](const Socket& socket) {
    socket.receive(5s, "\r\n\r\n");
    socket.send("HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\nOK");
  });
  EXPECT_EQ(attempt(server.url(), kPatience), Outcome::kError);
}

TEST_F(HttpAttemptTest, IsAnErrorWhenTheAnswerIsNoHttp) {
  const FakeServer server([](const Socket& socket) {
    socket.receive(5s, "\r\n\r\n");
    socket.send("220 mail.example.org ESMTP\r\n");
  });
  EXPECT_EQ(attempt(server.url(), kPatience), Outcome::kError);
}

TEST_F(HttpAttemptTest, TimesOutWhenTheServerIsSilent) {
  const Listener silent;
  EXPECT_EQ(attempt(silent.url(), 200ms), Outcome::kTimedOut);
}

// Each byte would start a read timeout anew.
TEST_F(HttpAttemptTest, TimesOutWhenTheAnswerDrips) {
  const FakeServer server(drip);
  EXPECT_EQ(attempt(server.url(), 300ms), Outcome::kTimedOut);
}

// The end of the connection is the end of such an answer, also when the deadline has ended it.
TEST_F(HttpAttemptTest, TimesOutWhenAnAnswerWithoutALengthDrips) {
  const FakeServer server([](const Socket& socket) {
    socket.receive(5s, "\r\n\r\n");
    socket.send("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n");
    for (int i = 0; i < 1000 && socket.send("."); ++i) std::this_thread::sleep_for(10ms);
  });
  EXPECT_EQ(attempt(server.url(), 300ms), Outcome::kTimedOut);
}

TEST_F(HttpAttemptTest, TimesOutWhenTheHeaderDrips) {
  const FakeServer server([](const Socket& socket) {
    socket.send("HTTP/1.1 200 OK\r\nX-Slow: ");
    for (int i = 0; i < 1000 && socket.send("."); ++i) std::this_thread::sleep_for(10ms);
  });
  EXPECT_EQ(attempt(server.url(), 300ms), Outcome::kTimedOut);
}

TEST_F(HttpAttemptTest, TimesOutWhenConnectingHangs) {
  const FullListener full;
  EXPECT_EQ(attempt(full.url(), 300ms), Outcome::kTimedOut);
}

TEST_F(HttpAttemptTest, AnswersOfAnyLengthAreRead) {
  const FakeServer server([](const Socket& socket) {
    socket.receive(5s, "\r\n\r\n");
    socket.send("HTTP/1.1 200 OK\r\nContent-Length: 5000000\r\n\r\n" + std::string(5'000'000, '.'));
  });
  EXPECT_EQ(attempt(server.url(), kPatience), Outcome::kOk);
}

TEST_F(HttpAttemptTest, EachAttemptStartsAfresh) {
  const FakeServer server([requests = 0](const Socket& socket) mutable {
    if (++requests % 2 == 1) {
      drip(socket);
    } else {
      answer(socket, "200 OK");
    }
  });
  const Duration timeout = 500ms * kSlowness;
  Deadlines deadlines;
  HttpAttempt attempt(resolve_url(server.url()), timeout, deadlines);
  for (int i = 0; i < 2; ++i) {
    EXPECT_EQ(attempt.run(timeout).outcome, Outcome::kTimedOut);
    EXPECT_EQ(attempt.run(timeout).outcome, Outcome::kOk);
  }
}

}  // namespace
}  // namespace retrystorm::test
