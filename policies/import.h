// Reads the retry policies in a file of another program. Its kind is found by its content, never by
// its name.
#pragma once

#include <string>
#include <string_view>

#include "policies/policy.h"
#include "policies/readers.h"

namespace retrystorm {

// Throws BadFile if the text is none of the kinds that are known, is broken, too large or a template,
// or has no policy. The message has one line.
PolicyFile read_policies(std::string_view text, ReadAs as = ReadAs::kByContent);

// The same of a file. Throws UnreadableFile, with the path before the message.
PolicyFile read_policy_file(const std::string& path, ReadAs as = ReadAs::kByContent);

// The words of --as. Throws std::invalid_argument for another.
ReadAs parse_read_as(std::string_view word);

}  // namespace retrystorm
