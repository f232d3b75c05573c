// The header Retry-After, from any server: either nothing, or a wait that can be added to a time.
#include <chrono>

#include "common/http/headers.h"
#include "tests/fuzz/target.h"

void retrystorm::fuzz(std::string_view text) {
  using namespace std::chrono_literals;
  constexpr std::int64_t kNow = 784111777;
  const auto wait = parse_retry_after(text, kNow);
  if (!wait) return;
  if (*wait < 0s || *wait > 1'000'000'000s || *wait % 1s != 0s) std::abort();
}
