// Rows for programs: the same columns in a CSV file and in JSON Lines.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "common/output/json_lines.h"
#include "study/table_files.h"

namespace retrystorm {

class Rows {
 public:
  // `type` is that of the JSON objects. `comment` is the first line of the CSV file, if it is not
  // empty. `json` must outlive this object.
  Rows(std::string type, std::vector<std::string> names, std::string comment, LineFile csv,
       JsonLines& json);

  // Adds to the comment that these options have their defaults (see `assumed_list`). Call it before `begin`
  // and `write`.
  void add_assumed(const std::string& options);

  // Writes the comment and the names to the CSV file, as the first row does if this did not. Throws
  // std::runtime_error when the file cannot be written.
  void begin();

  // A value for each name; null is an empty cell of the CSV file, and an object is there as in `pairs_text`. Throws std::runtime_error when
  // that file cannot be written any more.
  void write(const std::vector<nlohmann::ordered_json>& values);

 private:
  const std::string type_;
  const std::vector<std::string> names_;
  std::string comment_;
  bool begun_ = false;
  LineFile csv_;
  JsonLines& json_;
};

}  // namespace retrystorm
