#include "study/answer_trials.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

#include "common/output/fixed.h"
#include "model/base/text.h"
#include "model/run/outlook.h"
#include "simulator/syn_repeats.h"
#include "study/fitted_table.h"
#include "study/judged_runs.h"
#include "study/process_trial.h"

namespace retrystorm {
namespace {

constexpr std::size_t kMostRuns = 60;

bool has_outage(const AskedRow& asked) {
  return asked.options.outage_length() > Duration::zero();
}

bool is_frozen(const AskedRow& asked) {
  return asked.options.timeline.outage.kind == Disturbance::Kind::kFreeze && has_outage(asked);
}

bool has_workers(const AskedRow& asked) {
  return asked.options.service.capacity == Capacity::kWorkers;
}

bool is_chain(const AskedRow& asked) {
  return asked.options.graph.chain.size() > 1 && has_outage(asked);
}

Trial trial_of(const AskedRow& asked, const char* option, const std::string& value,
               const std::string& question) {
  Trial trial{option, value, question, asked.options};
  OptionList list;
  declare_options(list, trial.options);
  list.set(option, value);
  return trial;
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

// A service that is down for most seeds may owe it to requests whose clients have hung up. In a chain they also take
// workers from others.
std::vector<Trial> skip_abandoned(const AskedRow& asked) {
  const bool chained = asked.options.graph.chain.size() > 1;
  const bool may_owe = chained || asked.result.mostly_down();
  if (!may_owe || asked.options.service.abandoned != Abandoned::kServe) return {};
  Trial trial =
      trial_of(asked, "abandoned", "skip", "your server notices that a caller has hung up");
  trial.may_win = chained;
  return {trial};
}

// Whether it accepts more than it serves decides what bounds its queue. Who gave a queue in the server has said so.
std::vector<Trial> accept_when_free(const AskedRow& asked) {
  const GraphOptions& graph = asked.options.graph;
  const bool has_threads = graph.on() ? graph.waiting == Waiting::kHold : has_workers(asked);
  if (!has_threads || !has_outage(asked) || asked.options.workload.connections.multiplexed()) {
    return {};
  }
  for (const char* its : {"max-connections", "queue-length", "queue-order", "queue-drop"}) {
    if (asked.given.contains(its)) return {};
  }
  return {trial_of(asked, "accepts", "when-free",
                   "your server accepts more than it serves (docs/server.md)")};
}

// A full pool decides by what an attempt in line costs, and libraries differ in that: it may wait beside the timeout of
// the attempt, or not as long.
std::vector<Trial> other_waits_for_pool(const AskedRow& asked) {
  const WorkloadOptions& workload = asked.options.workload;
  if (!workload.connections.kept() || !workload.has_timeout() || !has_outage(asked)) return {};
  const Outlook ahead = look_ahead(asked.options);
  const double room = ahead.connections->room;
  if (room == kUnlimited) return {};
  // With services behind services, each pool has its own.
  std::string takes;
  if (ahead.service) {
    const double capacity = ahead.service->capacity;
    takes = " (" + readable(room) + " attempts at a time / " + readable(capacity) +
            "/s = " + readable(from_seconds(room / capacity)) +
            " in the service, of a timeout of " + readable(ahead.timeout) + ')';
  }
  return {trial_of(asked, "pool-wait-counts", "no",
                   "your client's timeout includes the wait for a connection" + takes),
          trial_of(asked, "pool-wait", format_duration(workload.timeout / 4),
                   "your client waits for a connection for as long as its timeout lasts")};
}

// Where the service is slower for a while, all requests have hedges that nothing limits.
std::vector<Trial> limited_hedges(const AskedRow& asked) {
  const HedgeSettings& hedge = asked.options.workload.retry.hedge;
  if (!hedge.any() || hedge.on != HedgeOn::kDelay || hedge.budget != HedgeSettings::kNoBudget ||
      !has_outage(asked)) {
    return {};
  }
  Trial trial = trial_of(asked, "hedge-budget", "0.05", "nothing limits your hedges");
  trial.may_win = true;
  return {trial};
}

// Nobody knows load and service time to a tenth, and a little more may be beyond what comes back.
std::vector<Trial> a_tenth_more_load(const AskedRow& asked) {
  constexpr double kMore = 1.1;
  const WorkloadOptions& workload = asked.options.workload;
  if (workload.arrivals != Arrivals::kOpen || !has_workers(asked) || asked.options.graph.on() ||
      !has_outage(asked) || asked.result.mostly_down() ||
      workload.rate * kMore >= capacity_of(asked.options.service)) {
    return {};
  }
  Trial trial = trial_of(asked, "rate", print_number(to_digits(workload.rate * kMore, 3)),
                         "your load and your service time are known to a tenth");
  trial.is_estimate = true;
  return {trial};
}

// How long a client waits decides from which queue on answers come too late, and how often it tries. Most HTTP clients
// wait for longer than the experiment's.
std::vector<Trial> other_timeouts(const AskedRow& asked) {
  std::vector<Trial> trials;
  const WorkloadOptions& workload = asked.options.workload;
  if (!has_workers(asked) || asked.options.graph.on() || !workload.has_timeout() ||
      !has_outage(asked) || loses_connections(asked.options.timeline.outage)) {
    return trials;
  }
  for (const Duration timeout : {5 * workload.timeout, workload.timeout / 4}) {
    trials.push_back(trial_of(asked, "timeout", format_duration(timeout),
                              "your clients give up after " + readable(workload.timeout)));
  }
  return trials;
}

// With a timeout above a moment at which kernels repeat dropped SYNs, these come all at once.
std::vector<Trial> repeated_syns(const AskedRow& asked) {
  const Duration timeout = asked.options.workload.timeout;
  if (asked.options.graph.on() || !look_ahead(asked.options).repeats_syns) return {};
  const std::size_t linear = asked.options.syn_linear_timeouts, other = linear == 0 ? 4 : 0;
  const Duration last = SynRepeats(linear, timeout).last();
  std::vector<Trial> trials;
  if (asked.options.workload.has_timeout() && last > Duration::zero()) {
    const Duration below = std::chrono::floor<std::chrono::seconds>(last);
    trials.push_back(trial_of(asked, "timeout", format_duration(below),
                              "your clients wait for longer than " + readable(below) +
                                  ", when their kernels repeat the SYNs that were dropped"));
    trials[0].is_estimate = trials[0].must_turn = true;
  }
  if (SynRepeats(other, timeout).last() != last) {
    trials.push_back(trial_of(asked, "syn-linear-timeouts", std::to_string(other),
                              std::string("your clients' Linux is ") +
                                  (linear == 0 ? "older than 6.5" : "6.5 or later")));
  }
  return trials;
}

// What clients retry, and whether their waits have jitter, is not the same in all libraries.
std::vector<Trial> other_retries(const AskedRow& asked) {
  const RetrySettings& retry = asked.options.workload.retry;
  if (!has_outage(asked) || !has_workers(asked) || retry.limit.max_retries == 0 ||
      asked.given.contains("strategy")) {
    return {};
  }
  if (asked.result.mostly_down()) {
    RetryOn errors = retry.limit.retry_on;
    errors.timeout = false;
    if (errors == retry.limit.retry_on) return {};
    return {trial_of(asked, "retry-on", to_string(errors),
                     "your clients retry what timed out, not only errors")};
  }
  if (retry.backoff.jitter.kind != Jitter::Kind::kNone) return {};
  Trial trial = trial_of(asked, "jitter", "full", "your waits have no jitter");
  trial.must_turn = true;
  return {trial};
}

// A service that hangs may go on, slowly: then its queue has no end at the accept queue. One that crashes has no queue.
std::vector<Trial> other_outages(const AskedRow& asked) {
  if (!is_frozen(asked) || !has_workers(asked) || asked.options.graph.on()) return {};
  if (asked.result.mostly_down()) {
    return {trial_of(asked, "outage", "drop", "your service hangs, and does not crash")};
  }
  if (asked.result.mostly_not_back()) return {};
  return {trial_of(asked, "outage", "slow:10", "your service stops altogether in an outage")};
}

// A connect with TLS and a login costs more than a request.
std::vector<Trial> other_connects(const AskedRow& asked) {
  if (!loses_connections(asked.options.timeline.outage) || asked.result.mostly_not_back())
    return {};
  return {trial_of(asked, "reconnect-calls", "3",
                   "a connect costs your service no more than a request (TLS, a login)")};
}

// Of a herd that comes back the last ones wait for as long as the queue takes.
std::vector<Trial> half_the_timeout(const AskedRow& asked) {
  if (!loses_connections(asked.options.timeline.outage) || !asked.options.workload.has_timeout() ||
      asked.result.mostly_not_back()) {
    return {};
  }
  Trial trial = trial_of(asked, "timeout", format_duration(asked.options.workload.timeout / 2),
                         "none of your clients gives up sooner");
  trial.is_estimate = true;
  return {trial};
}

std::vector<Trial> outage_for(const AskedRow& asked, Duration length, const std::string& question) {
  Trial trial = trial_of(asked, "outage-for", format_duration(length), question);
  trial.is_estimate = true;
  return {trial};
}

// Clients that give up in the outage leave no queue, and those of a shorter one may.
std::vector<Trial> half_the_outage(const AskedRow& asked) {
  const auto most = asked.options.workload.retry.limit.max_retries;
  if (!is_frozen(asked) || asked.options.graph.on() ||
      asked.options.workload.arrivals == Arrivals::kJob || most == LimitSettings::kUnlimited ||
      most == 0 || asked.options.outage_length() <= std::chrono::seconds(1) ||
      asked.result.mostly_not_back()) {
    return {};
  }
  return outage_for(asked, asked.options.outage_length() / 2,
                    "all your outages are as long as you say");
}

// Who comes back after this outage may not after a longer one. The curve is the experiment's.
std::vector<Trial> twice_the_outage(const AskedRow& asked) {
  if ((!is_chain(asked) && !has_workers(asked)) || !is_frozen(asked) ||
      asked.options.workload.arrivals == Arrivals::kJob || asked.result.mostly_not_back()) {
    return {};
  }
  return outage_for(asked, 2 * asked.options.outage_length(),
                    "none of your outages is longer than you say");
}

// A budget that saves for longer than the calm of the run pays for more retries after a longer one.
std::vector<Trial> full_budgets(const AskedRow& asked) {
  if (!has_outage(asked) || asked.options.graph.on()) return {};
  const auto saves = look_ahead(asked.options).budget_saves;
  if (!saves) return {};
  return {trial_of(asked, "outage-at", format_duration(saves->of),
                   "all is well for only " + readable(saves->calm) +
                       " before your outages, and not for " + readable(saves->of))};
}

// A peak in the calm opens the connections that the pools may have, and keeps them. What is sent on those is not
// counted by the backlog.
std::vector<Trial> pools_that_a_peak_has_opened(const AskedRow& asked) {
  const WorkloadOptions& workload = asked.options.workload;
  if (!workload.connections.kept() || workload.connections.multiplexed() ||
      workload.arrivals != Arrivals::kOpen || !is_frozen(asked) || asked.result.mostly_not_back()) {
    return {};
  }
  const Outlook ahead = look_ahead(asked.options);
  if (!ahead.service) return {};
  const double room = ahead.connections->room, capacity = ahead.service->capacity;
  if (room == Outlook::kUnlimited || room < 1.5 * ahead.connections->open ||
      workload.rate >= capacity) {
    return {};
  }
  // It must be over well before the outage.
  constexpr Duration kFrom = std::chrono::seconds(1), kTo = std::chrono::milliseconds(1500);
  const Duration over = saturating_add(kTo, from_seconds(room / (capacity - workload.rate)));
  if (over > asked.options.outage_at / 2) return {};
  const double seconds = to_seconds(kTo - kFrom);
  const double factor = std::ceil((room / seconds + capacity) / workload.rate);
  const std::string load = "1s load " + print_number(factor);
  Trial trial{"at", load, "your pools hold no more connections than your calm needs", asked.options,
              "--at='" + load + "' --at='1.5s load 1', a peak that opens all of the pools"};
  std::vector<TimedAction>& actions = trial.options.timeline.at;
  actions.push_back({.t = kFrom, .action = {.kind = Action::Kind::kLoad, .factor = factor}});
  actions.push_back({.t = kTo, .action = {.kind = Action::Kind::kLoad}});
  return {trial};
}

// In a freeze a pool is full: attempts wait in line for a connection, time out there, and are retried. Without a budget
// the line need not end. The pools of all processes have room for twice what the workers do at a time.
std::vector<Trial> full_pools(const AskedRow& asked) {
  const WorkloadOptions& workload = asked.options.workload;
  const std::size_t room = 2 * asked.options.service.workers.workers;
  if (workload.connections.kept() || !workload.has_timeout() || !is_frozen(asked) ||
      !has_workers(asked) || asked.options.graph.on() || asked.result.mostly_not_back() ||
      room < 2 * process_count(workload)) {
    return {};
  }
  const std::size_t size = room / process_count(workload);
  Trial trial =
      trial_of(asked, "connections", "keep-alive",
               "each of your attempts gets a connection at once, and no pool makes it wait");
  trial.options.workload.connections.pool_size = size;
  trial.what += " --pool-size=" + std::to_string(size);
  return {trial, trial_of(asked, "connections", "multiplexed", trial.question)};
}

// What is sent on connections that are kept is not counted by the backlog, and those who share them have fewer.
std::vector<Trial> connections_of_their_own(const AskedRow& asked) {
  if (!is_frozen(asked) || asked.options.graph.on()) return {};
  const auto other = with_own_connections(asked.options, asked.given);
  if (!other) return {};
  const std::size_t count = process_count(asked.options.workload);
  Trial trial{"processes", std::to_string(*other->workload.processes),
              "all connections are of " + std::to_string(count) + " processes or fewer", *other};
  if (other->workload.connections.pool_size == 1) trial.what += " --pool-size=1";
  return {trial};
}

// Limits that do not save what was not used turn away clients that come together.
std::vector<Trial> no_burst(const AskedRow& asked) {
  const RateLimitSettings& limit = asked.options.service.rate_limit;
  using Rate = ClientRateSettings::Kind;
  const bool fits = asked.options.workload.retry.process.client_rate.kind == Rate::kFixed;
  if (limit.rate == 0 || limit.burst != RateBurst() ||
      (asked.result.throttled_share.value_or(0) == 0 && !fits)) {
    return {};
  }
  return {trial_of(asked, "rate-burst", "1",
                   "your limit admits " + readable(bucket_size(limit.burst, limit.rate)) +
                       " calls at once, those of a second")};
}

// What errors cost the service that gives them decides whether it has work left for the rest.
std::vector<Trial> errors_that_cost_work(const AskedRow& asked) {
  if ((!has_workers(asked) && !asked.options.graph.on()) ||
      asked.options.timeline.outage.kind != Disturbance::Kind::kErrors || !has_outage(asked)) {
    return {};
  }
  return {trial_of(asked, "error-after", "service",
                   "your service works for what it answers with an error")};
}

// Whether a worker waits for the answers of its calls decides which service of a chain dies. A file says it for
// each service.
std::vector<Trial> other_waiting(const AskedRow& asked) {
  if (!is_chain(asked)) return {};
  const bool held = asked.options.graph.waiting == Waiting::kHold;
  return {trial_of(asked, "waiting", held ? "free" : "hold",
                   "a worker of your services waits for the answers of its calls")};
}

// The services of a chain that call others, with four times the workers and a quarter of them: they limit what gets
// to the services behind, and what waits there.
std::vector<Trial> other_workers(const AskedRow& asked) {
  std::vector<Trial> trials;
  if (!is_chain(asked)) return trials;
  const std::vector<ChainedService>& chain = asked.options.graph.chain;
  for (std::size_t i = 0; i + 1 < chain.size(); ++i) {
    for (const std::size_t workers : {4 * chain[i].workers, chain[i].workers / 4}) {
      if (workers == 0) continue;
      const std::string text = std::to_string(workers);
      const bool more = workers > chain[i].workers;
      Trial trial{"workers", text,
                  chain[i].name + " has as " + (more ? "few" : "many") + " as you gave it",
                  asked.options, text + " workers of " + chain[i].name};
      trial.options.graph.chain[i].workers = workers;
      trial.is_estimate = trial.may_win = true;
      trials.push_back(trial);
    }
  }
  return trials;
}

// The accept queues of a chain: a long one, as Go's, and a short one. Of one service the edge is looked for, see
// `hangs_on_backlog`.
std::vector<Trial> other_backlogs(const AskedRow& asked) {
  std::vector<Trial> trials;
  if (!is_chain(asked) || !is_frozen(asked) || asked.options.scale != 1) return trials;
  for (const std::size_t backlog : {4096, 128}) {
    trials.push_back(
        trial_of(asked, "backlog", std::to_string(backlog),
                 "your servers listen with " + std::to_string(asked.options.service.backlog)));
    trials.back().may_win = true;
  }
  return trials;
}

// Calls that end well before those who wait for them give up leave time for a retry.
std::vector<Trial> shorter_calls(const AskedRow& asked) {
  if (!is_chain(asked) || !asked.options.workload.has_timeout()) return {};
  Trial trial{"timeout", "", "each service waits for the next one as long as you said",
              asked.options, ""};
  Duration timeout = asked.options.workload.timeout;
  std::vector<ChainedService>& chain = trial.options.graph.chain;
  for (std::size_t i = 1; i < chain.size(); ++i) {
    timeout = std::min(chain[i].timeout.value_or(timeout), timeout) / 2;
    chain[i].timeout = timeout;
    trial.value += (i == 1 ? "" : ", ") + readable(timeout);
  }
  trial.what = "a timeout of " + trial.value + " for the calls inside (after the arrow" +
               (chain.size() > 2 ? "s" : "") + ')';
  trial.is_estimate = trial.may_win = true;
  return {trial};
}

// The last wait of a table repeats for ever, which few policies do that are written as a table.
std::vector<Trial> table_that_ends(const AskedRow& asked) {
  const RetrySettings& retry = asked.options.workload.retry;
  if (retry.backoff.growth != Growth::kTable || retry.limit.has_deadline() ||
      retry.limit.max_retries != LimitSettings::kUnlimited) {
    return {};
  }
  Trial trial =
      trial_of(asked, "max-retries", std::to_string(retry.backoff.table.size()),
               "your policy goes on with its last wait, " +
                   readable(scale(retry.backoff.base, retry.backoff.table.back())) + ", for ever");
  trial.may_win = true;
  return {trial};
}

// A budget is in each process. What it is to pay for may be too rare in each of many.
std::vector<Trial> other_processes(const AskedRow& asked) {
  std::vector<Trial> trials;
  if (!has_outage(asked) || asked.options.graph.on()) return trials;
  const std::size_t count = process_count(asked.options.workload);
  std::vector<ScenarioOptions> others = with_other_processes(asked.options, asked.given);
  const auto& budget = asked.options.workload.retry.process.budget;
  if (!asked.holding.empty() && budget.kind != BudgetSettings::Kind::kNone) {
    constexpr std::size_t kMany = 20;
    const auto many = with_processes(asked.options, asked.given, kMany * count);
    if (many) others.push_back(*many);
  }
  for (const ScenarioOptions& other : others) {
    trials.push_back(
        {"processes", std::to_string(*other.workload.processes),
         "your budget is in " + std::to_string(count) + (count == 1 ? " process" : " processes"),
         other});
  }
  return trials;
}

// Each makes trials, or none where the answer does not hang on it. They are asked about rows that have runs with
// a verdict. Of those with the same question the next is tried if none before it differs.
using Rule = std::vector<Trial> (*)(const AskedRow& asked);
constexpr Rule kRules[] = {
    skip_abandoned,  // in this order
    accept_when_free,
    other_waits_for_pool,
    limited_hedges,
    a_tenth_more_load,
    half_the_timeout,
    half_the_outage,
    twice_the_outage,
    full_budgets,
    errors_that_cost_work,
    table_that_ends,
    other_waiting,
    other_workers,
    other_backlogs,
    shorter_calls,
    pools_that_a_peak_has_opened,
    full_pools,
    connections_of_their_own,
    no_burst,
    other_processes,
    other_timeouts,
    repeated_syns,
    other_retries,
    other_outages,
    other_connects,
};

double success_after(const CellResult& result) {
  return result.phases[2].success.value_or(1);
}

double success_during(const CellResult& result) {
  return result.phases[1].success.value_or(1);
}

// What a run that comes back costs its requests.
std::string price_of(const CellResult& result) {
  if (result.mostly_not_back() || !result.request_p99 || !result.had_outage()) return "";
  const double succeed = success_during(result);
  return " (" + narrow_percent(succeed, 0) + " succeed in the outage, request p99 " +
         request_time(result.request_p99) + ')';
}

AnswerTrials::Difference difference(const Trial& trial, const CellResult& tried,
                                    const CellResult& asked) {
  const auto down = [&tried](const char* noun) {
    return std::to_string(tried.down_runs()) + " of " + std::to_string(tried.decided()) + noun;
  };
  if (tried.decided() > 0 && (tried.mostly_down() != asked.mostly_down() ||
                              tried.mostly_not_back() > asked.mostly_not_back())) {
    const bool slow = tried.mostly_not_back() && !tried.mostly_down();
    const std::string end =
        slow ? ", " + std::to_string(tried.recovering) + " not back by the end," : "";
    // Whoever hears that all is well is to hear first that it may not be.
    const double weight = asked.mostly_down() ? 1 : 2;
    return {.text = down(" runs down") + end,
            .titled = down(slow ? " runs down" : " runs") + end,
            .price = price_of(tried),
            .weight = weight + static_cast<double>(tried.down_runs()) /
                                   static_cast<double>(tried.decided())};
  }
  if (!asked.had_outage()) {
    if (tried.ok_per_s > (1 - kClearlyLess) * asked.ok_per_s) return {};
    const std::string text =
        fixed(tried.ok_per_s, 1) + " OK/s, not " + fixed(asked.ok_per_s, 1) + ',';
    return {.text = text, .price = price_of(tried), .weight = 1 - tried.ok_per_s / asked.ok_per_s};
  }
  const double after = success_after(asked) - success_after(tried);
  const double in_it = std::abs(success_during(tried) - success_during(asked));
  const bool less_after = after >= kClearlyLess;
  if (!less_after && (!trial.may_win || in_it < kClearlyLess)) return {};
  const auto success = less_after ? success_after : success_during;
  const std::string text = percent(success(tried), 0) + " succeed " +
                           (less_after ? "after" : "in") + " the outage, not " +
                           percent(success(asked), 0) + ',' +
                           (tried.down_runs() > asked.down_runs() ? ' ' + down(" runs down") : "");
  return {.text = text,
          .price = less_after ? price_of(tried) : "",
          .weight = less_after ? after : in_it};
}

// "success-during>99% is broken (98.7 %)". Empty if it is not, as far as the runs say.
std::string broken_claim(const Expectation& claim, const Judgement& judgement) {
  const auto& value = judgement.value;
  const bool seems_broken =
      judgement.finding == Finding::kUndecided && value &&
      judge(claim, Figures{{claim.figure, *value}}).finding == Finding::kBroken;
  if (judgement.finding != Finding::kBroken && !seems_broken) return "";
  return claim.text + " is broken" +
         (value && claim.percent ? " (" + percent(*value, 2) + ')' : "");
}

TriedBacklog tried(std::size_t backlog, const CellResult& result) {
  return {.backlog = backlog,
          .down = result.down_runs(),
          .runs = result.decided(),
          .recovering = result.recovering,
          .success = success_after(result)};
}

}  // namespace

AnswerTrials::AnswerTrials(const AskedRow& asked, const Evaluator& evaluator, std::uint64_t seed,
                           std::size_t runs, bool of_limit)
    : evaluator_(evaluator),
      seed_(seed),
      runs_(std::min(runs, kMostRuns)),
      tries_backlogs_(!of_limit && hangs_on_backlog(asked.options, asked.given)) {
  if (asked.result.decided() == 0) return;
  if (tries_backlogs_) try_backlogs(asked);
  for (const Rule rule : kRules) {
    if (of_limit && rule != no_burst) continue;
    for (const Trial& trial : rule(asked)) {
      if (asked.given.contains(trial.option) && !trial.is_estimate) continue;
      if (!can_be(trial.options)) continue;
      has_trials_ = true;
      const bool is_answered =
          std::any_of(outcomes_.begin(), outcomes_.end(), [&trial](const Outcome& each) {
            return each.differs() && each.trial.question == trial.question;
          });
      if (!is_answered) try_other(trial, asked);
    }
  }
  std::stable_sort(outcomes_.begin(), outcomes_.end(), [](const Outcome& a, const Outcome& b) {
    return a.difference.weight > b.difference.weight;
  });
}

std::vector<std::string> AnswerTrials::others(bool titled) const {
  std::vector<std::string> texts;
  if (backlogs_ && backlogs_->edge) {
    texts.push_back(other_backlog_text(*asked_, *backlogs_, titled));
  }
  for (const Outcome& each : outcomes_) {
    if (!each.differs()) continue;
    const Difference& how = each.difference;
    texts.push_back((titled && !how.titled.empty() ? how.titled : how.text) + " with " +
                    each.trial.what);
  }
  return texts;
}

void AnswerTrials::try_backlogs(const AskedRow& asked) {
  asked_ = tried(asked.options.service.backlog, asked.result);
  const auto run = [this, &asked](std::size_t backlog, std::size_t runs) {
    ScenarioOptions other = asked.options;
    other.service.backlog = backlog;
    const auto result = run_of(other, runs);
    return result ? std::optional(tried(backlog, *result)) : std::nullopt;
  };
  backlogs_ = retrystorm::try_backlogs(*asked_, runs_, run);
}

void AnswerTrials::try_other(const Trial& trial, const AskedRow& asked) {
  std::string broken;
  std::optional<CellResult> result;
  if (asked.holding.empty()) {
    result = run_of(trial.options, runs_);
  } else {
    const auto judged =
        judge_runs(evaluator_, make_scenario(trial.options, seed_), seed_, runs_, asked.holding);
    if (!judged) return;
    result = summarize(judged->runs);
    for (std::size_t i = 0; i < asked.holding.size() && broken.empty(); ++i) {
      broken = broken_claim(asked.holding[i], judged->judgements[i]);
    }
  }
  // With too few workers for the load nothing was well before the outage.
  constexpr double kWell = 0.9;
  if (!result || (asked.result.had_outage() && result->phases[0].success.value_or(1) < kWell))
    return;
  Outcome outcome{
      .trial = trial, .result = *result, .difference = difference(trial, *result, asked.result)};
  if (trial.must_turn && outcome.difference.weight < 1) outcome.difference = {};
  if (!outcome.differs() && !broken.empty()) {
    outcome.difference = {.text = broken, .weight = 1};
  }
  outcomes_.push_back(outcome);
}

std::optional<CellResult> AnswerTrials::run_of(const ScenarioOptions& options,
                                               std::size_t runs) const {
  const auto results = evaluator_.run(make_scenario(options, seed_), seeds_from(seed_, runs));
  return results.empty() ? std::nullopt : std::optional(summarize(results));
}

}  // namespace retrystorm
