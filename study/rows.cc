#include "study/rows.h"

#include <cstddef>
#include <utility>

#include "common/output/json_text.h"
#include "model/base/text.h"

namespace retrystorm {

Rows::Rows(std::string type, std::vector<std::string> names, std::string comment, LineFile csv,
           JsonLines& json)
    : type_(std::move(type)),
      names_(std::move(names)),
      comment_(std::move(comment)),
      csv_(std::move(csv)),
      json_(json) {}

void Rows::add_assumed(const std::string& options) {
  if (!comment_.empty() && !options.empty()) comment_ += ", assumed: " + options;
}

void Rows::begin() {
  if (std::exchange(begun_, true)) return;
  if (!comment_.empty()) csv_.write(printable(comment_));
  csv_.write(csv_row(names_));
}

void Rows::write(const std::vector<nlohmann::ordered_json>& values) {
  begin();
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
