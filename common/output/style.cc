#include "common/output/style.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cstdlib>

namespace retrystorm {
namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

bool is_utf8() {
  std::string locale;
  for (const char* each : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    if (locale.empty()) locale = environment(each);
  }
  std::transform(locale.begin(), locale.end(), locale.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return locale.find("utf-8") != locale.npos || locale.find("utf8") != locale.npos;
}

// Colours that stay readable on a dark and on a light background, in the order of `Tone`; the last one ends each.
constexpr std::array<std::string_view, 6> kCodes{"\033[32m", "\033[31m", "\033[33m",
                                                 "\033[2m",  "\033[1m",  "\033[0m"};

}  // namespace

Style style_of(int descriptor, ColorWish wish) {
  constexpr std::size_t kWidest = 100, kNarrowest = 40;
  Style style;
  style.terminal = isatty(descriptor) == 1;
  const bool plain = std::getenv("NO_COLOR") != nullptr || environment("TERM") == "dumb";
  style.color =
      wish == ColorWish::kAlways || (wish == ColorWish::kAuto && style.terminal && !plain);
  style.unicode = !style.terminal || is_utf8();
  winsize window{};
  if (style.terminal && ioctl(descriptor, TIOCGWINSZ, &window) == 0 && window.ws_col > 0) {
    style.width = std::clamp<std::size_t>(window.ws_col, kNarrowest, kWidest);
  }
  return style;
}

std::string painted(std::string_view text, Tone tone, const Style& style) {
  if (!style.color || tone == Tone::kPlain) return std::string(text);
  return std::string(kCodes[static_cast<std::size_t>(tone)]).append(text).append(kCodes.back());
}

std::size_t color_at_begin(std::string_view text) {
  const auto code = std::find_if(kCodes.begin(), kCodes.end(),
                                 [text](std::string_view each) { return text.starts_with(each); });
  return code == kCodes.end() ? 0 : code->size();
}

std::string sign_of(Tone tone, const Style& style) {
  switch (tone) {
    case Tone::kGood:
      return style.unicode ? "✓" : "[back]";
    case Tone::kBad:
      return style.unicode ? "✗" : "[down]";
    case Tone::kDoubt:
      return style.unicode ? "!" : "[??]";
    default:
      return "";
  }
}

namespace {

// The end of the word that begins there. "97.7 %" and "20 ms," are words: no line begins with a unit.
std::size_t end_of_word(std::string_view text, std::size_t begin) {
  constexpr std::array<std::string_view, 6> kUnits{"%", "us", "ms", "s", "min", "h"};
  std::size_t end = std::min(text.find(' ', begin), text.size());
  while (end < text.size() && text[end - 1] >= '0' && text[end - 1] <= '9') {
    const std::size_t next = std::min(text.find(' ', end + 1), text.size());
    const std::string_view word = text.substr(end + 1, next - end - 1);
    const std::string_view unit = word.substr(0, word.find_first_of(".,;:)"));
    if (std::find(kUnits.begin(), kUnits.end(), unit) == kUnits.end()) break;
    end = next;
  }
  return end;
}

}  // namespace

std::string fitted(const std::string& head, std::string_view text, const Style& style) {
  std::string all = head;
  std::size_t column = columns_of(head);
  // A long head leaves no room beside it.
  const std::size_t indent = column > style.width / 2 ? 2 : column;
  bool first = true;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t blanks = std::min(text.find_first_not_of(' ', begin), text.size()) - begin;
    const std::size_t word = begin + blanks;
    const std::size_t end = end_of_word(text, word);
    const std::size_t width = columns_of(text.substr(word, end - word));
    if (!first && column + blanks + width > style.width) {
      all += '\n' + std::string(indent, ' ');
      column = indent;
    } else {
      all.append(text.substr(begin, blanks));
      column += blanks;
    }
    all.append(text.substr(word, end - word));
    column += width;
    first = false;
    begin = end;
  }
  return all + '\n';
}

std::size_t columns_of(std::string_view text) {
  std::size_t columns = 0;
  bool escape = false;
  for (const char c : text) {
    if (c == '\033') escape = true;
    const bool continues = (static_cast<unsigned char>(c) & 0xc0) == 0x80;
    if (!escape && !continues) ++columns;
    if (escape && c == 'm') escape = false;
  }
  return columns;
}

}  // namespace retrystorm
