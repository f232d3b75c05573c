// What is said before a run, held to the run.
#include "model/run/outlook.h"

#include <gtest/gtest.h>

#include <string>

#include "simulator/scenario_options.h"
#include "simulator/simulation.h"

namespace retrystorm {
namespace {

using namespace std::chrono_literals;

// Attempts a second in an outage in which all fail, as said and as run.
struct Attempts {
  double said_errors = 0, said_timeouts = 0, run = 0;
};

Attempts attempts_in(const std::string& settings, const std::string& outage) {
  ScenarioOptions scenario;
  OptionList options;
  declare_options(options, scenario);
  options.apply("outage-for = 5m\nobserve = 15s\noutage = " + outage + '\n' + settings);
  const Outlook outlook = look_ahead(scenario);
  const auto phases = Simulation(make_scenario(scenario, 1), {}).run().summary.phases;
  const PhaseFigures& during = phases->at(1);
  return {outlook.retries.errors.rate, outlook.retries.timeouts.rate,
          rates(during.counts, during.length).attempts};
}

// Of five minutes, a client may still think for the first ten seconds.
constexpr double kNear = 0.05;

TEST(SimulatedOutlook, CountsTheAttemptsThatFailAtOnce) {
  for (const char* settings :
       {"strategy = grpc\nretry-budget = none\n", "strategy = none\n", "max-attempts = 3\n",
        "strategy = exponential\nmax-attempts = 4\n", "clients = 50\n", "strategy = aws-standard\n",
        "strategy = aws-standard\nlambda = 1s\nclients = 100\n",
        "retry-budget = 10%\nmax-attempts = 3\n",
        "arrivals = open\nrate = 50\nmax-attempts = 3\n"}) {
    for (const char* outage : {"errors:1", "drop"}) {
      const Attempts attempts = attempts_in(settings, outage);
      EXPECT_NEAR(attempts.run / attempts.said_errors, 1, kNear) << settings << outage;
    }
  }
  const Attempts served = attempts_in("max-attempts = 3\nerror-after = service\n", "errors:1");
  EXPECT_NEAR(served.run / served.said_errors, 1, kNear);
}

// Clients without think time, whose budget is empty, are as fast as the engine lets them.
TEST(SimulatedOutlook, CountsTheAttemptsOfClientsThatNeverWait) {
  const Attempts attempts = attempts_in(
      "strategy = aws-standard\nclients = 5\nlambda = 0s\noutage-for = 15s\n", "errors:1");
  EXPECT_NEAR(attempts.run / attempts.said_errors, 1, kNear);
}

TEST(SimulatedOutlook, CountsTheAttemptsThatTimeOut) {
  for (const char* settings :
       {"strategy = grpc\n", "max-attempts = 2\n", "", "strategy = none\n",
        "retry-budget = 10%\nmax-attempts = 3\n", "strategy = aws-standard\n",
        "strategy = aws-standard\nlambda = 0s\nclients = 100\n",
        "arrivals = open\nrate = 50\nmax-attempts = 3\n"}) {
    const Attempts attempts = attempts_in(settings, "freeze");
    EXPECT_NEAR(attempts.run / attempts.said_timeouts, 1, kNear) << settings;
  }
}

}  // namespace
}  // namespace retrystorm
