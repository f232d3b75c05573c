// What clients send while all of their attempts fail.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "model/base/duration.h"
#include "model/run/outlook.h"

namespace retrystorm {

// The attempts of closed clients, or of open arrivals, while all of them fail.
class Storm {
 public:
  Storm(const OutlookInput& input, double wanted, std::size_t processes,
        const std::vector<Duration>& waits);

  double hedges() const { return hedges_; }
  Duration hedge_delay() const { return hedge_delay_; }

  // Limits the attempts in flight.
  void use(const Outlook::Connections& pools) {
    room_ = pools.room;
    if (pools.wait_counts || limit_.has_deadline())
      counted_wait_ = std::min(pools.longest_wait, timeout_);
  }

  // With so many times the clients, or requests.
  Storm times(double factor) const {
    Storm other = *this;
    other.callers_ *= factor;
    return other;
  }
  // With so many times the load. Closed clients then think for less long.
  Storm with_load(double factor) const {
    if (open_) return times(factor);
    Storm other = *this;
    other.think_ = scale(think_, 1 / factor);
    return other;
  }

  // While each attempt fails after `takes`. `again`: is such a failure retried? If not, it ends the request with
  // its hedges.
  Outlook::Failing failing(Duration takes, bool again) const;

  // The waits of a request from the end of an attempt that takes so long to the beginning of the next one. A hedge
  // begins before that end, so that its wait is below zero, or at once where the attempt has failed.
  std::vector<Duration> waits_after(Duration takes) const;

  // The requests and attempts a second, if this share of the attempts fails.
  struct Coming {
    double requests = 0, attempts = 0;
    double answered = 0;  // requests that succeed, after `answer`
  };
  Coming coming(const Outlook::Failing& failing, double fails, Duration answer) const;

  // The attempts a second of closed clients of which only so many succeed, after `answer`.
  double attempts_beside(const Outlook::Failing& failing, double succeed, Duration answer) const;

  // How long the budgets last if a retry costs so many tokens, where they limit the attempts.
  std::optional<Duration> budget_lasts(const Outlook::Failing& failing, double cost) const;

  // The retries that full budgets pay for once, where they limit the attempts. They fill during
  // the calm and `besides`.
  double banked(const Outlook::Failing& failing, double cost, Duration besides) const {
    if (!failing.limited_by_budget) return 0;
    return retries_banked(budget_, processes_, cost, wanted_, saturating_add(calm_, besides));
  }
  // Those that are left after an outage of this length in which everything fails.
  double left_after(const Outlook::Failing& failing, double cost, Duration outage) const {
    if (!failing.limited_by_budget) return 0;
    return retries_left(budget_, processes_, spending(failing, cost), waits_after(failing.takes),
                        outage);
  }
  // How long saved or spent tokens count.
  Duration memory() const { return budget_.ttl; }

 private:
  Spending spending(const Outlook::Failing& failing, double cost) const;

  Duration first_wait(Duration takes) const {
    const std::vector<Duration> waits = waits_after(takes);
    return waits.empty() ? Duration::zero() : waits.front();
  }

  // The hedges a second that a budget always pays for.
  double free_hedges() const { return HedgeSettings::kFree * processes_; }

  // For how many attempts a second there is a connection. One that times out has had its connection for the
  // rest of the timeout only, if the wait in line is part of that.
  double sent_at_most(Duration takes) const {
    const Duration held = takes == timeout_ ? takes - counted_wait_ : takes;
    return held > Duration::zero() ? room_ / to_seconds(held) : kUnlimited;
  }

  // `again`: are these failures retried? A budget takes nothing for others.
  double paid(double requests, Duration takes, bool again) const {
    BudgetSettings budget = budget_;
    if (!again) budget.failure_cost = 0;
    return retries_paid(budget, processes_, requests, takes,
                        std::max(first_wait(takes), Duration::zero()));
  }

  // The attempts of closed clients with a budget that pays for fewer than they want: each client
  // thinks and makes the first attempt of a request, or waits and makes a retry.
  double affordable(Duration takes, bool again) const;

  bool open_;
  double callers_;  // clients, or requests a second
  Duration think_;
  std::vector<Duration> waits_;
  const BudgetSettings& budget_;
  double processes_;
  double wanted_;  // requests a second before the outage
  Duration calm_;
  Duration timeout_;
  const LimitSettings& limit_;
  Duration hedge_delay_;
  double hedges_;  // of a request, at most
  double hedge_budget_;
  double client_rate_;
  bool backs_off_;  // after a denied retry
  double room_ = kUnlimited;
  Duration counted_wait_{0};
};

}  // namespace retrystorm
