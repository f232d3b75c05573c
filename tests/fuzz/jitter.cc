// Jitter as people write it: either refused with a sentence, or equal to its printed form. No wait is
// negative.
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string_view>

#include "model/retry/backoff.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace retrystorm;
  Jitter jitter;
  try {
    jitter = parse_jitter({reinterpret_cast<const char*>(data), size});
  } catch (const std::invalid_argument&) {
    return 0;
  }
  if (parse_jitter(to_string(jitter)) != jitter) std::abort();
  ClientRandom random(1, 0);
  for (const Duration wait : {Duration(0), Duration(1), Duration::max()}) {
    for (int i = 0; i < 10; ++i) {
      if (jitter.of(wait, random) < Duration::zero()) std::abort();
    }
  }
  return 0;
}
