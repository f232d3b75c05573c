#include "simulator/cells.h"

#include <stdexcept>

namespace retrystorm {

SimulatorOptions parse_with(const std::vector<std::string>& arguments, const Grid& grid,
                            const std::vector<std::string>& values) {
  CLI::App app;
  SimulatorOptions options;
  set_up_app(app);
  add_simulator_options(app, options);
  std::vector<std::string> words = arguments;
  for (std::size_t i = 0; i < values.size(); ++i) {
    words.push_back("--" + grid.axes()[i].name + "=" + values[i]);
  }
  parse_words(app, words);
  return options;
}

void check_values(const std::vector<std::string>& arguments, const Grid& grid) {
  for (const Axis& axis : grid.axes()) {
    std::vector<std::string> values = axis.values;
    // The second one tells whether the step is good.
    if (axis.range && values.size() > 3) values = {values[0], values[1], values.back()};
    for (const std::string& value : values) {
      const Grid single({{axis.name, {value}}});
      try {
        parse_with(arguments, single, {value});
      } catch (const CLI::ParseError& error) {
        throw std::runtime_error(std::string("--sweep ") + axis.name + ": " + error.what());
      }
    }
  }
}

}  // namespace retrystorm
