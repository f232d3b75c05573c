// The simulator as a program: what it prints and writes, and how it ends.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <regex>
#include <set>
#include <string>

#include "tests/support/child_process.h"
#include "tests/support/temp_dir.h"

namespace retrystorm::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;
using ::testing::SizeIs;

std::string output_of(const Arguments& arguments) {
  ChildProcess process(RETRYSTORM_SIMULATE, arguments);
  EXPECT_EQ(process.exit_code(), 0) << process.err();
  return process.out();
}

TEST(Simulate, PrintsTheLinesOfTheClientAndTheServer) {
  const auto printed = lines(output_of({"--seed=1", "--server-lines", "--strategy=exponential"}));
  const std::regex client(
      R"(OK: \d+\.\d\d req/sec, errors: \d+\.\d\d req/sec, timedout: \d+\.\d\d req/sec)");
  const std::regex server(
      R"(Jan  1 00:0\d:\d\d\.000: concurrency: [ \d]{4}, last delay: [\d.]+(ms|s))");
  std::size_t client_lines = 0, server_lines = 0;
  for (const std::string& line : printed) {
    client_lines += std::regex_match(line, client) ? 1 : 0;
    server_lines += std::regex_match(line, server) ? 1 : 0;
  }
  EXPECT_EQ(client_lines, 22u);        // 110 s
  EXPECT_EQ(server_lines, 110u - 20);  // a frozen server says nothing
  EXPECT_THAT(printed.back(), HasSubstr("verdict:   recovered"));
}

TEST(Simulate, WritesTheSameJsonLinesAsTheClientAndTheServer) {
  const TempDir dir;
  output_of({"--seed=1", "--json=" + dir.file("client"), "--server-json=" + dir.file("server")});
  const auto run = read_json_lines(dir.file("client"));
  EXPECT_EQ(run.front()["type"], "start");
  EXPECT_EQ(run.front()["program"], "simulate");
  EXPECT_EQ(run.front()["seed"], 1);
  EXPECT_EQ(run.front()["strategy"], "fixed");
  EXPECT_EQ(run.back()["type"], "summary");
  EXPECT_EQ(run.back()["verdict"], "collapsed");
  std::vector<std::pair<double, std::string>> outages;
  std::size_t intervals = 0;
  for (const auto& line : run) {
    if (line["type"] == "outage") outages.emplace_back(line["t"], line["event"]);
    intervals += line["type"] == "interval" ? 1 : 0;
  }
  EXPECT_EQ(intervals, 22u);
  EXPECT_THAT(outages, ::testing::ElementsAre(std::pair(30.0, std::string("stop")),
                                              std::pair(50.0, std::string("continue"))));
  const auto server = read_json_lines(dir.file("server"));
  EXPECT_THAT(server, SizeIs(1 + 110 - 20));
  for (const char* field : {"t", "concurrency", "last_delay_s", "offered", "admitted", "completed",
                            "served", "rejected"}) {
    EXPECT_TRUE(server.back().contains(field)) << field;
  }
}

TEST(Simulate, TellsTheSameBytesWithAnyNumberOfThreads) {
  const TempDir dir;
  const auto table = [&dir](const std::string& threads) {
    const std::string csv = dir.file("csv-" + threads);
    const std::string out =
        output_of({"--seed=5", "--runs=6", "--sweep=strategy=fixed,exponential",
                   "--sweep=backlog=128:256:128", "--threads=" + threads, "--csv=" + csv});
    return out + read_file(csv);
  };
  const std::string one = table("1");
  EXPECT_THAT(lines(one), SizeIs(5 + 5));
  EXPECT_EQ(table("3"), one);
}

TEST(Simulate, SaysInOneLineThatItsTableCannotBeWritten) {
  ChildProcess process(RETRYSTORM_SIMULATE, {"--seed=1", "--runs=2", "--csv=/dev/full"});
  EXPECT_EQ(process.exit_code(), 1);
  EXPECT_EQ(process.err(), "writing to /dev/full failed\n");
}

// The threads that did start must not do all the runs first.
TEST(Simulate, EndsAtOnceWhenItsThreadsCannotStart) {
  if (kSlowness > 1) GTEST_SKIP() << "a sanitizer needs all the addresses there are";
  ChildProcess process("/bin/sh", {"-c",
                                   "ulimit -v 1000000; exec \"$0\" --seed=1 --runs=1000000 "
                                   "--threads=4000 --scale=0.1",
                                   RETRYSTORM_SIMULATE});
  EXPECT_EQ(process.exit_code(), 1);
  EXPECT_THAT(process.err(), HasSubstr("cannot start 4000 threads"));
}

TEST(Simulate, NeedsMemoryForAsManyRunsAsThereAre) {
  // Some 1.6 MB a run: for four thousand at a time more than there is, for the two of these not.
  EXPECT_THAT(lines(output_of({"--seed=1", "--runs=2", "--threads=4000", "--scale=100",
                               "--outage-at=5s", "--outage-for=1s", "--observe=15s"})),
              SizeIs(2));
}

TEST(Simulate, TellsEveryAxisOfItsSweep) {
  const TempDir dir;
  output_of({"--seed=1", "--runs=1", "--sweep=strategy=fixed", "--sweep=backlog=5",
             "--json=" + dir.file("json")});
  EXPECT_EQ(read_json_lines(dir.file("json")).front()["sweep"],
            (nlohmann::json{"strategy=fixed", "backlog=5"}));
}

// For who shares a sweep among machines: an option may have no effect in the cell at hand.
TEST(Simulate, RunsACellOfASweepAsTheWholeSweepDoes) {
  const Arguments sweep{"--seed=1",          "--runs=2",
                        "--clients=20",      "--sweep=error-share=0,0.1",
                        "--sweep=backlog=5", "--error-after=service"};
  const auto with = [&sweep](const std::string& option) {
    Arguments arguments = sweep;
    arguments.push_back(option);
    return lines(output_of(arguments));
  };
  EXPECT_EQ(with("--list-cells"),
            (std::vector<std::string>{"error_share,backlog", "0,5", "0.1,5"}));
  const TempDir dir;
  with("--csv=" + dir.file("whole"));
  const auto whole = lines(read_file(dir.file("whole")));
  for (const int cell : {1, 2}) {
    Arguments arguments = sweep;
    arguments.insert(arguments.end(),
                     {"--cell=" + std::to_string(cell), "--csv=" + dir.file("cell")});
    output_of(arguments);
    EXPECT_EQ(lines(read_file(dir.file("cell"))),
              (std::vector<std::string>{whole.at(0), whole.at(cell)}));
  }
}

TEST(Simulate, TellsTheHiddenCapacity) {
  const TempDir dir;
  const Arguments workers{"--hidden-capacity",  "--seed=1",
                          "--runs=6",           "--service=workers",
                          "--workers=2",        "--arrivals=open",
                          "--rate=10",          "--max-retries=3",
                          "--relief-after=30s", "--json=" + dir.file("json")};
  const std::string out = output_of(workers);
  EXPECT_THAT(out, HasSubstr("stays down with all its load: 6 of 6 runs\ncomes back at: "));
  EXPECT_THAT(out, HasSubstr("hidden capacity: "));
  const auto told = read_json_lines(dir.file("json"));
  ASSERT_THAT(told, SizeIs(1 + 6 + 1));
  EXPECT_EQ(told[1]["type"], "threshold");
  EXPECT_EQ(told.back()["type"], "hidden_capacity");
  EXPECT_EQ(told.back()["stay_down"], 6);
  const double share = told.back()["share"];
  EXPECT_GT(share, 0.4);
  EXPECT_LT(share, 0.5);
  EXPECT_LE(told.back()["share_low"].get<double>(), share);
  EXPECT_GE(told.back()["share_high"].get<double>(), share);

  EXPECT_THAT(output_of({"--hidden-capacity", "--seed=1", "--runs=2", "--strategy=none"}),
              HasSubstr("nothing is hidden: the service does not stay down"));
  EXPECT_THAT(output_of({"--hidden-capacity", "--seed=1", "--runs=2", "--relief-for=30s"}),
              HasSubstr("no cut of the load gets it back within the time"));
}

TEST(Simulate, SweepsTheStrategyAlsoWithTheFlagForOne) {
  const std::string sweep = "--sweep=strategy=fixed,responsive";
  EXPECT_EQ(output_of({"--seed=1", "--exponential-backoff", sweep}),
            output_of({"--seed=1", sweep}));
}

// Turned away by a server that needs no time, and back without a wait.
TEST(Simulate, GetsOnWithClientsThatDoNotWait) {
  EXPECT_THAT(output_of({"--seed=1", "--fixed-delay=0s", "--shed-above=200", "--outage-at=5s",
                         "--outage-for=5s", "--observe=15s"}),
              HasSubstr("verdict:"));
}

TEST(Simulate, KeepsTheFinishedCellsOfASweepThatIsInterrupted) {
  const TempDir dir;
  ChildProcess process(RETRYSTORM_SIMULATE,
                       {"--seed=1", "--runs=20", "--threads=1", "--csv=" + dir.file("csv"),
                        "--json=" + dir.file("json"), "--sweep=backlog=100:100000:1"});
  ASSERT_TRUE(eventually([&] { return lines(read_file(dir.file("csv"))).size() > 3; }));
  process.signal(SIGINT);
  EXPECT_EQ(process.exit_code(), 1);
  const auto rows = lines(read_file(dir.file("csv")));
  EXPECT_THAT(lines(process.out()), SizeIs(rows.size()));
  EXPECT_THAT(read_json_lines(dir.file("json")), SizeIs(rows.size()));  // and it is complete
  std::set<std::string> cells;
  for (const std::string& row : rows) {
    EXPECT_EQ(std::count(row.begin(), row.end(), ','),
              std::count(rows[0].begin(), rows[0].end(), ','))
        << row;
    EXPECT_TRUE(cells.insert(row.substr(0, row.find(','))).second) << row;
  }
  EXPECT_THAT(process.err(), HasSubstr("interrupted"));
}

TEST(Simulate, EndsARunEarlyWithItsSummary) {
  ChildProcess process(RETRYSTORM_SIMULATE, {"--seed=1", "--observe=99999h"});
  ASSERT_TRUE(eventually([&] { return lines(process.out()).size() > 10; }));
  process.signal(SIGTERM);
  ASSERT_TRUE(process.exit_code().has_value());
  EXPECT_THAT(process.out(), HasSubstr("verdict:"));
}

}  // namespace
}  // namespace retrystorm::test
