#include <algorithm>
#include <cmath>

#include "model/run/outlook.h"
#include "model/run/storm.h"

namespace retrystorm {
namespace {

void warn_of_herd(Outlook& outlook) {
  const WorkloadOptions& workload = outlook.input.workload;
  const Outlook::Herd& herd = *outlook.herd;
  Statements& all = outlook.warnings;
  if (outlook.service && herd.room == 0) {
    all.push_back(
        {"herd-without-room", {{"load", outlook.wanted}, {"capacity", outlook.service->capacity}}});
  } else if (outlook.service && !herd.in_time) {
    all.push_back({"herd-too-late",
                   {{"attempts", std::round(herd.piles_up)},
                    {"window", herd.window},
                    {"least", herd.advised},
                    {"enough", herd.all_room}}});
  }
  // Options of the waits between the attempts of a request do not change those of reconnects.
  if (workload.reconnect.backoff == ReconnectSettings().backoff &&
      workload.retry.backoff != RetrySettings().backoff) {
    all.push_back({"reconnect-waits", {{"base", workload.reconnect.backoff.base}}});
  }
}

// Clients that a rate limit turns away, and that come again sooner than it admits them.
void warn_of_limit(Outlook& outlook, const Storm& storm) {
  const double limit = outlook.service->capacity;
  const auto processes = static_cast<double>(outlook.processes);
  const Duration answer = mean_answer(*outlook.input.service);
  const bool held = outlook.client_rate <= outlook.wanted;
  const bool adapts = outlook.input.workload.retry.pacer.on || outlook.gates;
  Statement warning{
      held     ? "above-rate-limit-held"
      : adapts ? "above-rate-limit-adapting"
               : "above-rate-limit",
      {{"clients", outlook.clients()},
       {"processes", processes},
       {"load", outlook.wanted},
       {"limit", limit},
       {"each", limit / processes},
       {"think", std::max(from_seconds(outlook.clients() / limit) - answer, Duration::zero())}}};
  if (!adapts) {
    const double attempts =
        std::max(storm.attempts_beside(outlook.retries.errors, limit, answer), limit);
    const double digits = attempts < 100 ? 1 : 10;
    warning.values.push_back({"attempts", std::round(attempts / digits) * digits});
    warning.values.push_back({"wasted", ShareOf{1 - limit / attempts}});
  }
  outlook.warnings.push_back(std::move(warning));
}

// Calls that stay in step: processes that send at a fixed rate, begin together and never think; and the workers of a
// job in which nothing is random.
void warn_of_steps(Outlook& outlook) {
  const WorkloadOptions& workload = outlook.input.workload;
  const ServiceOptions& service = *outlook.input.service;
  const RetrySettings& retry = workload.retry;
  const auto processes = static_cast<double>(outlook.processes);
  const bool waits_are_fixed =
      retry.limit.max_retries == 0 || retry.backoff.jitter.kind == Jitter::Kind::kNone;
  if (workload.arrivals == Arrivals::kJob && outlook.clients() >= 2 && !service.draws() &&
      waits_are_fixed) {
    outlook.warnings.push_back({"job-in-step", {{"workers", outlook.clients()}}});
  }
  const double burst = bucket_size(service.rate_limit.burst, service.rate_limit.rate);
  if (retry.process.client_rate.kind == ClientRateSettings::Kind::kFixed &&
      workload.arrivals == Arrivals::kClosed && workload.think_time == Duration::zero() &&
      service.rate_limit.rate > 0 &&
      outlook.client_rate <= outlook.service->capacity * (1 + 1e-9) && processes > burst) {
    outlook.warnings.push_back({"processes-in-step", {{"processes", processes}, {"burst", burst}}});
  }
}

// A client whose turn comes only after its deadline sends nothing.
void warn_of_late_turns(Outlook& outlook) {
  const WorkloadOptions& workload = outlook.input.workload;
  if (outlook.client_rate == kUnlimited || workload.arrivals != Arrivals::kClosed ||
      workload.think_time > Duration::zero()) {
    return;
  }
  const Duration turn = from_seconds(outlook.clients() / outlook.client_rate);
  const Duration deadline = workload.retry.limit.deadline;
  if (turn <= deadline) return;
  outlook.warnings.push_back({"turn-after-deadline", {{"turn", turn}, {"deadline", deadline}}});
}

void warn_of_throttle(Outlook& outlook) {
  if (!outlook.has_outage(Disturbance::Kind::kThrottle)) return;
  const OutlookInput& input = outlook.input;
  if (input.service && input.service->capacity == Capacity::kCurve) {
    outlook.warnings.push_back({"curve-throttled", {}});
  }
  // One that the clients do not feel.
  const double rate = input.outage->value;
  const RateLimitSettings limit = input.service.value_or(ServiceOptions()).rate_limit;
  if (limit.rate > 0 && limit.rate <= rate && limit.autoscale.kind == AutoscaleKind::kNone) {
    outlook.warnings.push_back({"throttle-above-limit", {{"rate", rate}, {"limit", limit.rate}}});
  } else if (outlook.wanted <= rate) {
    outlook.warnings.push_back({"throttle-above-load", {{"rate", rate}, {"load", outlook.wanted}}});
  }
}

void warn_of_load(Outlook& outlook, const Storm& storm) {
  const Outlook::Service& service = *outlook.service;
  const WorkloadOptions& workload = outlook.input.workload;
  const bool held = outlook.client_rate <= outlook.wanted && service.used < 1 + 1e-9;
  if (service.used > 1 && service.rate_limited && !held && workload.arrivals == Arrivals::kClosed) {
    warn_of_limit(outlook, storm);
  } else if (service.used >= 1 && workload.arrivals != Arrivals::kJob &&
             !(held && service.rate_limited)) {
    outlook.warnings.push_back(
        {"no-capacity-left", {{"load", outlook.wanted}, {"capacity", service.capacity}}});
  } else if (const double load = outlook.input.load_at_end() * outlook.wanted;
             load > outlook.wanted && load >= service.capacity &&
             !outlook.input.hosts.life.scaling.on()) {
    outlook.warnings.push_back(
        {"no-capacity-then", {{"load", load}, {"capacity", service.capacity}}});
  }
  for (Statement& each : warnings_of_limited_calls(outlook)) {
    outlook.warnings.push_back(std::move(each));
  }
  if (service.p99 >= workload.timeout) {
    const bool half = service.p50 >= workload.timeout;
    outlook.warnings.push_back(
        {half ? "half-after-timeout" : "some-after-timeout",
         {{"answer", half ? service.p50 : service.p99}, {"timeout", workload.timeout}}});
  }
}

// A deadline that leaves no time for the attempts, and requests without any end.
void warn_of_attempts(Outlook& outlook) {
  const WorkloadOptions& workload = outlook.input.workload;
  const LimitSettings& limit = workload.retry.limit;
  const Outlook::Retries& retries = outlook.retries;
  const bool by_timeouts = workload.has_timeout() && limit.retry_on.timeout;
  const Outlook::Failing& failing = by_timeouts ? retries.timeouts : retries.errors;
  if (workload.has_timeout() && limit.deadline < workload.timeout) {
    outlook.warnings.push_back(
        {"deadline-before-timeout", {{"deadline", limit.deadline}, {"timeout", workload.timeout}}});
  } else if (retries.attempts != kUnlimited && retries.hedges == 0 && failing.again &&
             failing.attempts < retries.attempts) {
    const double begin = failing.attempts;
    outlook.warnings.push_back(
        {by_timeouts ? "deadline-cuts-timeouts" : "deadline-cuts-failures",
         {{"attempts", retries.attempts},
          {"begin", begin},
          {"deadline", limit.deadline},
          {"timeout", workload.timeout},
          {"take", time_of(retries.waits, failing.takes, begin + 1) - failing.takes}}});
  }
  if (!outlook.open() || !outlook.service || !outlook.outage || outlook.gates ||
      !outlook.has_outage(Disturbance::Kind::kFreeze) || failing.attempts != kUnlimited) {
    return;
  }
  // What is answered within its timeout is never sent again.
  const Duration length = outlook.input.outage_for;
  if (failing.limit == Outlook::Failing::Limit::kBudget || length < workload.timeout) return;
  const double requests = outlook.wanted * to_seconds(length);
  // As many begin each second as send their first, second, ... retry, if that comes before the end of the outage.
  const double sent = attempts_before(length, failing.takes, retries.waits, kUnlimited) - 1;
  const double attempts = std::min(outlook.wanted * sent, outlook.client_rate);
  if (attempts < 1) return;
  outlook.warnings.push_back(
      {"no-request-gives-up", {{"requests", std::round(requests)}, {"attempts", attempts}}});
}

// Failures that are not retried.
void warn_of_retry_on(Outlook& outlook) {
  const OutlookInput& input = outlook.input;
  const WorkloadOptions& workload = input.workload;
  const LimitSettings& limit = workload.retry.limit;
  bool not_retried = false;
  if (input.outage && limit.max_retries > 0 && workload.has_timeout()) {
    const auto failure = failure_in(*input.outage, input.service.value_or(ServiceOptions()));
    if (failure && !limit.retry_on.covers(*failure)) {
      not_retried = true;
      outlook.warnings.push_back({failure->status > 0                      ? "status-not-retried"
                                  : failure->outcome == Outcome::kTimedOut ? "timeouts-not-retried"
                                                                           : "refusals-not-retried",
                                  {{"status", static_cast<double>(failure->status)}}});
    }
  }
  const bool errs = outlook.has_outage(Disturbance::Kind::kThrottle) ||
                    outlook.has_outage(Disturbance::Kind::kErrors);
  if (outlook.hangs_on_rejections() && (not_retried || (!limit.retry_on.timeout && !errs))) {
    outlook.warnings.push_back({"hangs-on-rejections", {}});
  }
}

// Clients that try again at once, as often as the engine lets them. Only a simulation lets so little time pass.
void warn_of_hammering(Outlook& outlook) {
  const OutlookInput& input = outlook.input;
  const WorkloadOptions& workload = input.workload;
  if (outlook.open() || input.turnaround <= Duration::zero()) return;
  const Duration pause = std::max(workload.mean_think_time(), input.turnaround);
  const bool gated = outlook.gates && workload.retry.process.has_gates();
  const bool drops = outlook.has_outage(Disturbance::Kind::kDrop);
  const double stopped = gated ? outlook.clients() / to_seconds(pause) : 0;
  const double refused = outlook.retries.may_err || drops ? outlook.retries.errors.rate : 0;
  constexpr double kHammering = 1e6;
  if (const double most = std::max(stopped, refused); most >= kHammering) {
    outlook.warnings.push_back(
        {stopped > refused ? "no-pause-at-gate" : "no-pause-if-refused", {{"attempts", most}}});
  }
}

}  // namespace

Statements warnings_of_limited_calls(const Outlook& outlook) {
  Statements all;
  const double rate = arrival_rate(outlook.input.workload);
  if (outlook.open() && outlook.client_rate < rate) {
    all.push_back({"client-rate-below-load", {{"load", rate}, {"through", outlook.client_rate}}});
  }
  if (outlook.connections && outlook.connections->through <= outlook.wanted &&
      outlook.service->used < 1) {
    all.push_back({"connections-below-load",
                   {{"load", outlook.wanted},
                    {"through", outlook.connections->through},
                    {"room", outlook.connections->room},
                    {"answer", mean_answer(*outlook.input.service)}}});
  }
  return all;
}

Statements warnings_of_hedges(const Outlook& outlook) {
  const Duration hedge = outlook.retries.hedge_delay;
  if (outlook.retries.hedges == 0 || !outlook.service ||
      outlook.input.workload.retry.hedge.percentile > 0 || outlook.service->p50 <= hedge) {
    return {};
  }
  return {{"half-hedged", {{"answer", outlook.service->p50}, {"hedge", hedge}}}};
}

Statements warnings_of(const RetrySettings& retry) {
  Statements all;
  const std::size_t retries = retry.limit.max_retries;
  const BackoffSettings& backoff = retry.backoff;
  const bool waits = retries > 0 && !retry.pacer.on;
  if (waits && backoff.growth != Growth::kNone && backoff.base > backoff.cap) {
    all.push_back({"base-above-cap", {{"base", backoff.base}, {"cap", backoff.cap}}});
  }
  if (waits && backoff.growth == Growth::kTable && !backoff.jitter.is_growth() &&
      retries < backoff.table.size()) {
    all.push_back({"table-not-reached",
                   {{"retries", static_cast<double>(retries)},
                    {"numbers", static_cast<double>(backoff.table.size())}}});
  }
  if (retry.strategy == "none" && retries > 0) {
    all.push_back(
        {"none-retries", {{"retries", or_unlimited(retries, LimitSettings::kUnlimited)}}});
  }
  return all;
}

Statement ejects_none(const HostSettings& hosts) {
  const auto all = static_cast<double>(hosts.replicas);
  return {"ejects-none",
          {{"share", ShareOf{hosts.eject.most}},
           {"hosts", all},
           {"least", ShareOf{std::ceil(100 / all) / 100}}}};
}

// Ejections that cannot happen, and hosts that cannot do the work of those that fail.
void warn_of_hosts(Outlook& outlook) {
  const HostSettings& hosts = outlook.input.hosts;
  const auto all = static_cast<double>(hosts.replicas);
  if (hosts.many() && hosts.eject.on() && hosts.eject.most_out(hosts.replicas) == 0) {
    outlook.warnings.push_back(ejects_none(hosts));
  }
  const HostLifeSettings& life = hosts.life;
  if (life.probes_kill() && !life.probe.own_port && outlook.input.service && outlook.service) {
    // What a host can have waiting, and how much of it its probe is patient for.
    const double patience = outlook.service->capacity / all * to_seconds(life.probe.timeout);
    const double room = (static_cast<double>(outlook.input.service->backlog) +
                         static_cast<double>(outlook.input.service->workers.queue_length)) /
                        all;
    if (room > patience) {
      outlook.warnings.push_back({"probe-kills-slow",
                                  {{"waiting", std::ceil(patience)},
                                   {"failures", static_cast<double>(life.probe.failures)}}});
    }
  }
  if (!outlook.input.outage_of_some || !outlook.service) return;
  const double left = all - static_cast<double>(hosts.hit());
  const double capacity = outlook.service->capacity * left / all;
  if (outlook.wanted <= capacity) return;
  outlook.warnings.push_back(
      {"hosts-left",
       {{"left", left}, {"hosts", all}, {"capacity", capacity}, {"load", outlook.wanted}}});
}

// A day of which only the begin is seen, because a run is short by default.
void warn_of_rest_of_file(Outlook& outlook) {
  const auto& file = outlook.input.workload.plan.file;
  if (!file || file->steps.empty() || outlook.input.length == Duration::zero()) return;
  const Duration last = file->steps.back().t, length = outlook.input.length;
  if (last >= length) outlook.warnings.push_back({"file-cut", {{"file", last}, {"run", length}}});
}

void warn(Outlook& outlook, const Storm& storm) {
  const OutlookInput& input = outlook.input;
  const WorkloadOptions& workload = input.workload;
  Statements& all = outlook.warnings;
  if (outlook.herd) warn_of_herd(outlook);
  warn_of_late_turns(outlook);
  if (outlook.connections && !outlook.multiplexed() && input.service &&
      input.service->accepts_when_free() &&
      outlook.connections->open > static_cast<double>(input.service->most_connections())) {
    all.push_back({"connections-hold-workers", {}});
  }
  if (outlook.service) {
    warn_of_steps(outlook);
    warn_of_load(outlook, storm);
  }
  for (Statement& each : warnings_of_hedges(outlook)) all.push_back(std::move(each));
  warn_of_rest_of_file(outlook);
  warn_of_hosts(outlook);
  warn_of_throttle(outlook);
  warn_of_attempts(outlook);
  warn_of_retry_on(outlook);
  warn_of_hammering(outlook);
  for (Statement& each : warnings_of(workload.retry)) all.push_back(std::move(each));
  if (outlook.open() && (input.clients_given || input.think_time_given)) {
    const bool processes = input.clients_given && sharing_processes(workload) == 1;
    all.push_back({processes ? "unused-by-open-arrivals-processes" : "unused-by-open-arrivals",
                   {{"options", std::string(!input.think_time_given ? "--clients"
                                            : !input.clients_given  ? "--think-time"
                                                                    : "--clients, --think-time")},
                    {"rate", workload.rate},
                    {"clients", static_cast<double>(workload.clients)},
                    {"think", from_seconds(to_digits(
                                  static_cast<double>(workload.clients) / workload.rate, 2))}}});
  }
}

}  // namespace retrystorm
