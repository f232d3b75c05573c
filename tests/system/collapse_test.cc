// A small version of the experiment, with fewer clients and shorter times.
#include "tests/support/child_process.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

// A server, and clients that send 99 requests a second. At a concurrency of 160 the server's delay
// reaches the timeout. 250 clients exceed this when all of them retry. When the server resumes, it
// still has 96 abandoned connections.
class Experiment {
 public:
  explicit Experiment(const std::string& strategy)
      : server_({"--base-delay", "25ms", "--limit", "8", "--k", "2.5", "--backlog", "96", "--json",
                 dir_.file("server.jsonl")}),
        client_({"--url",         server_.url(), "--server-pid", std::to_string(server_.pid()),
                 "--strategy",    strategy,      "--clients",    "250",
                 "--lambda",      "2500ms",      "--timeout",    "500ms",
                 "--fixed-delay", "25ms",        "--min-delay",  "500ms",
                 "--max-delay",   "75s",         "--outage-at",  "5100ms",
                 "--outage-for",  "4s",          "--duration",   "25s",
                 "--seed",        "1",           "--json",       dir_.file("client.jsonl")}) {}

  nlohmann::json summary() {
    EXPECT_EQ(client_.exit_code(60s), 0) << client_.err();
    return read_json_lines(dir_.file("client.jsonl")).back();
  }

  // The OK rate in the last windows.
  double ok_at_the_end() const {
    const auto json = read_json_lines(dir_.file("client.jsonl"));
    for (auto line = json.rbegin(); line != json.rend(); ++line) {
      if ((*line)["type"] == "interval") return (*line)["ok"];
    }
    return -1;
  }

  int concurrency_at_the_end() const {
    return read_json_lines(dir_.file("server.jsonl")).back()["concurrency"];
  }

 private:
  TempDir dir_;
  ServerUnderTest server_;
  ClientUnderTest client_;
};

TEST(Miniature, FixedRetriesKillTheServiceAndBackoffSavesIt) {
  Experiment fixed("fixed"), exponential("exponential");

  const auto collapsed = fixed.summary();
  EXPECT_EQ(collapsed["verdict"], "collapsed");
  EXPECT_NEAR(collapsed["baseline_ok"], 99, 25);
  EXPECT_EQ(fixed.ok_at_the_end(), 0);
  EXPECT_GT(collapsed["amplification"], 5);
  EXPECT_GT(fixed.concurrency_at_the_end(), 250);

  const auto recovered = exponential.summary();
  EXPECT_NE(recovered["verdict"], "collapsed");
  EXPECT_GT(exponential.ok_at_the_end(), 50);
  EXPECT_LT(recovered["amplification"], 5);
  EXPECT_LT(exponential.concurrency_at_the_end(), 100);
}

}  // namespace
}  // namespace retrystorm::test
