// Files of a strategy's settings: refused in a sentence, or settings that print as what they were
// read from and with which a client retries.
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

#include "model/retry/retry_policy.h"
#include "model/retry/retry_settings.h"

namespace {

using namespace retrystorm;

// A request that fails a hundred times, then one that succeeds: no wait is negative.
void retry(const RetrySettings& settings) {
  const RetryPolicy policy(settings);
  ClientRandom random(1, 0);
  RetryState state;
  RetryMetrics metrics;
  TimePoint now{};
  policy.begin_request(state, std::chrono::seconds(10));
  for (int i = 0; i < 110; ++i) {
    policy.may_send(now, state, nullptr, random);
    const AttemptResult result =
        i < 100 ? answered(i % 2 == 0 ? 429 : 500, {}, Duration(1)) : answered(200, {}, Duration(1));
    const Decision decision = policy.after(now, result, state, nullptr, random, metrics);
    if (decision.wait < Duration::zero()) std::abort();
    now = saturating_add(now, decision.wait);
    if (!decision.retry) policy.begin_request(state, Duration(0));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  RetrySettings settings;
  OptionList options;
  declare_options(options, settings);
  try {
    options.apply({reinterpret_cast<const char*>(data), size});
  } catch (const std::invalid_argument&) {
    return 0;
  }
  for (const Option& option : options.all()) {
    if (option.name == "strategy") continue;  // would set all others
    const std::string value = option.get();
    option.set(value);
    if (option.get() != value) std::abort();
  }
  retry(settings);
  return 0;
}
