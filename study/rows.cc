#include "study/rows.h"

#include <cstddef>
#include <utility>

#include "common/output/json_text.h"

namespace retrystorm {

Rows::Rows(std::string type, std::vector<std::string> names, const std::string& comment,
           LineFile csv, JsonLines& json)
    : type_(std::move(type)), names_(std::move(names)), csv_(std::move(csv)), json_(json) {
  if (!comment.empty()) csv_.write(comment);
  csv_.write(csv_row(names_));
}

void Rows::write(const std::vector<nlohmann::ordered_json>& values) {
  std::vector<std::string> texts;
  nlohmann::ordered_json row{{"type", type_}};
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const auto& value = values[i];
    row[names_[i]] = value;
    texts.push_back(value.is_null()     ? ""
                    : value.is_string() ? value.get<std::string>()
                    : value.is_object() ? pairs_text(value)
                                        : value.dump());
  }
  csv_.write(csv_row(texts));
  json_.write(row);
}

}  // namespace retrystorm
