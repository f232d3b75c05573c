// Pages of metrics: refused in a line, or a histogram whose quantiles ascend.
#include "policies/tree.h"
#include "retrystorm/known_service.h"
#include "tests/fuzz/target.h"

void retrystorm::fuzz(std::string_view text) {
  try {
    const TimeHistogram times = read_histogram(text, "");
    const auto half = times.quantile(0.5), most = times.quantile(0.99);
    if (!half && most) std::abort();
    if (half && most && *half > *most) std::abort();
  } catch (const BadFile& error) {
    expect_one_line(error.what());
  }
}
