// Servers that call others, as real processes.
#include "common/http/headers.h"
#include "tests/support/child_process.h"
#include "tests/support/sockets.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

constexpr const char* kLong = "1h";  // longer than any test

// A server without work of its own, which makes one attempt for each call.
Arguments calling(const std::string& plan, const Arguments& more = {}) {
  return Arguments{"--service=workers", "--workers=100", "--service-time=0s",
                   "--call-max-attempts=1", "--calls=" + plan} +
         more;
}

// A request that is sent, and not answered yet. `header`: one more, with its line break.
Socket request_to(const ServerUnderTest& server, const std::string& header = "") {
  Socket socket = connect_to(server.port());
  EXPECT_TRUE(socket.send("GET /api HTTP/1.1\r\nHost: h\r\n" + header + "\r\n"));
  return socket;
}

std::string time_left(const std::string& milliseconds) {
  return std::string(kTimeLeft) + ": " + milliseconds + "\r\n";
}

TEST(Chain, AnswersWhenItsCallsAreOver) {
  const ServerUnderTest leaf({"--base-delay=150ms"});
  const ServerUnderTest middle(calling(leaf.url() + ", " + leaf.url()));
  const ServerUnderTest front(calling(middle.url()));
  const TimePoint start = Clock::now();
  EXPECT_THAT(get(front.port(), kPatience), HasStatus(200));
  EXPECT_GE(Clock::now() - start, 300ms);
}

TEST(Chain, TellsTheNumberOfTheAttempt) {
  const Listener callee;
  const ServerUnderTest server(
      calling(callee.url(), {"--call-max-attempts=2", "--call-fixed-delay=1ms"}));
  const Socket request = request_to(server);
  for (const char* number : {"1", "2"}) {
    Socket attempt = callee.accept(kPatience);
    EXPECT_THAT(attempt.receive(kPatience, "\r\n\r\n"),
                HasHeader(std::string(kAttemptNumber) + ": " + number));
    answer(attempt, "500 Fault");
  }
  EXPECT_THAT(request.receive(kPatience), HasStatus(502));
}

TEST(Chain, TellsWhyItsCallsHaveFailed) {
  const FullListener hangs;
  const FakeServer resets(reset);
  const FakeServer refuses(
      [](const Socket& socket) { answer(socket, "503 Busy\r\nRetry-After: 7"); });
  const auto ask = [](const std::string& url, const std::string& how) {
    const ServerUnderTest server(
        calling(url, {"--call-timeout=50ms", "--upstream-failure=" + how}));
    return get(server.port(), kPatience);
  };
  EXPECT_THAT(ask(hangs.url(), "502"), HasStatus(502));
  EXPECT_THAT(ask(hangs.url(), "pass"), HasStatus(504));
  EXPECT_THAT(ask(resets.url(), "pass"), HasStatus(502));
  EXPECT_THAT(ask(refuses.url(), "pass-hint"), AllOf(HasStatus(503), HasHeader("Retry-After: 7")));
  EXPECT_THAT(ask(refuses.url(), "no-retry"),
              AllOf(HasStatus(503), HasHeader(std::string(kRetry) + ": no")));
}

TEST(Chain, CallsAnotherHostOfAService) {
  const FakeServer fails([](const Socket& socket) { answer(socket, "500 Fault"); });
  const ServerUnderTest works({"--base-delay=1ms"});
  const auto refused = [&](const Arguments& how) {
    const ServerUnderTest server(calling("db=" + fails.url() + '|' + works.url(), how));
    int count = 0;
    for (int i = 0; i < 10; ++i) {
      count += get(server.port(), kPatience).find(" 502 ") == std::string::npos ? 0 : 1;
    }
    return count;
  };
  EXPECT_EQ(refused({}), 5);  // in turn
  EXPECT_EQ(refused({"--call-max-attempts=2", "--call-fixed-delay=1ms", "--call-retry-host=other"}),
            0);
  EXPECT_EQ(refused({"--call-eject=2:1h:50%"}), 2);
}

// Which the service above it obeys.
TEST(Chain, DoesNotRetryWhatSaysSo) {
  const FakeServer refuses([](const Socket& socket) { answer(socket, "503 Busy"); });
  const ServerUnderTest middle(calling(refuses.url(), {"--upstream-failure=no-retry"}));
  const ServerUnderTest front(calling(middle.url(), {"--call-max-attempts=1000"}));
  EXPECT_THAT(get(front.port(), kPatience), HasStatus(502));
}

TEST(Chain, HoldsAWorkerDuringItsCallsOrFreesIt) {
  for (const bool holds : {true, false}) {
    const Listener callee;
    const ServerUnderTest server(
        calling(callee.url(), {"--workers=1", std::string("--call-timeout=") + kLong,
                               holds ? "--waiting=hold" : "--waiting=free"}));
    const Socket first = request_to(server), second = request_to(server);
    Socket call = callee.accept(kPatience);
    ASSERT_TRUE(call);
    if (holds) {
      EXPECT_FALSE(callee.accept(100ms));
      answer(call, "200 OK");
      EXPECT_THAT(first.receive(kPatience), HasStatus(200));
    }
    EXPECT_TRUE(callee.accept(kPatience)) << holds;
  }
}

TEST(Chain, RepeatsAllItsCalls) {
  const Listener first, second;
  const ServerUnderTest server(
      calling(first.url() + ", " + second.url(),
              {"--retry-scope=all", "--call-max-attempts=2", "--call-fixed-delay=1ms"}));
  const Socket request = request_to(server);
  for (const char* result : {"500 Fault", "200 OK"}) {
    answer(first.accept(kPatience), "200 OK");
    answer(second.accept(kPatience), result);
  }
  EXPECT_THAT(request.receive(kPatience), HasStatus(200));
}

TEST(Chain, DoesTheRestOfItsWorkAfterItsCalls) {
  const Listener callee;
  const ServerUnderTest server(
      calling(callee.url(), {"--service-time=300ms", "--own-work=after-calls"}));
  const Socket request = request_to(server);
  answer(callee.accept(kPatience), "200 OK");
  const TimePoint start = Clock::now();
  EXPECT_THAT(request.receive(kPatience), HasStatus(200));
  EXPECT_GE(Clock::now() - start, 290ms);
}

// Its caller waits for 200 ms, and the calls could go on for ever.
TEST(Chain, EndsItsCallsWithTheDeadline) {
  const Listener callee;
  const ServerUnderTest server(
      calling(callee.url(), {"--call-max-attempts=1000", std::string("--call-timeout=") + kLong,
                             "--call-deadline-propagation=attempt", "--keep-deadlines=yes"}));
  // The request arrives a moment after its connection. It has enough time for a call on a busy machine.
  Socket request = connect_to(server.port());
  std::this_thread::sleep_for(20ms);
  ASSERT_TRUE(request.send("GET /api HTTP/1.1\r\nHost: h\r\n" + time_left("1000") + "\r\n"));
  const Socket call = callee.accept(kPatience);
  const std::string head = call.receive(kPatience, "\r\n\r\n");
  const auto left = parse_time_left(head);
  ASSERT_TRUE(left) << head;
  EXPECT_GT(*left, 0ms);
  EXPECT_LE(*left, 1s);
  EXPECT_THAT(request.receive(kPatience), HasStatus(502));
}

TEST(Chain, DropsWhatIsTooLateForAWorker) {
  const ServerUnderTest server(
      {"--service=workers", "--workers=1", "--service-time=300ms", "--keep-deadlines=yes"});
  const Socket first = request_to(server, time_left("100000"));
  const Socket second = request_to(server, time_left("50"));
  EXPECT_THAT(second.receive(kPatience), IsEmpty());
  EXPECT_THAT(first.receive(kPatience), HasStatus(200));
}

TEST(Chain, RefusesARequestWithoutAThread) {
  const FullListener hangs;
  const ServerUnderTest server(
      calling(hangs.url(), {"--call-threads=1", std::string("--call-timeout=") + kLong}));
  const Socket first = request_to(server);
  EXPECT_TRUE(
      eventually([&] { return get(server.port(), kPatience).starts_with("HTTP/1.1 503 "); }));
  EXPECT_THAT(first.receive(100ms), IsEmpty());
}

TEST(Chain, EndsThoughItsCallsHang) {
  const FullListener hangs;
  ServerUnderTest server(
      calling(hangs.url(), {std::string("--call-timeout=") + kLong, "--call-max-attempts=1000"}));
  const Socket request = request_to(server);
  EXPECT_THAT(request.receive(100ms), IsEmpty());
  server.signal(SIGTERM);
  EXPECT_EQ(server.exit_code(), 0);
}

TEST(Chain, LosesItsCallsByARestart) {
  const Listener callee;
  const TempDir dir;
  const ServerUnderTest server(
      calling(callee.url(), {"--workers=1", std::string("--call-timeout=") + kLong,
                             "--admin-port=any", "--admin-token-file=" + dir.file("token")}));
  const Socket lost = request_to(server);
  const Socket call = callee.accept(kPatience);
  ASSERT_TRUE(call);
  const int admin = server.admin_port();
  const std::string token = read_file(dir.file("token"));
  const Socket order = connect_to(admin);
  order.send("POST /control HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(admin) +
             "\r\nX-Retrystorm-Token: " + token.substr(0, token.find('\n')) +
             "\r\nContent-Length: 7\r\n\r\nrestart");
  EXPECT_THAT(order.receive(kPatience), HasStatus(200));
  EXPECT_TRUE(lost.closed_by_peer(kPatience));
  // The worker that it held is free again.
  const Socket next = request_to(server);
  EXPECT_TRUE(callee.accept(kPatience));
}

}  // namespace
}  // namespace retrystorm::test
