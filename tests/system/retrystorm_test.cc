// The studies as programs: what they compute is what `simulate` does.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "common/output/output_file.h"
#include "model/base/text.h"
#include "tests/support/child_process.h"
#include "tests/support/temp_dir.h"

namespace retrystorm::test {
namespace {

using ::testing::Contains;
using ::testing::ContainsRegex;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::MatchesRegex;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

struct Ended {
  int code;
  std::string out, err;
};

Ended run(const char* program, const Arguments& arguments) {
  ChildProcess process(program, arguments);
  const int code = process.exit_code().value_or(-1);
  return {code, process.out(), process.err()};
}

// The same service, small enough for some milliseconds.
Arguments with_small(Arguments arguments) {
  for (const char* word : {"--clients=100", "--limit=5", "--k=2", "--runs=3", "--seed=4"}) {
    arguments.emplace_back(word);
  }
  return arguments;
}

// A table of `simulate`, without its last three columns: the errors of each phase by kind, which studies do not have.
std::vector<std::string> without_kinds_of_errors(const std::string& path) {
  std::vector<std::string> rows = csv_lines(path);
  EXPECT_THAT(rows.at(0), testing::EndsWith(",errors_by_before,errors_by_during,errors_by_after"));
  for (std::string& row : rows) {
    for (int i = 0; i < 3; ++i) row.resize(row.rfind(','));
  }
  return rows;
}

TEST(Retrystorm, NamesItsCommandsAndWhatIsWrong) {
  const Ended help = run(RETRYSTORM_STUDIES, {"--help"});
  EXPECT_EQ(help.code, 0);
  EXPECT_THAT(help.out, HasSubstr("COMMAND [OPTIONS]"));
  EXPECT_THAT(help.out, HasSubstr("\n  strategies  "));
  for (const char* each : {"strategies", "remedies", "map", "job", "schedule", "check", "import",
                           "export", "service"}) {
    for (const std::string& line : lines(run(RETRYSTORM_STUDIES, {each, "--help"}).out)) {
      EXPECT_LE(line.size(), 100) << each << ": " << line;
    }
  }
  const Ended command = run(RETRYSTORM_STUDIES, {"strategies", "--help"});
  EXPECT_EQ(command.code, 0);
  EXPECT_THAT(command.out,
              HasSubstr("retrystorm strategies [OPTIONS]\nExample: retrystorm strategies "));
  for (const auto& [arguments, said] : std::vector<std::pair<Arguments, std::string>>{
           {{}, "A subcommand is required"},
           {{"strategie"}, "did you mean strategies?"},
           {{"validate", "--seeds=5"}, "validate is no longer a command: use scripts/validate"},
           {{"strategies", "--strategies=fixd"}, "did you mean fixed?"},
           {{"strategies", "--strategy=fixed", "--strategies=none"},
            "--strategies excludes --strategy"},
           {{"strategies", "--outage-for=5s"}, "--outage-for is set by this study"},
           {{"strategies", "--strategies=fixed", "--workers=5"}, "workers has no effect"},
           {{"strategies", "--runs=0"}, "--runs"},
           {{"strategies", "--csv=/nowhere/csv"}, "cannot write to /nowhere/csv"},
           {{"job", "--strategies=fixd"}, "did you mean fixed?"},
           {{"job", "--arrivals=open"}, "--arrivals is set by this study"},
           {{"job", "--workers=5"}, "workers has no effect"},
           {{"job", "--tasks=0"}, "--tasks"},
           {{"schedule", "--strategies=fixd"}, "did you mean fixed?"},
           {{"schedule", "--strategies=/nowhere/mine.ini"}, "cannot read '/nowhere/mine.ini'"},
           {{"remedies", "--strategies=fixd"}, "did you mean fixed?"},
           {{"schedule", "--waits=0"}, "--waits"},
           {{"schedule", "--fails-until=1s"}, "belong together: give both"},
           {{"schedule", "--tasks=5"}, "tasks has no effect"},
           {{"schedule", "--markdown=/nowhere/md"}, "cannot write to /nowhere/md"},
           {{"remedies", "--remedy=60s restart"}, "a remedy is 'TITLE: TIME ACTION; ...'"},
           {{"remedies", "--remedy=x: 60s explode"}, "'explode' is not known"},
           {{"remedies", "--remedy=x: 60s set queue-length=5", "--clients=5"},
            "queue-length has no effect"},
           {{"remedies", "--remedy=nothing:", "--remedy=x: 60s set limit=20", "--service=workers"},
            "--remedy 'x': --at '1m0s set limit=20': limit has no effect"},
           {{"remedies", "--remedy=late: 600s restart"}, "has no effect: the run ends after"},
           {{"remedies", "--outage-for=0s"}, "nothing has collapsed"},
           {{"map", "--show=success_shar"}, "did you mean success_share?"},
           {{"map", "--x=nothing=1,2"}, "--x nothing: no option of this name"},
           {{"map", "--x=backlog=5,6"}, "backlog is swept twice"},
           {{"map", "--x=clients=0,1"}, "clients"},
           {{"map", "--x=strategy=all", "--strategies=fixed"}, "an axis already"},
           {{"map", "--x=jitter=none,full", "--random=1s"}, "--jitter excludes --random"},
           {{"map", "--x=backlog=5,6", "--y=limit=5,6", "--workers=5"}, "workers has no effect"},
           {{"map", "--cell=694"}, "the map has 693 cells"},
           {{"recommend", "--fix=jiter"}, "did you mean jitter?"},
           {{"recommend", "--fix=backlog"}, "backlog is not changed anyway"},
           {{"recommend", "--runs=5"}, "--runs is set by this study"},
           {{"recommend", "--policy=a"}, "--policy needs --start"},
           {{"recommend", "--start=fixd"}, "did you mean fixed?"},
           {{"recommend", "--start=fixed", "--strategy=none"}, "--start excludes --strategy"},
           {{"recommend", "--expect=recovered"}, "claim a share, such as down<1%"},
           {{"map", "--resume=/nowhere/cells"}, "--resume needs a --seed"},
           {{"map", "--resume=/nowhere/cells", "--seed=1"}, "cannot write to /nowhere/cells"}}) {
    const Ended refused = run(RETRYSTORM_STUDIES, arguments);
    EXPECT_NE(refused.code, 0) << said;
    EXPECT_EQ(refused.out, "") << said;
    EXPECT_THAT(lines(refused.err), SizeIs(1)) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr(said));
  }
}

// What a command needs to be done in some milliseconds.
Arguments quick(const std::string& command) {
  if (command == "schedule") return {command, "--waits=3", "--seed=1"};
  if (command == "job") {
    return {command,          "--tasks=4",        "--calls=60", "--clients=3", "--rate-limit=10",
            "--rate-burst=0", "--autoscale=none", "--runs=2",   "--seed=3"};
  }
  Arguments arguments = with_small({command});
  if (command == "map")
    arguments.insert(arguments.end(), {"--x=backlog=5", "--y=outage-for=2s,5s"});
  if (command == "remedies") arguments.emplace_back("--remedy=nothing:");
  return arguments;
}

Arguments operator+(Arguments arguments, const Arguments& more) {
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(Retrystorm, ComparesAFileOfSettingsBesideTheStrategies) {
  const TempDir dir;
  const std::string mine = dir.file("mine.ini"), csv = dir.file("csv");
  std::ofstream(mine) << "strategy = exponential\nbackoff-base = 1s\nmax-retries = 2\n";
  for (const char* command : {"strategies", "remedies", "map", "job", "schedule"}) {
    const Ended study = run(RETRYSTORM_STUDIES,
                            quick(command) + Arguments{"--strategies=polly," + mine, "--csv", csv});
    ASSERT_EQ(study.code, 0) << command << study.err;
    std::vector<std::string> of_file, of_named;
    for (const std::string& line : csv_lines(csv)) {
      if (const std::size_t at = line.find(mine); at != line.npos) {
        of_file.push_back(line.substr(0, at) + "exponential" + line.substr(at + mine.size()));
      }
    }
    const Ended named =
        run(RETRYSTORM_STUDIES,
            quick(command) + Arguments{"--strategies=exponential", "--backoff-base=1s",
                                       "--max-retries=2", "--csv", csv});
    ASSERT_EQ(named.code, 0) << command << named.err;
    EXPECT_THAT(named.out, StartsWith("every strategy with max-retries=2, backoff-base=1s\n"));
    const auto rows = csv_lines(csv);
    of_named.assign(rows.begin() + 1, rows.end());
    EXPECT_EQ(of_file, of_named) << command;
  }
}

// Just above 1 s and 2 s the kernels of the clients repeat what a full accept queue dropped.
TEST(Retrystorm, ExplainsTheStripesOfAMap) {
  const auto map_of = [](const std::string& timeouts) {
    return run(RETRYSTORM_STUDIES,
               {"map", "--x=timeout=" + timeouts, "--y=backlog=256,511", "--strategies=fixed",
                "--service=workers", "--workers=28", "--service-time=exponential:50ms",
                "--arrivals=open", "--rate=230", "--max-attempts=3", "--backoff-base=250ms",
                "--outage-for=8s", "--runs=4", "--seed=1"})
        .out;
  };
  EXPECT_THAT(map_of("900ms,1050ms,1900ms,2050ms"), HasSubstr("\nstripes: "));
  EXPECT_THAT(map_of("900ms,1050ms"), Not(HasSubstr("stripes: ")));
}

TEST(Retrystorm, TakesAStrategyForAListOfOne) {
  for (const char* command : {"strategies", "map", "job", "schedule"}) {
    const Ended one = run(RETRYSTORM_STUDIES, quick(command) + Arguments{"--strategy=polly"});
    EXPECT_EQ(one.code, 0) << command << one.err;
    EXPECT_EQ(one.out,
              run(RETRYSTORM_STUDIES, quick(command) + Arguments{"--strategies=polly"}).out);
  }
}

TEST(RetrystormSchedule, NamesTheFileOfItsSettings) {
  const TempDir dir;
  const std::string mine = dir.file("mine.ini"), csv = dir.file("csv");
  std::ofstream(mine) << "growth = exponential\njitter = full\nmax-attempts = 4\n";
  const Ended study =
      run(RETRYSTORM_STUDIES, quick("schedule") + Arguments{"--config", mine, "--csv", csv});
  ASSERT_EQ(study.code, 0) << study.err;
  const auto rows = csv_lines(csv);
  ASSERT_THAT(rows, SizeIs(4));
  for (std::size_t i = 1; i < 4; ++i) {
    EXPECT_THAT(rows[i], StartsWith(mine + ',' + std::to_string(i) + ','));
  }
  // The command line overrides the file.
  const Ended typed =
      run(RETRYSTORM_STUDIES,
          quick("schedule") + Arguments{"--config", mine, "--jitter=none", "--csv", csv});
  EXPECT_THAT(typed.out, StartsWith("every strategy with jitter=none\n"));
  EXPECT_EQ(csv_lines(csv)[1], mine + ",1,0.1,,,,,0.1");
}

// An option that is left out would be another one when the file is read.
TEST(Retrystorm, PrintsAllOfItsSettings) {
  const TempDir dir;
  for (const auto& [command, own] : std::map<std::string, std::vector<std::string>>{
           {"strategies", {"strategies", "runs"}},
           {"remedies", {"runs"}},
           {"map", {"x", "y", "strategies", "show", "cell", "runs"}},
           {"job", {"strategies", "runs"}},
           {"schedule", {"strategies", "waits"}}}) {
    const std::string settings = run(RETRYSTORM_STUDIES, {command, "--print-settings"}).out;
    for (const std::string& name : own) {
      EXPECT_THAT(settings, HasSubstr("\n# " + name + " = ")) << command;
    }
    // What is in no group would be left out. Only options without a value are.
    const std::string help = run(RETRYSTORM_STUDIES, {command, "--help-all"}).out;
    for (const std::string& line : lines(help)) EXPECT_LE(line.size(), 100) << command << line;
    const std::size_t begin = help.find("At the start\n");
    ASSERT_NE(begin, help.npos);
    EXPECT_THAT(lines(help.substr(begin, help.find("\n\n", begin) - begin)),
                Each(Not(ContainsRegex("^  -[^ ]* [A-Z]+="))))
        << command;
  }
  const Ended given =
      run(RETRYSTORM_STUDIES, {"map", "--x=clients=5,6", "--cell=2", "--print-settings"});
  EXPECT_THAT(given.out, HasSubstr("\nx = \"clients=5,6\"\n"));
  std::ofstream(dir.file("ini")) << given.out;
  EXPECT_EQ(run(RETRYSTORM_STUDIES, {"map", "--config", dir.file("ini"), "--print-settings"}).out,
            given.out);
}

TEST(Retrystorm, HasHeadsThatAreExplained) {
  const TempDir dir;
  for (const char* command : {"strategies", "remedies", "job", "schedule"}) {
    ASSERT_EQ(
        run(RETRYSTORM_STUDIES, quick(command) + Arguments{"--markdown", dir.file("md")}).code, 0);
    std::istringstream heads(lines(read_file(dir.file("md"))).at(0));
    for (std::string head; std::getline(heads, head, '|');) {
      if (const std::size_t at = head.find(": "); at != head.npos) head.erase(0, at + 2);
      const std::string word(trimmed(head));
      if (word.empty()) continue;
      EXPECT_EQ(run(RETRYSTORM_SIMULATE, {"--explain", word}).code, 0) << word;
    }
  }
}

TEST(Retrystorm, WritesTheSameTableWhereverItGoes) {
  const TempDir dir;
  for (const char* command : {"strategies", "remedies", "map", "job", "schedule"}) {
    Arguments options;
    for (const char* file : {"a", "b"}) {
      EXPECT_EQ(run(RETRYSTORM_STUDIES,
                    quick(command) + options + Arguments{std::string("--csv=") + dir.file(file)})
                    .code,
                0);
      options = {"--json", dir.file("json"), "--markdown", dir.file("md")};
    }
    EXPECT_EQ(read_file(dir.file("a")), read_file(dir.file("b"))) << command;
  }
}

// Fixed waits hold this service down after some seconds; without retries it comes back.
TEST(Retrystorm, JudgesClaimsAboutEachCell) {
  const TempDir dir;
  const Arguments small{"--clients=100", "--limit=5", "--k=2", "--runs=20", "--seed=4"};
  const Arguments map = Arguments{"map", "--x=backlog=50", "--y=outage-for=20s"} + small;
  const Ended broken = run(
      RETRYSTORM_STUDIES,
      map + Arguments{"--strategies=none,fixed", "--json", dir.file("json"), "--expect=down<50%"});
  EXPECT_EQ(broken.code, 3) << broken.out << broken.err;
  EXPECT_THAT(
      broken.out,
      HasSubstr("\nstrategy=none: outage-for=20s: backlog=50: expect down<50%: holds (0.00 %"));
  EXPECT_THAT(broken.out,
              HasSubstr("\nstrategy=fixed: outage-for=20s: backlog=50: expect down<50%: "
                        "broken (100.00 %"));
  const auto line = read_json_lines(dir.file("json")).back();
  EXPECT_EQ(line["type"], "expectation");
  EXPECT_EQ(line["outage_for"], "20s");
  const Ended holds =
      run(RETRYSTORM_STUDIES, map + Arguments{"--strategies=none", "--expect=recovered"});
  EXPECT_EQ(holds.code, 0) << holds.out << holds.err;
  EXPECT_THAT(holds.out, HasSubstr("expect recovered: holds"));
  // Three runs do not decide it.
  EXPECT_EQ(
      run(RETRYSTORM_STUDIES,
          with_small({"remedies", "--remedy=nothing:", "--strategies=none", "--expect=down<50%"}))
          .code,
      4);
  EXPECT_EQ(
      run(RETRYSTORM_STUDIES, {"map", "--expect=down<5%", "--resume=/nowhere/cells", "--seed=1"})
          .code,
      108);
}

TEST(RetrystormStrategies, FindsWhatASweepFinds) {
  const TempDir dir;
  const std::string csv = dir.file("csv"), markdown = dir.file("md"), json = dir.file("json");
  const Ended study =
      run(RETRYSTORM_STUDIES, with_small({"strategies", "--strategies=fixed,none", "--csv", csv,
                                          "--markdown", markdown, "--json", json}));
  EXPECT_EQ(study.code, 0) << study.err;
  // The best is the first, in text and in Markdown.
  const auto text = lines(study.out);
  ASSERT_THAT(text, SizeIs(4));
  EXPECT_THAT(text[0], HasSubstr("frozen 1 s"));
  EXPECT_THAT(text[1], StartsWith("strategy  "));
  EXPECT_THAT(text[2], StartsWith("none "));
  EXPECT_THAT(text[3], StartsWith("fixed "));
  const auto table = lines(read_file(markdown));
  ASSERT_THAT(table, SizeIs(4));
  EXPECT_THAT(table[0],
              StartsWith("| strategy | frozen 1 s: down | back after | success | load |"));
  EXPECT_THAT(table[2], StartsWith("| `none` | "));

  // By disturbance and strategy, as a sweep has it.
  std::map<std::string, std::string> rows;
  const auto ours = csv_lines(csv);
  for (const std::string& line : ours) {
    const std::size_t comma = line.find(',', line.find(',') + 1);
    rows[line.substr(0, comma)] = line.substr(comma);
  }
  EXPECT_THAT(rows, SizeIs(11));
  EXPECT_THAT(lines(read_file(json)), SizeIs(11));
  for (const auto& [title, options] : std::map<std::string, Arguments>{
           {"frozen 10 s", {"--outage-for=10s"}},
           {"errors 50 %", {"--outage-for=0s", "--error-share=0.5"}}}) {
    Arguments arguments = with_small(options);
    const std::string swept = dir.file(title);
    arguments.insert(arguments.end(), {"--sweep=strategy=fixed,none", "--csv", swept});
    EXPECT_EQ(run(RETRYSTORM_SIMULATE, arguments).code, 0);
    for (const std::string& line : without_kinds_of_errors(swept)) {
      const std::size_t comma = line.find(',');
      const std::string name = line.substr(0, comma);
      EXPECT_EQ(rows[(name == "strategy" ? "disturbance" : title) + ',' + name],
                line.substr(comma));
    }
  }
}

TEST(Retrystorm, LeavesATableToTheRunThatIsWritingIt) {
  const TempDir dir;
  for (const char* option : {"--csv", "--markdown"}) {
    const std::string path = dir.file(option);
    const OutputFile held(path);
    for (const auto& [program, arguments] : std::vector<std::pair<const char*, Arguments>>{
             {RETRYSTORM_STUDIES, {"schedule"}},
             {RETRYSTORM_STUDIES, with_small({"strategies", "--strategies=none"})},
             {RETRYSTORM_SIMULATE, with_small({})}}) {
      Arguments all = arguments;
      all.insert(all.end(), {option, path});
      const Ended refused = run(program, all);
      EXPECT_EQ(refused.code, 1);
      EXPECT_EQ(refused.out, "");
      EXPECT_THAT(refused.err, HasSubstr("it is being written already, perhaps by another run"));
    }
  }
}

TEST(RetrystormJob, FindsWhatSimulateFinds) {
  const TempDir dir;
  const Arguments small{"--tasks=4",       "--calls=60",     "--clients=3",
                        "--rate-limit=10", "--rate-burst=0", "--autoscale=none"};
  Arguments arguments{"job",        "--strategies=fixed,aws-adaptive",
                      "--runs=2",   "--seed=3",
                      "--csv",      dir.file("csv"),
                      "--markdown", dir.file("md"),
                      "--json",     dir.file("json")};
  arguments.insert(arguments.end(), small.begin(), small.end());
  const Ended study = run(RETRYSTORM_STUDIES, arguments);
  ASSERT_EQ(study.code, 0) << study.err;
  EXPECT_THAT(lines(study.out), SizeIs(1 + 2));
  EXPECT_THAT(study.out, HasSubstr("\nas given       fixed   "));

  const auto csv = csv_lines(dir.file("csv"));
  ASSERT_THAT(csv, SizeIs(1 + 4));
  EXPECT_EQ(csv[0],
            "worker_each,strategy,seed,makespan_s,throttled_share,gave_up,provided_unit_s,"
            "idle_share");
  std::vector<std::string> expected;
  std::vector<double> makespans;
  for (const std::string strategy : {"fixed", "aws-adaptive"}) {
    for (const std::string seed : {"3", "4"}) {
      Arguments one{"--arrivals=job",
                    "--strategy",
                    strategy,
                    "--seed",
                    seed,
                    "--json",
                    dir.file("one"),
                    "--base-delay=10ms",
                    "--throttle-status=400",
                    "--hint=none"};
      one.insert(one.end(), small.begin(), small.end());
      ASSERT_EQ(run(RETRYSTORM_SIMULATE, one).code, 0);
      const auto summary = read_json_lines(dir.file("one")).back();
      const auto& job = summary["job"];
      const auto& capacity = summary["capacity"];
      makespans.push_back(job["makespan_s"]);
      expected.push_back("as given," + strategy + ',' + seed + ',' + job["makespan_s"].dump() +
                         ',' + job["throttled_share"].dump() + ',' + summary["gave_up"].dump() +
                         ',' + capacity["provided_unit_s"].dump() + ',' +
                         capacity["idle_share"].dump());
    }
  }
  EXPECT_EQ(std::vector(csv.begin() + 1, csv.end()), expected);

  // The median of two is the mean of both.
  std::sort(makespans.begin(), makespans.begin() + 2);
  char text[99];
  std::snprintf(text, sizeof(text), "| as given | `fixed` | %.0f (%.0f-%.0f) | ",
                (makespans[0] + makespans[1]) / 2, makespans[0], makespans[1]);
  const auto table = lines(read_file(dir.file("md")));
  ASSERT_THAT(table, SizeIs(2 + 2));
  EXPECT_THAT(table[2], StartsWith(text));

  const auto json = read_json_lines(dir.file("json"));
  ASSERT_THAT(json, SizeIs(1 + 4));
  EXPECT_EQ(json[4]["type"], "run");
  EXPECT_EQ(json[4]["seed"], 4);
  EXPECT_EQ(json[4]["strategy"], "aws-adaptive");
}

TEST(RetrystormJob, SaysNeverOfAJobThatIsNotDone) {
  const Ended study = run(RETRYSTORM_STUDIES,
                          {"job", "--strategies=fixed", "--runs=1", "--seed=1", "--time-limit=5s"});
  EXPECT_EQ(study.code, 0) << study.err;
  EXPECT_THAT(study.out, HasSubstr(" never "));
}

TEST(RetrystormJob, SaysThatAnOutageCameTooLate) {
  const Ended study =
      run(RETRYSTORM_STUDIES,
          {"job", "--strategies=fixed", "--runs=2", "--seed=1", "--tasks=20", "--calls=50",
           "--clients=10", "--outage=errors:1", "--outage-for=10s", "--outage-at=20s"});
  EXPECT_EQ(study.code, 0) << study.err;
  EXPECT_THAT(study.out, HasSubstr("\nthe job was done before its outage began in 2 of 2 runs\n"));
}

// No base delay was given, and workers have none.
TEST(RetrystormJob, TakesWorkers) {
  const Ended study =
      run(RETRYSTORM_STUDIES, {"job", "--strategies=fixed", "--runs=1", "--seed=1", "--tasks=20",
                               "--calls=20", "--service=workers", "--workers=2"});
  EXPECT_EQ(study.code, 0) << study.err;
}

TEST(RetrystormSchedule, RefusesWhatNoScheduleHas) {
  for (const char* option : {"--timeout=2s", "--throttled-base=1s", "--hedge=1s"}) {
    const Ended study = run(RETRYSTORM_STUDIES, {"schedule", "--strategies=exponential", option});
    EXPECT_NE(study.code, 0) << option;
    EXPECT_THAT(study.err, HasSubstr("has no effect")) << option;
  }
}

TEST(RetrystormSchedule, WritesItsTables) {
  const TempDir dir;
  const std::string csv = dir.file("csv"), markdown = dir.file("md"), json = dir.file("json");
  const Ended study =
      run(RETRYSTORM_STUDIES, {"schedule", "--strategies=fixed,aws-legacy", "--waits=3", "--seed=5",
                               "--csv", csv, "--markdown", markdown, "--json", json});
  EXPECT_EQ(study.code, 0) << study.err;
  const auto rows = csv_lines(csv);
  ASSERT_THAT(rows, SizeIs(1 + 6));
  EXPECT_EQ(rows[0], "strategy,attempt,delay_seconds,p5,p50,p95,outcome,elapsed_seconds");
  EXPECT_THAT(lines(read_file(csv))[0],
              MatchesRegex("# .* schedule --strategies=fixed,aws-legacy .*, retrystorm "
                           "[0-9]+[.][0-9]+[.][0-9]+.*, seed 5"));
  EXPECT_EQ(rows[1], "fixed,1,0.1,,,,,0.1");
  EXPECT_EQ(rows[3], "fixed,3,0.1,,,,,0.3");
  const auto text = lines(study.out);
  ASSERT_THAT(text, SizeIs(1 + 6));
  EXPECT_THAT(text[1], StartsWith("fixed             1          0.1          0.1"));
  EXPECT_THAT(lines(read_file(markdown))[2], StartsWith("| `fixed` | 1 | 0.1 | 0.1 | "));
  const auto objects = read_json_lines(json);
  ASSERT_THAT(objects, SizeIs(1 + 6));
  EXPECT_EQ(objects[0]["type"], "start");
  EXPECT_EQ(objects[0]["seed"], 5);
  EXPECT_EQ(objects[1]["p5"], nullptr);
  for (std::size_t attempt = 1; attempt <= 3; ++attempt) {
    EXPECT_EQ(objects[3 + attempt]["type"], "wait");
    EXPECT_EQ(objects[3 + attempt]["attempt"], attempt);
  }
}

// kubernetes/kubernetes#57291: a container dies 10 s after each start.
TEST(RetrystormSchedule, SaysHowLongUntilTheNthRetry) {
  const TempDir dir;
  const Ended study =
      run(RETRYSTORM_STUDIES,
          {"schedule", "--growth=exponential", "--backoff-base=10s", "--backoff-cap=5m",
           "--attempt-takes=10s", "--waits=6", "--csv", dir.file("csv")});
  EXPECT_EQ(study.code, 0) << study.err;
  EXPECT_THAT(
      csv_lines(dir.file("csv")),
      ElementsAre(HasSubstr("elapsed_seconds"), EndsWith(",20.0"), EndsWith(",50.0"),
                  EndsWith(",100.0"), EndsWith(",190.0"), EndsWith(",360.0"), EndsWith(",670.0")));
  const Ended warned = run(RETRYSTORM_STUDIES, {"schedule", "--growth=exponential",
                                                "--backoff-base=1h", "--backoff-cap=10m"});
  EXPECT_THAT(warned.out, HasSubstr("warning: the first wait of 1h"));
}

TEST(RetrystormSchedule, FollowsAStory) {
  const TempDir dir;
  const Ended study = run(RETRYSTORM_STUDIES,
                          {"schedule", "--waits=4", "--seed=1", "--jitter=none",
                           "--fails-until=200ms", "--succeeds-above=0s", "--csv", dir.file("csv")});
  EXPECT_EQ(study.code, 0) << study.err;
  EXPECT_THAT(csv_lines(dir.file("csv")),
              ElementsAre(HasSubstr("outcome"), "exponential,1,0.1,,,,failure,0.1",
                          "exponential,2,0.271828,,,,failure,0.371828",
                          "exponential,3,0.0,,,,success,0.371828",
                          "exponential,4,0.1,,,,failure,0.471828"));
}

// The rows of a table as CSV, without their labels.
std::vector<std::string> figures(const std::string& path, int labels) {
  std::vector<std::string> rows = csv_lines(path);
  for (std::string& row : rows) {
    for (int i = 0; i < labels; ++i) row.erase(0, row.find(',') + 1);
  }
  return rows;
}

TEST(RetrystormRemedies, FindsWhatManyRunsFind) {
  const TempDir dir;
  const std::string csv = dir.file("csv"), markdown = dir.file("md"), runs = dir.file("runs");
  const Ended study = run(
      RETRYSTORM_STUDIES,
      with_small({"remedies", "--remedy=nothing:", "--remedy=again: 60s restart; 70s capacity 2",
                  "--csv", csv, "--markdown", markdown, "--picture-data", dir.file(".")}));
  EXPECT_EQ(study.code, 0) << study.err;
  ASSERT_THAT(lines(study.out), SizeIs(4));
  const auto table = lines(read_file(markdown));
  ASSERT_THAT(table, SizeIs(4));
  EXPECT_EQ(table[0], "| remedy | this service: down | back after | load |");
  EXPECT_THAT(table[2], StartsWith("| nothing | "));

  const auto ours = figures(csv, 2);
  ASSERT_THAT(ours, SizeIs(3));
  const auto listed = lines(read_file(runs));
  ASSERT_THAT(listed, SizeIs(2));
  for (std::size_t i = 0; i < listed.size(); ++i) {
    // What is listed is a command line of `simulate`.
    std::istringstream words(listed[i]);
    std::string name, word;
    std::getline(words, name, '\t');
    EXPECT_EQ(name, "1-" + std::to_string(i + 1));
    Arguments arguments{"--runs=3", "--csv", dir.file(name)};
    while (std::getline(words, word, '\t')) arguments.push_back(word);
    EXPECT_THAT(arguments, Contains("--observe=3m10s"));
    EXPECT_EQ(run(RETRYSTORM_SIMULATE, arguments).code, 0);
    EXPECT_EQ(ours[i + 1], without_kinds_of_errors(dir.file(name))[1]);
  }
}

// The usual ones come 10 s after the usual outage, which ends at 50 s, and after any other. On the curve, none is about
// its queue, and those of a run of 20 s after the outage end too early for the load to come back.
TEST(RetrystormRemedies, ActAfterTheOutage) {
  const TempDir dir;
  const auto runs_of = [&dir](const Arguments& more) {
    const Ended study =
        run(RETRYSTORM_STUDIES, with_small({"remedies", "--picture-data", dir.file(".")}) + more);
    EXPECT_EQ(study.code, 0) << study.err;
    return std::pair(study.out, read_file(dir.file("runs")));
  };
  EXPECT_THAT(runs_of({}).second, HasSubstr("--at=60s load 0.1; 120s load 1\t"));
  EXPECT_THAT(runs_of({"--outage-for=15s"}).second, HasSubstr("--at=55s load 0.1; 1m55s load 1\t"));
  const auto [out, later] = runs_of({"--outage-at=100s", "--outage-for=30s", "--observe=20s"});
  EXPECT_THAT(later, HasSubstr("--at=2m20s restart\t"));
  EXPECT_THAT(later, testing::Not(HasSubstr("load")));
  EXPECT_THAT(
      out, HasSubstr("a tenth of the load for 60 s is left out: at '3m20s load 1' has no effect"));
  EXPECT_THAT(out, HasSubstr("newest first (LIFO) is left out: "));
}

TEST(RetrystormRemedies, HasThreeCasesOfItsOwn) {
  const Ended study =
      run(RETRYSTORM_STUDIES,
          {"remedies", "--remedy=LIFO: 60s set queue-order=lifo", "--runs=1", "--seed=1"});
  EXPECT_EQ(study.code, 0) << study.err;
  const auto text = lines(study.out);
  ASSERT_THAT(text, SizeIs(3));
  EXPECT_THAT(text[0], HasSubstr("curve, retried for ever"));
  EXPECT_THAT(text[0], HasSubstr("workers, given up after 3 retries"));
  EXPECT_THAT(text[2], MatchesRegex("LIFO  +-  +-  +-  +0 %  +10 s  .*"));
}

// 99 requests a second are wanted. With a limit of 50/s no observation sees them answered.
TEST(RetrystormRemedies, SayWhichHoldTheServiceBelowItsLoad) {
  const Ended study = run(RETRYSTORM_STUDIES,
                          {"remedies", "--service=workers", "--remedy=half: 60s set rate-limit=50",
                           "--runs=3", "--seed=1", "--expect=down<50%"});
  EXPECT_THAT(study.out,
              HasSubstr("held below its load by the remedy itself: this service half 50/s of "));
  EXPECT_THAT(study.out, HasSubstr("held below its load: it answers 50/s of "));
  EXPECT_THAT(study.out, testing::Not(HasSubstr("a longer --observe")));
}

// 500/s answer 450 requests within the 900 ms that a service time leaves of a timeout of 1 s. The accept queue is first in,
// first out: of 4,096 the others are answered too late, whatever the order of those that were accepted.
TEST(RetrystormRemedies, SayWhichDoNotHelpWithALongAcceptQueue) {
  const Ended study = run(
      RETRYSTORM_STUDIES,
      {"remedies", "--service=workers", "--workers=50", "--service-time=100ms", "--arrivals=open",
       "--rate=250", "--timeout=1s", "--strategy=exponential", "--runs=3", "--seed=1",
       "--remedy=LIFO: 60s set queue-order=lifo", "--remedy=drop: 60s set queue-drop=age:500ms"});
  EXPECT_THAT(unwrapped_lines(study.out),
              testing::Contains("this service does not come back with --backlog=4096, which "
                                "servers in Go have, by: LIFO: ask what your server listens with"));
  EXPECT_THAT(study.err, HasSubstr("(--max-attempts, --deadline)\nassumed "));
  EXPECT_THAT(study.err,
              testing::EndsWith("remedies   \"back after\" counts from the end of the outage\n"));
}

// Half of 200/s is enough for 99/s without retries: nothing collapses.
TEST(RetrystormRemedies, SayThatThereIsNothingToRemedy) {
  const std::string said = "there is nothing to remedy";
  const auto out = [](const std::string& outage, const std::string& strategy) {
    return run(RETRYSTORM_STUDIES, {"remedies", "--service=workers", outage, strategy,
                                    "--remedy=nothing:", "--runs=3", "--seed=1"})
        .out;
  };
  EXPECT_THAT(out("--outage=capacity:0.6", "--strategy=none"), HasSubstr(said));
  EXPECT_THAT(out("--outage=freeze", "--strategy=fixed"), testing::Not(HasSubstr(said)));
}

Arguments small_map(Arguments more) {
  Arguments arguments =
      with_small({"map", "--x=backlog=5,50", "--y=outage-for=2s,20s", "--strategies=fixed"});
  arguments.insert(arguments.end(), more.begin(), more.end());
  return arguments;
}

TEST(RetrystormMap, FindsWhatASweepFinds) {
  const TempDir dir;
  const std::string csv = dir.file("csv"), json = dir.file("json"), swept = dir.file("swept");
  const Ended study = run(RETRYSTORM_STUDIES, small_map({"--csv", csv, "--json", json}));
  EXPECT_EQ(study.code, 0) << study.err;
  ASSERT_THAT(unwrapped_lines(study.out), SizeIs(6));
  // By hand: Wilson's intervals of 0 and 1 of 3.
  EXPECT_THAT(study.out,
              HasSubstr("\n95 % intervals for 3 runs (--runs): 0 is 0 to 56 %, 33 is 6 to 79 %"));
  EXPECT_THAT(study.err, HasSubstr(" --observe="));
  EXPECT_THAT(study.err, HasSubstr("\nload       100 clients that wait for their answers"));
  EXPECT_THAT(study.out,
              StartsWith("fixed: down (collapsed or relapsed) in % of the runs with a verdict, 3"));
  EXPECT_EQ(
      run(RETRYSTORM_SIMULATE, with_small({"--sweep=strategy=fixed", "--sweep=outage-for=2s,20s",
                                           "--sweep=backlog=5,50", "--csv", swept}))
          .code,
      0);
  EXPECT_EQ(csv_lines(csv), without_kinds_of_errors(swept));
  EXPECT_THAT(read_json_lines(json), SizeIs(5));
  // What the name stands for: docs/strategies.md.
  EXPECT_THAT(read_file(csv),
              HasSubstr(", strategy fixed (constant 100ms, any number of retries), assumed: "));
}

TEST(RetrystormMap, GoesOnWhereItWas) {
  const TempDir dir;
  const std::string cells = dir.file("cells"), csv = dir.file("csv"), again = dir.file("again");
  const Ended whole = run(RETRYSTORM_STUDIES, small_map({"--resume", cells, "--csv", csv}));
  EXPECT_EQ(whole.code, 0) << whole.err;
  EXPECT_THAT(whole.err, StartsWith("4 cells of 3 runs, 4 to be done\nservice    up to "));
  // As a crash leaves it: without a row, and in the middle of another one.
  std::string text = read_file(cells);
  text.erase(text.find('\n') + 1, text.find('\n', text.find('\n') + 1) - text.find('\n'));
  text.resize(text.size() - 9);
  std::ofstream(cells) << text;
  const Ended missing = run(RETRYSTORM_STUDIES, small_map({"--resume", cells, "--list-cells"}));
  EXPECT_EQ(missing.code, 0) << missing.err;
  EXPECT_THAT(lines(missing.out), SizeIs(3));
  EXPECT_THAT(missing.out, StartsWith("cell,strategy,outage_for,backlog\n"));
  const Ended rest = run(RETRYSTORM_STUDIES, small_map({"--resume", cells, "--csv", again}));
  EXPECT_THAT(rest.err, StartsWith("4 cells of 3 runs, 2 to be done\n"));
  EXPECT_EQ(rest.out, whole.out);
  EXPECT_EQ(csv_lines(again), csv_lines(csv));
  const Ended other = run(RETRYSTORM_STUDIES, small_map({"--resume", cells, "--timeout=1s"}));
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.err, HasSubstr("holds cells of another map"));
}

TEST(RetrystormMap, NamesARowWithoutItsRuns) {
  const TempDir dir;
  const std::string cells = dir.file("cells");
  ASSERT_EQ(run(RETRYSTORM_STUDIES, small_map({"--resume", cells})).code, 0);
  std::string text = read_file(cells);
  const std::size_t runs = text.find(",3,", text.find('\n'));  // --runs=3
  ASSERT_NE(runs, text.npos);
  std::ofstream(cells) << text.erase(runs + 1, 1);
  const Ended refused = run(RETRYSTORM_STUDIES, small_map({"--resume", cells}));
  EXPECT_EQ(refused.code, 1);
  EXPECT_THAT(refused.err, HasSubstr("a row without its number of runs"));
  EXPECT_EQ(read_file(cells), text);
}

// A file that is no map's may be of any size.
TEST(RetrystormMap, ReadsNoLongLine) {
  const TempDir dir;
  const std::string cells = dir.file("cells");
  std::ofstream(cells) << std::string(200'000, 'x') << '\n';
  const Ended other = run(RETRYSTORM_STUDIES, small_map({"--resume", cells}));
  EXPECT_EQ(other.code, 1);
  EXPECT_THAT(other.err, HasSubstr("holds cells of another map"));
  EXPECT_EQ(read_file(cells).size(), 200'001u);
  std::filesystem::remove(cells);
  ASSERT_EQ(run(RETRYSTORM_STUDIES, small_map({"--resume", cells})).code, 0);
  const std::string whole = read_file(cells);
  const std::size_t second = whole.find('\n') + 1;
  std::ofstream(cells) << whole.substr(0, second) << std::string(200'000, ',') << '\n'
                       << whole.substr(second);
  ASSERT_EQ(run(RETRYSTORM_STUDIES, small_map({"--resume", cells})).code, 0);
  EXPECT_EQ(read_file(cells), whole);
}

// As root, a device would be gone for the whole machine.
TEST(RetrystormMap, ReplacesNothingButFiles) {
  const TempDir dir;
  const std::string precious = dir.file("precious"), cells = dir.file("cells");
  const std::string link = dir.file("link"), fifo = dir.file("fifo");
  std::ofstream(precious) << "precious";
  std::filesystem::create_symlink(precious, link);
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  for (const std::string& path : {link, fifo}) {
    const Ended refused = run(RETRYSTORM_STUDIES, small_map({"--resume", path}));
    EXPECT_EQ(refused.code, 1);
    EXPECT_THAT(refused.err, HasSubstr("it is not a regular file"));
  }
  // Once a known name, through which somebody else's link was followed.
  std::filesystem::create_symlink(precious, cells + ".new");
  EXPECT_EQ(run(RETRYSTORM_STUDIES, small_map({"--resume", cells})).code, 0);
  EXPECT_EQ(read_file(precious), "precious");
  EXPECT_TRUE(std::filesystem::is_symlink(link));
}

// As machines share them: the rows of all cells are those of the map.
TEST(RetrystormMap, IsTheSameCellByCell) {
  const TempDir dir;
  const std::string csv = dir.file("csv"), one = dir.file("one");
  EXPECT_EQ(run(RETRYSTORM_STUDIES, small_map({"--csv", csv})).code, 0);
  const auto rows = csv_lines(csv);
  for (std::size_t cell = 1; cell <= 4; ++cell) {
    const Ended study =
        run(RETRYSTORM_STUDIES, small_map({"--csv", one, "--cell", std::to_string(cell)}));
    EXPECT_EQ(study.code, 0) << study.err;
    EXPECT_THAT(csv_lines(one), ElementsAre(rows[0], rows[cell]));
  }
}

}  // namespace
}  // namespace retrystorm::test
