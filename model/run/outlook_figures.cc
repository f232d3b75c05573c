// An outlook as a table of figures, and what else is read from it: the options that decide.
#include <algorithm>
#include <cmath>
#include <utility>

#include "model/base/text.h"
#include "model/run/outlook.h"

namespace retrystorm {

std::vector<OutlookFigure> outlook_figures(const Outlook& outlook) {
  using Unit = OutlookFigure::Unit;
  using Shown = OutlookFigure::Shown;
  using Value = decltype(OutlookFigure::value);
  const auto explained_if = [](bool some) { return some ? Shown::kEverywhere : Shown::kJson; };
  const Outlook::Retries& retries = outlook.retries;
  const auto& service = outlook.service;
  const bool timeouts = retries.timeouts.rate != retries.errors.rate;
  const RetrySettings& retry = outlook.input.workload.retry;
  const bool shares = retry.process.budget.name != "none" || outlook.gates ||
                      retry.hedge.shares() || outlook.client_rate != kUnlimited;
  std::vector<OutlookFigure> all;
  const auto add = [&all](std::string_view id, Unit unit, Value value,
                          Shown shown = Shown::kEverywhere) {
    all.push_back({id, unit, std::move(value), shown});
  };
  add("wanted_per_s", Unit::kPerSecond, outlook.wanted);
  add("attempts_per_request", Unit::kCount, retries.attempts);
  add("attempts_per_s_if_all_fail", Unit::kPerSecond, retries.overload().rate,
      explained_if(!timeouts));
  add("attempts_per_s_if_all_err", Unit::kPerSecond, retries.errors.rate, explained_if(timeouts));
  add("attempts_per_s_if_all_time_out", Unit::kPerSecond, retries.timeouts.rate,
      explained_if(timeouts));
  add("median_waits_s", Unit::kTime, retries.waits);
  add("processes", Unit::kCount, outlook.processes, explained_if(shares));
  if (service) {
    add("capacity_per_s", Unit::kPerSecond, service->capacity);
    add("used", Unit::kShare, service->used);
    add("idle_ms.p50", Unit::kTime, service->p50);
    add("idle_ms.p99", Unit::kTime, service->p99, explained_if(service->p99 != service->p50));
    add("late_from", Unit::kCount, service->late_from);
    if (outlook.of_workers()) add("can_hold_itself", Unit::kCount, retries.can_hold);
  }
  if (const auto& herd = outlook.herd) {
    add("reconnect_window_s", Unit::kTime, herd->window);
    add("reconnects_per_s", Unit::kPerSecond, herd->rate);
  }
  return all;
}

Statement statement_of(const Disturbance& disturbance) {
  // In the order of the kinds.
  constexpr std::string_view kIds[] = {"outage-freeze",  "outage-drop",      "outage-slow",
                                       "outage-errors",  "outage-capacity",  "outage-throttle",
                                       "outage-load",    "outage-reconnect", "outage-command",
                                       "outage-restart", "outage-load"};
  return {kIds[static_cast<std::size_t>(disturbance.kind)],
          {{"value", disturbance.value}, {"share", ShareOf{disturbance.value}}}};
}

std::string readable(double number) {
  if (!std::isfinite(number)) return "unlimited";
  if (std::abs(number) < 100) return print_number(to_digits(number, 3));
  if (std::abs(number) >= 1e15) return print_number(number);
  std::string digits = std::to_string(std::llround(number));
  for (std::size_t i = digits.size(); i > 3;) {
    i -= 3;
    digits.insert(i, 1, ',');
  }
  return digits;
}

std::string readable(Duration duration) {
  if (duration > Duration::max() / 2)
    return "unlimited";  // centuries, which rounding would overflow
  Duration::rep unit = 1;
  while (duration.count() / unit >= 1000) unit *= 10;
  return format_duration(Duration((duration.count() + unit / 2) / unit * unit));
}

std::vector<std::string> deciding_options(const Outlook& outlook) {
  using Kind = Disturbance::Kind;
  const WorkloadOptions& workload = outlook.input.workload;
  const BudgetSettings& budget = workload.retry.process.budget;
  const bool workers = outlook.of_workers(), graph = !outlook.graph.empty();
  const bool curve = outlook.service && !workers && !graph;
  const bool closed = workload.arrivals == Arrivals::kClosed;
  const bool outage = outlook.outage;
  const bool freeze = outage && outlook.has_outage(Kind::kFreeze);
  const auto& some = outlook.input.outage_of_some;
  const bool restart = outage && (some ? some->kind : outlook.input.outage->kind) == Kind::kRestart;
  const bool action = restart || outlook.has_outage(Kind::kLoadStep);
  const bool limited = outlook.service && outlook.input.service->rate_limit.rate > 0;
  const bool budgeted = budget.name != "none";
  // Connections that all share outlast a freeze.
  const bool shared = outlook.multiplexed();
  const std::pair<bool, std::string_view> rows[] = {
      {outlook.retries.usual_waits, "strategy"},
      {workers || graph, "workers,service-time"},
      {(workers || graph) && !shared, "accepts"},
      {curve, "service"},
      // Where a limit decides, agents call as often as calls are short.
      {curve && limited && closed, "base-delay"},
      {outlook.open() && !workload.plan.on(), "rate"},
      {workload.plan.on(), "arrivals"},
      {workload.plan.periodic(), "clients,splay"},
      {closed, "arrivals,clients,lambda"},
      {workload.arrivals == Arrivals::kJob, "workers-start"},
      {true, "timeout"},
      {outage && !action, "outage,outage-for"},
      {restart, "queue-length,host-start,host-warm-up"},
      {outage, "observe"},
      {outage && outlook.has_outage(Kind::kErrors) && (outlook.service || graph), "error-after"},
      {freeze && workers && !shared, "backlog,connections"},
      {freeze && graph, "backlog"},
      {outlook.repeats_syns, "syn-linear-timeouts"},
      {graph, "waiting,abandoned"},
      {outlook.herd.has_value(), "reconnect-base,reconnect-calls"},
      {workers || (outlook.service && outage), "abandoned"},
      // Who is told when to come back, and does it?
      {limited, "hint,retry-after"},
      {outlook.connections.has_value(), "pool-size,processes"},
      {shared, "streams"},
      {outlook.connections && outlook.connections->room != kUnlimited,
       "pool-wait,pool-wait-counts"},
      {outlook.hangs_on_rejections(), "queue-length,rejection-cost"},
      // A budget saves what the calm pays in, and each process has its own.
      {budgeted, "processes,outage-at"},
      {outlook.gates || outlook.client_rate != kUnlimited || workload.retry.hedge.shares(),
       "processes"},
      {outlook.retries.hedges > 0, "hedge-max,hedge-budget"},
      {budget.kind == BudgetSettings::Kind::kTokens && budget.ttl == Duration::max(),
       "budget-tokens"},
      // A retry counts from its wait on.
      {budget.kind == BudgetSettings::Kind::kConcurrent, "backoff-base,retry-on"},
  };
  std::vector<std::string> names;
  for (const auto& [decide, listed] : rows) {
    if (!decide) continue;
    for (const std::string_view name : split(listed, ',')) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
    }
  }
  std::erase_if(names, [&](const auto& name) { return outlook.set_by_services.contains(name); });
  return names;
}

}  // namespace retrystorm
