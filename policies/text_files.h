// Files of lines: properties of Java, and what other readers need of lines.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "policies/readers.h"

namespace retrystorm {

// The text of a file that is not longer than `kLongestFile`. Throws UnreadableFile, with the path before
// the message.
std::string read_text_file(const std::string& path);

// Calls `take` with each line, without its end, and its number from 1 on.
void each_line(std::string_view text,
               const std::function<void(std::string_view line, std::size_t number)>& take);

// The documents of a properties file (`#---` begins another): `=`, `:` or a blank after the key, `\`
// at the end of a line that goes on, `#` and `!` before comments.
std::vector<std::vector<Entry>> parse_properties(std::string_view text);

}  // namespace retrystorm
