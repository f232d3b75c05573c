// Bad requests and shortages that the server survives.
#include <sys/resource.h>

#include "tests/support/child_process.h"
#include "tests/support/http2_peer.h"
#include "tests/support/sockets.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

class ServerFaults : public testing::Test {
 protected:
  // After each test, a valid request must still be answered.
  void TearDown() override { EXPECT_THAT(get(server_.port(), kPatience), HasStatus(200)); }

  // Sends `text` and waits until the server closes the connection.
  std::string send(const std::string& text) {
    const Socket socket = connect_to(server_.port());
    socket.send(text);
    return socket.receive(kPatience);
  }

  ServerUnderTest server_{{"--base-delay", "0s"}};
};

// It answers or ends each, also those that send no more.
TEST_F(ServerFaults, GarbageAndHalvesOfRequests) {
  std::string garbage, ranges = "bytes=0-0", many = "GET /api HTTP/1.1\r\n";
  for (int i = 0; i < 5000; ++i) garbage += static_cast<char>(i * 7919 % 256);
  while (ranges.size() < 8000) ranges += ",0-0";
  for (int i = 0; i < 2000; ++i) many += "Range: bytes=0-1,5-9,-3\r\n";
  const std::string get = "GET /api HTTP/1.1\r\n", post = "POST /api HTTP/1.1\r\n";
  std::vector<Socket> all;
  for (const std::string& text :
       {garbage, std::string(1000, '\0'), std::string("\r\n\r\n\r\n\r\n"), std::string("\n"),
        std::string("GET\r\n\r\n"), std::string("GET /api HTTP/9.9\r\n\r\n"),
        std::string("GET /%zz%ff%00 HTTP/1.1\r\n\r\n"),
        // The start of a TLS handshake.
        std::string("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", 11),
        std::string("GET /api HTT"),
        get + "Host: h\r\nX-Endless: ", post + "Content-Length: 1000000\r\n\r\nabc",
        post + "Content-Length: 99999999999999999999\r\n\r\nabc",
        post + "Transfer-Encoding: chunked\r\n\r\nfffffffffffffff\r\n",
        get + "Range: " + ranges + "\r\n\r\n",
        get + "Range: bytes=" + std::string(8000, '9') + "-\r\n\r\n", many + "\r\n"}) {
    all.push_back(connect_to(server_.port()));
    all.back().send(text);
  }
  for (const Socket& each : all) EXPECT_TRUE(each.closed_by_peer(kPatience));
}

TEST_F(ServerFaults, HeadThatGoesOn) {
  const Socket socket = connect_to(server_.port());
  socket.send("GET /api HTTP/1.1\r\n");
  // One second for the whole head, however small its parts are.
  EXPECT_TRUE(eventually([&] { return !socket.send("X: y\r\n"); }));
}

TEST_F(ServerFaults, RequestThatIsAbandoned) {
  for (int i = 0; i < 50; ++i) {
    const Socket socket = connect_to(server_.port());
    socket.send("GET /api HTTP/1.1\r\n\r\n");
    if (i % 2 == 0) socket.reset_on_close();
  }
}

TEST_F(ServerFaults, LinesOf100Kilobytes) {
  const std::string much(100'000, 'x');
  EXPECT_THAT(send("GET /" + much + " HTTP/1.1\r\nHost: h\r\n\r\n"), HasStatus(431));
  EXPECT_THAT(send("GET /api HTTP/1.1\r\nX-Long: " + much + "\r\n\r\n"), HasStatus(431));
}

// The server must not send the memory behind its answer.
TEST_F(ServerFaults, RangeBeyondTheAnswer) {
  for (const std::string range : {"0-1000", "1-1000", "2-1000", "5-9", "1000-", "-1000"}) {
    const std::string answer = send("GET /api HTTP/1.1\r\nRange: bytes=" + range + "\r\n\r\n");
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 ")) << range;
    const std::size_t head = answer.find("\r\n\r\n");
    ASSERT_NE(head, std::string::npos) << range;
    EXPECT_THAT(answer.substr(head + 4), testing::AnyOf("OK", "K", "")) << range;
  }
}

// Opens connections until `--max-connections` or the descriptors are used up, then closes them.
void expect_to_fill_and_recover(const ServerUnderTest& server, int connections) {
  {
    std::vector<Socket> parked;
    for (int i = 0; i < connections; ++i) parked.push_back(connect_to(server.port()));
    // They send nothing, and each is closed after its delay and the read timeout.
    EXPECT_THAT(get(server.port(), 2 * kPatience), HasStatus(200));
  }
  EXPECT_THAT(get(server.port(), kPatience), HasStatus(200));
}

TEST(ServerOutOfConnections, BlocksAndRecovers) {
  const ServerUnderTest server({"--base-delay", "300ms", "--max-connections", "20"});
  expect_to_fill_and_recover(server, 50);
}

TEST(ServerOutOfConnections, LeavesTheRestToTheKernelsQueue) {
  const ServerUnderTest server(
      {"--base-delay", "1h", "--max-connections", "5", "--report-interval", "20ms"});
  std::vector<Socket> parked;
  for (int i = 0; i < 20; ++i) parked.push_back(connect_to(server.port()));
  const auto reports = [&](const char* text) {
    return eventually([&] { return server.out().find(text) != std::string::npos; });
  };
  EXPECT_TRUE(reports("concurrency:    5,"));
  const std::size_t seen = lines(server.out()).size();
  EXPECT_TRUE(eventually([&] { return lines(server.out()).size() > seen + 5; }));
  EXPECT_EQ(server.out().find("concurrency:    6,"), std::string::npos);
}

TEST(ServerOutOfDescriptors, FitsItselfToFewAndRecovers) {
  const ServerUnderTest server({"--base-delay", "300ms"}, 200);
  expect_to_fill_and_recover(server, 250);
}

// Here the limit on descriptors is lowered while it runs, so that accept() fails.
TEST(ServerOutOfDescriptors, KeepsServingWhenTheyComeBack) {
  if (!kCanRunOutOfDescriptors) GTEST_SKIP() << "the sanitizer needs descriptors itself";
  ServerUnderTest server({"--base-delay", "200ms"}, 500);
  rlimit few{30, 500};
  ASSERT_EQ(prlimit(server.pid(), RLIMIT_NOFILE, &few, nullptr), 0);
  expect_to_fill_and_recover(server, 60);
  rlimit enough{500, 500};
  ASSERT_EQ(prlimit(server.pid(), RLIMIT_NOFILE, &enough, nullptr), 0);
  expect_to_fill_and_recover(server, 60);
  EXPECT_EQ(server.exit_code(0s), std::nullopt);
}

// The hedges of its calls leave some for the admin port.
TEST(ServerOutOfDescriptors, LeavesSomeBesideItsCalls) {
  const Listener silent;
  ServerUnderTest server(
      {"--base-delay", "0s", "--admin-port", "any", "--calls", "up=" + silent.url(), "--call-hedge",
       "1ms", "--call-hedge-max", "10", "--call-timeout", "1h"},
      200);
  std::vector<Socket> waiting;
  for (int i = 0; i < 60; ++i) {
    waiting.push_back(connect_to(server.port()));
    waiting.back().send("GET /api HTTP/1.1\r\n\r\n");
  }
  const int admin = server.admin_port();
  for (int i = 0; i < 5; ++i) {
    EXPECT_THAT(get(admin, kPatience, "/status"), HasStatus(200));
  }
  server.signal(SIGTERM);
  EXPECT_EQ(server.exit_code(3s * kSlowness), 0);
}

TEST(ServerOutOfDescriptors, EndsWithNoneLeft) {
  if (!kCanRunOutOfDescriptors) GTEST_SKIP() << "the sanitizer needs descriptors itself";
  const Listener silent;
  ServerUnderTest server(
      {"--base-delay", "0s", "--calls", "up=" + silent.url(), "--call-timeout", "1h"}, 500);
  std::vector<Socket> waiting;
  for (int i = 0; i < 20; ++i) {
    waiting.push_back(connect_to(server.port()));
    waiting.back().send("GET /api HTTP/1.1\r\n\r\n");
  }
  for (int i = 0; i < 20; ++i) EXPECT_TRUE(silent.accept(kPatience));
  const rlimit none{3, 3};
  ASSERT_EQ(prlimit(server.pid(), RLIMIT_NOFILE, &none, nullptr), 0);
  server.signal(SIGTERM);
  EXPECT_EQ(server.exit_code(3s * kSlowness), 0);
}

TEST(ServerFloods, LeaveItItsEnd) {
  for (const Frame& frame : {kFloods.at(0), kFloods.at(1)}) {
    const FakeServer up([&](const Socket& socket) { flood(socket, frame); });
    ServerUnderTest server({"--base-delay", "0s", "--calls", "up=" + up.url(), "--call-timeout",
                            "200ms", "--call-max-retries", "0", "--call-connections",
                            "multiplexed"});
    EXPECT_THAT(get(server.port(), kPatience), StartsWith("HTTP/1.1 50"));
    server.signal(SIGTERM);
    EXPECT_EQ(server.exit_code(3s * kSlowness), 0);
  }
}

TEST(ServerOutOfDescriptors, RefusesToStartWithHardlyAny) {
  ChildProcess server(RETRYSTORM_SERVER, {"--port", "0"}, 40);
  EXPECT_EQ(server.exit_code(), 1);
  EXPECT_THAT(server.err(), StartsWith("a process may open only 40 files here"));
  EXPECT_EQ(lines(server.err()).size(), 1);
}

// With any amount of memory, the server either starts and ends in order, or prints one line that
// says why it cannot.
TEST(ServerOutOfMemory, SaysThatItCannotStart) {
  if (kSlowness > 1) GTEST_SKIP() << "sanitizers need more memory";
  for (rlim_t megabytes = 60; megabytes <= 180; megabytes += 5) {
    ChildProcess server(RETRYSTORM_SERVER, {"--port", "0", "--admin-port", "any"}, 0, [&] {
      const rlimit bound{megabytes << 20, megabytes << 20};
      setrlimit(RLIMIT_AS, &bound);
    });
    EXPECT_TRUE(eventually([&] {
      return server.exit_code(0s) || server.err().find("listening on") != std::string::npos;
    }));
    server.signal(SIGTERM);
    EXPECT_THAT(server.exit_code(), testing::AnyOf(0, 1, 128 + SIGTERM))
        << megabytes << ": " << server.err();
  }
}

// Endless requests do not make any of the programs use more memory.

// Sends as long as the other side reads, up to 64 MB. Returns the number of bytes accepted.
std::size_t flood(int port, const std::string& head, const std::string& piece) {
  const Socket socket = connect_to(port);
  if (!socket.send(head)) return 0;
  std::size_t sent = 0;
  for (; sent < 64 << 20 && socket.send(piece); sent += piece.size()) {
  }
  return sent;
}

void expect_no_growth(const ChildProcess& program, int port) {
  ASSERT_GT(port, 0);
  // First lets each of the port's threads allocate what it needs to answer: a lot under a
  // sanitizer.
  for (int i = 0; i < 64; ++i) get(port, kPatience);
  const std::size_t before = program.memory();
  const std::string zeros(65536, '\0');
  const std::string host = " / HTTP/1.1\r\nHost: 127.0.0.1:" + std::to_string(port) + "\r\n";
  for (const std::string method : {"POST", "PUT", "PATCH", "DELETE", "GET"}) {
    // Only what fits into the sockets' buffers is accepted.
    EXPECT_LT(flood(port, method + host + "Content-Length: 99999999999\r\n\r\n", zeros), 32 << 20);
    EXPECT_LT(flood(port, method + host + "Transfer-Encoding: chunked\r\n\r\n",
                    "10000\r\n" + zeros + "\r\n"),
              32 << 20);
  }
  // A sanitizer keeps several times the program's memory.
  if (kSlowness > 1) return;
  EXPECT_LT(program.memory(), before + (5 << 20)) << port;
}

TEST(RequestBody, MakesNoPortOfTheServerGrow) {
  const ServerUnderTest server({"--base-delay", "0s", "--admin-port", "any"});
  get(server.port(), kPatience);
  expect_no_growth(server, server.port());
  expect_no_growth(server, server.admin_port());
}

TEST(RequestBody, MakesNoPortOfTheClientGrow) {
  const ServerUnderTest server({"--base-delay", "0s"});
  const ClientUnderTest client({"--url", server.url(), "--clients", "5", "--metrics-port", "any",
                                "--dashboard", "--dashboard-port", "0", "--duration", "1h"});
  expect_no_growth(client, client.admin_port());
  expect_no_growth(client, client.port_after("live page: http://127.0.0.1:"));
}

}  // namespace
}  // namespace retrystorm::test
