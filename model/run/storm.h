// What clients send while all of their attempts fail.
#pragma once

#include <optional>
#include <vector>

#include "model/base/duration.h"
#include "model/run/outlook.h"

namespace retrystorm {

// The attempts of closed clients, or of open arrivals, while all of them fail.
class Storm {
 public:
  // Both must outlive it. `ahead`: what is known by then, the load, the processes and their connections.
  Storm(const OutlookInput& input, const Outlook& ahead, const std::vector<Duration>& waits);

  double hedges() const { return hedges_; }
  Duration hedge_delay() const { return hedge_delay_; }

  // While each attempt fails after `takes`. `again`: is such a failure retried? If not, it ends the request with
  // its hedges.
  Outlook::Failing failing(Duration takes, bool again) const;

  // The requests and attempts a second, if this share of the attempts fails.
  struct Coming {
    double requests = 0, attempts = 0;
    double answered = 0;  // requests that succeed, after `answer`
  };
  Coming coming(const Outlook::Failing& failing, double fails, Duration answer) const;

  // The attempts a second of closed clients of which only so many succeed, after `answer`.
  double attempts_beside(const Outlook::Failing& failing, double succeed, Duration answer) const;

  // The retries that full budgets pay for once, where they limit the attempts. They fill during
  // the calm and `besides`.
  double banked(const Outlook::Failing& failing, double cost, Duration besides) const;

 private:
  const RetrySettings& retry() const { return input_->workload.retry; }
  const BudgetSettings& budget() const { return retry().process.budget; }

  // The waits of a request from the end of an attempt that takes so long to the beginning of the next one. A hedge
  // begins before that end, so that its wait is below zero, or at once where the attempt has failed.
  std::vector<Duration> waits_after(Duration takes) const;

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
  double paid(double requests, Duration takes, bool again) const;

  // The attempts of closed clients with a budget that pays for fewer than they want: each client
  // thinks and makes the first attempt of a request, or waits and makes a retry.
  double affordable(Duration takes, bool again) const;

  const OutlookInput* input_;
  bool open_;
  double callers_;  // clients, or requests a second
  Duration think_;
  std::vector<Duration> waits_;
  double processes_;
  double wanted_;     // requests a second before the outage
  Duration timeout_;  // the deadline, if there is no other
  Duration hedge_delay_;
  double hedges_;  // of a request, at most
  double client_rate_;
  double room_;            // for attempts in flight
  Duration counted_wait_;  // for it, within the timeout
};

}  // namespace retrystorm
