// The header Retry-After, from any server: either nothing, or a wait that can be added to a time.
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "common/http/headers.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace retrystorm;
  using namespace std::chrono_literals;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  constexpr std::int64_t kNow = 784111777;
  const auto wait = parse_retry_after(text, kNow);
  if (!wait) return 0;
  if (*wait < 0s || *wait > 1'000'000'000s || *wait % 1s != 0s) std::abort();
  return 0;
}
