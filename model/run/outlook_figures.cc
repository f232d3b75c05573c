// An outlook as a table of figures, and what else is read from it: the options that decide.
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <utility>

#include "model/base/text.h"
#include "model/run/outlook.h"

namespace retrystorm {

std::vector<OutlookFigure> outlook_figures(const Outlook& outlook) {
  using Unit = OutlookFigure::Unit;
  using Shown = OutlookFigure::Shown;
  using Value = decltype(OutlookFigure::value);
  const auto if_any = [](const std::optional<Duration>& time) {
    return time ? Value(*time) : Value();
  };
  const auto explained_if = [](bool some) { return some ? Shown::kEverywhere : Shown::kJson; };
  const Outlook::Retries& retries = outlook.retries;
  const auto& service = outlook.service;
  const bool timeouts = retries.timeouts.rate != retries.errors.rate;
  const auto processes = static_cast<double>(outlook.processes);
  const bool shares = outlook.budget != "none" || outlook.gates || retries.hedge.shares() ||
                      outlook.client_rate != kUnlimited;
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
  add("budget_lasts_s", Unit::kTime, if_any(retries.overload().budget_lasts));
  add("median_waits_s", Unit::kTime, retries.waits);
  add("median_wait_falls_at_retry", Unit::kCount,
      retries.falls_at > 0 ? Value(retries.falls_at) : Value());
  add("processes", Unit::kCount, outlook.processes, explained_if(shares));
  add("process_requests_per_s", Unit::kPerSecond, outlook.wanted / processes, Shown::kJson);
  if (service) {
    add("capacity_per_s", Unit::kPerSecond, service->capacity);
    add("used", Unit::kShare, service->used);
    add("idle_ms.p50", Unit::kTime, service->p50);
    add("idle_ms.p99", Unit::kTime, service->p99, explained_if(service->p99 != service->p50));
    add("late_from", Unit::kCount, service->late_from);
    if (service->kind == Capacity::kCurve) {
      add("held_from", Unit::kCount, service->held_from);
    } else {
      add("can_hold_itself", Unit::kCount, retries.can_hold);
      add("drains_below_per_s", Unit::kPerSecond, retries.drains_below,
          explained_if(retries.can_hold));
      if (retries.drain) {
        add("drains_at_per_s", Unit::kPerSecond, *retries.drain, Shown::kExplained);
      }
      if (std::isfinite(retries.answered)) {
        add("answered_in_storm_per_s", Unit::kPerSecond, retries.answered, Shown::kExplained);
      }
    }
  }
  if (const auto& outage = outlook.outage) {
    add("outage_requests", Unit::kCount, outage->wanted, Shown::kJson);
    add("outage_unanswered", Unit::kCount, outage->unanswered,
        explained_if(outage->burst == 0 && outage->unanswered > 0));
    if (outage->burst > 0) {
      add("outage_attempts_per_s_at_end", Unit::kPerSecond, outage->attempts_at_end, Shown::kJson);
      // What decides on the curve is how many come at once; of workers, how many wait.
      const bool curve = service && service->kind == Capacity::kCurve;
      add("outage_burst", Unit::kCount, outage->burst, explained_if(curve));
    }
    if (service) {
      add("outage_waiting", Unit::kCount, outage->waiting, explained_if(outage->waiting > 0));
      add("outage_work_s", Unit::kTime, outage->work, explained_if(outage->waiting > 0));
      add("outage_drains_in_s", Unit::kTime,
          if_any(outage->drains_in_is_near ? outage->drains_in : std::nullopt));
    }
  }
  if (const auto& herd = outlook.herd) {
    add("reconnect_window_s", Unit::kTime, herd->window);
    add("reconnects_per_s", Unit::kPerSecond, herd->rate);
    if (service) add("reconnect_capacity_per_s", Unit::kPerSecond, herd->capacity);
    add("reconnect_back_s", Unit::kTime,
        herd->back != Duration::max() ? Value(herd->back) : Value());
  }
  return all;
}

Statement statement_of(const Disturbance& disturbance) {
  using Kind = Disturbance::Kind;
  const auto of = [&](std::string_view id) {
    return Statement{id, {{"value", disturbance.value}, {"share", ShareOf{disturbance.value}}}};
  };
  switch (disturbance.kind) {
    case Kind::kFreeze:
      return of("outage-freeze");
    case Kind::kDrop:
      return of("outage-drop");
    case Kind::kSlow:
      return of("outage-slow");
    case Kind::kErrors:
      return of("outage-errors");
    case Kind::kCapacity:
      return of("outage-capacity");
    case Kind::kThrottle:
      return of("outage-throttle");
    case Kind::kLoad:
      return of("outage-load");
    case Kind::kCommand:
      return of("outage-command");
    case Kind::kReconnect:
      return of("outage-reconnect");
  }
  return of("");
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
  std::vector<std::string> names;
  const auto add = [&names](std::initializer_list<const char*> some) {
    for (const char* name : some) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
    }
  };
  const bool workers = outlook.service && outlook.service->kind == Capacity::kWorkers;
  if (outlook.retries.usual_waits) add({"strategy"});
  if (workers || !outlook.graph.empty()) {
    add({"workers", "service-time"});
    if (!outlook.connections || !outlook.connections->multiplexed) add({"accepts"});
  } else if (outlook.service) {
    add({"service"});
    // Where a limit decides, agents call as often as calls are short.
    if (outlook.service->has_rate_limit && outlook.arrivals == Arrivals::kClosed)
      add({"base-delay"});
  }
  if (outlook.arrivals == Arrivals::kOpen) add({"rate"});
  if (outlook.arrivals == Arrivals::kClosed) add({"arrivals", "clients", "lambda"});
  add({"timeout"});
  if (outlook.outage) add({"outage", "outage-for", "observe"});
  if (outlook.outage && outlook.outage->what.kind == Disturbance::Kind::kErrors &&
      outlook.outage->errors_cost) {
    add({"error-after"});
  }
  if (outlook.outage && outlook.outage->what.kind == Disturbance::Kind::kFreeze) {
    // Connections that all share outlast the freeze.
    const bool shared = outlook.connections && outlook.connections->multiplexed;
    if (workers && !shared) add({"backlog", "connections"});
    if (!outlook.graph.empty()) add({"backlog"});
  }
  if (outlook.repeats_syns) add({"syn-linear-timeouts"});
  if (!outlook.graph.empty()) add({"waiting", "abandoned"});
  if (outlook.herd) add({"reconnect-base", "reconnect-calls"});
  if (workers || (outlook.service && outlook.outage)) add({"abandoned"});
  // Who is told when to come back, and does it?
  if (outlook.service && outlook.service->has_rate_limit) add({"hint", "retry-after"});
  if (outlook.connections) {
    add({"pool-size", "processes"});
    if (outlook.connections->multiplexed) add({"streams"});
    if (outlook.connections->room != Outlook::kUnlimited) add({"pool-wait", "pool-wait-counts"});
  }
  if (outlook.hangs_on_rejections()) add({"queue-length", "rejection-cost"});
  // A budget saves what the calm pays in, and each process has its own.
  if (outlook.budget != "none") add({"processes", "outage-at"});
  if (outlook.gates || outlook.client_rate != Outlook::kUnlimited ||
      outlook.retries.hedge.shares()) {
    add({"processes"});
  }
  if (outlook.retries.hedges > 0) add({"hedge-max", "hedge-budget"});
  if (outlook.budget_is_bucket) add({"budget-tokens"});
  // A retry counts from its wait on.
  if (outlook.budget_is_concurrent) add({"backoff-base", "retry-on"});
  std::erase_if(names, [&](const auto& name) { return outlook.set_by_services.contains(name); });
  return names;
}

}  // namespace retrystorm
