#include "model/base/text.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <initializer_list>
#include <limits>
#include <optional>
#include <stdexcept>
#include <utility>

namespace retrystorm {

void refuse(const std::string& sentence) {
  throw std::invalid_argument(sentence);
}

namespace {

constexpr double kMostBareSpread = 2;

// A percentage has no more digits. Not every double is a percentage of another: without a limit, some
// values would not be read back as they were printed.
constexpr int kPercentageDigits = 12;

std::string percentage(double value) {
  return print_number(to_digits(100 * value, kPercentageDigits)) + '%';
}

// A plain decimal number. Only its characters, because strtod accepts more. Not from_chars, because
// some standard libraries lack it for doubles. No program sets a locale, so the decimal point is a
// dot.
std::optional<double> read_decimal(std::string_view text) {
  const bool plain = !text.empty() && text.find_first_not_of("0123456789+-.eE") == text.npos &&
                     text.front() != '+';
  if (!plain) return std::nullopt;
  const std::string copy(text);
  char* end = nullptr;
  const double value = std::strtod(copy.c_str(), &end);
  return end == copy.c_str() + copy.size() ? std::optional(value) : std::nullopt;
}

template <typename Number>
[[noreturn]] void refuse_number(std::string_view text, const char* what, Number least,
                                Number most) {
  const auto print = [](Number number) {
    if constexpr (std::is_same_v<Number, double>)
      return print_number(number);
    else
      return std::to_string(number);
  };
  std::string message = in_quotes(text) + " is not " + what;
  if (most < std::numeric_limits<Number>::max()) {
    message += " from " + print(least) + " to " + print(most);
  }
  // People write shares as percentages.
  const bool share = most == 1 && std::is_same_v<Number, double>;
  const auto value = share ? read_decimal(text) : std::nullopt;
  if (value && *value > 1 && *value <= 100) message.append(": ").append(text).append("%?");
  refuse(message);
}

// A number as it is written: its digits, and what follows them.
struct WrittenNumber {
  enum class Form { kPlain, kThousands, kRate, kPercentage, kTimes };

  std::string_view digits;
  double factor = 1, divisor = 1;  // two, because 3 / 100 is nearer to 0.03 than 3 * 0.01
  Form form = Form::kPlain;
};
using Form = WrittenNumber::Form;

// The one place where these endings are read.
WrittenNumber written_number(std::string_view text) {
  struct Ending {
    std::string_view text;
    Form form;
    double factor, divisor;
  };
  static constexpr Ending kEndings[] = {
      {"rps", Form::kRate, 1, 1},      {"/sec", Form::kRate, 1, 1},
      {"/s", Form::kRate, 1, 1},       {"/min", Form::kRate, 1, 60},
      {"/m", Form::kRate, 1, 60},      {"/hour", Form::kRate, 1, 3600},
      {"/h", Form::kRate, 1, 3600},    {"%", Form::kPercentage, 1, 100},
      {"x", Form::kTimes, 1, 1},       {"k", Form::kThousands, 1e3, 1},
      {"K", Form::kThousands, 1e3, 1}, {"m", Form::kThousands, 1e6, 1},
      {"M", Form::kThousands, 1e6, 1},
  };
  WrittenNumber number{.digits = text};
  for (const Ending& each : kEndings) {
    // A rate may be in thousands, "1k/s". Nothing else has two endings.
    const bool first = number.form == Form::kPlain;
    const bool further = number.form == Form::kRate && each.form == Form::kThousands;
    if (!(first || further) || !number.digits.ends_with(each.text)) continue;
    number.digits.remove_suffix(each.text.size());
    number.digits = trimmed(number.digits);
    number.factor *= each.factor;
    number.divisor *= each.divisor;
    if (first) number.form = each.form;
    if (each.form == Form::kThousands) break;
  }
  return number;
}

double within(std::string_view text, std::initializer_list<Form> others, double least,
              double most) {
  const WrittenNumber number = written_number(text);
  const bool taken = number.form == Form::kPlain || number.form == Form::kThousands ||
                     std::find(others.begin(), others.end(), number.form) != others.end();
  const auto digits = taken ? read_decimal(number.digits) : std::nullopt;
  const double value = digits.value_or(0) * number.factor / number.divisor;
  if (!digits || !(value >= least && value <= most)) refuse_number(text, "a number", least, most);
  return value;
}

}  // namespace

std::string printable(std::string_view text, std::string_view kept) {
  std::string line;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    // Those beyond ASCII take two bytes in UTF-8.
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    const bool beyond = byte == 0xc2 && next >= 0x80 && next < 0xa0;
    const bool control = byte < ' ' || byte == 0x7f;
    line += beyond || (control && kept.find(text[i]) == kept.npos) ? '?' : text[i];
    if (beyond) ++i;
  }
  return line;
}

std::string as_markdown(std::string_view text) {
  std::string escaped;
  for (const char c : printable(text)) {
    if (std::string_view("\\`*_[]<>#~&").find(c) != std::string_view::npos) escaped += '\\';
    escaped += c;
  }
  return escaped;
}

std::string as_markdown_code(std::string_view text) {
  std::string line = printable(text);
  std::replace(line.begin(), line.end(), '`', '\'');
  return '`' + line + '`';
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kShown = 200;
  return '\'' + printable(text.substr(0, kShown)) + (text.size() > kShown ? "...'" : "'");
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
  return '\'' + quoted + '\'';
}

std::string underscored(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
}

std::string with_dashes(std::string_view name) {
  std::string text(name);
  std::replace(text.begin(), text.end(), '_', '-');
  return text;
}

std::string to_lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r";
  const std::size_t begin = text.find_first_not_of(kBlanks);
  if (begin == text.npos) return {};
  return text.substr(begin, text.find_last_not_of(kBlanks) - begin + 1);
}

std::string plain_word(std::string_view text) {
  std::string word;
  for (const char c : text) {
    if (c == '-' || c == '_') continue;
    word += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  }
  return word;
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

std::string plain_number(std::string_view text) {
  constexpr double kExact = 9e15;
  const WrittenNumber written = written_number(text);
  const auto number = read_decimal(written.digits);
  if (!number || written.form == Form::kPlain) return std::string(text);
  if (written.factor == 1 && written.divisor == 1) return std::string(written.digits);
  const double value = *number * written.factor / written.divisor;
  const bool whole = value >= -kExact && value <= kExact &&
                     value == static_cast<double>(static_cast<std::int64_t>(value));
  return whole ? std::to_string(static_cast<std::int64_t>(value)) : print_number(value);
}

double parse_number(std::string_view text, double least, double most) {
  if (most > 1) return within(text, {}, least, most);
  return within(text, {Form::kPercentage}, least, most);
}

double parse_rate(std::string_view text, double least, double most) {
  if (text.find('/') != text.npos && plain_number(text) == text) {
    refuse(in_quotes(text) + " is not a rate: write it as 10 or 10/s, 600/min (600/m) or 36000/h");
  }
  return within(text, {Form::kRate}, least, most);
}

double parse_factor(std::string_view text, double least, double most) {
  return within(text, {Form::kPercentage, Form::kTimes}, least, most);
}

double parse_spread(std::string_view text, double most) {
  const double value = within(text, {Form::kPercentage}, 0, most);
  if (value <= kMostBareSpread) return value;
  if (written_number(text).form != Form::kPercentage) {
    refuse(in_quotes(text) + " is not clear: " + print_number(value) + "% or " + percentage(value) +
           "?");
  }
  return to_digits(value, kPercentageDigits);
}

std::string print_spread(double value) {
  return value > kMostBareSpread ? percentage(value) : print_number(value);
}

std::string number_with_unit(std::string_view text, std::string_view unit) {
  const auto [digits, factor, divisor, form] = written_number(text);
  if ((form == Form::kPercentage || form == Form::kTimes) && read_decimal(digits)) {
    refuse(in_quotes(text) + " is a ratio, and not a number of " + std::string(unit));
  }
  const bool rate = form == Form::kRate || text.find('/') != text.npos;
  if (!rate || !unit.ends_with("/s")) return std::string(text);
  constexpr double kMost = std::numeric_limits<double>::max();
  return print_number(parse_rate(text, -kMost, kMost));
}

std::uint64_t parse_count(std::string_view text, std::uint64_t least, std::uint64_t most) {
  std::uint64_t value = 0;
  const Form form = written_number(text).form;
  const bool taken = form == Form::kPlain || form == Form::kThousands;
  const std::string plain = taken ? plain_number(text) : "";
  const auto [end, error] = std::from_chars(plain.data(), plain.data() + plain.size(), value);
  if (error != std::errc() || plain.empty() || end != plain.data() + plain.size() ||
      value < least || value > most) {
    refuse_number(text, "a whole number", least, most);
  }
  return value;
}

double to_digits(double number, int digits) {
  if (number == 0 || !std::isfinite(number)) return number;
  const double unit = std::pow(10, std::floor(std::log10(std::abs(number))) - (digits - 1));
  // Divides if the unit is below one, so that 0.1 is not 0.1000000001.
  return unit < 1 ? std::round(number * std::round(1 / unit)) / std::round(1 / unit)
                  : std::round(number / unit) * unit;
}

std::string print_number(double value) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
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

namespace {
constexpr std::size_t kLongestWord = 100;  // the time is its square
}

std::string_view nearest(std::string_view wrong, const std::vector<std::string_view>& known) {
  constexpr std::size_t kSlip = 2;  // letters
  if (wrong.size() > kLongestWord) return {};
  std::string_view best;
  std::size_t least = std::max<std::size_t>(wrong.size() / 2, 1) + 1;
  for (const std::string_view name : known) {
    if (name.size() > kLongestWord) continue;
    const std::size_t far = edit_distance(wrong, name);
    // Of names that are as near, one that begins like this.
    const bool begins = name.starts_with(wrong) && !best.starts_with(wrong);
    if (far < least || (far == least && begins)) {
      least = far;
      best = name;
    }
  }
  if (least <= kSlip || wrong.size() <= kSlip) return best;
  for (const std::string_view name : known) {
    if (name.starts_with(wrong)) return name;
  }
  for (const std::string_view name : known) {
    const auto words = split(name, '-');
    if (std::find(words.begin(), words.end(), wrong) != words.end()) return name;
  }
  return least <= wrong.size() / 3 ? best : std::string_view();
}

std::vector<std::string_view> nearest_names(std::string_view wrong,
                                            std::vector<std::string_view> known, std::size_t most) {
  wrong = wrong.substr(0, kLongestWord);
  const auto rank = [wrong](std::string_view name) {
    return std::pair(wrong.empty() || name.find(wrong) == name.npos,
                     edit_distance(wrong, name.substr(0, kLongestWord)));
  };
  std::stable_sort(known.begin(), known.end(),
                   [&rank](std::string_view a, std::string_view b) { return rank(a) < rank(b); });
  known.resize(std::min(known.size(), most));
  return known;
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
  if (wrong.ends_with(".ini")) text += "; options from a file: --config=" + std::string(wrong);
  return text;
}

}  // namespace retrystorm
