#include "model/retry/budgets.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <vector>

namespace retrystorm {

namespace {

using BudgetKind = BudgetSettings::Kind;

// The SRE book does not give the period of its counts. Two minutes is the period of its throttling.
constexpr std::array<BudgetSettings, 10> kBudgets{{
    {},
    {.name = "grpc",
     .kind = BudgetKind::kTokens,
     .cost = 0,
     .failure_cost = 1,
     .deposit_on = DepositOn::kSuccess,
     .threshold = 0.5},
    {.name = "aws",
     .kind = BudgetKind::kTokens,
     .tokens = 500,
     .cost = 14,
     .throttled_cost = 5,
     .refund = true,
     .deposit = 1,
     .deposit_on = DepositOn::kFirstSuccess},
    {.name = "aws-2025",
     .kind = BudgetKind::kTokens,
     .tokens = 500,
     .cost = 5,
     .timeout_cost = 10,
     .refund = true,
     .deposit = 1,
     .deposit_on = DepositOn::kFirstSuccess},
    {.name = "finagle",
     .kind = BudgetKind::kTokens,
     .deposit = 0.2,
     .ttl = std::chrono::seconds(10),
     .minimum_rate = 10,
     .request_share = 0.2},
    {.name = "tower",
     .kind = BudgetKind::kTokens,
     .deposit = 0.2,
     .deposit_on = DepositOn::kSuccessOrPermanent,
     .ttl = std::chrono::seconds(10),
     .minimum_rate = 10},
    {.name = "sre", .kind = BudgetKind::kTokens, .threshold = 0, .ttl = std::chrono::minutes(2)},
    {.name = "envoy", .kind = BudgetKind::kConcurrent},
    {.name = "tokens", .kind = BudgetKind::kTokens},
    {.name = "concurrent", .kind = BudgetKind::kConcurrent, .share = 0.2},
}};

const BudgetSettings& budget_named(std::string_view name) {
  for (const BudgetSettings& each : kBudgets) {
    if (each.name == name) return each;
  }
  return kBudgets.front();
}

std::string why_there_is_no_bucket(const BudgetSettings& settings) {
  if (settings.ttl == Duration::max()) return "";
  if (settings.ttl != budget_named(settings.name).ttl) return "with --budget-ttl";
  const std::string share = settings.name == "sre" ? " (or a share, which is the same)" : "";
  return "with --retry-budget=" + std::string(settings.name) + share + ", whose tokens count for " +
         brief_duration(settings.ttl) + " (--budget-ttl): there is no bucket";
}

}  // namespace

void declare_options(OptionList& options, BudgetSettings& settings) {
  constexpr double kDear = 1e6;
  options.group("Retry budget of a process: limits how many retries it sends");
  Option& budget =
      options.preset("retry-budget", settings, std::span<const BudgetSettings>(kBudgets),
                     "the named budget, which sets the defaults below; a share, such "
                     "as 10% or 0.2, is sre with that deposit");
  budget.basic = "Retries";
  budget.set = [&settings, name = std::move(budget.set)](std::string_view text) {
    if (text.empty() || text.find_first_not_of("0123456789.%") != text.npos) return name(text);
    const double share = parse_number(text, 0, 1);
    name("sre");
    settings.deposit = share;
  };
  options.number("budget-tokens", settings.tokens,
                 "how many tokens the bucket holds; it starts full", 0, 1e9, "tokens");
  options.number("budget-cost", settings.cost, "how many tokens a retry costs", 0, kDear, "tokens");
  options
      .number_or_none("budget-timeout-cost", settings.timeout_cost,
                      "how many tokens a retry after a timeout costs; none = as any retry", 0,
                      kDear, "tokens")
      .with_range("0", "20");
  options
      .number_or_none("budget-throttled-cost", settings.throttled_cost,
                      "how many tokens a retry after a throttling answer costs; none = as any "
                      "retry",
                      0, kDear, "tokens")
      .with_range("0", "20");
  options
      .number("budget-failure-cost", settings.failure_cost,
              "how many tokens each failure costs, retried or not", 0, kDear, "tokens")
      .with_range("0", "10");
  options.yes_or_no("budget-refund", settings.refund,
                    "whether a success returns the tokens that its last retry cost");
  options.number("budget-deposit", settings.deposit,
                 "how many tokens a deposit adds; 10% = a tenth of a token", 0, 1000);
  options.choice<DepositOn>("budget-deposit-on", settings.deposit_on,
                            {{"request", DepositOn::kRequest},
                             {"success", DepositOn::kSuccess},
                             {"success-or-permanent", DepositOn::kSuccessOrPermanent},
                             {"first-success", DepositOn::kFirstSuccess}},
                            "when a deposit is made: when a request begins, on each success, on "
                            "each answer that needs no retry, or on each success without a retry");
  options.number_or_none("budget-threshold", settings.threshold,
                         "retries are allowed while more than this share of the bucket is left; "
                         "none = while the tokens cover the cost",
                         0, 1);
  options
      .duration_or_none("budget-ttl", settings.ttl,
                        "how long deposits and costs count, with no limit to their sum; none = "
                        "for good, in a bucket",
                        std::chrono::milliseconds(1))
      .with_range("1s", "1m");
  options
      .number("budget-minimum-rate", settings.minimum_rate,
              "with --budget-ttl: how many retries a second are allowed without deposits", 0, 1e6,
              "retries/s")
      .with_range("0", "100");
  options.number_or_none("budget-request-share", settings.request_share,
                         "the share of the tokens that the retries of one request may cost", 0, 1);
  options.number_or_none("budget-share", settings.share,
                         "concurrent: how many retries are allowed at a time, as a share of the "
                         "attempts in flight",
                         0, 1);
  options.count("budget-min-concurrency", settings.min_concurrency,
                "concurrent: how many retries are always allowed at a time", 0, 1'000'000'000,
                "retries");
  options
      .duration_or_none("budget-interval", settings.interval,
                        "concurrent: how long to count new requests, of which --budget-share is "
                        "then the share; none = of the attempts in flight",
                        std::chrono::milliseconds(1))
      .with_range("1s", "1m");
  options.needs("budget-interval", "budget-share");
  options.needs("budget-minimum-rate", "budget-ttl");
  options.no_effect("budget-tokens", [&settings] { return why_there_is_no_bucket(settings); });
  const auto with = [&settings](BudgetKind kind) {
    return settings.kind == kind ? "with --retry-budget=" + std::string(settings.name) : "";
  };
  options.no_effect(
      "budget-tokens budget-cost budget-timeout-cost budget-throttled-cost budget-failure-cost budget-refund budget-deposit budget-deposit-on budget-threshold budget-ttl budget-minimum-rate budget-request-share",
      [with] { return with(BudgetKind::kConcurrent); });
  options.no_effect("budget-share budget-min-concurrency budget-interval",
                    [with] { return with(BudgetKind::kTokens); });
  options.needs_after("retry-budget", "retry-budget");
}

void check(const BudgetSettings& settings) {
  const bool bucket = settings.ttl == Duration::max();
  if (settings.kind != BudgetKind::kTokens || bucket) return;
  if (settings.threshold > 0 && settings.threshold != BudgetSettings::kNone) {
    refuse(
        "budget-threshold is a share of the bucket: it must be 0 with --budget-ttl, which has no "
        "bucket");
  }
}

std::unique_ptr<RetryBudget> make_budget(const BudgetSettings& settings, TimePoint now) {
  switch (settings.kind) {
    case BudgetKind::kTokens:
      return std::make_unique<TokenBudget>(settings, now);
    case BudgetKind::kConcurrent:
      return std::make_unique<ConcurrentBudget>(settings, now);
    case BudgetKind::kNone:
      break;
  }
  return nullptr;
}

TokenBudget::Tokens TokenBudget::in_tokens(double tokens) {
  constexpr double kMost = 1e18;
  return std::llround(std::min(tokens * kToken, kMost));
}

TokenBudget::TokenBudget(const BudgetSettings& settings, TimePoint now)
    : failure_cost_(in_tokens(settings.failure_cost)),
      deposit_(in_tokens(settings.deposit)),
      deposit_on_(settings.deposit_on),
      refund_(settings.refund),
      request_share_(settings.request_share),
      capacity_(in_tokens(settings.tokens)),
      tokens_(capacity_) {
  const auto cost = [&](double own) {
    return in_tokens(own == BudgetSettings::kNone ? settings.cost : own);
  };
  costs_ = {0, cost(settings.cost), cost(settings.timeout_cost), cost(settings.throttled_cost)};
  const bool expires = settings.ttl != Duration::max();
  if (settings.threshold != BudgetSettings::kNone) {
    threshold_ = expires ? 0 : in_tokens(settings.threshold * settings.tokens);
  }
  if (expires) {
    reserve_ = in_tokens(settings.minimum_rate * to_seconds(settings.ttl) * settings.cost);
    window_.emplace(now, settings.ttl, kSlices);
  }
}

void TokenBudget::add(TimePoint now, Tokens amount) {
  if (amount == 0) return;
  if (window_) {
    window_->add(now, amount);
  } else {
    tokens_ = std::clamp<Tokens>(tokens_ + amount, 0, capacity_);
  }
}

void TokenBudget::request_begins(TimePoint now) {
  if (deposit_on_ == DepositOn::kRequest) add(now, deposit_);
}

void TokenBudget::attempt_ended(TimePoint now, const AttemptResult& result, RetryState& state) {
  const bool ok = result.outcome == Outcome::kOk;
  if (!ok && result.failure != Failure::kPermanent) {
    add(now, -failure_cost_);
    return;
  }
  if (ok && refund_) add(now, costs_[state.paid]);
  const bool earned = deposit_on_ == DepositOn::kSuccessOrPermanent ||
                      (ok && deposit_on_ == DepositOn::kSuccess) ||
                      (ok && deposit_on_ == DepositOn::kFirstSuccess && state.paid == kNothing);
  if (earned) add(now, deposit_);
}

bool TokenBudget::withdraw(TimePoint now, const AttemptResult& result, RetryState& state) {
  const Paid paid = result.failure == Failure::kTimedOut    ? kTimedOut
                    : result.failure == Failure::kThrottled ? kThrottled
                                                            : kTransient;
  const Tokens cost = costs_[paid];
  const Tokens left = balance(now);
  if (threshold_ ? left <= *threshold_ : left < cost) return false;
  if (request_share_ != BudgetSettings::kNone && cost > 0) {
    // Finagle fixes this number when a request begins. Here the retries that the request has made
    // since are added back instead. The results differ only by what other requests have deposited
    // or spent meanwhile.
    const double retries_left = static_cast<double>(left) / static_cast<double>(cost);
    if (state.retries >= std::ceil(request_share_ * (retries_left + state.retries))) return false;
  }
  add(now, -cost);
  state.paid = paid & 0xf;
  return true;
}

ConcurrentBudget::ConcurrentBudget(const BudgetSettings& settings, TimePoint now)
    : share_(settings.share == BudgetSettings::kNone ? 0 : settings.share),
      least_(settings.min_concurrency) {
  if (settings.interval != Duration::max()) begun_.emplace(now, settings.interval, kSlices);
}

void ConcurrentBudget::request_begins(TimePoint now) {
  if (begun_) begun_->add(now, 1);
}

void ConcurrentBudget::attempt_sent(TimePoint /*now*/, RetryState& /*state*/) {
  ++in_flight_;
}

void ConcurrentBudget::attempt_ended(TimePoint now, const AttemptResult& /*result*/,
                                     RetryState& state) {
  attempt_cancelled(now, state);
}

void ConcurrentBudget::attempt_cancelled(TimePoint now, RetryState& state) {
  if (in_flight_ > 0) --in_flight_;
  request_ends(now, state);
}

bool ConcurrentBudget::withdraw(TimePoint now, const AttemptResult& /*result*/, RetryState& state) {
  if (state.paid != 0) return true;  // still active: a gate refused to send it
  const std::uint64_t base = begun_ ? begun_->total(now) : in_flight_;
  const auto shared = static_cast<std::uint64_t>(share_ * static_cast<double>(base));
  if (retries_ >= std::max(least_, shared)) return false;
  ++retries_;
  state.paid = 1;
  return true;
}

void ConcurrentBudget::request_ends(TimePoint /*now*/, RetryState& state) {
  if (state.paid == 0) return;
  state.paid = 0;
  --retries_;
}

}  // namespace retrystorm
