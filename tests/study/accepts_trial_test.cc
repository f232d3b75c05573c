// Whether a server accepts more than it serves is tried where nobody said it.
#include <gtest/gtest.h>

#include <algorithm>

#include "study/answer_trials.h"

namespace retrystorm {
namespace {

// Of `given` with 8 runs. Null if it was not tried.
std::optional<AnswerTrials::Outcome> tried(const NamedOptions& given) {
  const ScenarioOptions row = scenario_of(given);
  const Evaluator evaluator(2);
  const CellResult result = summarize(evaluator.run(make_scenario(row, 1), seeds_from(1, 8)));
  const AnswerTrials trials({row, given, result, {}}, evaluator, 1, 8);
  const auto& all = trials.outcomes();
  const auto found = std::find_if(all.begin(), all.end(), [](const AnswerTrials::Outcome& each) {
    return each.trial.option == "accepts";
  });
  return found == all.end() ? std::nullopt : std::optional(*found);
}

// Down for good if it accepts all, and back if it does not.
TEST(AcceptsTrial, IsNamedIfItTurnsTheAnswer) {
  const NamedOptions service{
      {"service", "workers"},    {"workers", "32"},    {"service-time", "exponential:50ms"},
      {"arrivals", "open"},      {"rate", "400"},      {"max-attempts", "3"},
      {"growth", "exponential"}, {"timeout", "1s"},    {"backoff-base", "200ms"},
      {"backlog", "511"},        {"outage-for", "10s"}};
  const auto outcome = tried(service);
  ASSERT_TRUE(outcome);
  EXPECT_TRUE(outcome->differs());
  EXPECT_EQ(outcome->result.down_runs(), 0u);
  EXPECT_EQ(outcome->trial.value, "when-free");
  for (const auto& [name, value] : NamedOptions{{"accepts", "all"},
                                                {"max-connections", "20000"},
                                                {"queue-length", "1000"},
                                                {"connections", "multiplexed"}}) {
    NamedOptions known = service;
    known[name] = value;
    EXPECT_FALSE(tried(known)) << name;
  }
}

}  // namespace
}  // namespace retrystorm
