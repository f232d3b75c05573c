#include "common/output/start_json.h"

#include <algorithm>

#include "common/output/json_text.h"
#include "common/output/version.h"
#include "model/base/duration.h"

namespace retrystorm {

std::string version_text() {
  const std::string revision = kRevision;
  return std::string("retrystorm ") + kVersion + (revision.empty() ? "" : " (" + revision + ')');
}

nlohmann::ordered_json start_json(const std::string& program, const std::string& command,
                                  const nlohmann::ordered_json& options,
                                  std::optional<std::chrono::system_clock::time_point> started_at) {
  nlohmann::ordered_json start{{"type", "start"}, {"program", program}, {"version", kVersion}};
  if (*kRevision != '\0') start["revision"] = kRevision;
  start["command"] = command;
  if (started_at) start["started_at"] = rounded(to_seconds(started_at->time_since_epoch()));
  start.update(options);
  return start;
}

std::string csv_comment(const std::string& command, std::uint64_t seed) {
  std::string line = "# " + command + ", " + version_text() + ", seed " + std::to_string(seed);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return c == '\n' || c == '\r'; }, ' ');
  return line;
}

}  // namespace retrystorm
