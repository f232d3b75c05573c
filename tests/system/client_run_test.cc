// A run of the client, as a user sees it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <csignal>
#include <regex>
#include <string>

#include "tests/support/child_process.h"
#include "tests/support/sockets.h"

namespace retrystorm::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

const std::regex kLine(
    R"(OK: \d+\.\d\d req/sec, errors: \d+\.\d\d req/sec, timedout: \d+\.\d\d req/sec)");

// A few busy clients for a short time.
Arguments short_run(const std::string& url, const std::string& json, Arguments more = {}) {
  Arguments arguments{"--url",    url,    "--json",     json, "--clients",         "5",
                      "--lambda", "50ms", "--duration", "1s", "--report-interval", "250ms"};
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(ClientRun, SaysItsLinesAndTheSummary) {
  const TempDir dir;
  const ServerUnderTest server({"--base-delay", "1ms"});
  ClientUnderTest client(short_run(server.url(), dir.file("client.jsonl"), {"--seed", "7"}));
  ASSERT_EQ(client.exit_code(), 0);
  const auto out = lines(client.out());
  ASSERT_GE(out.size(), 2);
  std::size_t reports = 0;
  while (reports < out.size() && std::regex_match(out[reports], kLine)) ++reports;
  EXPECT_GE(reports, 1);
  EXPECT_LT(reports, out.size());  // the answer follows
  EXPECT_LE(lines(client.err()).size(), 4u);
}

// Five clients with a connection each, or with one for all of them, for as long as the run lasts.
TEST(ClientRun, KeepsItsConnections) {
  for (const int processes : {5, 1}) {
    const TempDir dir;
    const std::string path = dir.file("client.jsonl");
    const ServerUnderTest server({"--base-delay", "1ms"});
    ClientUnderTest client(short_run(
        server.url(), path,
        {"--connections=keep-alive", "--processes=" + std::to_string(processes), "--pool-size=1"}));
    ASSERT_EQ(client.exit_code(), 0);
    const auto all = read_json_lines(path);
    EXPECT_EQ(all.back()["errors"], 0);
    EXPECT_GT(all.back()["ok"], 10);
    const auto interval = *std::find_if(
        all.rbegin(), all.rend(), [](const auto& each) { return each["type"] == "interval"; });
    EXPECT_EQ(interval["connections"]["opened"], processes);
    EXPECT_EQ(interval["connections"]["open"], processes);
  }
}

// The server only errs. More than five consecutive failures open gobreaker's circuit breaker for a
// minute, and no more attempts are sent.
TEST(ClientRun, DoesNotSendWhatItsBreakerRefuses) {
  const TempDir dir;
  const std::string path = dir.file("client.jsonl");
  const ServerUnderTest server({"--error-share=1"});
  ClientUnderTest client(short_run(server.url(), path, {"--breaker=gobreaker", "--max-retries=0"}));
  ASSERT_EQ(client.exit_code(), 0);
  const auto summary = read_json_lines(path).back();
  EXPECT_EQ(summary["ok"], 0);
  // The sixth failure opens it, while the other four clients may have an attempt in flight.
  EXPECT_GE(summary["errors"], 6);
  EXPECT_LE(summary["errors"], 10);
  EXPECT_GT(summary["not_sent"], 0);
  EXPECT_EQ(summary["gave_up"].get<int>(),
            summary["not_sent"].get<int>() + summary["errors"].get<int>());
}

// The service accepts one request every two seconds and sends Retry-After. A client that respects
// it retries at that time, instead of every millisecond.
TEST(ClientRun, ComesBackWhenTheServerToldItTo) {
  const TempDir dir;
  const ServerUnderTest server({"--base-delay=1ms", "--rate-limit=0.5", "--rate-burst=1"});
  const auto attempts = [&](const char* use) {
    const std::string path = dir.file(use);
    ClientUnderTest client(short_run(server.url(), path,
                                     {"--clients=1", "--fixed-delay=1ms", "--duration=3s",
                                      std::string("--retry-after=") + use}));
    EXPECT_EQ(client.exit_code(), 0);
    const auto summary = read_json_lines(path).back();
    return summary["ok"].get<int>() + summary["errors"].get<int>();
  };
  EXPECT_GT(attempts("ignore"), 20);
  EXPECT_LE(attempts("replace"), 5);
}

// Two processes with AWS's retry budget: each makes 35 retries, and then none.
TEST(ClientRun, GivesEachProcessABudgetOfItsOwn) {
  const TempDir dir;
  const std::string path = dir.file("client.jsonl");
  const ServerUnderTest server({"--error-share=1"});
  ClientUnderTest client(short_run(server.url(), path,
                                   {"--retry-budget=aws", "--fixed-delay=1ms", "--lambda=1ms",
                                    "--clients=4", "--clients-per-process=2"}));
  ASSERT_EQ(client.exit_code(), 0);
  EXPECT_EQ(read_json_lines(path).back()["retries"], 2 * 35);
  EXPECT_EQ(read_json_lines(path).back()["processes"], 2);
}

// gRPC retries a 503, but no 500.
TEST(ClientRun, SaysThatNothingWasRetried) {
  for (const char* status : {"500", "503"}) {
    const TempDir dir;
    const std::string path = dir.file("client.jsonl");
    const ServerUnderTest server({"--error-share=1", "--error-status", status});
    ClientUnderTest client(
        short_run(server.url(), path, {"--strategy=grpc", "--lambda=10ms", "--clients=4"}));
    ASSERT_EQ(client.exit_code(), 0);
    const auto summary = read_json_lines(path).back();
    EXPECT_EQ(summary.contains("nothing_retried"), summary["retries"] == 0);
    EXPECT_EQ(summary["retries"] == 0, status == std::string("500"));
    if (summary["retries"] != 0) continue;
    EXPECT_EQ(summary["nothing_retried"]["not_retryable"], summary["gave_up"]);
    EXPECT_EQ(summary["nothing_retried"]["failures"], "500");
  }
}

// What was never there was not tested: a minute is not waited for, and there is no summary.
TEST(ClientRun, SaysAtOnceThatNothingListens) {
  const TempDir dir;
  const std::string nobody = "http://127.0.0.1:1/api";
  ClientUnderTest client(short_run(nobody, dir.file("client.jsonl"),
                                   {"--quiet", "--seed=1", "--duration=60s", "--fixed-delay=1ms"}));
  EXPECT_EQ(client.exit_code(), 1);
  EXPECT_THAT(client.err(), HasSubstr(nobody));
  EXPECT_EQ(client.out(), "");
  EXPECT_EQ(read_json_lines(dir.file("client.jsonl")).back()["type"], "start");
  // A run that is over after one attempt.
  ClientUnderTest one({"--url", nobody, "--clients=1", "--arrivals=job", "--tasks=1", "--calls=1",
                       "--max-retries=0", "--quiet", "--seed=1"});
  EXPECT_EQ(one.exit_code(), 1);
}

// A server that goes away is a result.
TEST(ClientRun, SaysWhyAttemptsFailAtFirst) {
  const FakeServer server([](const Socket& socket) { answer(socket, "503 Service Unavailable"); });
  const TempDir dir;
  ClientUnderTest client(short_run(server.url(), dir.file("client.jsonl")));
  ASSERT_EQ(client.exit_code(), 0);
  EXPECT_EQ(read_json_lines(dir.file("client.jsonl")).back()["first_error"], "the answer 503");
}

TEST(ClientRun, WritesJsonLinesThatAddUp) {
  const TempDir dir;
  const std::string path = dir.file("client.jsonl");
  const ServerUnderTest server({"--base-delay", "1ms"});
  ClientUnderTest client(short_run(server.url(), path, {"--seed", "7"}));
  ASSERT_EQ(client.exit_code(), 0);

  const auto json = read_json_lines(path);
  ASSERT_GE(json.size(), 3);
  const auto& start = json.front();
  EXPECT_EQ(start["type"], "start");
  EXPECT_EQ(start["strategy"], "fixed");
  EXPECT_EQ(start["clients"], 5);
  EXPECT_EQ(start["seed"], 7);
  EXPECT_EQ(start["lambda"], "50ms");
  EXPECT_EQ(start["timeout"], "2s");
  EXPECT_EQ(start["url"], server.url());
  EXPECT_THAT(start["command"].get<std::string>(), HasSubstr("--seed 7"));

  double ok = 0, last_t = 0;
  for (std::size_t i = 1; i + 1 < json.size(); ++i) {
    const auto& interval = json[i];
    EXPECT_EQ(interval["type"], "interval");
    for (const char* field : {"ok", "errors", "timed_out", "attempts", "retries", "gave_up",
                              "thinking", "in_flight", "waiting_to_retry"}) {
      EXPECT_TRUE(interval[field].is_number()) << field;
    }
    const double t = interval["t"];
    EXPECT_GT(t, last_t);
    ok += interval["ok"].get<double>() * (t - last_t);
    last_t = t;
  }

  const auto& summary = json.back();
  EXPECT_EQ(summary["type"], "summary");
  EXPECT_EQ(summary["verdict"], "no outage");
  EXPECT_GT(summary["ok"], 0);
  EXPECT_LE(ok, summary["ok"].get<double>() + 1);
  EXPECT_GE(summary["requests"], summary["ok"]);
  EXPECT_EQ(summary["errors"], 0);
  EXPECT_EQ(summary["timed_out"], 0);
  EXPECT_EQ(summary["amplification"], 1.0);
  const auto& latency = summary["latency_ms"];
  EXPECT_GE(latency["p50"], 1.0);
  EXPECT_LE(latency["p50"], latency["p95"]);
  EXPECT_LE(latency["p95"], latency["p99"]);
  EXPECT_LE(latency["p99"], latency["max"]);
}

TEST(ClientRun, TellsTheSeedItChose) {
  const TempDir dir;
  const ServerUnderTest server({"--base-delay", "0s"});
  ClientUnderTest client(
      short_run(server.url(), dir.file("client.jsonl"), {"--duration", "100ms", "--quiet"}));
  ASSERT_EQ(client.exit_code(), 0);
  const auto start = read_json_lines(dir.file("client.jsonl")).front();
  EXPECT_TRUE(start["seed"].is_number());
  EXPECT_EQ(start["outlook"]["wanted_per_s"], 100);
}

// A service that ends during the run is a result.
TEST(ClientRun, GoesOnWithoutAServer) {
  ServerUnderTest server({"--base-delay", "1ms"});
  const TempDir dir;
  const std::string path = dir.file("client.jsonl");
  ClientUnderTest client(short_run(server.url(), path, {"--duration=3s"}));
  ASSERT_TRUE(
      eventually([&] { return std::regex_search(read_file(path), std::regex(R"("p50":\d)")); }));
  server.signal(SIGKILL);
  ASSERT_EQ(client.exit_code(), 0);
  const auto summary = read_json_lines(path).back();
  EXPECT_GT(summary["ok"], 0);
  EXPECT_GT(summary["errors_by"]["refused"], 5);
}

TEST(ClientRun, CountsASilentServerAsTimeouts) {
  const Listener silent;
  const TempDir dir;
  ClientUnderTest client(short_run(silent.url(), dir.file("client.jsonl"), {"--timeout", "100ms"}));
  ASSERT_EQ(client.exit_code(), 0);
  const auto summary = read_json_lines(dir.file("client.jsonl")).back();
  EXPECT_EQ(summary["ok"], 0);
  EXPECT_EQ(summary["errors"], 0);
  EXPECT_GT(summary["timed_out"], 0);
}

TEST(ClientRun, GivesUpAfterTheRetriesAndGoesOn) {
  const FakeServer server([](const Socket& socket) { answer(socket, "503 Service Unavailable"); });
  const TempDir dir;
  ClientUnderTest client(short_run(server.url(), dir.file("client.jsonl"),
                                   {"--max-retries", "2", "--fixed-delay", "1ms"}));
  ASSERT_EQ(client.exit_code(), 0);
  const auto summary = read_json_lines(dir.file("client.jsonl")).back();
  const int gave_up = summary["gave_up"];
  EXPECT_GT(gave_up, 0);
  EXPECT_GT(summary["requests"], 5);
  // Three attempts for each request given up, and up to two failed ones for each of five in flight.
  EXPECT_GE(summary["errors"], 3 * gave_up);
  EXPECT_LE(summary["errors"], 3 * gave_up + 2 * 5);
}

// The server never answers. The first attempt lasts 300 ms; 100 ms are left for the second.
TEST(ClientRun, KeepsTheDeadlineOfARequest) {
  const Listener silent;
  const TempDir dir;
  ClientUnderTest client(short_run(
      silent.url(), dir.file("client.jsonl"),
      {"--timeout", "300ms", "--fixed-delay", "100ms", "--deadline", "500ms", "--duration", "3s"}));
  ASSERT_EQ(client.exit_code(), 0);
  const auto summary = read_json_lines(dir.file("client.jsonl")).back();
  const int gave_up = summary["gave_up"];
  EXPECT_GT(gave_up, 5);
  EXPECT_EQ(summary["gave_up_by"]["deadline"], gave_up);
  EXPECT_GE(summary["timed_out"], 2 * gave_up);
  EXPECT_GE(summary["request_time_ms"]["p50"], 498);
  EXPECT_LE(summary["request_time_ms"]["p50"], 500 + 100 * static_cast<int>(kSlowness));
  EXPECT_EQ(summary["success_share"], 0);
}

TEST(ClientRun, RetriesWhatIsTurnedAway) {
  const ServerUnderTest server({"--base-delay", "0s", "--rate-limit", "5", "--rate-burst", "1"});
  const TempDir dir;
  ClientUnderTest client(
      short_run(server.url(), dir.file("client.jsonl"), {"--fixed-delay", "10ms"}));
  ASSERT_EQ(client.exit_code(), 0);
  const auto summary = read_json_lines(dir.file("client.jsonl")).back();
  EXPECT_GT(summary["errors"], 0);
  EXPECT_GT(summary["ok"], 0);
  EXPECT_GT(summary["retries"], 0);
}

}  // namespace
}  // namespace retrystorm::test
