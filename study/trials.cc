#include "study/trials.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <stdexcept>

#include "common/output/json_text.h"
#include "model/base/text.h"
#include "model/run/outlook.h"
#include "simulator/syn_repeats.h"
#include "study/judged_runs.h"
#include "words/words.h"

namespace retrystorm {
namespace {

using With = std::vector<std::pair<std::string, std::string>>;

// What the rows of the table ask about a setting, and the trials that they make of it.
struct Asked : AskedRow {
  explicit Asked(const AskedRow& row) : AskedRow(row) {}

  // With these options. Statements without values are their ids.
  Trial& add(Statement note, With with) {
    Trial& trial = add_as_it_is(std::move(note));
    trial.with = std::move(with);
    OptionList list;
    declare_options(list, trial.options);
    for (const auto& [name, value] : trial.with) list.set(name, value);
    return trial;
  }
  Trial& add(const char* note, With with) { return add(Statement{note, {}}, std::move(with)); }
  // For a change that no option says.
  Trial& add_as_it_is(Statement note) {
    return trials.emplace_back(Trial{.note = std::move(note), .options = options});
  }
  bool is_given(std::initializer_list<std::string_view> names) const {
    return std::any_of(names.begin(), names.end(),
                       [this](std::string_view each) { return given.contains(each); });
  }

  const WorkloadOptions& workload = options.workload;
  const ServiceOptions& service = options.service;
  const bool has_outage = options.outage_length() > Duration::zero();
  const bool is_frozen = options.outage().what.kind == Disturbance::Kind::kFreeze && has_outage;
  const bool is_one = !options.graph.on();
  const bool is_chain = options.graph.chain.size() > 1 && has_outage;
  const bool has_workers = service.capacity == Capacity::kWorkers;
  const bool is_open = workload.arrivals == Arrivals::kOpen;
  const bool is_job = workload.arrivals == Arrivals::kJob;
  const bool has_timeout = workload.has_timeout();
  const bool comes_back = !result.mostly_not_back();
  const bool reconnects = loses_connections(options.timeline.outage);
  std::vector<Trial> trials{};
};

// A service that is down for most seeds may owe it to requests whose clients have hung up. In a chain they also take
// workers from others.
void try_abandoned(Asked& asked) {
  const bool chained = asked.options.graph.chain.size() > 1;
  if ((!chained && !asked.result.mostly_down()) || asked.service.abandoned != Abandoned::kServe) {
    return;
  }
  asked.add("if-abandoned", {{"abandoned", "skip"}}).may_win = chained;
}

// Whether it accepts more than it serves decides what bounds its queue, and so does a length of the queue itself. Who
// gave a queue in the server has said so.
void try_accepts(Asked& asked) {
  const GraphOptions& graph = asked.options.graph;
  const bool has_threads = graph.on() ? graph.waiting == Waiting::kHold : asked.has_workers;
  if (!has_threads || !asked.has_outage ||
      asked.is_given({"max-connections", "queue-length", "queue-order", "queue-drop"})) {
    return;
  }
  if (!asked.workload.connections.multiplexed()) {
    asked.add("if-accepts", {{"accepts", "when-free"}});
  }
  // Passenger's max_request_queue_size is 100. Answers from a longer one may come too late.
  constexpr std::size_t kLengthOfPassenger = 100;
  if (asked.is_one && asked.has_workers && asked.result.mostly_down() &&
      asked.service.workers.queue_length == WorkerSettings::kUnbounded) {
    const std::size_t length =
        std::min(advised_queue_length(look_ahead(asked.options)).value_or(kLengthOfPassenger),
                 kLengthOfPassenger);
    // One that accepts only what it serves has its queue in the kernel: what is known of that is what could be changed.
    const bool in_kernel = asked.service.accepts_when_free();
    asked.add("if-queue", {{in_kernel ? "backlog" : "queue-length", std::to_string(length)}})
        .is_estimate = in_kernel;
  }
}

// Those of common servers: 128 is the limit of Linux before 5.4 (net.core.somaxconn), 511 is that of nginx and Node.js,
// and 4096 is the limit since Linux 5.4 (Documentation/networking/ip-sysctl), which servers in Go use.
constexpr std::array<std::size_t, 3> kUsualBacklogs{128, 511, 4096};
constexpr std::size_t kBacklogOfTomcat =
    100;  // if only its workers hang, it accepts many more connections

// Only a frozen process finds a full accept queue. Multiplexed connections outlast the freeze. At another scale a
// backlog is none that a server has. First those that are likely to turn the answer: a service that comes back may not
// do so with a larger backlog.
void try_backlogs(Asked& asked) {
  if (!asked.is_frozen || asked.options.scale != 1) return;
  const auto add = [&asked](std::size_t backlog) -> Trial& {
    return asked.add("if-backlog", {{"backlog", std::to_string(backlog)}});
  };
  if (!asked.is_one) {
    if (!asked.is_chain) return;
    for (const std::size_t each : {4096, 128}) add(each).may_win = true;
    return;
  }
  const std::size_t now = asked.service.backlog;
  if ((asked.is_given({"backlog"}) && now != kBacklogOfTomcat) ||
      asked.workload.connections.multiplexed()) {
    return;
  }
  std::vector<std::size_t> larger, smaller;
  if (now > kBacklogOfTomcat) smaller.push_back(kBacklogOfTomcat);
  for (const std::size_t each : kUsualBacklogs) (each > now ? larger : smaller).push_back(each);
  std::reverse(smaller.begin(), smaller.end());
  const bool down = asked.result.mostly_down();
  for (const auto& some : {down ? smaller : larger, down ? larger : smaller}) {
    // Of a backlog that was given it is no better known.
    for (const std::size_t each : some) add(each).is_estimate = true;
  }
}

// Of all hosts together.
double capacity_in_all(const Asked& asked) {
  const auto service = look_ahead(asked.options).service;
  return service ? service->capacity : kUnlimited;
}

// Nobody knows load and service time to a tenth, and a little more may be beyond what comes back.
void try_load(Asked& asked) {
  constexpr double kMore = 1.1;
  const WorkloadOptions& workload = asked.workload;
  if (!asked.has_outage || !asked.is_one || asked.is_job || workload.plan.file) return;
  if (!asked.is_open || workload.plan.periodic()) {
    const auto clients = std::llround(static_cast<double>(workload.clients) * kMore);
    asked.add("if-load", {{"clients", std::to_string(clients)}}).is_estimate = true;
    return;
  }
  const double rate = workload.rate * kMore;
  if (asked.has_workers && rate >= capacity_in_all(asked)) return;  // that is too much
  asked.add("if-load", {{"rate", print_number(to_digits(rate, 3))}}).is_estimate = true;
}

// With this share of its capacity. A tenth of few workers is none, or too many: there each needs longer instead.
void add_capacity(Asked& asked, const char* note, double share) {
  const WorkerSettings& settings = asked.service.workers;
  const auto workers = static_cast<double>(settings.workers);
  constexpr double kNear = 0.3;  // of the change
  const double off = std::abs(std::round(share * workers) / workers - share);
  if (!asked.has_workers || off <= kNear * std::abs(1 - share)) {
    asked.add(note, {{"capacity", "0s " + print_number(to_digits(share, 4))}});
    return;
  }
  const double mean = to_seconds(settings.service_time.mean());
  if (mean <= 0 || asked.is_given({"capacity"})) return;
  const double longer = to_digits(mean / share, 4) / mean;
  asked.add(note, {{"service-time", settings.service_time.times(longer).text()}}).is_estimate =
      true;
}

void try_capacity(Asked& asked) {
  constexpr double kLess = 0.9;
  const bool is_too_little = asked.has_workers && asked.is_open &&
                             arrival_rate(asked.workload) >= kLess * capacity_in_all(asked);
  if (!asked.has_outage || !asked.is_one || asked.is_job || is_too_little) return;
  add_capacity(asked, "if-capacity", kLess);
}

#ifndef __EMSCRIPTEN__  // the page has no measuring
// As far as the service was measured, it may have so much less, or more.
void try_measured(Asked& asked) {
  const double within = asked.options.capacity_within;
  if (within == 0 || !asked.has_outage || !asked.is_one) return;
  add_capacity(asked, "if-measured-less", 1 - within);
  add_capacity(asked, "if-measured-more", 1 + within);
}
#endif

// How long a client waits decides from which queue on answers come too late, and how often it tries. Most HTTP clients
// wait for longer than the experiment's. Of a herd that comes back the last ones wait for as long as the queue takes.
// With a timeout above a moment at which kernels repeat dropped SYNs, these come all at once.
void try_timeouts(Asked& asked) {
  const Duration timeout = asked.workload.timeout;
  if (!asked.is_one) return;
  const auto add = [&asked](Duration other, const char* note) -> Trial& {
    return asked.add(note, {{"timeout", format_duration(other)}});
  };
  if (asked.reconnects && asked.has_timeout && asked.comes_back) {
    add(timeout / 2, "if-timeout-half").is_estimate = true;
  }
  if (asked.has_workers && asked.has_timeout && asked.has_outage && !asked.reconnects) {
    add(5 * timeout, "if-timeout");
    add(timeout / 4, "if-timeout");
  }
  if (!look_ahead(asked.options).repeats_syns) return;
  const std::size_t linear = asked.options.syn_linear_timeouts, other = linear == 0 ? 4 : 0;
  const Duration last = SynRepeats(linear, timeout).last();
  if (asked.has_timeout && last > Duration::zero()) {
    Trial& below = add(std::chrono::floor<std::chrono::seconds>(last), "if-timeout-below-syns");
    below.is_estimate = below.must_turn = true;
  }
  if (SynRepeats(other, timeout).last() != last) {
    asked.add(linear == 0 ? "if-linux-new" : "if-linux-old",
              {{"syn-linear-timeouts", std::to_string(other)}});
  }
}

// A service that hangs may go on, slowly: then its queue has no end at the accept queue. One that crashes has no queue.
// Who comes back after this outage may not after a longer one, and clients that give up in it leave no queue, which
// those of a shorter one may. A budget that saves for longer than the calm of the run pays for more retries.
void try_outages(Asked& asked) {
  const Duration length = asked.options.outage_length();
  const auto lasting = [&asked](Duration other, const char* note) {
    asked.add(note, {{"outage-for", format_duration(other)}}).is_estimate = true;
  };
  const auto most = asked.workload.retry.limit.max_retries;
  const bool gives_up = most != LimitSettings::kUnlimited && most > 0;
  if (asked.is_frozen && asked.comes_back && !asked.is_job) {
    if (asked.is_one && gives_up && length > std::chrono::seconds(1)) {
      lasting(length / 2, "if-shorter");
    }
    if (asked.is_chain || asked.has_workers) lasting(2 * length, "if-longer");
  }
  if (asked.is_frozen && asked.has_workers && asked.is_one) {
    if (asked.result.mostly_down()) {
      asked.add("if-crash", {{"outage", "drop"}});
    } else if (asked.comes_back) {
      asked.add("if-slow", {{"outage", "slow:10"}});
    }
  }
  if (asked.has_outage && asked.is_one && !is_action(asked.options.outage().what)) {
    if (const auto saves = look_ahead(asked.options).budget_saves) {
      asked.add({"if-saved", {{"calm", saves->calm}}}, {{"outage-at", format_duration(saves->of)}});
    }
  }
}

// A peak in the calm opens the connections that the pools may have, and keeps them. What is sent on those is not
// counted by the backlog.
void try_peak(Asked& asked) {
  const WorkloadOptions& workload = asked.workload;
  if (workload.connections.multiplexed() || !asked.is_open || workload.plan.on() ||
      !asked.is_frozen || !asked.comes_back) {
    return;
  }
  const Outlook ahead = look_ahead(asked.options);
  if (!ahead.service) return;
  const double room = ahead.connections->room, capacity = ahead.service->capacity;
  if (room == Outlook::kUnlimited || room < 1.5 * ahead.connections->open ||
      workload.rate >= capacity) {
    return;
  }
  // It must be over well before the outage.
  constexpr Duration kFrom = std::chrono::seconds(1), kTo = std::chrono::milliseconds(1500);
  const Duration over = saturating_add(kTo, from_seconds(room / (capacity - workload.rate)));
  if (over > asked.options.outage_at / 2) return;
  const double factor = std::ceil((room / to_seconds(kTo - kFrom) + capacity) / workload.rate);
  Trial& trial = asked.add_as_it_is({"if-peak", {}});
  trial.options.outage_for = asked.options.outage_length();  // a peak would take its place
  trial.with = {{"at", "1s load " + print_number(factor)}, {"at", "1.5s load 1"}};
  std::vector<TimedAction>& actions = trial.options.timeline.at;
  actions.push_back({.t = kFrom, .action = {.kind = Action::Kind::kLoad, .factor = factor}});
  actions.push_back({.t = kTo, .action = {.kind = Action::Kind::kLoad}});
}

// A full pool decides by what an attempt in line costs: attempts wait for a connection, time out there, and are
// retried. Libraries differ in whether it may wait beside the timeout, or not as long. What is sent on connections that
// are kept is not counted by the backlog, and those who share them have fewer.
void try_connections(Asked& asked) {
  const WorkloadOptions& workload = asked.workload;
  const ConnectionSettings& kept = workload.connections;
  if (!asked.has_outage) return;
  if (kept.kept() && asked.has_timeout &&
      look_ahead(asked.options).connections->room != kUnlimited) {
    asked.add("if-pool-wait-apart", {{"pool-wait-counts", "no"}});
    asked.add("if-pool-wait-short", {{"pool-wait", format_duration(workload.timeout / 4)}});
  }
  if (!asked.is_one || !asked.is_frozen) return;
  const std::size_t processes = process_count(workload);
  if (kept.kept()) {
    try_peak(asked);
    const std::size_t own = asked.is_open ? 100 : workload.clients;
    const bool is_known = asked.is_given({"pool-size", "processes", "clients-per-process"});
    if (!is_known && own <= 10'000) {
      With options{{"processes", std::to_string(own)}};
      if (!asked.is_open) options.emplace_back("pool-size", "1");
      asked.add({"if-own-connections", {counted("processes", processes)}}, options);
    }
  } else if (const std::size_t room =
                 2 * asked.service.workers.workers * asked.options.hosts.most();
             asked.has_timeout && asked.has_workers && asked.comes_back && room >= 2 * processes) {
    const std::string size = std::to_string(room / processes);
    asked.add("if-pools", {{"connections", "keep-alive"}, {"pool-size", size}});
    asked.add("if-pools", {{"connections", "multiplexed"}});
  }
}

// What clients retry, and whether their waits have jitter, is not the same in all libraries. The last wait of a table
// repeats for ever, which few policies do that are written as a table.
void try_retries(Asked& asked) {
  const RetrySettings& retry = asked.workload.retry;
  if (retry.backoff.growth == Growth::kTable && !retry.limit.has_deadline() &&
      retry.limit.max_retries == LimitSettings::kUnlimited) {
    const std::string waits = std::to_string(retry.backoff.table.size());
    asked.add("if-table-ends", {{"max-retries", waits}}).may_win = true;
  }
  if (!asked.has_outage || !asked.has_workers || retry.limit.max_retries == 0 ||
      asked.is_given({"strategy"})) {
    return;
  }
  if (asked.result.mostly_down()) {
    RetryOn errors = retry.limit.retry_on;
    errors.timeout = false;
    if (errors != retry.limit.retry_on) {
      asked.add("if-timeouts-retried", {{"retry-on", to_string(errors)}});
    }
  } else if (retry.backoff.jitter.kind == Jitter::Kind::kNone) {
    asked.add("if-no-jitter", {{"jitter", "full"}}).must_turn = true;
  }
}

// A budget is in each process. What it is to pay for may be too rare in each of many.
void try_processes(Asked& asked) {
  const BudgetSettings& budget = asked.workload.retry.process.budget;
  if (!asked.has_outage || !asked.is_one || asked.is_given({"processes", "clients-per-process"})) {
    return;
  }
  const std::size_t count = process_count(asked.workload);
  const std::size_t most = asked.is_open ? 10'000 : asked.workload.clients;
  std::vector<std::size_t> others;
  if (grows_with_processes(budget)) others = {4 * count, count / 4};
  if (!asked.holding.empty() && budget.kind != BudgetSettings::Kind::kNone) {
    others.push_back(20 * count);
  }
  for (const std::size_t other : others) {
    if (other == 0 || other > most) continue;
    asked.add({"if-processes", {counted("processes", count)}},
              {{"processes", std::to_string(other)}});
  }
}

// What costs the service work beside its answers: hedges, which all requests have while it is slow, errors, and
// connects with TLS and a login. Limits that do not save what was not used turn away clients that come together.
void try_costs(Asked& asked) {
  const HedgeSettings& hedge = asked.workload.retry.hedge;
  const RateLimitSettings& limit = asked.service.rate_limit;
  const bool throttles =
      asked.result.throttled_share.value_or(0) > 0 ||
      asked.workload.retry.process.client_rate.kind == ClientRateSettings::Kind::kFixed;
  if (limit.rate > 0 && limit.burst == RateBurst() && throttles) {
    asked.add({"if-burst", {{"calls", bucket_size(limit.burst, limit.rate)}}},
              {{"rate-burst", "1"}});
  }
  if (!asked.has_outage) return;
  if (hedge.any() && hedge.on == HedgeOn::kDelay && hedge.budget == HedgeSettings::kNoBudget) {
    asked.add("if-hedges", {{"hedge-budget", "0.05"}}).may_win = true;
  }
  if ((asked.has_workers || !asked.is_one) &&
      asked.options.timeline.outage.kind == Disturbance::Kind::kErrors) {
    asked.add("if-errors-cost", {{"error-after", "service"}});
  }
  if (asked.reconnects && asked.comes_back) {
    asked.add("if-connects-cost", {{"reconnect-calls", "3"}});
  }
}

// Whether a worker waits for the answers of its calls decides which service of a chain dies. Those that call others
// limit what gets to the services behind, and what waits there. Calls that end well before those who wait for them give
// up leave time for a retry.
void try_chains(Asked& asked) {
  if (!asked.is_chain) return;
  const std::vector<ChainedService>& chain = asked.options.graph.chain;
  const bool held = asked.options.graph.waiting == Waiting::kHold;
  asked.add("if-waiting", {{"waiting", held ? "free" : "hold"}});
  for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
    for (const std::size_t workers : {4 * chain[i].workers, chain[i].workers / 4}) {
      if (workers == 0) continue;
      const bool more = workers > chain[i].workers;
      Trial& trial = asked.add_as_it_is({more ? "if-few-workers" : "if-many-workers", {}});
      trial.what = {"workers-of", {counted("workers", workers), {"service", chain[i].name}}};
      trial.options.graph.chain[i].workers = workers;
      trial.is_estimate = trial.may_win = true;
    }
  }
  if (!asked.has_timeout) return;
  Trial& trial = asked.add_as_it_is({"if-inner-timeouts", {}});
  Duration timeout = asked.workload.timeout;
  std::vector<std::string> all;
  for (std::size_t i = 1; i < chain.size(); ++i) {
    ChainedService& one = trial.options.graph.chain[i];
    timeout = std::min(one.timeout.value_or(timeout), timeout) / 2;
    one.timeout = timeout;
    all.push_back(time_words(timeout));
  }
  trial.what = {"inner-timeouts", {{"timeouts", list_words(all)}}};
  trial.is_estimate = trial.may_win = true;
}

// What balances decides whether a broken host draws the requests, and where retries go whether they find it again.
void try_hosts(Asked& asked) {
  const HostSettings& hosts = asked.options.hosts;
  if (!hosts.many() || !asked.has_outage) return;
  if (Probe probe = hosts.life.probe; probe.on() && !probe.own_port) {
    probe.own_port = true;
    asked.add("if-own-port", {{"probe", to_string(probe)}}).may_win = true;
    if (hosts.life.probes_kill()) {
      asked.add("if-no-restart", {{"probe-does", "stop-traffic"}}).is_estimate = true;
    }
  }
  if (hosts.most() == 1) return;
  const bool by_load = hosts.balance == Balance::kLeast;
  asked.add("if-balance", {{"balance", by_load ? "round-robin" : "least"}}).may_win = true;
  if (hosts.retry_host == RetryHost() && asked.workload.retry.limit.max_retries > 0) {
    asked.add("if-other-host", {{"retry-host", "other"}}).may_win = true;
  }
  if (hosts.replicas > 2 && !hosts.life.scaling.on() && hosts.hit() < hosts.replicas - 1) {
    const std::string less = std::to_string(hosts.replicas - 1);
    asked.add("if-one-less", {{"replicas", less}}).is_estimate = true;
  }
}

// What a file of services says may contradict a value, such as its queues a server that has none.
bool can_be(const ScenarioOptions& options) {
  try {
    make_scenario(options, 1);
    return true;
  } catch (const std::invalid_argument&) {
    return false;
  }
}

double success_in(const CellResult& result, RunPhase phase) {
  return result.phases[static_cast<std::size_t>(phase)].success.value_or(1);
}

// How the runs of a trial differ from those that were asked for.
void compare(AnswerTrials::Outcome& outcome, const CellResult& asked) {
  using Turn = AnswerTrials::Turn;
  const CellResult& tried = outcome.result;
  const auto set = [&outcome](Turn turn, double weight, Statement how) {
    outcome.turn = turn;
    outcome.weight = weight;
    outcome.how = std::move(how);
  };
  const std::size_t decided = tried.decided(), down = tried.down_runs();
  if (decided > 0 && (tried.mostly_down() != asked.mostly_down() ||
                      tried.mostly_not_back() > asked.mostly_not_back())) {
    // Whoever hears that all is well is to hear first that it may not be.
    const double weight =
        (asked.mostly_down() ? 1 : 2) + static_cast<double>(down) / static_cast<double>(decided);
    if (tried.mostly_down()) {
      set(Turn::kDown, weight, {"turns-down", {counted("down", down), counted("runs", decided)}});
    } else if (tried.mostly_not_back()) {
      set(Turn::kNotBack, weight,
          {"turns-not-back", {counted("open", tried.recovering), counted("runs", decided)}});
    } else {
      set(Turn::kBack, weight,
          {"turns-back", {counted("back", tried.back_runs()), counted("runs", decided)}});
    }
    return;
  }
  if (!asked.had_outage()) {
    if (tried.ok_per_s > (1 - kClearlyLess) * asked.ok_per_s) return;
    set(Turn::kLessOk, 1 - tried.ok_per_s / asked.ok_per_s,
        {"turns-ok", {{"ok", tried.ok_per_s}, {"asked", asked.ok_per_s}}});
    return;
  }
  const double after = success_in(asked, RunPhase::kAfter) - success_in(tried, RunPhase::kAfter);
  const double during =
      std::abs(success_in(tried, RunPhase::kDuring) - success_in(asked, RunPhase::kDuring));
  const bool less_after = after >= kClearlyLess;
  if (!less_after && (!outcome.trial.may_win || during < kClearlyLess)) return;
  const RunPhase phase = less_after ? RunPhase::kAfter : RunPhase::kDuring;
  set(less_after ? Turn::kLessAfter : Turn::kInOutage, less_after ? after : during,
      {less_after ? "turns-after" : "turns-during",
       {{"share", ShareOf{success_in(tried, phase)}},
        {"asked", ShareOf{success_in(asked, phase)}}}});
}

// Is the claim broken, as far as the runs say?
bool is_broken(const Expectation& claim, const Judgement& judgement) {
  if (judgement.finding != Finding::kUndecided) return judgement.finding == Finding::kBroken;
  return judgement.value &&
         judge(claim, Figures{{claim.figure, *judgement.value}}).finding == Finding::kBroken;
}

constexpr std::size_t kMostRuns = 60, kRunsOfATenth = 20;

// Each makes trials, or none where the answer cannot hang on it. They are asked about settings that have runs with a
// verdict. A row ends with the first trial of a note that turns the answer.
struct Row {
  std::string_view id;
  void (*make)(Asked& asked);
  bool of_a_tenth = false;
};

constexpr Row kRows[] = {
    {"load", try_load, true},
    {"capacity", try_capacity, true},
#ifndef __EMSCRIPTEN__
    {"measured", try_measured, true},
#endif
    {"backlog", try_backlogs},
    {"outage", try_outages},
    {"timeout", try_timeouts},
    {"connections", try_connections},
    {"retries", try_retries},
    {"abandoned", try_abandoned},
    {"accepts", try_accepts},
    {"processes", try_processes},
    {"costs", try_costs},
    {"hosts", try_hosts},
    {"chain", try_chains},
};

}  // namespace

AnswerTrials::AnswerTrials(const AskedRow& asked, const Evaluator& evaluator, std::uint64_t seed,
                           std::size_t runs)
    : asked_(asked), evaluator_(evaluator), seed_(seed), runs_(std::min(runs, kMostRuns)) {}

std::vector<AnswerTrials::Outcome> AnswerTrials::of_a_tenth() const {
  return tried(true, std::min(runs_, kRunsOfATenth), {});
}

std::vector<AnswerTrials::Outcome> AnswerTrials::others(
    const std::function<void(const Outcome&)>& turned) const {
  return tried(false, runs_, turned);
}

std::vector<AnswerTrials::Outcome> AnswerTrials::tried(
    bool of_a_tenth, std::size_t runs, const std::function<void(const Outcome&)>& turned) const {
  std::vector<Outcome> all;
  if (asked_.result.decided() == 0) return all;
  for (const Row& row : kRows) {
    if (row.of_a_tenth != of_a_tenth) continue;
    std::vector<std::string_view> answered;  // the notes of those that turned the answer
    std::vector<std::size_t> backlogs;
    Asked asked(asked_);
    row.make(asked);
    const bool is_backlog = row.id == "backlog" && asked.is_one;
    for (Trial& trial : asked.trials) {
      trial.row = row.id;
      const bool is_given =
          std::any_of(trial.with.begin(), trial.with.end(),
                      [this](const auto& each) { return asked_.given.contains(each.first); });
      if ((!trial.is_estimate && is_given) || !can_be(trial.options) ||
          std::find(answered.begin(), answered.end(), trial.note.id) != answered.end()) {
        continue;
      }
      auto outcome = outcome_of(trial, runs);
      if (!outcome) continue;
      const std::size_t backlog = trial.options.service.backlog;
      if (is_backlog && (outcome->turn == Turn::kDown || outcome->turn == Turn::kBack)) {
        // The nearest that was tried on the way has the answer of what was asked.
        std::size_t near = asked_.options.service.backlog;
        for (const std::size_t each : backlogs) {
          if ((near < each) == (each < backlog)) near = each;
        }
        outcome->edge = edge_between(near, backlog, asked_.result.mostly_down());
      }
      backlogs.push_back(backlog);
      if (outcome->turn != Turn::kNone) {
        answered.push_back(trial.note.id);
        if (turned) turned(*outcome);
      }
      all.push_back(*std::move(outcome));
    }
  }
  return all;
}

std::optional<AnswerTrials::Outcome> AnswerTrials::outcome_of(const Trial& trial,
                                                              std::size_t runs) const {
  std::string broken;
  std::optional<CellResult> result;
  if (asked_.holding.empty()) {
    result = evaluator_.summary(trial.options, seed_, runs);
  } else {
    const auto judged =
        judge_runs(evaluator_, make_scenario(trial.options, seed_), seed_, runs, asked_.holding);
    if (!judged) return std::nullopt;
    result = summarize(judged->runs);
    for (std::size_t i = 0; i < asked_.holding.size() && broken.empty(); ++i) {
      if (is_broken(asked_.holding[i], judged->judgements[i])) broken = asked_.holding[i].text;
    }
  }
  // With too few workers for the load nothing was well before the outage.
  constexpr double kWell = 0.9;
  if (!result || (asked_.result.had_outage() && success_in(*result, RunPhase::kBefore) < kWell)) {
    return std::nullopt;
  }
  Outcome outcome{.trial = trial, .result = *result};
  compare(outcome, asked_.result);
  if (trial.must_turn && outcome.weight < 1) outcome = {.trial = trial, .result = *result};
  if (outcome.turn == Turn::kNone && !broken.empty()) {
    outcome.turn = Turn::kClaim;
    outcome.weight = 1;
    outcome.how = {"turns-claim", {{"claim", broken}}};
  }
  return outcome;
}

// A bisection of sixteen steps of equal ratios, with about as many runs again as a trial has.
std::optional<std::size_t> AnswerTrials::edge_between(std::size_t one, std::size_t other,
                                                      bool one_is_down) const {
  constexpr std::size_t kMostSteps = 16, kTries = 4;
  const auto from = static_cast<double>(std::max<std::size_t>(one, 1));
  const auto to = static_cast<double>(std::max<std::size_t>(other, 1));
  const auto at = [&](double step) {
    return std::round(from * std::pow(to / from, step / static_cast<double>(kMostSteps)));
  };
  bool stopped = false;
  const auto is_like_one = [&](std::size_t step) {
    ScenarioOptions options = asked_.options;
    options.service.backlog = static_cast<std::size_t>(at(static_cast<double>(step)));
    const auto result =
        evaluator_.summary(options, seed_, std::max<std::size_t>(runs_ / kTries, 1));
    stopped = !result;
    return result && result->mostly_down() == one_is_down;
  };
  const Bracket edge = bisect(0, kMostSteps, is_like_one, [&stopped] { return stopped; });
  if (stopped) return std::nullopt;
  return static_cast<std::size_t>(to_digits(at(static_cast<double>(edge.good + edge.bad) / 2), 2));
}

std::optional<Interval> within_measured(const CellResult& result,
                                        const std::vector<AnswerTrials::Outcome>& outcomes) {
  const bool down = result.mostly_down();
  const auto share = [down](const CellResult& of) {
    const std::size_t runs = down ? of.down_runs() : of.back_runs();
    return static_cast<double>(runs) / static_cast<double>(of.decided());
  };
  std::optional<Interval> span;
  for (const AnswerTrials::Outcome& each : outcomes) {
    if (each.trial.row != "measured" || each.result.decided() == 0) continue;
    if (!span) span = Interval{share(result), share(result)};
    span->low = std::min(span->low, share(each.result));
    span->high = std::max(span->high, share(each.result));
  }
  return span && span->low < span->high ? span : std::nullopt;
}

bool turns_verdict(const AnswerTrials::Outcome& outcome) {
  using Turn = AnswerTrials::Turn;
  return outcome.turn == Turn::kDown || outcome.turn == Turn::kBack ||
         outcome.turn == Turn::kNotBack;
}

std::string what_of(const Trial& trial) {
  if (!trial.what.id.empty()) return words_of(trial.what);
  std::string text;
  for (const auto& [name, value] : trial.with) {
    text += (text.empty() ? "--" : " --") + name + '=' + shell_word(value);
  }
  return text;
}

std::string trial_words(const AnswerTrials::Outcome& outcome) {
  Statement line{outcome.edge ? "trial-line-edge" : "trial-line",
                 {{"how", words_of(outcome.how)},
                  {"what", what_of(outcome.trial)},
                  {"note", words_of(outcome.trial.note)}}};
  if (outcome.edge) line.values.push_back(counted("edge", *outcome.edge));
  return words_of(line);
}

Json trial_json(const std::string& row, const AnswerTrials::Outcome& outcome) {
  Json line{{"type", "trial"}};
  if (!row.empty()) line["row"] = row;
  line["trial"] = outcome.trial.row;
  line["what"] = what_of(outcome.trial);
  for (const auto& [name, value] : outcome.trial.with) {
    auto& text = line["with"][name];  // an option may be given several times
    text = text.is_null() ? value : text.get<std::string>() + "; " + value;
  }
  line["runs"] = outcome.result.decided();
  line["down"] = outcome.result.down_runs();
  line["recovering"] = outcome.result.recovering;
  line["turns"] = outcome.turn != AnswerTrials::Turn::kNone;
  if (outcome.turn != AnswerTrials::Turn::kNone) line["how"] = statement_json(outcome.how);
  line["note"] = statement_json(outcome.trial.note);
  if (outcome.edge) line["edge"] = *outcome.edge;
  return line;
}

}  // namespace retrystorm
