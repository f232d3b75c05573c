#include "model/base/random.h"

#include <cmath>

#include "model/base/portable_math.h"

namespace retrystorm {
namespace {

constexpr std::uint64_t kGoldenGamma = 0x9e3779b97f4a7c15;

std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

}  // namespace

Duration Random::exponential(Duration mean) {
  if (mean == Duration::zero()) {  // a service has no think time; the stream goes on as with one
    uniform();
    return mean;
  }
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

ClientRandom::ClientRandom(std::uint64_t seed, std::uint64_t client)
    : state_(mix(mix(seed + kGoldenGamma) + (client + 1) * kGoldenGamma)) {}

double ClientRandom::uniform() {
  state_ += kGoldenGamma;
  return static_cast<double>(mix(state_) >> 11) * 0x1p-53;
}

}  // namespace retrystorm
