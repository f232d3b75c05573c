#include "model/run/storm.h"

#include <cmath>

#include "model/base/random.h"

namespace retrystorm {
namespace {

// How long after an attempt its hedge is sent; `Duration::max()` without hedges. A percentile is of the
// latencies before the outage: the history is slower than a storm.
Duration hedge_delay(const OutlookInput& input) {
  const HedgeSettings& hedge = input.workload.retry.hedge;
  if (hedge.on == HedgeOn::kTimeout || hedge.budget == 0) return Duration::max();
  if (hedge.percentile == 0) return hedge.delay;
  if (!input.service) return Duration::zero();
  return input.service->capacity == Capacity::kWorkers
             ? input.service->workers.service_time.quantile(hedge.percentile / 100)
             : input.service->base_delay;
}

}  // namespace

Storm::Storm(const OutlookInput& input, const Outlook& ahead, const std::vector<Duration>& waits)
    : input_(&input),
      open_(input.workload.arrivals == Arrivals::kOpen),
      callers_(open_ ? arrival_rate(input.workload) : static_cast<double>(input.workload.clients)),
      think_(std::max(input.workload.mean_think_time(), input.turnaround)),
      waits_(waits),
      processes_(static_cast<double>(ahead.processes)),
      wanted_(ahead.wanted),
      timeout_(input.workload.has_timeout() ? input.workload.timeout : retry().limit.deadline),
      hedge_delay_(retrystorm::hedge_delay(input)),
      hedges_(hedge_delay_ == Duration::max() ? 0 : retry().hedge.most),
      client_rate_(ahead.client_rate),
      room_(ahead.connections ? ahead.connections->room : kUnlimited),
      counted_wait_(0) {
  for (Duration& wait : waits_) wait = std::max(wait, input.turnaround);
  const ConnectionSettings& connections = input.workload.connections;
  if (connections.kept() && (connections.pool_wait_counts || retry().limit.has_deadline())) {
    counted_wait_ = std::min(connections.pool_wait, timeout_);
  }
}

Outlook::Failing Storm::failing(Duration takes, bool again) const {
  const std::vector<Duration> waits = waits_after(takes);
  const LimitSettings& limit = retry().limit;
  const Duration ends = again ? limit.deadline : std::min(limit.deadline, takes);
  const double retries = again ? or_unlimited(limit.max_retries, LimitSettings::kUnlimited) : 0;
  const double most = 1 + hedges_ + retries;
  const double attempts = most == 1 ? 1 : std::max(attempts_before(ends, takes, waits, most), 1.);
  Outlook::Failing result{.attempts = attempts,
                          .again = again,
                          .takes = takes,
                          .lasts = std::min(time_of(waits, takes, attempts), ends)};
  const bool endless = attempts == kUnlimited;
  const double cycle = to_seconds(saturating_add(think_, result.lasts));
  // A closed client whose request never ends begins no other.
  double requests = open_ ? callers_ : endless ? 0 : callers_ / cycle;
  if (open_) {
    result.rate = requests == 0 ? 0 : requests * attempts;
  } else {
    const Duration least =
        waits_.empty() ? Duration::zero() : *std::min_element(waits_.begin(), waits_.end());
    result.rate =
        endless ? callers_ / to_seconds(saturating_add(takes, least)) : requests * attempts;
  }
  const double hedges = std::min(hedges_, attempts - 1);
  if (requests > 0 && !endless && requests * (hedges - retry().hedge.budget) > free_hedges()) {
    result.limit = Outlook::Failing::Limit::kHedgeBudget;
    // The others take no time of their requests.
    const double each = to_seconds(std::min(hedge_delay_, takes));
    if (!open_) {
      requests = std::max(callers_ - free_hedges() * each, 0.0) /
                 (cycle - (hedges - retry().hedge.budget) * each);
    }
    result.rate = requests * (attempts - hedges + retry().hedge.budget) + free_hedges();
  }
  result.at_first = result.rate;
  if (requests != kUnlimited && requests + paid(requests, takes, again) < result.rate) {
    result.limit = Outlook::Failing::Limit::kBudget;
    result.rate = open_ ? requests + paid(requests, takes, again) : affordable(takes, again);
  }
  const double connected = sent_at_most(takes), sent = std::min(connected, client_rate_);
  result.at_first = std::min(result.at_first, sent);
  if (sent < result.rate) {
    using Limit = Outlook::Failing::Limit;
    result.limit = client_rate_ < connected ? Limit::kClientRate : Limit::kPools;
    result.rate = sent;
  }
  return result;
}

std::vector<Duration> Storm::waits_after(Duration takes) const {
  std::vector<Duration> waits(static_cast<std::size_t>(hedges_),
                              std::min(hedge_delay_, takes) - takes);
  waits.insert(waits.end(), waits_.begin(), waits_.end());
  if (waits_.empty() && hedges_ > 0) waits.push_back(Duration::zero());
  return waits;
}

Storm::Coming Storm::coming(const Outlook::Failing& failing, double fails, Duration answer) const {
  const double most = failing.attempts;
  const double last = std::pow(fails, most);  // requests whose attempts all fail
  const double each = fails < 1 ? (1 - last) / (1 - fails) : most;
  Coming result{.requests = callers_};
  if (!open_) {
    const std::vector<Duration> waits = waits_after(failing.takes);
    double cycle = to_seconds(think_) + each * to_seconds(failing.takes) +
                   (1 - last) * to_seconds(answer - failing.takes);
    double waited_for = fails;
    for (std::size_t i = 0; static_cast<double>(i) + 1 < most && !waits.empty(); ++i) {
      if (i + 1 >= waits.size()) {  // the last wait repeats
        const double rest = most - 1 - static_cast<double>(i);
        cycle += to_seconds(waits.back()) *
                 (fails < 1 ? waited_for * (1 - std::pow(fails, rest)) / (1 - fails) : rest);
        break;
      }
      cycle += waited_for * to_seconds(waits[i]);
      waited_for *= fails;
    }
    result.requests = callers_ / cycle;
  }
  result.attempts = result.requests == 0 ? failing.rate : result.requests * each;
  if (failing.limit != Outlook::Failing::Limit::kNone) {
    result.attempts = std::min(result.attempts, failing.rate);
  }
  result.answered = std::min(result.requests * (1 - last), result.attempts * (1 - fails));
  return result;
}

double Storm::attempts_beside(const Outlook::Failing& failing, double succeed,
                              Duration answer) const {
  const auto coming_if = [&](double fails) { return coming(failing, fails, answer); };
  const double fails = find_crossing(0, 1, [&](double share) {
                         return coming_if(share).attempts * (1 - share) > succeed;
                       }).low;
  const Coming some = coming_if(fails);
  if (some.attempts - some.requests <= paid(some.requests, failing.takes, failing.again)) {
    return some.attempts;
  }
  return failing.rate * (1 - succeed * to_seconds(answer) / callers_);
}

double Storm::banked(const Outlook::Failing& failing, double cost, Duration besides) const {
  if (failing.limit != Outlook::Failing::Limit::kBudget) return 0;
  return retries_banked(budget(), processes_, cost, wanted_, saturating_add(input_->calm, besides));
}

double Storm::paid(double requests, Duration takes, bool again) const {
  BudgetSettings its = budget();
  if (!again) its.failure_cost = 0;
  return retries_paid(its, processes_, requests, takes,
                      std::max(first_wait(takes), Duration::zero()));
}

double Storm::affordable(Duration takes, bool again) const {
  // A client whose retry is denied may wait nonetheless.
  const Duration denied =
      retry().when_refused == WhenRefused::kBackOff ? first_wait(takes) : Duration::zero();
  const double first = to_seconds(saturating_add(saturating_add(think_, takes), denied));
  const double more = to_seconds(saturating_add(takes, first_wait(takes)));
  const double most = callers_ / first;
  if (most == kUnlimited) return most;
  const double requests = find_crossing(0, most, [&](double some) {
                            return some * first + paid(some, takes, again) * more < callers_;
                          }).low;
  return requests + paid(requests, takes, again);
}

}  // namespace retrystorm
