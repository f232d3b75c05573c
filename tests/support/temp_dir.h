// A folder for the files of one test.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace retrystorm::test {

// A temporary folder. The destructor removes it with its content.
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

// The whole content of a file; empty if there is no file.
std::string read_file(const std::string& path);

std::vector<std::string> lines(const std::string& text);

// The values of lines NAME = VALUE, by name.
std::map<std::string, std::string> settings_in(const std::string& text);

// The lines of a CSV file, without the comment at its head. An empty list if there is no file.
std::vector<std::string> csv_lines(const std::string& path);

// All lines of a JSON Lines file. Throws if a line is not JSON or if the last line is incomplete.
std::vector<nlohmann::json> read_json_lines(const std::string& path);

}  // namespace retrystorm::test
