#include "common/http/retry_after.h"

#include <algorithm>
#include <array>
#include <chrono>

namespace retrystorm {
namespace {

constexpr std::int64_t kLongestWait = 1'000'000'000;  // thirty years, in seconds

// The value of a text that consists only of digits.
std::optional<std::int64_t> digits(std::string_view text) {
  if (text.empty() || text.size() > 10) return std::nullopt;
  std::int64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    value = value * 10 + (c - '0');
  }
  return value;
}

// Reads a date in the current HTTP format, "Sun, 06 Nov 1994 08:49:37 GMT", as Unix time.
std::optional<std::int64_t> unix_time(std::string_view text) {
  constexpr std::array<std::string_view, 12> kMonths{"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                                     "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  if (text.size() != 29 || text.substr(3, 2) != ", " || text.substr(25) != " GMT" ||
      text[7] != ' ' || text[11] != ' ' || text[16] != ' ' || text[19] != ':' || text[22] != ':') {
    return std::nullopt;
  }
  const auto month = std::find(kMonths.begin(), kMonths.end(), text.substr(8, 3));
  const auto day = digits(text.substr(5, 2)), year = digits(text.substr(12, 4)),
             hour = digits(text.substr(17, 2)), minute = digits(text.substr(20, 2)),
             second = digits(text.substr(23, 2));
  if (month == kMonths.end() || !day || !year || !hour || !minute || !second || *hour > 23 ||
      *minute > 59 || *second > 60) {
    return std::nullopt;
  }
  const std::chrono::year_month_day date(
      std::chrono::year(static_cast<int>(*year)),
      std::chrono::month(static_cast<unsigned>(month - kMonths.begin()) + 1),
      std::chrono::day(static_cast<unsigned>(*day)));
  if (!date.ok()) return std::nullopt;
  const std::int64_t days = std::chrono::sys_days(date).time_since_epoch().count();
  return ((days * 24 + *hour) * 60 + *minute) * 60 + *second;
}

}  // namespace

std::optional<Duration> parse_retry_after(std::string_view text, std::int64_t now) {
  auto seconds = digits(text);
  if (!seconds) {
    if (const auto date = unix_time(text)) seconds = std::max<std::int64_t>(*date - now, 0);
  }
  if (!seconds || *seconds > kLongestWait) return std::nullopt;
  return std::chrono::seconds(*seconds);
}

}  // namespace retrystorm
