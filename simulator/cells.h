// The cells of a sweep: which options each of them has.
#pragma once

#include <string>
#include <vector>

#include "simulator/options.h"
#include "simulator/sweep.h"

namespace retrystorm {

// The command line again with other values for some options: the last one counts. Throws
// CLI::ParseError for a value that is none.
SimulatorOptions parse_with(const std::vector<std::string>& arguments, const Grid& grid,
                            const std::vector<std::string>& values);

// Tries the values of each axis before anything runs. Throws std::runtime_error with a sentence
// for a person.
void check_values(const std::vector<std::string>& arguments, const Grid& grid);

}  // namespace retrystorm
