// Sweeps: either refused with a sentence, or a list of values within the allowed length. A strategy with
// a slash or a dot is the path of a file, which is hardly there.
#include "study/sweep.h"

#include "common/exit_code.h"
#include "tests/fuzz/target.h"

void retrystorm::fuzz(std::string_view text) {
  try {
    const Axis axis = parse_axis(std::string(text));
    if (axis.values.empty()) std::abort();
  } catch (const UnreadableFile&) {
  } catch (const std::invalid_argument&) {
  }
}
