// Which services a service calls for each request: "cart, price & stock?, db*2".
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace retrystorm {

// A call, made `times` times, one after the other.
struct PlannedCall {
  std::size_t to = 0;  // as the plan's owner numbers those that are called
  std::size_t times = 1;
  bool optional = false;  // if it fails, the request goes on without its answer
  double share = 1;       // of the requests that need it
};

// The calls of a group are made at once, and the groups one after the other.
using CallPlan = std::vector<std::vector<PlannedCall>>;

// The same with names.
struct NamedCall {
  std::string to{};
  PlannedCall call{};
};
using NamedPlan = std::vector<std::vector<NamedCall>>;

// Parses a plan: groups are separated by ',', calls that are made at once by '&', and a number after '&' stands
// for so many of the call before it ("shard&100"). After a name may stand '?' (optional), '*2' (twice, one after
// the other) and '@0.1' (of one request in ten). Throws std::invalid_argument with a readable message.
// `check_name` throws it if what stands for a service is none.
NamedPlan parse_calls(std::string_view text, void (*check_name)(std::string_view) = nullptr);

// Throws std::invalid_argument with a readable message if the text is no name of a service: at most 32
// letters, digits, '-' and '_', the first a letter, and not "clients".
void check_service_name(std::string_view text);

}  // namespace retrystorm
