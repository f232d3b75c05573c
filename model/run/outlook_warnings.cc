#include "model/run/outlook_warnings.h"

#include <algorithm>
#include <cmath>

namespace retrystorm {
namespace {

void warn_of_herd(Outlook& outlook) {
  const Outlook::Herd& herd = *outlook.herd;
  if (!outlook.service) return;
  const std::string load = readable(outlook.wanted) + "/s";
  if (herd.capacity == 0) {
    outlook.warnings.push_back("the load of " + load + " takes all that the service can do, " +
                               readable(outlook.service->capacity) +
                               "/s: clients that lost their connection find no room, however long "
                               "they wait (--clients, --lambda)");
    return;
  }
  if (herd.in_time) return;
  const Outlook::Service& service = *outlook.service;
  const std::string why =
      herd.piles_up > service.late_from
          ? "from " + readable(std::round(service.late_from)) + " on answers come too late"
          : "with so many in it the service does less than the load of " + load;
  outlook.warnings.push_back("up to " + readable(std::round(herd.piles_up)) +
                             " attempts pile up in the window of " + readable(herd.window) +
                             ", and " + why + ". Spread the clients over more than " +
                             readable(herd.advised) + ", better over " + readable(herd.all_room) +
                             " (--reconnect-base, --reconnect-jitter)");
}

// Options of the waits between the attempts of a request do not change those of reconnects.
void warn_of_waits_of_requests(Outlook& outlook, const WorkloadOptions& workload) {
  const auto changed = [](const BackoffSettings& some, const BackoffSettings& usual) {
    UnusedOptions different;
    find_unused<BackoffSettings>(different, some, usual, "");
    return !different.empty();
  };
  if (changed(workload.reconnect.backoff, ReconnectSettings().backoff) ||
      !changed(workload.retry.backoff, RetrySettings().backoff)) {
    return;
  }
  outlook.warnings.push_back(
      "--strategy, --backoff-base and their kin set the waits of requests, not those of clients that "
      "connect again: these have their own, exponential from " +
      readable(workload.reconnect.backoff.base) +
      " with full jitter (--reconnect-base, --reconnect-growth, --reconnect-jitter, "
      "--reconnect-cap)");
}

// Clients that a rate limit turns away, and that come again sooner than it admits them.
void warn_of_limit(Outlook& outlook, const OutlookInput& input, const Storm& storm) {
  const WorkloadOptions& workload = input.workload;
  const RetrySettings& retry = workload.retry;
  const double limit = outlook.service->capacity;
  const Duration answer = mean_answer(*input.service);
  const Duration each = from_seconds(outlook.clients / limit);
  const std::string most = readable(limit) + "/s";
  const bool held = outlook.client_rate <= outlook.wanted, one = outlook.processes == 1;
  std::string text =
      (held ? (one ? std::string("one process sends")
                   : readable(static_cast<double>(outlook.processes)) + " processes send") +
                  " up to " + readable(outlook.wanted / static_cast<double>(outlook.processes)) +
                  "/s each (--client-rate), " + readable(outlook.wanted) + "/s in all"
            : readable(outlook.clients) + " clients ask for " + readable(outlook.wanted) + "/s") +
      ", and " + most + " are admitted (--rate-limit): each may call once in " +
      readable(held ? from_seconds(static_cast<double>(outlook.processes) / limit) : each);
  const Outlook::Failing& failing = outlook.retries.errors;
  if (!retry.pacer.on && !outlook.gates) {
    const double attempts = std::max(storm.attempts_beside(failing, limit, answer), limit);
    text += failing.limited_by_budget
                ? ". Where the retry budget is empty it gives up at once, and asks anew"
                : "";
    const double digits = attempts < 100 ? 1 : 10;
    text += ". Turned away, all together make some " +
            readable(std::round(attempts / digits) * digits) + " attempts a second, " +
            readable(std::round(100 * (1 - limit / attempts))) +
            " % of them for nothing (--lambda, --backoff-base, --max-attempts)";
  }
  // Clients with a process each, that call at a rate of their own, would call in step.
  const double own = rate_of_each(limit, outlook.processes);
  text += ". Hold them back: ";
  if ((one || held) && own > 0) {
    text += "--client-rate=" +
            (own < 1 ? readable(60 * limit / static_cast<double>(outlook.processes)) + "/min"
                     : readable(own) + "/s") +
            (one ? ", or " : " in each process, or ");
  }
  text += "a --lambda well over " + readable(std::max(each - answer, Duration(0)));
  if (!one) text += ", or one --client-rate=" + print_number(limit) + "/s for all (--processes=1)";
  outlook.warnings.push_back(text);
}

// Processes that send at a fixed rate, begin together and never think stay in step.
void warn_of_processes_in_step(Outlook& outlook, const WorkloadOptions& workload) {
  const ClientRateSettings& rate = workload.retry.process.client_rate;
  if (rate.kind != ClientRateSettings::Kind::kFixed || workload.arrivals != Arrivals::kClosed ||
      workload.think_time > Duration::zero() || !outlook.service->has_rate_limit ||
      outlook.client_rate > outlook.service->capacity * (1 + 1e-9) ||
      static_cast<double>(outlook.processes) <= outlook.service->burst) {
    return;
  }
  const std::string all = readable(static_cast<double>(outlook.processes));
  outlook.warnings.push_back(
      "the " + all +
      " processes begin together, and their calls stay in step (--client-rate): of " + all +
      " at a time the limit admits " + readable(outlook.service->burst) +
      " (--rate-burst). Yours may begin at different times: then a --lambda of some "
      "seconds is nearer to them");
}

// The workers of a job in which nothing is random call at the same moments, or in turn, as long as it lasts.
void warn_of_job_in_step(Outlook& outlook, const OutlookInput& input) {
  const RetrySettings& retry = input.workload.retry;
  if (input.workload.arrivals != Arrivals::kJob || outlook.clients < 2 || !input.service ||
      input.service->draws() ||
      (retry.limit.max_retries > 0 && retry.backoff.jitter.kind != Jitter::Kind::kNone)) {
    return;
  }
  outlook.warnings.push_back("service time and waits are fixed: the job's " +
                             readable(outlook.clients) +
                             " workers call in lockstep (--service-time, --jitter)");
}

// A client whose turn comes only after its deadline sends nothing.
void warn_of_late_turns(Outlook& outlook, const WorkloadOptions& workload) {
  if (outlook.client_rate == kUnlimited || workload.arrivals != Arrivals::kClosed ||
      workload.think_time > Duration::zero()) {
    return;
  }
  const Duration turn = from_seconds(outlook.clients / outlook.client_rate);
  if (turn <= outlook.deadline) return;
  outlook.warnings.push_back("a client's turn to send comes once in " + readable(turn) +
                             " (--clients, --client-rate), after its deadline of " +
                             readable(outlook.deadline) +
                             ": most requests end before they are sent (--deadline)");
}

// A throttle that the clients do not feel.
void warn_of_high_throttle(Outlook& outlook, const OutlookInput& input) {
  if (!input.outage || input.outage->kind != Disturbance::Kind::kThrottle) return;
  const double rate = input.outage->value;
  const RateLimitSettings limit = input.service.value_or(ServiceOptions()).rate_limit;
  const std::string text = "the outage admits " + readable(rate) + "/s, and the ";
  if (limit.rate > 0 && limit.rate <= rate && limit.autoscale.kind == AutoscaleKind::kNone) {
    outlook.warnings.push_back(text + "rate limit " + readable(limit.rate) +
                               "/s at all times: the outage changes nothing (--outage, "
                               "--rate-limit)");
  } else if (outlook.wanted <= rate) {
    const bool open = input.workload.arrivals == Arrivals::kOpen;
    outlook.warnings.push_back(text + "load is " + readable(outlook.wanted) +
                               "/s: it turns hardly anything away (--outage, " +
                               (open ? "--rate)" : "--clients, --lambda)"));
  }
}

}  // namespace

void warn_of_limited_calls(Outlook& outlook, const OutlookInput& input, const std::string& who) {
  const auto say = [&outlook](const std::string& text) { outlook.warnings.push_back(text); };
  const auto per_second = [](double rate) { return readable(rate) + "/s"; };
  const WorkloadOptions& workload = input.workload;
  const bool open = workload.arrivals == Arrivals::kOpen;
  if (open && outlook.client_rate < workload.rate) {
    say("the load is " + per_second(workload.rate) + ", and " + who + " no more than " +
        per_second(outlook.client_rate) +
        ": the others wait before any outage (--client-rate, --processes)");
  }
  if (outlook.connections && outlook.connections->through <= outlook.wanted &&
      outlook.service->used < 1) {
    say("the load is " + per_second(outlook.wanted) + ", and the connections let through only " +
        per_second(outlook.connections->through) + ", " + readable(outlook.connections->room) +
        " attempts at a time of " + readable(mean_answer(*input.service)) +
        " each: the others wait in line before any outage (--pool-size, --processes" +
        (outlook.connections->multiplexed ? ", --streams)" : ")"));
  }
}

void warn_of_hedges(Outlook& outlook) {
  const Duration hedge = outlook.retries.hedge_delay;
  if (outlook.retries.hedges > 0 && outlook.service && outlook.retries.hedge.percentile == 0 &&
      outlook.service->p50 > hedge) {
    outlook.warnings.push_back(
        "an idle service takes " + readable(outlook.service->p50) + ", and a hedge is sent after " +
        readable(hedge) + ": at least half of the requests are hedged before any outage (--hedge)");
  }
}

std::vector<std::string> warnings_of(const RetrySettings& retry) {
  std::vector<std::string> warnings;
  const auto say = [&warnings](const std::string& text) { warnings.push_back(text); };
  const LimitSettings& limit = retry.limit;
  const BackoffSettings& backoff = retry.backoff;
  if (limit.max_retries > 0 && !retry.pacer.on && backoff.growth != Growth::kNone &&
      backoff.base > backoff.cap) {
    say("the first wait of " + readable(backoff.base) + " is above the cap of " +
        readable(backoff.cap) + ": no wait is longer than the cap (--backoff-base, --backoff-cap)");
  }
  const std::size_t steps = backoff.table.size();
  if (backoff.growth == Growth::kTable && !backoff.jitter.is_growth() && !retry.pacer.on &&
      limit.max_retries > 0 && limit.max_retries < steps) {
    say("a request has " + readable(limit.max_retries) + " retries, and --backoff-table has " +
        readable(static_cast<double>(steps)) + " numbers: the last " +
        (steps - limit.max_retries == 1
             ? "is"
             : readable(static_cast<double>(steps - limit.max_retries)) + " are") +
        " never reached (--max-retries)");
  }
  if (retry.strategy == "none" && limit.max_retries > 0) {
    say("--strategy=none means no retries, but " +
        (limit.max_retries == LimitSettings::kUnlimited
             ? std::string("any number is made")
             : "up to " + readable(limit.max_retries) + " are made") +
        " (--max-retries): leave out one of the two");
  }
  return warnings;
}

void warn(Outlook& outlook, const OutlookInput& input, const Storm& storm) {
  if (outlook.herd) {
    warn_of_herd(outlook);
    warn_of_waits_of_requests(outlook, input.workload);
  }
  const auto say = [&outlook](const std::string& text) { outlook.warnings.push_back(text); };
  const WorkloadOptions& workload = input.workload;
  const LimitSettings& limit = workload.retry.limit;
  const bool open = workload.arrivals == Arrivals::kOpen;
  const std::string timeout = readable(workload.timeout);
  const auto per_second = [](double rate) { return readable(rate) + "/s"; };
  warn_of_late_turns(outlook, workload);
  warn_of_job_in_step(outlook, input);
  if (outlook.connections && !outlook.connections->multiplexed && input.service &&
      input.service->accepts_when_free() &&
      outlook.connections->open > static_cast<double>(input.service->most_connections())) {
    say("each kept connection keeps a worker (--accepts=when-free), and there are more of them: "
        "others wait until one is closed (--server-idle)");
  }
  if (outlook.service) {
    warn_of_processes_in_step(outlook, workload);
    const Outlook::Service& service = *outlook.service;
    const bool held = outlook.client_rate <= outlook.wanted && service.used < 1 + 1e-9;
    if (service.used > 1 && service.rate_limited && !held &&
        workload.arrivals == Arrivals::kClosed) {
      warn_of_limit(outlook, input, storm);
    } else if (service.used >= 1 && workload.arrivals != Arrivals::kJob &&
               !(held && service.rate_limited)) {
      say("the load is " + per_second(outlook.wanted) + " of " + per_second(service.capacity) +
          ": no capacity is left even before an outage (" +
          std::string(open ? "--rate" : "--clients, --lambda") + ", or " +
          (service.rate_limited                 ? "--rate-limit"
           : service.kind == Capacity::kWorkers ? "--workers and --service-time"
                                                : "--base-delay, --limit and --k") +
          ")");
    }
    warn_of_limited_calls(outlook, input, "the clients send");
    if (service.p50 >= workload.timeout) {
      say("an idle service takes " + readable(service.p50) + ", and attempts end after " + timeout +
          ": at least half of them can never succeed (--timeout, --" +
          (service.kind == Capacity::kWorkers ? "service-time" : "base-delay") + ")");
    } else if (service.p99 >= workload.timeout) {
      say("an idle service takes " + readable(service.p99) +
          " for one request in a hundred, and attempts end after " + timeout +
          ": those are retried without any outage (--timeout, --service-time)");
    }
  }
  warn_of_hedges(outlook);
  if (input.outage && input.outage->kind == Disturbance::Kind::kThrottle && input.service &&
      input.service->capacity == Capacity::kCurve) {
    say("this service slows down when many requests are in it, and stays down as the experiment's does. A "
        "managed table only turns away what is too much: --service=workers with many --workers");
  }
  warn_of_high_throttle(outlook, input);
  const Outlook::Retries& retries = outlook.retries;
  const bool by_timeouts = workload.has_timeout() && limit.retry_on.timeout;
  const Outlook::Failing& failing = by_timeouts ? retries.timeouts : retries.errors;
  if (workload.has_timeout() && limit.deadline < workload.timeout) {
    say("a request ends after " + readable(limit.deadline) + ", before its first attempt's " +
        timeout + " are over: what times out is never retried (--deadline, --timeout)");
  } else if (retries.attempts != kUnlimited && retries.hedges == 0 && failing.again &&
             failing.attempts < retries.attempts) {
    const double begin = failing.attempts;
    const std::string plural = begin > 1 ? "s" : "";
    say("of " + readable(retries.attempts) + " attempts that " +
        (by_timeouts ? "time out after " + timeout : "fail") + " only " + readable(begin) +
        " can begin before the deadline of " + readable(limit.deadline) + ": " + readable(begin) +
        " attempt" + plural + " and the wait" + plural + " take " +
        readable(time_of(retries.waits, failing.takes, begin + 1) - failing.takes) +
        (by_timeouts ? " (--deadline, --timeout, --max-attempts)"
                     : " (--deadline, --backoff-base, --max-attempts)"));
  }
  // What is answered within its timeout is never sent again.
  const auto answers_all = [&workload](const Outlook::Outage& outage) {
    return workload.has_timeout() && saturating_add(outage.length, outage.work) < workload.timeout;
  };
  if (const auto& outage = outlook.outage; open && outage && outage->attempts_at_end > 0 &&
                                           failing.attempts == kUnlimited &&
                                           !failing.limited_by_budget && !answers_all(*outage)) {
    say("no request gives up: at the end of the outage those " +
        readable(std::round(outage->wanted)) + " that began in it send " +
        per_second(outage->attempts_at_end) +
        ", and go on until each is answered (--max-attempts, --deadline)");
  }
  bool hangs_on_rejections_said = false;
  if (input.outage && limit.max_retries > 0 && workload.has_timeout()) {
    const auto failure = failure_in(*input.outage, input.service.value_or(ServiceOptions()));
    if (failure && !limit.retry_on.covers(*failure)) {
      const std::string what = failure->status > 0 ? "a " + std::to_string(failure->status)
                               : failure->outcome == Outcome::kTimedOut ? "a timeout"
                                                                        : "a refused connection";
      say("attempts meet " + what + " in this outage, which is not retried (--retry-on)" +
          (outlook.hangs_on_rejections()
               ? ". Errors are, and if your queue has a bound, they decide (--queue-length, "
                 "--rejection-cost)"
               : ""));
      hangs_on_rejections_said = true;
    }
  }
  // Only a simulation lets so little time pass between them.
  if (!open && input.turnaround > Duration::zero()) {
    const Duration pause = std::max(workload.mean_think_time(), input.turnaround);
    const double stopped = outlook.gates && workload.retry.process.has_gates()
                               ? outlook.clients / to_seconds(pause)
                               : 0;
    const double refused =
        outlook.retries.may_err || (input.outage && input.outage->kind == Disturbance::Kind::kDrop)
            ? outlook.retries.errors.rate
            : 0;
    constexpr double kHammering = 1e6;
    if (const double most = std::max(stopped, refused); most >= kHammering) {
      say("clients that do not think try again at once where they are " +
          std::string(stopped > refused ? "stopped by a gate" : "refused") + ": up to " +
          per_second(most) +
          " in all. A run in which that does not end is cut: give them a think time (--lambda)");
    }
  }
  const bool errs_in_outage = input.outage && (input.outage->kind == Disturbance::Kind::kThrottle ||
                                               input.outage->kind == Disturbance::Kind::kErrors);
  if (outlook.hangs_on_rejections() && !limit.retry_on.timeout && !hangs_on_rejections_said &&
      !errs_in_outage) {
    say("only what is answered with an error is retried, and this service turns nothing away: its "
        "queue has no bound. If yours does, that is retried, and decides (--queue-length, "
        "--rejection-cost)");
  }
  for (const std::string& each : warnings_of(workload.retry)) say(each);
  if (open && (input.clients_given || input.think_time_given)) {
    const std::string names = !input.think_time_given ? "--clients"
                              : !input.clients_given  ? "--lambda"
                                                      : "--clients and --lambda";
    say("open arrivals do not use " + names + ": " + per_second(workload.rate) +
        " arrive whatever happens to them (--rate, or --arrivals=closed)" +
        (input.clients_given && sharing_processes(workload) == 1
             ? "; for as many processes that call: --processes=" + std::to_string(workload.clients)
             : ""));
  }
}

}  // namespace retrystorm
