// How long requests took, in words.
#pragma once

#include <optional>
#include <string>

#include "model/base/latency.h"

namespace retrystorm {

// ">1.2s" if it may be longer; "-" if there is none.
std::string request_time(const std::optional<TimeBound>& time);

}  // namespace retrystorm
