// Settings files, for those who have no command line.
#pragma once

#include <functional>
#include <map>
#include <string>

namespace retrystorm {

// The settings in a file that `--config` takes: texts by names. Throws UnreadableFile or
// std::invalid_argument with a readable message.
std::map<std::string, std::string, std::less<>> read_settings(const std::string& path);

}  // namespace retrystorm
