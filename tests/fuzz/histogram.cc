// Pages of metrics: refused in a line, or a histogram whose quantiles ascend.
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "policies/tree.h"
#include "retrystorm/known_service.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace retrystorm;
  try {
    const TimeHistogram times =
        read_histogram(std::string_view(reinterpret_cast<const char*>(data), size), "");
    const auto half = times.quantile(0.5), most = times.quantile(0.99);
    if (!half && most) std::abort();
    if (half && most && *half > *most) std::abort();
  } catch (const BadFile& error) {
    if (std::string(error.what()).find('\n') != std::string::npos) std::abort();
  }
  return 0;
}
