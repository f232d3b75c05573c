// Paragraphs below a table.
#pragma once

#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "study/cell_result.h"

namespace retrystorm {

// Prints `label` and a text or list, in lines no longer than a terminal's, if possible broken between the parts of
// the list. Nothing for an empty one.
void print_note(std::ostream& out, const std::string& label, const std::string& text);

// Prints a paragraph: `head`, and beside it the lines of the text.
void print_wrapped(std::ostream& out, const std::string& head, const std::string& text);

// Prints the most important remark about each cell that has one, with the cell's name.
void print_remarks(std::ostream& out, const std::vector<std::pair<std::string, CellResult>>& cells);

}  // namespace retrystorm
