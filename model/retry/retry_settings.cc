#include "model/retry/retry_settings.h"

#include <vector>

#include "model/base/text.h"
#include "model/retry/strategies.h"

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

namespace {

void declare_parts(OptionList& options, RetrySettings& settings) {
  declare_options(options, settings.limit);
  declare_options(options, settings.backoff);
  declare_options(options, settings.hint);
  declare_options(options, settings.hedge);
  declare_options(options, settings.pacer);
  declare_options(options, settings.process);
  options.group("Refused attempts");
  options.choice<WhenRefused>(
      "when-refused", settings.when_refused,
      {{"give-up", WhenRefused::kGiveUp}, {"back-off", WhenRefused::kBackOff}},
      "when a gate (such as the breaker) refuses an attempt: whether the request fails at once or "
      "backs off; when the budget or the switch refuses a retry: whether it waits before it fails");
  options.no_effect("when-refused", [&settings] {
    return settings.process.any()
               ? ""
               : "without a gate or a budget (--breaker, --throttle, --concurrency-limit, "
                 "--client-rate, --retry-switch, --retry-budget)";
  });
}

}  // namespace

void declare_options(OptionList& options, RetrySettings& settings) {
  options.group("Retries");
  Option& strategy = options.text(
      "strategy", "the named strategy, which sets the defaults below",
      [&settings](std::string_view name) { settings = retry_settings(name); },
      [&settings] { return settings.strategy; });
  strategy.kind = Option::Kind::kChoice;
  strategy.is_preset = true;
  strategy.basic = "Retries";
  declare_parts(options, settings);
}

void check(const RetrySettings& settings) {
  check(settings.process);
}

RetrySettings retry_settings(std::string_view strategy) {
  const NamedStrategy* named = find_strategy(strategy);
  if (named == nullptr) {
    if (strategy.find_first_of("./") != std::string_view::npos) {
      refuse(in_quotes(strategy) +
             " is no name: give a settings file to --config, or in a list of "
             "strategies (simulate --sweep, retrystorm --strategies); "
             "`retrystorm import` makes one of another program's file");
    }
    std::vector<std::string_view> names;
    for (const NamedStrategy& each : named_strategies()) names.push_back(each.name);
    refuse(unknown_name(strategy, names));
  }
  RetrySettings settings;
  OptionList options;
  declare_parts(options, settings);
  options.apply(named->settings);
  settings.strategy = named->name;
  check(settings);
  return settings;
}

}  // namespace retrystorm
