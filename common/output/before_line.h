// What is said before a run: a line of who, what, when; warnings; and with --explain the figures.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "common/output/style.h"
#include "model/run/outlook.h"

namespace retrystorm {

// "1,000 clients: fixed retries · service 1,247/s, load 99/s (7.9 %) · frozen for 20 s". `retries`: their title.
// `workers`: of a service that is known.
std::string before_line(const Outlook& outlook, const std::string& retries,
                        std::size_t workers = 0);

// Prints it dim, and warnings below it, each once.
void print_before(std::ostream& out, const std::string& line, const Statements& warnings,
                  const Style& style);

// What can be computed before a run: label and figure of each line.
std::vector<std::pair<std::string, std::string>> figure_lines(const Outlook& outlook);

// Prints these lines of each row. `assumed`: the options that decide and were not given (see `assumed_list`).
void print_figures(std::ostream& out, const std::vector<OutlookOfRow>& rows,
                   const std::string& assumed, const Style& style);

}  // namespace retrystorm
