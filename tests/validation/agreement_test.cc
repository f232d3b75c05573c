// A thousand runs: one or two minutes of processor time.

#include "tests/support/test.h"
#include "tests/validation/validation.h"

namespace retrystorm::validation {
namespace {

TEST(Validate, TheSimulatorAgreesWithTheFormulas) {
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  for (const Finding& each : validate(cases(), kUsualSeeds, cores)) {
    EXPECT_TRUE(each.agrees) << csv_line(cells(each));
  }
}

}  // namespace
}  // namespace retrystorm::validation
