// The time that is left to a request, from any head: not known, none, or one that can be added to a time.
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "common/http/headers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace retrystorm;
  using namespace std::chrono_literals;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const auto left = parse_time_left(text);
  const bool whole = text.find("\r\n\r\n") != text.npos;
  if (left.has_value() != whole) std::abort();
  if (left && *left != Duration::max() && (*left < 0s || *left > 1'000'000'000s)) std::abort();
  return 0;
}
