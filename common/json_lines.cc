#include "common/json_lines.h"

#include <cerrno>
#include <cmath>
#include <iostream>
#include <stdexcept>
#include <system_error>

namespace retrystorm {

double rounded(double value) {
  return std::round(value * 1000) / 1000;
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
  file_ << object << '\n' << std::flush;
  if (!file_) {
    failed_ = true;
    std::cerr << "writing to " << path_ << " failed: it ends here\n";
  }
}

}  // namespace retrystorm
