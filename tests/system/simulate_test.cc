// The simulator as a program: what it prints and writes, and its exit code.
#include "tests/support/child_process.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

std::string output_of(const Arguments& arguments) {
  const Ended process = succeeded(RETRYSTORM_SIMULATE, arguments);
  return process.out;
}

TEST(Simulate, WritesJsonToStandardOutputAndItsLinesToStandardError) {
  const TempDir dir;
  output_of({"--seed=1", "--json=" + dir.file("json")});
  const Ended process = succeeded(RETRYSTORM_SIMULATE, {"--seed=1", "--json=-"});
  const auto printed = lines(process.out), written = lines(read_file(dir.file("json")));
  ASSERT_EQ(printed.size(), written.size());
  EXPECT_EQ(printed.back(), written.back());
  EXPECT_THAT(process.out, Not(HasSubstr("\nOK: ")));
  EXPECT_FALSE(std::filesystem::exists("-"));
  ChildProcess twice(RETRYSTORM_SIMULATE, {"--seed=1", "--runs=2", "--json=-", "--csv=-"});
  EXPECT_EQ(twice.exit_code(), 108);
}

TEST(Simulate, EndsWithTheFindingOfItsExpectations) {
  const std::pair<Arguments, int> cases[] = {
      {{"--strategy=exponential", "--expect=recovered"}, 0},
      {{"--strategy=fixed", "--expect=recovered"}, 3},
      {{"--strategy=fixed", "--outage-for=0s", "--expect=recovered"}, 4},
      {{"--strategy=exponential", "--expect=down<5%"}, 0},
      {{"--strategy=exponential", "--expect=down<5%", "--runs=20"}, 4},
      {{"--strategy=fixed", "--expect=down<5%", "--expect=amplification<99"}, 3},
      {{"--sweep=strategy=exponential,fixed", "--expect=down<5%"}, 3},
      // None of 20 runs down leaves a share of up to 16.1 %: for 5 % it takes more.
      {{"--strategy=exponential", "--runs=20", "--least=backoff-base=1s:2s", "--expect=down<5%"},
       4},
      {{"--strategy=exponential", "--runs=20", "--least=backoff-base=1s:2s", "--expect=down>50%"},
       3},
  };
  for (const auto& [arguments, code] : cases) {
    EXPECT_EQ(
        ended(RETRYSTORM_SIMULATE, arguments + Arguments{"--seed=1", "--clients=100", "--limit=3",
                                                         "--k=1.5", "--backlog=26"})
            .code,
        code);
  }
}

// The line of that type which a run writes, the last one; null if there is none.
nlohmann::json record(const std::string& json, const std::string& type) {
  nlohmann::json found;
  for (const auto& each : read_json_lines(json)) {
    if (each["type"] == type) found = each;
  }
  return found;
}

TEST(Simulate, FindsTheLeastValueForWhichItsClaimsHold) {
  const TempDir dir;
  output_of({"--seed=1", "--service=workers", "--arrivals=open", "--rate=60/s", "--expect=down>50%",
             "--least=max-retries=1:8", "--json=" + dir.file("json")});
  const auto found = record(dir.file("json"), "limit_value");
  EXPECT_EQ(found["value"], "3");
  EXPECT_EQ(found["beside"], "2");
  // What else would turn that is tried at the value.
  EXPECT_EQ(record(dir.file("json"), "trial")["row"], "max-retries=3");
}

// A fifth of 100 requests a second fails for 10 s, and a fifth of the retries: 0.24 x 1,000 = 240 retries. At the
// end the deposits of the last two minutes pay for them, 240 / 12,000 = 2 % of each request. After 30 s of calm
// those of 40 s do, which takes 6 %.
TEST(Simulate, SearchesABudgetThatHasSavedAsLongAsItCan) {
  const TempDir dir;
  for (const auto& [calm, deposit] :
       {std::pair("--quiet", 0.02), std::pair("--outage-at=30s", 0.06)}) {
    output_of({"--seed=1", "--service=workers", "--arrivals=open", "--outage=errors:20%",
               "--outage-for=10s", "--max-attempts=3", "--retry-budget=sre",
               "--least=budget-deposit=1%:20%", "--runs=15", "--observe=15s",
               "--expect=success-during>98%", "--json=" + dir.file("json"), calm});
    const std::string value = record(dir.file("json"), "limit_value")["value"];
    EXPECT_NEAR(std::stod(value), deposit, deposit / 5);
  }
}

TEST(Simulate, WritesTheSameJsonLinesAsTheClientAndTheServer) {
  const TempDir dir;
  const auto printed = lines(output_of({"--seed=1", "--json=" + dir.file("client"),
                                        "--server-json=" + dir.file("server"), "--server-lines"}));
  const auto count = [&printed](const char* begin) {
    return std::count_if(printed.begin(), printed.end(),
                         [begin](const std::string& line) { return line.starts_with(begin); });
  };
  EXPECT_EQ(count("OK: "), 22);
  EXPECT_EQ(count("Jan  1 00:0"), 90);
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
}

TEST(Simulate, SaysBeforeTheRunWhatIsAsked) {
  const TempDir dir;
  Arguments arguments{"--service=workers", "--workers=64",     "--service-time=80ms",
                      "--arrivals=open",   "--rate=400",       "--timeout=1s",
                      "--max-attempts=3",  "--outage-for=30s", "--observe=1s",
                      "--seed=1",          "--clients=7",      "--json=" + dir.file("json")};
  const Ended told = succeeded(RETRYSTORM_SIMULATE, arguments);
  const auto outlook = read_json_lines(dir.file("json")).front()["outlook"];
  EXPECT_EQ(outlook["capacity_per_s"], 800);
  EXPECT_EQ(outlook["attempts_per_s_if_all_fail"], 1200);
  EXPECT_EQ(outlook["late_from"], 736);
  ASSERT_THAT(outlook["warnings"], SizeIs(1));
  EXPECT_EQ(outlook["warnings"][0]["id"], "unused-by-open-arrivals");
  arguments.emplace_back("--quiet");
  const Ended quiet = succeeded(RETRYSTORM_SIMULATE, arguments);
  EXPECT_EQ(quiet.err, "");
  EXPECT_EQ(quiet.out, told.out);
  EXPECT_EQ(read_json_lines(dir.file("json")).front()["outlook"], outlook);
}

TEST(Simulate, TellsTheSameBytesWithAnyNumberOfThreads) {
  const TempDir dir;
  // Of the second, the first row takes the longest.
  for (const Arguments& sweep :
       {Arguments{"--runs=6", "--sweep=strategy=fixed,exponential", "--sweep=backlog=128:256:128"},
        Arguments{"--runs=1", "--sweep=clients=1000,20,30"}}) {
    const auto table = [&](const std::string& threads) {
      const std::string csv = dir.file("csv-" + threads);
      std::vector<std::string> all =
          lines(output_of(sweep + Arguments{"--seed=5", "--threads=" + threads, "--csv=" + csv}));
      for (const std::string& row : csv_lines(csv)) all.push_back(row);
      return all;
    };
    const auto one = table("1");
    EXPECT_EQ(table("3"), one);
  }
}

// The threads that did start must not finish all runs first.
TEST(Simulate, EndsAtOnceWhenItsThreadsCannotStart) {
  if (kSlowness > 1) GTEST_SKIP() << "a sanitizer needs all the addresses there are";
  ChildProcess process("/bin/sh", {"-c",
                                   "ulimit -v 1000000; exec \"$0\" --seed=1 --runs=100000 "
                                   "--threads=4000 --scale=0.01",
                                   RETRYSTORM_SIMULATE});
  EXPECT_EQ(process.exit_code(), 1);
  EXPECT_THAT(process.err(), HasSubstr("cannot start 4000 threads"));
}

// A run of that size needs more memory than the process may use, or than it turns out to get.
TEST(Simulate, ExplainsWhichMemoryIsMissing) {
  if (kSlowness > 1) GTEST_SKIP() << "a sanitizer needs all the addresses there are";
  for (const auto& [limit, options, missing] :
       {std::tuple("500000", "--clients=1 --lambda=100h --observe=9900h", "GB of memory"),
        {"500000", "--clients=10000000", "GB of memory"},
        {"30000", "", "thread"}}) {
    const Ended process = ended(
        "/bin/sh", {"-c", std::string("ulimit -v ") + limit + "; exec \"$0\" --seed=1 " + options,
                    RETRYSTORM_SIMULATE});
    EXPECT_EQ(process.code, 1);
    EXPECT_THAT(process.err, HasSubstr(missing));
  }
}

TEST(Simulate, NeedsMemoryForAsManyRunsAsThereAre) {
  // A run needs about 1.6 MB: four thousand at a time would be too many, but these two are not.
  output_of({"--seed=1", "--runs=2", "--threads=4000", "--scale=100", "--outage-at=5s",
             "--outage-for=1s", "--observe=15s", "--quiet"});
}

// To split a sweep among machines. An option may have no effect in the selected cell.
TEST(Simulate, RunsACellOfASweepAsTheWholeSweepDoes) {
  const TempDir dir;
  const Arguments sweep{"--seed=1",          "--runs=2",
                        "--clients=20",      "--sweep=error-share=0,0.1",
                        "--sweep=backlog=5", "--error-after=service"};
  const auto with = [&](const Arguments& more) { return lines(output_of(sweep + more)); };
  EXPECT_EQ(with({"--list-cells"}),
            (std::vector<std::string>{"error_share,backlog", "0,5", "0.1,5"}));
  with({"--csv=" + dir.file("whole"), "--json=" + dir.file("json")});
  EXPECT_EQ(read_json_lines(dir.file("json")).front()["sweep"],
            (nlohmann::json{"error-share=0,0.1", "backlog=5"}));
  const auto whole = csv_lines(dir.file("whole"));
  for (const int cell : {1, 2}) {
    with({"--cell=" + std::to_string(cell), "--csv=" + dir.file("cell")});
    EXPECT_EQ(csv_lines(dir.file("cell")), (std::vector<std::string>{whole.at(0), whole.at(cell)}));
  }
}

TEST(Simulate, KeepsTheFinishedCellsOfASweepThatIsInterrupted) {
  const TempDir dir;
  ChildProcess process(RETRYSTORM_SIMULATE,
                       {"--seed=1", "--runs=20", "--threads=1", "--csv=" + dir.file("csv"),
                        "--json=" + dir.file("json"), "--sweep=backlog=100:100000:1"});
  ASSERT_TRUE(eventually([&] { return csv_lines(dir.file("csv")).size() > 3; }));
  process.signal(SIGINT);
  EXPECT_EQ(process.exit_code(), 1);
  const auto rows = csv_lines(dir.file("csv"));
  EXPECT_THAT(read_json_lines(dir.file("json")), SizeIs(rows.size()));  // the file is complete
  std::set<std::string> cells;
  for (const std::string& row : rows) {
    EXPECT_EQ(std::count(row.begin(), row.end(), ','),
              std::count(rows[0].begin(), rows[0].end(), ','))
        << row;
    EXPECT_TRUE(cells.insert(row.substr(0, row.find(','))).second) << row;
  }
}

}  // namespace
}  // namespace retrystorm::test
