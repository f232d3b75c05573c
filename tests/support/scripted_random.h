// A random generator that returns the test's numbers.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <stdexcept>
#include <vector>

#include "model/base/random.h"

namespace retrystorm::test {

// Returns the given uniforms in order, and throws if there are no more. This detects a policy that
// draws more often than its formula says.
class ScriptedRandom final : public Random {
 public:
  ScriptedRandom(std::initializer_list<double> uniforms) : uniforms_(uniforms) {}
  explicit ScriptedRandom(const std::vector<double>& uniforms) : uniforms_(uniforms) {}

  using Random::uniform;
  double uniform() override {
    if (next_ == uniforms_.size()) throw std::logic_error("more random numbers drawn than given");
    return uniforms_[next_++];
  }

  std::size_t left() const { return uniforms_.size() - next_; }

 private:
  std::vector<double> uniforms_;
  std::size_t next_ = 0;
};

// Always the same uniform.
struct SameRandom final : Random {
  explicit SameRandom(double number) : number_(number) {}
  double uniform() override { return number_; }
  const double number_;
};

// Marsaglia's polar method turns these two uniforms, the point (1/2, 0), into the normal variate
// 1/2 * sqrt(-2 ln(1/4) / (1/4)).
constexpr double kNormalU = 0.75;
constexpr double kNormalV = 0.5;
constexpr double kNormal = 1.6651092223153955;

}  // namespace retrystorm::test

namespace retrystorm {

using test::ScriptedRandom;

}  // namespace retrystorm
