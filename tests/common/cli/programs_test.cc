// Tests that apply to the options of every program.

#include <CLI/CLI.hpp>
#include <cerrno>
#include <new>
#include <system_error>

#include "client/options.h"
#include "common/cli/finding_rules.h"
#include "common/cli/help.h"
#include "common/cli/options.h"
#include "common/cli/program.h"
#include "common/cli/settings_file.h"
#include "common/output/expectation.h"
#include "common/output/report.h"
#include "model/retry/strategies.h"
#include "server/options.h"
#include "simulate/program.h"
#include "study/cell_result.h"
#include "tests/support/temp_dir.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

// A program's command line and the variables that it sets.
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

// Every option that is a quantity, a count or a choice refuses all of these values. Its names take turns.
TEST(Programs, RefuseABadValueInOneLineThatNamesTheOption) {
  const std::set<std::string> strict{"DURATION", "NUMBER", "COUNT", "NAME", "VALUE", "PORT"};
  for (const Program& program : kPrograms) {
    ProgramOptions all;
    declare(program, all);
    std::size_t tried = 0;
    for (const CLI::Option* option : options_of(all.app)) {
      if (!strict.contains(option->get_type_name())) continue;
      const std::string of_services = option->get_single_name();  // any word may be a name of one
      if (of_services == "outage-of" || of_services == "retry-at") continue;
      const std::vector<std::string>& names = option->get_lnames();
      std::size_t turn = 0;
      for (const char* value : {"nan", "NaN", "inf", "-inf", "infinity", "1e999", "-1", "-1s", "",
                                " ", "garbage", "1 2", "0x10", "1s2", "+1e", "\xff"}) {
        const std::string& name = names[turn++ % names.size()];
        if (name == "capacity" && value == std::string("1 2")) continue;  // from 1 s on, doubled
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
    EXPECT_GT(tried, 150) << program.name;
  }
}

std::string help_of(CLI::App& app, const char* flag) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(exit_code_of(app, {flag}), 0);
  return testing::internal::GetCapturedStdout();
}

// What is typed, and the exit code: 0, or CLI11's.
TEST(Programs, TakeBetterNamesAndRefuseContradictions) {
  struct Row {
    int program;  // of kPrograms
    std::vector<std::string> words;
    int code;
  };
  const test::TempDir dir;
  const std::string policy = dir.file("policy.ini"), service = dir.file("service.ini");
  std::ofstream(policy) << "strategy = exponential\nmax-attempts = 3\nbackoff-base = 1s\n";
  std::ofstream(service) << "lambda = 5s\nmax-retries = 7\nbackoff = linear\nlimit = 40\n";
  const std::vector<Row> rows{
      {2, {"--backoff=linear", "--think-time=3s", "--curve-limit=40"}, 0},
      {1, {"--backoff=linear", "--think-time=3s", "--concurrency-limit-min=2"}, 0},
      {0, {"--curve-limit=40", "--curve-factor=1.1"}, 0},
      {0, {"--factor=1.1", "--limit=40"}, 0},
      {0, {"--call-backoff=linear", "--call-concurrency-limit-min=2"}, 0},
      {2, {"--calls-per-task=5", "--tasks=7"}, 0},
      {2, {"--at=40s..60s slow:5", "--at=70s..80s capacity 0.5"}, 0},
      {2, {"--at=70s..80s capacity 0.5", "--capacity=5s 2"}, 105},
      {1, {"--at=40s..60s slow:5"}, 105},  // only the outage is real
      {2, {"-q", "--format=csv", "--output=x.csv"}, 0},
      {2, {"--format=wide"}, 0},
      {2, {"--format=xml"}, 105},
      {2, {"--output=x.csv"}, 105},
      {0, {"--format=csv"}, 105},  // it writes JSON only
      {2, {"--strategy=" + policy, "--config=" + service}, 0},
      {2, {"--strategy=" + policy, "--max-retries=1"}, 0},
      {2, {"--strategy=missing/policy.ini"}, 2},
      {2, {"--print-schedule"}, 109},
      {2, {"--live"}, 109},
      {2, {"--hidden-capacity"}, 109},
  };
  for (const Row& row : rows) {
    ProgramOptions all;
    declare(kPrograms[row.program], all);
    testing::internal::CaptureStderr();
    const int code = exit_code_of(all.app, row.words);
    const std::string said = testing::internal::GetCapturedStderr();
    EXPECT_EQ(code, row.code) << row.words.front() << ": " << said;
  }
}

TEST(Programs, ReadTextsWithoutQuotes) {
  const test::TempDir dir;
  const std::string path = dir.file("settings.ini");
  std::ofstream(path) << "chain = a 4x5ms > b 2x10ms\nat = 20s load 2; 40s load 1\n";
  ProgramOptions all;
  declare(kPrograms[2], all);
  ASSERT_EQ(exit_code_of(all.app, {"--config=" + path}), 0);
  EXPECT_EQ(options_json(all.app)["chain"], "a 4x5ms > b 2x10ms");
  EXPECT_EQ(options_json(all.app)["at"], "20s load 2; 40s load 1");
  std::ofstream(path) << "# mine\nrate > 3\n";
  ProgramOptions again;
  declare(kPrograms[2], again);
  testing::internal::CaptureStderr();
  EXPECT_NE(exit_code_of(again.app, {"--config=" + path}), 0);
  EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("line 2"));
}

TEST(Programs, TakeAFileForAStrategyBesideTheServices) {
  const test::TempDir dir;
  const std::string policy = dir.file("policy.ini"), service = dir.file("service.ini");
  std::ofstream(policy) << "strategy = exponential\nmax-attempts = 3\nbackoff-base = 1s\n";
  std::ofstream(service) << "lambda = 5s\nmax-retries = 7\n";
  ProgramOptions all;
  declare(kPrograms[2], all);
  ASSERT_EQ(
      exit_code_of(all.app, {"--config=" + service, "--strategy=" + policy, "--backoff-base=2s"}),
      0);
  const auto json = options_json(all.app);
  EXPECT_EQ(json["strategy"], "exponential");
  EXPECT_EQ(json["max_retries"], 2);
  EXPECT_EQ(json["backoff_base"], "2s");
  EXPECT_EQ(json["lambda"], "5s");
}

TEST(Programs, HelpHasTheTwentyFiveOptionsThatOneAsksFor) {
  ProgramOptions all;
  declare(kPrograms[2], all);
  const auto count = [](const std::string& help) {
    const auto lines = test::lines(help);
    return std::ranges::count_if(lines, [](const auto& line) { return line.starts_with("  -"); });
  };
  EXPECT_EQ(count(help_of(all.app, "--help")), 25);
  EXPECT_LT(count(help_of(all.app, "--help-all")), 80);
  EXPECT_GT(count(help_of(all.app, "--help-full")), 180);
}

TEST(Programs, HelpBreaksNoLineWithinAValue) {
  CLI::App app(std::string(60, 'a') + ' ' + std::string(60, 'b'));
  set_up_app(app);
  const std::string value(40, 'v');
  app.footer("simulate --service=" + value + " --remedy='" + value + "' --seed=1");
  std::string list = "1";
  for (int i = 0; i < 60; ++i) list += ",2";
  std::string unused;
  add_text(app, "--list", unused, "a list")->default_str(list)->group("Run");
  const std::string help = help_of(app, "--help");
  for (const std::string& broken :
       {std::string(60, 'a') + '\n' + std::string(60, 'b') + '\n',
        "Examples:\n  simulate --service=" + value + " \\\n    --remedy='" + value,
        std::string(",\n  2,")}) {
    EXPECT_THAT(help, HasSubstr(broken));
  }
  for (const std::string& line : test::lines(help)) EXPECT_LE(line.size(), 100) << line;
}

// Help as one line for each option.
std::string unwrapped(const std::string& help) {
  const std::string whole = std::regex_replace(help, std::regex("(\n  -[^ \n]*,)\n  "), "$1");
  return std::regex_replace(whole, std::regex("\n {30,}"), " ");
}

TEST(Programs, FullHelpHasEveryOptionByEachName) {
  for (const Program& program : kPrograms) {
    ProgramOptions all;
    declare(program, all);
    const std::string text = help_of(all.app, "--help-full"), help = unwrapped(text);
    const auto most_need = test::lines(help_of(all.app, "--help"));
    EXPECT_LE(most_need.size(), 70) << program.name;
    for (const std::string& line : most_need) EXPECT_LE(line.size(), 100) << program.name << line;
    std::set<std::string> titles;  // two groups of one name would be one heading twice
    for (const std::string& line : test::lines(text)) {
      EXPECT_LE(line.size(), 100) << program.name << line;
      if (!line.empty() && line[0] != ' ') {
        EXPECT_TRUE(titles.insert(line).second) << line;
      }
    }
    for (const CLI::Option* option : options_of(all.app)) {
      if (option->get_group().empty()) continue;  // another form of one that is there
      for (const std::string& part :
           {"\n  " + option->get_name(false, true), option->get_description()}) {
        EXPECT_THAT(help, HasSubstr(part)) << program.name;
      }
    }
  }
}

// The output of `--print-settings` for these arguments.
std::string printed_settings(const Program& program, const std::vector<std::string>& arguments,
                             nlohmann::ordered_json& in_force) {
  ProgramOptions all;
  ProgramOptions defaults;
  declare(program, all);
  declare(program, defaults);
  EXPECT_EQ(exit_code_of(all.app, arguments), 0) << arguments.back();
  in_force = options_json(all.app);
  std::ostringstream out;
  print_settings(out, all.app, defaults.app);
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
      {"--retry-budget=grpc", "--processes=7"},
      {"--retry-budget=grpc", "--arrivals=open", "--processes=7"},
      {"--strategy=exponential", "--jitter=full"},
      {"--strategy=exponential", "--jitter=full", "--grow-from=jittered", "--jitter-first=no"},
      {"--throttle=grpc", "--throttle-padding=0.5", "--when-refused=back-off"},
      {"--strategy=responsive", "--randomization=0", "--max-interval=1.5h"},
      {"--max-attempts=1", "--lambda=1.5", "--timeout=1m30s"},
      {"--strategy=azure", "--max-retries=none", "--backoff-cap=none", "--throttled-base=1us"},
  };
  for (const auto& each : clients) {
    expect_round_trip(kPrograms[1], each);
    expect_round_trip(kPrograms[2], each);
  }
  expect_round_trip(kPrograms[1],
                    {"--url=http://h:80/a?b=c&d", "--json=with space's.jsonl", "--dashboard",
                     "--metrics-port=any", "--server-pid=42", "--outage-at=1s", "--outage-for=2s"});
  expect_round_trip(kPrograms[2], {"--sweep=backlog=5,6", "--sweep=strategy=all", "--runs=3",
                                   "--scale=0.001", "--abandoned=skip", "--server-lines"});
  expect_round_trip(kPrograms[0], {"--host=::1", "--admin-port=any", "--k=1e-9", "--factor=1.2",
                                   "--baseDelay=20ms"});
}

// A blank after the semicolon belongs to the file's format, not to the next action.
TEST(PrintSettings, SeparateActionsByOneBlank) {
  nlohmann::ordered_json json;
  for (const std::vector<std::string>& each :
       {std::vector<std::string>{"--at", "1s load 2", "--at", "2s load 1"},
        std::vector<std::string>{"--at", "1s load 2; 2s load 1"},
        std::vector<std::string>{"--at", "1s load 2", "--at", " 2s load 1"}}) {
    EXPECT_THAT(test::lines(printed_settings(kPrograms[1], each, json)),
                testing::Contains("at = \"1s load 2; 2s load 1\""));
    EXPECT_EQ(json["at"], "1s load 2; 2s load 1");
    expect_round_trip(kPrograms[1], each);
  }
}

TEST(RunProgram, SaysWhatRanOutAndHowToNeedLess) {
  struct None {};
  using Work = int (*)(const Invocation&, const None&);
  const auto said = [](Work work) {
    const char* const argv[] = {"program"};
    testing::internal::CaptureStderr();
    EXPECT_EQ(run_program<None>(
                  "about", "try less", 1, argv, [](CLI::App&, None&) {}, work),
              1);
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(said([](const Invocation&, const None&) -> int { throw std::bad_alloc(); }),
            "there is not enough memory: try less, or a higher limit (ulimit -v)\n");
  EXPECT_EQ(said([](const Invocation&, const None&) -> int {
              throw std::system_error(EAGAIN, std::generic_category());
            }),
            "the system gives this program no more threads: try less, or higher limits (ulimit -u, "
            "ulimit -v)\n");
}

TEST(PrintSettings, RefuseWhatAFileCannotHold) {
  nlohmann::ordered_json json;
  for (const char* name : {"--json=a#b", "--json=a\nb", "--json=it's \"so\""}) {
    EXPECT_THROW(printed_settings(kPrograms[1], {name}, json), std::runtime_error) << name;
  }
}

// So the strategy can still be changed in the file.
TEST(PrintSettings, LeaveOutValuesThatAreInForceAnyway) {
  nlohmann::ordered_json json;
  const std::string printed = printed_settings(
      kPrograms[1], {"--strategy=grpc", "--retry-budget=aws", "--max-retries=5"}, json);
  std::vector<std::string> said;
  for (const std::string& line : test::lines(printed)) {
    if (!line.empty() && line[0] != '#') said.push_back(line);
  }
  EXPECT_THAT(said,
              testing::ElementsAre("strategy = grpc", "max-retries = 5", "retry-budget = aws"));
}

// A window of length 0 would lead to a division by zero.
TEST(Programs, RefuseWindowsAndIntervalsOfZero) {
  ProgramOptions all;
  declare(kPrograms[2], all);
  std::istringstream names(
      "timeout breaker-time breaker-calls breaker-slices breaker-min-calls breaker-trials "
      "throttle-window throttle-padding budget-ttl budget-interval rate-scale rate-min limit-min "
      "limit-max initial-interval max-interval down-threshold clients clients-per-process processes "
      "report-interval server-report-interval scale rate k runs workers");
  for (std::string name; names >> name;) {
    testing::internal::CaptureStderr();
    const int code = exit_code_of(all.app, {"--" + name + "=0"});
    EXPECT_THAT(testing::internal::GetCapturedStderr(), HasSubstr("--" + name));
    EXPECT_NE(code, 0) << name;
  }
}

// --- The words that --explain knows ---

void expect_explained(const std::string& word) {
  EXPECT_NO_THROW(EXPECT_THAT(explain(CLI::App(), word), HasSubstr(": "))) << word;
}

TEST(Explain, KnowsTheHeadsOfTables) {
  for (const CellColumn& column :
       cell_columns({.reconnects = true, .processes = true, .graph = true})) {
    expect_explained(column.name);
  }
  // Those of scripts/demo, and of the live page.
  for (const char* word :
       {"run", "baseline", "OK at end", "errors gone", "recovered", "amplification",
        "attempts/req.", "peak conc.", "verdict", "OK", "errors", "timed out", "not sent",
        "in flight", "busy", "waiting", "concurrency", "delay", "offered", "admitted", "completed",
        "served", "rejected",
        // Those of retrystorm check.
        "policy", "at most", "only now"}) {
    expect_explained(word);
  }
}

TEST(Explain, KnowsTheNamesOfClaimsAndFindings) {
  const Figures figures = run_figures(any_summary());
  for (const auto& [figure, value] : figures.items()) {
    std::string dashed = figure;
    std::replace(dashed.begin(), dashed.end(), '_', '-');
    expect_explained(dashed);
  }
  for (const FindingRule& each : kFindingRules) {
    expect_explained(std::string(each.name));
  }
  for (const char* word :
       {"medians", "drain", "Fibonacci", "on-waking-stale",
        // What people search for.
        "SLO", "cascading failure", "thundering herd", "metastable", "utilisation", "utilization",
        "p99", "goodput", "brown-out", "overload", "tail latency", "circuit breaker",
        "exponential backoff", "load shedding", "throughput", "retry amplification", "gateway",
        "layer", "pool", "replicas", "HTTP/2", "http2", "starve"}) {
    expect_explained(word);
  }
  EXPECT_THROW(explain(CLI::App(), "tortoise"), std::invalid_argument);
}

TEST(Explain, KnowsOptionsAndTheirValues) {
  ProgramOptions all;
  declare(kPrograms[2], all);
  for (const auto& [asked, named] :
       {std::pair("--runs", "--runs"), std::pair("jitter=full", "--jitter"),
        std::pair("Retry Budget", "--retry-budget"),
        std::pair("proportional:0.2", "--reconnect-jitter"), std::pair("growth", "--backoff"),
        std::pair("cell", "--cell"), std::pair("wide", "--wide"), std::pair("closed", "closed = "),
        std::pair("budget-deposit", "--retry-budget"), std::pair("most", "FROM:TO"),
        std::pair("OpenAI", "openai/openai-node")}) {
    EXPECT_THAT(explain(all.app, asked), HasSubstr(named));
  }
  // The server does not have it, and explains it.
  ProgramOptions other;
  declare(kPrograms[0], other);
  EXPECT_THAT(explain(other.app, "--retry-budget"), HasSubstr("--retry-budget"));
}

}  // namespace
}  // namespace retrystorm
