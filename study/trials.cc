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

// --- When something is tried ------------------------------------------------------------------------------------

bool has_outage(const AskedRow& asked) {
  return asked.options.outage_length() > Duration::zero();
}

bool is_frozen(const AskedRow& asked) {
  return asked.options.outage().what.kind == Disturbance::Kind::kFreeze && has_outage(asked);
}

bool is_one(const AskedRow& asked) {
  return !asked.options.graph.on();
}

bool has_workers(const AskedRow& asked) {
  return asked.options.service.capacity == Capacity::kWorkers;
}

bool is_chain(const AskedRow& asked) {
  return asked.options.graph.chain.size() > 1 && has_outage(asked);
}

bool is_open(const AskedRow& asked) {
  return asked.options.workload.arrivals == Arrivals::kOpen;
}

bool is_job(const AskedRow& asked) {
  return asked.options.workload.arrivals == Arrivals::kJob;
}

bool has_timeout(const AskedRow& asked) {
  return asked.options.workload.has_timeout();
}

bool comes_back(const AskedRow& asked) {
  return !asked.result.mostly_not_back();
}

// --- What is tried ----------------------------------------------------------------------------------------------

Trial with(const AskedRow& asked, With options, Statement note) {
  Trial trial{.with = std::move(options), .note = std::move(note), .options = asked.options};
  OptionList list;
  declare_options(list, trial.options);
  for (const auto& [name, value] : trial.with) list.set(name, value);
  return trial;
}

Trial estimate(Trial trial) {
  trial.is_estimate = true;
  return trial;
}

Trial winning(Trial trial) {
  trial.may_win = true;
  return trial;
}

Trial turning(Trial trial) {
  trial.must_turn = true;
  return trial;
}

// A service that is down for most seeds may owe it to requests whose clients have hung up. In a chain they also take
// workers from others.
std::vector<Trial> abandoned(const AskedRow& asked) {
  const bool chained = asked.options.graph.chain.size() > 1;
  if ((!chained && !asked.result.mostly_down()) ||
      asked.options.service.abandoned != Abandoned::kServe) {
    return {};
  }
  Trial trial = with(asked, {{"abandoned", "skip"}}, {"if-abandoned", {}});
  trial.may_win = chained;
  return {trial};
}

// Whether it accepts more than it serves decides what bounds its queue, and so does a length of the queue itself. Who
// gave a queue in the server has said so.
std::vector<Trial> accepts(const AskedRow& asked) {
  const GraphOptions& graph = asked.options.graph;
  const bool has_threads = graph.on() ? graph.waiting == Waiting::kHold : has_workers(asked);
  if (!has_threads || !has_outage(asked)) return {};
  for (const char* its : {"max-connections", "queue-length", "queue-order", "queue-drop"}) {
    if (asked.given.contains(its)) return {};
  }
  std::vector<Trial> trials;
  if (!asked.options.workload.connections.multiplexed()) {
    trials.push_back(with(asked, {{"accepts", "when-free"}}, {"if-accepts", {}}));
  }
  // Passenger's max_request_queue_size is 100. Answers from a longer one may come too late.
  constexpr std::size_t kLengthOfPassenger = 100;
  if (is_one(asked) && has_workers(asked) && asked.result.mostly_down() &&
      asked.options.service.workers.queue_length == WorkerSettings::kUnbounded) {
    const std::size_t length =
        std::min(advised_queue_length(look_ahead(asked.options)).value_or(kLengthOfPassenger),
                 kLengthOfPassenger);
    trials.push_back(with(asked, {{"queue-length", std::to_string(length)}}, {"if-queue", {}}));
  }
  return trials;
}

// Those of common servers: 128 is the limit of Linux before 5.4 (net.core.somaxconn), 511 is that of nginx and Node.js,
// and 4096 is the limit since Linux 5.4 (Documentation/networking/ip-sysctl), which servers in Go use.
constexpr std::array<std::size_t, 3> kUsualBacklogs{128, 511, 4096};
constexpr std::size_t kBacklogOfTomcat =
    100;  // if only its workers hang, it accepts many more connections

// Only a frozen process finds a full accept queue. Multiplexed connections outlast the freeze. At another scale a
// backlog is none that a server has. First those that are likely to turn the answer: a service that comes back may not
// do so with a larger backlog.
std::vector<Trial> backlogs(const AskedRow& asked) {
  std::vector<Trial> trials;
  if (!is_frozen(asked) || asked.options.scale != 1) return trials;
  const auto add = [&](std::size_t backlog) {
    trials.push_back(with(asked, {{"backlog", std::to_string(backlog)}}, {"if-backlog", {}}));
  };
  if (!is_one(asked)) {
    if (!is_chain(asked)) return trials;
    for (const std::size_t each : {4096, 128}) {
      add(each);
      trials.back().may_win = true;
    }
    return trials;
  }
  const std::size_t now = asked.options.service.backlog;
  if ((asked.given.contains("backlog") && now != kBacklogOfTomcat) ||
      asked.options.workload.connections.multiplexed()) {
    return trials;
  }
  std::vector<std::size_t> larger, smaller;
  if (now > kBacklogOfTomcat) smaller.push_back(kBacklogOfTomcat);
  for (const std::size_t each : kUsualBacklogs) (each > now ? larger : smaller).push_back(each);
  std::reverse(smaller.begin(), smaller.end());
  const bool down = asked.result.mostly_down();
  for (const auto& some : {down ? smaller : larger, down ? larger : smaller}) {
    for (const std::size_t each : some) add(each);
  }
  // Of a backlog that was given it is no better known.
  for (Trial& each : trials) each.is_estimate = true;
  return trials;
}

// Nobody knows load and service time to a tenth, and a little more may be beyond what comes back.
std::vector<Trial> load(const AskedRow& asked) {
  constexpr double kMore = 1.1;
  const WorkloadOptions& workload = asked.options.workload;
  if (!has_outage(asked) || !is_one(asked) || is_job(asked)) return {};
  if (workload.plan.file) return {};
  if (!is_open(asked) || workload.plan.periodic()) {
    const auto clients = std::llround(static_cast<double>(workload.clients) * kMore);
    return {estimate(with(asked, {{"clients", std::to_string(clients)}}, {"if-load", {}}))};
  }
  const bool is_too_much =
      has_workers(asked) && workload.rate * kMore >= capacity_of(asked.options.service);
  if (is_too_much) return {};
  const std::string rate = print_number(to_digits(workload.rate * kMore, 3));
  return {estimate(with(asked, {{"rate", rate}}, {"if-load", {}}))};
}

std::vector<Trial> capacity(const AskedRow& asked) {
  const WorkloadOptions& workload = asked.options.workload;
  const bool is_too_little = has_workers(asked) && is_open(asked) &&
                             arrival_rate(workload) >= 0.9 * capacity_of(asked.options.service);
  if (!has_outage(asked) || !is_one(asked) || is_job(asked) || is_too_little) return {};
  return {with(asked, {{"capacity", "0s 0.9"}}, {"if-capacity", {}})};
}

#ifndef __EMSCRIPTEN__  // the page has no measuring
// As far as the service was measured, it may have so much less, or more.
std::vector<Trial> measured(const AskedRow& asked) {
  const double within = asked.options.capacity_within;
  if (within == 0 || !has_outage(asked) || !is_one(asked)) return {};
  const auto of = [&asked](double factor, const char* note) {
    return with(asked, {{"capacity", "0s " + print_number(to_digits(factor, 4))}}, {note, {}});
  };
  return {of(1 - within, "if-measured-less"), of(1 + within, "if-measured-more")};
}
#endif

// How long a client waits decides from which queue on answers come too late, and how often it tries. Most HTTP clients
// wait for longer than the experiment's. Of a herd that comes back the last ones wait for as long as the queue takes.
// With a timeout above a moment at which kernels repeat dropped SYNs, these come all at once.
std::vector<Trial> timeouts(const AskedRow& asked) {
  std::vector<Trial> trials;
  const Duration timeout = asked.options.workload.timeout;
  if (!is_one(asked)) return trials;
  const auto of = [&asked](Duration other, const char* note) {
    return with(asked, {{"timeout", format_duration(other)}}, {note, {}});
  };
  const bool reconnects = loses_connections(asked.options.timeline.outage);
  if (reconnects && has_timeout(asked) && comes_back(asked)) {
    trials.push_back(estimate(of(timeout / 2, "if-timeout-half")));
  }
  if (has_workers(asked) && has_timeout(asked) && has_outage(asked) && !reconnects) {
    trials.push_back(of(5 * timeout, "if-timeout"));
    trials.push_back(of(timeout / 4, "if-timeout"));
  }
  if (!look_ahead(asked.options).repeats_syns) return trials;
  const std::size_t linear = asked.options.syn_linear_timeouts, other = linear == 0 ? 4 : 0;
  const Duration last = SynRepeats(linear, timeout).last();
  if (has_timeout(asked) && last > Duration::zero()) {
    const Duration below = std::chrono::floor<std::chrono::seconds>(last);
    trials.push_back(estimate(turning(of(below, "if-timeout-below-syns"))));
  }
  if (SynRepeats(other, timeout).last() != last) {
    trials.push_back(with(asked, {{"syn-linear-timeouts", std::to_string(other)}},
                          {linear == 0 ? "if-linux-new" : "if-linux-old", {}}));
  }
  return trials;
}

// A service that hangs may go on, slowly: then its queue has no end at the accept queue. One that crashes has no queue.
// Who comes back after this outage may not after a longer one, and clients that give up in it leave no queue, which
// those of a shorter one may. A budget that saves for longer than the calm of the run pays for more retries.
std::vector<Trial> outages(const AskedRow& asked) {
  std::vector<Trial> trials;
  const Duration length = asked.options.outage_length();
  const auto lasting = [&](Duration other, const char* note) {
    trials.push_back(estimate(with(asked, {{"outage-for", format_duration(other)}}, {note, {}})));
  };
  const auto most = asked.options.workload.retry.limit.max_retries;
  const bool gives_up = most != LimitSettings::kUnlimited && most > 0;
  if (is_frozen(asked) && comes_back(asked) && !is_job(asked)) {
    if (is_one(asked) && gives_up && length > std::chrono::seconds(1))
      lasting(length / 2, "if-shorter");
    if (is_chain(asked) || has_workers(asked)) lasting(2 * length, "if-longer");
  }
  if (is_frozen(asked) && has_workers(asked) && is_one(asked)) {
    if (asked.result.mostly_down()) {
      trials.push_back(with(asked, {{"outage", "drop"}}, {"if-crash", {}}));
    } else if (comes_back(asked)) {
      trials.push_back(with(asked, {{"outage", "slow:10"}}, {"if-slow", {}}));
    }
  }
  const bool restarts = asked.options.outage().what.kind == Disturbance::Kind::kRestart;
  if (has_outage(asked) && is_one(asked) && !restarts) {
    if (const auto saves = look_ahead(asked.options).budget_saves) {
      trials.push_back(with(asked, {{"outage-at", format_duration(saves->of)}},
                            {"if-saved", {{"calm", saves->calm}}}));
    }
  }
  return trials;
}

// A peak in the calm opens the connections that the pools may have, and keeps them. What is sent on those is not
// counted by the backlog.
std::optional<Trial> opened_by_a_peak(const AskedRow& asked) {
  const WorkloadOptions& workload = asked.options.workload;
  if (workload.connections.multiplexed() || !is_open(asked) || workload.plan.on() ||
      !is_frozen(asked) || !comes_back(asked)) {
    return std::nullopt;
  }
  const Outlook ahead = look_ahead(asked.options);
  if (!ahead.service) return std::nullopt;
  const double room = ahead.connections->room, capacity = ahead.service->capacity;
  if (room == Outlook::kUnlimited || room < 1.5 * ahead.connections->open ||
      workload.rate >= capacity) {
    return std::nullopt;
  }
  // It must be over well before the outage.
  constexpr Duration kFrom = std::chrono::seconds(1), kTo = std::chrono::milliseconds(1500);
  const Duration over = saturating_add(kTo, from_seconds(room / (capacity - workload.rate)));
  if (over > asked.options.outage_at / 2) return std::nullopt;
  const double factor = std::ceil((room / to_seconds(kTo - kFrom) + capacity) / workload.rate);
  Trial trial{.with = {{"at", "1s load " + print_number(factor)}, {"at", "1.5s load 1"}},
              .note = {"if-peak", {}},
              .options = asked.options};
  std::vector<TimedAction>& actions = trial.options.timeline.at;
  actions.push_back({.t = kFrom, .action = {.kind = Action::Kind::kLoad, .factor = factor}});
  actions.push_back({.t = kTo, .action = {.kind = Action::Kind::kLoad}});
  return trial;
}

// A full pool decides by what an attempt in line costs: attempts wait for a connection, time out there, and are
// retried. Libraries differ in whether it may wait beside the timeout, or not as long. What is sent on connections that
// are kept is not counted by the backlog, and those who share them have fewer.
std::vector<Trial> connections(const AskedRow& asked) {
  std::vector<Trial> trials;
  const WorkloadOptions& workload = asked.options.workload;
  const ConnectionSettings& kept = workload.connections;
  if (!has_outage(asked)) return trials;
  if (kept.kept() && has_timeout(asked) &&
      look_ahead(asked.options).connections->room != kUnlimited) {
    trials.push_back(with(asked, {{"pool-wait-counts", "no"}}, {"if-pool-wait-apart", {}}));
    trials.push_back(with(asked, {{"pool-wait", format_duration(workload.timeout / 4)}},
                          {"if-pool-wait-short", {}}));
  }
  if (!is_one(asked) || !is_frozen(asked)) return trials;
  const std::size_t processes = process_count(workload);
  if (kept.kept()) {
    if (auto peak = opened_by_a_peak(asked)) trials.push_back(*std::move(peak));
    const std::size_t own = is_open(asked) ? 100 : workload.clients;
    const bool is_known = asked.given.contains("pool-size") || asked.given.contains("processes") ||
                          asked.given.contains("clients-per-process");
    if (!is_known && own <= 10'000) {
      With options{{"processes", std::to_string(own)}};
      if (!is_open(asked)) options.emplace_back("pool-size", "1");
      trials.push_back(
          with(asked, options, {"if-own-connections", {counted("processes", processes)}}));
    }
  } else if (const std::size_t room = 2 * asked.options.service.workers.workers;
             has_timeout(asked) && has_workers(asked) && comes_back(asked) &&
             room >= 2 * processes) {
    const std::string size = std::to_string(room / processes);
    trials.push_back(
        with(asked, {{"connections", "keep-alive"}, {"pool-size", size}}, {"if-pools", {}}));
    trials.push_back(with(asked, {{"connections", "multiplexed"}}, {"if-pools", {}}));
  }
  return trials;
}

// What clients retry, and whether their waits have jitter, is not the same in all libraries. The last wait of a table
// repeats for ever, which few policies do that are written as a table.
std::vector<Trial> retries(const AskedRow& asked) {
  std::vector<Trial> trials;
  const RetrySettings& retry = asked.options.workload.retry;
  if (retry.backoff.growth == Growth::kTable && !retry.limit.has_deadline() &&
      retry.limit.max_retries == LimitSettings::kUnlimited) {
    trials.push_back(
        winning(with(asked, {{"max-retries", std::to_string(retry.backoff.table.size())}},
                     {"if-table-ends", {}})));
  }
  if (!has_outage(asked) || !has_workers(asked) || retry.limit.max_retries == 0 ||
      asked.given.contains("strategy")) {
    return trials;
  }
  if (asked.result.mostly_down()) {
    RetryOn errors = retry.limit.retry_on;
    errors.timeout = false;
    if (errors != retry.limit.retry_on) {
      trials.push_back(with(asked, {{"retry-on", to_string(errors)}}, {"if-timeouts-retried", {}}));
    }
  } else if (retry.backoff.jitter.kind == Jitter::Kind::kNone) {
    trials.push_back(turning(with(asked, {{"jitter", "full"}}, {"if-no-jitter", {}})));
  }
  return trials;
}

// A budget is in each process. What it is to pay for may be too rare in each of many.
std::vector<Trial> processes(const AskedRow& asked) {
  std::vector<Trial> trials;
  const WorkloadOptions& workload = asked.options.workload;
  const BudgetSettings& budget = workload.retry.process.budget;
  if (!has_outage(asked) || !is_one(asked) || asked.given.contains("processes") ||
      asked.given.contains("clients-per-process")) {
    return trials;
  }
  const std::size_t count = process_count(workload);
  const std::size_t most = is_open(asked) ? 10'000 : workload.clients;
  std::vector<std::size_t> others;
  if (grows_with_processes(budget)) others = {4 * count, count / 4};
  if (!asked.holding.empty() && budget.kind != BudgetSettings::Kind::kNone) {
    others.push_back(20 * count);
  }
  for (const std::size_t other : others) {
    if (other == 0 || other > most) continue;
    trials.push_back(with(asked, {{"processes", std::to_string(other)}},
                          {"if-processes", {counted("processes", count)}}));
  }
  return trials;
}

// What costs the service work beside its answers: hedges, which all requests have while it is slow, errors, and
// connects with TLS and a login. Limits that do not save what was not used turn away clients that come together.
std::vector<Trial> costs(const AskedRow& asked) {
  std::vector<Trial> trials;
  const HedgeSettings& hedge = asked.options.workload.retry.hedge;
  const RateLimitSettings& limit = asked.options.service.rate_limit;
  const bool reconnects = loses_connections(asked.options.timeline.outage);
  const bool throttles =
      asked.result.throttled_share.value_or(0) > 0 ||
      asked.options.workload.retry.process.client_rate.kind == ClientRateSettings::Kind::kFixed;
  if (limit.rate > 0 && limit.burst == RateBurst() && throttles) {
    trials.push_back(with(asked, {{"rate-burst", "1"}},
                          {"if-burst", {{"calls", bucket_size(limit.burst, limit.rate)}}}));
  }
  if (!has_outage(asked)) return trials;
  if (hedge.any() && hedge.on == HedgeOn::kDelay && hedge.budget == HedgeSettings::kNoBudget) {
    trials.push_back(winning(with(asked, {{"hedge-budget", "0.05"}}, {"if-hedges", {}})));
  }
  if ((has_workers(asked) || !is_one(asked)) &&
      asked.options.timeline.outage.kind == Disturbance::Kind::kErrors) {
    trials.push_back(with(asked, {{"error-after", "service"}}, {"if-errors-cost", {}}));
  }
  if (reconnects && comes_back(asked)) {
    trials.push_back(with(asked, {{"reconnect-calls", "3"}}, {"if-connects-cost", {}}));
  }
  return trials;
}

// Whether a worker waits for the answers of its calls decides which service of a chain dies. Those that call others
// limit what gets to the services behind, and what waits there. Calls that end well before those who wait for them give
// up leave time for a retry.
std::vector<Trial> chains(const AskedRow& asked) {
  std::vector<Trial> trials;
  if (!is_chain(asked)) return trials;
  const std::vector<ChainedService>& chain = asked.options.graph.chain;
  const bool held = asked.options.graph.waiting == Waiting::kHold;
  trials.push_back(with(asked, {{"waiting", held ? "free" : "hold"}}, {"if-waiting", {}}));
  for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
    for (const std::size_t workers : {4 * chain[i].workers, chain[i].workers / 4}) {
      if (workers == 0) continue;
      Trial trial{.what = {"workers-of", {counted("workers", workers), {"service", chain[i].name}}},
                  .note = {workers > chain[i].workers ? "if-few-workers" : "if-many-workers", {}},
                  .options = asked.options};
      trial.options.graph.chain[i].workers = workers;
      trials.push_back(estimate(winning(trial)));
    }
  }
  if (!has_timeout(asked)) return trials;
  Trial trial{.note = {"if-inner-timeouts", {}}, .options = asked.options};
  Duration timeout = asked.options.workload.timeout;
  std::string all;
  for (std::size_t i = 1; i < chain.size(); ++i) {
    ChainedService& one = trial.options.graph.chain[i];
    timeout = std::min(one.timeout.value_or(timeout), timeout) / 2;
    one.timeout = timeout;
    all += (i == 1 ? "" : ", ") + time_words(timeout);
  }
  trial.what = {"inner-timeouts", {{"timeouts", all}}};
  trials.push_back(estimate(winning(trial)));
  return trials;
}

// What balances decides whether a broken host draws the requests, and where retries go whether they find it again.
std::vector<Trial> hosts(const AskedRow& asked) {
  std::vector<Trial> trials;
  const HostSettings& hosts = asked.options.hosts;
  if (!hosts.many() || !has_outage(asked)) return trials;
  if (Probe probe = hosts.life.probe; probe.on() && !probe.own_port) {
    probe.own_port = true;
    trials.push_back(winning(with(asked, {{"probe", to_string(probe)}}, {"if-own-port", {}})));
  }
  if (hosts.most() == 1) return trials;
  const bool by_load = hosts.balance == Balance::kLeast;
  trials.push_back(
      winning(with(asked, {{"balance", by_load ? "round-robin" : "least"}}, {"if-balance", {}})));
  if (hosts.retry_host == RetryHost() && asked.options.workload.retry.limit.max_retries > 0) {
    trials.push_back(winning(with(asked, {{"retry-host", "other"}}, {"if-other-host", {}})));
  }
  if (hosts.replicas > 2 && !hosts.life.scaling.on() && hosts.hit() < hosts.replicas - 1) {
    trials.push_back(estimate(
        with(asked, {{"replicas", std::to_string(hosts.replicas - 1)}}, {"if-one-less", {}})));
  }
  return trials;
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

bool is_given(const AskedRow& asked, const Trial& trial) {
  return std::any_of(trial.with.begin(), trial.with.end(),
                     [&asked](const auto& each) { return asked.given.contains(each.first); });
}

double success_in(const CellResult& result, RunPhase phase) {
  return result.phases[static_cast<std::size_t>(phase)].success.value_or(1);
}

StatementValue count(std::string_view name, std::size_t number) {
  return {name, static_cast<double>(number)};
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
      set(Turn::kDown, weight, {"turns-down", {count("down", down), count("runs", decided)}});
    } else if (tried.mostly_not_back()) {
      set(Turn::kNotBack, weight,
          {"turns-not-back", {count("open", tried.recovering), count("runs", decided)}});
    } else {
      set(Turn::kBack, weight,
          {"turns-back", {count("back", tried.back_runs()), count("runs", decided)}});
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

}  // namespace

// Each makes trials, or none where the answer cannot hang on it. They are asked about settings that have runs with a
// verdict. A row ends with the first trial of a note that turns the answer.
struct AnswerTrials::Row {
  std::string_view id;
  std::vector<Trial> (*trials)(const AskedRow& asked);
  bool of_a_tenth = false;
};

const AnswerTrials::Row AnswerTrials::kRows[] = {
    {"load", load, true},
    {"capacity", capacity, true},
#ifndef __EMSCRIPTEN__
    {"measured", measured, true},
#endif
    {"backlog", backlogs},
    {"outage", outages},
    {"timeout", timeouts},
    {"connections", connections},
    {"retries", retries},
    {"abandoned", abandoned},
    {"accepts", accepts},
    {"processes", processes},
    {"costs", costs},
    {"hosts", hosts},
    {"chain", chains},
};

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
    const bool is_backlog = row.id == "backlog" && is_one(asked_);
    for (Trial& trial : row.trials(asked_)) {
      trial.row = row.id;
      if ((!trial.is_estimate && is_given(asked_, trial)) || !can_be(trial.options) ||
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
    result = run_of(trial.options, runs);
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

std::optional<CellResult> AnswerTrials::run_of(const ScenarioOptions& options,
                                               std::size_t runs) const {
  const auto results = evaluator_.run(make_scenario(options, seed_), seeds_from(seed_, runs));
  return results.empty() ? std::nullopt : std::optional(summarize(results));
}

// A bisection of sixteen steps of equal ratios, with about as many runs again as a trial has.
std::optional<std::size_t> AnswerTrials::edge_between(std::size_t one, std::size_t other,
                                                      bool one_is_down) const {
  constexpr double kSteps = 16, kTries = 4;
  const auto from = static_cast<double>(std::max<std::size_t>(one, 1));
  const auto to = static_cast<double>(std::max<std::size_t>(other, 1));
  const std::size_t few = std::max<std::size_t>(runs_ / static_cast<std::size_t>(kTries), 1);
  const auto at = [&](double step) {
    return std::round(from * std::pow(to / from, step / kSteps));
  };
  double low = 0, high = kSteps;
  while (high - low > 1) {
    const double middle = std::floor((low + high) / 2);
    ScenarioOptions options = asked_.options;
    options.service.backlog = static_cast<std::size_t>(at(middle));
    const auto result = run_of(options, few);
    if (!result) return std::nullopt;
    (result->mostly_down() == one_is_down ? low : high) = middle;
  }
  return static_cast<std::size_t>(to_digits(at((low + high) / 2), 2));
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
