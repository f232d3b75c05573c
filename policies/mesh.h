// What Envoy and Istio, which configures Envoy, have in common.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "policies/policy.h"

namespace retrystorm {

// Envoy's waits: from a base, doubled, with full jitter.
void set_envoy_waits(Policy& policy);

// After base and cap: without a cap in the file it is ten times the base. `name` is the cap's.
void settle_cap(Policy& policy, std::string_view name);

// After the timeouts of a try ("timeout") and of all tries ("deadline"): zero means none, and a try's
// must be shorter than that of all. Without one of its own, a try may take all the time, and its
// timeout is not retried.
void settle_timeouts(Policy& policy, std::string_view program, std::string_view of_try,
                     std::string_view of_all);

// What `retry_on` lists, with the codes that belong to it, as --retry-on; after `settle_timeouts`.
// Notes what has no effect. Returns whether it looks at statuses, and at none of gRPC.
bool add_conditions(Policy& policy, std::string_view list, const std::vector<std::string>& codes,
                    std::size_t line, bool has_headers);

// Notes that without the setting of this name an attempt has no timeout.
void note_no_deadline(Policy& policy, std::string_view name);

// Notes a method, or a list of them, that no request has, such as "GET /a". `method` may be null.
void check_method(Policy& policy, const Node* method);

// A limit that never holds, as their files have it.
inline constexpr std::string_view kNoLimit = "4294967295";

// A limit on requests at a time: beyond it they get 503 at once.
void add_concurrency(Policy& policy, const Node& limit);

// A percentage below 1 was probably meant as a share.
void warn_of_small_percent(Policy& policy, const Node& percent);

}  // namespace retrystorm
