#include "tests/support/test.h"
#include "tests/validation/validation.h"

namespace retrystorm::validation {
namespace {

void expect_agreement(const std::vector<Case>& some) {
  const std::size_t cores = std::max(1u, std::thread::hardware_concurrency());
  for (const Finding& each : validate(some, kUsualSeeds, cores)) {
    EXPECT_TRUE(each.agrees) << csv_line(cells(each));
  }
}

// Thousands of runs: minutes of processor time.
TEST(Validate, TheSimulatorAgreesWithTheFormulas) {
  expect_agreement(cases());
}

// Rows that take little time, and that the tests of the simulator leave to this one.
TEST(Validate, TheSimulatorAgreesWithTheFormulasOfShortRuns) {
  const std::set<int> rows{1,  4,  5,  7,  8,  15, 16, 26, 27, 29, 36, 40,
                           41, 42, 43, 44, 45, 48, 49, 50, 60, 62, 68, 69};
  std::vector<Case> some = cases();
  std::erase_if(some, [&rows](const Case& each) { return !rows.contains(each.row); });
  expect_agreement(some);
}

}  // namespace
}  // namespace retrystorm::validation
