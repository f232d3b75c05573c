#include "model/base/duration.h"

#include <cmath>
#include <cstdint>
#include <limits>

#include "model/base/text.h"

namespace retrystorm {
namespace {

struct Unit {
  std::string_view name;
  std::int64_t nanoseconds;
};

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr Unit kUnits[] = {
    {"ns", 1},
    {"us", 1'000},
    {"\u00b5s", 1'000},  // the micro sign
    {"\u03bcs", 1'000},  // the Greek letter mu
    {"ms", 1'000'000},
    {"s", kSecond},
    {"m", 60 * kSecond},
    {"h", 3600 * kSecond},
    {"msec", 1'000'000},
    {"sec", kSecond},
    {"second", kSecond},
    {"seconds", kSecond},
    {"min", 60 * kSecond},
    {"minute", 60 * kSecond},
    {"minutes", 60 * kSecond},
    {"hour", 3600 * kSecond},
    {"hours", 3600 * kSecond},
};

[[noreturn]] void refuse_duration(std::string_view text, const char* why) {
  refuse("'" + std::string(text) + "' " + why +
         " (a duration is written like 100ms, 2s, 1m30s; a bare number below "
         "60 is seconds)");
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// A decimal number as whole + fraction / scale, so that "0.1s" is exact.
struct Decimal {
  std::int64_t whole = 0;
  std::int64_t fraction = 0;
  double scale = 1;
};

Decimal take_decimal(std::string_view text, std::string_view& rest) {
  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  Decimal number;
  bool any = false;
  for (; !rest.empty() && is_digit(rest.front()); rest.remove_prefix(1), any = true) {
    const int digit = rest.front() - '0';
    if (number.whole > (kMax - digit) / 10) refuse_duration(text, "is too long a duration");
    number.whole = number.whole * 10 + digit;
  }
  if (!rest.empty() && rest.front() == '.') {
    rest.remove_prefix(1);
    for (; !rest.empty() && is_digit(rest.front()); rest.remove_prefix(1), any = true) {
      if (number.fraction > (kMax - 9) / 10) continue;  // digits beyond the precision
      number.fraction = number.fraction * 10 + (rest.front() - '0');
      number.scale *= 10;
    }
  }
  if (!any) refuse_duration(text, "is not a duration");
  return number;
}

void skip_blanks(std::string_view& rest) {
  while (rest.starts_with(' ')) rest.remove_prefix(1);
}

std::int64_t take_unit(std::string_view text, std::string_view& rest) {
  std::size_t length = 0;
  while (length < rest.size() && rest[length] != '.' && rest[length] != ' ' &&
         !is_digit(rest[length])) {
    ++length;
  }
  const auto name = rest.substr(0, length);
  for (const Unit& unit : kUnits) {
    if (unit.name == name) {
      rest.remove_prefix(length);
      return unit.nanoseconds;
    }
  }
  refuse_duration(text, name.empty() ? "lacks a unit" : "has an unknown unit");
}

std::string trim_fraction(std::int64_t value, std::int64_t unit) {
  std::string text = std::to_string(value / unit);
  std::int64_t fraction = value % unit;
  if (fraction == 0) return text;
  text += '.';
  for (std::int64_t place = unit / 10; fraction != 0; place /= 10) {
    text += static_cast<char>('0' + fraction / place);
    fraction %= place;
  }
  return text;
}

Duration saturating(double nanoseconds) {
  if (std::isnan(nanoseconds)) return Duration::zero();
  constexpr double kLimit = 9223372036854775808.0;  // 2^63
  if (nanoseconds >= kLimit) return Duration::max();
  if (nanoseconds < -kLimit) return Duration::min();
  return Duration(static_cast<std::int64_t>(nanoseconds));
}

}  // namespace

Duration parse_duration(std::string_view text) {
  std::string_view rest = text;
  const bool negative = !rest.empty() && rest.front() == '-';
  if (!rest.empty() && (rest.front() == '-' || rest.front() == '+')) rest.remove_prefix(1);

  constexpr auto kMax = std::numeric_limits<std::int64_t>::max();
  std::int64_t total = 0;
  constexpr std::int64_t kUnclear = 60;  // a bare number from here on may mean milliseconds
  bool first = true;
  do {
    const Decimal number = take_decimal(text, rest);
    skip_blanks(rest);  // "1 s", "1m 30s"
    if (first && rest.empty() && number.whole >= kUnclear) {
      const std::string bare(text);
      refuse("'" + bare + "' has no unit: " + bare + "s or " + bare + "ms?");
    }
    const std::int64_t unit = first && rest.empty() ? kSecond : take_unit(text, rest);
    if (number.whole > kMax / unit) refuse_duration(text, "is too long a duration");
    const std::int64_t part = number.whole * unit;
    const auto fraction = static_cast<std::int64_t>(static_cast<double>(number.fraction) *
                                                    (static_cast<double>(unit) / number.scale));
    if (part > kMax - fraction || part + fraction > kMax - total) {
      refuse_duration(text, "is too long a duration");
    }
    total += part + fraction;
    first = false;
    skip_blanks(rest);
  } while (!rest.empty());
  return Duration(negative ? -total : total);
}

Duration parse_duration(std::string_view text, Duration least) {
  const Duration value = parse_duration(text);
  if (value >= least) return value;
  refuse(in_quotes(text) + (least == Duration::zero()
                                ? " is negative (a duration is at least 0s)"
                                : " is too short (at least " + format_duration(least) + ")"));
}

std::string format_duration(Duration duration) {
  if (duration == Duration::zero()) return "0s";
  if (duration == Duration::min()) return "-2562047h47m16.854775808s";  // no positive counterpart
  if (duration < Duration::zero()) return std::string("-").append(format_duration(-duration));
  const std::int64_t ns = duration.count();
  if (ns < 1'000) return std::to_string(ns) + "ns";
  if (ns < 1'000'000) return trim_fraction(ns, 1'000) + "\u00b5s";
  if (ns < kSecond) return trim_fraction(ns, 1'000'000) + "ms";

  const std::int64_t minutes = ns / (60 * kSecond);
  std::string text;
  if (minutes >= 60) text += std::to_string(minutes / 60) + "h";
  if (minutes > 0) text += std::to_string(minutes % 60) + "m";
  return text + trim_fraction(ns % (60 * kSecond), kSecond) + "s";
}

Duration from_seconds(double seconds) {
  return saturating(seconds * 1e9);
}

Duration scale(Duration duration, double factor) {
  return saturating(std::round(static_cast<double>(duration.count()) * factor));
}

std::string clock_text(Duration duration) {
  const auto minutes = std::chrono::floor<std::chrono::minutes>(duration);
  std::string seconds = print_number(to_seconds(duration - minutes));
  if (seconds.size() == 1 || seconds[1] == '.') seconds.insert(0, "0");
  return std::to_string(minutes.count()) + ':' + seconds;
}

std::string brief_duration(Duration duration) {
  std::string text = format_duration(duration);
  for (const std::string_view zeros : {"m0s", "h0m"}) {
    if (text.ends_with(zeros)) text.resize(text.size() - 2);
  }
  return text;
}

}  // namespace retrystorm
