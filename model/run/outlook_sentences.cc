#include "model/run/outlook_sentences.h"

#include <algorithm>
#include <cmath>

#include "model/base/text.h"

namespace retrystorm {
namespace {

std::string rate_of(double rate) {
  return readable(rate) + "/s";
}

std::string up_to(double rate) {
  return rate == Outlook::kUnlimited ? "any number" : "up to " + rate_of(rate);
}

// What errors cost a service that gives them on purpose.
std::string cost_of_errors(bool served) {
  return served ? "after they were served: an error costs the service as much as an answer "
                  "(--error-after)"
                : "at once: an error costs the service nothing (--error-after)";
}

// "up to 198/s if all time out (1,000 clients, each once in 5.05s)"
std::string failing_text(const Outlook& outlook, const Outlook::Failing& failing,
                         const std::string& how, bool clients_said = false) {
  const bool closed = outlook.clients > 0;
  if (failing.rate == Outlook::kUnlimited) {
    return (closed ? "as many as are answered " : "more and more ") + how;
  }
  // Closed clients may begin other requests as fast as they retried.
  const bool falls = failing.budget_lasts && failing.at_first > 1.01 * failing.rate;
  const double first = falls ? failing.at_first : failing.rate;
  std::string text = (first == Outlook::kUnlimited ? "any number" : rate_of(first)) + ' ' + how,
              why;
  if (falls) {
    text += " until the budget is empty (" + readable(*failing.budget_lasts) + "), then " +
            rate_of(failing.rate);
  } else if (failing.limited_by_budget) {
    text += " for long";
  }
  if (failing.limited_by_pools) {
    why = "so many have a connection: " + readable(outlook.connections->room) +
          " at a time (--pool-size" + (outlook.connections->multiplexed ? ", --streams" : "") +
          ", --pool-wait-counts)";
  } else if (failing.limited_by_client_rate) {
    why = "--client-rate";
  } else if (closed) {
    why = (clients_said ? "" : readable(outlook.clients) + " clients, each ") + "once in " +
          readable(failing.cycle);
  }
  if (failing.limited_by_hedge_budget) {
    why += (why.empty() ? "" : "; ") + std::string("--hedge-budget");
  }
  if (failing.limited_by_budget) {
    why += (why.empty() ? "" : "; ") + std::string("--retry-budget=") + outlook.budget;
  }
  return why.empty() ? text : text + " (" + why + ')';
}

// "1 a hedge after 50ms (--hedge, --hedge-max; no --hedge-budget)"
std::string hedges_text(const Outlook::Retries& retries) {
  const HedgeSettings& hedge = retries.hedge;
  const std::string after =
      hedge.percentile > 0 ? "the p" + readable(hedge.percentile) : readable(retries.hedge_delay);
  return (retries.hedges == 1 ? "1 a hedge after "
                              : readable(retries.hedges) + " hedges, each after ") +
         after + " (--hedge, --hedge-max; " +
         (hedge.budget == HedgeSettings::kNoBudget
              ? "no --hedge-budget)"
              : "--hedge-budget: " + percent_of(hedge.budget) +
                    " of the requests and 10/s in each process)");
}

// A service that is slower for a while does less, and then each request has its hedges.
std::string slower_text(const Outlook& outlook) {
  const Outlook::Retries& retries = outlook.retries;
  const bool hedged = retries.hedges > 0 && retries.hedge.on == HedgeOn::kDelay;
  return hedged ? " unless it is " + readable(outlook.service->capacity / retries.overload().rate) +
                      " times as slow"
                : "";
}

// "10 tokens: a failure takes 1, a success gives 0.1; it retries above half"
std::string bucket_text(const BudgetSettings& bucket) {
  const std::string tokens = counted(bucket.tokens, "token");
  if (bucket.cost > 0) return tokens + ", of which a retry takes " + readable(bucket.cost);
  if (bucket.failure_cost == 0) return tokens + ", of which a retry takes none here";
  std::string text = tokens + ": a failure takes " + readable(bucket.failure_cost);
  if (bucket.deposit_on == DepositOn::kSuccess && bucket.deposit > 0) {
    text += ", a success gives " + readable(bucket.deposit);
  }
  if (bucket.threshold != BudgetSettings::kNone && bucket.threshold > 0) {
    text +=
        "; it retries above " + (bucket.threshold == 0.5 ? "half" : percent_of(bucket.threshold));
  }
  return text;
}

// The attempts of a frozen service have no end, or only that of their request.
std::string no_timeout_sentence(const Outlook& outlook) {
  if (outlook.deadline != Duration::max()) {
    return "none (--timeout): an attempt ends with its request, after " +
           readable(outlook.deadline) + " (--deadline)";
  }
  return std::string(
             "none (--timeout): an attempt ends when it is answered or its connection is "
             "lost. A service that hangs holds each ") +
         (outlook.arrivals == Arrivals::kOpen ? "request" : "client") +
         " until it goes on, and none of them retries";
}

// From how many waiting requests on answers come too late, where some wait for a connection.
std::string late_from_line(const Outlook& outlook) {
  const Outlook::Service& service = *outlook.service;
  const Outlook::Connections& pools = *outlook.connections;
  const bool workers = service.kind == Capacity::kWorkers;
  if (!pools.wait_counts) {
    return "; from " + counted(std::round(service.late_from), "request") +
           (workers ? " waiting for a worker" : " in it") +
           " on answers come too late, not counting those in line for a connection";
  }
  const double spare = to_seconds(outlook.timeout) - to_seconds(service.p50);
  const bool narrow = pools.through != Outlook::kUnlimited;
  if (narrow && pools.longest_wait < from_seconds(spare)) {
    return "; with up to " + readable(pools.longest_wait) + " in line answers come in time";
  }
  const double late = narrow ? std::max(spare, 0.0) * pools.through : service.late_from;
  const std::string from = "; from " + readable(std::round(late));
  return from +
         (narrow    ? " requests in line for a connection"
          : workers ? " waiting"
                    : " requests in line for a connection or in it") +
         " on answers come too late";
}

// "100ms, 200ms, 400ms, 800ms, ...", "1s, 2s, 5s from retry 3 on"
std::string listed(const std::vector<Duration>& waits, const Outlook::Retries& retries) {
  constexpr std::size_t kShown = 4;
  // Of a table the last one repeats.
  std::size_t repeats = waits.size() - 1;
  while (repeats > 0 && waits[repeats - 1] == waits.back()) --repeats;
  const bool ends_even = retries.factor == 0 && repeats + 1 < waits.size();
  std::string text;
  for (std::size_t i = 0; i < std::min(ends_even ? repeats : waits.size(), kShown); ++i) {
    text += (i > 0 ? ", " : "") + readable(waits[i]);
  }
  if (ends_even) {
    text += repeats > kShown ? ", ..., " : repeats > 0 ? ", " : "";
    text += readable(waits.back()) + " from retry " + std::to_string(repeats + 1) + " on";
  } else if (retries.attempts > kShown + 1) {
    text += ", ...";
  }
  return text;
}

}  // namespace

std::string percent_of(double share) {
  return readable(100 * share < 100 ? to_digits(100 * share, 2) : 100 * share) + " %";
}

std::string counted(double number, const std::string& noun) {
  return readable(number) + ' ' + noun + (number == 1 ? "" : "s");
}

std::string service_sentence(const Outlook& outlook) {
  const std::string load = rate_of(outlook.wanted);
  if (!outlook.service) {
    return "its capacity is not known here; the load is " + load;
  }
  const Outlook::Service& service = *outlook.service;
  const bool workers = service.kind == Capacity::kWorkers;
  if (service.capacity == Outlook::kUnlimited) {
    return "no limit on its requests/s; the load is " + load;
  }
  std::string text = "up to " + counted(service.capacity, "request") + "/s ";
  text += service.rate_limited
              ? "(--rate-limit), " + readable(service.burst) + " at once (--rate-burst)"
          : workers ? "(--workers, --service-time)"
                    : "with " + readable(std::round(service.best_concurrency)) +
                          " at a time (--limit, --k)";
  text += outlook.arrivals == Arrivals::kJob ? "; the load of the job is up to " : "; the load is ";
  text += load + ": " + percent_of(service.used) + " used";
  if (outlook.client_rate <= outlook.wanted && service.used < 1 + 1e-9) {
    text += ", because the clients send no more (--client-rate)";
    if (outlook.turn_wait > Duration::zero()) {
      text += ": a request waits " + readable(outlook.turn_wait) +
              " for its turn, also without an outage";
    }
  } else if (outlook.think_limits > Duration::zero()) {
    text += ", because each client thinks for " + readable(outlook.think_limits) +
            " after an answer (--lambda)";
  }
  if (service.error_share == 0) return text;
  return text + ". " + percent_of(service.error_share) + " of the attempts fail (--error-share), " +
         cost_of_errors(service.errors_cost);
}

std::string attempts_sentence(const Outlook& outlook) {
  const Outlook::Retries& retries = outlook.retries;
  const Outlook::Failing &errors = retries.errors, &timeouts = retries.timeouts;
  const bool hedged = retries.hedges > 0;
  std::string text;
  if (retries.attempts == 1) {
    text = "none: one attempt a request";
  } else if (retries.attempts == Outlook::kUnlimited) {
    text = "any number of attempts a request";
  } else {
    text = "at most " + readable(retries.attempts) + " attempts a request";
  }
  if (retries.attempts > 1 + retries.hedges) {
    text += outlook.budget == "none" ? " (--max-attempts; no --retry-budget)" : " (--max-attempts)";
  }
  if (hedged) text += ", " + hedges_text(retries);
  const bool endless = outlook.timeout == Duration::max();
  if (endless && retries.attempts > 1 + retries.hedges) {
    text += ", but none because an answer is late (--timeout=none)";
  } else if (!retries.turns_away && timeouts.attempts == 1 && retries.attempts > 1 && !hedged) {
    text +=
        std::string(", none after a timeout (") + (timeouts.again ? "--deadline)" : "--retry-on)");
  }
  // Where they have a number, a warning says it.
  const bool by_timeouts = timeouts.again && !endless;
  const Outlook::Failing& cut = by_timeouts ? timeouts : errors;
  if ((hedged || retries.attempts == Outlook::kUnlimited) && cut.again && cut.attempts > 1 &&
      cut.attempts < retries.attempts) {
    text += ", at most " + readable(cut.attempts) +
            (!by_timeouts ? " that fail"
             : hedged     ? " that are late"
                          : " that time out") +
            " (--deadline)";
  }
  if (errors.rate == timeouts.rate && errors.at_first == timeouts.at_first &&
      errors.budget_lasts == timeouts.budget_lasts) {
    if (retries.attempts == 1) return text + ": " + rate_of(timeouts.rate);
    const bool finite = timeouts.rate != Outlook::kUnlimited;
    return text + (finite ? ": up to " : ": ") +
           failing_text(outlook, timeouts, hedged ? "if all are late" : "if all fail");
  }
  const bool served = errors.takes > Duration::zero();
  text += ": up to ";
  if (retries.turns_away) return text + failing_text(outlook, errors, "if all are turned away");
  const bool only_errors = errors.attempts > 1 && timeouts.attempts == 1;
  if (retries.may_err || only_errors || endless) {
    text += failing_text(outlook, errors,
                         served ? "if all are answered with errors" : "if all fail at once");
    if (endless && !hedged) return text;
  }
  // Those that are not retried come to the load, or to less of clients that wait for them.
  const bool workers = outlook.service && outlook.service->kind == Capacity::kWorkers;
  if (only_errors && timeouts.rate <= errors.rate &&
      (!workers || errors.rate < outlook.service->capacity)) {
    return text;
  }
  const bool clients_said = text.find(" clients, each") != text.npos;
  return text + (text.ends_with(": up to ") ? "" : ", ") +
         failing_text(outlook, timeouts, hedged ? "if all are late" : "if all time out",
                      clients_said);
}

// Whether retries can keep the service down, and under which conditions.
std::string storm_sentence(const Outlook& outlook) {
  const Outlook::Retries& retries = outlook.retries;
  const double rate = retries.overload().rate;
  const bool curve = outlook.service && outlook.service->kind == Capacity::kCurve;
  if (outlook.timeout == Duration::max() && retries.hedges == 0 && (curve || !retries.turns_away)) {
    return "; a service that is slow or frozen gets no retries";
  }
  if (!outlook.service) {
    return retries.attempts == 1 ? "" : "; they can keep down a service with less capacity";
  }
  const Outlook::Service& service = *outlook.service;
  if (service.kind == Capacity::kCurve) {
    if (service.held_from == Outlook::kUnlimited) return "; the service does not slow down";
    // Nothing makes more requests of clients that wait for an answer.
    if (!outlook.outage && outlook.clients > 0 && outlook.clients < service.held_from) return "";
    std::string text = ". From " + counted(std::round(service.held_from), "request") +
                       " in it on, a storm sustains itself";
    const double without = std::round(service.held_without_budget);
    if (without < std::round(service.held_from)) {
      text += " (without a budget from " + readable(without) + " on)";
    }
    const bool bounded = service.bound < service.held_from;
    if (!bounded && outlook.outage && outlook.outage->unanswered > 0) {
      const Outlook::Outage& outage = *outlook.outage;
      const std::string unanswered = readable(std::round(outage.unanswered));
      text += outage.burst > 0
                  ? "; in " + readable(outlook.timeout) + " after the outage " +
                        (outlook.retries.timeouts.limited_by_budget ? "at most " : "some ") +
                        readable(std::round(outage.burst)) + " come (" + unanswered +
                        " have no answer)"
                  : "; the outage leaves up to " + unanswered + " without an answer";
    }
    if (bounded) {
      text += "; at most " + readable(service.bound) + " are in it (" + service.bounded_by + ')';
    }
    return text;
  }
  if (service.capacity == Outlook::kUnlimited) return "";
  if (rate < service.capacity && rate >= retries.narrow) {
    return ": MORE than the connections let through, " + rate_of(retries.narrow) +
           ". A storm can sustain itself in line for one (--pool-size, --pool-wait)";
  }
  if (rate < service.capacity && retries.can_hold) {
    // A refusal then takes longer than an answer.
    return ", less than the service can do; but a refusal takes " + readable(service.refusal) +
           " (--rejection-cost): a storm can sustain itself";
  }
  if (rate < service.capacity) {
    const Outlook::Failing& failing = retries.overload();
    // So slowly that chance can keep it full.
    constexpr double kSlow = 0.05;
    const bool slow = *retries.drain < kSlow * service.capacity;
    const std::string drain =
        rate_of(*retries.drain) + (slow ? " only: chance can keep it full" : "");
    if (!failing.limited_by_budget || failing.at_first <= service.capacity) {
      return slow ? ", little less than the service can do: a queue drains at " + drain
                  : ", less than the service can do" + slower_text(outlook) +
                        ". No storm sustains itself; a queue drains at " + drain;
    }
    return ", less than the service can do: a storm ends, and a queue drains at " + drain +
           (failing.budget_lasts
                ? ""
                : ". Without a budget: " + up_to(failing.at_first) + ", MORE than it can do");
  }
  std::string text = rate > service.capacity ? ": MORE than" : ": all that";
  text += " the service can do. ";
  if (service.refusal > Duration::zero()) {
    text += "Refusals take a worker " + readable(service.refusal) + " each (--rejection-cost), " +
            (retries.left > 0 ? percent_of(retries.refusals_take) +
                                    " of the capacity if all are turned away, and leave " +
                                    rate_of(std::round(retries.left))
                              : "all of the capacity if all are turned away");
    if (!retries.can_hold) {
      return text + ". That is enough: answers are in time (" + service.bounded_by +
             "), and no storm sustains itself";
    }
    text += ". ";
  } else if (service.in_time) {
    text += "But its answers are in time (" + service.bounded_by + ')';
    return text +
           (retries.answered == Outlook::kUnlimited
                ? ", so a storm wastes little of its capacity"
                : ": in a storm it answers at most " + rate_of(std::round(retries.answered)) +
                      ", and hedges take the rest of its capacity");
  }
  text += "A storm can sustain itself";
  if (retries.drains_below < outlook.wanted && retries.drains_below > 0) {
    text += "; below " + counted(retries.drains_below, "request") + "/s (" +
            percent_of(retries.drains_below / service.capacity) + " used) " +
            (service.refusal > Duration::zero()
                 ? "it ends"
                 : "its queue drains, at " + rate_of(service.capacity) + " less the attempts");
  }
  return text;
}

std::string outage_sentence(const Outlook& outlook) {
  if (!outlook.outage) return "none (--outage-for)";
  const Outlook::Outage& outage = *outlook.outage;
  const std::string length = readable(outage.length);
  using Kind = Disturbance::Kind;
  if (outage.what.kind == Kind::kReconnect) {
    return in_words(outage.what) + " at once, idle ones too (--outage); the " + length +
           " from then on count as the outage (--outage-for)";
  }
  std::string text = in_words(outage.what) + " for " + length;
  text += " (--outage, --outage-for)";
  const bool costs = outage.what.kind == Kind::kErrors && outage.errors_cost;
  if (costs) text += ", " + cost_of_errors(*outage.errors_cost);
  text += costs ? "; " : ": ";
  text += (outage.at_most ? "up to " : "") + counted(std::round(outage.wanted), "request") +
          " begin meanwhile";
  if (outage.what.kind == Kind::kDrop && outlook.arrivals == Arrivals::kClosed &&
      !outlook.connections) {
    text += "; clients without a request then lose nothing (--outage=reconnect: all lose theirs)";
  }
  const bool freeze = outage.what.kind == Kind::kFreeze;
  if (!outlook.service) {
    // A service of somebody's own.
    return freeze || outage.what.kind == Kind::kCommand
               ? text + "; as many attempts wait as its listen backlog holds (ss -ltn: Send-Q)"
               : text;
  }
  if (freeze && outage.waiting == Outlook::kUnlimited) {
    return text + "; attempts pile up without limit on kept connections (--connections)";
  }
  if (freeze) {
    const bool all = std::round(outage.waiting) == std::round(outage.wanted);
    text += "; " + (all ? "all" : readable(std::round(outage.waiting)) + " attempts") + " wait ";
    text += !outlook.connections ? "in the accept queue (--backlog): "
            : outlook.connections->multiplexed
                ? "on shared connections, not in a --backlog: "
                : "in the accept queue (--backlog) and on kept connections: ";
  } else if (outage.waiting > 0) {
    text += outage.waiting == Outlook::kUnlimited
                ? ", and pile up without limit"
                : "; up to " + readable(std::round(outage.waiting)) + " attempts pile up: ";
  } else {
    return text;
  }
  if (outage.waiting == Outlook::kUnlimited) return text;
  text += readable(outage.work) + " of work";
  if (outage.refused_work > Duration::zero()) {
    text += ", " + readable(outage.refused_work) + " of it for refusals (--rejection-cost)";
  }
  if (outage.skips_gone) return text + ", less those whose clients have gone (--abandoned)";
  if (outage.drains_in_is_near) text += ", done within " + readable(*outage.drains_in);
  return text;
}

std::string herd_sentence(const Outlook& outlook) {
  const Outlook::Herd& herd = *outlook.herd;
  const std::string load = "the load of " + rate_of(outlook.wanted);
  std::string text = counted(herd.clients, "client") + ' ' +
                     (herd.window > Duration::zero() ? "over " + readable(herd.window)
                                                     : "all at the same moment") +
                     " (--reconnect-base, --reconnect-jitter)";
  if (herd.capacity == 0) {
    return text + "; " + load + " leaves the service no room";
  }
  if (herd.capacity == Outlook::kUnlimited) {
    return text + ": all are back after " + readable(herd.back) + " at the soonest";
  }
  text += ", each with its connect" +
          (herd.calls > 1 ? " of " + counted(herd.calls, "call") + " (--reconnect-calls)" : "") +
          " and the request it wants by then: ";
  text += herd.piles_up < 1 ? "none wait"
                            : "up to " + readable(std::round(herd.piles_up)) + " attempts pile up";
  text += herd.in_time ? (herd.some_late ? ", and nearly all are back after about "
                                         : ", and all are back after about ") +
                             readable(herd.back) +
                             (herd.some_late ? ", but some are answered after the timeout, and "
                                               "connect again (--timeout, --service-time)"
                                             : "")
                       : ", too many (see the warning): only the run shows when all are back";
  return text + ". None pile up from a window of w = N (" + readable(herd.calls + 1) +
         " - exp(-w / lambda)) / (m - load) = " + readable(herd.all_room) +
         " on (connects alone: " + readable(herd.clients * herd.calls) + " against " +
         rate_of(outlook.service->capacity) + ", " +
         readable(from_seconds(herd.clients * herd.calls / outlook.service->capacity)) +
         " at least): " +
         (herd.window >= herd.all_room ? "this one is long enough"
          : herd.base_for_room > Duration::zero()
              ? "take --reconnect-base=" + readable(herd.base_for_room)
              : "take one that long (--reconnect-base, --reconnect-cap, --reconnect-jitter)");
}

// Is there a process for each client?
bool has_process_each(const Outlook& outlook) {
  return outlook.arrivals != Arrivals::kOpen && outlook.processes > 1 &&
         static_cast<double>(outlook.processes) == outlook.clients;
}

std::string processes_sentence(const Outlook& outlook) {
  const auto number = static_cast<double>(outlook.processes);
  std::string text = readable(number) + " (--processes)" +
                     (has_process_each(outlook) ? ", one for each client, with " : " with ") +
                     counted(outlook.wanted / number, "request") + (number == 1 ? "/s" : "/s each");
  if (outlook.budget != "none") {
    text += "; budget: " + outlook.budget + (outlook.budget_in_each ? " in each" : "");
  }
  if (const HedgeSettings& hedge = outlook.retries.hedge; hedge.shares()) {
    text += hedge.percentile > 0 ? "; each reads its own latencies (--hedge)" : "";
    if (hedge.budget != HedgeSettings::kNoBudget)
      text += "; each may send 10 hedges/s (--hedge-budget)";
  }
  if (outlook.bucket) text += " (" + bucket_text(*outlook.bucket) + ')';
  if (const auto& saves = outlook.budget_saves) {
    text += ", saved for " + readable(saves->calm) + " of " + brief_duration(saves->of) +
            " (--outage-at)";
  }
  if (outlook.client_rate != Outlook::kUnlimited) {
    text += "; each sends at most " + rate_of(outlook.client_rate / number) +
            " (--client-rate, for all its clients)";
  }
  return text + (outlook.gates ? "; gates (a breaker, ...) are not counted here" : "");
}

std::string connection_sentence(const Outlook& outlook) {
  const Outlook::Connections& pools = *outlook.connections;
  std::string text =
      pools.multiplexed
          ? "multiplexed (--connections): " + readable(pools.of_process) +
                " in each process (--pool-size), of " +
                counted(static_cast<double>(pools.streams), "attempt") + " (--streams)"
          : "kept (--connections), " +
                (pools.of_process == Outlook::kUnlimited ? "any number"
                                                         : "up to " + readable(pools.of_process)) +
                " in each process (--pool-size)";
  if (pools.room == Outlook::kUnlimited) return text;
  if (pools.through != Outlook::kUnlimited) {
    text += ", which let through " + rate_of(pools.through);
  }
  text += "; others wait ";
  text += pools.longest_wait != Duration::max() ? "for at most " + readable(pools.longest_wait)
          : pools.wait_counts                   ? "until they time out"
                                                : "however long it takes";
  return text + (pools.wait_counts ? "" : ", before their timeout begins") +
         " (--pool-wait, --pool-wait-counts)";
}

std::string timeout_sentence(const Outlook& outlook) {
  std::string text = outlook.timeout == Duration::max()
                         ? no_timeout_sentence(outlook)
                         : readable(outlook.timeout) + " (--timeout)";
  const bool goes_on = outlook.retries.hedge.on == HedgeOn::kTimeout;
  if (goes_on) text += ", and then an attempt goes on beside its retry (--hedge-on)";
  if (!outlook.service) return text;
  const Outlook::Service& service = *outlook.service;
  text += "; an idle service answers in " + readable(service.p50);
  if (service.p99 != service.p50) {
    text += " (p99 " + readable(service.p99) +
            (service.spread.empty() ? "" : ", " + service.spread) + ')';
  }
  const bool workers = service.kind == Capacity::kWorkers;
  if (workers && outlook.retries.hedges > 0 && !goes_on) {
    text +=
        "; what hedges gain depends on how these differ: nothing if fixed or if a request is slow by itself, most "
        "if bimodal (--service-time)";
  }
  if (const double from = outlook.retries.hedged_from; from > 0 && from < service.bound) {
    text += "; from " + readable(std::round(from)) + (workers ? " waiting" : " in it") +
            " on each request is hedged (--hedge)";
  }
  if (service.late_from == Outlook::kUnlimited || service.late_from == 0) return text;
  if (service.in_time) {
    const bool by_number = service.bound < service.late_from;
    return text + "; " +
           (by_number ? "at most " + readable(std::round(service.bound)) + ' ' +
                            (workers ? "wait" : "are in it") + " (" + service.bounded_by +
                            "), and answers come too late from " +
                            readable(std::round(service.late_from)) + " on"
                      : "answers come in time, or not at all (" + service.bounded_by + ')');
  }
  if (outlook.connections && outlook.connections->room != Outlook::kUnlimited) {
    return text + late_from_line(outlook);
  }
  text += "; from ";
  text += readable(std::round(service.late_from));
  text += workers ? " waiting on" : " in it on";
  // Just these are answered within the timeout.
  const bool slower = !workers && service.late_from > service.best_concurrency;
  if (slower) {
    text += ", when it does only " + rate_of(service.late_from / to_seconds(outlook.timeout)) + ',';
  }
  if (!goes_on && workers && !service.spread.empty()) {  // so that the line is no longer
    return text + " answers come too late (--queue-length)";
  }
  text += goes_on ? " attempts have a retry beside them, and " : " answers come too late, and ";
  text +=
      workers ? "no bound is lower (--queue-length)" : "nothing keeps it below that (--shed-above)";
  return text;
}

std::string waits_sentence(const Outlook& outlook) {
  const Outlook::Retries& retries = outlook.retries;
  const std::vector<Duration>& waits = retries.waits;
  std::string text;
  if (std::all_of(waits.begin(), waits.end(), [&](Duration each) { return each == waits[0]; })) {
    text = readable(waits[0]) + " before each retry (median; --growth, --backoff-base)";
  } else if (retries.falls_at == 0) {
    text = "medians " + listed(waits, retries) +
           (retries.factor > 0
                ? ", each x " + readable(retries.factor) + " (--growth, --backoff-factor)"
                : " (--growth, --backoff-base, --jitter)");
  } else {
    text = "medians " + listed(waits, retries) + ": it FALLS before retry " +
           std::to_string(retries.falls_at) + ", to " + readable(waits[retries.falls_at - 1]) +
           " (--growth, --backoff-factor, --jitter, --grow-from)";
  }
  if (retries.throttled_waits.empty()) return text;
  return text + "; after throttling " + listed(retries.throttled_waits, retries) +
         (retries.hinted ? " (--retry-after, --hint)" : " (--throttled-base)");
}

}  // namespace retrystorm
