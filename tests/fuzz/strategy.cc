// Files of a strategy's settings: either refused with a sentence, or equal to their printed form and
// usable for retries.
#include <chrono>

#include "model/retry/retry_policy.h"
#include "model/retry/retry_settings.h"
#include "tests/fuzz/target.h"

namespace {

using namespace retrystorm;

constexpr Duration kLatency = std::chrono::milliseconds(1);

// Requests that fail a hundred times and then succeed. No wait is negative. A client that must wait asks
// again, and one that is refused continues.
void retry(const RetrySettings& settings) {
  const RetryPolicy policy(settings);
  ClientRandom random(1, 0);
  RetryState state;
  RetryMetrics metrics;
  TimePoint now{};
  const auto process = policy.has_process() ? policy.make_process(now) : nullptr;
  policy.begin_request(state, std::chrono::seconds(10));
  for (int i = 0; i < 110; ++i) {
    const Permission permission = policy.may_send(now, state, process.get(), random);
    if (permission.wait < Duration::zero()) std::abort();
    now = saturating_add(now, permission.wait);
    if (permission.kind == Permission::Kind::kWait) continue;
    const bool sent = permission.kind == Permission::Kind::kSend;
    const AttemptResult result = answered(i >= 100 ? 200 : i % 2 == 0 ? 429 : 500, {}, kLatency);
    if (sent) now = saturating_add(now, kLatency);
    const Decision decision =
        sent ? policy.after(now, result, state, process.get(), random, metrics)
             : policy.after_refusal(now, permission.kind, state, process.get(), random, metrics);
    if (decision.wait < Duration::zero()) std::abort();
    now = saturating_add(now, decision.wait);
    if (!decision.retry) policy.begin_request(state, Duration(0));
  }
}

}  // namespace

void retrystorm::fuzz(std::string_view text) {
  RetrySettings settings;
  OptionList options;
  declare_options(options, settings);
  try {
    options.apply(text);
    check(settings);
  } catch (const std::invalid_argument&) {
    return;
  }
  retry(settings);
  for (const Option& option : options.all()) {
    if (option.name == "strategy") continue;  // would set all others
    const std::string value = option.get();
    option.set(value);
    if (option.get() != value) std::abort();
  }
}
