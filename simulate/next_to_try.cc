#include "simulate/next_to_try.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "common/output/fixed.h"
#include "model/base/text.h"
#include "model/run/disturbance.h"
#include "model/run/outlook.h"
#include "model/run/workload.h"
#include "study/cells.h"
#include "study/evaluator.h"
#include "study/fitted_table.h"

namespace retrystorm {
namespace {

// A command that finds how far something may go. `search`: "most=outage-for".
std::string to_see(const std::string& search, const std::string& what) {
  return "--" + search + " --expect='down<20%', to see " + what;
}

// Has a longer freeze no effect? The accept queue is full, and requests are given up as fast as others
// begin.
bool longer_is_the_same(const ScenarioOptions& options) {
  if (options.timeline.outage.kind != Disturbance::Kind::kFreeze) return false;
  const auto outage = look_ahead(options).outage;
  return outage && outage->waiting >= static_cast<double>(options.service.backlog) &&
         outage->unanswered < outage->wanted;
}

// Are attempts turned away in the outage, so that it leaves no queue?
bool fails_at_once(const Disturbance& outage) {
  return outage.kind == Disturbance::Kind::kErrors || outage.kind == Disturbance::Kind::kThrottle;
}

// The deposit with which a bucket of tokens stays full while a share of the attempts fails for so long as it
// likes, with a tenth to spare. Nothing for other budgets.
std::optional<double> enough_deposit(const BudgetSettings& budget, const Disturbance& outage) {
  if (budget.kind != BudgetSettings::Kind::kTokens || budget.refund ||
      budget.deposit_on == DepositOn::kFirstSuccess ||
      budget.request_share != BudgetSettings::kNone || outage.kind != Disturbance::Kind::kErrors ||
      outage.value >= 1) {
    return std::nullopt;
  }
  const double some_more = std::ceil(even_deposit(budget, outage.value) * 110) / 100;
  constexpr double kMost = 1000;  // of --budget-deposit
  if (some_more <= budget.deposit || some_more > kMost) return std::nullopt;
  return some_more;
}

// If a share p of the attempts fails, at most 1 - p^n of the requests succeed with n attempts.
double most_with(double failing, double attempts) {
  return 1 - std::pow(failing, attempts);
}

// The attempts with which 99 % succeed, where as many succeed as can with those that a request has. Each request needs
// (1 - p^n) / (1 - p) of them on average.
std::optional<Suggestion> enough_attempts(const ScenarioOptions& options, double success) {
  constexpr double kWanted = 0.99, kNear = 0.01, kMost = 100;
  const Disturbance& outage = options.timeline.outage;
  const std::uint32_t retries = options.workload.retry.limit.max_retries;
  if (outage.kind != Disturbance::Kind::kErrors || !(outage.value > 0) || outage.value >= 1 ||
      retries == LimitSettings::kUnlimited) {
    return std::nullopt;
  }
  const double p = outage.value, now = retries + 1.0;
  const double most = most_with(p, now);
  // Fewer, where something else limits them.
  if (most >= kWanted || success < most - kNear) return std::nullopt;
  const double enough = std::ceil(std::log(1 - kWanted) / std::log(p));
  if (enough > kMost) return std::nullopt;
  const auto each = [p](double attempts) { return readable(most_with(p, attempts) / (1 - p)); };
  return Suggestion{.options = {{"max-attempts", print_number(enough)}},
                    .text = "--max-attempts=" + print_number(enough) + ": " + readable(now) +
                            (now == 1 ? " attempt lets" : " attempts let") + " 1 - " + readable(p) +
                            '^' + readable(now) + " = " + percent(most, 2) +
                            " succeed while it lasts, " + readable(enough) + " " +
                            percent(most_with(p, enough), 2) + ", for " + each(enough) +
                            " attempts a request, not " + each(now)};
}

// Can a wait for a connection of a full pool use up the timeout of an attempt?
bool pool_wait_decides(const ScenarioOptions& options) {
  const WorkloadOptions& workload = options.workload;
  return workload.connections.kept() && workload.connections.pool_wait_counts &&
         workload.has_timeout() && look_ahead(options).connections->room != Outlook::kUnlimited;
}

}  // namespace

std::size_t processes_with_room(const ScenarioOptions& options, double share) {
  constexpr double kMost = 0.95;
  const Outlook ahead = look_ahead(options);
  const double room = kMost * ahead.service->capacity - ahead.wanted * (1 + share);
  if (!std::isfinite(room) || room < 0) return 0;
  return static_cast<std::size_t>(room / HedgeSettings::kFree);
}

std::string room_text(std::size_t processes) {
  return " (and " + readable(HedgeSettings::kFree) + "/s in each process: room for at most " +
         readable(static_cast<double>(processes)) + " --processes)";
}

Seen seen_in(const Summary& summary) {
  const auto refused = summary.counts.gave_up_by[static_cast<std::size_t>(GiveUp::kBudget)];
  return {
      .verdict = summary.recovery.verdict,
      .budget_used_up = refused > 0,
      .processes = summary.processes,
      .throttled = summary.counts.throttled_share(),
      .to_watch = summary.recovery.to_watch,
      .success_in_outage = summary.phases ? (*summary.phases)[1].success_share().value_or(0) : 0,
      .back_in_vain = summary.phases &&
                      (*summary.phases)[2].success_share().value_or(1) < RecoveryTracker::kWell};
}

Seen seen_in(const CellResult& cell) {
  const auto most = [&cell](std::size_t runs) { return is_majority(runs, cell.decided()); };
  const bool often_down = cell.down_runs() > 0 && 5 * cell.down_runs() >= cell.decided();
  return {.verdict = often_down              ? Verdict::kCollapsed
                     : most(cell.recovering) ? Verdict::kRecovering
                     : most(cell.recovered)  ? Verdict::kRecovered
                     : most(cell.no_outage)  ? Verdict::kNoOutage
                                             : Verdict::kUndecided,
          .budget_used_up = cell.gave_up > 0 && cell.nothing_retried == 0,
          .processes = static_cast<std::size_t>(cell.processes.value_or(0)),
          .throttled = cell.throttled_share.value_or(0),
          .to_watch = cell.to_watch,
          .success_in_outage = cell.phases[1].success.value_or(0),
          .back_in_vain = cell.back_in_vain()};
}

std::vector<Suggestion> next_to_try(const ScenarioOptions& options, const Seen& seen) {
  const RetrySettings& retry = options.workload.retry;
  const bool reconnects = loses_connections(options.timeline.outage);
  std::vector<Suggestion> all;
  // With an option's value, which the text begins with.
  const auto add = [&all](const NamedOptions& some, const std::string& why = "") {
    Suggestion suggestion{.options = some};
    for (const auto& [name, value] : some) {
      suggestion.text += (suggestion.text.empty() ? "--" : " --") + name + '=' + value;
    }
    suggestion.text += why;
    all.push_back(std::move(suggestion));
  };
  if (options.graph.on()) {
    // All that follows is about one service.
    const bool down = seen.verdict == Verdict::kCollapsed || seen.verdict == Verdict::kRelapsed;
    if (down && retry.limit.max_retries > 0 &&
        retry.process.budget.kind == BudgetSettings::Kind::kNone) {
      add({{"retry-budget", "10%"}});
    }
    return all;
  }
  // Half of what may wait so that the last one is still answered in time.
  const auto add_bounded_queue = [&] {
    const auto length =
        options.scale == 1 ? advised_queue_length(look_ahead(options)) : std::nullopt;
    if (!length) return;
    add({{"queue-length", std::to_string(*length)}});
    all.back().of_service = true;
  };
  // The window in which all clients come back without a queue, if this one is shorter.
  const auto add_window = [&] {
    const auto herd = look_ahead(options).herd;
    if (!herd || herd->base_for_room == Duration::zero()) return false;
    add({{"reconnect-base", readable(herd->base_for_room)}}, ": no attempts pile up");
    return true;
  };
  if (seen.is_throttled()) {
    using Rate = ClientRateSettings::Kind;
    const bool unlimited = retry.process.client_rate.kind == Rate::kNone;
    const std::size_t processes = process_count(options.workload);
    const std::string shared = processes > 1
                                   ? " (true of clients that share one process: --processes=1)"
                                   : " (if all clients share one process)";
    const RateLimitSettings& limit = options.service.rate_limit;
    // Clients that hold back what comes anyway, and is more than the limit, only make it wait.
    const bool fits =
        options.workload.arrivals != Arrivals::kOpen || limit.rate <= 0 ||
        limit.autoscale.kind != AutoscaleKind::kNone ||
        look_ahead(options).wanted * load_factor(options.timeline.outage) <= limit.rate;
    const bool may_pace = unlimited && fits;
    if (may_pace && limit.rate > 0) {
      // Of calls as many as are admitted, one that comes a little early is turned away, and so is the next one.
      constexpr double kLess = 0.9;
      const bool bursts = bucket_size(limit.burst, limit.rate) >= limit.rate;
      const double each = rate_of_each(limit.rate * (bursts ? 1 : kLess), processes);
      if (each > 0) {
        add({{"client-rate", print_number(each) + "/s"}},
            processes == 1 ? shared : " (of each process)");
      }
    }
    const bool obeyed = retry.hint.use != HintUse::kIgnore;
    if (options.service.hint.kind != HintKind::kSpread) {
      add(obeyed ? NamedOptions{{"hint", "spread"}}
                 : NamedOptions{{"hint", "spread"}, {"retry-after", "at-least"}},
          " (if the limit is of your own service: it has to send Retry-After)");
      all.back().of_service = true;
    } else if (!obeyed) {
      add({{"retry-after", "at-least"}}, " (helps only if the service sends Retry-After: --hint)");
    }
    if (may_pace) add({{"client-rate", "aws-adaptive"}}, shared);
    if (may_pace && processes > 1 && !retry.pacer.on &&
        options.workload.arrivals == Arrivals::kClosed) {
      add({{"strategy", "responsive"}}, " (each client paces itself)");
    }
  }
  switch (seen.verdict) {
    case Verdict::kRecovered:
      if (seen.is_throttled()) break;
      if (const auto attempts = enough_attempts(options, seen.success_in_outage)) {
        all.push_back(*attempts);
      } else if (seen.budget_used_up) {
        const BudgetSettings& budget = retry.process.budget;
        if (const auto deposit = enough_deposit(budget, options.timeline.outage)) {
          add({{"budget-deposit", print_number(*deposit)}},
              budget.name == "grpc" ? " (gRPC's tokenRatio)" : "");
        }
      }
      if (reconnects) {
        add_window();
      } else if (seen.back_in_vain || fails_at_once(options.timeline.outage)) {
        // Clients that hold back their load survive everything. And however long it is, nothing waits in the
        // service at its end.
      } else if (longer_is_the_same(options)) {
        const bool open = options.workload.arrivals == Arrivals::kOpen;
        all.push_back(
            {.text = to_see(open ? "most=rate" : "most=clients", "how much load it survives")});
      } else {
        all.push_back({.text = to_see("most=outage-for", "how long an outage it survives")});
      }
      break;
    case Verdict::kRelapsed:
    case Verdict::kCollapsed: {
      if (reconnects) {
        if (!add_window()) all.push_back({.text = "a longer --reconnect-base"});
        break;
      }
      const bool grows = retry.pacer.on || retry.backoff.jitter.is_growth() ||
                         retry.backoff.growth == Growth::kExponential ||
                         retry.backoff.growth == Growth::kTable;
      // Longer waits help clients that wait for their answers. Where new requests come anyway, only
      // fewer retries do.
      const bool open = options.workload.arrivals == Arrivals::kOpen;
      const bool retries = retry.limit.max_retries > 0;
      const HedgeSettings& hedge = retry.hedge;
      const bool hedged = hedge.any() && hedge.on == HedgeOn::kDelay;
      // In a storm all requests have their hedges.
      if (hedged && hedge.budget == HedgeSettings::kNoBudget) {
        constexpr double kShare = 0.05;
        const std::size_t most = processes_with_room(options, kShare);
        add({{"hedge-budget", readable(kShare)}}, most > 0 ? room_text(most) : "");
      }
      // Where it suffices, clients need not change.
      add_bounded_queue();
      if (!retries) {
        // Only what the service does is left.
      } else if (!grows && !open) {
        add({{"strategy", "exponential"}}, " (with --arrivals=open: --retry-budget=10%)");
      } else if (retry.process.budget.kind == BudgetSettings::Kind::kNone) {
        add({{"retry-budget", "10%"}});
      }
      // Whether the timeout includes the wait is a property of a library, which few can choose.
      if (pool_wait_decides(options)) {
        constexpr Duration kShort = std::chrono::milliseconds(100);
        add({{"pool-wait", format_duration(std::min(kShort, options.workload.timeout / 4))}});
        add({{"pool-wait-counts", "no"}});
      }
      if (retries) add({{"max-retries", "0"}}, ": the same without retries");
      if (hedged) add({{"hedge", "none"}}, ": the same without hedges");
      break;
    }
    case Verdict::kRecovering:
      add_bounded_queue();
      all.push_back(
          {.text = "--observe=" + brief_duration(seen.to_watch.value_or(2 * options.observe))});
      break;
    case Verdict::kUndecided:
    case Verdict::kNoOutage:
      break;
  }
  return all;
}

void RowToImprove::see(std::size_t row, const CellResult& result) {
  const Seen seen = seen_in(result);
  const int urgency = seen.verdict == Verdict::kCollapsed    ? 4
                      : seen.is_throttled()                  ? 3
                      : seen.verdict == Verdict::kRecovering ? 2
                      : seen.verdict == Verdict::kRecovered  ? 1
                                                             : 0;
  if (urgency < urgency_ || (urgency == urgency_ && row >= row_)) return;
  urgency_ = urgency;
  row_ = row;
  result_ = result;
}

std::string too_few_attempts(const ScenarioOptions& options,
                             const std::vector<Expectation>& claims) {
  const Disturbance& outage = options.timeline.outage;
  if (outage.kind != Disturbance::Kind::kErrors || outage.value >= 1) return "";
  const double failing = outage.value;
  const Outlook ahead = look_ahead(options);
  const double attempts = ahead.retries.errors.attempts;
  const auto most = [failing](double number) { return most_with(failing, number); };
  std::string text;
  for (const Expectation& claim : claims) {
    const bool at_least = claim.relation == Expectation::Relation::kAbove ||
                          claim.relation == Expectation::Relation::kAtLeast;
    if (!claim.figure.starts_with("success_during") || !at_least || claim.bound >= 1) continue;
    if (most(attempts) > claim.bound) {
      const double needed = ahead.wanted * claim.bound / (1 - failing);
      if (options.workload.arrivals == Arrivals::kOpen && ahead.service &&
          ahead.outage->errors_cost.value_or(false) && needed > ahead.service->capacity) {
        text = "where " + percent(failing, 2) + " of the attempts fail, " +
               percent(claim.bound, 2) + " of " + readable(ahead.wanted) + "/s take " +
               readable(needed) + " attempts/s = " + readable(ahead.wanted) + " x " +
               readable(claim.bound) + " / (1 - " + readable(failing) + "), and the service does " +
               readable(ahead.service->capacity) + "/s: its queue grows, whatever the budget";
      }
      continue;
    }
    const std::string each = readable(failing), n = readable(attempts);
    text = "where " + percent(failing, 2) + " of the attempts fail, " + n +
           (attempts == 1 ? " attempt lets" : " attempts let") + " 1 - " + each + '^' + n + " = " +
           percent(most(attempts), 2) +
           " of the requests succeed while it lasts, and no budget more";
    double enough = attempts;
    while (most(enough) <= claim.bound) ++enough;
    text += "\ntry: --max-retries=" + readable(enough - 1) + " (" + percent(most(enough), 2) + ')';
  }
  return text;
}

std::string limit_by_arithmetic(const std::string& searched, const ScenarioOptions& options) {
  const WorkloadOptions& workload = options.workload;
  if (options.graph.on() || workload.arrivals != Arrivals::kOpen ||
      options.service.capacity != Capacity::kWorkers) {
    return "";
  }
  const double capacity = capacity_of(options.service), load = workload.rate;
  const BudgetSettings& budget = workload.retry.process.budget;
  const std::string per_s = readable(capacity) + "/s", wanted = readable(load);
  std::string limit;
  if (searched == "budget-deposit" && budget.kind == BudgetSettings::Kind::kTokens &&
      budget.cost > 0) {
    const bool one = budget.cost == 1;
    limit = readable(budget.cost * (capacity / load - 1)) + " = " +
            (one ? "" : readable(budget.cost) + " x (") + per_s + " / " + wanted + " - 1" +
            (one ? "" : ")");
  } else if (searched == "budget-share" && budget.kind == BudgetSettings::Kind::kConcurrent) {
    limit = readable(1 - load / capacity) + " = 1 - " + wanted + " / " + per_s;
  }
  if (limit.empty() || load >= capacity) return "";
  return "by arithmetic: above " + limit +
         " a storm can sustain itself, for load and retries are more than the service can do";
}

}  // namespace retrystorm
