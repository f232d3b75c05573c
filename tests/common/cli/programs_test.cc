// What holds for the options of every program, one by one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <string>
#include <vector>

#include "client/options.h"
#include "common/cli/options.h"
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

int parse_words(CLI::App& app, std::vector<std::string> words) {
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
          const std::string word = "--" + name + "=" + value;
          testing::internal::CaptureStderr();
          const int code = parse_words(all.app, {word});
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
    const int code = parse_words(all.app, {std::string("--") + name + "=0"});
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr(std::string("--") + name));
    EXPECT_NE(code, 0) << name;
  }
}

}  // namespace
}  // namespace retrystorm
