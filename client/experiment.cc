#include "client/experiment.h"

#include <unistd.h>

#include <algorithm>
#include <exception>
#include <iostream>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <variant>

#include "common/cli/options.h"
#include "common/http/orders.h"
#include "common/output/json_text.h"
#include "common/output/report.h"
#include "model/retry/strategies.h"
#include "words/words.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

// How long a command from the page, the report of an outage's command, or a job's end may wait.
constexpr Duration kCommandLatency = 100ms;
// How long the answer to an order may wait to be taken.
constexpr Duration kAnswerLatency = 10ms;
// How much longer than planned the server keeps an outage if this client never ends it.
constexpr Duration kLease = 2s;
// How long the run's end waits for the answer to the last order.
constexpr Duration kLastOrder = 1500ms;
// How long the run's end waits for the command that ends an outage.
constexpr Duration kCommandPatience = 10s;
// A notice is printed if an outage is recorded at least this much too long.
constexpr Duration kNoticedDelay = 500ms;
// If this many attempts were refused and none was answered, nothing listens there.
constexpr std::uint64_t kFirstAttempts = 5;
// How often the page gets the run's state.
constexpr Duration kPageInterval = 1s;

}  // namespace

Recovery with_doubts(Recovery recovery, const OutageDoubts& doubts) {
  using By = Disturbance::By;
  const bool certain = doubts.by == By::kClients || doubts.by == By::kService;
  const auto take_back = [&recovery](std::string_view cause) {
    recovery.verdict = Verdict::kUndecided;
    recovery.causes = {{cause, {}}};
    recovery.to_watch.reset();
  };
  const bool recovered = recovery.verdict == Verdict::kRecovered;
  if (doubts.begin_failed && (recovered || recovery.verdict == Verdict::kUndecided)) {
    take_back("begin-failed");
    recovery.outage_failed = true;
  } else if (recovered) {
    if (recovery.unfelt && !certain) {
      take_back(doubts.by == By::kSignals ? "unfelt-signals" : "unfelt-commands");
    } else if (doubts.end_failed) {
      recovery.causes.push_back({"end-failed", {}});
    }
  } else if (doubts.end_failed && recovery.verdict != Verdict::kNoOutage) {
    take_back("may-go-on-failed");
  } else if (recovery.verdict == Verdict::kCollapsed && doubts.by == By::kCommands) {
    recovery.causes.push_back({"may-go-on", {}});
  }
  return recovery;
}

Experiment::Experiment(const ClientOptions& options, std::uint64_t seed,
                       const StartedAs& started_as, const Dependencies& dependencies)
    : options_(options),
      seed_(seed),
      started_as_(started_as),
      dependencies_(dependencies),
      workload_(options.workload),
      actions_(actions(options.timeline)),
      json_report_(dependencies.json.sink()),
      page_report_([this](const Json& event) { show(event); }) {}

void Experiment::run(EndSignals& signals) {
  begin();
  while (!signals.wait_until(next_event())) {
    const TimePoint now = Clock::now();
    if (now >= recorder_->next_tick()) {
      const FleetTotals totals = fleet_->totals();
      recorder_->tick(now, totals.counts, totals.clients, fleet_->history().latencies, waiting());
      if (fleet_->trace() != nullptr) recorder_->report_requests(fleet_->trace()->take_finished());
      report_dropped_arrivals();
    }
    if (now >= hosts_report_at_) {
      recorder_->report_hosts(now, with_states(hosts_->with([](PickedHosts& hosts, TimePoint at) {
                                return hosts.take_new(hosts.totals(at));
                              })));
      hosts_report_at_ = saturating_add(hosts_report_at_, options_.report_interval);
    }
    take_load_steps(now);
    if (now >= outage_begins_at_) {
      outage_begins_at_ = TimePoint::max();
      begin_outage(options_.timeline.outage, *options_.outage_for);
    }
    if (now >= outage_ends_at_) end_outage();
    while (now >= next_action()) carry_out(actions_[actions_done_++]);
    report_commands();
    // On the page another one can be begun.
    if (dependencies_.dashboard == nullptr && command_failed()) {
      notice("the outage did not begin: the run ends");
      break;
    }
    take_answers();
    look_for_service(kFirstAttempts);
    for (const auto host : hosts_ ? hosts_->take_missing(kFirstAttempts) : CalledHosts::List()) {
      notice("nothing listens at " + options_.urls[host] +
             ", or there is no way to it: what is sent there fails");
    }
    if (now >= end_ || fleet_->all_done()) break;
    if (dependencies_.ends_early && dependencies_.ends_early()) break;
    take_commands();
  }
  finish();
}

bool Experiment::command_failed() const {
  return dependencies_.outage_command != nullptr && dependencies_.outage_command->begin_failed();
}

TimePoint Experiment::next_action() const {
  return actions_done_ < actions_.size() ? saturating_add(start_, actions_[actions_done_].t)
                                         : TimePoint::max();
}

TimePoint Experiment::next_event() const {
  const TimePoint next = std::min({recorder_->next_tick(), outage_begins_at_, outage_ends_at_,
                                   next_action(), next_load_step(), end_});
  if (!orders_.empty()) return std::min(next, Clock::now() + kAnswerLatency);
  const OutageCommand* const commands = dependencies_.outage_command;
  const bool looks_often = dependencies_.dashboard != nullptr ||
                           workload_.arrivals == Arrivals::kJob || !was_there_ ||
                           (commands != nullptr && commands->under_way());
  return looks_often ? std::min(next, Clock::now() + kCommandLatency) : next;
}

void Experiment::look_for_service(std::uint64_t least) {
  if (was_there_) return;
  const Counts counts = fleet_->totals().counts;
  const auto of_kind = [&counts](NoAnswer why) {
    return counts.errors_by.at(error_kind(not_connected(Duration::zero(), why)));
  };
  const std::uint64_t refused = of_kind(NoAnswer::kRefused);
  const std::uint64_t failed = refused + of_kind(NoAnswer::kUnreachable);
  // Failures after an outage or an action began are part of the run.
  was_there_ = failed < counts.finished() || !recorder_->outage().empty() || actions_done_ > 0;
  if (was_there_ || failed < least) return;
  fleet_->stop();
  std::string url;
  for (const std::string& each : options_.urls) url += (url.empty() ? "" : ", ") + each;
  throw std::runtime_error(refused > 0
                               ? "connection refused: nothing listens at " + url
                               : url + " cannot be reached: " + fleet_->history().first_error);
}

HostIntervals Experiment::with_states(HostIntervals hosts) const {
  const bool frozen = recorder_->in_outage() && outage_.kind == Disturbance::Kind::kFreeze;
  const auto count = [](double number) { return static_cast<std::size_t>(std::max(number, 0.0)); };
  for (std::size_t i = 0; i < hosts.size(); ++i) {
    hosts[i].concurrency.reset();
    hosts[i].frozen = frozen && i < options_.hosts.hit();
    const auto& monitor = dependencies_.monitors[i];
    const auto status = monitor && !hosts[i].frozen ? monitor->status() : std::nullopt;
    if (!status) continue;
    hosts[i].concurrency = count(status->concurrency);
    const auto workers = status->workers.value_or(ServerStatus::Workers());
    hosts[i].workers.busy = count(workers.busy);
    hosts[i].workers.waiting = count(workers.waiting);
  }
  return hosts;
}

std::optional<HostsResult> Experiment::hosts_result() const {
  if (!hosts_) return std::nullopt;
  return hosts_->with([this](const PickedHosts& hosts, TimePoint now) {
    return hosts.result(with_states(hosts.totals(now)));
  });
}

void Experiment::begin() {
  Dashboard* const dashboard = dependencies_.dashboard;
  workload_.picks_hosts = options_.hosts.each_process_picks();
  probes_.reset();
  if (options_.hosts.many()) {
    hosts_ = std::make_shared<CalledHosts>(options_.hosts, dependencies_.requests, seed_,
                                           sharing_processes(workload_));
  }
  if (!dependencies_.probes.empty()) {
    probes_.emplace(options_.hosts.life.probe, dependencies_.probes, *hosts_, seed_);
  }
  fleet_ = std::make_shared<Fleet>(
      workload_, seed_, dependencies_.requests.front(),
      FleetLimits{.max_threads = options_.max_threads,
                  .spared_ports = dependencies_.spared_ports,
                  .loses_connections =
                      options_.outage_at && loses_connections(workload_, options_.timeline.outage),
                  .deadline = options_.deadline,
                  .hosts = hosts_});
  dropped_reported_ = 0;
  dependencies_.fleet.set(fleet_);
  start_ = Clock::now();
  if (hosts_) hosts_report_at_ = saturating_add(start_, options_.report_interval);
  end_ = saturating_add(start_, options_.duration.value_or(Duration::max()));
  if (options_.outage_at) outage_begins_at_ = saturating_add(start_, *options_.outage_at);
  actions_done_ = 0;
  failed_orders_ = 0;
  outage_failed_ = false;
  load_ = planned_load_ = 1;
  load_steps_ = workload_.plan.steps();
  if (options_.trace > 0) {
    fleet_->follow(start_, options_.trace);
    // A user who gives the server's process id wants to freeze it, perhaps only from the page.
    if (dependencies_.servers.empty() && !options_.outage_at) fleet_->trace()->open();
  }
  recorder_.emplace(start_);
  most_before_ = 0;
  lines_.emplace(dependencies_.out);
  recorder_->add(*lines_, options_.report_interval);
  const Style style = style_of(STDOUT_FILENO, options_.look.color);
  const bool announced = options_.outage_at || !dependencies_.servers.empty();
  const std::string below =
      words_of({announced ? "below-client" : "seen-below", {{"seed", std::to_string(seed_)}}});
  recorder_->add(answer_.emplace(dependencies_.out, style, below, true), options_.report_interval);
  if (options_.look.verbose) {
    recorder_->add(figures_.emplace(dependencies_.out, style), options_.report_interval);
  }
  recorder_->add(json_report_, options_.report_interval);
  if (dependencies_.judge != nullptr)
    recorder_->add(*dependencies_.judge, options_.report_interval);
  if (dashboard != nullptr) {
    recorder_->add(page_report_, kPageInterval);
    dashboard->events().begin_run();
  }

  const auto start = start_line();
  dependencies_.json.write(start);
  if (dashboard != nullptr) show(start);
  take_load_steps(start_);
  fleet_->start();
}

// Without an outage nothing has recovered, and while it goes on nothing can.
Recovery Experiment::checked(Recovery recovery) const {
  const OutageCommand* const commands = dependencies_.outage_command;
  recovery = with_doubts(
      std::move(recovery),
      {.by = made_by(outage_),
       .begin_failed = command_failed(),
       .end_failed = commands != nullptr && !recorder_->in_outage() && commands->end_failed()});
  if (recovery.to_watch) recovery.causes.push_back({"watch-longer", {}});
  if (recovery.verdict == Verdict::kCollapsed && !recorder_->outage().empty() && !server_status()) {
    recovery.causes.push_back({"queue-unknown", {}});
  }
  const bool is_open =
      recovery.verdict == Verdict::kNoOutage || recovery.verdict == Verdict::kUndecided;
  if (is_open && options_.outage_at && recorder_->outage().empty()) {
    recovery.causes.insert(recovery.causes.begin(),
                           {outage_failed_ ? "begin-missed" : "ended-before-outage", {}});
  }
  return recovery;
}

std::optional<ServerStatus> Experiment::server_status() const {
  std::optional<ServerStatus> sum;
  for (const auto& each : dependencies_.monitors) {
    const auto status = each ? each->status() : std::nullopt;
    if (status) sum = sum ? *sum + *status : status;
  }
  return sum;
}

std::optional<HeldDown> Experiment::held_down(const ServerStatus& server, double ok,
                                              double attempts) {
  const bool before = recorder_->outage().empty();
  if (before) most_before_ = std::max(most_before_, server.concurrency);
  const auto baseline = recorder_->recovery().baseline_ok;
  if (before || recorder_->in_outage() || !baseline || ok >= *baseline / 2) return std::nullopt;
  return retrystorm::held_down(server, workload_.timeout, attempts, most_before_);
}

std::optional<std::size_t> Experiment::waiting() const {
  const auto status = server_status();
  if (!status || !status->workers) return std::nullopt;
  return static_cast<std::size_t>(std::max(status->workers->waiting, 0.0));
}

Json Experiment::start_line() const {
  const std::string& strategy = workload_.retry.strategy;
  std::string command = started_as_.command;
  Json options = started_as_.options;
  if (strategy != options_.workload.retry.strategy) {
    command.append(" --strategy=").append(strategy);
    const auto seed = options["seed"];
    options.update(workload_json(workload_));
    options["seed"] = seed;
  }
  options["title"] = retries_title(workload_.retry);
  options["outlook"] = outlook_json(look_ahead(options_, workload_));
  return start_json("client", command, options, std::chrono::system_clock::now());
}

void Experiment::show(Json event) {
  Dashboard& dashboard = *dependencies_.dashboard;
  const std::string type = event["type"];
  // It shows no single hosts and requests.
  if (type == "host" || type == "attempt" || type == "request") return;
  if (type == "start") {
    event["seed"] = std::to_string(seed_);  // 64 bits: more than a number in a browser holds
    event["can_freeze"] = dashboard.can_freeze();
    event["can_order"] = dashboard.can_order();
    event["strategies"] = Json::array();
    for (const NamedStrategy& each : named_strategies()) event["strategies"].push_back(each.name);
  } else if (type == "interval") {
    const FleetTotals totals = fleet_->totals();
    const ClientHistory history = fleet_->history();
    // The run so far, under the names that the summary uses.
    event["so_far"] = {
        {"amplification", rounded(totals.counts.amplification())},
        {"success_share", share_json(totals.counts.success_share())},
        {"gave_up", totals.counts.gave_up()},
        {"gave_up_by", gave_up_json(totals.counts.gave_up_by)},
        {"not_sent", totals.counts.not_sent},
        {"latency_ms", latency_json(history.latencies.attempts())},
        {"request_time_ms", latency_json(history.latencies.requests())},
        {"longest_without_ok_s", rounded(to_seconds(history.longest_without_ok))},
        {"first_error", history.first_error},
    };
    event["recovery"] = recovery_json(checked(recorder_->recovery()));
    const auto server = server_status();
    if (const auto held =
            server ? held_down(*server, event["ok"], event["attempts"]) : std::nullopt) {
      event["held"] = {{"why", words_of(held->why)}, {"shed_above", held->shed_above}};
    }
    event["server"] = nullptr;
    const bool frozen = recorder_->in_outage() && outage_.kind == Disturbance::Kind::kFreeze;
    if (server && !frozen) {
      event["server"] = {{"concurrency", server->concurrency},
                         {"last_delay_s", server->last_delay_s}};
      if (const auto late = late_from(*server, workload_.timeout)) {
        event["server"]["late_from"] = rounded(*late);
      }
      add_workers(event["server"], server->workers);
    }
  }
  const bool lasting = type == "start" || type == "summary";
  dashboard.events().send(event, lasting ? EventStream::Keep::kAlways : EventStream::Keep::kRun);
}

void Experiment::notice(const std::string& text) {
  std::cerr << text << '\n';
  if (dependencies_.dashboard != nullptr) show({{"type", "notice"}, {"text", text}});
}

void Experiment::report_dropped_arrivals() {
  const std::uint64_t dropped = fleet_->totals().arrival_lag.dropped_arrivals;
  if (dropped == dropped_reported_) return;
  notice(std::to_string(dropped - dropped_reported_) + " arrivals found no thread: all " +
         std::to_string(fleet_->threads()) +
         " are busy (--max-threads=" + std::to_string(options_.max_threads) + ")");
  dropped_reported_ = dropped;
}

void Experiment::report_commands(Duration patience) {
  OutageCommand* const commands = dependencies_.outage_command;
  if (commands == nullptr) return;
  for (const std::string& each : commands->take_news(patience)) notice(each);
  if (patience > Duration::zero() && commands->under_way()) {
    notice(
        "a command of the outage still runs: this client does not wait for it, and it is "
        "terminated if it takes too long");
  }
}

bool Experiment::any_server(const std::function<void(ServerProcess&)>& act) {
  bool any = false;
  for (ServerProcess& each : dependencies_.servers) {
    try {
      act(each);
      any = true;
    } catch (const std::exception& error) {
      notice(error.what());  // it has ended
    }
  }
  return any;
}

void Experiment::begin_outage(const Disturbance& outage, Duration length) {
  if (recorder_->in_outage() || is_ordered(Order::Kind::kBegin)) {
    return lengthen_outage(outage, length);
  }
  const TimePoint until = saturating_add(Clock::now(), length);
  try {
    switch (made_by(outage)) {
      case Disturbance::By::kSignals:
        if (freeze(until)) break;
        outage_failed_ = true;
        return;
      case Disturbance::By::kCommands:
        dependencies_.outage_command->begin(until);
        break;
      case Disturbance::By::kService:
        outage_ = outage;
        return give(print_outage_order({outage, saturating_add(length, kLease)}),
                    {.kind = Order::Kind::kBegin, .length = length});
      case Disturbance::By::kClients:
      case Disturbance::By::kActions:
        break;
    }
  } catch (const std::exception& error) {
    outage_failed_ = true;
    return notice(error.what());  // the server or the commands' process has ended: no outage
  }
  outage_ = outage;
  outage_has_begun(length, until);
}

void Experiment::outage_has_begun(Duration length, TimePoint until) {
  const std::string what = print_disturbance(outage_);
  fleet_->begin_phase();
  recorder_->outage_begins(Clock::now(), fleet_->totals().counts, what);
  // Nobody here knows what else a command changed, or whether the other one mends it.
  if (made_by(outage_) == Disturbance::By::kCommands) recorder_->note_change();
  if (loses_connections(outage_)) fleet_->lose_connections();
  if (hosts_) hosts_->with([](PickedHosts& hosts, TimePoint) { hosts.outage_begins(); });
  set_load();
  if (fleet_->trace() != nullptr) fleet_->trace()->open();
  if (loses_connections(outage_)) {
    std::cerr << kConnectionsLost << '\n';
  } else {
    std::cerr << (outage_.kind == Disturbance::Kind::kFreeze ? "server frozen" : what) << " for "
              << format_duration(length) << '\n';
  }
  outage_ends_at_ = until;
}

// The page froze the server during the scripted outage, or the scripted outage came while the page
// had it frozen, or the page froze it twice.
void Experiment::lengthen_outage(const Disturbance& outage, Duration length) {
  if (outage != Disturbance() || outage_ != Disturbance()) {
    return notice("another outage is in force: " + print_disturbance(outage_));
  }
  const TimePoint now = Clock::now();
  const TimePoint until = saturating_add(now, length);
  if (until > outage_ends_at_) {
    if (!freeze(until)) return;
    outage_ends_at_ = until;
    notice("the server is already frozen: it now stays frozen for " + format_duration(length) +
           " from now on");
  } else {
    const auto left = std::chrono::ceil<std::chrono::seconds>(outage_ends_at_ - now);
    notice("the server is already frozen for longer than that: " +
           format_duration(std::chrono::duration_cast<Duration>(left)) + " to go");
  }
}

void Experiment::end_outage() {
  const Duration late = Clock::now() - std::exchange(outage_ends_at_, TimePoint::max());
  if (late > kNoticedDelay &&
      (outage_.kind == Disturbance::Kind::kFreeze || outage_.kind == Disturbance::Kind::kCommand)) {
    notice("this client was stopped or delayed: the outage ended in time, but is recorded as " +
           format_duration(std::chrono::floor<std::chrono::milliseconds>(late)) + " too long");
  }
  try {
    switch (made_by(outage_)) {
      case Disturbance::By::kSignals:
        if (any_server([](ServerProcess& each) { each.wake(); })) std::cerr << "server awake\n";
        break;
      case Disturbance::By::kCommands:
        dependencies_.outage_command->end();
        break;
      case Disturbance::By::kService:
        if (is_ordered(Order::Kind::kEnd)) return;
        return give(print_outage_end(outage_), {.kind = Order::Kind::kEnd});
      case Disturbance::By::kClients:
      case Disturbance::By::kActions:
        break;
    }
  } catch (const std::exception& error) {
    // It was killed while it was frozen, for example. The outage is over: its kernel refuses
    // connections again.
    notice(error.what());
  }
  outage_is_over();
}

void Experiment::outage_is_over() {
  const bool announced = outage_.kind == Disturbance::Kind::kFreeze || loses_connections(outage_);
  if (!announced && !command_failed()) std::cerr << "outage over\n";
  fleet_->begin_phase();
  recorder_->outage_ends(Clock::now(), fleet_->totals().counts);
  if (hosts_) hosts_->with([](PickedHosts& hosts, TimePoint) { hosts.outage_ends(); });
  set_load();
}

void Experiment::carry_out(const TimedAction& step) {
  if (is_of_service(step.action)) {
    return give(print_action(step.action),
                {.announcement = step.announcement, .leaves = what_lasts(step.action)});
  }
  load_ = step.action.factor;
  set_load();
  recorder_->set_load(Clock::now(), load_ * planned_load_, workload_);
  record_action(step.announcement, what_lasts(step.action));
}

void Experiment::record_action(const std::string& announcement, Lasting leaves) {
  if (!announcement.empty()) std::cerr << announcement << '\n';
  recorder_->action(Clock::now(), announcement, leaves);
}

void Experiment::give(const std::string& text, const Order& order) {
  const bool is_action = order.kind == Order::Kind::kAction;
  dependencies_.control->send(text, is_action ? options_.hosts.replicas : options_.hosts.hit());
  orders_.push_back(order);
}

bool Experiment::is_ordered(Order::Kind kind) const {
  return std::ranges::any_of(orders_, [kind](const Order& each) { return each.kind == kind; });
}

void Experiment::take_answers() {
  if (dependencies_.control == nullptr) return;
  for (const auto& [text, why_not] : dependencies_.control->take_answers()) {
    const Order order = orders_.front();
    orders_.pop_front();
    const bool is_end = order.kind == Order::Kind::kEnd;
    if (is_end && !recorder_->in_outage()) continue;  // the outage's start failed, and was counted
    if (!why_not.empty()) {
      ++failed_orders_;
      notice(text + ": " + why_not);
      outage_failed_ |= order.kind == Order::Kind::kBegin;
    }
    if (is_end) {
      outage_is_over();  // if the server did not get the order, it ends the outage after `kLease`
    } else if (why_not.empty()) {
      order.kind == Order::Kind::kBegin
          ? outage_has_begun(order.length, saturating_add(Clock::now(), order.length))
          : record_action(order.announcement, order.leaves);
    }
  }
}

void Experiment::set_load() {
  const double planned = workload_.plan.has_times() ? 1 : planned_load_;
  fleet_->set_load(load_ * planned * (recorder_->in_outage() ? load_factor(outage_) : 1));
}

void Experiment::take_load_steps(TimePoint now) {
  for (; now >= next_load_step(); load_steps_ = load_steps_.subspan(1)) {
    planned_load_ = load_steps_.front().load;
    recorder_->set_load(now, load_ * planned_load_, workload_);
    set_load();
  }
}

void Experiment::take_commands() {
  if (dependencies_.dashboard == nullptr) return;
  while (const auto command = dependencies_.dashboard->commands().pop()) {
    std::visit([this](const auto& each) { handle(each); }, *command);
  }
}

void Experiment::handle(const FreezeCommand& command) {
  if (!dependencies_.servers.empty()) begin_outage({}, command.length);
}

void Experiment::handle(const WakeCommand&) {
  if (recorder_->in_outage()) end_outage();
}

void Experiment::handle(const ActCommand& command) {
  carry_out({.action = command.action, .announcement = print_action(command.action)});
}

void Experiment::handle(const RestartCommand& command) {
  finish();
  workload_ = dependencies_.restarted_with(command.strategy);
  std::cerr << "started again with the strategy " << workload_.retry.strategy << '\n';
  begin();
}

void Experiment::finish() {
  outage_begins_at_ = TimePoint::max();
  if (recorder_->in_outage() || is_ordered(Order::Kind::kBegin)) end_outage();
  // Stopping the fleet shuts down every connection of this process.
  if (dependencies_.control != nullptr) dependencies_.control->finish(kLastOrder);
  take_answers();
  look_for_service(1);
  const TimePoint now = Clock::now();
  report_dropped_arrivals();
  const FleetTotals totals = fleet_->totals();
  Counts counts = totals.counts;
  const std::optional<std::size_t> waiting_at_end = waiting();
  fleet_->stop();
  report_commands(kCommandPatience);
  if (fleet_->trace() != nullptr) recorder_->report_requests(fleet_->trace()->take_rest());
  ClientHistory history = fleet_->history();
  history.latencies.end(workload_.timeout, counts);
  recorder_->summarize(
      {.title = retries_title(workload_.retry),
       .outage = recorder_->outage(),
       .failed_commands = dependencies_.outage_command == nullptr
                              ? std::nullopt
                              : std::optional(dependencies_.outage_command->failures()),
       .failed_orders =
           dependencies_.control == nullptr ? std::nullopt : std::optional(failed_orders_),
       .clients = workload_.clients,
       .processes = sharing_processes(workload_),
       .arrival_rate = arrival_rate(workload_),
       .arrivals = workload_.plan.unless_constant(),
       .arrival_lag = fleet_->is_open() ? std::optional(totals.arrival_lag) : std::nullopt,
       .seed = seed_,
       .elapsed = now - start_,
       .counts = counts,
       .recovery = checked(recorder_->end(now, counts, waiting_at_end)),
       .latencies = history.latencies,
       .phases = recorder_->phases(history.latencies),
       .retry_metrics = history.retry_metrics,
       .longest_without_ok = history.longest_without_ok,
       .first_error = history.first_error,
       .paced = workload_.retry.pacer.on,
       .job = fleet_->job_result(),
       .reconnect = fleet_->reconnect_result(),
       .hosts = hosts_result(),
       .kept = totals.clients.kept});
}

}  // namespace retrystorm
