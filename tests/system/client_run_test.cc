// A run of the client as its user sees it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <regex>
#include <string>

#include "tests/support/child_process.h"
#include "tests/support/sockets.h"

namespace retrystorm::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::EndsWith;
using ::testing::HasSubstr;

const std::regex kLine(
    R"(OK: \d+\.\d\d req/sec, errors: \d+\.\d\d req/sec, timedout: \d+\.\d\d req/sec)");

// A few busy clients for a short while.
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
  ASSERT_LT(reports + 1, out.size());
  EXPECT_EQ(out[reports], "");  // then the summary, and nothing else
  EXPECT_THAT(out[reports + 1], testing::StartsWith("fixed retries, 5 clients, seed 7, "));
  EXPECT_THAT(client.out(), EndsWith("verdict:   no outage\n"));
  EXPECT_EQ(client.err(), "");
}

// Nobody listens there: five failures in a row open gobreaker's breaker for a minute, and nothing
// is sent any more.
TEST(ClientRun, DoesNotSendWhatItsBreakerRefuses) {
  const TempDir dir;
  const std::string path = dir.file("client.jsonl");
  const std::string nobody = "http://127.0.0.1:1/api";
  ClientUnderTest client(short_run(nobody, path, {"--breaker=gobreaker", "--max-retries=0"}));
  ASSERT_EQ(client.exit_code(), 0);
  const auto summary = read_json_lines(path).back();
  EXPECT_EQ(summary["ok"], 0);
  // Six open it, and four others may have been under way.
  EXPECT_GE(summary["errors"], 6);
  EXPECT_LE(summary["errors"], 10);
  EXPECT_GT(summary["not_sent"], 0);
  EXPECT_EQ(summary["gave_up"].get<int>(),
            summary["not_sent"].get<int>() + summary["errors"].get<int>());
  EXPECT_THAT(client.out(), HasSubstr(" not sent"));
}

// A service that takes one request each two seconds, and says so: who listens comes back when it
// told him to, and not every millisecond.
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

// Two processes of AWS's budget: 35 retries each, and then none.
TEST(ClientRun, GivesEachProcessABudgetOfItsOwn) {
  const TempDir dir;
  const std::string path = dir.file("client.jsonl");
  ClientUnderTest client(short_run("http://127.0.0.1:1/api", path,
                                   {"--retry-budget=aws", "--fixed-delay=1ms", "--lambda=1ms",
                                    "--clients=4", "--clients-per-process=2"}));
  ASSERT_EQ(client.exit_code(), 0);
  EXPECT_EQ(read_json_lines(path).back()["retries"], 2 * 35);
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

TEST(ClientRun, PrintsTheSeedItChose) {
  const TempDir dir;
  const ServerUnderTest server({"--base-delay", "0s"});
  ClientUnderTest client(
      short_run(server.url(), dir.file("client.jsonl"), {"--duration", "100ms"}));
  ASSERT_EQ(client.exit_code(), 0);
  const auto start = read_json_lines(dir.file("client.jsonl")).front();
  EXPECT_EQ(client.err(), "seed " + start["seed"].dump() + "\n");
}

TEST(ClientRun, GoesOnWithoutAServer) {
  std::string url;
  {
    const Listener gone;
    url = gone.url();
  }
  const TempDir dir;
  ClientUnderTest client(short_run(url, dir.file("client.jsonl")));
  ASSERT_EQ(client.exit_code(), 0);
  const auto summary = read_json_lines(dir.file("client.jsonl")).back();
  EXPECT_EQ(summary["ok"], 0);
  EXPECT_EQ(summary["timed_out"], 0);
  // Five clients that retry every 100 ms for a second.
  EXPECT_GT(summary["errors"], 5);
  EXPECT_LE(summary["requests"], 5);
  EXPECT_GT(summary["amplification"], 1.5);
  EXPECT_THAT(lines(client.out()).front(), testing::StartsWith("OK: 0.00 req/sec, errors: "));
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
  // Three attempts for each that was given up, and up to three for each of five under way.
  EXPECT_GE(summary["errors"], 3 * gave_up);
  EXPECT_LE(summary["errors"], 3 * gave_up + 2 * 5);
}

// A silent server: one attempt of 300 ms, and a second that has 100 ms left.
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

TEST(ClientRun, PrintsAScheduleWithoutTheNetwork) {
  ClientUnderTest client({"--strategy=linear", "--print-schedule", "3"});
  EXPECT_EQ(client.exit_code(), 0);
  EXPECT_EQ(client.out(), "attempt,delay_seconds\n1,1\n2,2\n3,3\n");
  EXPECT_EQ(client.err(), "");
}

TEST(ClientRun, PrintsTheSameScheduleForTheSameSeed) {
  ClientUnderTest first({"--exponential-backoff", "--print-schedule", "9", "--seed", "5"});
  ClientUnderTest second({"--strategy", "exponential", "--print-schedule", "9", "--seed", "5"});
  ASSERT_EQ(first.exit_code(), 0);
  ASSERT_EQ(second.exit_code(), 0);
  EXPECT_EQ(lines(first.out()).size(), 10);
  EXPECT_EQ(first.out(), second.out());
}

}  // namespace
}  // namespace retrystorm::test
