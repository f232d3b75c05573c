// The settings in force as a file that `--config` reads: what `--print-settings` prints.
#pragma once

#include <CLI/CLI.hpp>
#include <ostream>

namespace retrystorm {

// Was `--print-settings` given?
bool wants_settings(const CLI::App& app);

// Prints the settings of `app`, which is parsed, in their groups: as lines of NAME = VALUE what
// must be said to get them, as comments what is in force anyway, because it is the default, the
// strategy's or the preset's. So the strategy can still be changed under them. `usual` has the same
// options as declared, with variables of its own, which are changed. Throws std::runtime_error when
// a file cannot hold a value.
void print_settings(std::ostream& out, CLI::App& app, CLI::App& usual);

}  // namespace retrystorm
