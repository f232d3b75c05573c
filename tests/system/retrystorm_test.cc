// The studies as programs: what they compute is what `simulate` does.
#include "tests/support/child_process.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

using ::testing::ContainsRegex;

// The same service, small enough for some milliseconds.
Arguments with_small(const Arguments& arguments) {
  return arguments + Arguments{"--clients=100", "--limit=5", "--k=2", "--runs=3", "--seed=4"};
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

// What a command needs to be done in some milliseconds.
Arguments quick(const std::string& command) {
  if (command == "schedule") return {command, "--waits=3", "--seed=1"};
  if (command == "job") {
    return {command,          "--tasks=4",        "--calls=60", "--clients=3", "--rate-limit=10",
            "--rate-burst=0", "--autoscale=none", "--runs=2",   "--seed=3"};
  }
  const Arguments own = command == "map"        ? Arguments{"--x=backlog=5", "--y=outage-for=2s,5s"}
                        : command == "remedies" ? Arguments{"--remedy=nothing:"}
                                                : Arguments{};
  return with_small({command}) + own;
}

TEST(Retrystorm, ComparesAFileOfSettingsBesideTheStrategies) {
  const TempDir dir;
  const std::string mine = dir.file("mine.ini"), csv = dir.file("csv");
  std::ofstream(mine) << "strategy = exponential\nbackoff-base = 1s\nmax-retries = 2\n";
  for (const char* command : {"strategies", "remedies", "map", "job", "schedule"}) {
    succeeded(RETRYSTORM_STUDIES,
              quick(command) + Arguments{"--strategies=polly," + mine, "--csv", csv});
    std::vector<std::string> of_file, of_named;
    for (const std::string& line : csv_lines(csv)) {
      if (const std::size_t at = line.find(mine); at != line.npos) {
        of_file.push_back(line.substr(0, at) + "exponential" + line.substr(at + mine.size()));
      }
    }
    succeeded(RETRYSTORM_STUDIES,
              quick(command) + Arguments{"--strategies=exponential", "--backoff-base=1s",
                                         "--max-retries=2", "--csv", csv});
    const auto rows = csv_lines(csv);
    of_named.assign(rows.begin() + 1, rows.end());
    EXPECT_EQ(of_file, of_named) << command;
  }
}

// An option that is left out would be another one when the file is read.
TEST(Retrystorm, PrintsAllOfItsSettings) {
  const TempDir dir;
  for (const auto& [command, own] : std::map<std::string, std::vector<std::string>>{
           {"strategies", {"strategies", "runs"}},
           {"remedies", {"runs"}},
           {"map", {"x", "y", "strategies", "cell", "runs"}},
           {"job", {"strategies", "runs"}},
           {"schedule", {"strategies", "waits"}}}) {
    const auto settings = settings_in(ended(RETRYSTORM_STUDIES, {command, "--print-settings"}).out);
    for (const std::string& name : own) {
      EXPECT_TRUE(settings.contains("# " + name)) << command << ' ' << name;
    }
    // What is in no group would be left out. Only options without a value are.
    const std::string help = ended(RETRYSTORM_STUDIES, {command, "--help-all"}).out;
    for (const std::string& line : lines(help)) EXPECT_LE(line.size(), 100) << command << line;
    const std::size_t begin = help.find("At the start\n");
    ASSERT_NE(begin, help.npos);
    EXPECT_THAT(lines(help.substr(begin, help.find("\n\n", begin) - begin)),
                Each(Not(ContainsRegex("^  -[^ ]* [A-Z]+="))))
        << command;
  }
  const Ended given =
      ended(RETRYSTORM_STUDIES, {"map", "--x=clients=5,6", "--cell=2", "--print-settings"});
  EXPECT_EQ(settings_in(given.out)["x"], "\"clients=5,6\"");
  std::ofstream(dir.file("ini")) << given.out;
  EXPECT_EQ(ended(RETRYSTORM_STUDIES, {"map", "--config", dir.file("ini"), "--print-settings"}).out,
            given.out);
}

TEST(RetrystormJob, FindsWhatSimulateFinds) {
  const TempDir dir;
  const Arguments small{"--tasks=4",       "--calls=60",     "--clients=3",
                        "--rate-limit=10", "--rate-burst=0", "--autoscale=none"};
  succeeded(RETRYSTORM_STUDIES, Arguments{"job", "--strategies=fixed,aws-adaptive", "--runs=2",
                                          "--seed=3", "--csv", dir.file("csv")} +
                                    small);
  const auto csv = csv_lines(dir.file("csv"));
  ASSERT_THAT(csv, SizeIs(1 + 4));
  EXPECT_EQ(csv[0],
            "worker_each,strategy,seed,makespan_s,throttled_share,gave_up,provided_unit_s,"
            "idle_share");
  std::vector<std::string> expected;
  for (const std::string strategy : {"fixed", "aws-adaptive"}) {
    for (const std::string seed : {"3", "4"}) {
      const auto summary =
          summary_of(RETRYSTORM_SIMULATE,
                     Arguments{"--arrivals=job", "--strategy", strategy, "--seed", seed} + small);
      const auto& job = summary["job"];
      const auto& capacity = summary["capacity"];
      expected.push_back("as given," + strategy + ',' + seed + ',' + job["makespan_s"].dump() +
                         ',' + job["throttled_share"].dump() + ',' + summary["gave_up"].dump() +
                         ',' + capacity["provided_unit_s"].dump() + ',' +
                         capacity["idle_share"].dump());
    }
  }
  EXPECT_EQ(std::vector(csv.begin() + 1, csv.end()), expected);
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
  succeeded(
      RETRYSTORM_STUDIES,
      with_small({"remedies", "--remedy=nothing:", "--remedy=again: 60s restart; 70s capacity 2",
                  "--csv", csv, "--markdown", markdown, "--picture-data", dir.file(".")}));
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
    succeeded(RETRYSTORM_SIMULATE, arguments);
    EXPECT_EQ(ours[i + 1], without_kinds_of_errors(dir.file(name))[1]);
  }
}

Arguments small_map(const Arguments& more) {
  return with_small({"map", "--x=backlog=5,50", "--y=outage-for=2s,20s", "--strategies=fixed"}) +
         more;
}

TEST(RetrystormMap, FindsWhatASweepFinds) {
  const TempDir dir;
  const std::string csv = dir.file("csv"), json = dir.file("json"), swept = dir.file("swept");
  succeeded(RETRYSTORM_STUDIES, small_map({"--csv", csv, "--json", json}));
  succeeded(RETRYSTORM_SIMULATE, with_small({"--sweep=strategy=fixed", "--sweep=outage-for=2s,20s",
                                             "--sweep=backlog=5,50", "--csv", swept}));
  EXPECT_EQ(csv_lines(csv), without_kinds_of_errors(swept));
  EXPECT_THAT(read_json_lines(json), SizeIs(5));
}

// The files of the parts of a study, which machines share.
class RetrystormMerge : public testing::Test {
 protected:
  // Runs all parts, and returns their files of JSON Lines.
  std::vector<std::string> parts(const std::string& program, const Arguments& study,
                                 const std::string& name, std::size_t count) {
    std::vector<std::string> files;
    for (std::size_t i = 1; i <= count; ++i) {
      const std::string part = std::to_string(i) + '/' + std::to_string(count);
      files.push_back(dir_.file(name + std::to_string(i)));
      const Ended ended =
          test::ended(program, study + Arguments{"--cell=" + part, "--json=" + files.back(),
                                                 "--csv=" + files.back() + ".csv", "--threads=1"});
      EXPECT_EQ(ended.code, 0) << ended.err;  // also where a claim is broken: no part is run again
    }
    return files;
  }

  static Ended merged(const std::vector<std::string>& files) {
    return ended(RETRYSTORM_STUDIES, Arguments{"merge"} + files);
  }

  static std::string without_first_line(const std::string& text) {
    return text.substr(text.find('\n') + 1);
  }

  TempDir dir_;
};

TEST_F(RetrystormMerge, HasTheRowsAndClaimsOfOneRun) {
  const Arguments small = with_small({});
  Arguments check{"check"};  // a cell is a policy; one of these files has a finding
  for (const char* retries : {"1", "2", "9"}) {
    check.push_back(dir_.file(std::string("policy") + retries));
    std::ofstream(check.back()) << succeeded(RETRYSTORM_STUDIES,
                                             {"export", "--as=istio", "--strategy=envoy",
                                              "--max-retries", retries})
                                       .out;
  }
  const std::tuple<const char*, Arguments, std::size_t> studies[] = {
      {RETRYSTORM_STUDIES, check + Arguments{"--expect=down<90%"} + small, 2},
      {RETRYSTORM_SIMULATE,
       Arguments{"--sweep=strategy=fixed,none", "--sweep=backlog=5,50,500", "--no-trials",
                 "--expect=down<50%", "--expect=success>90%"} +
           small,
       4},
      {RETRYSTORM_SIMULATE, Arguments{"--sweep=backlog=5,50", "--no-trials"} + small, 3},
      {RETRYSTORM_STUDIES, small_map({"--expect=recovered"}), 3},
      {RETRYSTORM_STUDIES,
       Arguments{"strategies", "fixed", "none", "grpc", "--expect=success>99%"} + small, 2},
      {RETRYSTORM_STUDIES, Arguments{"remedies", "--expect=recovered"} + small, 4},
      {RETRYSTORM_STUDIES, quick("job"), 3},
  };
  for (const auto& [program, study, count] : studies) {
    SCOPED_TRACE(study.front());
    const std::string json = dir_.file("whole"), csv = json + ".csv";
    const Ended whole =
        ended(program, study + Arguments{"--threads=3", "--json=" + json, "--csv=" + csv});
    std::vector<std::string> files = parts(program, study, "part", count);
    const nlohmann::json names(files);
    std::reverse(files.begin(), files.end());  // in any order
    const Ended lines = merged(files);
    EXPECT_EQ(lines.code, whole.code) << lines.err;
    EXPECT_EQ(without_first_line(lines.out), without_first_line(read_file(json)));
    const auto start = nlohmann::json::parse(lines.out.substr(0, lines.out.find('\n')));
    EXPECT_EQ(start["parts"], names);
    EXPECT_EQ(start["cell"], 0);
    for (std::string& file : files) file += ".csv";
    const Ended rows = merged(files);
    EXPECT_EQ(rows.code, 0) << rows.err;
    EXPECT_EQ(without_first_line(rows.out), without_first_line(read_file(csv)));
    const std::string comment = rows.out.substr(0, rows.out.find('\n'));
    const std::string of_whole = read_file(csv).substr(0, read_file(csv).find('\n'));
    EXPECT_EQ(comment.substr(0, of_whole.size()), of_whole);
    EXPECT_THAT(comment, HasSubstr(", parts: " + files.back() + ' '));
  }
}

TEST_F(RetrystormMerge, RefusesWhatIsNotTheWhole) {
  const Arguments map = small_map({"--expect=recovered"});
  const auto files = parts(RETRYSTORM_STUDIES, map, "a", 2);
  const auto thirds = parts(RETRYSTORM_STUDIES, map, "b", 3);
  const auto seeds = parts(RETRYSTORM_STUDIES, map + Arguments{"--seed=5"}, "c", 2);
  const auto others = parts(RETRYSTORM_STUDIES, map + Arguments{"--timeout=1s"}, "d", 2);
  const std::string short_of_rows = dir_.file("short"), cut = dir_.file("cut");
  const std::string text = read_file(files[1]);
  std::ofstream(short_of_rows) << text.substr(0, text.rfind('\n', text.size() - 2) + 1);
  std::ofstream(cut) << text.substr(0, text.size() - 9);
  succeeded(RETRYSTORM_STUDIES, small_map({"--json", dir_.file("whole")}));
  const std::string no_share = dir_.file("no_share");
  std::ofstream(no_share) << "# part 0/0 of 4 cells: map\n";
  using Files = std::vector<std::string>;
  const std::pair<Files, std::string> rows[] = {{{files[0]}, "--cell=2/2"},
                                                {{files[1]}, "--cell=1/2"},
                                                {{files[0], files[1], files[1]}, "the same part"},
                                                {{files[0], thirds[1], thirds[2]}, "parts"},
                                                {{files[0], seeds[1]}, "seed"},
                                                {{files[0], others[1]}, "timeout"},
                                                {{files[0] + ".csv", seeds[1] + ".csv"}, "command"},
                                                {{files[0] + ".csv"}, "--cell=2/2"},
                                                {{files[0], files[1] + ".csv"}, "differ"},
                                                {{files[0], short_of_rows}, "run --cell=2/2 again"},
                                                {{files[0], cut}, "run --cell=2/2 again"},
                                                {{files[0], dir_.file("whole")}, "no part"},
                                                {{no_share}, "no part"},
                                                {{files[0], dir_.file("none")}, "cannot read"},
                                                {{files[0], "/dev/zero"}, "cannot read"}};
  for (const auto& [given, named] : rows) {
    const Ended refused = merged(given);
    EXPECT_EQ(refused.code, 2) << named;
    EXPECT_EQ(refused.out, "") << named;
    EXPECT_THAT(lines(refused.err), SizeIs(1)) << refused.err;
    EXPECT_THAT(refused.err, HasSubstr(named));
  }
}

}  // namespace
}  // namespace retrystorm::test
