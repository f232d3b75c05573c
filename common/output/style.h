// How text for people looks on a stream: colour, Unicode, width, digits. Each stream by itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdio>
#include <string>
#include <string_view>

namespace retrystorm {

// The number with this many digits after the decimal point.
inline std::string fixed(double value, int digits) {
  std::array<char, 400> text{};  // the greatest number has 309 digits before its decimal point
  std::snprintf(text.data(), text.size(), "%.*f", digits, value);
  return text.data();
}

// A share in percent: "12.5 %".
inline std::string percent(double share, int digits) {
  return fixed(100 * share, digits) + " %";
}

enum class ColorWish { kAuto, kAlways, kNever };

struct Style {
  bool color = false;
  bool unicode = true;
  std::size_t width = 100;  // columns: the terminal's, at most 100
  bool terminal = false;
};

// Of standard output or standard error (`descriptor` 1 or 2). Without a wish: colour on a terminal, unless NO_COLOR is
// set or TERM is dumb. Unicode as the locale has it; without a terminal always, since the text may go anywhere.
Style style_of(int descriptor, ColorWish wish = ColorWish::kAuto);

// What an answer means. Never colour alone: each has a sign and a word.
enum class Tone { kGood, kBad, kDoubt, kDim, kBold, kPlain };

std::string painted(std::string_view text, Tone tone, const Style& style);
// The length of the code with which the text begins, of those that `painted` writes; 0: none.
std::size_t color_at_begin(std::string_view text);
// "✓", "✗", "!"; without Unicode "[back]", "[down]", "[??]". Empty for other tones.
std::string sign_of(Tone tone, const Style& style);

// The head and the text in lines no wider than the style's, the later ones below the text's begin; with the last
// newline. Breaks at blanks only.
std::string fitted(const std::string& head, std::string_view text, const Style& style);

// How many columns the text takes: a letter of UTF-8 is one, colours are none.
std::size_t columns_of(std::string_view text);

}  // namespace retrystorm
