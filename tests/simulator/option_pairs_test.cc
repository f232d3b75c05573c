// Runs every pair of option values at least once, in short simulated runs, and checks the invariants
// of every run. Most faults need a combination of two options.

#include "common/output/line_report.h"
#include "model/base/queues.h"
#include "model/base/random.h"
#include "model/retry/strategies.h"
#include "model/service/service.h"
#include "simulator/scenario_options.h"
#include "simulator/server_node.h"
#include "simulator/simulation.h"
#include "tests/support/test.h"

namespace retrystorm {
namespace {

// --- The runs --------------------------------------------------------------------------------

// The value of each option in a run. Empty: the option is not given.
using Row = std::map<std::string, std::string>;

struct Parameter {
  std::string name;
  std::vector<std::string> values;  // the first one is empty
};

// Values of options without choices. Each makes a difference even in so small a run.
const std::map<std::string, std::vector<std::string>> kOtherValues{
    {"at",
     {"12s set shed-above=3", "8s set rate-limit=9; 14s restart", "12s capacity 0.3",
      "12s load 4; 16s load 0.5"}},
    {"backlog", {"2"}},
    {"backoff-base", {"0s", "1s"}},
    {"backoff-cap", {"200ms"}},
    {"capacity", {"5s 0.5; 10s..14s 1.5"}},
    {"deadline", {"900ms"}},
    {"error-share", {"0.2"}},
    {"error-status", {"502"}},
    {"hedge", {"0s", "100ms", "p90"}},
    {"hedge-budget", {"0.05"}},
    {"hedge-max", {"3"}},
    {"limit", {"1"}},
    {"max-connections", {"3"}},
    {"max-retries", {"0", "2"}},
    {"outage",
     {"drop", "slow:5", "errors:0.5", "errors:0.5:500", "capacity:0.3", "throttle:9", "load:3",
      "reconnect"}},
    {"outage-for", {"0s"}},
    {"pool-idle", {"200ms"}},
    {"pool-max-idle", {"1"}},
    {"pool-size", {"1", "3"}},
    {"pool-wait", {"0s", "100ms"}},
    {"processes", {"1", "7"}},
    {"queue-length", {"0", "4"}},
    {"rate-burst", {"1", "5s"}},
    {"rate-limit", {"15"}},
    {"rejection-cost", {"7ms"}},
    {"replicas", {"3"}},
    {"retry-after-max", {"500ms"}},
    {"server-idle", {"150ms"}},
    {"shed-above", {"2"}},
    {"streams", {"1", "3"}},
    {"syn-linear-timeouts", {"0"}},
    {"throttled-base", {"300ms"}},
    {"timeout", {"150ms"}},
    {"workers", {"2"}},
};

std::vector<Parameter> parameters() {
  ScenarioOptions options;
  OptionList list;
  declare_options(list, options);
  std::vector<Parameter> all;
  for (const Option& option : list.all()) {
    Parameter parameter{.name = option.name, .values = {""}};
    const auto add = [&](const auto& values) {
      parameter.values.insert(parameter.values.end(), values.begin(), values.end());
    };
    add(option.choices);
    const auto other = kOtherValues.find(option.name);
    if (other != kOtherValues.end()) {
      add(other->second);
    } else {
      add(option.examples);
    }
    if (option.name == "strategy") {
      for (const NamedStrategy& each : named_strategies()) parameter.values.emplace_back(each.name);
    }
    if (parameter.values.size() > 1) all.push_back(std::move(parameter));
  }
  return all;
}

// Makes rows until every two values of different parameters are in a row together. A row is made
// greedily: the next value is the one with the most new pairs with the values chosen so far. Of
// several such values, one is drawn.
class PairRows {
 public:
  explicit PairRows(const std::vector<Parameter>& parameters) : parameters_(parameters) {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      for (const std::string& text : parameters[i].values) all_.push_back({i, text});
    }
    missing_.assign(all_.size(), std::vector<bool>(all_.size(), true));
  }

  std::vector<Row> rows() {
    std::vector<Row> rows;
    for (std::size_t a = 0; a < all_.size(); ++a) {
      for (std::size_t b = 0; b < all_.size(); ++b) {
        if (all_[a].of < all_[b].of && missing_[a][b]) rows.push_back(row_with(a, b));
      }
    }
    return rows;
  }

 private:
  struct Value {
    std::size_t of;  // which parameter
    std::string text;
  };

  Row row_with(std::size_t a, std::size_t b) {
    std::vector<std::size_t> chosen{a, b}, best;
    for (std::size_t value = 0; value < all_.size();
         value += parameters_[all_[value].of].values.size()) {
      const std::size_t of = all_[value].of;
      if (of == all_[a].of || of == all_[b].of) continue;
      std::ptrdiff_t most = 0;
      best.clear();
      for (std::size_t i = 0; i < parameters_[of].values.size(); ++i) {
        const auto is_new = [&](std::size_t other) { return missing_[value + i][other]; };
        const auto news = std::count_if(chosen.begin(), chosen.end(), is_new);
        if (news > most) best.clear();
        most = std::max(most, news);
        if (news == most) best.push_back(value + i);
      }
      const double any = random_.uniform() * static_cast<double>(best.size());
      chosen.push_back(best[static_cast<std::size_t>(any)]);
    }
    Row named;
    for (const std::size_t each : chosen) {
      for (const std::size_t other : chosen) missing_[each][other] = false;
      named[parameters_[all_[each].of].name] = all_[each].text;
    }
    return named;
  }

  const std::vector<Parameter>& parameters_;
  std::vector<Value> all_;  // of all parameters
  std::vector<std::vector<bool>> missing_;
  ClientRandom random_{1, 0};
};

// Twenty clients for twenty seconds, and a service with about the capacity for them. The run begins
// with the outage, because a trace does so too, and must have all requests.
constexpr const char* kSmall =
    "clients = 20\nlambda = 300ms\nrate = 40\ntasks = 60\ncalls = 5\n"
    "workers = 4\nlimit = 4\nk = 3\nservice-time = 60ms\nbase-delay = 60ms\n"
    "outage-at = 0s\noutage-for = 3s\nobserve = 18s\ntime-limit = 21s\ntimeout = 700ms\n";

ScenarioOptions options_of(const Row& row) {
  ScenarioOptions options;
  OptionList list;
  declare_options(list, options);
  list.apply(kSmall);
  for (const Option& option : list.all()) {  // in this order: some set the defaults of later ones
    const auto found = row.find(option.name);
    if (found != row.end() && !found->second.empty()) list.set(option.name, found->second);
  }
  options.report_interval = 1s;
  return options;
}

std::string command_of(const Row& row) {
  std::string text;
  for (const auto& [name, value] : row) {
    if (!value.empty()) text += " --" + name + "='" + value + "'";
  }
  return text;
}

// --- What must hold ---------------------------------------------------------------------------

struct Watcher final : RunObserver, ServiceObserver {
  RunInterval last;
  ServerInterval last_of_service;
  ServiceCounts service;
  std::vector<TracedRequest> requests;

  void on_interval(const RunInterval& interval) override { last = interval; }
  void on_request(const TracedRequest& request) override { requests.push_back(request); }
  void on_interval(Duration, Duration, const ServerInterval& interval) override {
    last_of_service = interval;
    service = service - (ServiceCounts() - interval.counts);  // adds: there is no operator +
  }
};

struct WatchedRun {
  std::string printed;
  SimulationResult result;
  Watcher watcher;
};

WatchedRun watched_run(Scenario scenario, std::size_t trace) {
  scenario.trace = trace;
  WatchedRun run;
  std::ostringstream out;
  LineReport lines(out);
  ServiceLineReport service_lines(out, ServiceLineReport::Stamp::kVirtual);
  run.result = Simulation(scenario, {.run = {&lines, &run.watcher},
                                     .service = {&service_lines, &run.watcher}})
                   .run();
  run.printed = out.str();
  return run;
}

// The requests of probes that may reach the service: of each host one in each period. They count as its requests.
std::uint64_t most_probes(const Scenario& scenario) {
  const Probe& probe = scenario.hosts.life.probe;
  if (!probe.on() || probe.own_port) return 0;
  return scenario.hosts.replicas * static_cast<std::uint64_t>(scenario.length / probe.every + 1);
}

void expect_sound(const Summary& summary, const Watcher& watcher, const Scenario& scenario) {
  const Counts& counts = summary.counts;
  const ReconnectResult connects = summary.reconnect.value_or(ReconnectResult());
  // A job may end between two intervals, so the last interval does not cover its end.
  const bool whole = scenario.workload.arrivals != Arrivals::kJob;
  EXPECT_LE(counts.retries, counts.attempts);
  EXPECT_LE(counts.attempts - counts.retries, counts.requests);
  EXPECT_LE(counts.throttled, counts.errors);
  const std::uint64_t over = counts.ok + counts.gave_up();
  EXPECT_LE(over, counts.requests);
  const RequestTimes times = summary.latencies.requests();
  EXPECT_EQ(times.ended.count(), over);
  EXPECT_EQ(times.so_far.count(), counts.requests - over);
  EXPECT_LE(counts.failing, counts.requests - over);
  const ClientStates& clients = watcher.last.clients;
  // Hedged attempts that have lost have no result.
  const bool hedged = scenario.workload.retry.hedge.any();
  EXPECT_LE(counts.hedges, counts.retries);
  EXPECT_LE(counts.hedges_won, std::min(counts.hedges, counts.ok));
  EXPECT_GE(counts.attempts, counts.finished());
  if (whole && !hedged) {
    // Lost attempts that pools have sent again have no result.
    const std::uint64_t lost = summary.kept ? summary.kept->sent_again : 0;
    EXPECT_EQ(counts.attempts, counts.finished() + clients.in_flight + lost);
    EXPECT_EQ(counts.hedges, 0);
  }
  if (scenario.workload.arrivals == Arrivals::kClosed) {
    EXPECT_LE(counts.requests - over, scenario.workload.clients);
    EXPECT_EQ(clients.thinking + clients.in_flight + clients.waiting_to_retry,
              scenario.workload.clients);
  }

  const ServiceCounts& service = watcher.service;
  const std::uint64_t dropped = service.rejected[index_of(Rejection::kDropped)];
  // Those that were admitted first, and rejected later.
  const std::uint64_t both = service.admitted + service.rejections() - service.offered;
  EXPECT_GE(both, dropped);
  EXPECT_LE(both, dropped + service.rejected[index_of(Rejection::kAbandoned)]);
  EXPECT_LE(service.failed + service.served, service.completed);
  EXPECT_GE(service.served, whole ? counts.ok + connects.back : 0);  // each connect is a request
  if (whole && !hedged) {
    EXPECT_LE(service.served, counts.ok + connects.back + most_probes(scenario));
    EXPECT_GE(service.served, counts.ok + connects.back);
  }
  const std::uint64_t gone =
      service.completed + both + service.lost + watcher.last_of_service.concurrency;
  EXPECT_LE(gone, service.admitted);
  const bool refusing =
      scenario.service.workers.rejection_cost > 0s;  // some are still being dropped
  if (scenario.service.abandoned != Abandoned::kCancel && !refusing) {
    EXPECT_EQ(gone, service.admitted);
  }
  EXPECT_LE(service.offered, counts.attempts + connects.attempts + most_probes(scenario));
  EXPECT_LE(watcher.last_of_service.waited_for, watcher.last_of_service.concurrency);
  if (whole && !hedged) {
    EXPECT_LE(watcher.last_of_service.waited_for,
              clients.in_flight + clients.disconnected.value_or(0));
  }
}

// Compares the sums over all traced requests with the counts of the run.
void expect_same(const std::vector<TracedRequest>& requests, const WatchedRun& run,
                 const Scenario& scenario) {
  const Counts& counts = run.result.summary.counts;
  std::uint64_t sent = 0, ok = 0, timed_out = 0, gave_up = 0, unsent = 0, accepted = 0;
  std::map<int, std::uint64_t> errors;  // by status
  for (const TracedRequest& request : requests) {
    sent += request.sent();
    if (request.sent() == 0) ++unsent;
    if (request.gave_up) ++gave_up;
    for (const TracedAttempt& each : request.attempts) {
      if (each.queue) ++accepted;
      if (each.fate == AttemptFate::kOk) ++ok;
      if (each.fate == AttemptFate::kTimedOut) ++timed_out;
      if (each.fate == AttemptFate::kError) ++errors[each.status];
    }
  }
  EXPECT_EQ(requests.size(), counts.requests);
  EXPECT_EQ(sent, counts.attempts);
  EXPECT_EQ(unsent, counts.unsent());
  EXPECT_EQ(ok, counts.ok);
  EXPECT_EQ(timed_out, counts.timed_out);
  EXPECT_EQ(gave_up, counts.gave_up());

  // The service is offered every attempt that was accepted, unless it was reset after that.
  // Connects are not traced.
  const ServiceCounts& service = run.watcher.service;
  const auto& reconnect = run.result.summary.reconnect;
  const bool loses = scenario.outage.kind == Disturbance::Kind::kDrop || reconnect ||
                     std::any_of(scenario.changes.begin(), scenario.changes.end(),
                                 [](const Change& each) { return each.restart; });
  const bool whole = scenario.workload.arrivals != Arrivals::kJob;
  const std::uint64_t probes = most_probes(scenario);
  EXPECT_LE(service.offered, accepted + probes + (reconnect ? reconnect->attempts : 0));
  if (whole && !loses) {
    EXPECT_GE(service.offered, accepted);
    EXPECT_LE(service.offered, accepted + probes);
  }

  // There are at most as many errors with a status as requests turned away or failed with it.
  if (!whole) return;
  std::map<int, std::uint64_t> most;
  for (std::size_t i = 0; i < kRejections.size(); ++i) {
    if (i == index_of(Rejection::kError)) continue;
    int status = kRejections[i].status;
    if (i == index_of(Rejection::kRateLimited)) status = scenario.service.rate_limit.status;
    if (i == index_of(Rejection::kShed)) status = scenario.service.shed_status;
    most[status] += service.rejected[i];
  }
  std::set<int> of_errors{scenario.service.errors.status};  // an outage may set another status
  for (const Change& each : scenario.changes) of_errors.insert(each.service.errors.status);
  for (const int status : of_errors) {
    most[status] += service.failed + service.rejected[index_of(Rejection::kError)];
  }
  for (const auto& [status, count] : errors) {
    if (status != 0) {
      EXPECT_LE(count, most[status]) << status;
    }
  }
}

// --- The service in both engines ---------------------------------------------------------------

struct Answered {
  TimePoint at;
  std::uint32_t number;
  Answer answer;
  bool operator==(const Answered&) const = default;
};

// Its clients wait for every answer.
struct PatientCaller final : Caller {
  std::vector<Answered> answers;

  bool waits_for(const Attempt&) const override { return true; }
  void let_in(TimePoint, const Attempt&) override {}
  void take_answer(TimePoint now, const Attempt& attempt, const Answer& answer) override {
    answers.push_back({now, attempt.number, answer});
  }
  void lose_connection(TimePoint, const Attempt&, NoAnswer) override { FAIL(); }
  void lose_idle_connections() override { FAIL(); }
  bool lose_longest_idle_connection() override { return false; }
  void expect(const Attempt&) const override {}
};

// Drives a service like the real server's pool. There another thread answers the requests that are
// taken or turned away. Here this happens at once.
class PoolLike {
 public:
  PoolLike(const ServiceOptions& options, std::uint64_t seed)
      : max_connections_(options.most_connections()), service_(options, seed) {}

  void arrive(TimePoint now, std::uint32_t number) {
    parked_.push(number);
    accept(now);
  }
  TimePoint next_event() const { return service_.next_event(); }
  void take(TimePoint now) {
    if (auto taken = service_.take(now)) answer(now, taken->item, taken->answer, taken->admitted);
    accept(now);
  }

  std::vector<Answered> answers;

 private:
  void accept(TimePoint now) {
    while (!parked_.empty() && service_.connections() < max_connections_) {
      std::uint32_t number = parked_.take();
      const Answer at_once = service_.arrive(now, number).answer;
      if (at_once.rejection) answer(now, number, at_once, now);
    }
  }
  void answer(TimePoint now, std::uint32_t number, const Answer& with, TimePoint admitted) {
    service_.leave(now, with, true, admitted);
    answers.push_back({now, number, with});
  }

  const std::size_t max_connections_;
  Fifo<std::uint32_t> parked_;  // in the kernel's queue
  Service<std::uint32_t> service_;
};

void expect_engines_agree(ServiceOptions options, std::uint64_t seed) {
  constexpr std::uint32_t kRequests = 300;
  options.backlog = kRequests;  // no request has to connect again
  PatientCaller caller;
  ServerNode node(options, seed, 4, 1h, caller);
  PoolLike pool(options, seed);
  ClientRandom random(seed, 0);
  TimePoint now{}, arrival{};
  for (std::uint32_t sent = 0; sent < kRequests || caller.answers.size() < kRequests;) {
    const TimePoint due = sent < kRequests ? arrival : TimePoint::max();
    ASSERT_EQ(node.next_event(), pool.next_event()) << "after " << sent << " requests";
    now = std::min(due, std::max(now, node.next_event()));
    ASSERT_NE(now, TimePoint::max()) << "no answer to " << kRequests - caller.answers.size();
    if (now == due) {
      node.connect(now, {0, sent});
      pool.arrive(now, sent);
      ++sent;
      arrival = now + random.exponential(20ms);
    } else {
      node.take(now);
      pool.take(now);
    }
  }
  EXPECT_TRUE(caller.answers == pool.answers);
  // The status is the configured one, whether or not turning a request away takes a worker's time.
  for (const Answered& each : caller.answers) {
    if (each.answer.rejection == Rejection::kRateLimited) {
      ASSERT_EQ(each.answer.status(), options.rate_limit.status);
    }
  }
}

bool can_be(const ScenarioOptions& options) {
  try {
    make_scenario(options, 1);
  } catch (const std::invalid_argument&) {
    return false;
  }
  return true;
}

TEST(OptionPairs, EachPairOfValuesKeepsWhatMustHold) {
  const std::vector<Parameter> all = parameters();
  std::vector<Row> rows = PairRows(all).rows();
  EXPECT_GT(all.size(), 50u);
  // A sanitizer makes this 25 times as long.
  const std::size_t step = RETRYSTORM_SANITIZED ? 8 : 1;
  for (std::size_t i = 0; i < rows.size(); i += step) {
    Row& row = rows[i];
    // An autoscaler follows the use of a rate limit, and is refused without one.
    if (!row["autoscale"].empty() && row["rate-limit"].empty()) row["rate-limit"] = "15";
    // Who asks an open breaker again at once does so millions of times.
    if (row["when-refused"] == "back-off" && row["backoff-base"] == "0s" &&
        !row["breaker"].empty()) {
      row["backoff-base"] = "1s";
    }
    // A library may wait for a connection for longer than these timeouts, which then must not include it.
    if (row["connections"] == "library") row["pool-wait-counts"].clear();
    SCOPED_TRACE(command_of(row));
    ScenarioOptions options = options_of(row);
    const std::uint64_t seed = 1 + i;
    if (!can_be(options)) options.hosts = {};  // connections to them are not kept
    if (!can_be(options)) options.workload.retry.hedge = {};
    const Scenario scenario = make_scenario(options, seed);
    const WatchedRun followed = watched_run(scenario, 1'000'000);
    // What is cut, since clients fail without end and without a wait, has no last interval.
    if (!followed.result.cut) {
      expect_sound(followed.result.summary, followed.watcher, scenario);
      expect_same(followed.watcher.requests, followed, scenario);
    }
    const WatchedRun again = watched_run(scenario, 0);
    EXPECT_EQ(followed.printed, again.printed);
    expect_engines_agree(scenario.service, seed);
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace retrystorm
