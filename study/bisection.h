// Finds where the answer to a question changes on a scale of whole steps.
#pragma once

#include <cstddef>

namespace retrystorm {

// Two neighbouring steps with different answers.
struct Bracket {
  std::size_t good = 0, bad = 0;
};

// Halves the distance between a good and a bad step, in either order, until they are neighbours. Calls
// `good` for steps between them. `stop` ends it early; the steps are then further apart.
template <typename Good, typename Stop>
Bracket bisect(std::size_t good_step, std::size_t bad_step, const Good& good, const Stop& stop) {
  Bracket bracket{.good = good_step, .bad = bad_step};
  const auto apart = [&bracket] {
    return bracket.good < bracket.bad ? bracket.bad - bracket.good : bracket.good - bracket.bad;
  };
  while (apart() > 1 && !stop()) {
    const std::size_t middle = (bracket.good + bracket.bad) / 2;
    (good(middle) ? bracket.good : bracket.bad) = middle;
  }
  return bracket;
}

}  // namespace retrystorm
