// Paragraphs below a table.
#pragma once

#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "common/output/style.h"
#include "model/base/statement.h"
#include "study/cell_result.h"

namespace retrystorm {

// Prints a statement as a paragraph, its lines below the first one's begin behind `head`.
void say(const Statement& statement, const Style& style = style_of(1), const std::string& head = "",
         std::ostream& out = std::cout);

// Prints the most important remark about each cell that has one, with the cell's name.
void print_remarks(std::ostream& out, const std::vector<std::pair<std::string, CellResult>>& cells);

}  // namespace retrystorm
