// A file of JSON Lines: one object a line, each there for a reader as soon as it is written.
#pragma once

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

namespace retrystorm {

// Three decimals are enough for a rate or a time, and short enough to read.
double rounded(double value);

// An object as a line, without its end.
std::string json_line(const nlohmann::ordered_json& object);

// Not for use from two threads at once.
class JsonLines {
 public:
  // An empty path writes nothing. Throws std::runtime_error when the file cannot be written.
  explicit JsonLines(const std::string& path);

  JsonLines(const JsonLines&) = delete;
  JsonLines& operator=(const JsonLines&) = delete;

  // A failure (a full disk, say) is told once on standard error; the run goes on.
  void write(const nlohmann::ordered_json& object);
  // For what tells its objects to a function. `this` outlives it.
  auto sink() {
    return [this](const nlohmann::ordered_json& object) { write(object); };
  }
  bool failed() const { return failed_; }

 private:
  std::string path_;
  std::ofstream file_;
  bool failed_ = false;
};

}  // namespace retrystorm
