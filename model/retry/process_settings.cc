#include "model/retry/process_settings.h"

#include "model/retry/budget_settings.h"

namespace retrystorm {

bool ProcessSettings::any() const {
  return budget.kind != BudgetSettings::Kind::kNone || retry_switch.on() || has_gates();
}

bool ProcessSettings::has_gates() const {
  return breaker.on || throttle.on ||
         concurrency_limit.kind != ConcurrencyLimitSettings::Kind::kNone ||
         client_rate.kind != ClientRateSettings::Kind::kNone;
}

void declare_options(OptionList& options, ProcessSettings& settings) {
  declare_options(options, settings.budget);
  declare_options(options, settings.breaker);
  declare_options(options, settings.throttle);
  declare_options(options, settings.concurrency_limit);
  declare_options(options, settings.client_rate);
  declare_options(options, settings.retry_switch);
}

void find_unused(UnusedOptions& unused, const ProcessSettings& settings) {
  find_unused(unused, settings.budget);
  find_unused(unused, settings.breaker);
  find_unused(unused, settings.throttle);
  find_unused(unused, settings.concurrency_limit);
  find_unused(unused, settings.client_rate);
  find_unused(unused, settings.retry_switch);
}

void check(const ProcessSettings& settings) {
  check(settings.budget);
  check(settings.concurrency_limit);
}

std::unique_ptr<RetryProcess> make_process(const ProcessSettings& settings, TimePoint now) {
  if (!settings.any()) return nullptr;
  auto process = std::make_unique<RetryProcess>();
  process->budget = make_budget(settings.budget, now);
  if (settings.retry_switch.on()) process->retry_switch.emplace(settings.retry_switch, now);
  auto& gates = process->gates;
  if (auto rate = make_client_rate(settings.client_rate, now)) gates.push_back(std::move(rate));
  if (settings.concurrency_limit.kind != ConcurrencyLimitSettings::Kind::kNone) {
    gates.push_back(std::make_unique<ConcurrencyLimit>(settings.concurrency_limit));
  }
  if (settings.breaker.on) gates.push_back(std::make_unique<Breaker>(settings.breaker, now));
  if (settings.throttle.on) gates.push_back(std::make_unique<Throttle>(settings.throttle, now));
  return process;
}

}  // namespace retrystorm
