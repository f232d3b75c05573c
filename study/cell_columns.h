// The columns of a table of cells.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "study/cell_result.h"

namespace retrystorm {

// A figure of cells, as the files for programs have it.
struct CellColumn {
  std::string name;
  std::function<nlohmann::ordered_json(const CellResult&)> value;
};

// What only some runs have. Its columns are the last ones.
struct MoreColumns {
  bool reconnects = false;             // clients lose their connections
  bool processes = false;              // processes share something
  bool hosts = false;                  // an outage hits some of several hosts
  bool hedges = false;                 // requests are hedged
  bool graph = false;                  // there are services behind services
  bool errors_by = false;              // the only values that are no numbers: errors by their kind
  std::vector<std::string> clients{};  // of several kinds: their names
};

// The columns in the order of the table.
std::vector<CellColumn> cell_columns(const MoreColumns& more = {});

// A row for programs: the names and values that identify the cell, then every column.
std::vector<std::string> cell_names(std::vector<std::string> labels, const MoreColumns& more = {});
using CellValues = std::vector<nlohmann::ordered_json>;
CellValues cell_values(const std::vector<std::string>& labels, const CellResult& cell,
                       const MoreColumns& more = {});

}  // namespace retrystorm
