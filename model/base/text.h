// Numbers and names as people write them. Reads strictly; bad input is refused with one sentence.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace retrystorm {

// Throws std::invalid_argument with this sentence: what is wrong with the user's input, and what would be right.
[[noreturn]] void refuse(const std::string& sentence);

// What others wrote, fit for where it goes. In a line for people: `?` for each control character but those in
// `kept`. In Markdown: as text in which nothing is markup or HTML, or as code. (In CSV: `csv_row`.)
std::string printable(std::string_view text, std::string_view kept = {});
std::string as_markdown(std::string_view text);
std::string as_markdown_code(std::string_view text);

// The text in single quotes: 'text', printable.
std::string in_quotes(std::string_view text);

// A word as typed in a shell, quoted if necessary.
std::string shell_word(std::string_view word);

// The name of an option as in a file: with underscores instead of dashes.
std::string underscored(std::string_view name);
// And back.
std::string with_dashes(std::string_view name);

// With small instead of capital letters (of ASCII).
std::string to_lower(std::string_view text);

// The text without leading and trailing blanks (spaces, tabs, carriage returns).
std::string_view trimmed(std::string_view text);

// A name in small letters without dashes and underscores: "max-attempts", "maxAttempts" and
// "MAX_ATTEMPTS" are one.
std::string plain_word(std::string_view text);

// The parts of a text between these separators: one more than there are separators.
std::vector<std::string_view> split(std::string_view text, char between);

// The text as a plain decimal number, if it is one in another form: "50%" is "0.5", "3x" is "3",
// "10k" is "10000", "1m" is "1000000", "100/s" is "100", "1k/s" is "1000", "600/min" is "10". A blank
// may stand before what follows the digits. Any other text is left as it is.
std::string plain_number(std::string_view text);

// Read a decimal number within these bounds, also as 10k or 1m. NaN, infinity and any other text
// after the number are refused. Throw std::invalid_argument with a readable message.
//
// A number, of at most 1 also as 50%.
double parse_number(std::string_view text, double least, double most);
// A number a second, also as 100/s, 100rps, 1k/s, 600/min, 600/m or 3600/h.
double parse_rate(std::string_view text, double least, double most);
// A number without a unit (a factor, a ratio, a share), also as 50% or 10x.
double parse_factor(std::string_view text, double least, double most);
// A spread as a share of the mean, 0 or more, also as 50%. A number above 2 without a % is refused, because it may
// be a percentage; with one, it is rounded to 12 digits.
double parse_spread(std::string_view text, double most);
// In the form that `parse_spread` reads.
std::string print_spread(double value);
// A number of something with this unit, without the time of a rate: "600/min" of "requests/s" is "10".
// Other texts are left as they are, but 50% and 10x have no unit, and are refused.
std::string number_with_unit(std::string_view text, std::string_view unit);
std::uint64_t parse_count(std::string_view text, std::uint64_t least, std::uint64_t most);

// Rounds to this many significant digits.
double to_digits(double number, int digits);

// The shortest text that reads back as the same number.
std::string print_number(double value);

// The letters to change, add or remove to turn one into the other (Levenshtein 1966).
std::size_t edit_distance(std::string_view a, std::string_view b);

// The name among `known` that `wrong` probably stands for: the nearest one, or one that begins with
// it or has it among its words. Empty if there is none.
std::string_view nearest(std::string_view wrong, const std::vector<std::string_view>& known);

// A message such as "'fixde' is not known (did you mean fixed?): choose fixed, linear or
// exponential".
std::string unknown_name(std::string_view wrong, const std::vector<std::string_view>& known);

// Of names that are too many to list: at most `most`, the nearest first.
// Names that begin with `wrong`, or contain it, come before others.
std::vector<std::string_view> nearest_names(std::string_view wrong,
                                            std::vector<std::string_view> known, std::size_t most);

}  // namespace retrystorm
