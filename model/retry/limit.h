// When a failing request is given up: by the kind of failure, the number of attempts, and the time.
#pragma once

#include <cstdint>
#include <limits>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/retry/retry_on.h"

namespace retrystorm {

// What happens to a request whose next wait would end after its deadline.
enum class DeadlineCheck {
  kBeforeWait,  // it is given up at once (google-api-core, cenkalti/backoff)
  kAtEnd,       // it waits, and is given up at the deadline (gRPC, Polly, Envoy)
};

struct LimitSettings {
  static constexpr std::uint32_t kUnlimited = std::numeric_limits<std::uint32_t>::max();

  RetryOn retry_on = parse_retry_on("408+429+5xx-501+transport+timeout");
  std::uint32_t max_retries = kUnlimited;
  // Deadline of the whole request, counted from when its first attempt was asked for. It also
  // bounds the length of each attempt. `Duration::max()` = none.
  Duration deadline = Duration::max();
  DeadlineCheck deadline_check = DeadlineCheck::kBeforeWait;

  bool has_deadline() const { return deadline != Duration::max(); }
};

void declare_options(OptionList& options, LimitSettings& settings);

void find_unused(UnusedOptions& unused, const LimitSettings& settings,
                 const LimitSettings& defaults);

}  // namespace retrystorm
