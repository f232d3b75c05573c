// Traced requests of a real run.
#include "tests/support/child_process.h"
#include "tests/support/sockets.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

struct Trace {
  std::map<int, nlohmann::json> requests;               // by number
  std::map<int, std::vector<nlohmann::json>> attempts;  // by request
  double frozen_at = -1;
};

// Runs a client and returns the trace in its file.
Trace trace_of(const Arguments& arguments) {
  Trace trace;
  for (const nlohmann::json& line : json_lines_of(RETRYSTORM_CLIENT, arguments)) {
    if (line["type"] == "request") trace.requests[line["request"]] = line;
    if (line["type"] == "attempt") trace.attempts[line["request"]].push_back(line);
    if (line["type"] == "outage" && line["event"] == "stop") trace.frozen_at = line["t"];
  }
  return trace;
}

void expect_answered(const nlohmann::json& attempt, double least_service) {
  const double latency = attempt["latency_s"];
  EXPECT_GE(attempt["service_s"], least_service) << attempt;
  EXPECT_LE(attempt["service_s"], latency) << attempt;
  EXPECT_NEAR(attempt["service_s"].get<double>() + attempt["queue_s"].get<double>(), latency, 2e-6);
  EXPECT_TRUE(attempt["connect_s"].is_null());
  EXPECT_TRUE(attempt["late_s"].is_null());
}

TEST(Trace, CostsTheOthersNoHeader) {
  const ServerUnderTest server;
  EXPECT_THAT(get(server.port(), kPatience), testing::Not(testing::HasSubstr("Server-Timing")));
}

TEST(Trace, TellsOfThoseThatAreTurnedAwayToo) {
  const ServerUnderTest server({"--error-share=1"});
  const Trace trace = trace_of({"--url=" + server.url(), "--clients=3", "--lambda=10ms",
                                "--strategy=fixed", "--fixed-delay=50ms", "--max-retries=2",
                                "--timeout=10s", "--duration=1s", "--trace=2"});
  ASSERT_EQ(trace.requests.size(), 2u);
  for (const auto& [number, request] : trace.requests) {
    EXPECT_EQ(request["outcome"], "gave_up");
    EXPECT_EQ(request["reason"], "attempts");
    const auto& attempts = trace.attempts.at(number);
    ASSERT_EQ(attempts.size(), 3u);
    for (const nlohmann::json& attempt : attempts) {
      EXPECT_EQ(attempt["outcome"], "error");
      EXPECT_EQ(attempt["status"], 503);
      expect_answered(attempt, 0);
    }
    EXPECT_EQ(attempts[0]["wait_s"], 0.05);
    EXPECT_TRUE(attempts[2]["wait_s"].is_null());
  }
}

TEST(Trace, FollowsThoseThatBeginInTheOutage) {
  const ServerUnderTest server;
  // Most clients are thinking when the server is frozen, so four requests begin soon.
  const Trace trace =
      trace_of({"--url=" + server.url(), "--clients=50", "--lambda=300ms", "--strategy=fixed",
                "--timeout=300ms", "--fixed-delay=100ms",
                "--server-pid=" + std::to_string(server.pid()), "--outage-at=300ms",
                "--outage-for=1s", kSlowness > 1 ? "--duration=9s" : "--duration=3s", "--trace=4"});
  ASSERT_EQ(trace.requests.size(), 4u);
  for (const auto& [number, request] : trace.requests) {
    EXPECT_GE(request["t"], trace.frozen_at);
    EXPECT_EQ(request["outcome"], "ok");
    const auto& attempts = trace.attempts.at(number);
    ASSERT_GE(attempts.size(), 2u);
    const nlohmann::json& first = attempts.front();
    EXPECT_EQ(first["outcome"], "timed_out");
    EXPECT_GE(first["latency_s"], 0.3);
    for (const char* unknown : {"status", "connect_s", "queue_s", "service_s", "late_s"}) {
      EXPECT_TRUE(first[unknown].is_null()) << unknown;
    }
    EXPECT_EQ(first["wait_s"], 0.1);
    EXPECT_GE(attempts[1]["t"], first["t"].get<double>() + 0.4 - 1e-6);
    expect_answered(attempts.back(), 0.1);
  }
}

}  // namespace
}  // namespace retrystorm::test
