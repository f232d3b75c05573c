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
  // empty. `json` must outlive this object. Throws std::runtime_error when the CSV file cannot be
  // written.
  Rows(std::string type, std::vector<std::string> names, const std::string& comment, LineFile csv,
       JsonLines& json);

  // A value for each name; null is an empty cell of the CSV file, and an object is there as in `pairs_text`. Throws std::runtime_error when
  // that file cannot be written any more.
  void write(const std::vector<nlohmann::ordered_json>& values);

 private:
  const std::string type_;
  const std::vector<std::string> names_;
  LineFile csv_;
  JsonLines& json_;
};

}  // namespace retrystorm
