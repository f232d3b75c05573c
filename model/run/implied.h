// What an option says of another one that is not given: --rate is of open arrivals, --workers of a service of workers.
#pragma once

#include <array>
#include <functional>
#include <string>
#include <string_view>

namespace retrystorm {

struct Implied {
  std::string_view option, target, value;
};

// Those of the default values imply nothing new, but contradict the others.
inline constexpr std::array kImplied{
    Implied{"rate", "arrivals", "open"},
    Implied{"tasks", "arrivals", "job"},
    Implied{"lambda", "arrivals", "closed"},
    Implied{"workers", "service", "workers"},
    Implied{"service-time", "service", "workers"},
    Implied{"base-delay", "service", "curve"},
    Implied{"limit", "service", "curve"},
    Implied{"curve-factor", "service", "curve"},
    Implied{"k", "service", "curve"},
};

// Calls `set` for each target that is implied and not given. `given`: is this option given, by any of its names?
// Services behind services have their own workers, so nothing is implied there. Throws std::invalid_argument if two
// given options imply different values.
void imply(const std::function<bool(std::string_view option)>& given,
           const std::function<void(const std::string& target, const std::string& value)>& set);

}  // namespace retrystorm
