// The server ends within a second, however many connections are parked in it.
#include "common/os/process.h"
#include "tests/support/child_process.h"
#include "tests/support/sockets.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

constexpr Duration kLongestEnd = 1s * kSlowness;

class Shutdown : public testing::TestWithParam<int> {
 protected:
  bool parked(int count) {
    const std::string text = "\"concurrency\":" + std::to_string(count) + ",";
    return eventually([&] { return read_file(json_path()).find(text) != std::string::npos; });
  }

  void expect_ends_well() {
    server_.signal(GetParam());
    ASSERT_EQ(server_.exit_code(kLongestEnd), 0) << server_.err();
    EXPECT_EQ(read_json_lines(json_path()).front()["type"], "start");
  }

  std::string json_path() const { return dir_.file("server.jsonl"); }

  TempDir dir_;
  ServerUnderTest server_{{"--base-delay", "1h", "--backlog", "4096", "--report-interval", "50ms",
                           "--json", json_path()}};
};

TEST_P(Shutdown, WhileIdle) {
  expect_ends_well();
}

TEST_P(Shutdown, WithThousandsParked) {
  // As many connections as both sides have descriptors for.
  const int count = static_cast<int>(std::min<std::size_t>(raise_descriptor_limit(), 20'064)) - 164;
  std::vector<Socket> parked_ones;
  for (int i = 0; i < count; ++i) {
    parked_ones.push_back(connect_to(server_.port()));
    // Half of them have sent their request.
    if (i % 2 == 0) parked_ones.back().send("GET /api HTTP/1.1\r\n\r\n");
  }
  ASSERT_TRUE(parked(count));
  expect_ends_well();
}

TEST_P(Shutdown, WithMoreThanItTakesIn) {
  ServerUnderTest full({"--base-delay", "1h", "--max-connections", "10"});
  std::vector<Socket> waiting;
  for (int i = 0; i < 100; ++i) waiting.push_back(connect_to(full.port()));
  full.signal(GetParam());
  EXPECT_EQ(full.exit_code(kLongestEnd), 0);
}

INSTANTIATE_TEST_SUITE_P(BySignal, Shutdown, testing::Values(SIGTERM, SIGINT),
                         [](const auto& test) { return test.param == SIGINT ? "INT" : "TERM"; });

}  // namespace
}  // namespace retrystorm::test
