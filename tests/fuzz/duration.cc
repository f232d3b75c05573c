// Durations as people write them: either refused with a sentence, or equal to their printed form.
#include "model/base/duration.h"

#include "tests/fuzz/target.h"

void retrystorm::fuzz(std::string_view text) {
  Duration duration{};
  try {
    duration = parse_duration(text);
  } catch (const std::invalid_argument&) {
    return;
  }
  if (parse_duration(format_duration(duration)) != duration) std::abort();
}
