// Compares what is said before a run with closed forms (`tests/validation` has their sources) and
// with figures computed by hand.
#include "model/run/outlook.h"

#include "model/base/option_list.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

using testing::IsSupersetOf;

// A run with these options, in the form of a file. Without others it is frozen for 20 s.
OutlookInput input_of(const std::string& settings) {
  OutlookInput input{.outage = Disturbance(), .outage_for = 20s};
  ServiceOptions service{.max_connections = 20'000};
  OptionList options;
  declare_options(options, input.workload);
  declare_options(options, service, Engine::kSimulated);
  options.text(
      "outage", "",
      [&](std::string_view text) { input.outage = parse_disturbance(text, Engine::kSimulated); },
      [] { return ""; });
  options.duration("outage-for", input.outage_for, "");
  options.duration("calm", input.calm, "");
  options.duration("turnaround", input.turnaround, "");
  options.apply(settings);
  input.service = service;
  note_unused_by_open_arrivals(input, input.workload);
  return input;
}

Outlook look(const std::string& settings) {
  return look_ahead(input_of(settings));
}

// The ids of what it warns of.
std::vector<std::string> ids(const Statements& warnings) {
  std::vector<std::string> all;
  for (const Statement& each : warnings) all.emplace_back(each.id);
  return all;
}

// A number of a statement, a time in seconds.
double number_of(const Statement& statement, std::string_view name) {
  for (const StatementValue& each : statement.values) {
    if (each.name != name) continue;
    if (const auto* number = std::get_if<double>(&each.of)) return *number;
    if (const auto* share = std::get_if<ShareOf>(&each.of)) return share->share;
    if (const auto* time = std::get_if<Duration>(&each.of)) return to_seconds(*time);
  }
  return std::numeric_limits<double>::quiet_NaN();
}

// What a row of a table names. A time is in seconds; what there is none of is below zero.
double figure_of(const Outlook& outlook, std::string_view name) {
  const Outlook::Retries& retries = outlook.retries;
  const auto& service = outlook.service;
  const auto& herd = outlook.herd;
  const std::pair<std::string_view, double> all[] = {
      {"wanted", outlook.wanted},
      {"clients", outlook.clients()},
      {"attempts", retries.attempts},
      {"timeouts", retries.timeouts.rate},
      {"errors", retries.errors.rate},
      {"timeouts.attempts", retries.timeouts.attempts},
      {"timeouts.lasts", to_seconds(retries.timeouts.lasts)},
      {"timeouts.by_budget", retries.timeouts.limit == Outlook::Failing::Limit::kBudget},
      {"errors.attempts", retries.errors.attempts},
      {"errors.by_budget", retries.errors.limit == Outlook::Failing::Limit::kBudget},
      {"capacity", service ? service->capacity : -1},
      {"used", service ? service->used : -1},
      {"late_from", service ? service->late_from : -1},
      {"bound", service ? service->bound : -1},
      {"in_time", service ? service->in_time : -1},
      {"can_hold", retries.can_hold},
      {"drain", retries.drain.value_or(-1)},
      {"through", outlook.connections ? outlook.connections->through : -1},
      {"drains_in", outlook.drains_in ? to_seconds(*outlook.drains_in) : -1},
      {"herd.rate", herd ? herd->rate : -1},
      {"herd.room", herd ? herd->room : -1},
      {"herd.piles_up", herd ? herd->piles_up : -1},
      {"herd.in_time", herd ? herd->in_time : -1},
      {"herd.all_room", herd ? to_seconds(herd->all_room) : -1},
      {"herd.base_for_room", herd ? to_seconds(herd->base_for_room) : -1},
  };
  for (const auto& [id, value] : all) {
    if (id == name) return value;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

struct FigureRow {
  std::string settings;
  std::string_view figure;
  double value;
  double within = 0;  // 0: as exact as a double is
};

void expect_figures(const std::vector<FigureRow>& rows) {
  for (const FigureRow& row : rows) {
    const double is = figure_of(look(row.settings), row.figure);
    if (row.within == 0) {
      EXPECT_DOUBLE_EQ(is, row.value) << row.settings << row.figure;
    } else {
      EXPECT_NEAR(is, row.value, row.within) << row.settings << row.figure;
    }
  }
}

// A payment service: 64 workers that take 80 ms, called by a library that tries three times.
const std::string kPayments =
    "service = workers\nworkers = 64\nservice-time = 80ms\narrivals = open\nrate = 400\n"
    "timeout = 1s\nmax-attempts = 3\n";
// 20 workers do 200/s.
const std::string kTwenty =
    "service = workers\nworkers = 20\nservice-time = 100ms\narrivals = open\n";
// 600 clients of a service that takes 50 ms, each for 2.05 s a request.
const std::string kClients =
    "service = workers\nworkers = 20\nservice-time = 50ms\nclients = 600\nlambda = 2s\n";
const std::string kKept = kClients + "timeout = 1s\nstrategy = fixed\nconnections = keep-alive\n";

// Each client thinks for 10 s, then makes n attempts with their waits, and begins again. Without a
// bound to the attempts it goes on at the first request.
TEST(Outlook, CountsTheAttemptsOfClosedClients) {
  // gRPC does not retry what times out. Errors it tries four times: waits of 100, 200 and 400 ms.
  const std::string grpc = "strategy = grpc\nretry-budget = none\n";
  // Clients that are turned away at once only wait: three attempts in two waits of 100 ms.
  const std::string away =
      "clients = 60\nlambda = 0s\nmax-attempts = 3\nrate-limit = 15\nservice = workers\n"
      "workers = 1000\nservice-time = 3s\ntimeout = 30s\n";
  // Ten attempts of 1 s do not fit into 4 s, those that fail at once do.
  const std::string bounded =
      "arrivals = open\nrate = 10\ntimeout = 1s\nmax-attempts = 10\ndeadline = 4s\noutage = drop\n";
  expect_figures({
      {"", "wanted", 1000 / 10.1, 1e-9},
      {"", "timeouts", 1000 / 2.1, 1e-9},
      {"", "errors", 1000 / 0.1, 1e-9},
      {"max-attempts = 2\n", "timeouts", 1000 * 2 / (10 + 2 * 2 + 0.1), 1e-6},
      {"max-attempts = 2\n", "errors", 1000 * 2 / (10 + 0.1), 1e-6},
      {"strategy = none\n", "timeouts", 1000 / 12., 1e-6},
      {grpc, "timeouts", 1000 / (10 + 2.), 1e-6},
      {grpc, "errors", 1000 * 4 / (10 + 0.7), 1e-3},
      // A 500 is not retried.
      {"strategy = grpc\noutage = errors:1:500\n", "errors", 1000 / 10., 1e-6},
      // Served before they fail: 100 ms each.
      {grpc + "error-after = service\noutage = errors:1\n", "errors",
       1000 * 4 / (10 + 4 * 0.1 + 0.7), 1e-3},
      {bounded, "timeouts", 40},
      {bounded, "errors", 100},
      {away, "errors", 60 * 3 / 0.2, 1e-3},
      {"clients = 60\nshed-above = 10\n", "errors", 60 / 0.1, 1e-6},
      // What the clients send at most bounds every storm: 4 x 50/s.
      {kPayments + "client-rate = 50/s\nprocesses = 4\n", "timeouts", 200},
      // Each worker of a job has a task.
      {"arrivals = job\ntasks = 20\nclients = 5\n", "clients", 5},
      {"arrivals = job\ntasks = 20\ncalls = 5\n", "clients", 20},
  });
}

// A service that does 1,600/s. Each request is sent again after 50 ms.
TEST(Outlook, CountsHedges) {
  const std::string settings =
      "service = workers\nworkers = 32\nservice-time = 20ms\narrivals = open\nrate = 900\n"
      "max-retries = 0\nbacklog = 4096\nhedge = 50ms\n";
  // The hedges after 100, 200 and 300 ms, and when the last attempt has timed out after 1.3 s, two retries.
  const std::string both =
      "timeout = 1s\nmax-attempts = 3\nfixed-delay = 100ms\nhedge = 100ms\nhedge-max = 3\n";
  // A failure that is not retried ends the request, here at 2 s: after hedges at 0.5, 1 and 1.5 s.
  const std::string grpc = "strategy = grpc\nretry-budget = none\nhedge = 500ms\nhedge-max = 5\n";
  // Ten processes may send 10 hedges/s each. A hedge makes its request 0.5 s longer.
  const double requests = (1000 - 100 * 0.5) / (10 + 2 + 0.05 * 0.5);
  // A budget takes nothing for failures that are not retried, so it does not end their hedges.
  const std::string failures =
      "service = workers\narrivals = open\nrate = 110\nstrategy = none\nhedge = 30ms\n"
      "hedge-max = 2\ntimeout = 1s\nretry-budget = grpc\nretry-on = ";
  expect_figures({
      {settings, "attempts", 2},
      {settings, "timeouts", 1800},
      {settings, "can_hold", 1},
      // Finagle's budget: a share of the requests, and 10/s in each process.
      {settings + "hedge-budget = 0.05\n", "timeouts", 900 * 1.05 + 10},
      {settings + "hedge-budget = 0.05\n", "can_hold", 0},
      {settings + "hedge-budget = 0.05\n", "drain", 1600 - 955},
      {settings + "hedge-budget = 0.05\nprocesses = 20\n", "timeouts", 1145},
      {settings + "hedge-budget = 0\n", "timeouts", 900},
      // It counts hedges as retries.
      {settings + "retry-budget = 10%\n", "timeouts", 990},
      {both, "timeouts.attempts", 6},
      {both, "timeouts.lasts", 3.5},
      {both, "timeouts", 6 * 1000 / (10 + 3.5), 1e-6},
      // Where attempts fail at once, so do hedges.
      {both, "errors", 6 * 1000 / (10 + 0.2), 1e-6},
      {grpc, "timeouts.attempts", 4},
      {grpc, "timeouts", 4 * 1000 / 12., 1e-6},
      {grpc, "errors.attempts", 9},
      // It is the same with the deadline, where there is no timeout.
      {"timeout = none\ndeadline = 2s\nhedge = 500ms\nhedge-max = 5\n", "timeouts", 4 * 1000 / 12.,
       1e-6},
      {"max-retries = 0\nhedge = 500ms\nhedge-max = 3\nhedge-budget = 0.05\n", "timeouts",
       1.05 * requests + 100, 1e-6},
      {failures + "unavailable\n", "timeouts", 330},
      {failures + "unavailable\n", "timeouts.by_budget", 0},
      {failures + "timeout\nmax-retries = 1\n", "timeouts.by_budget", 1},
  });
}

TEST(Outlook, SaysWhereRetriesHoldAServiceOfWorkers) {
  // 64 workers refuse 1,200/s, each refusal for c, and serve x/s for 80 ms: x 80 ms + (1,200 - x) c = 64. 300 wait
  // in the queue, so 326/s (300 / 0.92 s) are answered in time.
  const std::string refusing =
      kPayments + "queue-length = 300\noutage-for = 10s\nrejection-cost = ";
  // 6 connections of 50 ms let through 120/s of the 800/s that the workers can do: attempts beyond that time out in
  // line, unless the wait in line is shorter than the timeout or beside it.
  const std::string line =
      "service = workers\nworkers = 40\nservice-time = 50ms\narrivals = open\ntimeout = 500ms\n"
      "connections = keep-alive\npool-size = 6\nmax-attempts = 8\nrate = ";
  expect_figures({
      {kPayments, "capacity", 800},
      {kPayments, "used", 0.5},
      {kPayments, "late_from", 736, 1e-6},
      {kPayments, "timeouts", 1200},
      {kPayments, "can_hold", 1},
      {kPayments, "drain", -1},
      {kPayments, "drains_in", -1},
      {refusing + "40ms\n", "can_hold", 0},
      {refusing + "50ms\n", "can_hold", 1},
      {refusing + "60ms\n", "can_hold", 1},
      // A refusal that takes longer than an answer: 64 - 300 x 0.2 = 4 workers are left, for 50/s.
      {refusing + "200ms\nrate = 100\n", "drain", 50, 1e-6},
      {line + "60\n", "can_hold", 1},  // 480/s
      {line + "14\n", "can_hold", 0},  // 112/s
      {line + "60\npool-wait = 125ms\n", "can_hold", 0},
      {line + "60\npool-wait-counts = no\n", "can_hold", 0},
      {line + "14\n", "drain", 120 - 112},
      {kKept + "fixed-delay = 400ms\npool-size = 5\n", "can_hold", 1},
      {kKept + "fixed-delay = 400ms\npool-size = 5\npool-wait-counts = no\n", "can_hold", 0},
  });
}

// How long what an outage leaves takes at most.
TEST(Outlook, SaysHowLongTheQueueOfAnOutageDrains) {
  // Three times slower for 8 s; and Arolla's spike: three times the load for 10 s.
  const std::string slow =
      "service = workers\nworkers = 10\nservice-time = 100ms\narrivals = open\nrate = 90\n"
      "timeout = 1s\nstrategy = none\noutage = slow:3\noutage-for = 8s\n";
  const std::string spike =
      "service = workers\nworkers = 16\nservice-time = 67.99ms\narrivals = open\nrate = 188\n"
      "timeout = 192ms\nstrategy = none\noutage = load:3\noutage-for = 10s\n";
  // 1,000 tokens of processes that retry at a cost of 1. 100/s are left of the capacity.
  const std::string budget = kPayments + "calm = 30s\nrate = 700\nretry-budget = ";
  const std::string tokens = budget + "tokens\nbudget-deposit = 0\nbudget-tokens = 1000\n";
  // 600 clients ask for 200/s of 400/s while all time out. Of each of six processes so many connections are in use.
  const double busy = 600 / 2.05 * 0.05 / 6;
  const std::string kept = kKept + "strategy = none\nbacklog = 32\n";
  const double left = 400 - 600 / 3.;
  expect_figures({
      {kClients + "backlog = 32\ntimeout = 1s\nstrategy = none\n", "drains_in", 32 / left, 1e-6},
      // Kept connections hold a request each.
      {kept, "drains_in", (32 + 6 * (busy + 3 * std::sqrt(busy) + 1)) / left, 1e-6},
      {kept + "pool-max-idle = 2\n", "drains_in", (32 + 6 * (busy + 2)) / left, 1e-6},
      {slow, "drains_in", 45.3, .05},
      {spike, "used", .799, .001},
      {spike, "drains_in", 69.4, .2},
      // A service that can still serve the whole load has no queue.
      {kTwenty + "rate = 100\nstrategy = none\noutage = slow:1.5\n", "drains_in", 0},
      {kTwenty + "rate = 100\nstrategy = none\noutage = throttle:100\n", "drains_in", 0},
      // At 250/s, three attempts each leave 50/s of capacity, so 4,096 waiting requests take 82 s.
      {kPayments + "rate = 250\nbacklog = 4096\noutage-for = 30s\n", "can_hold", 0},
      {kPayments + "rate = 250\nbacklog = 4096\noutage-for = 30s\n", "drain", 50},
      {kPayments + "rate = 250\nbacklog = 4096\noutage-for = 30s\n", "drains_in", 4096 / 50., 1e-6},
      // In 1 ms of a freeze no token is spent, in 20 s all are: 256 wait.
      {tokens + "outage-for = 1ms\n", "drains_in", (0.7 + 1000) / 100, 0.1},
      {tokens, "drains_in", 256 / 100., 1e-6},
      // In a surge that piles up 600/s for 10 s, the retries come besides.
      {tokens + "outage = load:2\noutage-for = 10s\n", "drains_in", (600 * 10 + 1000) / 100., 1e-6},
      // A tenth of the requests of the calm, and of those that came while 256 wait: 770/s are tried for long.
      {budget + "10%\nrate = 600\noutage-for = 1s\n", "drains_in", (256 + 60 * 31) / 140., 0.1},
      // What was spent is forgotten after 10 s, and saved up again.
      {budget + "tower\noutage-for = 30s\n", "drains_in", (256 + 100 + 140 * 10) / 90., 0.1},
  });
}

// 200/s, of which 190 are wanted: what came in 20 s takes 3,800 / 10 s. No attempt makes a second SYN, because
// all have room. With room for 256 the others repeat theirs, but are no more than came.
TEST(Outlook, CountsEachAttemptOfAFreezeOnce) {
  for (const char* others :
       {"timeout = none\nbacklog = 4096\n", "timeout = 60s\nbacklog = 4096\n",
        "timeout = 30s\nbacklog = 4096\n", "timeout = 5s\nbacklog = 4096\n", "timeout = 70s\n"}) {
    const double drains =
        figure_of(look(kTwenty + "rate = 190\nstrategy = none\n" + others), "drains_in");
    EXPECT_LE(drains, 380 + 1e-6) << others;
    EXPECT_GE(drains, 360) << others;
  }
}

// Also gRPC's throttle, which pays for no retry while everything fails.
TEST(Outlook, CountsTheRetriesThatABudgetPaysFor) {
  const auto paid = [](const std::string& budget, double processes = 1, double requests = 100) {
    const OutlookInput input = input_of("retry-budget = " + budget + '\n');
    return retries_paid(input.workload.retry.process.budget, processes, requests, 1s, 0s);
  };
  EXPECT_DOUBLE_EQ(paid("sre"), 10);
  EXPECT_DOUBLE_EQ(paid("finagle"), 30);
  EXPECT_DOUBLE_EQ(paid("finagle", 10), 120);
  EXPECT_EQ(paid("grpc"), 0);
  EXPECT_EQ(paid("aws"), 0);
  EXPECT_DOUBLE_EQ(paid("envoy"), 3);
  EXPECT_DOUBLE_EQ(paid("concurrent"), 25);
  EXPECT_TRUE(std::isinf(paid("none")));
  // After a 429 the waits begin with 1 s, and a retry takes no token: all have their three attempts. Without
  // throttling they begin with 50 ms, and the budget ends them.
  const std::string throttled =
      "arrivals = open\nrate = 100\ngrowth = exponential\nfactor = 2\nbackoff-base = 50ms\n"
      "jitter = full\nmax-attempts = 3\nthrottled-base = 1s\nretry-budget = aws-2025\n"
      "budget-throttled-cost = 0\noutage = ";
  // A budget that is empty ends the requests of such clients sooner, so that they begin more of them.
  const std::string empty = "strategy = aws-standard\nclients = 1000\noutage = errors:1\n";
  expect_figures({
      {kPayments + "retry-budget = sre\n", "timeouts", 440},
      {kPayments + "retry-budget = sre\n", "timeouts.by_budget", 1},
      {throttled + "throttle:10\n", "errors", 300},
      {throttled + "throttle:10\n", "errors.by_budget", 0},
      {throttled + "errors:1:503\n", "errors.by_budget", 1},
      {empty, "errors", 1000 / 10., 1e-6},
      {empty, "errors.by_budget", 1},
      {empty + "lambda = 0s\n", "errors", Outlook::kUnlimited},
      {empty + "lambda = 0s\nturnaround = 100us\n", "errors", 1000 / 100e-6, 1e-3},
      // 10 % of the requests are tried once more, after 100 ms: q (10 + 2) + q / 10 (2 + 0.1) = N.
      {"retry-budget = 10%\nmax-attempts = 3\n", "timeouts", 1.1 * 1000 / (12 + 0.21), 1e-6},
  });
}

// Agents that share nothing: it makes no difference how many processes they are.
TEST(Outlook, TakesAProcessForEachClient) {
  const auto unused = [](const std::string& settings) {
    return unused_of_part(input_of(settings).workload);
  };
  const std::string agents = "clients = 60\nstrategy = openai\nprocesses = ";
  EXPECT_THAT(unused(agents + "60\n"), IsEmpty());
  EXPECT_TRUE(unused(agents + "6\n").contains("processes"));
  EXPECT_TRUE(unused("arrivals = open\nclients = 60\nprocesses = 60\n").contains("processes"));
}

TEST(Outlook, SaysWhichSettingsBoundAQueueInTime) {
  // What a limit has saved, or what the threshold of a queue lets wait, is too late from 380 on, with the 20 that are
  // served 400.
  const std::string limited = kTwenty + "rate = 100\n";
  // Workers without enough connections are idle: 10 at a time of 100 ms are 100/s, and answer 190 that wait within 2 s.
  // What waits in the accept queue counts.
  const std::string few = kTwenty + "rate = 70\nmax-attempts = 3\nmax-connections = 10\nbacklog = ";
  // 50 at a time on the curve, of which each takes 50 / 469/s: in 2 s these answer 937.
  const std::string curve =
      "arrivals = open\nrate = 300\nmax-attempts = 3\nmax-connections = 50\nbacklog = ";
  const double rate = ServiceOptions().curve().throughput(50);
  // Without a timeout none is late. With a deadline, a client begins its next request after it.
  const std::string patient = kClients + "timeout = none\nstrategy = fixed\n";
  std::vector<FigureRow> rows{
      // Half a second is too long a target for answers that are waited for for one.
      {kPayments + "queue-length = 1000\n", "in_time", 0},
      {kPayments + "queue-drop = codel:500ms:1s\n", "in_time", 0},
      {kPayments + "rate-limit = 700\n", "capacity", 700},
      {limited + "rate-limit = 150\n", "in_time", 1},
      {limited + "rate-limit = 150\nrate-burst = 400\n", "in_time", 1},
      {limited + "rate-limit = 150\nrate-burst = 401\n", "in_time", 0},
      {limited + "queue-order = adaptive-lifo:379\n", "in_time", 1},
      {limited + "queue-order = adaptive-lifo:380\n", "in_time", 0},
      {limited + "queue-order = lifo\n", "in_time", 1},
      {few + "256\n", "capacity", 100},
      {few + "256\n", "late_from", 190, 1e-9},
      {few + "256\n", "in_time", 0},
      {few + "100\n", "bound", 100},
      {few + "100\n", "in_time", 1},
      {"", "capacity", 1246.9, .1},
      {curve + "2000\n", "capacity", rate},
      {curve + "2000\n", "late_from", 2 * rate},
      {curve + "2000\n", "in_time", 0},
      {curve + "256\n", "in_time", 1},
      {patient, "can_hold", 0},
      {patient, "in_time", 1},
      {patient, "late_from", Outlook::kUnlimited},
      {patient + "deadline = 3s\n", "timeouts", 600 / (2 + 3.), 1e-6},
  };
  for (const char* setting : {"queue-length = 100", "queue-drop = age:500ms", "queue-drop = codel",
                              "queue-order = lifo", "rate-limit = 700", "shed-above = 200"}) {
    rows.push_back({kPayments + setting + '\n', "in_time", 1});
    rows.push_back({kPayments + setting + '\n', "can_hold", 0});
  }
  expect_figures(rows);
}

TEST(Outlook, CountsTheAttemptsThatCanBeginBeforeTheDeadline) {
  EXPECT_EQ(attempts_before(2s, 1s, {100ms, 200ms}, 4), 2);
  EXPECT_EQ(attempts_before(2200ms, 1s, {100ms}, 4), 2);
  EXPECT_EQ(attempts_before(2201ms, 1s, {100ms}, 4), 3);
  EXPECT_EQ(attempts_before(10s, 1s, {}, 4), 4);
  EXPECT_EQ(attempts_before(Duration::max(), 1s, {}, 4), 4);
  EXPECT_EQ(attempts_before(10s, 1s, {}, Outlook::kUnlimited), 10);
}

// Thirty connections of six processes. An attempt that times out has had one for all of its second, or for
// what the wait in line has left of it. Twelve connections of 50 ms each are 240/s. 20 workers would do 400.
TEST(Outlook, CountsTheAttemptsForWhichThereIsAConnection) {
  const std::string settings = kKept + "fixed-delay = 400ms\n";
  const double all = 600 / 1.4;
  expect_figures({
      {settings, "timeouts", all, 1e-6},
      {settings + "pool-size = 5\n", "timeouts", all, 1e-6},
      {settings + "pool-size = 5\npool-wait-counts = no\n", "timeouts", 30, 1e-6},
      {settings + "pool-size = 5\npool-wait = 300ms\n", "timeouts", 30 / 0.7, 1e-6},
      {settings + "pool-size = 5\npool-wait-counts = no\nprocesses = 12\n", "timeouts", 60, 1e-6},
      // There is a connection for each client.
      {settings + "pool-size = 100\npool-wait-counts = no\n", "timeouts", all, 1e-6},
      {settings + "connections = multiplexed\nstreams = 5\npool-wait-counts = no\n", "timeouts", 30,
       1e-6},
      // A deadline can cut an attempt short that has waited.
      {settings + "pool-size = 5\npool-wait-counts = no\ndeadline = 1m\n", "timeouts",
       look(settings + "deadline = 1m\n").retries.timeouts.rate, 1e-6},
      {kKept + "pool-size = 2\n", "through", 240, 1e-9},
  });
}

// 5,000 clients want 1,000 requests a second of a service that does 2,000. With 2 s until an attempt times
// out, 3,800 (2,000 x 1.9) may wait.
const std::string kHerd =
    "clients = 5000\nlambda = 4900ms\nservice = workers\nworkers = 200\nservice-time = 100ms\n"
    "reconnect-growth = constant\noutage = reconnect\noutage-for = 1s\n";

// In a window w, N (c + 1 - exp(-(from + w) / 4.9)) are asked for at most: connects of c calls, and what was wanted
// meanwhile. 1,000/s are left beside the load.
double owed_after(double w, double from, double calls) {
  return 5000 * (calls + 1 - std::exp(-(from + w) / 4.9)) - 1000 * w;
}

// The window at whose end as many come as there is room for: w = 5 (c + 1 - exp(-(from + w) / 4.9)).
double window_with_room(double from, double calls) {
  double w = 0;
  for (int i = 0; i < 100; ++i) w = 5 * (calls + 1 - std::exp(-(from + w) / 4.9));
  return w;
}

TEST(Outlook, SaysHowAHerdComesBack) {
  const std::string spread = kHerd + "reconnect-base = 5s\n";
  // Clients that hardly send anything: 5,000 connects of 2,000/s.
  const std::string idle = kHerd + "reconnect-base = 1s\nlambda = 1h\n";
  // After the wait of 1 s, 5,000 connects take 2.5 s.
  const std::string at_once = kHerd + "reconnect-base = 1s\nreconnect-jitter = none\n";
  const std::string costly = kHerd + "reconnect-base = 5s\nreconnect-calls = 3\n";
  // The curve does less, the more are in it: 1,500 clients within 1 s are more than it can do, and it does
  // fewer and fewer.
  const std::string curve =
      "clients = 1500\nlambda = 10s\noutage = reconnect\noutage-for = 1s\nreconnect-base = ";
  expect_figures({
      {spread, "herd.rate", 1000, 1e-3},
      {spread, "herd.room", 1000, 1e-9},
      {spread, "herd.piles_up", owed_after(5, 0, 1), 1e-3},
      {spread, "herd.in_time", 1},
      {spread, "herd.all_room", window_with_room(0, 1), 1e-3},
      {spread, "herd.base_for_room", 9.3},
      {kHerd + "reconnect-base = 9300ms\n", "herd.piles_up", 0, 1},
      {idle, "herd.all_room", 2.5, 0.01},
      {idle, "herd.base_for_room", 2.6},
      // The cap bounds the window.
      {kHerd + "reconnect-base = 1s\nreconnect-cap = 3s\n", "herd.base_for_room", 0},
      {at_once, "herd.rate", Outlook::kUnlimited},
      {at_once, "herd.piles_up", 5000},
      {at_once, "herd.all_room", window_with_room(1, 1), 1e-3},
      {costly, "herd.piles_up", 5000},  // one attempt of each
      {costly, "herd.all_room", window_with_room(0, 3), 1e-2},
      {curve + "1s\n", "herd.in_time", 0},
      {curve + "1600ms\n", "herd.in_time", 1},
      {kHerd + "clients = 12000\nreconnect-base = 5s\n", "herd.room", 0},
  });
  const Outlook late = look(at_once);
  ASSERT_THAT(ids(late.warnings), ElementsAre("herd-too-late"));
  EXPECT_NEAR(number_of(late.warnings[0], "enough"), window_with_room(1, 1), 1e-3);
  EXPECT_NEAR(owed_after(number_of(late.warnings[0], "least"), 1, 1), 3800, 1);
}

TEST(Outlook, WritesNumbersAsPeopleDo) {
  EXPECT_EQ(readable(1234567.), "1,234,567");
  EXPECT_EQ(readable(266.7), "267");
  EXPECT_EQ(readable(33.333), "33.3");
  EXPECT_EQ(readable(0.1), "0.1");
  EXPECT_EQ(readable(0.), "0");
  EXPECT_EQ(readable(100.), "100");
  EXPECT_EQ(readable(Outlook::kUnlimited), "unlimited");
  EXPECT_EQ(readable(Duration(214'666'666)), "215ms");
  EXPECT_EQ(readable(Duration(81'920'000'000)), "1m21.9s");
  EXPECT_EQ(readable(Duration::max()), "unlimited");
  EXPECT_EQ(readable(Duration::max() - Duration(100'000'000)),
            "unlimited");  // rounded, it would be negative
}

TEST(Outlook, NamesTheOptionsThatDecide) {
  const std::vector<std::string> workers{"strategy", "workers", "service-time", "accepts", "rate",
                                         "timeout",  "outage",  "outage-for",   "observe"};
  const std::vector<std::string> curve{"strategy", "service", "arrivals",   "clients", "lambda",
                                       "timeout",  "outage",  "outage-for", "observe"};
  const std::string errors = kPayments + "outage = errors:1\nretry-budget = ";
  struct Case {
    std::string settings;
    const std::vector<std::string>& first;
    std::vector<std::string> others;
  };
  const std::vector<Case> cases{
      {kPayments, workers, {"backlog", "connections", "abandoned"}},
      {errors + "10%\n", workers, {"error-after", "abandoned", "processes", "outage-at"}},
      {errors + "grpc\n",
       workers,
       {"error-after", "abandoned", "processes", "outage-at", "budget-tokens"}},
      {errors + "envoy\n",
       workers,
       {"error-after", "abandoned", "processes", "outage-at", "backoff-base", "retry-on"}},
      {"", curve, {"syn-linear-timeouts", "abandoned"}},
      {"connections = keep-alive\npool-size = 5\n",
       curve,
       {"syn-linear-timeouts", "abandoned", "pool-size", "processes", "pool-wait",
        "pool-wait-counts"}},
      {"connections = multiplexed\n", curve, {"abandoned", "pool-size", "processes", "streams"}},
  };
  for (const Case& each : cases) {
    std::vector<std::string> all = each.first;
    all.insert(all.end(), each.others.begin(), each.others.end());
    EXPECT_EQ(deciding_options(look(each.settings)), all) << each.settings;
  }
  // No timeout is retried, so it decides how the service turns requests away.
  const std::string unavailable = kPayments + "retry-on = UNAVAILABLE\nmax-attempts = 3\n";
  EXPECT_THAT(ids(look(unavailable).warnings), Contains("hangs-on-rejections"));
  struct Named {
    std::string settings, option;
    bool named;
  };
  for (const Named& each : {
           // Connections that outlast a freeze make no use of the accept queue.
           Named{kPayments + "connections = multiplexed\n", "accepts", false},
           Named{kPayments + "connections = multiplexed\n", "backlog", false},
           // A client rate, as any gate, is one for all clients of a process.
           Named{"client-rate = aws-adaptive\n", "processes", true},
           Named{"client-rate = 10/s\n", "processes", true},
           Named{kPayments + "hedge = 100ms\n", "hedge-max", true},
           Named{kPayments + "hedge = 100ms\n", "hedge-budget", true},
           Named{unavailable, "queue-length", true},
           Named{unavailable, "rejection-cost", true},
           Named{unavailable + "queue-length = 100\n", "rejection-cost", false},
           // Who gives no option of the waits retries for ever.
           Named{"strategy = exponential\n", "strategy", false},
           Named{"backoff-base = 1s\n", "strategy", false},
           Named{"outage = reconnect\noutage-for = 1s\n", "reconnect-base", true},
           Named{"outage = reconnect\noutage-for = 1s\n", "reconnect-calls", true},
       }) {
    const auto names = deciding_options(look(each.settings));
    EXPECT_EQ(std::ranges::count(names, each.option), each.named) << each.settings << each.option;
  }
}

// A client that is turned away at once, and waits as long as it is told, comes once in that time: w clients wait, the
// others think, and 200 / (1 + w) = the rate of their requests; each of these attempts once, then a second time.
TEST(Outlook, CountsTheWaitsThatAHintMakes) {
  const std::string limited =
      "clients = 200\nlambda = 0s\nrate-limit = 10\nhint = fixed\nhint-for = 2s\ngrowth = constant\n"
      "backoff-base = 10s\njitter = none\nmax-retries = none\nretry-after = ";
  expect_figures({
      {limited + "ignore\n", "errors", 200 / 10.0, 0.1},
      {limited + "replace\n", "errors", 200 / 2.0, 0.1},
      {limited + "at-least\n", "errors", 200 / 10.0, 0.1},
      {limited + "clamp\n", "errors", 200 / 10.0, 0.1},
      {limited + "spread\n", "errors", 200 / 2.5, 0.1},  // the hint, and up to half of it more
      {limited + "replace\nhint = spread\nhint-to = 6s\n", "errors", 200 / 4.0, 0.1},
      // A whole second at least.
      {limited + "replace\nhint = computed\n", "errors", 200 / 1.0, 0.1},
      {limited + "replace\nhint = none\n", "errors", 200 / 10.0, 0.1},
  });
}

// Which options are warned of, with which numbers of the last warning.
TEST(Outlook, WarnsOfWhatCannotWork) {
  const std::string open = "service = workers\narrivals = open\nrate = 150\n";
  const std::string job = "arrivals = job\ntasks = 20\nservice = workers\nservice-time = 50ms\n";
  const std::string limited = "clients = 10\nlambda = 0s\nrate-limit = 600/min\n";
  const std::string hasty = "lambda = 0s\nstrategy = ";
  const std::string table = "growth = table\nbackoff-table = 1+1+2+3+5+8\nmax-retries = ";
  const std::string hedged =
      "service = workers\nworkers = 32\nservice-time = 20ms\narrivals = open\nrate = 900\n"
      "max-retries = 0\nbacklog = 4096\nhedge = ";
  struct Case {
    std::string settings, ids;
    std::string numbers{};  // "load=900 capacity=800"; a time is in seconds
  };
  const std::vector<Case> cases{
      {"", ""},
      {kPayments, ""},
      {kPayments + "rate = 900\n", "no-capacity-left", "load=900 capacity=800"},
      {kPayments + "timeout = 60ms\n", "half-after-timeout", "answer=0.08 timeout=0.06"},
      {kPayments + "service-time = lognormal:80ms:2\nrate = 1\ntimeout = 500ms\n",
       "some-after-timeout"},
      {kPayments + "deadline = 500ms\n", "deadline-before-timeout", "deadline=0.5"},
      {kPayments + "deadline = 1s\n", "deadline-cuts-timeouts", "attempts=3 begin=1"},
      // Retries of errors begin 1, 3 and 7 s after the request.
      {kPayments +
           "growth = exponential\nbackoff-base = 1s\njitter = 0\nmax-attempts = 10\ndeadline = 5s\n"
           "retry-on = 503\nqueue-length = 100\noutage = errors:0.3:503\n",
       "deadline-cuts-failures", "attempts=10 begin=3 deadline=5 take=7"},
      // 400/s for 20 s, each of which sends an attempt every 1.1 s: the first ones have sent 18 retries.
      {kPayments + "strategy = fixed\nfixed-delay = 100ms\nmax-attempts = none\n",
       "no-request-gives-up", "requests=8000 attempts=7200"},
      // They come 2, 5, 10 and 19 s after the request.
      {kPayments + "growth = exponential\nbackoff-base = 1s\njitter = 0\nmax-attempts = none\n",
       "no-request-gives-up", "requests=8000 attempts=1600"},
      {kPayments + "max-attempts = none\ndeadline = 5s\n", ""},
      // Clients that share nothing need no processes.
      {kPayments + "clients = 7\n", "unused-by-open-arrivals"},
      {kPayments + "clients = 7\nlambda = 1s\n", "unused-by-open-arrivals"},
      {kPayments + "clients = 7\nretry-budget = 10%\n", "unused-by-open-arrivals-processes",
       "clients=7"},
      {kPayments + "clients = 7\nretry-budget = 10%\nprocesses = 3\n", "unused-by-open-arrivals"},
      {"strategy = exponential\nbackoff-base = 10s\nbackoff-cap = 1s\n", "base-above-cap",
       "base=10 cap=1"},
      {"strategy = none\nmax-retries = 5\n", "none-retries", "retries=5"},
      {table + "2\n", "table-not-reached", "retries=2 numbers=6"},
      {table + "5\n", "table-not-reached"},
      {table + "6\n", ""},
      {table + "none\n", ""},
      {"strategy = grpc\noutage = errors:0.3:500\n", "status-not-retried", "status=500"},
      {"strategy = grpc\noutage = errors:0.3\n", ""},
      {kPayments + "retry-on = 500+timeout\noutage = throttle:20\n", "status-not-retried",
       "status=429"},
      {kPayments + "outage = throttle:20\n", ""},
      {"outage = throttle:20\n", "curve-throttled"},
      {open + "outage = throttle:1000\n", "throttle-above-load", "rate=1000 load=150"},
      {open + "outage = throttle:100\n", ""},
      {open + "rate = 100\nrate-limit = 120\noutage = throttle:130\n", "throttle-above-limit",
       "rate=130 limit=120"},
      {open + "retry-on = hinted\noutage = throttle:50\n", ""},
      // Nothing random spreads the workers of this job; a random time or wait does, and one is alone.
      {job + "strategy = none\n", "job-in-step", "workers=20"},
      {job + "backoff-base = 1s\njitter = none\n", "job-in-step"},
      {job + "backoff-base = 1s\njitter = full\n", ""},
      {job + "strategy = none\nservice-time = exponential:50ms\n", ""},
      {job + "strategy = none\ntasks = 1\n", ""},
      {"lambda = 10h\nbackoff-base = 5s\noutage = reconnect\n", "reconnect-waits", "base=1"},
      {"lambda = 10h\nstrategy = exponential\noutage = reconnect\n", "reconnect-waits"},
      {"lambda = 10h\nbackoff-base = 5s\noutage = drop\n", ""},
      {"lambda = 10h\nbackoff-base = 5s\nreconnect-base = 2s\noutage = reconnect\n", ""},
      {"lambda = 10h\noutage = reconnect\n", ""},
      {kPayments + "client-rate = 50/s\nprocesses = 4\n", "client-rate-below-load",
       "load=400 through=200"},
      // Ten clients ask for 10 / 100 ms = 100/s, 10/s are admitted. Each of the nine that are not being answered
      // calls every 100 ms: 90/s are turned away beside the 10/s.
      {limited + "strategy = fixed\n", "above-rate-limit",
       "clients=10 load=100 limit=10 attempts=100 wasted=0.9 think=0.9"},
      // With a budget of 10 %, r first attempts a second take the clients' time: r (0.1 ms + 0.1 x 250 ms) = 10,
      // so r = 398, 1.1 r = 438, by nine of ten clients 394.
      {limited + "growth = constant\nbackoff-base = 500ms\njitter = full\nretry-budget = 10%\n",
       "above-rate-limit", "attempts=390"},
      {limited + "strategy = responsive\n", "above-rate-limit-adapting"},
      {limited + "client-rate = 10/s\n", ""},
      {limited + "client-rate = 20/s\n", "above-rate-limit-held", "processes=1 load=20"},
      {limited + "processes = 10\nclient-rate = 10/s\n", "above-rate-limit-held",
       "processes=10 load=100 each=1"},
      {hasty + "polly\n", "no-capacity-left no-pause-at-gate", "attempts=1e7"},
      {hasty + "none\noutage = drop\n", "no-capacity-left no-pause-if-refused"},
      {hasty + "polly\nlambda = 10s\n", ""},
      // An idle service needs the delay of the hedge, or more.
      {hedged + "50ms\n", ""},
      {hedged + "20ms\n", ""},
      {hedged + "19ms\n", "half-hedged"},
      {kKept + "pool-size = 2\n", "connections-below-load"},
      {kClients + "timeout = none\nstrategy = fixed\n", ""},
      {kClients + "timeout = none\nstrategy = fixed\ndeadline = 3s\n", ""},
      {kHerd + "reconnect-base = 5s\n", ""},
      {kHerd + "clients = 12000\nreconnect-base = 5s\n", "herd-without-room no-capacity-left"},
  };
  for (const Case& each : cases) {
    OutlookInput input = input_of(each.settings);
    input.turnaround = 100us;
    const Statements warnings = look_ahead(input).warnings;
    std::string all;
    for (const Statement& one : warnings) all += (all.empty() ? "" : " ") + std::string(one.id);
    EXPECT_EQ(all, each.ids) << each.settings;
    for (const std::string_view one : split(each.numbers, ' ')) {
      if (one.empty()) continue;
      ASSERT_FALSE(warnings.empty());
      const std::size_t equals = one.find('=');
      const double value = std::stod(std::string(one.substr(equals + 1)));
      EXPECT_NEAR(number_of(warnings.back(), one.substr(0, equals)), value, 0.004 * value)
          << each.settings << one;
    }
  }
}

// Divisions by zero, and times that are as long as possible.
TEST(Outlook, CopesWithExtremes) {
  for (const char* settings :
       {"lambda = 0s\nbase-delay = 0s\n", "base-delay = 0s\n", "curve-factor = 1\n",
        "timeout = 2000000h\n", "service = workers\nservice-time = 0s\n",
        "arrivals = open\nrate = 1e9\ndeadline = 100000h\ntimeout = 1ms\n",
        "arrivals = job\nmax-retries = 0\n", "pacer = yes\n", "limit = 0\nk = 1e-9\n"}) {
    for (const char* outage : {"freeze", "drop", "slow:3", "errors:0.5", "capacity:0.5",
                               "throttle:20", "load:3", "reconnect"}) {
      for (const OutlookFigure& each :
           outlook_figures(look(std::string(settings) + "outage = " + outage + '\n'))) {
        const auto* number = std::get_if<double>(&each.value);
        EXPECT_FALSE(number && std::isnan(*number)) << settings << outage << each.id;
      }
    }
  }
}

// What --explain shows is read at a glance.
TEST(Outlook, HasFewFigures) {
  for (const std::string& settings :
       {std::string(), kPayments, kPayments + "retry-budget = finagle\nrate = 250\n",
        kPayments + "service-time = lognormal:80ms\nretry-budget = 10%\n",
        std::string("strategy = resilience4j\nshed-above = 200\n"),
        std::string("strategy = grpc\n"), std::string("strategy = aws-standard\n"),
        std::string("strategy = finagle\n")}) {
    const auto all = outlook_figures(look(settings));
    const auto shown = [](const OutlookFigure& each) {
      return each.shown != OutlookFigure::Shown::kJson;
    };
    EXPECT_LE(std::ranges::count_if(all, shown), 14) << settings;
  }
}

// 3,000 / (10 + 2 * 0.1) and 3,000 / (10 + 3 * 2 + 2 * 0.1)
TEST(Outlook, KnowsLessIfNothingIsKnownOfTheService) {
  OutlookInput input = input_of("max-attempts = 3\n");
  input.service.reset();
  const Outlook outlook = look_ahead(input);
  EXPECT_NEAR(outlook.retries.errors.rate, 3000 / 10.2, 1e-6);
  EXPECT_NEAR(outlook.retries.timeouts.rate, 3000 / 16.2, 1e-6);
  EXPECT_FALSE(outlook.service);
}

}  // namespace
}  // namespace retrystorm
