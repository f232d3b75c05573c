// The page makes no claims about runs. Its trials name these functions, and never call them: without their code the page
// is smaller.
#include "common/output/expectation.h"
#include "study/judged_runs.h"

namespace retrystorm {

Judgement judge(const Expectation&, const Figures&) {
  return {};
}

std::optional<JudgedRuns> judge_runs(const Evaluator&, const Scenario&, std::uint64_t, std::size_t,
                                     const std::vector<Expectation>&) {
  return std::nullopt;
}

}  // namespace retrystorm
