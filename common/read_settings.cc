#include "common/read_settings.h"

#include <CLI/CLI.hpp>
#include <optional>
#include <sstream>
#include <stdexcept>

#include "common/cli/settings_file.h"
#include "common/os/foreign_file.h"
#include "model/base/text.h"

namespace retrystorm {

std::map<std::string, std::string, std::less<>> read_settings(const std::string& path,
                                                              const OptionList& options) {
  std::istringstream file(read_foreign_file(path, kLongestSettings));
  std::map<std::string, std::string, std::less<>> settings;
  // Both forms of an option count as one.
  const auto find = [&options](const std::string& name) -> std::optional<KnownOption> {
    const Option* option = options.find(name);
    if (option == nullptr) return std::nullopt;
    return KnownOption{option->same_as.empty() ? option->name : option->same_as,
                       option->separator != 0};
  };
  try {
    for (const CLI::ConfigItem& item : settings_reader(find)->from_config(file)) {
      if (item.inputs.empty() || item.name == "++" || item.name == "--") continue;
      settings[item.name] = CLI::detail::join(item.inputs, "; ");
    }
  } catch (const CLI::Error& error) {
    throw std::invalid_argument(path + ": " + error.what());
  }
  return settings;
}

}  // namespace retrystorm
