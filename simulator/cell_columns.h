// What a table of many runs tells of a cell.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "simulator/cell_result.h"

namespace retrystorm {

// A column of the table. One for people has a title, a width and a text, one for programs a name
// and a value; most are for both.
struct CellColumn {
  const char* title;
  int width;
  std::string (*text)(const CellResult&);
  const char* name;
  nlohmann::ordered_json (*value)(const CellResult&);
};

// In their order. All that there is to know of a column is there.
std::span<const CellColumn> cell_columns();

}  // namespace retrystorm
