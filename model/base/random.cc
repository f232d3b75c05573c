#include "model/base/random.h"

#include <cmath>

#include "model/base/portable_math.h"

namespace retrystorm {

Duration Random::exponential_of(Duration mean) {
  return from_seconds(-natural_log(1 - uniform()) * to_seconds(mean));
}

double Random::normal() {
  double u, v, square;
  do {
    u = uniform(-1, 1);
    v = uniform(-1, 1);
    square = u * u + v * v;
  } while (square >= 1 || square == 0);
  return u * std::sqrt(-2 * natural_log(square) / square);
}

}  // namespace retrystorm
