#include "retrystorm/disturbances.h"

#include <algorithm>
#include <chrono>
#include <stdexcept>

#include "model/run/outlook.h"
#include "words/words.h"

namespace retrystorm {

std::vector<StudyDisturbance> with_own_outage(NamedOptions& given) {
  std::vector<StudyDisturbance> all = disturbances();
  NamedOptions own;
  for (const std::string& name : kSetByDisturbances) {
    if (auto found = given.extract(name)) own.insert(std::move(found));
  }
  if (own.empty()) return all;
  const ScenarioOptions scenario = scenario_of(own);
  if (scenario.outage_length() == Duration::zero()) {
    throw std::invalid_argument("--outage-for: an outage of 0s is none");
  }
  std::erase_if(all, [](const StudyDisturbance& each) { return each.outage; });
  all.insert(all.begin(), {.title = words_of(statement_of(scenario.timeline.outage)) + " for " +
                                    brief_duration(scenario.outage_length()),
                           .outage = true,
                           .options = std::move(own)});
  return all;
}

Duration until_drained(const ScenarioOptions& scenario) {
  constexpr Duration kLongest = std::chrono::minutes(5);
  const auto outage = look_ahead(scenario).outage;
  if (!outage || !outage->drains_in) return scenario.observe;
  const Duration twice = saturating_add(*outage->drains_in, *outage->drains_in);
  return std::max<Duration>(scenario.observe,
                            std::chrono::ceil<std::chrono::seconds>(std::min(twice, kLongest)));
}

}  // namespace retrystorm
