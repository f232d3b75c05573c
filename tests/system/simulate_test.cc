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

// The line of that type which a run writes, the last one; null if there is none.
nlohmann::json record(const std::string& json, const std::string& type) {
  nlohmann::json found;
  for (const auto& each : read_json_lines(json)) {
    if (each["type"] == type) found = each;
  }
  return found;
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

// One of N hosts of 200/s each is gone, and 720/s are asked for: four must be left. What an outage hits is an option that
// hangs on the number that is sought.
TEST(Simulate, SearchesHowManyHostsCanLoseOne) {
  const TempDir dir;
  output_of({"--seed=1", "--workers=10", "--service-time=50ms", "--rate=720", "--timeout=1s",
             "--max-attempts=3", "--backoff-base=10ms", "--outage=drop", "--outage-replicas=1",
             "--outage-for=30s", "--observe=15s", "--runs=15", "--least=replicas=3:9",
             "--expect=success-during>98%", "--json=" + dir.file("json")});
  EXPECT_EQ(record(dir.file("json"), "limit_value")["value"], "5");
}

// The threads that did start must not finish all runs first.
TEST(Simulate, ColoursItsAnswer) {
  EXPECT_THAT(output_of({"--seed=1", "--quiet", "--color=always"}), HasSubstr("\033[31m✗ "));
  EXPECT_EQ(output_of({"--seed=1", "--quiet"}).find('\033'), std::string::npos);
}

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
