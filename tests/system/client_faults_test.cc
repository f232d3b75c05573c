// The client against servers that misbehave, and against Ctrl-C.
#include <sys/resource.h>

#include "tests/support/child_process.h"
#include "tests/support/http2_peer.h"
#include "tests/support/sockets.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

// How long a program may take to end on request: one second, and more on a busy machine.
constexpr Duration kEnd = 3s * kSlowness;

class Interrupted : public testing::Test {
 protected:
  // Clients with short waits and frequent reports.
  Arguments storm(const std::string& url) {
    return {"--url",      url,  "--clients",         "50",   "--lambda", "10ms",
            "--timeout",  "5m", "--report-interval", "20ms", "--json",   json_path(),
            "--duration", "10m"};
  }

  std::string json_path() const { return dir_.file("client.jsonl"); }

  // The client ends in order, with its complete output.
  void expect_ends_well(ClientUnderTest& client, int signal) {
    client.signal(signal);
    ASSERT_EQ(client.exit_code(kEnd), 0) << client.err();
    const auto json = read_json_lines(json_path());
    EXPECT_EQ(json.front()["type"], "start");
    EXPECT_EQ(json.back()["type"], "summary");
    std::filesystem::remove(json_path());  // for the next one
  }

  // Waits until every client has an attempt in flight.
  bool all_in_flight() {
    return eventually(
        [this] { return read_file(json_path()).find("\"in_flight\":50,") != std::string::npos; });
  }

  bool reports() {
    return eventually([this] { return lines(read_file(json_path())).size() > 3; });
  }

 private:
  TempDir dir_;
};

TEST_F(Interrupted, WhileAllIsWellOrThinking) {
  const ServerUnderTest server({"--base-delay", "5ms"});
  for (const auto& [number, think] :
       {std::pair(SIGINT, "10ms"), {SIGTERM, "10ms"}, {SIGINT, "1000h"}}) {
    ClientUnderTest client(storm(server.url()) + Arguments{"--lambda", think});
    ASSERT_TRUE(reports());
    expect_ends_well(client, number);
  }
}

TEST_F(Interrupted, WhileNobodyAnswersOrConnectingHangsOrTheAnswerDrips) {
  const Listener silent;
  const FullListener full;
  const FakeServer drips(drip);
  for (const std::string& url : {silent.url(), full.url(), drips.url()}) {
    ClientUnderTest client(storm(url));
    ASSERT_TRUE(all_in_flight()) << url;
    expect_ends_well(client, SIGINT);
  }
}

TEST_F(Interrupted, WhileTheServerIsFrozen) {
  // The accept queue is so short that most connects hang.
  ServerUnderTest server({"--base-delay", "0s", "--backlog", "5"});
  server.signal(SIGSTOP);
  ASSERT_TRUE(eventually([&] { return server.state() == 'T'; }));
  ClientUnderTest client(storm(server.url()));
  ASSERT_TRUE(all_in_flight());
  expect_ends_well(client, SIGINT);
}

TEST_F(Interrupted, BeforeAnythingHasHappened) {
  const ServerUnderTest server;
  ClientUnderTest client(storm(server.url()));
  // The first line is written just before the clients start. After it, a signal ends the client in
  // order.
  ASSERT_TRUE(eventually([this] { return !read_file(json_path()).empty(); }));
  expect_ends_well(client, SIGINT);
}

TEST_F(Interrupted, WithNoDescriptorLeft) {
  if (!kCanRunOutOfDescriptors) GTEST_SKIP() << "the sanitizer needs descriptors itself";
  const Listener silent;
  ClientUnderTest client(storm(silent.url()));
  ASSERT_TRUE(all_in_flight());
  const rlimit none{3, 3};
  ASSERT_EQ(prlimit(client.pid(), RLIMIT_NOFILE, &none, nullptr), 0);
  expect_ends_well(client, SIGTERM);
}

// At its time and by a signal. Each connection has a flood of its own.
TEST(ClientFaults, EndsBesideFloods) {
  for (const Frame& frame : {kFloods.at(0), kFloods.at(1)}) {
    std::vector<std::jthread> floods;
    const FakeServer server([&](Socket socket) {
      floods.emplace_back([frame, its = std::move(socket)] { flood(its, frame); });
    });
    for (const std::string duration : {"1s", "1h"}) {
      ClientUnderTest client({"--url", server.url(), "--connections", "multiplexed", "--clients",
                              "20", "--lambda", "10ms", "--timeout", "5m", "--report-interval",
                              "200ms", "--duration", duration});
      if (duration == "1h") {
        EXPECT_TRUE(eventually([&] { return client.out().find("OK:") != std::string::npos; }));
        client.signal(SIGTERM);
      }
      EXPECT_EQ(client.exit_code(kEnd + 1s), 0);
    }
  }
}

TEST(ClientFaults, RunsWithHardlyAnyDescriptors) {
  if (!kCanRunOutOfDescriptors) GTEST_SKIP() << "the sanitizer needs descriptors itself";
  const ServerUnderTest server({"--base-delay", "10ms"});
  const TempDir dir;
  ChildProcess client(RETRYSTORM_CLIENT,
                      {"--url", server.url(), "--clients", "6", "--lambda", "1ms", "--duration",
                       "1s", "--json", dir.file("client.jsonl"), "--metrics-port", "any"},
                      30);
  ASSERT_EQ(client.exit_code(), 0) << client.err();
  const auto summary = read_json_lines(dir.file("client.jsonl")).back();
  EXPECT_EQ(summary["errors"], 0);
  EXPECT_GT(summary["ok"], 0);
}

// Each attempt copies the body. Attempts without memory for the copy are not sent.
TEST(ClientFaults, CountsAttemptsForWhichThereIsNoMemoryAsErrors) {
  if (!kCanRunOutOfMemory) GTEST_SKIP() << "the sanitizer needs memory itself";
  const Listener silent;
  const TempDir dir;
  std::ofstream(dir.file("body")) << std::string(15'000'000, '.');
  ChildProcess client(RETRYSTORM_CLIENT,
                      {"--url", silent.url(), "--method", "PUT", "--body", "@" + dir.file("body"),
                       "--clients", "50", "--lambda", "300ms", "--timeout", "500ms", "--duration",
                       "3s", "--json", dir.file("client.jsonl")},
                      0, [] {
                        setenv("MALLOC_ARENA_MAX", "1",
                               1);  // each arena would take 64 MB of addresses
                        const rlimit limit{900'000'000, 900'000'000};
                        setrlimit(RLIMIT_AS, &limit);
                      });
  ASSERT_EQ(client.exit_code(), 0) << client.err();
  const auto summary = read_json_lines(dir.file("client.jsonl")).back();
  EXPECT_GT(summary["errors"], 0);
  EXPECT_EQ(summary["first_error"], "no memory");
}

}  // namespace
}  // namespace retrystorm::test
