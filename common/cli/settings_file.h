// Settings files: reading what `--config` takes, and writing the current settings as such a file (`--print-settings`).
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <ostream>
#include <string>

#include "model/base/option_list.h"

namespace CLI {
class App;
class Config;
class Option;
}  // namespace CLI

namespace retrystorm {

inline constexpr std::size_t kLongestSettings = 100'000;  // of a file, in bytes

// An option that a settings file may have.
struct KnownOption {
  std::string name;  // one for all names of the option
  bool takes_several;
  bool takes_list = false;  // so that several words in a line are several values
};
using FindSetting = std::function<std::optional<KnownOption>(const std::string& name)>;

// Reads the files of `--config`. They may not have several values for an option that takes one, nor options
// that `app` does not have. `app` must outlive the reader.
std::shared_ptr<CLI::Config> settings_reader(CLI::App& app);

// The same for files that no program takes as a whole. What `find` does not know is read all the same.
std::shared_ptr<CLI::Config> settings_reader(FindSetting find);

// The settings in such a file, for those who have no command line: texts by names. Throws UnreadableFile or
// std::invalid_argument with a readable message, also if one of `options` is given twice.
std::map<std::string, std::string, std::less<>> read_settings(const std::string& path,
                                                              const OptionList& options);

// Has it a place in settings files and JSON? Not if it asks (--help), is hidden, or another one says the same.
bool is_setting(const CLI::Option& option);

// Returns true if `--print-settings` was given.
bool wants_settings(const CLI::App& app);

// Prints the settings of `app`, which has been parsed, in their groups. Settings that differ from
// the default, the strategy's and the preset's values are lines of NAME = VALUE. All others are
// comments, so that the strategy can still be changed in the file. `default_app` has the same
// options as `app`, with separate variables, which this function changes. Throws std::runtime_error
// if a file cannot hold a value.
void print_settings(std::ostream& out, CLI::App& app, CLI::App& default_app);

}  // namespace retrystorm
