#include "common/output/json_lines.h"

#include <cerrno>
#include <cmath>
#include <iostream>
#include <stdexcept>
#include <system_error>

namespace retrystorm {

double rounded(double value) {
  return std::round(value * 1000) / 1000;
}

std::string json_line(const nlohmann::ordered_json& object) {
  // A path in a command line need not be UTF-8, as JSON must.
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

JsonLines::JsonLines(const std::string& path) : path_(path) {
  if (path.empty()) return;
  file_.open(path);
  if (!file_) {
    throw std::runtime_error("cannot write to " + path + ": " +
                             std::generic_category().message(errno));
  }
}

void JsonLines::write(const nlohmann::ordered_json& object) {
  if (path_.empty() || failed_) return;
  file_ << json_line(object) << '\n' << std::flush;
  if (!file_) {
    failed_ = true;
    std::cerr << "writing to " << path_ << " failed: it ends here\n";
  }
}

}  // namespace retrystorm
