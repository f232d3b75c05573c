#include "common/cli/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <fstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "common/cli/parse.h"
#include "tests/support/temp_dir.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

// A program with both groups of options, like the simulator.
class OptionsTest : public testing::Test {
 protected:
  OptionsTest() {
    set_up_app(app_);
    add_workload_options(app_, workload_);
    add_service_options(app_, service_, Engine::kSimulated);
  }

  // The exit code, if the program must end.
  std::optional<int> parse(const std::vector<const char*>& arguments) {
    std::vector<const char*> argv{"program"};
    argv.insert(argv.end(), arguments.begin(), arguments.end());
    return retrystorm::parse(app_, static_cast<int>(argv.size()), argv.data());
  }

  // The message on standard error for arguments that are refused.
  std::string refusal(const std::vector<const char*>& arguments) {
    testing::internal::CaptureStderr();
    const auto code = parse(arguments);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(code.value_or(0), 0) << "not refused: " << arguments.back();
    EXPECT_EQ(test::lines(said).size(), 1) << said;
    return said;
  }

  std::string exclusions() {
    Contradictions wrong;
    add_exclusions(wrong, app_);
    return wrong.lines();
  }

  CLI::App app_;
  WorkloadOptions workload_;
  ServiceOptions service_;
};

TEST_F(OptionsTest, HasTheDocumentedDefaults) {
  ASSERT_EQ(parse({}), std::nullopt);
  const auto documented = nlohmann::ordered_json::parse(
      test::read_file(RETRYSTORM_DOCS "/../tests/common/cli/defaults.json"));
  EXPECT_EQ(options_json(app_), documented) << options_json(app_).dump(2);
}

// No two set the same variable.
TEST_F(OptionsTest, EachOptionSetsItsOwnValue) {
  const std::vector<std::pair<std::string, std::string>> all{{"clients", "1"},
                                                             {"lambda", "2s"},
                                                             {"timeout", "3s"},
                                                             {"max-retries", "5"},
                                                             {"growth", "linear"},
                                                             {"backoff-base", "6s"},
                                                             {"backoff-step", "8s"},
                                                             {"backoff-cap", "9s"},
                                                             {"backoff-factor", "11"},
                                                             {"jitter", "normal:0.5"},
                                                             {"grow-from", "jittered"},
                                                             {"jitter-first", "no"},
                                                             {"first-at-once", "yes"},
                                                             {"throttled-base", "13s"},
                                                             {"pacer", "yes"},
                                                             {"max-interval", "17s"},
                                                             {"initial-interval", "16s"},
                                                             {"up-multiplier", "18"},
                                                             {"down-threshold", "19"},
                                                             {"down-multiplier", "0.2"},
                                                             {"randomization", "0.21"},
                                                             {"base-delay", "23s"},
                                                             {"max-randomization", "22s"},
                                                             {"limit", "24"},
                                                             {"curve-factor", "25"},
                                                             {"k", "26"},
                                                             {"max-connections", "28"},
                                                             {"backlog", "27"},
                                                             {"rate-limit", "29"},
                                                             {"rate-burst", "30"},
                                                             {"shed-above", "31"},
                                                             {"backoff-from", "think-time"},
                                                             {"cap-applies", "after-jitter"}};
  std::vector<std::string> words;
  for (const auto& [name, value] : all) words.push_back("--" + name + '=' + value);
  std::vector<const char*> arguments;
  for (const std::string& each : words) arguments.push_back(each.c_str());
  ASSERT_EQ(parse(arguments), std::nullopt);
  const auto json = options_json(app_);
  for (auto [name, value] : all) {
    std::replace(name.begin(), name.end(), '-', '_');
    EXPECT_EQ(json[name].is_string() ? json[name].get<std::string>() : json[name].dump(), value)
        << name;
  }
  EXPECT_EQ(workload_.retry.backoff.base, 6s);
  EXPECT_EQ(service_.backlog, 27u);
}

// Whatever the order in which they are typed.
TEST_F(OptionsTest, TakesTheConnectionsOfTheStrategysLibrary) {
  ASSERT_EQ(parse({"--connections=library", "--pool-size=3", "--timeout=1s", "--strategy=grpc"}),
            std::nullopt);
  EXPECT_EQ(workload_.connections.kind, Connections::kMultiplexed);
  EXPECT_EQ(workload_.connections.pool_size, 3u);
  EXPECT_EQ(workload_.retry.limit.deadline, 1s);
}

TEST_F(OptionsTest, KnowsTheOriginalsNames) {
  ASSERT_EQ(parse({"--exponential-backoff", "--simple-backoff-delay=50ms", "--baseDelay=20ms"}),
            std::nullopt);
  EXPECT_EQ(workload_.retry.strategy, "exponential");
  EXPECT_EQ(workload_.retry.backoff.base, 50ms);
  EXPECT_EQ(service_.base_delay, 20ms);
}

// Go's flags have one dash, and so do the article's command lines.
TEST_F(OptionsTest, TakesLongOptionsWithOneDash) {
  ASSERT_EQ(parse({"-exponential-backoff", "-max-delay", "5s", "-simple-backoff-delay=50ms",
                   "-baseDelay=20ms", "-k", "16"}),
            std::nullopt);
  EXPECT_EQ(workload_.retry.strategy, "exponential");
  EXPECT_EQ(workload_.retry.backoff.cap, 5s);
  EXPECT_EQ(workload_.retry.backoff.base, 50ms);
  EXPECT_EQ(service_.base_delay, 20ms);
  EXPECT_EQ(service_.k, 16);
}

TEST_F(OptionsTest, RefusesTheSameWithOneDashAsWithTwo) {
  for (const auto& [given, named] : std::vector<std::pair<std::vector<const char*>, std::string>>{
           {{"-exponential-backof"}, "-exponential-backof"},
           {{"-hello"}, "-hello"},  // not -h, which would succeed
           {{"-clients=0"}, "--clients"},
           {{"-clients"}, "--clients"},
           {{"-simple-backoff-delay=x"}, "--simple-backoff-delay"},
           {{"-x"}, "-x"},
           {{"-"}, "-"},
           {{"-timeout", "-5s"}, "--timeout"}}) {
    EXPECT_THAT(refusal(given), HasSubstr(named));
  }
}

// The names of the parts' settings in the articles and in earlier versions.
TEST_F(OptionsTest, KnowsTheSecondNames) {
  for (const char* name : {"--fixed-delay=6s", "--simple-backoff-delay=6s", "--min-delay=6s",
                           "--linear-initial=6s", "--truncated-base=6s"}) {
    ASSERT_EQ(parse({name}), std::nullopt);
    EXPECT_EQ(workload_.retry.backoff.base, 6s) << name;
  }
  ASSERT_EQ(parse({"--max-delay=7s"}), std::nullopt);
  EXPECT_EQ(workload_.retry.backoff.cap, 7s);
  ASSERT_EQ(parse({"--maximum-backoff=8s"}), std::nullopt);
  EXPECT_EQ(workload_.retry.backoff.cap, 8s);
  ASSERT_EQ(parse({"--random=250ms"}), std::nullopt);
  EXPECT_EQ(workload_.retry.backoff.jitter, parse_jitter("additive:250ms"));
  ASSERT_EQ(parse({"--jitter=0.25"}), std::nullopt);
  EXPECT_EQ(workload_.retry.backoff.jitter, parse_jitter("normal:0.25"));
}

TEST_F(OptionsTest, AnOptionOverrulesTheStrategyInAnyOrder) {
  ASSERT_EQ(parse({"--factor=3", "--strategy=exponential", "--max-retries=0"}), std::nullopt);
  EXPECT_EQ(workload_.retry.backoff.factor, 3);
  EXPECT_EQ(workload_.retry.backoff.growth, Growth::kExponential);
  EXPECT_EQ(workload_.retry.limit.max_retries, 0);
}

TEST_F(OptionsTest, RefusesTheSameThingInTwoForms) {
  for (int again = 0; again < 2; ++again) {
    ASSERT_EQ(parse({"--random=1s", "--clients=2", "-jitter=full"}), std::nullopt);
    EXPECT_EQ(exclusions(), "--random excludes --jitter: give one of them");
    EXPECT_EQ(parse({"--random=1s"}), std::nullopt);
    EXPECT_EQ(exclusions(), "");
  }
}

TEST_F(OptionsTest, RefusesTheSameThingInTwoFormsOfAFile) {
  const test::TempDir dir;
  const std::string path = dir.file("storm.ini");
  std::ofstream(path) << "random=1s\njitter=full\n";
  ASSERT_EQ(parse({"--config", path.c_str()}), std::nullopt);
  EXPECT_EQ(exclusions(), "--random excludes --jitter: give one of them");
}

TEST_F(OptionsTest, AFileMayBeginWithAByteOrderMark) {
  const test::TempDir dir;
  const std::string path = dir.file("storm.ini");
  std::ofstream(path) << "\xEF\xBB\xBF"
                      << "clients=3\n";
  ASSERT_EQ(parse({"--config", path.c_str()}), std::nullopt);
  EXPECT_EQ(workload_.clients, 3);
}

TEST_F(OptionsTest, SaysThatAFileOfJsonIsNoSettings) {
  const test::TempDir dir;
  const std::string path = dir.file("service_config.json");
  std::ofstream(path) << "\n{\"methodConfig\": []}\n";
  EXPECT_THAT(refusal({"--config", path.c_str()}),
              HasSubstr("this is JSON, write lines of NAME = VALUE"));
}

TEST_F(OptionsTest, RefusesAFileWithoutEnd) {
  EXPECT_THAT(refusal({"--config=/dev/zero"}), HasSubstr("--config: cannot read '/dev/zero'"));
  const test::TempDir dir;
  const std::string path = dir.file("storm.ini");
  std::ofstream(path) << std::string(100'001, '\n');
  EXPECT_EQ(refusal({"--config", path.c_str()}),
            "--config: the file is longer than 100 kB (see --explain config)\n");
}

// CLI11 means the beginning and the end of a section by these names.
TEST_F(OptionsTest, KnowsNoOptionNamedPlusOrMinus) {
  const test::TempDir dir;
  const std::string path = dir.file("storm.ini");
  for (const char* text : {"++=1\n", "\"++\"=1\n", "++ = [1,2]\n"}) {
    std::ofstream(path) << text;
    EXPECT_THAT(refusal({"--config", path.c_str()}), HasSubstr("--config: ++ was not expected"));
  }
  std::ofstream(path) << "--=1\n";
  EXPECT_THAT(refusal({"--config", path.c_str()}), HasSubstr("--config: -- was not expected"));
  std::ofstream(path) << "a.rate=1\nrate=2\n";
  EXPECT_THAT(refusal({"--config", path.c_str()}), HasSubstr("--config: a.rate was not expected"));
  for (const char* text : {"[a.a.a.a.a.a.a.a.a.a.a.a]\n", "[\"#\".a.a.a.a.a.a.a.a.a.a.a]\n",
                           "[=.a.a.a.a.a.a.a.a.a.a.a]\n", "\"=\".a.a.a.a.a.a.a.a.a.a.a = 1\n"}) {
    std::ofstream(path) << text;
    EXPECT_THAT(refusal({"--config", path.c_str()}), HasSubstr("more than 10 dots"));
  }
}

TEST_F(OptionsTest, TheCommandLineOverrulesAFileInAnyForm) {
  const test::TempDir dir;
  const std::string path = dir.file("storm.ini");
  std::ofstream(path) << "random=1s\n";
  ASSERT_EQ(parse({"--config", path.c_str(), "--jitter=full"}), std::nullopt);
  EXPECT_EQ(exclusions(), "");
  EXPECT_EQ(workload_.retry.backoff.jitter, parse_jitter("full"));
  EXPECT_EQ(workload_with(app_, "truncated").retry.backoff.jitter, parse_jitter("full"));
  std::ofstream(path) << "jitter=equal\n";
  ASSERT_EQ(parse({"--config", path.c_str(), "--random=2s"}), std::nullopt);
  EXPECT_EQ(workload_.retry.backoff.jitter, parse_jitter("additive:2s"));
}

TEST_F(OptionsTest, AnotherStrategyIsOverruledByTheSameOptions) {
  ASSERT_EQ(parse({"--factor=3", "--strategy=exponential", "--clients=5"}), std::nullopt);
  const WorkloadOptions other = workload_with(app_, "truncated");
  EXPECT_EQ(other.retry.strategy, "truncated");
  EXPECT_EQ(other.retry.backoff.base, 1s);
  EXPECT_EQ(other.retry.backoff.factor, 3);
  EXPECT_EQ(other.clients, 5);
}

TEST_F(OptionsTest, TheCommandLineOverrulesTheStrategyOfAFile) {
  const test::TempDir dir;
  const std::string path = dir.file("storm.ini");
  std::ofstream(path) << "strategy=linear\nlinear-step=3s\n";
  ASSERT_EQ(parse({"--config", path.c_str(), "--exponential-backoff"}), std::nullopt);
  EXPECT_EQ(workload_.retry.strategy, "exponential");
  EXPECT_EQ(workload_.retry.backoff.step, 3s);
}

TEST_F(OptionsTest, AFileMayHaveTheOriginalsFlag) {
  const test::TempDir dir;
  const std::string path = dir.file("storm.ini");
  std::ofstream(path) << "factor=3\nexponential-backoff=true\n";
  ASSERT_EQ(parse({"--config", path.c_str()}), std::nullopt);
  EXPECT_EQ(workload_.retry.strategy, "exponential");
  EXPECT_EQ(workload_.retry.backoff.factor, 3);
}

TEST_F(OptionsTest, TheLastValueOfAnOptionCounts) {
  ASSERT_EQ(parse({"--clients=5", "--clients=6"}), std::nullopt);
  EXPECT_EQ(workload_.clients, 6);
}

TEST_F(OptionsTest, AServerAloneCallsTheCurvesFactorFactor) {
  CLI::App app;
  ServiceOptions service;
  add_service_options(app, service, Engine::kReal);
  const char* argv[] = {"server", "--factor", "1.2"};
  ASSERT_EQ(retrystorm::parse(app, 3, argv), std::nullopt);
  EXPECT_EQ(service.factor, 1.2);
}

TEST_F(OptionsTest, RefusesBadValuesInOneLineThatNamesTheOption) {
  const std::pair<const char*, const char*> cases[] = {
      {"--strategy", "quadratic"},
      {"--strategy", ""},
      {"--clients", "0"},
      {"--clients", "-1"},
      {"--clients", "1.5"},
      {"--clients", "many"},
      {"--clients", "99999999999999999999"},
      {"--lambda", "-1s"},
      {"--lambda", "soon"},
      {"--lambda", "nan"},
      {"--lambda", "inf"},
      {"--timeout", "0s"},
      {"--timeout", "-2s"},
      {"--timeout", "300y"},
      {"--timeout", "3000000h"},
      {"--seed", "-1"},
      {"--seed", "18446744073709551616"},
      {"--max-retries", "-1"},
      {"--fixed-delay", "-100ms"},
      {"--linear-initial", "-1s"},
      {"--linear-step", "1m30"},
      {"--max-delay", "-5m"},
      {"--min-delay", "x"},
      {"--factor", "0"},
      {"--factor", "-2"},
      {"--factor", "nan"},
      {"--factor", "inf"},
      {"--factor", "1e400"},
      {"--factor", "2,7"},
      {"--jitter", "-0.1"},
      {"--jitter", "nan"},
      {"--jitter", "additive:-1%"},
      {"--jitter", "additive:nan%"},
      {"--jitter", "additive:%"},
      {"--backoff-table", "1+-2"},
      {"--backoff-table", "1+nan"},
      {"--backoff-table", "1++2"},
      {"--backoff-table", "1+"},
      {"--backoff-table", ""},
      {"--backoff-table", "1e+5"},
      {"--backoff-table", "1,2"},
      {"--backoff-from", "start"},
      {"--truncated-base", "-1s"},
      {"--maximum-backoff", "-1s"},
      {"--random", "-1s"},
      {"--initial-interval", "0s"},
      {"--max-interval", "0"},
      {"--up-multiplier", "0.5"},
      {"--down-multiplier", "1.5"},
      {"--down-multiplier", "-0.5"},
      {"--down-threshold", "0"},
      {"--randomization", "1.1"},
      {"--randomization", "-0.1"},
      {"--max-randomization", "-1s"},
      {"--base-delay", "-1ns"},
      {"--limit", "-1"},
      {"--curve-factor", "0.5"},
      {"--curve-factor", "infinity"},
      {"--k", "0"},
      {"--k", "-15"},
      {"--k", "nan"},
      {"--backlog", "-1"},
      {"--max-connections", "all"},
      {"--rate-limit", "-1"},
      {"--rate-limit", "nan"},
      {"--rate-burst", "inf"},
      {"--rate-burst", "-5s"},
      {"--rate-burst", "5 fortnights"},
      {"--throttle-status", "418"},
      {"--arrivals", "jobs"},
      {"--tasks", "0"},
      {"--calls", "many"},
      {"--workers-start", "-3s"},
      {"--autoscale", "yes"},
      {"--autoscale-period", "0s"},
      {"--autoscale-target", "0"},
      {"--autoscale-target", "70"},
      {"--autoscale-in-margin", "1.1"},
      {"--autoscale-out-after", "-1m"},
      {"--autoscale-decreases", "-1"},
      {"--autoscale-least", "0"},
      {"--autoscale-most", "inf"},
      {"--shed-above", "-1"},
  };
  for (const auto& [name, value] : cases) {
    const std::string both = std::string(name) + "=" + value;
    EXPECT_THAT(refusal({both.c_str()}), HasSubstr(name)) << both;
  }
}

TEST_F(OptionsTest, RefusesANegativeDurationAsASecondWordToo) {
  EXPECT_THAT(refusal({"--timeout", "-5s"}), HasSubstr("--timeout"));
}

TEST_F(OptionsTest, SaysWhatIsWrongAndWhatWouldBeRight) {
  EXPECT_THAT(refusal({"--growth=fibonacci"}), HasSubstr("(see --explain growth)"));
  EXPECT_THAT(refusal({"--strategy=cubic"}), AllOf(StartsWith("--strategy: 'cubic' is not known"),
                                                   HasSubstr("fixed"), HasSubstr("exponential")));
  for (const auto& [given, named] : std::vector<std::pair<std::vector<const char*>, std::string>>{
           {{"--strategy=exponentail"}, "exponential?"},
           {{"--jitter=fool"}, "full?"},
           {{"--jitter=full:2"}, "jitter"},
           {{"--lambda=-1s"}, "'-1s'"},
           {{"--lambda=soon"}, "100ms"},
           {{"--clients=0"}, "'0'"},
           {{"--factor=0"}, "'0'"}}) {
    EXPECT_THAT(refusal(given), HasSubstr(named));
  }
}

TEST_F(OptionsTest, RefusesUnknownOptions) {
  for (const auto& [given, named] : std::vector<std::pair<std::vector<const char*>, std::string>>{
           {{"--clinets=5"}, "--clients?"}, {{"server"}, "server"}, {{"--clients"}, "--clients"}}) {
    EXPECT_THAT(refusal(given), HasSubstr(named));
  }
}

TEST_F(OptionsTest, HelpAndVersionEndWithSuccess) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(parse({"--help"}), 0);
  const std::string help = testing::internal::GetCapturedStdout();
  for (const char* spelling : {"-h", "-help"}) {
    testing::internal::CaptureStdout();
    EXPECT_EQ(parse({spelling}), 0);
    EXPECT_EQ(testing::internal::GetCapturedStdout(), help);
  }
  EXPECT_THAT(help, AllOf(HasSubstr("--strategy"), HasSubstr("100ms"), HasSubstr("--backlog")));
  testing::internal::CaptureStdout();
  EXPECT_EQ(parse({"--version"}), 0);
  EXPECT_THAT(testing::internal::GetCapturedStdout(), StartsWith("retrystorm "));
}

TEST_F(OptionsTest, ReadsAFile) {
  const test::TempDir dir;
  const std::string path = dir.file("storm.ini");
  std::ofstream(path) << "strategy=exponential\nclients=12\nlambda=3s\n";
  ASSERT_EQ(parse({"--config", path.c_str()}), std::nullopt);
  EXPECT_EQ(workload_.retry.strategy, "exponential");
  EXPECT_EQ(workload_.clients, 12);
  EXPECT_EQ(workload_.think_time, 3s);
}

TEST_F(OptionsTest, RefusesABadValueInAFile) {
  const test::TempDir dir;
  const std::string path = dir.file("storm.ini");
  std::ofstream(path) << "clients=0\n";
  EXPECT_THAT(refusal({"--config", path.c_str()}), HasSubstr("--clients"));
}

TEST_F(OptionsTest, JsonHasTheValuesInForce) {
  ASSERT_EQ(parse({"--lambda=1.5", "--seed=7", "--factor=3", "--exponential-backoff"}),
            std::nullopt);
  const auto json = options_json(app_);
  EXPECT_EQ(json["lambda"], "1.5s");
  EXPECT_EQ(json["seed"], 7);
  EXPECT_EQ(json["backoff_factor"], 3);
  EXPECT_EQ(json["grow_from"], "jittered");  // the strategy's
}

// The file records which strategy was run, not how it was typed.
TEST_F(OptionsTest, JsonNamesTheStrategyInForce) {
  ASSERT_EQ(parse({"--exponential-backoff"}), std::nullopt);
  EXPECT_EQ(options_json(app_)["strategy"], "exponential");
}

TEST(CommandLine, QuotesForAShellWhereItMust) {
  const char* argv[] = {"./client", "--lambda=10s", "a b", "it's", "", "$HOME"};
  EXPECT_EQ(command_line(6, argv), R"(./client --lambda=10s 'a b' 'it'\''s' '' '$HOME')");
}

TEST(CommandLine, WritesLongOptionsWithTwoDashes) {
  const char* argv[] = {"./client", "-exponential-backoff", "-k=3", "-k", "3", "-h", "-5s", "-"};
  EXPECT_EQ(command_line(8, argv), "./client --strategy=exponential --k=3 --k 3 -h -5s -");
}

TEST(ResultsCommandLine, LeavesOutWhatDoesNotChangeTheResults) {
  const char* argv[] = {
      "build/bin/retrystorm", "map",    "--csv=a.csv", "-runs=5", "-json", "b.jsonl",
      "--threads=2",          "--quiet"};
  EXPECT_EQ(results_command_line(8, argv), "retrystorm map --runs=5");
}

TEST(ServiceOptions, MakeTheCurveAndTheAdmission) {
  ServiceOptions options;
  EXPECT_EQ(options.curve().delay(1040), 2671444385ns);
  options.shed_above = 5;
  EXPECT_EQ(options.admission().admit(TimePoint(), 5).rejection, Rejection::kShed);
}

}  // namespace
}  // namespace retrystorm
