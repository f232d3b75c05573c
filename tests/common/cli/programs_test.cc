// What holds for the options of every program, one by one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <functional>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

#include "client/options.h"
#include "common/cli/options.h"
#include "common/cli/settings_file.h"
#include "model/retry/strategies.h"
#include "server/options.h"
#include "simulator/options.h"
#include "tests/support/temp_dir.h"

namespace retrystorm {
namespace {

using ::testing::HasSubstr;

// A program's command line with the variables that it sets.
struct ProgramOptions {
  ServerOptions server;
  ClientOptions client;
  SimulatorOptions simulator;
  CLI::App app;
};

struct Program {
  const char* name;
  std::function<void(ProgramOptions&)> declare;
};

const Program kPrograms[] = {
    {"server", [](ProgramOptions& all) { add_server_options(all.app, all.server); }},
    {"client", [](ProgramOptions& all) { add_client_options(all.app, all.client); }},
    {"simulate", [](ProgramOptions& all) { add_simulator_options(all.app, all.simulator); }},
};

void declare(const Program& program, ProgramOptions& all) {
  set_up_app(all.app);
  program.declare(all);
}

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  std::vector<const CLI::Option*> options = app.get_options();
  for (const CLI::App* group : app.get_subcommands([](const CLI::App*) { return true; })) {
    const auto more = options_of(*group);
    options.insert(options.end(), more.begin(), more.end());
  }
  return options;
}

int exit_code_of(CLI::App& app, std::vector<std::string> words) {
  words.insert(words.begin(), "program");
  std::vector<const char*> pointers;
  for (const std::string& each : words) pointers.push_back(each.c_str());
  return parse(app, static_cast<int>(pointers.size()), pointers.data()).value_or(0);
}

// Whatever is measured, counted or chosen takes none of these, whichever name it is given by.
TEST(Programs, RefuseWhatIsNoValueInOneLineThatNamesTheOption) {
  const std::set<std::string> strict{"DURATION", "NUMBER", "COUNT", "NAME", "VALUE", "PORT"};
  for (const Program& program : kPrograms) {
    ProgramOptions all;
    declare(program, all);
    std::size_t tried = 0;
    for (const CLI::Option* option : options_of(all.app)) {
      if (!strict.contains(option->get_type_name())) continue;
      for (const std::string& name : option->get_lnames()) {
        for (const char* value : {"nan", "NaN", "inf", "-inf", "infinity", "1e999", "-1", "-1s", "",
                                  " ", "garbage", "1 2", "0x10", "1s2", "+1e", "\xff"}) {
          if (name == "capacity" && value == std::string("1 2")) continue;  // from 1 s on, twice
          const std::string word = "--" + name + "=" + value;
          testing::internal::CaptureStderr();
          const int code = exit_code_of(all.app, {word});
          const std::string said = testing::internal::GetCapturedStderr();
          EXPECT_NE(code, 0) << program.name << " takes " << word;
          EXPECT_EQ(test::lines(said).size(), 1) << program.name << ' ' << word << ": " << said;
          EXPECT_THAT(said, HasSubstr("--" + name)) << program.name << ' ' << word;
          ++tried;
        }
      }
    }
    EXPECT_GT(tried, 150) << program.name;
  }
}

std::string help_of(CLI::App& app, const char* flag) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(exit_code_of(app, {flag}), 0);
  return testing::internal::GetCapturedStdout();
}

TEST(Programs, ShortHelpIsWhatMostPeopleNeed) {
  for (const Program& program : kPrograms) {
    ProgramOptions all;
    declare(program, all);
    const std::vector<std::string> help = test::lines(help_of(all.app, "--help"));
    EXPECT_GT(help.size(), 15) << program.name;
    EXPECT_LE(help.size(), 48) << program.name;
    for (const std::string& line : help) EXPECT_LE(line.size(), 100) << program.name << line;
    EXPECT_EQ(help.back(), "--help-all prints every option, with its second names.");
  }
}

TEST(Programs, LongHelpHasEveryOptionByEachName) {
  for (const Program& program : kPrograms) {
    ProgramOptions all;
    declare(program, all);
    const std::string help = help_of(all.app, "--help-all");
    for (const CLI::Option* option : options_of(all.app)) {
      EXPECT_THAT(help, HasSubstr("\n  " + option->get_name(false, true))) << program.name;
      EXPECT_THAT(help, HasSubstr(option->get_description())) << program.name;
    }
  }
}

// What `--print-settings` prints of these arguments.
std::string printed_settings(const Program& program, const std::vector<std::string>& arguments,
                             nlohmann::ordered_json& in_force) {
  ProgramOptions all;
  ProgramOptions usual;
  declare(program, all);
  declare(program, usual);
  EXPECT_EQ(exit_code_of(all.app, arguments), 0) << arguments.back();
  in_force = options_json(all.app);
  std::ostringstream out;
  print_settings(out, all.app, usual.app);
  return out.str();
}

void expect_round_trip(const Program& program, const std::vector<std::string>& arguments) {
  const test::TempDir dir;
  const std::string path = dir.file("settings.ini");
  nlohmann::ordered_json meant;
  nlohmann::ordered_json read;
  const std::string printed = printed_settings(program, arguments, meant);
  std::ofstream(path) << printed;
  EXPECT_EQ(printed_settings(program, {"--config=" + path}, read), printed) << arguments.back();
  EXPECT_EQ(read, meant) << program.name << ' ' << arguments.back() << '\n' << printed;
}

TEST(PrintSettings, ReadBackToTheSameForEveryStrategy) {
  for (const NamedStrategy& each : named_strategies()) {
    expect_round_trip(kPrograms[1], {"--strategy=" + std::string(each.name)});
    expect_round_trip(kPrograms[2], {"--strategy=" + std::string(each.name)});
  }
}

TEST(PrintSettings, ReadBackToTheSameForOddOptions) {
  const std::vector<std::vector<std::string>> clients = {
      {"--strategy=truncated", "--random=250ms"},
      {"--exponential-backoff", "--factor=3", "--jitter=0.25", "--seed=18446744073709551615"},
      {"--growth=table", "--backoff-table=1+2.5+100000", "--jitter=additive:1%"},
      {"--strategy=aws-standard", "--retry-budget=grpc", "--budget-tokens=5"},
      {"--retry-budget=tokens", "--budget-ttl=90s", "--budget-deposit=0.001"},
      {"--breaker=polly", "--breaker-calls=7", "--breaker-window=calls",
       "--breaker-slow-call=none"},
      {"--concurrency-limit=aimd:30", "--limit-slow=none", "--clients-per-process=7"},
      {"--throttle=grpc", "--throttle-padding=0.5", "--when-refused=back-off"},
      {"--strategy=responsive", "--randomization=0", "--max-interval=1.5h"},
      {"--max-attempts=1", "--lambda=1.5", "--timeout=1m30s"},
      {"--strategy=azure", "--max-retries=none", "--backoff-cap=none", "--throttled-base=1us"},
  };
  for (const auto& each : clients) {
    expect_round_trip(kPrograms[1], each);
    expect_round_trip(kPrograms[2], each);
  }
  expect_round_trip(kPrograms[1], {"--url=http://h:80/a?b=c&d", "--json=with space's.jsonl",
                                   "--live", "--dashboard", "--metrics-port=any", "--server-pid=42",
                                   "--outage-at=1s", "--outage-for=2s"});
  expect_round_trip(kPrograms[2], {"--sweep=backlog=5,6", "--sweep=strategy=all", "--runs=3",
                                   "--scale=0.001", "--abandoned=skip", "--server-lines"});
  expect_round_trip(kPrograms[0], {"--host=::1", "--admin-port=any", "--live", "--k=1e-9",
                                   "--factor=1.2", "--baseDelay=20ms"});
}

TEST(PrintSettings, RefuseWhatAFileCannotHold) {
  nlohmann::ordered_json json;
  for (const char* name : {"--json=a#b", "--json=a\nb", "--json=it's \"so\""}) {
    EXPECT_THROW(printed_settings(kPrograms[1], {name}, json), std::runtime_error) << name;
  }
}

// So that the strategy can be changed under them.
TEST(PrintSettings, SayOnlyWhatIsNotInForceAnyway) {
  nlohmann::ordered_json json;
  const std::string printed = printed_settings(
      kPrograms[1], {"--strategy=grpc", "--retry-budget=aws", "--max-retries=5"}, json);
  std::vector<std::string> said;
  for (const std::string& line : test::lines(printed)) {
    if (!line.empty() && line[0] != '#') said.push_back(line);
  }
  EXPECT_THAT(said,
              testing::ElementsAre("strategy = grpc", "max-retries = 5", "retry-budget = aws"));
  EXPECT_THAT(printed, HasSubstr("\n## Retries\n"));
  EXPECT_THAT(printed, HasSubstr("\n# jitter = proportional:0.2\n"));
  EXPECT_THAT(printed, HasSubstr("\n# budget-cost = 14\n"));
  EXPECT_THAT(printed, testing::Not(HasSubstr("random =")));
  EXPECT_THAT(printed, testing::Not(HasSubstr("seed")));
}

// A window without length would divide by nothing.
TEST(Programs, RefuseWindowsAndIntervalsOfNothing) {
  ProgramOptions all;
  declare(kPrograms[2], all);
  for (const char* name : {"timeout",
                           "breaker-time",
                           "breaker-calls",
                           "breaker-slices",
                           "breaker-min-calls",
                           "breaker-trials",
                           "throttle-window",
                           "throttle-padding",
                           "budget-ttl",
                           "budget-interval",
                           "rate-scale",
                           "rate-min",
                           "limit-min",
                           "limit-max",
                           "initial-interval",
                           "max-interval",
                           "down-threshold",
                           "clients",
                           "clients-per-process",
                           "report-interval",
                           "server-report-interval",
                           "scale",
                           "rate",
                           "k",
                           "runs"}) {
    testing::internal::CaptureStderr();
    const int code = exit_code_of(all.app, {std::string("--") + name + "=0"});
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr(std::string("--") + name));
    EXPECT_NE(code, 0) << name;
  }
}

}  // namespace
}  // namespace retrystorm
