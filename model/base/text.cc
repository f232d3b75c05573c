#include "model/base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <stdexcept>

namespace retrystorm {
namespace {

template <typename Number>
[[noreturn]] void refuse_number(std::string_view text, const char* what, Number least,
                                Number most) {
  const auto print = [](Number number) {
    if constexpr (std::is_same_v<Number, double>)
      return print_number(number);
    else
      return std::to_string(number);
  };
  throw std::invalid_argument(in_quotes(text) + " is not " + what + " from " + print(least) +
                              " to " + print(most));
}

// How many letters must be changed, added or left out to make one of the other (Levenshtein 1966).
std::size_t distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t above = row[j];
      row[j] = std::min({above + 1, row[j - 1] + 1, diagonal + (a[i - 1] == b[j - 1] ? 0 : 1)});
      diagonal = above;
    }
  }
  return row.back();
}

}  // namespace

std::string in_quotes(std::string_view text) {
  return std::string("'").append(text).append("'");
}

std::string shell_word(std::string_view word) {
  const bool plain = !word.empty() && word.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVW"
                                          "XYZ0123456789_./:=,+-@%") == std::string_view::npos;
  if (plain) return std::string(word);
  std::string quoted(word);
  for (std::size_t at = 0; (at = quoted.find('\'', at)) != std::string::npos; at += 4) {
    quoted.replace(at, 1, "'\\''");
  }
  return in_quotes(quoted);
}

std::string underscored(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::vector<std::string_view> split(std::string_view text, char between) {
  std::vector<std::string_view> parts;
  while (true) {
    const std::size_t end = text.find(between);
    parts.push_back(text.substr(0, end));
    if (end == text.npos) return parts;
    text.remove_prefix(end + 1);
  }
}

double parse_number(std::string_view text, double least, double most) {
  // Only what a decimal number is made of, for strtod reads more; it is there where from_chars for
  // doubles is not. No program sets a locale, so the point is a point.
  const bool plain = !text.empty() && text.find_first_not_of("0123456789+-.eE") == text.npos &&
                     text.front() != '+';
  const std::string copy(plain ? text : "");
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  const bool whole = plain && end == copy.c_str() + copy.size() && end != copy.c_str();
  if (!whole || !(value >= least && value <= most)) refuse_number(text, "a number", least, most);
  return value;
}

std::uint64_t parse_count(std::string_view text, std::uint64_t least, std::uint64_t most) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < least || value > most) {
    refuse_number(text, "a whole number", least, most);
  }
  return value;
}

std::string print_number(double value) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

std::string_view nearest(std::string_view wrong, const std::vector<std::string_view>& known) {
  std::string_view best;
  std::size_t least = std::max<std::size_t>(wrong.size() / 2, 1) + 1;
  for (const std::string_view name : known) {
    const std::size_t far = distance(wrong, name);
    if (far < least) {
      least = far;
      best = name;
    }
  }
  return best;
}

std::string unknown_name(std::string_view wrong, const std::vector<std::string_view>& known) {
  std::string text = in_quotes(wrong) + " is not known";
  if (const auto meant = nearest(wrong, known); !meant.empty()) {
    text.append(" (did you mean ").append(meant).append("?)");
  }
  text += ": choose ";
  for (std::size_t i = 0; i < known.size(); ++i) {
    if (i > 0) text += i + 1 == known.size() ? " or " : ", ";
    text += known[i];
  }
  return text;
}

}  // namespace retrystorm
