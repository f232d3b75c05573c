// Durations as people write them: refused in a sentence, or read as what they print as.
#include "model/base/duration.h"

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <string_view>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace retrystorm;
  Duration duration{};
  try {
    duration = parse_duration({reinterpret_cast<const char*>(data), size});
  } catch (const std::invalid_argument&) {
    return 0;
  }
  if (parse_duration(format_duration(duration)) != duration) std::abort();
  return 0;
}
