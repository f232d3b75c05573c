// The line before a run: who, what, when.
#pragma once

#include <cstddef>
#include <ostream>
#include <string>
#include <vector>

#include "common/output/style.h"
#include "model/run/outlook.h"

namespace retrystorm {

// "1,000 clients: fixed retries · service 1,247/s, load 99/s (7.9 %) · frozen for 20 s". `retries`: their title.
// `workers`: of a service that is known.
std::string before_line(const Outlook& outlook, const std::string& retries, std::size_t workers = 0);

// Prints it dim, and warnings below it.
void print_before(std::ostream& out, const std::string& line,
                  const std::vector<std::string>& warnings, const Style& style);

}  // namespace retrystorm
