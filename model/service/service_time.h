// How long the service works on a request: the time that a worker needs, and the curve of a service without workers.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "model/base/duration.h"
#include "model/base/random.h"

namespace retrystorm {

// A distribution of service times with its parameters.
class ServiceTime {
 public:
  // A constant time >= 0.
  static ServiceTime fixed(Duration time);
  // The mean must be > 0.
  static ServiceTime exponential(Duration mean);
  // The mean must be > 0, and the coefficient of variation (standard deviation / mean) >= 0.
  static ServiceTime lognormal(Duration mean, double variation);
  // `other` for a share of the requests in [0, 1], and `usual` for the rest.
  static ServiceTime bimodal(Duration usual, double share, Duration other);

  // Draws a time, independent of all others. A fixed time draws no random number.
  Duration draw(Random& random) const;

  Duration mean() const;
  // The time within which this share of the requests is served, 0 < share < 1.
  Duration quantile(double share) const;
  bool is_random() const { return kind_ != Kind::kFixed; }

  // The distribution with all times multiplied by this factor (>= 0).
  ServiceTime times(double factor) const;

  // Parses "fixed:100ms" or just "100ms", "exponential:MEAN", "lognormal:MEAN[:CV]",
  // "bimodal:A:SHARE:B". Throws std::invalid_argument with a readable message.
  static ServiceTime parse(std::string_view text);
  std::string text() const;

  bool operator==(const ServiceTime&) const = default;

 private:
  enum class Kind { kFixed, kExponential, kLognormal, kBimodal };

  ServiceTime(Kind kind, Duration time) : kind_(kind), time_(time) {}

  Kind kind_;
  Duration time_;      // the mean; bimodal: the usual time
  double second_ = 0;  // lognormal: the coefficient of variation; bimodal: the share of `other_`
  Duration other_{0};  // bimodal only
  double sigma_ = 0;   // lognormal: the standard deviation of the time's logarithm
};

// delay(c) = base_delay while c <= limit, else base_delay * factor^((c - limit)/k). This is smira's
// curve, with his constant 15 as k. The longest delay is `Duration::max()`. The original overflows
// there (above a concurrency of 7,792 with the defaults) and answers everything at once.
class ServiceCurve {
 public:
  // base_delay >= 0, factor >= 1, k > 0.
  ServiceCurve(Duration base_delay, std::size_t limit, double factor, double k);

  Duration delay(std::size_t concurrency) const;

  // The answers per second at a constant concurrency.
  double throughput(double concurrency) const;
  // The concurrency of the greatest throughput. Infinite if the throughput has no limit.
  double best_concurrency() const;
  // The concurrency from which on a request takes longer than this. 0 if it always does, infinite if
  // it never does.
  double concurrency_of_delay(Duration delay) const;

 private:
  double seconds(double concurrency) const;

  Duration base_delay_;
  std::size_t limit_;
  double growth_;  // ln(factor)/k: the increase of the delay's logarithm per request
  // From here on the delay is certainly the longest. A service that its clients leave behind gets
  // there, and its concurrency goes on growing.
  double longest_from_;
};

}  // namespace retrystorm
