#include "common/cli/options.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <CLI/CLI.hpp>
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
  EXPECT_EQ(options_json(app_), (nlohmann::ordered_json{
                                    {"clients", 1000},
                                    {"arrivals", "closed"},
                                    {"rate", 100},
                                    {"lambda", "10s"},
                                    {"timeout", "2s"},
                                    {"processes", 10},
                                    {"clients_per_process", 100},
                                    {"strategy", "fixed"},
                                    {"max_retries", nullptr},
                                    {"max_attempts", nullptr},
                                    {"deadline", nullptr},
                                    {"deadline_check", "before-wait"},
                                    {"retry_on", "408+429+5xx-501+transport+timeout"},
                                    {"growth", "constant"},
                                    {"backoff_base", "100ms"},
                                    {"backoff_factor", 2},
                                    {"backoff_step", "1s"},
                                    {"backoff_table", "1+2+3+5+10+20+40+100+100+100+100+200+200"},
                                    {"backoff_cap", nullptr},
                                    {"cap_applies", "before-jitter"},
                                    {"jitter", "none"},
                                    {"random", "none"},
                                    {"grow_from", "unjittered"},
                                    {"backoff_from", "min-delay"},
                                    {"jitter_first", "yes"},
                                    {"first_at_once", "no"},
                                    {"throttled_base", nullptr},
                                    {"retry_after", "ignore"},
                                    {"retry_after_max", nullptr},
                                    {"hedge", "none"},
                                    {"hedge_max", 1},
                                    {"hedge_cancel", "yes"},
                                    {"hedge_budget", nullptr},
                                    {"hedge_on", "delay"},
                                    {"pacer", "no"},
                                    {"initial_interval", "500ms"},
                                    {"max_interval", "15m0s"},
                                    {"up_multiplier", 1.5},
                                    {"down_multiplier", 0.9},
                                    {"down_threshold", 10},
                                    {"randomization", 0.3},
                                    {"max_randomization", "2m0s"},
                                    {"retry_budget", "none"},
                                    {"budget_tokens", 10},
                                    {"budget_cost", 1},
                                    {"budget_timeout_cost", nullptr},
                                    {"budget_throttled_cost", nullptr},
                                    {"budget_failure_cost", 0},
                                    {"budget_refund", "no"},
                                    {"budget_deposit", 0.1},
                                    {"budget_deposit_on", "request"},
                                    {"budget_threshold", nullptr},
                                    {"budget_ttl", nullptr},
                                    {"budget_minimum_rate", 0},
                                    {"budget_request_share", nullptr},
                                    {"budget_share", nullptr},
                                    {"budget_min_concurrency", 3},
                                    {"budget_interval", nullptr},
                                    {"breaker", "none"},
                                    {"breaker_window", "calls"},
                                    {"breaker_calls", 100},
                                    {"breaker_time", "1m40s"},
                                    {"breaker_slices", 100},
                                    {"breaker_min_calls", 100},
                                    {"breaker_failure_share", 0.5},
                                    {"breaker_slow_call", "1m0s"},
                                    {"breaker_slow_share", 1},
                                    {"breaker_open_for", "1m0s"},
                                    {"breaker_trials", 10},
                                    {"breaker_judges", "every-end"},
                                    {"breaker_late_ends", "count"},
                                    {"throttle", "none"},
                                    {"throttle_ratio", 2},
                                    {"throttle_padding", 1},
                                    {"throttle_window", "2m0s"},
                                    {"throttle_counts", "asked"},
                                    {"concurrency_limit", "none"},
                                    {"limit_min", 20},
                                    {"limit_max", 200},
                                    {"limit_decrease", 0.9},
                                    {"limit_slow", "5s"},
                                    {"client_rate", "none"},
                                    {"rate_decrease", 0.7},
                                    {"rate_scale", 0.4},
                                    {"rate_smoothing", 0.8},
                                    {"rate_min", 0.5},
                                    {"retry_switch", nullptr},
                                    {"switch_after", "30s"},
                                    {"when_refused", "give-up"},
                                    {"connections", "new"},
                                    {"pool_size", nullptr},
                                    {"pool_max_idle", nullptr},
                                    {"pool_idle", nullptr},
                                    {"pool_order", "lifo"},
                                    {"pool_wait", nullptr},
                                    {"pool_wait_counts", "yes"},
                                    {"streams", 100},
                                    {"retry_lost", "yes"},
                                    {"reconnect_growth", "exponential"},
                                    {"reconnect_base", "1s"},
                                    {"reconnect_factor", 2},
                                    {"reconnect_step", "1s"},
                                    {"reconnect_table", "1+2+3+5+10+20+40+100+100+100+100+200+200"},
                                    {"reconnect_cap", "30s"},
                                    {"reconnect_jitter", "full"},
                                    {"reconnect_calls", 1},
                                    {"tasks", 200},
                                    {"calls", 1000},
                                    {"workers_start", "3s"},
                                    {"service", "curve"},
                                    {"base_delay", "100ms"},
                                    {"limit", 30},
                                    {"curve_factor", 1.05},
                                    {"k", 15},
                                    {"workers", 20},
                                    {"service_time", "fixed:100ms"},
                                    {"queue_length", nullptr},
                                    {"queue_order", "fifo"},
                                    {"queue_drop", "none"},
                                    {"rejection_cost", "0s"},
                                    {"backlog", 256},
                                    {"accepts", "all"},
                                    {"max_connections", 0},
                                    {"server_idle", nullptr},
                                    {"reset_limit", "none"},
                                    {"rate_limit", 0},
                                    {"rate_burst", 0},
                                    {"throttle_status", 429},
                                    {"shed_above", 0},
                                    {"shed_status", 503},
                                    {"abandoned", "serve"},
                                    {"hint", "computed"},
                                    {"hint_for", "1s"},
                                    {"hint_to", "10s"},
                                    {"error_share", 0},
                                    {"error_status", 503},
                                    {"error_after", "admission"},
                                    {"autoscale", "none"},
                                    {"autoscale_period", "1m0s"},
                                    {"autoscale_target", 0.7},
                                    {"autoscale_out_after", "2m0s"},
                                    {"autoscale_in_after", "15m0s"},
                                    {"autoscale_in_margin", 0.2},
                                    {"autoscale_delay", "1m0s"},
                                    {"autoscale_decreases", 4},
                                    {"autoscale_least", 1},
                                    {"autoscale_most", 40000},
                                    {"autoscale_doubling", "30m0s"},
                                }));
}

// The defaults that the help and the start line show are the actual ones.
TEST_F(OptionsTest, ShowsTheActualDefaults) {
  ASSERT_EQ(parse({}), std::nullopt);
  EXPECT_EQ(workload_.clients, 1000);
  EXPECT_EQ(workload_.think_time, 10s);
  EXPECT_EQ(workload_.timeout, 2s);
  EXPECT_EQ(workload_.seed, std::nullopt);
  const RetrySettings& retry = workload_.retry;
  EXPECT_EQ(retry.strategy, "fixed");
  EXPECT_EQ(retry.limit.max_retries, LimitSettings::kUnlimited);
  EXPECT_EQ(retry.backoff.growth, Growth::kConstant);
  EXPECT_EQ(retry.backoff.base, 100ms);
  EXPECT_EQ(retry.backoff.cap, Duration::max());
  EXPECT_EQ(retry.backoff.jitter, Jitter());
  EXPECT_FALSE(retry.pacer.on);
  EXPECT_EQ(service_.base_delay, 100ms);
  EXPECT_EQ(service_.limit, 30);
  EXPECT_EQ(service_.factor, 1.05);
  EXPECT_EQ(service_.k, 15);
  EXPECT_EQ(service_.backlog, 256);
  EXPECT_EQ(service_.max_connections, 0);
  EXPECT_EQ(service_.rate_limit.rate, 0);
  EXPECT_EQ(service_.rate_limit.burst, RateBurst());
  EXPECT_EQ(service_.shed_above, 0);
}

TEST_F(OptionsTest, EachOptionSetsItsOwnValue) {
  ASSERT_EQ(parse({"--clients=1",
                   "--lambda=2s",
                   "--timeout=3s",
                   "--seed=4",
                   "--strategy=truncated",
                   "--max-retries=5",
                   "--growth=linear",
                   "--backoff-base=6s",
                   "--backoff-step=8s",
                   "--backoff-cap=9s",
                   "--backoff-factor=11",
                   "--cap-applies=before-jitter",
                   "--jitter=normal:1200%",
                   "--grow-from=jittered",
                   "--jitter-first=no",
                   "--first-at-once=yes",
                   "--throttled-base=13s",
                   "--pacer=yes",
                   "--max-interval=17s",
                   "--initial-interval=16s",
                   "--up-multiplier=18",
                   "--down-threshold=19",
                   "--down-multiplier=0.2",
                   "--randomization=0.21",
                   "--base-delay=23s",
                   "--max-randomization=22s",
                   "--limit=24",
                   "--curve-factor=25",
                   "--k=26",
                   "--max-connections=28",
                   "--backlog=27",
                   "--rate-limit=29",
                   "--rate-burst=30",
                   "--shed-above=31",
                   "--backoff-from=think-time"}),
            std::nullopt);
  EXPECT_EQ(workload_.clients, 1);
  EXPECT_EQ(workload_.think_time, 2s);
  EXPECT_EQ(workload_.timeout, 3s);
  EXPECT_EQ(workload_.seed, 4);
  const RetrySettings& retry = workload_.retry;
  EXPECT_EQ(retry.strategy, "truncated");
  EXPECT_EQ(retry.limit.max_retries, 5);
  EXPECT_EQ(retry.backoff.growth, Growth::kLinear);
  EXPECT_EQ(retry.backoff.base, 6s);
  EXPECT_EQ(retry.backoff.step, 8s);
  EXPECT_EQ(retry.backoff.cap, 9s);
  EXPECT_EQ(retry.backoff.factor, 11);
  EXPECT_EQ(retry.backoff.cap_applies, CapApplies::kBeforeJitter);
  EXPECT_EQ(retry.backoff.jitter, (Jitter{.kind = Jitter::Kind::kNormal, .amount = 12}));
  EXPECT_EQ(retry.backoff.grow_from, GrowFrom::kJittered);
  EXPECT_EQ(retry.backoff.from, BackoffFrom::kThinkTime);
  EXPECT_FALSE(retry.backoff.jitter_first);
  EXPECT_TRUE(retry.backoff.first_at_once);
  EXPECT_EQ(retry.backoff.throttled_base, 13s);
  EXPECT_TRUE(retry.pacer.on);
  EXPECT_EQ(retry.pacer.initial_interval, 16s);
  EXPECT_EQ(retry.pacer.max_interval, 17s);
  EXPECT_EQ(retry.pacer.up_multiplier, 18);
  EXPECT_EQ(retry.pacer.down_threshold, 19);
  EXPECT_EQ(retry.pacer.down_multiplier, 0.2);
  EXPECT_EQ(retry.pacer.randomization, 0.21);
  EXPECT_EQ(retry.pacer.max_randomization, 22s);
  EXPECT_EQ(service_.base_delay, 23s);
  EXPECT_EQ(service_.limit, 24);
  EXPECT_EQ(service_.factor, 25);
  EXPECT_EQ(service_.k, 26);
  EXPECT_EQ(service_.backlog, 27);
  EXPECT_EQ(service_.max_connections, 28);
  EXPECT_EQ(service_.rate_limit.rate, 29);
  EXPECT_EQ(service_.rate_limit.burst, (RateBurst{.requests = 30}));
  EXPECT_EQ(service_.shed_above, 31);
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
  EXPECT_THAT(refusal({"-exponential-backof"}), HasSubstr("-exponential-backof"));
  EXPECT_THAT(refusal({"-hello"}), HasSubstr("-hello"));  // not -h, which would succeed
  EXPECT_THAT(refusal({"-clients=0"}), HasSubstr("--clients"));
  EXPECT_THAT(refusal({"-clients"}), HasSubstr("--clients"));
  EXPECT_THAT(refusal({"-simple-backoff-delay=x"}), HasSubstr("--simple-backoff-delay"));
  EXPECT_THAT(refusal({"-x"}), HasSubstr("-x"));
  EXPECT_THAT(refusal({"-"}), HasSubstr("-"));
  EXPECT_THAT(refusal({"-timeout", "-5s"}), HasSubstr("--timeout"));
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
            "--config: the file is longer than 100 kB (see --help)\n");
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
  EXPECT_THAT(refusal({"--growth=fibonacci"}), HasSubstr("(see --explain fibonacci)"));
  EXPECT_THAT(refusal({"--strategy=cubic"}), AllOf(StartsWith("--strategy: 'cubic' is not known"),
                                                   HasSubstr("fixed"), HasSubstr("exponential")));
  EXPECT_THAT(refusal({"--strategy=exponentail"}), HasSubstr("did you mean exponential?"));
  EXPECT_THAT(refusal({"--jitter=fool"}), HasSubstr("did you mean full?"));
  EXPECT_THAT(refusal({"--jitter=full:2"}), HasSubstr("full jitter takes no amount"));
  EXPECT_THAT(refusal({"--lambda=-1s"}), HasSubstr("'-1s' is negative"));
  EXPECT_THAT(refusal({"--lambda=soon"}), HasSubstr("written like 100ms, 2s, 1m30s"));
  EXPECT_THAT(refusal({"--clients=0"}), HasSubstr("'0' is not a whole number from 1 to"));
  EXPECT_THAT(refusal({"--factor=0"}), HasSubstr("'0' is not a number from 0.001"));
}

TEST_F(OptionsTest, RefusesUnknownOptions) {
  EXPECT_THAT(refusal({"--clinets=5"}),
              HasSubstr("--clinets was not expected: did you mean --clients?"));
  EXPECT_THAT(refusal({"server"}), HasSubstr("server"));
  EXPECT_THAT(refusal({"--clients"}), HasSubstr("--clients"));
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
