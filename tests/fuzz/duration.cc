// Durations as people write them: either refused with a sentence, or equal to their printed form.
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
