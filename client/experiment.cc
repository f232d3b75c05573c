#include "client/experiment.h"

#include <algorithm>
#include <exception>
#include <iostream>
#include <variant>

#include "common/cli/options.h"
#include "common/http/control.h"
#include "common/output/report.h"
#include "model/retry/strategies.h"
#include "model/run/disturbance.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

std::string title(const WorkloadOptions& workload) {
  return workload.retry.strategy + " retries, " +
         callers_text(workload.clients, arrival_rate(workload)) + " (Ctrl-C ends them)";
}

// So long a command from the page, what has become of an outage's, or the end of a job may wait.
constexpr Duration kCommandLatency = 100ms;
// So much longer than planned the server keeps an outage up when nobody is left to end it.
constexpr Duration kLease = 2s;
// So long the run's end waits for the command that ends an outage.
constexpr Duration kCommandPatience = 10s;
// So often the page is told how the run goes.
constexpr Duration kPageInterval = 1s;

}  // namespace

Experiment::Experiment(const ClientOptions& options, std::uint64_t seed,
                       const StartedAs& started_as, const Dependencies& dependencies)
    : options_(options),
      seed_(seed),
      started_as_(started_as),
      dependencies_(dependencies),
      workload_(options.workload),
      actions_(actions(options.timeline)),
      json_report_(dependencies.json.sink()),
      page_report_(*this) {}

void Experiment::PageReport::on_interval(const RunInterval& interval) {
  experiment_.show(client_interval_json(interval));
}

void Experiment::PageReport::on_outage(Duration t, OutageEvent event, const std::string& what) {
  experiment_.show(outage_json(t, event, what));
}

void Experiment::PageReport::on_action(Duration t, const std::string& what) {
  experiment_.show(action_json(t, what));
}

void Experiment::PageReport::on_summary(const Summary& summary) {
  experiment_.show(summary_json(summary));
}

void Experiment::run(EndSignals& signals) {
  begin();
  while (!signals.wait_until(next_event())) {
    const TimePoint now = Clock::now();
    if (now >= recorder_->next_tick()) {
      const FleetTotals totals = fleet_->totals();
      recorder_->tick(now, totals.counts, totals.clients, fleet_->history().latencies);
      if (fleet_->trace() != nullptr) recorder_->tell(fleet_->trace()->take_finished());
      tell_dropped_arrivals();
    }
    if (now >= outage_begins_at_) {
      outage_begins_at_ = TimePoint::max();
      begin_outage(options_.timeline.outage, *options_.outage_for);
    }
    if (now >= outage_ends_at_) end_outage();
    while (now >= next_action()) carry_out(actions_[actions_done_++]);
    tell_commands();
    if (now >= end_ || fleet_->all_done()) break;
    take_commands();
  }
  finish();
}

TimePoint Experiment::next_action() const {
  return actions_done_ < actions_.size() ? saturating_add(start_, actions_[actions_done_].t)
                                         : TimePoint::max();
}

TimePoint Experiment::next_event() const {
  const TimePoint next =
      std::min({recorder_->next_tick(), outage_begins_at_, outage_ends_at_, next_action(), end_});
  const OutageCommand* const commands = dependencies_.outage_command;
  const bool looks_often = dependencies_.dashboard != nullptr ||
                           workload_.arrivals == Arrivals::kJob ||
                           (commands != nullptr && commands->under_way() > 0);
  return looks_often ? std::min(next, Clock::now() + kCommandLatency) : next;
}

void Experiment::begin() {
  Dashboard* const dashboard = dependencies_.dashboard;
  fleet_ = std::make_shared<Fleet>(
      workload_, seed_, dependencies_.request,
      FleetLimits{.max_threads = options_.max_threads, .spared_ports = dependencies_.spared_ports});
  dropped_told_ = 0;
  dependencies_.fleet.set(fleet_);
  start_ = Clock::now();
  end_ = saturating_add(start_, options_.duration.value_or(Duration::max()));
  if (options_.outage_at) outage_begins_at_ = saturating_add(start_, *options_.outage_at);
  actions_done_ = 0;
  load_ = 1;
  if (options_.trace > 0) {
    fleet_->follow(start_, options_.trace);
    // Who names the server's process is going to freeze it, if only from the page.
    if (dependencies_.server == nullptr && !options_.outage_at) fleet_->trace()->open();
  }
  recorder_.emplace(start_);
  if (dependencies_.screen != nullptr) {
    // The screen hides the line that told the page's address.
    shown_ = std::make_unique<ScreenReport>(
        dashboard == nullptr ? title(workload_) : "live page: " + dashboard->address(),
        *dependencies_.screen, dependencies_.out);
  } else {
    shown_ = std::make_unique<LineReport>(dependencies_.out);
  }
  recorder_->add(*shown_, options_.report_interval);
  recorder_->add(json_report_, options_.report_interval);
  if (dashboard != nullptr) {
    recorder_->add(page_report_, kPageInterval);
    dashboard->events().begin_run();
  }

  const auto start = start_line();
  dependencies_.json.write(start);
  if (dashboard != nullptr) show(start);
  fleet_->start();
}

nlohmann::ordered_json Experiment::start_line() const {
  const std::string& strategy = workload_.retry.strategy;
  std::string command = started_as_.command;
  nlohmann::ordered_json options = started_as_.options;
  if (strategy != options_.workload.retry.strategy) {
    command.append(" --strategy=").append(strategy);
    const auto seed = options["seed"];
    options.update(workload_json(workload_));
    options["seed"] = seed;
  }
  return start_json("client", command, options, std::chrono::system_clock::now());
}

// What the page gets besides what the file gets.
void Experiment::show(nlohmann::ordered_json event) {
  Dashboard& dashboard = *dependencies_.dashboard;
  const std::string type = event["type"];
  if (type == "start") {
    event["can_freeze"] = dashboard.can_freeze();
    event["strategies"] = nlohmann::ordered_json::array();
    for (const NamedStrategy& each : named_strategies()) event["strategies"].push_back(each.name);
  } else if (type == "interval") {
    const FleetTotals totals = fleet_->totals();
    const FleetHistory history = fleet_->history();
    // Of the run so far, by the names that the summary has.
    event["so_far"] = {
        {"amplification", rounded(totals.counts.amplification())},
        {"success_share", share_json(totals.counts.success_share())},
        {"gave_up", totals.counts.gave_up()},
        {"gave_up_by", gave_up_json(totals.counts.gave_up_by)},
        {"not_sent", totals.counts.not_sent},
        {"latency_ms", latency_json(history.latencies.attempts())},
        {"request_time_ms", latency_json(history.latencies.requests())},
        {"longest_without_ok_s", rounded(to_seconds(history.longest_without_ok))},
    };
    event["recovery"] = recovery_json(recorder_->recovery());
    const auto server = dashboard.server_status();
    event["server"] = nullptr;
    const bool frozen = recorder_->in_outage() && outage_.kind == Disturbance::Kind::kFreeze;
    if (server && !frozen) {
      event["server"] = {{"concurrency", server->concurrency},
                         {"last_delay_s", server->last_delay_s}};
      add_workers(event["server"], server->workers);
    }
  }
  const bool lasting = type == "start" || type == "summary";
  dashboard.events().tell(event, lasting ? EventStream::Keep::kAlways : EventStream::Keep::kRun);
}

void Experiment::notice(const std::string& text) {
  std::cerr << text << '\n';
  if (dependencies_.dashboard != nullptr) show({{"type", "notice"}, {"text", text}});
}

void Experiment::tell_dropped_arrivals() {
  const std::uint64_t dropped = fleet_->totals().punctuality.dropped_arrivals;
  if (dropped == dropped_told_) return;
  notice(std::to_string(dropped - dropped_told_) + " arrivals found no thread: all " +
         std::to_string(fleet_->threads()) +
         " are busy (--max-threads=" + std::to_string(options_.max_threads) + ")");
  dropped_told_ = dropped;
}

void Experiment::tell_commands(Duration patience) {
  OutageCommand* const commands = dependencies_.outage_command;
  if (commands == nullptr) return;
  for (const std::string& each : commands->take_news(patience)) notice(each);
  if (patience > Duration::zero() && commands->under_way() > 0) {
    notice("a command of the outage still runs: nobody waits for it any longer");
  }
}

void Experiment::begin_outage(const Disturbance& outage, Duration length) {
  if (recorder_->in_outage()) return lengthen_outage(outage, length);
  const TimePoint now = Clock::now();
  const std::string what = print_disturbance(outage);
  try {
    switch (outage.kind) {
      case Disturbance::Kind::kFreeze:
        dependencies_.server->freeze();
        break;
      case Disturbance::Kind::kCommand:
        dependencies_.outage_command->begin();
        break;
      default:
        if (!is_of_service(outage)) break;  // more load is the clients' own affair
        dependencies_.control->send(print_outage_order({outage, saturating_add(length, kLease)}));
    }
  } catch (const std::exception& error) {
    return notice(error.what());  // the server has ended, or who runs the commands: no outage
  }
  outage_ = outage;
  recorder_->outage_begins(now, fleet_->totals().counts, what);
  set_load();
  if (fleet_->trace() != nullptr) fleet_->trace()->open();
  std::cerr << (outage.kind == Disturbance::Kind::kFreeze ? "server frozen" : what) << " for "
            << format_duration(length) << '\n';
  outage_ends_at_ = saturating_add(now, length);
}

// Frozen from the page when the scripted outage comes, or the other way round, or twice from the
// page.
void Experiment::lengthen_outage(const Disturbance& outage, Duration length) {
  if (outage != Disturbance() || outage_ != Disturbance()) {
    return notice("there is an outage already: " + print_disturbance(outage_));
  }
  const TimePoint now = Clock::now();
  const TimePoint until = saturating_add(now, length);
  if (until > outage_ends_at_) {
    outage_ends_at_ = until;
    notice("the server is frozen already: it now stays so for " + format_duration(length) +
           " from here on");
  } else {
    const auto left = std::chrono::ceil<std::chrono::seconds>(outage_ends_at_ - now);
    notice("the server is frozen already, and for longer than that: " +
           format_duration(std::chrono::duration_cast<Duration>(left)) + " to go");
  }
}

void Experiment::end_outage() {
  outage_ends_at_ = TimePoint::max();
  const bool was_frozen = outage_.kind == Disturbance::Kind::kFreeze;
  try {
    switch (outage_.kind) {
      case Disturbance::Kind::kFreeze:
        dependencies_.server->wake();
        std::cerr << "server awake\n";
        break;
      case Disturbance::Kind::kCommand:
        dependencies_.outage_command->end();
        break;
      default:
        if (is_of_service(outage_)) dependencies_.control->send(std::string(kEndOfOutage));
    }
  } catch (const std::exception& error) {
    // It was killed while it was frozen, say. The outage is over all the same: it can refuse again.
    notice(error.what());
  }
  if (!was_frozen) std::cerr << "outage over\n";
  recorder_->outage_ends(Clock::now(), fleet_->totals().counts);
  set_load();
}

void Experiment::carry_out(const TimedAction& step) {
  if (step.action.kind == Action::Kind::kLoad) {
    load_ = step.action.factor;
    set_load();
  } else {
    dependencies_.control->send(print_action(step.action));
  }
  if (step.told.empty()) return;
  std::cerr << step.told << '\n';
  recorder_->action(Clock::now(), step.told);
}

void Experiment::set_load() {
  const bool more = recorder_->in_outage() && outage_.kind == Disturbance::Kind::kLoad;
  fleet_->set_load(load_ * (more ? outage_.value : 1));
}

void Experiment::take_commands() {
  if (dependencies_.dashboard == nullptr) return;
  while (const auto command = dependencies_.dashboard->commands().pop()) {
    std::visit([this](const auto& each) { handle(each); }, *command);
  }
}

void Experiment::handle(const FreezeCommand& command) {
  if (dependencies_.server != nullptr) begin_outage({}, command.length);
}

void Experiment::handle(const WakeCommand&) {
  if (recorder_->in_outage()) end_outage();
}

void Experiment::handle(const RestartCommand& command) {
  finish();
  workload_ = dependencies_.restarted_with(command.strategy);
  std::cerr << "start again: " << workload_.retry.strategy << '\n';
  begin();
}

void Experiment::finish() {
  outage_begins_at_ = TimePoint::max();
  if (recorder_->in_outage()) end_outage();
  // The connections of the fleet are about to be shut down, and with them all others.
  if (dependencies_.control != nullptr) dependencies_.control->drain(kLease);
  const TimePoint now = Clock::now();
  tell_dropped_arrivals();
  const FleetTotals totals = fleet_->totals();
  const Counts& counts = totals.counts;
  fleet_->stop();
  tell_commands(kCommandPatience);
  if (fleet_->trace() != nullptr) recorder_->tell(fleet_->trace()->take_rest());
  const FleetHistory history = fleet_->history();
  recorder_->summarize(
      {.strategy = workload_.retry.strategy,
       .outage = recorder_->outage(),
       .failed_commands = dependencies_.outage_command == nullptr
                              ? std::nullopt
                              : std::optional(dependencies_.outage_command->failures()),
       .clients = workload_.clients,
       .arrival_rate = arrival_rate(workload_),
       .punctuality = fleet_->is_open() ? std::optional(totals.punctuality) : std::nullopt,
       .seed = seed_,
       .elapsed = now - start_,
       .counts = counts,
       .recovery = recorder_->end(now, counts),
       .latencies = history.latencies,
       .retry_metrics = history.retry_metrics,
       .longest_without_ok = history.longest_without_ok,
       .paced = workload_.retry.pacer.on,
       .job = fleet_->job_result()});
}

}  // namespace retrystorm
