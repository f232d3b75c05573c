#include "policies/values.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <map>

#include "model/base/text.h"
#include "policies/tree.h"

namespace retrystorm {
namespace {

bool are_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

double number(std::string_view text, double most) {
  constexpr std::size_t kLongestHex = 10;  // with its 0x
  if (text.starts_with("0x") && text.size() > 2 && text.size() <= kLongestHex &&
      text.find_first_not_of("0123456789abcdefABCDEF", 2) == text.npos) {
    return parse_number(std::to_string(std::stoul(std::string(text), nullptr, 16)), 0, most);
  }
  // What people may write for an option (10k, 50%) is no number in these files.
  if (text.find_first_not_of("0123456789.eE+-") != text.npos) refuse("a number is expected here");
  return parse_number(text, 0, most);
}

std::string whole(std::string_view text, double most) {
  const double value = number(text, most);
  if (value != std::floor(value)) refuse("a whole number is expected here");
  return std::to_string(static_cast<std::uint64_t>(value));
}

// The number of digits and a point before these units.
Duration with_unit(std::string_view text, std::string_view value, double unit) {
  if (value.empty() || value.find_first_not_of("0123456789.") != value.npos || value == "." ||
      value.find('.') != value.rfind('.')) {
    refuse(in_quotes(text) + " is no duration here");
  }
  constexpr double kLongest = 315'576'000'000;  // seconds: protobuf's
  return scale(std::chrono::seconds(1), parse_number(value, 0, kLongest) * unit);
}

// 0 of a word that is no unit.
double seconds_of(std::string_view unit) {
  static const std::map<std::string_view, double> kUnits{
      {"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"m", 60}, {"h", 3'600}, {"d", 86'400}};
  const auto found = kUnits.find(unit);
  return found == kUnits.end() ? 0 : found->second;
}

// P1DT1H2M3.5S, in any case: numbers, each before the letter of its unit.
Duration iso_duration(std::string_view text) {
  constexpr std::string_view kUnits = "dhms";  // in their order
  const std::string small = to_lower(text);
  std::string_view rest = std::string_view(small).substr(1);
  Duration duration{0};
  bool time = false;
  std::size_t next = 0;  // of the units
  do {
    if (!time && rest.starts_with('t')) {
      time = true;
      rest.remove_prefix(1);
    }
    const std::size_t end = std::min(rest.find_first_not_of("0123456789."), rest.size());
    next = end == rest.size() ? kUnits.npos : kUnits.find(rest[end], next);
    if (end == 0 || next == kUnits.npos || time != (next > 0)) {
      refuse("this is no ISO 8601 duration");
    }
    const double unit = seconds_of(kUnits.substr(next++, 1));
    duration = saturating_add(duration, with_unit(text, rest.substr(0, end), unit));
    rest.remove_prefix(end + 1);
  } while (!rest.empty());
  return duration;
}

// As Go and Spring write it: without the long units and the blanks that options take.
Duration short_units(std::string_view text) {
  if (text.find_first_of(" ceio") != text.npos) {
    refuse("a duration is written 500ms, 2s or 1m here");
  }
  return parse_duration(text, Duration::zero());
}

}  // namespace

bool is_among(std::string_view word, std::string_view words) {
  const auto all = split(words, ' ');
  return std::ranges::find(all, word) != all.end();
}

std::optional<std::string_view> meaning_of(std::string_view word, std::string_view table) {
  for (const std::string_view each : split(table, ' ')) {
    if (each.substr(0, each.find('=')) == word) return each.substr(word.size() + 1);
  }
  return std::nullopt;
}

void append(std::string& list, std::string_view part, std::string_view between) {
  list.append(list.empty() ? "" : between).append(part);
}

Duration protobuf_duration(std::string_view text) {
  if (!text.ends_with('s')) {
    refuse("a duration is written in seconds with an s here, such as \"1.5s\"");
  }
  const std::string_view value = text.substr(0, text.size() - 1);
  const std::size_t point = value.find('.');
  if (point != value.npos && value.size() - point > 10) {
    refuse("a duration has at most nine digits after the point here");
  }
  return with_unit(text, value, 1);
}

std::string positive_protobuf_duration(std::string_view text) {
  const Duration duration = protobuf_duration(text);
  if (duration <= Duration::zero()) refuse("this must be above zero");
  return brief_duration(duration);
}

Duration go_duration(std::string_view text) {
  const bool bare = text.find_first_not_of("0123456789.") == text.npos;
  if (bare && text != "0") refuse("a duration needs a unit here, such as 2s");
  if (text.starts_with('-')) refuse("a duration is not negative here");
  return short_units(text);
}

Duration gateway_duration(std::string_view text) {
  constexpr std::size_t kMostDigits = 5, kMostNumbers = 4;
  Duration duration{0};
  std::string_view rest = text;
  for (std::size_t n = 0; n == 0 || (!rest.empty() && n < kMostNumbers); ++n) {
    const std::size_t end = std::min(rest.find_first_not_of("0123456789"), rest.size());
    const std::string_view unit = rest.substr(end, rest.find_first_of("0123456789", end) - end);
    if (end == 0 || end > kMostDigits || !is_among(unit, "h m s ms")) break;
    duration = saturating_add(duration, with_unit(text, rest.substr(0, end), seconds_of(unit)));
    rest.remove_prefix(end + unit.size());
  }
  if (text.empty() || !rest.empty()) {
    refuse("a duration is written 1m30s or 500ms here, without fractions");
  }
  return duration;
}

Duration duration_or(Duration unit, std::string_view text) {
  constexpr double kMost = 1e9;
  if (are_digits(text)) return scale(unit, parse_number(text, 0, kMost));
  if (text.empty() || text.front() < '0' || text.front() > '9') {
    refuse("a duration is written 500ms or 2s here");
  }
  return text.ends_with('d') ? with_unit(text, text.substr(0, text.size() - 1), 86'400)
                             : short_units(text);
}

// [d.]hh:mm[:ss[.fffffff]], or with a colon after the days.
Duration timespan(std::string_view text) {
  constexpr double kMostDays = 10'675'199, kDay = 86'400;
  if (are_digits(text))
    return with_unit(text, print_number(parse_number(text, 0, kMostDays)), kDay);
  std::vector<std::string_view> parts = parts_of(text, ':');
  const std::size_t point = parts.front().find('.');
  std::string_view days = "0";
  if (parts.size() == 4) {
    days = parts.front();
    parts.erase(parts.begin());
  } else if (point != std::string_view::npos) {
    days = parts.front().substr(0, point);
    parts.front().remove_prefix(point + 1);
  }
  if (parts.size() < 2 || parts.size() > 3 || !are_digits(days)) {
    refuse("a time is written 00:00:02 here: hours, minutes and seconds");
  }
  constexpr std::array kUnits{3'600.0, 60.0, 1.0};
  constexpr std::array kMost{23.0, 59.0, 59.9999999};
  Duration duration = with_unit(text, print_number(parse_number(days, 0, kMostDays)), kDay);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i < 2 && !are_digits(parts[i])) refuse("this is no time of .NET");
    if (parse_number(parts[i], 0, 1e9) > kMost[i]) {
      refuse("hours go to 23, minutes and seconds to 59: the start fails");
    }
    duration = saturating_add(duration, with_unit(text, parts[i], kUnits[i]));
  }
  return duration;
}

Duration spring_duration(std::string_view text) {
  if (are_digits(text)) return with_unit(text, text, 1e-3);
  if (text.starts_with('P') || text.starts_with('p')) return iso_duration(text);
  const std::size_t end = std::min(text.find_first_not_of("0123456789"), text.size());
  const double unit = seconds_of(to_lower(text.substr(end)));
  if (end == 0 || unit == 0) refuse("a duration is written 500ms, 2s or PT2S here");
  return with_unit(text, text.substr(0, end), unit);
}

std::vector<std::string_view> parts_of(std::string_view text, char separator) {
  constexpr std::ptrdiff_t kMost = 10'000;
  if (std::ranges::count(text, separator) >= kMost) {
    refuse_too_large("a list of more than " + std::to_string(kMost) + " parts");
  }
  return split(text, separator);
}

std::string whole_number(std::string_view text) {
  return whole(text, 4'294'967'295);
}

std::string whole_seconds(std::string_view text) {
  return whole_number(text) + 's';
}

std::string signed_number(std::string_view text) {
  return whole(text, kMostSigned);
}

void add_statuses(RetryOn& on, std::string_view range) {
  const std::size_t dash = range.find('-');
  const std::size_t first = parse_count(range.substr(0, dash), 100, 599);
  const std::size_t last =
      dash == range.npos ? first : parse_count(range.substr(dash + 1), first, 599);
  const auto all = decltype(on.statuses)().set();
  on.statuses |= all >> (all.size() - 1 - (last - first)) << first;
}

std::string plain_share(std::string_view text) {
  return print_number(number(text, 1e9));
}

std::string percent_as_share(std::string_view text) {
  // 0.7 % is 0.007, though 0.7 / 100 is a little less.
  constexpr double kDigits = 1e10;
  return print_number(std::round(kDigits * number(text, 100)) / (100 * kDigits));
}

bool is_true(std::string_view text) {
  return to_lower(text) == "true";
}

}  // namespace retrystorm
