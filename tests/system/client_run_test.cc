// A run of the client, as a user sees it.
#include <future>

#include "tests/support/child_process.h"
#include "tests/support/sockets.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

const std::regex kLine(
    R"(OK: \d+\.\d\d req/sec, errors: \d+\.\d\d req/sec, timedout: \d+\.\d\d req/sec)");

// A few busy clients for a short time.
Arguments short_run(const std::string& url, const Arguments& more = {}) {
  return Arguments{"--url",         url,
                   "--clients=5",   "--lambda=50ms",
                   "--duration=1s", "--report-interval=250ms"} +
         more;
}

// Five clients with a connection each, or with one for all of them, for as long as the run lasts.
TEST(ClientRun, KeepsItsConnections) {
  for (const int processes : {5, 1}) {
    const ServerUnderTest server({"--base-delay", "1ms"});
    const auto all = json_lines_of(
        RETRYSTORM_CLIENT,
        short_run(server.url(), {"--connections=keep-alive",
                                 "--processes=" + std::to_string(processes), "--pool-size=1"}));
    EXPECT_EQ(all.back()["errors"], 0);
    EXPECT_GT(all.back()["ok"], 10);
    const auto kept = last_interval(all)["connections"];
    EXPECT_EQ(kept["opened"], processes);
    EXPECT_EQ(kept["open"], processes);
  }
}

// As in the simulator: the times are exact, the rates Poisson's.
TEST(ClientRun, SendsWhatAFileSays) {
  const TempDir dir;
  const ServerUnderTest server({"--base-delay", "1ms"});
  const auto requests_of = [&](const std::string& arrivals, const Arguments& more = {}) {
    const auto all = json_lines_of(RETRYSTORM_CLIENT,
                                   Arguments{"--url", server.url(), "--duration=2s", "--seed=1",
                                             "--report-interval=1s", "--arrivals=" + arrivals} +
                                       more);
    std::vector<long> in_each_second;
    for (const auto& each : all) {
      if (each["type"] == "interval") {
        in_each_second.push_back(std::lround(each["requests"].get<double>()));
      }
    }
    return in_each_second;
  };
  std::ofstream(dir.file("times")) << "0.1\n0.1\n0.5\n1.2\n60\n";
  EXPECT_EQ(requests_of("file:" + dir.file("times")), (std::vector{3L, 1L}));
  std::ofstream(dir.file("rates")) << "0,0\n1.1,200\n";
  const auto counts = requests_of("file:" + dir.file("rates"));
  EXPECT_EQ(counts.front(), 0);
  EXPECT_NEAR(static_cast<double>(counts.back()), 180, 4 * 13.5);
  EXPECT_EQ(requests_of("periodic:1100ms", {"--clients=30"}), (std::vector{30L, 30L}));
}

// What was never there was not tested: a minute is not waited for, and there is no summary.
TEST(ClientRun, SaysAtOnceThatNothingListens) {
  const TempDir dir;
  const std::string nobody = "http://127.0.0.1:1/api";
  const Ended run = ended(RETRYSTORM_CLIENT,
                          short_run(nobody, {"--quiet", "--seed=1", "--duration=60s",
                                             "--fixed-delay=1ms", "--json", dir.file("json")}));
  EXPECT_EQ(run.code, 1);
  EXPECT_THAT(run.err, HasSubstr(nobody));
  EXPECT_EQ(run.out, "");
  EXPECT_EQ(read_json_lines(dir.file("json")).back()["type"], "start");
  // A run that is over after one attempt.
  EXPECT_EQ(ended(RETRYSTORM_CLIENT, {"--url", nobody, "--clients=1", "--arrivals=job", "--tasks=1",
                                      "--calls=1", "--max-retries=0", "--quiet", "--seed=1"})
                .code,
            1);
}

TEST(ClientRun, WritesItsLinesAndJsonLinesThatAddUp) {
  const TempDir dir;
  const std::string path = dir.file("client.jsonl");
  const ServerUnderTest server({"--base-delay", "1ms"});
  const Ended run =
      succeeded(RETRYSTORM_CLIENT, short_run(server.url(), {"--seed", "7", "--json", path}));
  const auto out = lines(run.out);
  std::size_t reports = 0;
  while (reports < out.size() && std::regex_match(out[reports], kLine)) ++reports;
  EXPECT_GE(reports, 1);
  EXPECT_LT(reports, out.size());  // the answer follows
  EXPECT_LE(lines(run.err).size(), 4u);

  const auto json = read_json_lines(path);
  ASSERT_GE(json.size(), 3);
  const nlohmann::json expected{{"type", "start"},    {"strategy", "fixed"}, {"clients", 5},
                                {"seed", 7},          {"lambda", "50ms"},    {"timeout", "2s"},
                                {"url", server.url()}};
  for (const auto& [name, value] : expected.items()) EXPECT_EQ(json.front()[name], value);
  EXPECT_THAT(json.front()["command"].get<std::string>(), HasSubstr("--seed 7"));
  EXPECT_EQ(json.front()["outlook"]["wanted_per_s"], 100);

  double ok = 0, last_t = 0;
  for (std::size_t i = 1; i + 1 < json.size(); ++i) {
    const auto& interval = json[i];
    EXPECT_EQ(interval["type"], "interval");
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
  EXPECT_GE(summary["latency_ms"]["p50"], 1.0);
}

// A service that ends during the run is a result.
TEST(ClientRun, GoesOnWithoutAServer) {
  ServerUnderTest server({"--base-delay", "1ms"});
  const TempDir dir;
  const std::string path = dir.file("client.jsonl");
  ClientUnderTest client(short_run(server.url(), {"--duration=3s", "--json", path}));
  ASSERT_TRUE(
      eventually([&] { return std::regex_search(read_file(path), std::regex(R"("p50":\d)")); }));
  server.signal(SIGKILL);
  ASSERT_EQ(client.exit_code(), 0);
  const auto summary = read_json_lines(path).back();
  EXPECT_GT(summary["ok"], 0);
  EXPECT_GT(summary["errors_by"]["refused"], 5);
}

// The server never answers. The first attempt lasts 300 ms; 100 ms are left for the second.
TEST(ClientRun, KeepsTheDeadlineOfARequest) {
  const Listener silent;
  const auto summary = summary_of(
      RETRYSTORM_CLIENT, short_run(silent.url(), {"--timeout", "300ms", "--fixed-delay", "100ms",
                                                  "--deadline", "500ms", "--duration", "3s"}));
  const int gave_up = summary["gave_up"];
  EXPECT_GT(gave_up, 5);
  EXPECT_EQ(summary["gave_up_by"]["deadline"], gave_up);
  EXPECT_GE(summary["timed_out"], 2 * gave_up);
  EXPECT_EQ(summary["ok"], 0);
  EXPECT_EQ(summary["errors"], 0);
  EXPECT_GE(summary["request_time_ms"]["p50"], 498);
  EXPECT_LE(summary["request_time_ms"]["p50"], 500 + 100 * static_cast<int>(kSlowness));
  EXPECT_EQ(summary["success_share"], 0);
}

// The service accepts one request every two seconds and sends Retry-After. A client that respects
// it retries at that time, instead of every millisecond.
TEST(ClientRun, ComesBackWhenTheServerToldItTo) {
  const ServerUnderTest server({"--base-delay=1ms", "--rate-limit=0.5", "--rate-burst=1"});
  const auto attempts = [&](const std::string& use) {
    const auto summary = summary_of(
        RETRYSTORM_CLIENT, short_run(server.url(), {"--clients=1", "--fixed-delay=1ms",
                                                    "--duration=3s", "--retry-after=" + use}));
    return summary["ok"].get<int>() + summary["errors"].get<int>();
  };
  EXPECT_GT(attempts("ignore"), 20);
  EXPECT_LE(attempts("replace"), 5);
}

// A small version of the experiment: clients that send 99 requests a second. At a concurrency of 160 the server's delay
// reaches the timeout. 250 clients exceed this when all of them retry. When the server resumes, it still has 96 abandoned
// connections.
TEST(Miniature, FixedRetriesKillTheServiceAndBackoffSavesIt) {
  struct End {
    nlohmann::json summary;
    double ok;  // a second, in the last window
    int concurrency;
  };
  const auto run = [](const std::string& strategy) -> End {
    const TempDir dir;
    const ServerUnderTest server({"--base-delay=25ms", "--limit=8", "--k=2.5", "--backlog=96",
                                  "--json=" + dir.file("server")});
    ClientUnderTest client({"--url=" + server.url(), "--server-pid=" + std::to_string(server.pid()),
                            "--strategy=" + strategy, "--clients=250", "--lambda=2500ms",
                            "--timeout=500ms", "--fixed-delay=25ms", "--min-delay=500ms",
                            "--max-delay=75s", "--outage-at=5100ms", "--outage-for=4s",
                            "--duration=25s", "--seed=1", "--json=" + dir.file("client")});
    EXPECT_EQ(client.exit_code(60s), 0) << client.err();
    const auto lines = read_json_lines(dir.file("client"));
    return {lines.back(), last_interval(lines)["ok"],
            read_json_lines(dir.file("server")).back()["concurrency"]};
  };
  auto other = std::async(std::launch::async, run, "exponential");
  const End fixed = run("fixed");
  EXPECT_EQ(fixed.summary["verdict"], "collapsed");
  EXPECT_NEAR(fixed.summary["baseline_ok"], 99, 25);
  EXPECT_EQ(fixed.ok, 0);
  EXPECT_GT(fixed.summary["amplification"], 5);
  EXPECT_GT(fixed.concurrency, 250);

  const End exponential = other.get();
  EXPECT_NE(exponential.summary["verdict"], "collapsed");
  EXPECT_GT(exponential.ok, 50);
  EXPECT_LT(exponential.summary["amplification"], 5);
  EXPECT_LT(exponential.concurrency, 100);
}

}  // namespace
}  // namespace retrystorm::test
