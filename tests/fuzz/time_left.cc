// The time that is left to a request, from any head: not known, none, or one that can be added to a time.
#include "common/http/headers.h"
#include "tests/fuzz/target.h"

void retrystorm::fuzz(std::string_view text) {
  using namespace std::chrono_literals;
  const auto left = parse_time_left(text);
  const bool whole = text.find("\r\n\r\n") != text.npos;
  if (left.has_value() != whole) std::abort();
  if (left && *left != Duration::max() && (*left < 0s || *left > 1'000'000'000s)) std::abort();
}
