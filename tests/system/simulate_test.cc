// The simulator as a program: what it prints and writes, and its exit code.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include "tests/support/child_process.h"
#include "tests/support/temp_dir.h"

namespace retrystorm::test {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

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
  EXPECT_EQ(server_lines, 110u - 20);  // a frozen server prints nothing
  EXPECT_EQ(printed.at(printed.size() - 2), "verdict:   recovered");
  EXPECT_EQ(printed.back(), "reason:    back at 90 % of 99.5 OK/s at once");
}

// The original's lines stay as they are: what is said between them is on standard error.
TEST(Simulate, SaysWhatHappensAndWhichCommandsSayMore) {
  ChildProcess told(RETRYSTORM_SIMULATE, {"--seed=1"});
  ASSERT_EQ(told.exit_code(), 0);
  EXPECT_THAT(told.err(),
              testing::EndsWith(
                  "\n0:30 frozen for 20s\n0:50 awake\n"
                  "1 run:     collapsed; --runs=100 tells how often it ends like this\n"
                  "words:     --explain collapsed, or any other word here, says what it means\n"
                  "remedies:  retrystorm remedies says what ends it\n"));
  EXPECT_THAT(told.out(), testing::ContainsRegex(
                              "\nverdict:   collapsed\nreason:    does not come back: [0-9]+ "
                              "attempts/s keep it down, nothing is broken any more\n$"));
  EXPECT_EQ(told.out(), output_of({"--seed=1", "--quiet"}));
}

// 640 requests/s, and 1,200 that want to come three times each.
TEST(Simulate, SaysWhatASurgeOfLoadDid) {
  ChildProcess told(RETRYSTORM_SIMULATE,
                    {"--seed=1", "--service=workers", "--workers=64", "--arrivals=open",
                     "--rate=400", "--timeout=1s", "--max-attempts=3", "--outage=load:3x"});
  ASSERT_EQ(told.exit_code(), 0);
  EXPECT_THAT(told.err(),
              testing::HasSubstr("\n0:30 3 times the load for 20s\n0:50 over: 3 times the load\n"));
  EXPECT_THAT(told.out(), testing::EndsWith(" wait, the load is as before\n"));
}

TEST(Simulate, SaysHowManyRunsATableTakes) {
  ChildProcess table(RETRYSTORM_SIMULATE,
                     {"--seed=1", "--sweep=outage-for=1s,2s", "--observe=15s"});
  ASSERT_EQ(table.exit_code(), 0);
  EXPECT_THAT(table.err(), testing::EndsWith("\nruns       2 rows of 1 run each\n"));
  EXPECT_THAT(table.out(), testing::HasSubstr(", 1 run each, seed 1\n"));
}

// What it offers after a table has got its row back.
TEST(Simulate, SaysAfterATableWhatToTry) {
  const auto last_line = [](const Arguments& more) {
    Arguments arguments{"--seed=1", "--runs=3"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return unwrapped_lines(output_of(arguments)).back();
  };
  EXPECT_EQ(last_line({}), "try: --strategy=exponential (0 of 3 runs down, back after 0s)");
  // What is swept is in the table already.
  EXPECT_THAT(
      last_line({"--sweep=strategy=exponential,fixed"}),
      testing::MatchesRegex(
          "strategy=fixed: try: --max-retries=0 \\(0 of 3 runs down, back after [0-9]+s\\)"));
  EXPECT_THAT(last_line({"--strategy=exponential", "--backlog=256"}),
              testing::Not(testing::StartsWith("try:")));
  // 20 workers for 100 ms have served 190 in a time of 1 s: half of what comes too late. A queue of 4,096
  // dead requests is too long. With a budget of a tenth 190 requests/s are 209 attempts/s, of 200, so it grows.
  EXPECT_THAT(last_line({"--service=workers", "--arrivals=open", "--rate=190", "--backlog=4096",
                         "--abandoned=serve", "--strategy=begin"}),
              testing::StartsWith("try: --queue-length=190 (0 of 3 runs down, back after "));
  EXPECT_THAT(output_of({"--seed=1", "--runs=3", "--quiet"}),
              testing::Not(testing::HasSubstr("try:")));
  EXPECT_THAT(output_of({"--seed=1", "--runs=3", "--strategy=exponential", "--expect=recovered"}),
              testing::Not(testing::HasSubstr("try:")));
}

// 99.9 % of 300/s with 30 % of errors need 300 x 0.999 / 0.7 = 428 attempts/s, of 20 workers that do 400/s.
TEST(Simulate, SaysWhatCameNearest) {
  ChildProcess process(
      RETRYSTORM_SIMULATE,
      {"--seed=1", "--service=workers", "--workers=20", "--service-time=50ms", "--arrivals=open",
       "--rate=300", "--outage=errors:30%", "--error-after=service", "--outage-for=20s",
       "--max-attempts=10", "--retry-budget=grpc", "--runs=10", "--least=budget-deposit=0.1:0.5",
       "--expect=success-during>99.9%"});
  EXPECT_EQ(process.exit_code(), 3);
  EXPECT_THAT(process.out(),
              HasSubstr("\nnearest: budget-deposit=0.5, expect success-during>99.9%"));
}

// 188/s of 235/s, three times that for 10 s: 3290 wait, and drain by 47/s in 70 s.
TEST(Simulate, TellsAQueueThatDrainsFromACollapse) {
  const TempDir dir;
  const auto watched = [&](const std::string& time) {
    output_of({"--seed=1", "--service=workers", "--workers=16", "--service-time=68ms",
               "--arrivals=open", "--rate=188", "--outage=load:3", "--outage-for=10s",
               "--max-retries=0", "--backlog=100000", "--observe=" + time,
               "--json=" + dir.file(time)});
    return read_json_lines(dir.file(time)).back();
  };
  const auto early = watched("60s");
  EXPECT_EQ(early["verdict"], "recovering");
  EXPECT_THAT(
      early["reason"].get<std::string>(),
      testing::MatchesRegex(
          "not yet back .0 of 18[0-9] OK/s.: its queue of [0-9]+ falls by 4[0-9.]+/s and is "
          "empty in [0-9.]+s: --observe=2m"));
  const auto later = watched("2m");
  EXPECT_EQ(later["verdict"], "recovered");
  EXPECT_GE(later["time_to_recovery_s"], 60);
  EXPECT_LE(later["time_to_recovery_s"], 80);
}

TEST(Simulate, WritesJsonToStandardOutputAndItsLinesToStandardError) {
  const TempDir dir;
  output_of({"--seed=1", "--json=" + dir.file("json")});
  ChildProcess process(RETRYSTORM_SIMULATE, {"--seed=1", "--json=-"});
  EXPECT_EQ(process.exit_code(), 0);
  const auto printed = lines(process.out()), written = lines(read_file(dir.file("json")));
  ASSERT_EQ(printed.size(), written.size());
  EXPECT_EQ(printed.back(), written.back());
  EXPECT_THAT(process.err(), HasSubstr("verdict:   collapsed"));
  EXPECT_FALSE(std::filesystem::exists("-"));
  ChildProcess twice(RETRYSTORM_SIMULATE, {"--seed=1", "--runs=2", "--json=-", "--csv=-"});
  EXPECT_EQ(twice.exit_code(), 108);
  EXPECT_EQ(twice.err(), "only one file can be standard output\n");
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
  };
  for (const auto& [arguments, code] : cases) {
    Arguments all = arguments;
    all.insert(all.end(), {"--seed=1", "--clients=100", "--limit=3", "--k=1.5", "--backlog=26"});
    ChildProcess process(RETRYSTORM_SIMULATE, all);
    EXPECT_EQ(process.exit_code(), code) << process.out() << process.err();
  }
}

TEST(Simulate, FindsTheLeastValueForWhichItsClaimsHold) {
  const std::string out =
      output_of({"--seed=1", "--service=workers", "--arrivals=open", "--rate=60/s",
                 "--expect=down>50%", "--least=max-retries=1:8"});
  EXPECT_THAT(out, HasSubstr("the least max-retries: 3 (2: broken; 5 values, "));
}

// 60 requests a second of 10 x 100 ms: the outlook and the backlogs are those of a table of many runs.
TEST(Simulate, SaysBeforeAndAfterASearchWhatItHangsOn) {
  ChildProcess process(RETRYSTORM_SIMULATE,
                       {"--seed=1", "--service=workers", "--arrivals=open", "--rate=60/s",
                        "--expect=down>50%", "--least=max-retries=1:8", "--runs=50"});
  EXPECT_EQ(process.exit_code(), 0);
  EXPECT_THAT(process.err(), HasSubstr("\nretries    max-retries=1: at most 2 attempts a request"));
  EXPECT_THAT(process.err(), HasSubstr("\nretries    max-retries=8: at most 9 attempts a request"));
  EXPECT_THAT(process.out(), HasSubstr("\nmax-retries=3: backlog: "));
  ChildProcess quiet(RETRYSTORM_SIMULATE,
                     {"--seed=1", "--service=workers", "--arrivals=open", "--rate=60/s", "--quiet",
                      "--expect=down>50%", "--least=max-retries=1:8", "--runs=50"});
  EXPECT_EQ(quiet.exit_code(), 0);
  EXPECT_EQ(quiet.err(), "");
  EXPECT_THAT(quiet.out(), Not(HasSubstr("backlog")));
}

// A fifth of 100 requests a second fails for 10 s, and a fifth of the retries: 0.24 x 1,000 = 240 retries. At the
// end the deposits of the last two minutes pay for them, 240 / 12,000 = 2 % of each request. After 30 s of calm
// those of 40 s do, which takes 6 %.
TEST(Simulate, SearchesABudgetThatHasSavedAsLongAsItCan) {
  const auto search = [](const Arguments& more) {
    Arguments arguments{"--seed=1",
                        "--service=workers",
                        "--arrivals=open",
                        "--outage=errors:20%",
                        "--outage-for=10s",
                        "--max-attempts=3",
                        "--retry-budget=sre",
                        "--least=budget-deposit=1%:20%",
                        "--runs=15",
                        "--observe=15s",
                        "--expect=success-during>98%"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return arguments;
  };
  const auto deposit_of = [](const std::string& out) {
    const std::string before = "the least budget-deposit: ";
    const std::size_t at = out.find(before);
    EXPECT_NE(at, out.npos) << out;
    return std::stod(out.substr(at + before.size()));
  };
  ChildProcess full(RETRYSTORM_SIMULATE, search({}));
  ASSERT_EQ(full.exit_code(), 0) << full.err();
  EXPECT_THAT(full.err(), HasSubstr("\ncalm       2m0s before the outage, as long as the budget "
                                    "saves (--outage-at)\n"));
  EXPECT_THAT(full.err(), Not(HasSubstr("--outage-at=30s")));
  EXPECT_NEAR(deposit_of(full.out()), 0.02, 0.004);
  ChildProcess given(RETRYSTORM_SIMULATE, search({"--outage-at=30s"}));
  ASSERT_EQ(given.exit_code(), 0) << given.err();
  EXPECT_THAT(given.err(), Not(HasSubstr("\ncalm ")));
  EXPECT_NEAR(deposit_of(given.out()), 0.06, 0.012);
}

// Three calls of a second are admitted at once, or one: then the others are turned away.
TEST(Simulate, TriesTheBurstOfALimitAlsoWithOneRun) {
  const auto told = [](const char* burst) {
    return output_of({"--seed=1", "--arrivals=job", "--tasks=20", "--calls=2", "--clients=20",
                      "--workers-start=1ms", "--service=workers", "--workers=100",
                      "--service-time=50ms", "--rate-limit=20", "--max-attempts=2", burst});
  };
  EXPECT_THAT(told("--retry-after=ignore"), HasSubstr("\nrate-burst: "));
  EXPECT_THAT(told("--rate-burst=1"), Not(HasSubstr("rate-burst: ")));
}

// None of 20 runs down leaves a share of up to 16.1 %. For 5 % it takes 73 (3.84 * 0.95 / 0.05).
TEST(Simulate, SaysHowManyRunsASearchNeeds) {
  const auto search = [](const std::string& claim) {
    return Arguments{
        "--seed=1", "--strategy=exponential", "--clients=100", "--limit=3",
        "--k=1.5",  "--backlog=26",           "--runs=20",     "--least=backoff-base=1s:2s",
        claim};
  };
  ChildProcess few(RETRYSTORM_SIMULATE, search("--expect=down<5%"));
  EXPECT_EQ(few.exit_code(), 4);
  EXPECT_THAT(few.out(),
              HasSubstr("too few runs to decide whether there is such a backoff-base: 2s "
                        "is not decided (40 runs): --runs="));
  EXPECT_THAT(few.out(), Not(HasSubstr("there is no such")));
  ChildProcess none(RETRYSTORM_SIMULATE, search("--expect=down>50%"));
  EXPECT_EQ(none.exit_code(), 3);
  EXPECT_THAT(
      none.out(),
      HasSubstr(
          "there is no such backoff-base among the 5 tried from 1s to 2s, not even 2s (broken; "));
}

TEST(Simulate, SweepsAFileOfSettingsBesideTheStrategies) {
  const TempDir dir;
  const std::string file = dir.file("mine.ini");
  std::ofstream(file) << "strategy = fixed\nmax-retries = 2\n";
  const auto of = [&](const std::string& option) {
    return output_of({"--seed=1", "--runs=2", "--clients=100", "--wide", "--quiet", option});
  };
  const auto mine = lines(of("--sweep=strategy=fixed," + file));
  const auto fixed = lines(of("--sweep=max-retries=none,2"));
  ASSERT_THAT(mine, SizeIs(3));
  const auto figures = [](const std::string& row) { return row.substr(row.size() - 100); };
  EXPECT_EQ(figures(mine[1]), figures(fixed[1]));
  EXPECT_EQ(figures(mine[2]), figures(fixed[2]));
  ChildProcess process(RETRYSTORM_SIMULATE, {"--seed=1", "--runs=2", "--clients=100",
                                             "--max-retries=1", "--sweep=strategy=fixed," + file});
  EXPECT_EQ(process.exit_code(), 0);
  EXPECT_THAT(process.out(), testing::StartsWith("every strategy with max-retries=1\n"));
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

TEST(Simulate, SaysBeforeTheRunWhatIsAsked) {
  const TempDir dir;
  Arguments arguments{"--service=workers", "--workers=64",     "--service-time=80ms",
                      "--arrivals=open",   "--rate=400",       "--timeout=1s",
                      "--max-attempts=3",  "--outage-for=30s", "--observe=1s",
                      "--seed=1",          "--clients=7",      "--json=" + dir.file("json")};
  ChildProcess told(RETRYSTORM_SIMULATE, arguments);
  ASSERT_EQ(told.exit_code(), 0) << told.err();
  EXPECT_THAT(told.err(), HasSubstr("service    up to 800 requests/s"));
  EXPECT_THAT(told.err(), HasSubstr("\nwarning:   open arrivals do not use --clients"));
  const auto outlook = read_json_lines(dir.file("json")).front()["outlook"];
  EXPECT_EQ(outlook["capacity_per_s"], 800);
  EXPECT_EQ(outlook["attempts_per_s_if_all_fail"], 1200);
  EXPECT_EQ(outlook["late_from"], 736);
  EXPECT_THAT(outlook["warnings"], SizeIs(1));
  arguments.emplace_back("--quiet");
  ChildProcess quiet(RETRYSTORM_SIMULATE, arguments);
  ASSERT_EQ(quiet.exit_code(), 0);
  EXPECT_EQ(quiet.err(), "");
  EXPECT_EQ(quiet.out(), told.out());
  EXPECT_EQ(read_json_lines(dir.file("json")).front()["outlook"], outlook);
}

// What a swept strategy sets is no default.
TEST(Simulate, NamesTheDefaultsThatAreInForceInASweep) {
  ChildProcess process(RETRYSTORM_SIMULATE,
                       {"--sweep=strategy=aws-standard-2025,aws-standard", "--arrivals=open",
                        "--outage=errors:0.3", "--observe=15s", "--seed=1"});
  ASSERT_EQ(process.exit_code(), 0) << process.err();
  EXPECT_THAT(process.err(), HasSubstr("\nassumed    --service=curve, "));
  EXPECT_THAT(process.err(), Not(HasSubstr("--budget-tokens=")));
}

TEST(Simulate, TellsTheSameBytesWithAnyNumberOfThreads) {
  const TempDir dir;
  const auto table = [&dir](const std::string& threads) {
    const std::string csv = dir.file("csv-" + threads);
    const std::string out = output_of({"--seed=5", "--runs=6", "--sweep=strategy=fixed,exponential",
                                       "--sweep=backlog=128:256:128", "--threads=" + threads,
                                       "--csv=" + csv, "--wide"});
    std::vector<std::string> all = unwrapped_lines(out);
    for (const std::string& row : csv_lines(csv)) all.push_back(row);
    return all;
  };
  const auto one = table("1");
  EXPECT_THAT(one, SizeIs(5 + 2 + 5));
  EXPECT_EQ(table("3"), one);
}

TEST(Simulate, SaysInOneLineThatItsTableCannotBeWritten) {
  ChildProcess process(RETRYSTORM_SIMULATE, {"--seed=1", "--runs=2", "--csv=/dev/full", "--quiet"});
  EXPECT_EQ(process.exit_code(), 1);
  EXPECT_EQ(process.err(), "writing to /dev/full failed: No space left on device\n");
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
  const auto refusal = [](const std::string& limit_and_options) {
    ChildProcess process("/bin/sh", {"-c", "ulimit -v " + limit_and_options, RETRYSTORM_SIMULATE});
    EXPECT_EQ(process.exit_code(), 1);
    return process.err();
  };
  EXPECT_THAT(refusal("500000; exec \"$0\" --seed=1 --clients=1 --lambda=100h --observe=9900h"),
              HasSubstr("GB of memory"));
  EXPECT_THAT(refusal("500000; exec \"$0\" --seed=1 --clients=10000000"),
              HasSubstr("GB of memory"));
  EXPECT_THAT(refusal("30000; exec \"$0\" --seed=1"), HasSubstr("thread"));
}

TEST(Simulate, NeedsMemoryForAsManyRunsAsThereAre) {
  // A run needs about 1.6 MB: four thousand at a time would be too many, but these two are not.
  EXPECT_THAT(
      lines(output_of({"--seed=1", "--runs=2", "--threads=4000", "--scale=100", "--outage-at=5s",
                       "--outage-for=1s", "--observe=15s", "--wide", "--quiet"})),
      SizeIs(2));
}

TEST(Simulate, TellsEveryAxisOfItsSweep) {
  const TempDir dir;
  output_of({"--seed=1", "--runs=1", "--sweep=strategy=fixed", "--sweep=backlog=5",
             "--json=" + dir.file("json")});
  EXPECT_EQ(read_json_lines(dir.file("json")).front()["sweep"],
            (nlohmann::json{"strategy=fixed", "backlog=5"}));
}

// To split a sweep among machines. An option may have no effect in the selected cell.
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
  const auto whole = csv_lines(dir.file("whole"));
  for (const int cell : {1, 2}) {
    Arguments arguments = sweep;
    arguments.insert(arguments.end(),
                     {"--cell=" + std::to_string(cell), "--csv=" + dir.file("cell")});
    output_of(arguments);
    EXPECT_EQ(csv_lines(dir.file("cell")), (std::vector<std::string>{whole.at(0), whole.at(cell)}));
  }
}

// 4 x 60/s are more than the 200/s of the database. What keeps the chain well is that few calls get there.
TEST(Simulate, PrintsATrialOnceForAllRowsOfASweep) {
  const TempDir dir;
  const auto lines = unwrapped_lines(output_of(
      {"--chain=svc 64x20ms >1s db 20x100ms", "--arrivals=open", "--rate=60", "--timeout=5s",
       "--max-retries=3", "--growth=exponential", "--jitter=full", "--outage-for=10s",
       "--sweep=retry-at=top,bottom", "--seed=1", "--runs=5", "--json=" + dir.file("json")}));
  std::vector<std::string> trials;
  for (const std::string& line : lines) {
    if (line.find(": ask whether ") != std::string::npos) trials.push_back(line);
  }
  ASSERT_THAT(trials, Not(IsEmpty()));
  // What ends both rows is first, and each is one line.
  EXPECT_THAT(trials[0], HasSubstr("5 of 5 runs down (each row) with "));
  EXPECT_THAT(
      trials,
      Contains(StartsWith("workers: 5 of 5 runs down (each row) with 256 workers of svc: ask")));
  EXPECT_THAT(
      trials,
      Contains(AllOf(StartsWith("outage-for: "), HasSubstr(" (retry-at=top) with "))).Times(1));
  std::set<std::string> rows;
  for (const auto& each : read_json_lines(dir.file("json"))) {
    if (each["type"] == "waiting_trial") rows.insert(each["row"]);
  }
  EXPECT_THAT(rows, ElementsAre("retry-at=bottom", "retry-at=top"));
}

// At 400/s of 800, with three attempts, a storm can sustain itself. At 200/s it cannot, whatever waits.
TEST(Simulate, TriesTheUsualBacklogs) {
  const TempDir dir;
  const auto text_with = [&](const Arguments& more) {
    Arguments all{"--seed=1",
                  "--runs=6",
                  "--service=workers",
                  "--workers=64",
                  "--service-time=lognormal:80ms:0.5",
                  "--arrivals=open",
                  "--max-attempts=3",
                  "--timeout=1s",
                  "--growth=exponential",
                  "--backoff-base=500ms",
                  "--backoff-factor=2",
                  "--json=" + dir.file("json")};
    all.insert(all.end(), more.begin(), more.end());
    return output_of(all);
  };
  const auto with = [&](Arguments more) {
    more.emplace_back("--wide");
    return unwrapped_lines(text_with(more));
  };
  const auto storm = with({"--rate=400", "--outage-for=30s"});
  const auto record = [&](const std::string& type) {
    for (const auto& each : read_json_lines(dir.file("json"))) {
      if (each["type"] == type) return each;
    }
    return nlohmann::json();
  };
  const auto trial = record("backlog_trial");
  ASSERT_FALSE(trial.is_null());
  ASSERT_THAT(storm, SizeIs(7));
  EXPECT_THAT(storm[2], StartsWith("backlog: comes back below about "));
  EXPECT_THAT(storm[2], HasSubstr(" (0 of 6 down at 256; 6 of 6 down at 511): ask what"));
  EXPECT_THAT(storm[3], StartsWith("rate: 6 of 6 runs down with --rate=440: "));
  // Three attempts of 400/s are more than 800/s, and those in line for a pool are not turned away by the backlog.
  EXPECT_EQ(
      storm[4],
      "connections: 6 of 6 runs down with --connections=keep-alive --pool-size=128: ask whether "
      "each of your attempts gets a connection at once, and no pool makes it wait");
  EXPECT_THAT(storm[5], StartsWith("outage: 6 of 6 runs down with --outage=slow:10: "));
  EXPECT_THAT(storm[6],
              StartsWith("try: --retry-budget=10% (0 of 6 runs down with --rate=440, too"));
  // The budget ends the storm of a pool, too; and these connections are known.
  EXPECT_THAT(with({"--rate=400", "--outage-for=30s", "--retry-budget=10%"}),
              testing::Each(Not(HasSubstr("--connections=keep-alive"))));
  EXPECT_THAT(with({"--rate=400", "--outage-for=30s", "--connections=new"}),
              testing::Each(Not(StartsWith("connections: "))));
  EXPECT_EQ(trial["comes_back"], "below");
  EXPECT_GT(trial["edge"], 256);
  EXPECT_LT(trial["edge"], 511);
  EXPECT_EQ(trial["tried"],
            nlohmann::json::parse(R"([{"backlog": 511, "runs": 6, "down": 6, "recovering": 0}])"));
  // What another backlog, or another server, would change stands beside the share.
  EXPECT_THAT(text_with({"--rate=400", "--outage-for=30s"}),
              HasSubstr("\ndown at the end   0.0% (95 % interval 0.0-39.0%)\n"
                        "                  6 of 6 runs with --backlog=511\n"));
  EXPECT_THAT(text_with({"--rate=400", "--outage-for=30s", "--backlog=511"}),
              HasSubstr("\ndown at the end   100.0% (95 % interval 61.0-100.0%)\n"
                        "                  0 of 6 runs with --abandoned=skip\n"));

  EXPECT_THAT(
      with({"--rate=200"}).at(2),
      StartsWith("backlog: 0 of 6 runs down at 128, 511 and 4096; after the outage 100 % "));
  EXPECT_EQ(record("backlog_trial").at("edge"), nullptr);

  // The experiment's own service, too.
  EXPECT_THAT(output_of({"--strategy=exponential", "--runs=6", "--seed=1"}),
              HasSubstr("(0 of 6 down at 256; 6 of 6 down at 511)"));
  EXPECT_THAT(output_of({"--strategy=exponential", "--runs=6", "--seed=1", "--backlog=511"}),
              HasSubstr("down at the end   100.0%"));

  // With the queue of nginx it is down, unless its server skips what nobody waits for, or its queue is all that waits.
  // At 700/s the first does not help: three attempts of each request are more than it can do.
  const auto nginx = with({"--rate=400", "--outage-for=30s", "--backlog=511"});
  ASSERT_THAT(nginx, SizeIs(7));
  EXPECT_THAT(nginx[3], StartsWith("accepts: 0 of 6 runs down with --accepts=when-free ("));
  EXPECT_THAT(nginx[4], StartsWith("retry-on: 0 of 6 runs down "));
  EXPECT_THAT(nginx[5], StartsWith("outage: 0 of 6 runs down with --outage=drop "));
  EXPECT_THAT(nginx[6], StartsWith("try: --retry-budget=10% "));
  // With what it costs: the service gives up the requests of the freeze.
  EXPECT_THAT(nginx[2],
              AllOf(StartsWith("abandoned: 0 of 6 runs down with --abandoned=skip ("),
                    HasSubstr("% succeed in the outage, request p99 "),
                    EndsWith(": ask whether your server notices that a caller has hung up")));
  EXPECT_FALSE(record("abandoned_trial").is_null());
  EXPECT_FALSE(record("accepts_trial").is_null());
  const auto fast = with({"--rate=700", "--outage-for=30s", "--backlog=511"});
  ASSERT_THAT(fast, SizeIs(5));
  EXPECT_THAT(fast[2], StartsWith("accepts: 0 of 6 runs down "));
  EXPECT_THAT(fast[3], StartsWith("retry-on: 0 of 6 runs down "));
  EXPECT_THAT(fast[4], StartsWith("try: "));

  // A small pool: whether a timeout begins before the wait in line decides.
  const auto pools = unwrapped_lines(
      output_of({"--service=workers", "--workers=20", "--service-time=50ms", "--backlog=32",
                 "--clients=600", "--connections=keep-alive", "--pool-size=5", "--lambda=2s",
                 "--timeout=1s", "--strategy=fixed", "--fixed-delay=400ms", "--outage-at=15s",
                 "--outage-for=10s", "--observe=60s", "--runs=6", "--seed=1"}));
  EXPECT_THAT(pools,
              testing::Contains(AllOf(
                  StartsWith("pool-wait-counts: 0 of 6 runs down with --pool-wait-counts=no ("),
                  EndsWith(": ask whether your client's timeout includes the wait for a "
                           "connection (30 attempts at a time / 400/s = 75ms in the service, of a "
                           "timeout of 1s)"))));

  // 64 requests in a front that waits: 56 of them queue at the database, for 56 / 8 x 40 ms = 280 ms, which is more
  // than the 200 ms of a call. Of 16 no call waits for more than 8 / 8 x 40 ms.
  const auto chain = unwrapped_lines(
      output_of({"--chain=api 64x5ms > orders 64x20ms >200ms db 8x40ms", "--clients=400",
                 "--lambda=4s", "--timeout=1s", "--fixed-delay=20ms", "--max-attempts=3",
                 "--backlog=64", "--outage-for=10s", "--runs=6", "--seed=1", "--waiting=hold"}));
  EXPECT_THAT(chain,
              testing::Contains(AllOf(StartsWith("workers: 0 of 6 runs down, "),
                                      HasSubstr(" not back by the end, with 16 workers of api: "),
                                      EndsWith(": ask whether api has as many as you gave it"))));

  // A worker of svc is held for 120 ms: 64 of them do 533/s, and 16 only 133/s, less than four attempts of 60/s.
  const auto middle = lines(output_of(
      {"--chain=gateway 256x5ms > svc 64x20ms > db 20x100ms", "--retry-at=top", "--arrivals=open",
       "--rate=60/s", "--timeout=5s", "--max-retries=3", "--growth=exponential", "--jitter=full",
       "--outage-for=10s", "--runs=3", "--seed=1"}));
  EXPECT_THAT(middle, testing::Contains("workers: 3 of 3 runs down with 16 workers of svc: ask "
                                        "whether svc has as many as you gave it"));

  // 3,000 requests of 25/s are tried once in 2 s and a wait of 8 s: 300/s of 200. Seven attempts of 25/s are 175/s.
  const auto table = unwrapped_lines(output_of(
      {"--service=workers", "--arrivals=open", "--rate=25/s", "--growth=table", "--backoff-base=1s",
       "--backoff-table=1+1+2+3+5+8", "--outage-for=2m", "--runs=2", "--seed=1"}));
  EXPECT_THAT(table,
              testing::Contains(AllOf(
                  StartsWith("max-retries: 0 of 2 runs down with --max-retries=6 "),
                  EndsWith(": ask whether your policy goes on with its last wait, 8s, for ever"))));

  // Where a fifth fails, two retries at most are 0.2 + 0.04 a request, and 0.25 pays for that on average. In each of
  // 20 processes chance asks for more than was saved.
  const auto dealt = unwrapped_lines(
      output_of({"--service=workers", "--arrivals=open", "--rate=120/s", "--outage=errors:20%",
                 "--outage-for=2m", "--max-attempts=3", "--retry-budget=25%",
                 "--expect=success-during>99%", "--runs=100", "--seed=1"}));
  EXPECT_THAT(dealt,
              testing::Contains(AllOf(StartsWith("processes: success-during>99% is broken ("),
                                      EndsWith("ask whether your budget is in 1 process"))));

  // Eleven clients call at once, once a second. A bucket of ten admits ten of them, a bucket of one only one.
  const auto metered = unwrapped_lines(output_of(
      {"--clients=11", "--lambda=0s", "--rate-limit=10", "--strategy=fixed", "--fixed-delay=1s",
       "--service=workers", "--workers=100", "--service-time=1s", "--outage-for=0s", "--runs=2"}));
  EXPECT_THAT(metered, testing::Contains(AllOf(StartsWith("rate-burst: 1.0 OK/s, not "),
                                               HasSubstr("your limit admits 10 calls at once"))));

  // Half a second of 5 x 300/s, of which 200 are served, opens at least 500 connections.
  const auto peak = lines(
      output_of({"--service=workers", "--workers=32", "--service-time=80ms", "--strategy=begin",
                 "--arrivals=open", "--rate=330", "--outage-for=15s", "--processes=10",
                 "--connections=keep-alive", "--pool-size=50", "--runs=6", "--seed=1"}));
  EXPECT_THAT(peak, testing::Contains(AllOf(StartsWith("at: "),
                                            HasSubstr("--at='1s load 5' --at='1.5s load 1'"))));

  // Seven attempts of 2 s and waits of 2 s end 16 s after the request began: most requests of a freeze of 20 s are
  // given up in it, and leave no queue. None of a freeze of 10 s is.
  const auto fibonacci = lines(output_of({"--growth=table", "--backoff-table=1+1+2+3+5+8",
                                          "--max-retries=6", "--runs=6", "--seed=1"}));
  EXPECT_THAT(fibonacci, testing::Contains(AllOf(StartsWith("outage-for: "),
                                                 HasSubstr(" down with --outage-for=10s"))));

  // The table is the same without the trial.
  for (const char* without : {"--quiet", "--backlog=256", "--sweep=backlog=256"}) {
    const auto same = with({"--rate=400", "--outage-for=30s", without});
    EXPECT_THAT(same, testing::Not(testing::Contains(StartsWith("backlog:")))) << without;
    EXPECT_THAT(same.at(1), EndsWith(storm[1]));
    EXPECT_TRUE(record("backlog_trial").is_null());
  }
}

// The trials of a service whose answer hangs on something, a line each.
std::vector<std::string> trials_of(const Arguments& more) {
  Arguments all{"--service=workers", "--max-attempts=3", "--runs=6", "--seed=1"};
  all.insert(all.end(), more.begin(), more.end());
  return unwrapped_lines(output_of(all));
}

// As real sockets do: what a full accept queue drops comes again after 1, 2, ... s, all of it at once.
TEST(Simulate, TriesATimeoutBelowTheRepeatsOfTheKernel) {
  const auto with = [](const char* timeout, const Arguments& more = {}) {
    Arguments all{"--workers=28",
                  "--service-time=exponential:50ms",
                  "--arrivals=open",
                  "--rate=230",
                  "--backoff-base=250ms",
                  "--outage-for=8s",
                  timeout};
    all.insert(all.end(), more.begin(), more.end());
    return trials_of(all);
  };
  const auto below = [](const char* value) {
    return Contains(
        StartsWith(std::string("timeout: 0 of 6 runs down with --timeout=") + value + " ("));
  };
  EXPECT_THAT(with("--timeout=1050ms"), below("1s"));
  EXPECT_THAT(with("--timeout=2050ms"), below("2s"));
  EXPECT_THAT(with("--timeout=900ms"), testing::Each(Not(HasSubstr("kernels"))));
  // Before Linux 6.5 there is no repeat after 2 s.
  EXPECT_THAT(
      with("--timeout=2050ms"),
      Contains(StartsWith("syn-linear-timeouts: 0 of 6 runs down with --syn-linear-timeouts=0 (")));
  EXPECT_THAT(with("--timeout=2050ms", {"--syn-linear-timeouts=4"}),
              testing::Each(Not(StartsWith("syn-linear"))));
}

// 600 requests in 600 connections are 1.5 s of work, more than the timeout. With real sockets it is the same.
TEST(Simulate, TriesAConnectionForEachClient) {
  const Arguments kept{"--workers=20",        "--service-time=50ms", "--clients=600",
                       "--lambda=2s",         "--timeout=1s",        "--backoff-base=400ms",
                       "--max-attempts=none", "--outage-for=10s",    "--connections=keep-alive",
                       "--backlog=32"};
  const auto with = [&kept](Arguments more) {
    more.insert(more.begin(), kept.begin(), kept.end());
    return trials_of(more);
  };
  EXPECT_THAT(with({}),
              Contains(StartsWith("processes: 6 of 6 runs down with --processes=600 "
                                  "--pool-size=1: ask whether all connections are of 6 ")));
  EXPECT_THAT(with({"--processes=6"}), testing::Each(Not(StartsWith("processes:"))));
}

TEST(Simulate, SweepsTheStrategyAlsoWithTheFlagForOne) {
  const std::string sweep = "--sweep=strategy=fixed,responsive";
  EXPECT_EQ(output_of({"--seed=1", "--exponential-backoff", sweep}),
            output_of({"--seed=1", sweep}));
}

// The server refuses requests without delay, and the clients retry without waiting.
TEST(Simulate, GetsOnWithClientsThatDoNotWait) {
  EXPECT_THAT(output_of({"--seed=1", "--fixed-delay=0s", "--shed-above=200", "--outage-at=5s",
                         "--outage-for=5s", "--observe=15s"}),
              HasSubstr("verdict:"));
}

TEST(Simulate, KeepsTheFinishedCellsOfASweepThatIsInterrupted) {
  const TempDir dir;
  ChildProcess process(RETRYSTORM_SIMULATE,
                       {"--seed=1", "--runs=20", "--threads=1", "--csv=" + dir.file("csv"),
                        "--json=" + dir.file("json"), "--sweep=backlog=100:100000:1", "--wide"});
  ASSERT_TRUE(eventually([&] { return csv_lines(dir.file("csv")).size() > 3; }));
  process.signal(SIGINT);
  EXPECT_EQ(process.exit_code(), 1);
  const auto rows = csv_lines(dir.file("csv"));
  EXPECT_THAT(lines(process.out()), SizeIs(rows.size()));
  EXPECT_THAT(read_json_lines(dir.file("json")), SizeIs(rows.size()));  // the file is complete
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
  ChildProcess process(RETRYSTORM_SIMULATE,
                       {"--seed=1", "--clients=10", "--observe=99999h", "--report-interval=1h"});
  ASSERT_TRUE(eventually([&] { return lines(process.out()).size() > 10; }));
  process.signal(SIGTERM);
  ASSERT_TRUE(process.exit_code().has_value());
  EXPECT_THAT(process.out(), HasSubstr("verdict:"));
}

}  // namespace
}  // namespace retrystorm::test
