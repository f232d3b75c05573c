// What Envoy and Istio, which configures Envoy, have in common.
#pragma once

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "policies/policy.h"

namespace retrystorm {

// protobuf's JSON takes both retry_on and retryOn: the second form of the first; and the member with either name, null if
// there is none.
std::string in_camel_case(std::string_view snake);
const Node* either(const Node& node, std::string_view snake);

// The name of an object of Kubernetes.
std::string name_of(const Node& object);

// Notes of each of these fields that `map` has, which may be null, that it is not modelled: its name, and what it is.
void note_skipped(Policy& policy, const Node* map,
                  std::initializer_list<std::pair<std::string_view, std::string_view>> fields);
inline constexpr std::string_view kOfPool = "a limit of the connection pool";

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

// Envoy's budget: a share of the requests under way (`budget`), beside which a number of retries (`most`) has no
// effect. Either may be null.
void set_envoy_budget(Policy& policy, const Node* budget, const Node* most,
                      std::string_view source);

// That number, which may be no limit.
void add_most_retries(Policy& policy, const Field& field, const Node* most,
                      std::string_view program);

// A field of the budget. A percentage below 1 was probably meant as a share.
void add_share(Policy& policy, const Field& field, const Node* node, std::string_view program);

}  // namespace retrystorm
