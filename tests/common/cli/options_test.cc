#include "common/cli/options.h"

#include <CLI/CLI.hpp>

#include "common/cli/program.h"
#include "tests/support/refusal.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

// A program with both groups of options, like the simulator.
class OptionsTest : public testing::Test {
 protected:
  OptionsTest() {
    set_up_app(app_);
    add_workload_options(app_, workload_);
    add_service_options(app_, service_, Engine::kSimulated);
  }

  // The exit code, if the program must end.
  std::optional<int> parse(const std::vector<std::string>& arguments) {
    std::vector<const char*> argv{"program"};
    for (const std::string& each : arguments) argv.push_back(each.c_str());
    return retrystorm::parse(app_, static_cast<int>(argv.size()), argv.data());
  }

  // The message on standard error for arguments that are refused.
  std::string refusal(const std::vector<std::string>& arguments) {
    testing::internal::CaptureStderr();
    const auto code = parse(arguments);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_NE(code.value_or(0), 0) << "not refused: " << arguments.back();
    EXPECT_EQ(test::lines(said).size(), 1) << said;
    return said;
  }

  using Arguments = std::vector<std::string>;
  void refuses(const std::vector<std::pair<Arguments, std::string>>& rows) {
    test::expect_refusals<Arguments>([this](const Arguments& given) { return refusal(given); },
                                     rows);
  }

  // Options that read a file with this text.
  std::string file(const std::string& text) {
    std::ofstream(dir_.file("storm.ini")) << text;
    return "--config=" + dir_.file("storm.ini");
  }

  std::string exclusions() {
    return test::refusal_of([this] { refuse_exclusions(app_); });
  }

  const test::TempDir dir_;
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
  std::istringstream text(
      "clients=1 lambda=2s timeout=3s max-retries=5 growth=linear backoff-base=6s backoff-step=8s "
      "backoff-cap=9s backoff-factor=11 jitter=normal:0.5 grow-from=jittered jitter-first=no "
      "first-at-once=yes throttled-base=13s pacer=yes max-interval=17s initial-interval=16s "
      "up-multiplier=18 down-threshold=19 down-multiplier=0.2 randomization=0.21 base-delay=23s "
      "max-randomization=22s limit=24 curve-factor=25 k=26 max-connections=28 backlog=27 rate-limit=29 "
      "rate-burst=30 shed-above=31 backoff-from=think-time cap-applies=after-jitter");
  std::vector<std::string> words;
  for (std::string word; text >> word;) words.push_back("--" + word);
  ASSERT_EQ(parse(words), std::nullopt);
  const auto json = options_json(app_);
  for (const std::string& word : words) {
    const std::size_t equals = word.find('=');
    std::string name = word.substr(2, equals - 2);
    std::replace(name.begin(), name.end(), '-', '_');
    EXPECT_EQ(json[name].is_string() ? json[name].get<std::string>() : json[name].dump(),
              word.substr(equals + 1))
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
  ASSERT_EQ(parse({file("random=1s\njitter=full\n")}), std::nullopt);
  EXPECT_EQ(exclusions(), "--random excludes --jitter: give one of them");
}

TEST_F(OptionsTest, AFileMayBeginWithAByteOrderMark) {
  ASSERT_EQ(parse({file("\xEF\xBB\xBF"
                        "clients=3\n")}),
            std::nullopt);
  EXPECT_EQ(workload_.clients, 3);
}

TEST_F(OptionsTest, RefusesAFileWithoutEnd) {
  refuses({{{"--config=/dev/zero"}, "--config: cannot read '/dev/zero'"},
           {{file(std::string(100'001, '\n'))}, "--config: the file is longer than 100 kB"}});
}

TEST_F(OptionsTest, TheCommandLineOverrulesAFileInAnyForm) {
  ASSERT_EQ(parse({file("random=1s\n"), "--jitter=full"}), std::nullopt);
  EXPECT_EQ(exclusions(), "");
  EXPECT_EQ(workload_.retry.backoff.jitter, parse_jitter("full"));
  EXPECT_EQ(workload_with(app_, "truncated").retry.backoff.jitter, parse_jitter("full"));
  ASSERT_EQ(parse({file("jitter=equal\n"), "--random=2s"}), std::nullopt);
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
  ASSERT_EQ(parse({file("strategy=linear\nlinear-step=3s\n"), "--exponential-backoff"}),
            std::nullopt);
  EXPECT_EQ(workload_.retry.strategy, "exponential");
  EXPECT_EQ(workload_.retry.backoff.step, 3s);
}

TEST_F(OptionsTest, AFileMayHaveTheOriginalsFlag) {
  ASSERT_EQ(parse({file("factor=3\nexponential-backoff=true\n")}), std::nullopt);
  EXPECT_EQ(workload_.retry.strategy, "exponential");
  EXPECT_EQ(workload_.retry.backoff.factor, 3);
}

TEST_F(OptionsTest, TheLastValueOfAnOptionCounts) {
  ASSERT_EQ(parse({"--clients=5", "--clients=6"}), std::nullopt);
  EXPECT_EQ(workload_.clients, 6);
}

TEST_F(OptionsTest, SaysWhatIsWrongAndWhatWouldBeRight) {
  refuses({
      {{"--growth=fibonacci"}, "(see --explain growth)"},
      {{"--strategy=cubic"}, "--strategy: 'cubic'"},
      {{"--strategy=cubic"}, "fixed"},
      {{"--strategy=cubic"}, "exponential"},
      {{"--strategy=exponentail"}, "exponential?"},
      {{"--jitter=fool"}, "full?"},
      {{"--jitter=full:2"}, "jitter"},
      {{"--throttle-status=418"}, "--throttle-status"},
      {{"--backoff-table=1,2"}, "--backoff-table"},
      {{"--lambda=-1s"}, "'-1s'"},
      {{"--lambda=soon"}, "100ms"},
      {{"--clients=0"}, "'0'"},
      {{"--factor=0"}, "'0'"},
      {{"--timeout", "-5s"}, "--timeout"},
      {{"--clinets=5"}, "--clients?"},
      {{"server"}, "server"},
      {{"--clients"}, "--clients"},
      // The same with one dash.
      {{"-exponential-backof"}, "-exponential-backof"},
      {{"-hello"}, "-hello"},  // not -h, which would succeed
      {{"-clients=0"}, "--clients"},
      {{"-clients"}, "--clients"},
      {{"-simple-backoff-delay=x"}, "--simple-backoff-delay"},
      {{"-x"}, "-x"},
      {{"-"}, "-"},
      {{"-timeout", "-5s"}, "--timeout"},
  });
  test::expect_refusals(
      [this](const std::string& text) { return refusal({file(text)}); },
      {{"clients=0\n", "--clients"},
       {"\n{\"methodConfig\": []}\n", "this is JSON, write lines of NAME = VALUE"},
       // CLI11 means the beginning and the end of a section by these names.
       {"++=1\n", "--config: ++ was"},
       {"\"++\"=1\n", "--config: ++ was"},
       {"++ = [1,2]\n", "--config: ++ was"},
       {"--=1\n", "--config: -- was"},
       {"a.rate=1\nrate=2\n", "--config: a.rate was"},
       {"[a.a.a.a.a.a.a.a.a.a.a.a]\n", "more than 10 dots"},
       {"[\"#\".a.a.a.a.a.a.a.a.a.a.a]\n", "more than 10 dots"},
       {"[=.a.a.a.a.a.a.a.a.a.a.a]\n", "more than 10 dots"},
       {"\"=\".a.a.a.a.a.a.a.a.a.a.a = 1\n", "more than 10 dots"}});
}

TEST_F(OptionsTest, HelpAndVersionEndWithSuccess) {
  const auto said = [this](const char* word) {
    testing::internal::CaptureStdout();
    EXPECT_EQ(parse({word}), 0);
    return testing::internal::GetCapturedStdout();
  };
  const std::string help = said("--help");
  for (const char* spelling : {"-h", "-help"}) EXPECT_EQ(said(spelling), help);
  for (const char* part : {"--strategy", "100ms", "--backlog"}) EXPECT_THAT(help, HasSubstr(part));
  EXPECT_THAT(said("--version"), StartsWith("retrystorm "));
}

TEST_F(OptionsTest, JsonHasTheValuesInForce) {
  ASSERT_EQ(parse({"--lambda=1.5", "--seed=7", "--factor=3", "--exponential-backoff"}),
            std::nullopt);
  const auto json = options_json(app_);
  EXPECT_EQ(json["strategy"], "exponential");  // not how it was typed
  EXPECT_EQ(json["lambda"], "1.5s");
  EXPECT_EQ(json["seed"], 7);
  EXPECT_EQ(json["backoff_factor"], 3);
  EXPECT_EQ(json["grow_from"], "jittered");  // the strategy's
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

}  // namespace
}  // namespace retrystorm
