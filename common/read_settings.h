// Settings files, for those who have no command line.
#pragma once

#include <functional>
#include <map>
#include <string>

#include "model/base/option_list.h"

namespace retrystorm {

// The settings in a file that `--config` takes: texts by names. Throws UnreadableFile or
// std::invalid_argument with a readable message, also if one of `options` is given twice.
std::map<std::string, std::string, std::less<>> read_settings(const std::string& path,
                                                              const OptionList& options);

}  // namespace retrystorm
