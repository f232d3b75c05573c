// Reads a command line, and says all that is wrong with it.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "common/cli/options.h"

namespace retrystorm {

// Parses arguments whose long options have two dashes, and applies them with `apply_in_order`. Calls `refuse` for
// each error and goes on with the rest. Throws CLI::ParseError for help that was asked for, and where it cannot go on.
void parse_words(CLI::App& app, std::vector<std::string> words, const OnError& refuse);
void parse_words(CLI::App& app, const std::vector<std::string>& words);  // throws the first error

// Parses the arguments from number `first` on; the arguments before that are the program's name.
// Long options may be typed with one dash, as in Go. Returns the exit code if the program must end
// now (help, version, bad usage). Bad usage is told with the lines of `contradictions`, which is called then.
std::optional<int> parse(CLI::App& app, int argc, const char* const* argv, int first = 1,
                         const std::function<Contradictions()>& contradictions = nullptr);

// The lines of an error message. If a line begins with the name of an option, it is replaced by the name
// that the user typed, because another name would be confusing.
std::string as_typed(const CLI::App& app, const std::string& message, int argc,
                     const char* const* argv);

}  // namespace retrystorm
