// Bad input causes one line on standard error and a nonzero exit code, and starts nothing.
#include "tests/support/child_process.h"
#include "tests/support/refusal.h"
#include "tests/support/sockets.h"
#include "tests/support/test.h"

namespace retrystorm::test {
namespace {

using Refusals = std::vector<std::pair<Arguments, std::string>>;

void expect_refused(const char* program, const Refusals& rows) {
  expect_refusals<Arguments>(
      [program](const Arguments& arguments) {
        const Ended process = ended(program, arguments);
        EXPECT_TRUE(process.code > 0 && process.code < 128) << "exit code " << process.code;
        EXPECT_EQ(lines(process.err).size(), 1) << process.err;
        EXPECT_EQ(process.out, "");
        return process.err;
      },
      rows);
}

TEST(ClientUsage, RefusesBadInput) {
  const Listener other;
  const TempDir folder;
  const std::string port = std::to_string(other.port()), table = folder.file("table.ini");
  std::ofstream(table) << "growth = table\nbackoff-table = 1,1,2\n";
  const Refusals rows{
      {{"--unknown"}, "--unknown"},
      {{"-host=127.0.0.1"}, "-host"},  // an option of the server, not this program's -h
      {{"extra"}, "extra"},
      {{"--url=ftp://127.0.0.1/"}, "ftp://127.0.0.1/"},
      {{"--url=https://127.0.0.1/", "--cacert=/nonexistent"}, "cannot open '/nonexistent'"},
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
      {{"--quiet", "--metrics-port=" + port}, port},
      {{"--quiet", "--dashboard", "--dashboard-port=" + port}, port},
      {{"--trace=3"}, "--json"},
      // Of several values the last would count, without a word.
      {{"--config=" + table, "--print-settings"}, "backoff-table takes one value, and here are 3"},
  };
  expect_refused(RETRYSTORM_CLIENT, rows);
}

// The first would count in a file of --config, the last in one of a list of strategies.
TEST(SimulateUsage, RefusesAnOptionThatAFileGivesTwiceWhereverItStands) {
  const TempDir folder;
  const std::string file = folder.file("twice.ini");
  std::ofstream(file) << "workers = 10\nservice = workers\nworkers = 40\n";
  const std::string why = "workers takes one value, and here are 2: 10 and 40";
  expect_refused(RETRYSTORM_SIMULATE,
                 {{{"--config=" + file}, why}, {{"--sweep=strategy=fixed," + file}, why}});
}

TEST(ServerUsage, RefusesBadInput) {
  const Listener other;
  const std::string port = std::to_string(other.port());
  const Refusals rows{
      {{"--unknown"}, "--unknown"},
      {{"--port=0", "--host=256.256.256.256"}, "256.256.256.256"},
      {{"--port=0", "--json=/no/such/folder/server.jsonl"}, "/no/such/folder/server.jsonl"},
      {{"--port=" + port}, port},
      {{"--port=0", "--admin-port=" + port}, "--admin-port"},
      {{"--port=0", "--error-after=service"}, "--error-after"},
      {{"--port=0", "--service=worker"}, "workers?"},
      {{"--port=0", "--queue-drop=codel"}, "queue-drop"},
      {{"--port=0", "--service=workers", "--limit=5"}, "limit"},
      {{"--port=0", "--service=workers", "--queue-length=0", "--queue-order=lifo"}, "queue-order"},
  };
  expect_refused(RETRYSTORM_SERVER, rows);
}

// A server that refuses its options must not change the file of an earlier run.
TEST(ServerUsage, LeavesFilesAloneWhenItRefuses) {
  const TempDir dir;
  expect_refused(RETRYSTORM_SERVER, {{{"--json", dir.file("server.jsonl"), "--k=0"}, "--k"}});
  EXPECT_FALSE(std::filesystem::exists(dir.file("server.jsonl")));
}

TEST(ClientUsage, SendsNothingWhenItRefuses) {
  const Listener listener;
  expect_refused(RETRYSTORM_CLIENT,
                 {{{"--url", listener.url(), "--lambda=0s", "--outage-at=1s"}, "--outage-for"}});
  EXPECT_FALSE(listener.accept(0s));
}

TEST(ClientUsage, PrintsSettingsAndStartsNothing) {
  const Listener listener;
  const Ended client = succeeded(RETRYSTORM_CLIENT, {"--url", listener.url(), "--lambda=0s",
                                                     "--strategy=grpc", "--print-settings"});
  EXPECT_EQ(settings_in(client.out)["strategy"], "grpc");
  EXPECT_EQ(client.err, "");
  EXPECT_FALSE(listener.accept(0s));
  const Ended server = succeeded(RETRYSTORM_SERVER, {"--port=1", "--limit=7", "--print-settings"});
  EXPECT_EQ(settings_in(server.out)["limit"], "7");
  expect_refused(RETRYSTORM_CLIENT, {{{"--print-settings", "--factor=3"}, "--factor"}});
}

// The rate that the file gives each kind of clients is no default.
TEST(SimulateUsage, AssumesNothingThatEachKindOfClientsHas) {
  const TempDir folder;
  const std::string file = folder.file("kinds.ini");
  std::ofstream(file) << "[api]\nworkers = 8\nservice-time = 60ms\n"
                         "[clients.a]\narrivals = open\nrate = 50\n"
                         "[clients.b]\narrivals = open\nrate = 40\n";
  succeeded(RETRYSTORM_SIMULATE, {"--topology=" + file, "--seed=1", "--observe=15s"});
  // What a strategy sets beside that is overruled, but not the strategy.
  std::ofstream(file) << "[api]\nworkers = 8\n"
                         "[clients.a]\nstrategy = fixed\n[clients.b]\nbackoff-cap = 2s\n";
  succeeded(RETRYSTORM_SIMULATE,
            {"--topology=" + file, "--strategy=grpc", "--seed=1", "--observe=15s"});
  expect_refused(RETRYSTORM_SIMULATE,
                 {{{"--topology=" + file, "--backoff-cap=3s", "--growth=exponential", "--seed=1"},
                   "--backoff-cap has no effect"}});
}

// Bad values, misspelt names and contradictions at once, a line each, in any order.
TEST(SimulateUsage, NamesAllThatIsWrong) {
  const TempDir folder;
  std::ofstream(folder.file("bad.ini")) << "strategey = fixed\nrate = x\n[shop]\nclients = 5\n";
  const struct {
    const char* program;
    Arguments arguments;
    int code;
    std::vector<const char*> named;
  } cases[] = {
      {RETRYSTORM_SIMULATE,
       {"--straegy=fixed", "--timeout=abc", "--rat", "3", "--clients=5"},
       105,
       {"'abc'", "--strategy", "--rat "}},
      // "--rate" lacks its value. Whether "--budget-cost" has an effect hangs on the refused budget.
      {RETRYSTORM_SIMULATE,
       {"--retry-budget=0.1x", "--budget-cost=3", "--timeout=5x", "--factor=3", "--csv=a.csv",
        "--rate"},
       114,
       {"--rate", "'5x'", "'0.1x'", "--factor", "--csv"}},
      // Perhaps the strategy that is meant has that growth.
      {RETRYSTORM_SIMULATE, {"--strategy=exponentail", "--factor=3"}, 105, {"'exponentail'"}},
      {RETRYSTORM_SIMULATE, {"--sweep=timeout=5x", "--clients=x"}, 105, {"'x'", "'5x'"}},
      {RETRYSTORM_SIMULATE,
       {"--config=" + folder.file("bad.ini"), "--timeout=5x", "--factor=3"},
       110,
       {"--strategy", "[shop]", "'x'", "'5x'"}},
      {RETRYSTORM_CLIENT,
       {"--timeout=5x", "--max-threads=5", "--foo"},
       105,
       {"'5x'", "--foo", "--max-threads"}},
      {RETRYSTORM_SERVER, {"--port=5x", "--queue-length=3"}, 105, {"'5x'", "--queue-length"}},
      {RETRYSTORM_STUDIES,
       {"strategies", "--runs=x", "--clients=y", "--foo"},
       105,
       {"'y'", "'x'", "--foo"}},
      {RETRYSTORM_CLIENT,
       {"-exponential-backoff", "--strategy=fixed", "--max-threads=5", "--random=1s",
        "--jitter=full"},
       108,
       {"--exponential-backoff", "--max-threads", "--random"}},
  };
  for (const auto& each : cases) {
    const Ended process = ended(each.program, each.arguments);
    EXPECT_EQ(process.code, each.code) << process.err;
    std::vector<testing::Matcher<std::string>> said;
    for (const char* name : each.named) said.emplace_back(HasSubstr(name));
    EXPECT_THAT(lines(process.err), testing::UnorderedElementsAreArray(said));
  }
}

// An option without effect in one cell may have an effect in another, as the numbers of a part that the sweep switches.
TEST(SimulateUsage, TakesForASweepWhatHasAnEffectInOneOfItsCells) {
  for (const Arguments& arguments : std::vector<Arguments>{
           {"--sweep=growth=linear,exponential,constant", "--factor=3", "--linear-step=2s"},
           {"--sweep=retry-budget=none,aws", "--budget-cost=3"},
           {"--sweep=error-share=0,0.1", "--error-after=service"}}) {
    succeeded(RETRYSTORM_SIMULATE,
              arguments + Arguments{"--clients=10", "--runs=2", "--seed=1", "--quiet"});
  }
  expect_refused(RETRYSTORM_SIMULATE,
                 {{{"--sweep=backlog=5,50", "--budget-cost=3", "--runs=2", "--seed=1"},
                   "budget-cost has no effect without --retry-budget"}});
}

TEST(SimulateUsage, RefusesBadInput) {
  const Refusals rows{
      {{"--maxAttempts=3"}, "--max-attempts?"},
      {{"--outage=errors:50"}, "50%?"},
      {{"--sweep=jitter=10%,20"}, "2000%?"},
      {{"--explain=recoverd"}, "recovered?"},
      {{"--expect=donw<5%"}, "down?"},
      {{"--scale=1000000"}, "GB of memory"},
      {{"--clients=1", "--lambda=100h", "--observe=99000h", "--threads=1000", "--runs=1000"},
       "GB of memory"},
      {{"--observe=2000000h"}, "too long"},
      {{"--sweep=backlog=1,2", "--cell=3"}, "--cell"},
      {{"--sweep=backlog=1,2", "--cell=3/2"}, "--cell"},
      {{"--sweep=backlog=1,2", "--cell=1/2"}, "--seed"},
      {{"--list-cells"}, "need a --sweep"},
      {{"--hidden-capacity"}, "--most=rate"},
      {{"--sweep=scale=1,100000", "--sweep=clients=1000000,1000"}, "GB of memory"},
      {{"--clients-per-process=100", "--arrivals=open"},  // the usual one
       "--processes (clients-per-process)"},
      {{"--chain=", "--outage-for=0s"}, "--chain"},
      {{"--topology", ""}, "--topology"},
      {{"--service=mine.ini"}, "--config=mine.ini"},
      {{"--factor=3", "--sweep=growth=none,linear"}, "--factor"},
      {{"--runs=2", "--outage-at=4s"}, "--outage-at"},
      {{"--runs=2", "--observe=14s"}, "--observe"},
      {{"--runs=2", "--server-lines"}, "one run"},
      {{"--csv=table.csv"}, "many runs"},
      {{"--sweep=backlog=0:10000:1", "--runs=1001"}, "ten million"},
      {{"--trace=3"}, "--json"},
      {{"--trace=3", "--json=/dev/null", "--runs=2"}, "one run"},
      {{"--json=/dev/null", "--sweep=trace=1,2"}, "trace"},
      {{"--runs=2", "--csv=/nonexistent/table.csv"}, "/nonexistent/table.csv"},
  };
  expect_refused(RETRYSTORM_SIMULATE, rows);
}

}  // namespace
}  // namespace retrystorm::test
