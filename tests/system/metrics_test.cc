// What the programs say of themselves to those who watch them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "tests/support/child_process.h"
#include "tests/support/sockets.h"

namespace retrystorm::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// Free a moment ago: for what cannot be told to take any free one, as 0 means none.
std::string free_port() {
  return std::to_string(Listener().port());
}

std::string body(const std::string& answer) {
  const std::size_t end = answer.find("\r\n\r\n");
  return end == std::string::npos ? "" : answer.substr(end + 4);
}

nlohmann::json status(const std::string& port) {
  return nlohmann::json::parse(body(get(std::stoi(port), kPatience, "/status")), nullptr, false);
}

std::string metrics(const std::string& port) {
  return body(get(std::stoi(port), kPatience, "/metrics"));
}

// What Prometheus' own tool finds wrong with it.
std::string faults(const std::string& text) {
  const TempDir dir;
  std::ofstream(dir.file("metrics")) << text;
  const std::string command =
      "promtool check metrics <" + dir.file("metrics") + " >" + dir.file("said") + " 2>&1";
  const int code = std::system(command.c_str());
  return code == 0 ? "" : "exit code " + std::to_string(code) + ": " + read_file(dir.file("said"));
}

bool has_promtool() {
  return std::system("command -v promtool >/dev/null") == 0;
}

TEST(ServerAdmin, CountsWhatTheServerDoes) {
  const std::string port = free_port();
  const ServerUnderTest server({"--base-delay", "0s", "--admin-port", port});
  EXPECT_THAT(server.err(), HasSubstr("metrics on http://127.0.0.1:" + port + "/metrics\n"));
  for (int i = 0; i < 3; ++i) get(server.port(), kPatience);
  ASSERT_TRUE(eventually([&] { return status(port)["departures"] == 3; }));
  const auto now = status(port);
  EXPECT_EQ(now["arrivals"], 3);
  EXPECT_EQ(now["concurrency"], 0);
  EXPECT_EQ(now["rejected_429"], 0);
  EXPECT_EQ(now["rejected_503"], 0);
  EXPECT_GE(now["uptime_s"], 0);
  EXPECT_THAT(metrics(port),
              HasSubstr("\nretrystorm_server_requests_total{result=\"served\"} 3\n"));
}

TEST(ServerAdmin, CountsOnAcrossReports) {
  const std::string port = free_port();
  const ServerUnderTest server(
      {"--base-delay", "0s", "--report-interval", "10ms", "--admin-port", port});
  for (int i = 0; i < 20; ++i) get(server.port(), kPatience);
  EXPECT_TRUE(eventually([&] { return status(port)["departures"] == 20; })) << status(port);
}

TEST(ServerAdmin, AnswersWithEveryConnectionTaken) {
  const std::string port = free_port();
  const ServerUnderTest server(
      {"--base-delay", "1h", "--max-connections", "5", "--admin-port", port});
  std::vector<Socket> parked;
  for (int i = 0; i < 20; ++i) parked.push_back(connect_to(server.port()));
  ASSERT_TRUE(eventually([&] { return status(port)["concurrency"] == 5; })) << status(port);
  EXPECT_EQ(status(port)["last_delay_s"], 3600);
  EXPECT_THAT(metrics(port), HasSubstr("\nretrystorm_server_concurrency 5\n"));
}

TEST(ServerAdmin, AnswersWithEveryDescriptorTaken) {
  const std::string port = free_port();
  const ServerUnderTest server({"--base-delay", "1h", "--admin-port", port}, 200);
  std::vector<Socket> parked;
  for (int i = 0; i < 250; ++i) parked.push_back(connect_to(server.port()));
  ASSERT_TRUE(eventually([&] { return status(port)["concurrency"] == 136; })) << status(port);
  EXPECT_THAT(metrics(port), HasSubstr("\nretrystorm_server_concurrency 136\n"));
}

TEST(ServerAdmin, RefusesABusyPortThatWasAskedFor) {
  const Listener other;
  ChildProcess server(RETRYSTORM_SERVER,
                      {"--port", "0", "--admin-port", std::to_string(other.port())});
  EXPECT_EQ(server.exit_code(), 1);
  EXPECT_THAT(server.err(), testing::StrEq("--admin-port: port " + std::to_string(other.port()) +
                                           " is already in use\n"));
}

TEST(ServerAdmin, GoesOnWithoutTheDefaultPort) {
  // Whether or not somebody else has it already, the second server does not get it.
  const ChildProcess first(RETRYSTORM_SERVER, {"--port", "0"});
  ASSERT_TRUE(first.says("metrics"));
  const ChildProcess second(RETRYSTORM_SERVER, {"--port", "0"});
  EXPECT_TRUE(
      second.says("no metrics: port 8071 is already in use (choose another --admin-port)\n"));
  EXPECT_TRUE(second.says("listening on"));
}

TEST(ServerAdmin, IsOffWhenNotWanted) {
  const ServerUnderTest server({"--admin-port", "0"});
  EXPECT_THAT(server.err(), Not(HasSubstr("metrics")));
}

TEST(ClientMetrics, AnswerWhileAStormRuns) {
  const std::string server_port = free_port(), client_port = free_port();
  ServerUnderTest server({"--admin-port", server_port});
  ClientUnderTest client({"--url", server.url(), "--clients", "200", "--lambda", "100ms",
                          "--timeout", "200ms", "--fixed-delay", "300ms", "--metrics-port",
                          client_port, "--duration", "60s"});
  const auto client_status = [&] {
    try {
      return status(client_port);
    } catch (const std::runtime_error&) {
      return nlohmann::json();  // it is not up yet, and then there are no clients yet
    }
  };
  ASSERT_TRUE(eventually([&] {
    const auto now = client_status();
    return now.contains("ok") && now["ok"] > 0;
  }));
  server.signal(SIGSTOP);
  ASSERT_TRUE(eventually([&] {
    const auto now = client_status();
    return now["retries"] > 500 && now["timed_out"] > 500;
  })) << client_status();
  const auto now = client_status();
  EXPECT_EQ(now["clients"], 200);
  EXPECT_GT(now["in_flight"], 0);
  EXPECT_GT(now["waiting_to_retry"], 0);
  EXPECT_GT(now["amplification"], 1);
  const std::string of_client = metrics(client_port);
  EXPECT_THAT(
      of_client,
      AllOf(HasSubstr("\nretrystorm_clients{state=\"waiting_to_retry\"} "),
            HasSubstr("\nretrystorm_attempt_latency_seconds_bucket{outcome=\"timed_out\"")));
  server.signal(SIGCONT);
  const std::string of_server = metrics(server_port);
  if (!has_promtool()) GTEST_SKIP() << "promtool is missing (Debian: prometheus)";
  EXPECT_EQ(faults(of_client), "");
  EXPECT_EQ(faults(of_server), "");
}

TEST(ClientMetrics, RefuseABusyPort) {
  const Listener other;
  ClientUnderTest client({"--metrics-port", std::to_string(other.port())});
  EXPECT_EQ(client.exit_code(), 1);
  EXPECT_THAT(client.err(),
              EndsWith("port " + std::to_string(other.port()) + " is already in use\n"));
}

}  // namespace
}  // namespace retrystorm::test
