#include "retrystorm/disturbances.h"

#include <algorithm>
#include <chrono>

#include "model/run/outlook.h"

namespace retrystorm {

Duration until_drained(const ScenarioOptions& scenario) {
  constexpr Duration kLongest = std::chrono::minutes(5);
  const auto outage = look_ahead(scenario).outage;
  if (!outage || !outage->drains_in) return scenario.observe;
  const Duration twice = saturating_add(*outage->drains_in, *outage->drains_in);
  return std::max<Duration>(scenario.observe,
                            std::chrono::ceil<std::chrono::seconds>(std::min(twice, kLongest)));
}

}  // namespace retrystorm
