#include "model/retry/strategies.h"

#include <algorithm>

namespace retrystorm {

namespace {

// The rest of the line that begins with `label`, in the comments at the head of the file.
std::string_view labelled(std::string_view text, std::string_view label) {
  while (text.starts_with('#')) {
    const std::string_view line = text.substr(0, text.find('\n'));
    if (line.starts_with(label)) return line.substr(label.size());
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return {};
}

}  // namespace

const std::vector<NamedStrategy>& named_strategies() {
  static const std::vector<NamedStrategy> strategies = [] {
    std::vector<NamedStrategy> result;
    for (const StrategyFile& file : strategy_files()) {
      result.push_back({.name = file.name.substr(0, file.name.rfind('.')),
                        .summary = labelled(file.content, "# "),
                        .source = labelled(file.content, "# Source: "),
                        .date = labelled(file.content, "# Date: "),
                        .connections = labelled(file.content, "# Connections: "),
                        .settings = file.content});
    }
    // The order of the files differs: aws-legacy-dynamodb.ini comes before aws-legacy.ini.
    std::sort(result.begin(), result.end(),
              [](const NamedStrategy& a, const NamedStrategy& b) { return a.name < b.name; });
    return result;
  }();
  return strategies;
}

const NamedStrategy* find_strategy(std::string_view name) {
  for (const NamedStrategy& each : named_strategies()) {
    if (each.name == name) return &each;
  }
  return nullptr;
}

namespace {

bool is_of_its_name(RetrySettings settings) {
  RetrySettings named = retry_settings(settings.strategy);
  OptionList ours, theirs;
  declare_options(ours, settings);
  declare_options(theirs, named);
  for (std::size_t i = 0; i < ours.all().size(); ++i) {
    if (ours.all()[i].get() != theirs.all()[i].get()) return false;
  }
  return true;
}

// "exponential from 100ms x 2 up to 5m, full jitter"
std::string waits(const BackoffSettings& backoff) {
  const std::string base = brief_duration(backoff.base);
  const std::string cap =
      backoff.cap == Duration::max() ? "" : " up to " + brief_duration(backoff.cap);
  const std::string jitter = to_string(backoff.jitter);
  if (backoff.jitter.is_growth()) return jitter + " from " + base + cap;
  std::string text;
  switch (backoff.growth) {
    case Growth::kNone:
      return "at once";
    case Growth::kConstant:
      text = "constant " + base;
      break;
    case Growth::kLinear:
      text = "linear from " + base + " by " + brief_duration(backoff.step) + cap;
      break;
    case Growth::kExponential:
      text = "exponential from " + base + " x " + print_number(backoff.factor) + cap;
      break;
    case Growth::kTable:
      text = "table from " + base + cap;
      break;
  }
  return backoff.jitter.kind == Jitter::Kind::kNone ? text : text + ", " + jitter + " jitter";
}

std::string budget(const BudgetSettings& settings) {
  if (settings.name != "sre") return "budget " + std::string(settings.name);
  return "budget " + print_number(100 * settings.deposit) + " %";
}

std::string hedges(const HedgeSettings& settings) {
  if (settings.on == HedgeOn::kTimeout) return "retries beside late attempts";
  const std::string after = settings.percentile > 0 ? 'p' + print_number(settings.percentile)
                                                    : brief_duration(settings.delay);
  return (settings.most == 1 ? "1 hedge" : std::to_string(settings.most) + " hedges") + " after " +
         after;
}

}  // namespace

std::string retries_title(const RetrySettings& settings) {
  return is_of_its_name(settings) ? settings.strategy + " retries" : retries_in_words(settings);
}

std::string retries_in_words(const RetrySettings& settings) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  const LimitSettings& limit = settings.limit;
  if (settings.pacer.on) {
    add("paced from " + brief_duration(settings.pacer.initial_interval) + " x " +
        print_number(settings.pacer.up_multiplier));
  } else if (limit.max_retries > 0) {
    add(waits(settings.backoff));
  }
  switch (limit.max_retries) {
    case 0:
      add("no retries");
      break;
    case 1:
      add("1 retry");
      break;
    case LimitSettings::kUnlimited:
      add("any number of retries");
      break;
    default:
      add(std::to_string(limit.max_retries) + " retries");
  }
  if (settings.hedge.any()) add(hedges(settings.hedge));
  if (limit.has_deadline()) add("deadline " + brief_duration(limit.deadline));
  const ProcessSettings& process = settings.process;
  if (process.budget.kind != BudgetSettings::Kind::kNone) add(budget(process.budget));
  if (process.breaker.on) add("breaker " + std::string(process.breaker.name));
  if (process.throttle.on) add("throttle " + std::string(process.throttle.name));
  if (process.retry_switch.on()) add("a retry switch");
  using Limit = ConcurrencyLimitSettings::Kind;
  if (process.concurrency_limit.kind != Limit::kNone) add("a concurrency limit");
  using Rate = ClientRateSettings::Kind;
  if (process.client_rate.kind == Rate::kFixed) {
    const double rate = process.client_rate.rate;
    add(print_number(rate < 100 ? to_digits(rate, 3) : rate) + "/s for a process");
  } else if (process.client_rate.kind != Rate::kNone) {
    add("a client rate");
  }
  return text;
}

}  // namespace retrystorm
