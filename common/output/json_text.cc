#include "common/output/json_text.h"

#include <cmath>
#include <cstdint>

namespace retrystorm {

double rounded(double value) {
  return std::round(value * 1000) / 1000;
}

std::string json_line(const Json& object) {
  // JSON must be UTF-8, but a path in the command line may not be. Invalid bytes are replaced.
  return object.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string pairs_text(const Json& object) {
  std::string text;
  for (const auto& [name, value] : object.items()) {
    text += (text.empty() ? "" : " ") + name + ':' + value.dump();
  }
  return text;
}

Json statement_json(const Statement& statement) {
  struct AsJson {
    Json operator()(double number) const {
      constexpr double kExact = 1e15;  // below, a whole number is a count
      if (number == std::round(number) && std::abs(number) < kExact) {
        return static_cast<std::int64_t>(number);
      }
      return rounded(number);
    }
    Json operator()(ShareOf share) const { return share.share; }
    Json operator()(Duration time) const { return rounded(to_seconds(time)); }
    Json operator()(const std::string& text) const { return text; }
  };
  Json object{{"id", statement.id}};
  for (const StatementValue& value : statement.values) {
    object[std::string(value.name)] = std::visit(AsJson{}, value.of);
  }
  return object;
}

Json statements_json(const Statements& statements) {
  auto all = Json::array();
  for (const Statement& each : statements) all.push_back(statement_json(each));
  return all;
}

}  // namespace retrystorm
