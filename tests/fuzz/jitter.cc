// Jitter as people write it: either refused with a sentence, or equal to its printed form. No wait is
// negative.
#include "model/retry/backoff.h"
#include "tests/fuzz/target.h"

void retrystorm::fuzz(std::string_view text) {
  Jitter jitter;
  try {
    jitter = parse_jitter(text);
  } catch (const std::invalid_argument&) {
    return;
  }
  if (parse_jitter(to_string(jitter)) != jitter) std::abort();
  ClientRandom random(1, 0);
  for (const Duration wait : {Duration(0), Duration(1), Duration::max()}) {
    for (int i = 0; i < 10; ++i) {
      if (jitter.of(wait, random) < Duration::zero()) std::abort();
    }
  }
}
