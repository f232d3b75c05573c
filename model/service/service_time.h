// How long a worker takes for a request.
#pragma once

#include <string>
#include <string_view>

#include "model/base/duration.h"
#include "model/base/random.h"

namespace retrystorm {

// A distribution of times, and what must be known to draw from it.
class ServiceTime {
 public:
  // Always the same, >= 0.
  static ServiceTime fixed(Duration time);
  // With this mean, > 0.
  static ServiceTime exponential(Duration mean);
  // With this mean, > 0, and this coefficient of variation (standard deviation by mean), >= 0.
  static ServiceTime lognormal(Duration mean, double variation);
  // `other` for this share of the requests, in [0, 1], and `usual` for the rest.
  static ServiceTime bimodal(Duration usual, double share, Duration other);

  // Each time is drawn independently of all others; nothing is drawn for a fixed one.
  Duration draw(Random& random) const;

  Duration mean() const;
  bool is_random() const { return kind_ != Kind::kFixed; }

  // All times longer by this factor (>= 0).
  ServiceTime times(double factor) const;

  // Reads "fixed:100ms" or just "100ms", "exponential:MEAN", "lognormal:MEAN:CV",
  // "bimodal:A:SHARE:B". Throws std::invalid_argument with a sentence for a person.
  static ServiceTime parse(std::string_view text);
  std::string text() const;

  bool operator==(const ServiceTime&) const = default;

 private:
  enum class Kind { kFixed, kExponential, kLognormal, kBimodal };

  ServiceTime(Kind kind, Duration time) : kind_(kind), time_(time) {}

  Kind kind_;
  Duration time_;      // the mean; bimodal: the usual one
  double second_ = 0;  // lognormal: the coefficient of variation; bimodal: the share of the other
  Duration other_{0};  // of bimodal
  double sigma_ = 0;   // lognormal: the standard deviation of the time's logarithm
};

}  // namespace retrystorm
