// The metrics and the status of the programs.
#include "tests/support/child_process.h"
#include "tests/support/samples.h"
#include "tests/support/sockets.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

std::string body(const std::string& answer) {
  const std::size_t end = answer.find("\r\n\r\n");
  return end == std::string::npos ? "" : answer.substr(end + 4);
}

nlohmann::json status(int port) {
  return nlohmann::json::parse(body(get(port, kPatience, "/status")), nullptr, false);
}

std::string metrics(int port) {
  return body(get(port, kPatience, "/metrics"));
}

// The errors that Prometheus' promtool finds in the text.
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

// Two hang up while a worker is busy with the first request. It takes the fourth after that one.
TEST(ServerAdmin, CountsWhomItSkipped) {
  const ServerUnderTest server({"--service", "workers", "--workers", "1", "--service-time", "1s",
                                "--abandoned", "skip", "--admin-port", "any"});
  const int port = server.admin_port();
  const std::string request = "GET /api HTTP/1.1\r\nHost: h\r\n\r\n";
  const Socket first = connect_to(server.port());
  ASSERT_TRUE(first.send(request));
  {
    const Socket closed = connect_to(server.port()), reset = connect_to(server.port());
    reset.reset_on_close();
    ASSERT_TRUE(closed.send(request));
    ASSERT_TRUE(reset.send(request));
    ASSERT_TRUE(eventually([&] { return status(port)["offered_total"] == 3; }));
  }
  EXPECT_THAT(get(server.port(), kPatience), HasStatus(200));
  EXPECT_THAT(first.receive(kPatience), HasStatus(200));
  ASSERT_TRUE(eventually([&] { return status(port)["completed_total"] == 2; }));
  const auto now = status(port);
  EXPECT_EQ(now["admitted_total"], 4);
  EXPECT_EQ(now["served_total"], 2);
  EXPECT_EQ(now["rejected_total"]["abandoned"], 2);
}

TEST(ServerAdmin, CountsAsServedOnlyWhoGotAnOk) {
  const ServerUnderTest server({"--base-delay", "200ms", "--admin-port", "any"});
  const int port = server.admin_port();
  get(server.port(), kPatience);
  get(server.port(), kPatience, "/elsewhere");
  {
    const Socket garbage = connect_to(server.port());
    garbage.send("what?\r\n\r\n");
    garbage.closed_by_peer(kPatience);
    const Socket gone = connect_to(server.port());
    gone.send("GET /api HTTP/1.1\r\nHost: h\r\n\r\n");
    gone.reset_on_close();
  }
  ASSERT_TRUE(eventually([&] { return status(port)["completed_total"] == 4; })) << status(port);
  EXPECT_EQ(status(port)["served_total"], 1);
}

// Minutes are shortened to 0.1 s. The capacity is not used, so it falls to the minimum
// automatically.
TEST(ServerAdmin, ShowsACapacityThatFollowsItsUse) {
  const ServerUnderTest server({"--admin-port=any", "--rate-limit=100", "--rate-burst=300s",
                                "--autoscale=target-tracking", "--autoscale-period=100ms",
                                "--autoscale-in-after=300ms", "--autoscale-delay=100ms"});
  const int port = server.admin_port();
  EXPECT_TRUE(eventually([&] { return status(port)["capacity"] == 1; })) << status(port);
  const auto at_the_end = status(port);
  EXPECT_EQ(at_the_end["used_total"], 0);
  EXPECT_GE(at_the_end["provided_unit_s_total"], 100 * 0.4);
  EXPECT_THAT(lines(metrics(port)), Contains("retrystorm_server_capacity 1"));
}

TEST(ServerAdmin, AnswersWithEveryConnectionTaken) {
  const ServerUnderTest server(
      {"--base-delay", "1h", "--max-connections", "5", "--admin-port", "any"});
  const int port = server.admin_port();
  std::vector<Socket> parked;
  for (int i = 0; i < 20; ++i) parked.push_back(connect_to(server.port()));
  ASSERT_TRUE(eventually([&] { return status(port)["concurrency"] == 5; })) << status(port);
  EXPECT_EQ(status(port)["last_delay_s"], 3600);
  EXPECT_THAT(lines(metrics(port)), Contains("retrystorm_server_concurrency 5"));
  EXPECT_GE(status(port)["accept_queue"], 14);  // the server may hold one that it has no room for
  EXPECT_GE(samples(metrics(port)).at("server_accept_queue"), 14);
}

// The default admin port is the server's port + 1. Here that port is in use, and the server's port
// is free. Finding such a pair usually takes one try.
TEST(ServerAdmin, GoesOnWithoutTheDefaultPort) {
  for (int tries = 0; tries < 100; ++tries) {
    const Listener other;
    const ChildProcess server(RETRYSTORM_SERVER, {"--port", std::to_string(other.port() - 1)});
    ASSERT_TRUE(eventually([&] { return !server.err().empty(); }));
    if (server.err().find("port " + std::to_string(other.port() - 1) + " is already in use") !=
        std::string::npos) {
      continue;
    }
    EXPECT_TRUE(server.says("no metrics: port " + std::to_string(other.port()) +
                            " is already in use (choose another --admin-port)\n"));
    EXPECT_TRUE(server.says("listening on"));
    return;
  }
  FAIL() << "no two neighbouring ports are free";
}

TEST(ServerAdmin, IsOffWhenNotWanted) {
  const ServerUnderTest server({"--admin-port", "0"});
  EXPECT_THAT(server.err(), Not(HasSubstr("metrics")));
}

TEST(ClientMetrics, AnswerWhileAStormRuns) {
  ServerUnderTest server({"--admin-port", "any"});
  const int server_port = server.admin_port();
  ClientUnderTest client({"--url", server.url(), "--clients", "200", "--lambda", "100ms",
                          "--timeout", "200ms", "--fixed-delay", "300ms", "--metrics-port", "any",
                          "--duration", "60s"});
  const int client_port = client.admin_port();
  const auto client_status = [&] { return status(client_port); };
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
  for (const char* name : {"clients{state=\"waiting_to_retry\"}",
                           "attempt_latency_seconds_bucket{outcome=\"timed_out\"",
                           "request_time_seconds_bucket{result=\"succeeded\""}) {
    EXPECT_TRUE(has_series(of_client, name)) << name;
  }
  EXPECT_GT(now["failing"], 0);
  server.signal(SIGCONT);
  const std::string of_server = metrics(server_port);
  if (!has_promtool()) GTEST_SKIP() << "promtool is missing (Debian: prometheus)";
  EXPECT_EQ(faults(of_client), "");
  EXPECT_EQ(faults(of_server), "");
}

}  // namespace
}  // namespace retrystorm::test
