#include "model/service/service_time.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "model/base/text.h"

namespace retrystorm {
namespace {

constexpr double kMostVariation = 100;
constexpr double kUsualVariation = 0.5;

}  // namespace

ServiceTime ServiceTime::fixed(Duration time) {
  return {Kind::kFixed, time};
}

ServiceTime ServiceTime::exponential(Duration mean) {
  return {Kind::kExponential, mean};
}

ServiceTime ServiceTime::lognormal(Duration mean, double variation) {
  ServiceTime time(Kind::kLognormal, mean);
  time.second_ = variation;
  time.sigma_ = std::sqrt(natural_log(1 + variation * variation));
  return time;
}

ServiceTime ServiceTime::bimodal(Duration usual, double share, Duration other) {
  ServiceTime time(Kind::kBimodal, usual);
  time.second_ = share;
  time.other_ = other;
  return time;
}

Duration ServiceTime::draw(Random& random) const {
  switch (kind_) {
    case Kind::kFixed:
      return time_;
    case Kind::kExponential:
      return random.exponential(time_);
    case Kind::kLognormal:
      // The mean of e^(sigma z) is e^(sigma^2 / 2).
      return from_seconds(to_seconds(time_) *
                          retrystorm::exponential(sigma_ * random.normal() - sigma_ * sigma_ / 2));
    case Kind::kBimodal:
      return random.uniform() < second_ ? other_ : time_;
  }
  return time_;
}

Duration ServiceTime::mean() const {
  if (kind_ != Kind::kBimodal) return time_;
  return from_seconds((1 - second_) * to_seconds(time_) + second_ * to_seconds(other_));
}

Duration ServiceTime::quantile(double share) const {
  switch (kind_) {
    case Kind::kFixed:
      return time_;
    case Kind::kExponential:
      return from_seconds(-natural_log(1 - share) * to_seconds(time_));
    case Kind::kLognormal:
      return from_seconds(
          to_seconds(time_) *
          retrystorm::exponential(sigma_ * normal_quantile(share) - sigma_ * sigma_ / 2));
    case Kind::kBimodal: {
      const double shorter = other_ < time_ ? second_ : 1 - second_;
      return share <= shorter ? std::min(time_, other_) : std::max(time_, other_);
    }
  }
  return time_;
}

ServiceTime ServiceTime::times(double factor) const {
  ServiceTime longer = *this;
  longer.time_ = scale(time_, factor);
  longer.other_ = scale(other_, factor);
  return longer;
}

std::string ServiceTime::text() const {
  const std::string time = format_duration(time_);
  switch (kind_) {
    case Kind::kFixed:
      return "fixed:" + time;
    case Kind::kExponential:
      return "exponential:" + time;
    case Kind::kLognormal:
      return "lognormal:" + time + ':' + print_spread(second_);
    case Kind::kBimodal:
      return "bimodal:" + time + ':' + print_number(second_) + ':' + format_duration(other_);
  }
  return time;
}

ServiceTime ServiceTime::parse(std::string_view text) {
  constexpr Duration kShortest{1};
  const std::vector<std::string_view> parts = split(text, ':');
  const std::string_view name = parts.front();
  const auto check = [&](std::size_t count, const char* form) {
    if (parts.size() != count) refuse(in_quotes(text) + " is not of the form " + form);
  };
  if (name == "fixed") {
    check(2, "fixed:DURATION");
    return ServiceTime::fixed(parse_duration(parts[1], Duration::zero()));
  }
  if (name == "exponential") {
    check(2, "exponential:MEAN");
    return ServiceTime::exponential(parse_duration(parts[1], kShortest));
  }
  if (name == "lognormal") {
    if (parts.size() != 2) check(3, "lognormal:MEAN:CV");
    return ServiceTime::lognormal(
        parse_duration(parts[1], kShortest),
        parts.size() == 2 ? kUsualVariation : parse_spread(parts[2], kMostVariation));
  }
  if (name == "bimodal") {
    check(4, "bimodal:A:SHARE:B");
    return ServiceTime::bimodal(parse_duration(parts[1], Duration::zero()),
                                parse_number(parts[2], 0, 1),
                                parse_duration(parts[3], Duration::zero()));
  }
  // Either NAME:... or just a duration.
  if (!name.empty() && name.find_first_of("0123456789") == name.npos) {
    refuse(unknown_name(name, {"fixed", "exponential", "lognormal", "bimodal"}));
  }
  if (parts.size() > 1) {
    refuse(in_quotes(text) +
           " is no service time: 50ms, exponential:50ms, lognormal:50ms:0.5, or of two "
           "kinds of requests bimodal:50ms:0.05:400ms (5 % take 400ms)");
  }
  return ServiceTime::fixed(parse_duration(text, Duration::zero()));
}

ServiceCurve::ServiceCurve(Duration base_delay, std::size_t limit, double factor, double k)
    : base_delay_(base_delay),
      limit_(limit),
      growth_(natural_log(factor) / k),
      longest_from_(concurrency_of_delay(Duration::max()) + 1) {}  // 1: for rounding

Duration ServiceCurve::delay(std::size_t concurrency) const {
  if (concurrency <= limit_ || base_delay_ == Duration::zero()) return base_delay_;
  const auto requests = static_cast<double>(concurrency);
  return requests >= longest_from_ ? Duration::max() : from_seconds(seconds(requests));
}

double ServiceCurve::seconds(double concurrency) const {
  const double above = std::max(concurrency - static_cast<double>(limit_), 0.0);
  return to_seconds(base_delay_) * exponential(above * growth_);
}

double ServiceCurve::throughput(double concurrency) const {
  return concurrency / seconds(concurrency);
}

double ServiceCurve::best_concurrency() const {
  if (base_delay_ == Duration::zero() || growth_ == 0)
    return std::numeric_limits<double>::infinity();
  return std::max(1 / growth_, static_cast<double>(limit_));
}

double ServiceCurve::concurrency_of_delay(Duration delay) const {
  if (delay < base_delay_) return 0;
  if (base_delay_ == Duration::zero() || growth_ == 0)
    return std::numeric_limits<double>::infinity();
  return static_cast<double>(limit_) +
         natural_log(to_seconds(delay) / to_seconds(base_delay_)) / growth_;
}

}  // namespace retrystorm
