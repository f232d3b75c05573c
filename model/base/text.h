// Numbers and names as people write them: read strictly, refused in one sentence.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace retrystorm {

// 'text'
std::string in_quotes(std::string_view text);

// A word as one types it to a shell: in quotes where it needs them.
std::string shell_word(std::string_view word);

// An option's name as files have it: with underscores for dashes.
std::string underscored(std::string_view name);

// The text without the blanks (spaces, tabs, carriage returns) at both its ends.
std::string_view trimmed(std::string_view text);

// The parts of a text between these characters: one more than there are of them.
std::vector<std::string_view> split(std::string_view text, char between);

// Read a decimal number that lies within the bounds; NaN, infinity and anything behind the number
// are refused. Throw std::invalid_argument with a sentence for a person.
double parse_number(std::string_view text, double least, double most);
std::uint64_t parse_count(std::string_view text, std::uint64_t least, std::uint64_t most);

// As short as reads back to the same number.
std::string print_number(double value);

// The name among `known` that `wrong` was most likely meant to be, empty when none is near.
std::string_view nearest(std::string_view wrong, const std::vector<std::string_view>& known);

// "'fixde' is not known (did you mean fixed?): choose fixed, linear or exponential"
std::string unknown_name(std::string_view wrong, const std::vector<std::string_view>& known);

}  // namespace retrystorm
