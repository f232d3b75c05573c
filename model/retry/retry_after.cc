#include "model/retry/retry_after.h"

#include <cstdint>
#include <stdexcept>

#include "model/base/text.h"

namespace retrystorm {

std::optional<Duration> parse_retry_after(std::string_view text) {
  constexpr std::uint64_t kLongest = 1'000'000'000;  // thirty years
  if (text.empty() || text.find_first_not_of("0123456789") != text.npos) return std::nullopt;
  try {
    return std::chrono::seconds(parse_count(text, 0, kLongest));
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

}  // namespace retrystorm
