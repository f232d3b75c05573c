// Bad input causes one line on standard error and a nonzero exit code, and starts nothing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

#include "tests/support/child_process.h"
#include "tests/support/sockets.h"
#include "tests/support/temp_dir.h"

namespace retrystorm::test {
namespace {

using namespace std::chrono_literals;
using ::testing::HasSubstr;

struct Refusal {
  Arguments arguments;
  const char* said;
};

void expect_refused(const char* program, const Refusal& refusal) {
  std::string shown;
  for (const std::string& word : refusal.arguments) shown += word + ' ';
  ChildProcess process(program, refusal.arguments);
  const auto code = process.exit_code();
  EXPECT_TRUE(code && *code > 0 && *code < 128) << shown << "exit code " << code.value_or(-1);
  const std::string err = process.err();
  EXPECT_EQ(lines(err).size(), 1) << shown << err;
  EXPECT_THAT(err, HasSubstr(refusal.said)) << shown;
  EXPECT_EQ(process.out(), "") << shown;
}

TEST(ClientUsage, RefusesBadInput) {
  const Refusal cases[] = {
      {{"--strategy=nothing"}, "--strategy"},
      {{"--clients=0"}, "--clients"},
      {{"--lambda=-1s"}, "--lambda"},
      {{"--timeout", "-5s"}, "--timeout"},
      {{"--timeout=0s"}, "--timeout"},
      {{"--duration=soon"}, "--duration"},
      {{"--duration=-1s"}, "--duration"},
      {{"--report-interval=0s"}, "--report-interval"},
      {{"--factor=0.5"}, "--factor"},
      {{"--factor=nan"}, "--factor"},
      {{"--max-delay=inf"}, "--max-delay"},
      {{"--min-delay=99999999h"}, "--min-delay"},
      {{"--unknown"}, "--unknown"},
      {{"-unknown"}, "-unknown"},
      {{"-host=127.0.0.1"}, "-host"},  // an option of the server, not this program's -h
      {{"-strategy=fixed", "-exponential-backoff"}, "--exponential-backoff excludes --strategy"},
      {{"--strategy=fixed", "--exponential-backoff"}, "--exponential-backoff excludes --strategy"},
      {{"extra"}, "extra"},
      {{"--url=ftp://127.0.0.1/"}, "ftp://127.0.0.1/"},
      {{"--url=https://127.0.0.1/", "--cacert=/nonexistent"}, "cannot open '/nonexistent'"},
      {{"--url=https://127.0.0.1/", "--cacert=/dev/null"}, "no certificate can be read from"},
      {{"--url=https://127.0.0.1/", "--cacert=/dev/null", "--insecure"}, "give one"},
      {{"--insecure"}, "--insecure has no effect unless --url begins with https://"},
      {{"--method=BREW"}, "--method: 'BREW' is not known"},
      {{"--header=Authorization"}, "is not a header like 'Name: value'"},
      {{"--header=A: b\r\nC: d"}, "has control characters in it"},
      {{"--body=@/nonexistent"}, "--body: cannot read '/nonexistent'"},
      {{"--dashboard", "--server-status=https://127.0.0.1/"}, "--server-status"},
      {{"--max-threads=5"}, "--max-threads has no effect without --arrivals=open"},
      {{"--arrivals=open", "--max-threads=0"}, "--max-threads"},
      {{"--outage=command", "--outage-at=1s", "--outage-for=1s"}, "give --outage-begin"},
      {{"--outage-begin=true"}, "--outage-begin has no effect without --outage=command"},
      {{"--url=http://127.0.0.1:99999/"}, "port"},
      {{"--url="}, "'' is not a URL"},
      {{"--factor=3"}, "--factor has no effect without --growth=exponential"},
      {{"--factor=2"}, "--factor has no effect without --growth=exponential"},  // the usual one
      {{"--jitter=full", "--random=1s"}, "--random excludes --jitter"},
      {{"--outage-at=1s", "--outage-for=1s"}, "--server-pid"},
      {{"--server-pid=0", "--outage-at=1s", "--outage-for=1s"}, "--server-pid"},
      {{"--server-pid=-1", "--outage-at=1s", "--outage-for=1s"}, "--server-pid"},
      {{"--server-pid=12", "34", "--outage-at=1s", "--outage-for=1s"},
       "more than one process: 12 34"},
      {{"--server-pid", "12 34", "--outage-at=1s", "--outage-for=1s"},
       "more than one process: 12 34"},
      // If it were not refused, the process would be frozen after an hour.
      {{"--server-pid=1", "--outage-at=1h", "--outage-for=1s"}, "process 1 is the init process"},
      {{"--server-pid=1073741824", "--outage-at=1h", "--outage-for=1s"}, "no process 1073741824"},
      {{"--print-schedule=3"}, "retrystorm schedule"},
      {{"--live"}, "--dashboard"},
      {{"--json=/no/such/folder/client.jsonl"}, "/no/such/folder/client.jsonl"},
      {{"--config=/no/such/file"}, "/no/such/file"},
  };
  for (const Refusal& refusal : cases) expect_refused(RETRYSTORM_CLIENT, refusal);
}

// As in the article: Go's flags have one dash.
TEST(ClientUsage, TakesOptionsWithOneDash) {
  ChildProcess client(RETRYSTORM_CLIENT,
                      {"-exponential-backoff", "-jitter", "0", "-min-delay=2s", "-print-settings"});
  EXPECT_EQ(client.exit_code(), 0);
  EXPECT_THAT(client.out(), HasSubstr("\nbackoff-base = 2s\n"));
  ChildProcess simulate(RETRYSTORM_SIMULATE, {"-strategy=exponential", "-clients", "1", "-seed=1",
                                              "-outage-for=0s", "-observe", "1s"});
  EXPECT_EQ(simulate.exit_code(), 0);
  EXPECT_THAT(simulate.out(), HasSubstr("exponential retries, 1 clients, seed 1"));
  ChildProcess sweep(RETRYSTORM_SIMULATE, {"-exponential-backoff", "-clients", "10", "-seed=1",
                                           "-runs=2", "-wide", "-quiet", "-sweep", "backlog=5,6"});
  EXPECT_EQ(sweep.exit_code(), 0);
  EXPECT_EQ(lines(sweep.out()).size(), 3) << sweep.out() << sweep.err();
  ChildProcess server(RETRYSTORM_SERVER, {"-version"});
  EXPECT_EQ(server.exit_code(), 0);
  EXPECT_THAT(server.out(), HasSubstr("retrystorm "));
}

TEST(ClientUsage, RefusesAMisspeltNameInAFile) {
  const TempDir folder;
  const std::string file = folder.file("typo.ini");
  std::ofstream(file) << "clinets = 3\n";
  expect_refused(RETRYSTORM_CLIENT, {{"--config=" + file, "--print-settings"}, "clinets"});
}

// Of several values the last would count, without a word.
TEST(ClientUsage, RefusesSeveralValuesInAFileForAnOptionThatTakesOne) {
  const TempDir folder;
  const std::string file = folder.file("table.ini");
  std::ofstream(file) << "growth = table\nbackoff-table = 1,1,2\n";
  expect_refused(RETRYSTORM_CLIENT, {{"--config=" + file, "--print-settings"},
                                     "backoff-table takes one value, and here are 3"});
}

// The first would count in a file of --config, the last in one of a list of strategies.
TEST(SimulateUsage, RefusesAnOptionThatAFileGivesTwiceWhereverItStands) {
  const TempDir folder;
  const std::string file = folder.file("twice.ini");
  std::ofstream(file) << "workers = 10\nservice = workers\nworkers = 40\n";
  const std::string why = "workers takes one value, and here are 2: 10 and 40";
  expect_refused(RETRYSTORM_SIMULATE, {{"--config=" + file}, why.c_str()});
  expect_refused(RETRYSTORM_SIMULATE, {{"--sweep=strategy=fixed," + file}, why.c_str()});
}

TEST(ServerUsage, RefusesBadInput) {
  const Refusal cases[] = {
      {{"--port=65536"}, "--port"},
      {{"--port=-1"}, "--port"},
      {{"--base-delay=-1s"}, "--base-delay"},
      {{"--factor=0.9"}, "--factor"},
      {{"--factor=inf"}, "--factor"},
      {{"--k=0"}, "--k"},
      {{"--limit=-1"}, "--limit"},
      {{"--backlog=99999"}, "--backlog"},
      {{"--max-connections=1000000000"}, "--max-connections"},
      {{"--rate-limit=nan"}, "--rate-limit"},
      {{"--shed-above=x"}, "--shed-above"},
      {{"--report-interval=-1s"}, "--report-interval"},
      {{"--unknown"}, "--unknown"},
      {{"--port=0", "--host=256.256.256.256"}, "256.256.256.256"},
      {{"--port=0", "--json=/no/such/folder/server.jsonl"}, "/no/such/folder/server.jsonl"},
  };
  for (const Refusal& refusal : cases) expect_refused(RETRYSTORM_SERVER, refusal);
}

// A server that refuses its options must not change the file of an earlier run.
TEST(ServerUsage, LeavesFilesAloneWhenItRefuses) {
  const TempDir dir;
  expect_refused(RETRYSTORM_SERVER, {{"--json", dir.file("server.jsonl"), "--k=0"}, "--k"});
  EXPECT_FALSE(std::filesystem::exists(dir.file("server.jsonl")));
}

TEST(ClientUsage, SendsNothingWhenItRefuses) {
  const Listener listener;
  expect_refused(RETRYSTORM_CLIENT,
                 {{"--url", listener.url(), "--lambda=0s", "--outage-at=1s"}, "--outage-for"});
  EXPECT_FALSE(listener.accept(0s));
}

TEST(ClientUsage, PrintsSettingsAndStartsNothing) {
  const Listener listener;
  ChildProcess client(RETRYSTORM_CLIENT, {"--url", listener.url(), "--lambda=0s", "--strategy=grpc",
                                          "--print-settings"});
  EXPECT_EQ(client.exit_code(), 0);
  EXPECT_THAT(client.out(), HasSubstr("\nstrategy = grpc\n"));
  EXPECT_EQ(client.err(), "");
  EXPECT_FALSE(listener.accept(0s));
  ChildProcess server(RETRYSTORM_SERVER, {"--port=1", "--limit=7", "--print-settings"});
  EXPECT_EQ(server.exit_code(), 0);
  EXPECT_THAT(server.out(), HasSubstr("\nlimit = 7\n"));
  expect_refused(RETRYSTORM_CLIENT, {{"--print-settings", "--factor=3"}, "--factor"});
}

// All that is wrong is said at once.
TEST(SimulateUsage, PrintsEachContradictionOnALine) {
  ChildProcess process(RETRYSTORM_SIMULATE, {"--rate=170/s", "--factor=3", "--workers=5"});
  EXPECT_EQ(process.exit_code(), 108);
  EXPECT_THAT(lines(process.err()),
              testing::UnorderedElementsAre(HasSubstr("--rate has no effect without"),
                                            HasSubstr("--factor has no effect without"),
                                            HasSubstr("--workers has no effect without")));
  // One of them has the value that it has anyway.
  ChildProcess usual(RETRYSTORM_SIMULATE, {"--rate=100", "--workers=5"});
  EXPECT_EQ(usual.exit_code(), 108);
  EXPECT_THAT(lines(usual.err()),
              testing::UnorderedElementsAre(HasSubstr("--rate has no effect without"),
                                            HasSubstr("--workers has no effect without")));
}

// What people type gives the same run as the plain form.
TEST(SimulateUsage, TakesPercentagesRatesAndUnits) {
  const TempDir folder;
  const std::string file = folder.file("typed.ini");
  std::ofstream(file) << "retry-budget = sre\nbudget-deposit = 20%\nobserve = \"1 min\"\n";
  std::ofstream(folder.file("typed-topology.ini"))
      << "[api]\nworkers = 8\nservice-time = lognormal:60ms:50%\nqueue-length = 1k\n";
  std::ofstream(folder.file("topology.ini"))
      << "[api]\nworkers = 8\nservice-time = lognormal:60ms:0.5\nqueue-length = 1000\n";
  const std::pair<Arguments, Arguments> cases[] = {
      {{"--strategy=exponential", "--jitter=10%"}, {"--strategy=exponential", "--jitter=0.1"}},
      {{"--jitter=proportional:20%", "--timeout=0.05min"},
       {"--jitter=proportional:0.2", "--timeout=3s"}},
      {{"--arrivals=open", "--rate=0.1k/s"}, {"--arrivals=open", "--rate=100"}},
      {{"--arrivals=open", "--rate=100rps"}, {"--arrivals=open", "--rate=100"}},
      {{"--service=workers", "--service-time=lognormal:80ms:50%"},
       {"--service=workers", "--service-time=lognormal:80ms"}},
      {{"--config=" + file}, {"--retry-budget=20%", "--observe=1m"}},
      {{"--topology=" + folder.file("typed-topology.ini")},
       {"--topology=" + folder.file("topology.ini")}},
  };
  for (auto [typed, plain] : cases) {
    for (Arguments* each : {&typed, &plain}) {
      each->insert(each->end(), {"--seed=1", "--clients=50", "--quiet"});
    }
    if (typed[0] == "--arrivals=open") {
      for (Arguments* each : {&typed, &plain}) each->erase(each->end() - 2);
    }
    ChildProcess as_typed(RETRYSTORM_SIMULATE, typed), as_plain(RETRYSTORM_SIMULATE, plain);
    EXPECT_EQ(as_typed.exit_code(), 0) << as_typed.err();
    EXPECT_EQ(as_plain.exit_code(), 0) << as_plain.err();
    EXPECT_EQ(as_typed.out(), as_plain.out()) << typed[0];
  }
}

// One sentence for each, also for the two forms of an option, and what is wrong in a sweep.
TEST(SimulateUsage, PrintsAllContradictionsAtOnce) {
  const struct {
    const char* program;
    Arguments arguments;
    std::vector<const char*> said;
  } cases[] = {
      {RETRYSTORM_SIMULATE,
       {"--processes=2", "--clients-per-process=10", "--arrivals=open", "--lambda=2s",
        "--workers=3", "--trace=1", "--csv=a.csv"},
       {"--clients-per-process excludes --processes: give one of them",
        "--processes has no effect without a retry budget",
        "--workers has no effect without --service=workers", "--trace writes to the file of --json",
        "--csv is a table of many runs"}},
      {RETRYSTORM_SIMULATE,
       {"--sweep=random=1s,2s", "--jitter=full", "--max-retries=3", "--max-attempts=4",
        "--factor=3", "--server-lines"},
       {"--random excludes --jitter: give one of them",
        "--max-attempts excludes --max-retries: give one of them",
        "--factor has no effect without --growth=exponential", "report one run, not many"}},
      {RETRYSTORM_CLIENT,
       {"-exponential-backoff", "--strategy=fixed", "--max-threads=5", "--random=1s",
        "--jitter=full"},
       {"--exponential-backoff excludes --strategy: give one of them",
        "--max-threads has no effect without --arrivals=open",
        "--random excludes --jitter: give one of them"}},
      {RETRYSTORM_SERVER,
       {"--call-random=1s", "--call-jitter=full", "--workers=3"},
       {"--call-random excludes --call-jitter: give one of them", "--workers has no effect",
        "--calls"}},
  };
  for (const auto& each : cases) {
    ChildProcess process(each.program, each.arguments);
    EXPECT_EQ(process.exit_code(), 108) << process.err();
    for (const char* said : each.said) EXPECT_THAT(process.err(), HasSubstr(said));
  }
}

// The rate that the file gives each kind of clients is no default.
TEST(SimulateUsage, AssumesNothingThatEachKindOfClientsHas) {
  const TempDir folder;
  const std::string file = folder.file("kinds.ini");
  std::ofstream(file) << "[api]\nworkers = 8\nservice-time = 60ms\n"
                         "[clients.a]\narrivals = open\nrate = 50\n"
                         "[clients.b]\narrivals = open\nrate = 40\n";
  ChildProcess process(RETRYSTORM_SIMULATE, {"--topology=" + file, "--seed=1", "--observe=15s"});
  EXPECT_EQ(process.exit_code(), 0) << process.err();
  EXPECT_THAT(process.err(), HasSubstr("\nassumed  "));
  EXPECT_THAT(process.err(), testing::Not(HasSubstr("--rate=")));
  // What a strategy sets beside that is overruled, but not the strategy.
  std::ofstream(file) << "[api]\nworkers = 8\n"
                         "[clients.a]\nstrategy = fixed\n[clients.b]\nbackoff-cap = 2s\n";
  ChildProcess named(RETRYSTORM_SIMULATE,
                     {"--topology=" + file, "--strategy=grpc", "--seed=1", "--observe=15s"});
  EXPECT_EQ(named.exit_code(), 0) << named.err();
  ChildProcess capped(RETRYSTORM_SIMULATE, {"--topology=" + file, "--backoff-cap=3s",
                                            "--growth=exponential", "--seed=1"});
  EXPECT_GT(capped.exit_code(), 100);
  EXPECT_THAT(capped.err(), HasSubstr("--backoff-cap has no effect"));
}

TEST(SimulateUsage, SuggestsTheNearestName) {
  const TempDir folder;
  std::ofstream(folder.file("typo.ini")) << "strategey = fixed\n";
  std::ofstream(folder.file("grpc.json")) << R"({"methodConfig": [)" + std::string(500, ' ') + "]}";
  const std::pair<Arguments, const char*> cases[] = {
      {{"--strategey=fixed"}, "--strategey was not expected: did you mean --strategy?\n"},
      {{"-strategey", "fixed"}, "--strategey was not expected: did you mean --strategy?\n"},
      {{"--help-al"}, "--help-al was not expected: did you mean --help-all?\n"},
      {{"help"}, "help was not expected: did you mean --help?\n"},
      {{"--maxAttempts=3"}, "did you mean --max-attempts?\n"},
      {{"--outage=errors:50"}, "'50' is not a number from 0 to 1: 50%?"},
      {{"--retry-budget=10"}, "'10' is not a number from 0 to 1: 10%?"},
      {{"--jitter=10"}, "'10' is not clear: 10% or 1000%?"},
      {{"--sweep=jitter=10%,20"}, "'20' is not clear: 20% or 2000%?"},
      {{"--rate=10%", "--arrivals=open"}, "'10%' is a ratio, and not a number of requests/s"},
      {{"--sweep=strategy=fixed,expo"}, "--sweep strategy: 'expo' is not known (did you mean expo"},
      {{"--sweep=strategey=fixed"}, "did you mean strategy?\n"},
      {{"--config=" + folder.file("typo.ini")}, "strategey was not expected: did you mean --strat"},
      {{"--explain=recoverd"}, "did you mean recovered?"},
      {{"--expect=recoverd"}, "did you mean recovered?"},
      {{"--expect=donw<5%"}, "did you mean down?"},
      {{"--timeout=500"}, "'500' has no unit: 500s or 500ms?"},
      {{"--sweep=timeout=100,500"}, "'100' has no unit: 100s or 100ms?"},
  };
  for (const auto& [arguments, said] : cases) {
    ChildProcess process(RETRYSTORM_SIMULATE, arguments);
    EXPECT_GT(process.exit_code(), 100) << said;
    EXPECT_THAT(process.err(), HasSubstr(said));
  }
  ChildProcess json(RETRYSTORM_SIMULATE, {"--config=" + folder.file("grpc.json")});
  EXPECT_GT(json.exit_code(), 100);
  EXPECT_LT(json.err().size(), 200) << json.err();
}

TEST(SimulateUsage, NamesBadValuesMisspeltNamesAndContradictionsAtOnce) {
  const TempDir folder;
  std::ofstream(folder.file("bad.ini")) << "strategey = fixed\nrate = x\n[shop]\nclients = 5\n";
  const struct {
    const char* program;
    Arguments arguments;
    int code;
    std::vector<const char*> beginnings;
  } cases[] = {
      {RETRYSTORM_SIMULATE,
       {"--straegy=fixed", "--timeout=abc", "--rat", "3", "--clients=5"},
       105,
       {"--timeout: 'abc' is not a duration",
        "--straegy was not expected: did you mean --strategy?",
        "--rat was not expected: did you mean --"}},
      // "--rate" lacks its value. Whether "--budget-cost" has an effect hangs on the refused budget.
      {RETRYSTORM_SIMULATE,
       {"--retry-budget=0.1x", "--budget-cost=3", "--timeout=5x", "--factor=3", "--csv=a.csv",
        "--rate"},
       114,
       {"--rate: ", "--timeout: '5x' has an unknown unit", "--retry-budget: '0.1x'",
        "--factor has no effect without --growth=exponential", "--csv is a table of many runs"}},
      // Perhaps the strategy that is meant has that growth.
      {RETRYSTORM_SIMULATE,
       {"--strategy=exponentail", "--factor=3"},
       105,
       {"--strategy: 'exponentail' is not known"}},
      {RETRYSTORM_SIMULATE,
       {"--sweep=timeout=5x", "--clients=x"},
       105,
       {"--clients: 'x' is not a whole number", "--sweep timeout: '5x' has an unknown unit"}},
      {RETRYSTORM_SIMULATE,
       {"--config=" + folder.file("bad.ini"), "--timeout=5x", "--factor=3"},
       110,
       {"--config: strategey was not expected: did you mean --strategy?",
        "--config: [shop] was not expected", "--rate: 'x' is not a number",
        "--timeout: '5x' has an unknown unit"}},
      {RETRYSTORM_CLIENT,
       {"--timeout=5x", "--max-threads=5", "--foo"},
       105,
       {"--timeout: '5x'", "--foo was not expected", "--max-threads has no effect without"}},
      {RETRYSTORM_SERVER,
       {"--port=5x", "--workers=3"},
       105,
       {"--port: '5x'", "--workers has no effect"}},
      {RETRYSTORM_STUDIES,
       {"strategies", "--runs=x", "--clients=y", "--foo"},
       105,
       {"--clients: 'y'", "--runs: 'x'", "--foo was not expected"}},
  };
  for (const auto& each : cases) {
    ChildProcess process(each.program, each.arguments);
    EXPECT_EQ(process.exit_code(), each.code) << process.err();
    std::vector<testing::Matcher<std::string>> said;
    for (const char* beginning : each.beginnings) said.emplace_back(testing::StartsWith(beginning));
    EXPECT_THAT(lines(process.err()), testing::UnorderedElementsAreArray(said));
  }
}

TEST(SimulateUsage, EndsWithTwoWhenAFileCannotBeRead) {
  for (const Arguments& arguments : {Arguments{"--config=/no/such/file"},
                                     Arguments{"--sweep=strategy=fixed,/no/such/mine.ini"}}) {
    ChildProcess process(RETRYSTORM_SIMULATE, arguments);
    EXPECT_EQ(process.exit_code(), 2) << process.err();
  }
}

TEST(SimulateUsage, ExplainsItsWordsAndItsOptions) {
  ChildProcess word(RETRYSTORM_SIMULATE, {"--explain=Recovered"});
  EXPECT_EQ(word.exit_code(), 0);
  EXPECT_THAT(word.out(), HasSubstr("recovered: OK answers were back at 90 %"));
  for (const char* each :
       {"draining", "replica", "percentile", "p50", "p99", "unfinished", "failing", "not felt"}) {
    ChildProcess explained(RETRYSTORM_SIMULATE, {"--explain", each});
    EXPECT_EQ(explained.exit_code(), 0);
    EXPECT_THAT(explained.out(), testing::StartsWith(std::string(each) + ": "));
  }
  ChildProcess words(RETRYSTORM_SIMULATE, {"--explain", "peak", "conc."});
  EXPECT_EQ(words.exit_code(), 0);
  EXPECT_THAT(words.out(), HasSubstr("peak conc.: The most requests in the service"));
  ChildProcess named(RETRYSTORM_SIMULATE, {"--explain", "--retry-on"});
  EXPECT_EQ(named.exit_code(), 0);
  EXPECT_THAT(named.out(), HasSubstr("  --retry-on VALUE="));
  ChildProcess studies(RETRYSTORM_STUDIES, {"--explain", "--quiet"});
  EXPECT_GT(studies.exit_code(), 100);
  EXPECT_THAT(studies.err(), HasSubstr("'--quiet' is not known: --help-all has the options of this "
                                       "program, the manual pages those of all"));
  ChildProcess map(RETRYSTORM_STUDIES, {"map", "--explain", "--threads"});
  EXPECT_EQ(map.exit_code(), 0) << map.err();
  ChildProcess all(RETRYSTORM_SIMULATE, {"--help-all"});
  for (const std::string& line : lines(all.out())) EXPECT_LE(line.size(), 100) << line;
}

// Two groups of one name would be one heading twice.
TEST(ClientUsage, NamesEachGroupOnce) {
  ChildProcess all(RETRYSTORM_CLIENT, {"--help-all"});
  std::set<std::string> titles;
  for (const std::string& line : lines(all.out())) {
    if (!line.empty() && line[0] != ' ') {
      EXPECT_TRUE(titles.insert(line).second) << line;
    }
  }
}

TEST(SimulateUsage, ListsTheStrategiesWithTheirSources) {
  ChildProcess process(RETRYSTORM_SIMULATE, {"--list-strategies"});
  EXPECT_EQ(process.exit_code(), 0);
  EXPECT_THAT(process.out(), HasSubstr("responsive\n    The AutoSleeper"));
  EXPECT_THAT(process.out(), HasSubstr("sakthipriyan/go-utils"));
}

// An option without effect in one cell may have an effect in another.
TEST(SimulateUsage, TakesForASweepWhatHasAnEffectInOneOfItsCells) {
  ChildProcess process(RETRYSTORM_SIMULATE, {"--sweep=growth=linear,exponential,constant",
                                             "--factor=3", "--linear-step=2s", "--clients=10",
                                             "--runs=2", "--seed=1", "--wide", "--quiet"});
  EXPECT_EQ(process.exit_code(), 0) << process.err();
  EXPECT_EQ(lines(process.out()).size(), 1 + 3);
}

TEST(SimulateUsage, TakesForASweepThatSwitchesAPartItsNumbers) {
  for (const char* sweep : {"--sweep=retry-budget=none,aws", "--sweep=error-share=0,0.1"}) {
    const bool budget = std::string(sweep).find("budget") != std::string::npos;
    ChildProcess process(RETRYSTORM_SIMULATE,
                         {sweep, budget ? "--budget-cost=3" : "--error-after=service",
                          "--clients=10", "--runs=2", "--seed=1", "--wide", "--quiet"});
    EXPECT_EQ(process.exit_code(), 0) << process.err();
    EXPECT_EQ(lines(process.out()).size(), 1 + 2);
  }
  ChildProcess refused(RETRYSTORM_SIMULATE,
                       {"--sweep=backlog=5,50", "--budget-cost=3", "--runs=2", "--seed=1"});
  EXPECT_NE(refused.exit_code(), 0);
  EXPECT_THAT(refused.err(), HasSubstr("budget-cost has no effect without --retry-budget"));
}

TEST(SimulateUsage, RefusesBadInput) {
  const Refusal cases[] = {
      {{"--strategy=nothing"}, "--strategy"},
      {{"--scale=0"}, "--scale"},
      {{"--scale=nan"}, "--scale"},
      {{"--scale=1000000"}, "GB of memory"},
      {{"--clients=1", "--lambda=100h", "--observe=99000h", "--threads=1000", "--runs=1000"},
       "GB of memory"},
      {{"--arrivals=both"}, "--arrivals"},
      {{"--rate=inf"}, "--rate"},
      {{"--abandoned=drop"}, "--abandoned"},
      {{"--runs=0"}, "--runs"},
      {{"--observe=-1s"}, "--observe"},
      {{"--observe=2000000h"}, "too long"},
      {{"--sweep=nothing=1,2"}, "no option of this name"},
      {{"--sweep=json=a,b"}, "no option of this name"},
      {{"--sweep=backlog"}, "--sweep"},
      {{"--sweep=backlog=9:1:1"}, "empty"},
      {{"--sweep=backlog=1:9:0"}, "step"},
      {{"--sweep=backlog=1,many"}, "many"},
      {{"--sweep=limit=30:33:0.5"}, "'30.5' is not a whole number"},
      {{"--sweep=backlog=1,2", "--sweep=backlog=3,4"}, "twice"},
      {{"--sweep=lambda=1s,2s", "--sweep=think-time=1s"}, "twice"},
      {{"--sweep=backlog=1,2", "--cell=3"}, "--cell: the sweep has 2 cells"},
      {{"--list-cells"}, "need a --sweep"},
      {{"--hidden-capacity"}, "--most=rate"},
      {{"--cell=1", "--runs=2"}, "need a --sweep"},
      {{"--sweep=scale=1,100000", "--sweep=clients=1000000,1000"}, "GB of memory"},
      {{"--factor=3", "--clients=1"}, "--factor has no effect without"},
      {{"--clients-per-process=10", "--arrivals=open"},
       "--clients-per-process has no effect with --arrivals=open, give --processes"},
      {{"--clients-per-process=100", "--arrivals=open"},  // the usual one
       "--clients-per-process has no effect with --arrivals=open, give --processes"},
      {{"--chain=", "--outage-for=0s"},
       "--chain: it is empty: leave it out, or give a value (see --explain --chain)"},
      {{"--topology", ""}, "--topology: it is empty: leave it out, or give a value"},
      {{"--rate=7"}, "rate has no effect without --arrivals=open"},
      {{"--service=mine.ini"}, "options from a file: --config=mine.ini"},
      {{"--factor=3", "--sweep=backlog=1,2"}, "--factor has no effect without"},
      {{"--factor=3", "--sweep=growth=none,linear"}, "--factor has no effect without"},
      {{"--jitter=full", "--sweep=random=1s,2s"}, "--random excludes --jitter"},
      {{"--runs=2", "--outage-at=4s"}, "--outage-at of at least 5s"},
      {{"--runs=2", "--observe=14s"}, "--observe of at least 15s"},
      {{"--runs=2", "--server-lines"}, "one run"},
      {{"--csv=table.csv"}, "many runs"},
      {{"--sweep=strategy=fixed,nothing"}, "nothing"},
      {{"--sweep=backlog=0:10000:1", "--runs=1001"}, "ten million"},
      {{"--json=/nonexistent/run.jsonl"}, "/nonexistent/run.jsonl"},
      {{"--runs=2", "--csv=/nonexistent/table.csv"}, "/nonexistent/table.csv"},
  };
  for (const Refusal& refusal : cases) expect_refused(RETRYSTORM_SIMULATE, refusal);
}

}  // namespace
}  // namespace retrystorm::test
