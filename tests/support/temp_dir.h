// A folder for the files of one test.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace retrystorm::test {

// Removed with all that is in it.
class TempDir {
 public:
  TempDir();
  ~TempDir();

  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;

  std::string file(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

// The whole file; empty when there is none.
std::string read_file(const std::string& path);

std::vector<std::string> lines(const std::string& text);

// Each line of a file of JSON Lines. Throws when one is not JSON or the last one is not complete.
std::vector<nlohmann::json> read_json_lines(const std::string& path);

}  // namespace retrystorm::test
