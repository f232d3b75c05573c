#include "tests/support/temp_dir.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

namespace retrystorm::test {

TempDir::TempDir()
    : path_((std::filesystem::temp_directory_path() / "retrystorm-test-XXXXXX").string()) {
  if (mkdtemp(path_.data()) == nullptr) throw std::runtime_error("cannot make " + path_);
}

TempDir::~TempDir() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string read_file(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> result;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) result.push_back(line);
  return result;
}

std::map<std::string, std::string> settings_in(const std::string& text) {
  std::map<std::string, std::string> settings;
  for (const std::string& line : lines(text)) {
    const std::size_t equals = line.find(" = ");
    if (equals != line.npos) settings[line.substr(0, equals)] = line.substr(equals + 3);
  }
  return settings;
}

std::vector<std::string> csv_lines(const std::string& path) {
  std::vector<std::string> found = lines(read_file(path));
  if (!found.empty() && found[0].starts_with("# ")) found.erase(found.begin());
  return found;
}

std::vector<nlohmann::json> read_json_lines(const std::string& path) {
  const std::string text = read_file(path);
  if (!text.empty() && text.back() != '\n') throw std::runtime_error("the last line is cut off");
  std::vector<nlohmann::json> result;
  for (const std::string& line : lines(text)) result.push_back(nlohmann::json::parse(line));
  return result;
}

}  // namespace retrystorm::test
