#include "model/retry/retry_budget.h"

#include <array>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "model/retry/concurrent_budget.h"
#include "model/retry/token_budget.h"

namespace retrystorm {
namespace {

using BudgetKind = BudgetSettings::Kind;

// SRE's book does not say over which time it counts; two minutes is what it throttles by.
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

}  // namespace

void declare_options(OptionList& options, BudgetSettings& settings) {
  constexpr double kDear = 1e6;
  options.group("Retry budget of a process: how many retries its requests allow");
  options
      .preset("retry-budget", settings, std::span<const BudgetSettings>(kBudgets),
              "whose budget: gives defaults to the numbers below")
      .basic = "Retries";
  options.number("budget-tokens", settings.tokens, "size of the bucket, which starts full", 0, 1e9)
      .in("tokens");
  options.number("budget-cost", settings.cost, "tokens that a retry costs", 0, kDear).in("tokens");
  options
      .number_or_none("budget-timeout-cost", settings.timeout_cost,
                      "tokens that a retry after a timeout costs; none = as the others", 0, kDear)
      .in("tokens")
      .over("0", "20");
  options
      .number_or_none("budget-throttled-cost", settings.throttled_cost,
                      "tokens that a retry after a throttling answer costs; none = as the others",
                      0, kDear)
      .in("tokens")
      .over("0", "20");
  options
      .number("budget-failure-cost", settings.failure_cost,
              "tokens that every failure costs, retried or not", 0, kDear)
      .in("tokens")
      .over("0", "10");
  options.yes_or_no("budget-refund", settings.refund,
                    "whether a success gives back what its last retry cost");
  options.number("budget-deposit", settings.deposit, "tokens paid in", 0, 1000).in("tokens");
  options.choice<DepositOn>("budget-deposit-on", settings.deposit_on,
                            {{"request", DepositOn::kRequest},
                             {"success", DepositOn::kSuccess},
                             {"success-or-permanent", DepositOn::kSuccessOrPermanent},
                             {"first-success", DepositOn::kFirstSuccess}},
                            "when they are paid in: as a request begins, on each success, on each "
                            "answer that needs no retry, on each success that needed none");
  options.number_or_none("budget-threshold", settings.threshold,
                         "retry while more than this share of the bucket is left; none = while "
                         "the tokens cover the cost",
                         0, 1);
  options
      .duration_or_none("budget-ttl", settings.ttl,
                        "tokens in and out are forgotten after so long, and their sum has no "
                        "bound; none = a bucket, which forgets nothing",
                        std::chrono::milliseconds(1))
      .over("1s", "1m");
  options
      .number("budget-minimum-rate", settings.minimum_rate,
              "with budget-ttl: retries per second that are allowed without deposits", 0, 1e6)
      .in("retries/s")
      .over("0", "100");
  options.number_or_none("budget-request-share", settings.request_share,
                         "one request's retries cost at most this share of the tokens", 0, 1);
  options.number_or_none("budget-share", settings.share,
                         "concurrent: retries at a time, as a share of the attempts in flight", 0,
                         1);
  options
      .count("budget-min-concurrency", settings.min_concurrency,
             "concurrent: retries at a time that are always allowed", 0, 1'000'000'000)
      .in("retries");
  options
      .duration_or_none("budget-interval", settings.interval,
                        "concurrent: the share is of the requests begun in so long instead",
                        std::chrono::milliseconds(1))
      .over("1s", "1m");
}

void find_unused(UnusedOptions& unused, const BudgetSettings& settings) {
  const BudgetSettings& usual = budget_named(settings.name);
  const auto find = [&](const std::string& why, const std::vector<std::string_view>& names) {
    find_unused<BudgetSettings>(unused, settings, usual, why, names);
  };
  const std::string with = "with --retry-budget=" + std::string(settings.name);
  switch (settings.kind) {
    case BudgetKind::kNone:
      find("without --retry-budget", {});
      return;
    case BudgetKind::kConcurrent:
      find(with, {"budget-tokens", "budget-cost", "budget-timeout-cost", "budget-throttled-cost",
                  "budget-failure-cost", "budget-refund", "budget-deposit", "budget-deposit-on",
                  "budget-threshold", "budget-ttl", "budget-minimum-rate", "budget-request-share"});
      if (settings.share == BudgetSettings::kNone) {
        find("without --budget-share", {"budget-interval"});
      }
      return;
    case BudgetKind::kTokens:
      find(with, {"budget-share", "budget-min-concurrency", "budget-interval"});
      if (settings.ttl == Duration::max()) {
        find("without --budget-ttl", {"budget-minimum-rate"});
      } else {
        find("with --budget-ttl", {"budget-tokens"});
      }
  }
}

void check(const BudgetSettings& settings) {
  const bool bucket = settings.ttl == Duration::max();
  if (settings.kind != BudgetKind::kTokens || bucket) return;
  if (settings.threshold > 0 && settings.threshold != BudgetSettings::kNone) {
    throw std::invalid_argument(
        "budget-threshold is a share of the bucket: with --budget-ttl there is none, and it is 0");
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

}  // namespace retrystorm
