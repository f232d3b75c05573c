// What readers have in common: Envoy and the programs that configure it, and other proxies with them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "policies/policy.h"
#include "policies/readers.h"
#include "policies/values.h"

namespace retrystorm {

inline constexpr std::string_view kOfPool = "a limit of the connection pool";
inline constexpr std::string_view kOfSome = "hosts that are left out for some failures only";

// A wrapped number of protobuf is written as the number; Go's dumps write {"value": 2}.
const Node& unwrapped(const Node& node);

// Envoy's waits: from a base, doubled, with full jitter.
void set_envoy_waits(Policy& policy);
// After base and cap: without a cap in the file it is ten times the base. `cap` is its name.
void settle_cap(Policy& policy, std::string_view cap);

// After the timeouts of a try ("timeout") and of all tries ("deadline"): zero means none, and a try's must be shorter than
// that of all. Without one of its own, a try may take all the time, and its timeout is not retried.
void settle_timeouts(Policy& policy, std::string_view program, std::string_view of_try,
                     std::string_view of_all);

// What `retry_on` lists, with its codes, as --retry-on; after `settle_timeouts`. Notes what has no effect. Returns whether it
// looks at statuses, and at none of gRPC.
bool add_conditions(Policy& policy, std::string_view list, const std::vector<std::string>& codes,
                    std::size_t line, bool has_headers = false);

// A list of words as --retry-on, by a table of the failures that each stands for: "error=transport". A word with none is noted
// as not modelled, one with "-" is not noted, and with a word that is not there the program refuses the file.
std::string failures_of(Policy& policy, const Node& words, std::string_view table,
                        std::string_view program);

// Notes that an attempt has no timeout, since `why`.
void note_no_deadline(Policy& policy, std::string_view why);

// Notes that so many of a file have no retries: "2 routes have no ...".
void note_without(PolicyFile& file, std::size_t count, const std::string& what,
                  const std::string& no);

// Notes a method, or a list of them, that no request has, such as "GET /a". It may be none.
void check_method(Policy& policy, const Node& method);

// A limit that never holds, as their files have it.
inline constexpr std::string_view kNoLimit = "4294967295";

// A limit on requests at a time: beyond it they get 503 at once. It may be none.
void add_concurrency(Policy& policy, const Node& limit);

// Envoy's budget: a share of the requests under way (`budget`), beside which a number of retries (`most`, read as `field`, or
// no limit) has no effect. Either may be none.
void set_envoy_budget(Policy& policy, const Node& budget, const Node& most, const Field& field,
                      std::string_view program, std::string_view source);

// How many hosts there are, if there are several: one may be a name of many.
void set_replicas(Policy& policy, std::size_t hosts, const Node& from);

// How many hosts the Services of policies have: those of the Deployments and StatefulSets that they select; and how the first
// of these are probed.
void add_workloads(PolicyFile& file, const std::vector<Node>& documents);

// How a host is picked, by a table of words: "random=random". Another word is noted as not modelled. It may be none.
inline constexpr std::string_view kEnvoyBalances =  // of Istio and gRPC, too
    "round_robin=round-robin least_request=two least_request_experimental=two least_conn=two unspecified=two random=random";
void add_balance(Policy& policy, const Node& word, std::string_view table = kEnvoyBalances);

// An option of several numbers, --eject or --probe, each from a field of `from`, which may be none. The first is 0: off.
void add_parts(Policy& policy, const char* option, std::span<const Field> parts, const Node& from,
               std::string_view program, NameCase name_case = NameCase::kExact);

// --probe in that way: period, timeout, failures. `own_port`: not none if it is on a port of its own.
void add_probe(Policy& policy, std::span<const Field> parts, const Node& from, const Node& own_port,
               std::string_view program, NameCase name_case = NameCase::kExact);

// The fields of such a share. A percentage below 1 was probably meant as a share.
void add_shares(Policy& policy, std::span<const Field> fields, const Node& budget,
                std::string_view program, NameCase name_case = NameCase::kExact);

}  // namespace retrystorm
