// A service as options, by what people know of it: rate, percentiles of its times, how much of it is used.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "model/base/duration.h"

namespace retrystorm {

// A plain number, such as 0.25 or 1e3, that is finite. Nothing if the text is anything else, or more than that.
std::optional<double> finite_number(std::string_view text);

struct KnownService {
  double rate = 0;          // requests a second
  Duration p50{0}, p99{0};  // of the times of its answers
  double used = 0;          // the share of its workers that are busy
  double capacity = 0;      // the most requests a second that it can serve, instead of `used`
  std::size_t workers = 0;  // instead of either
  std::string accepts{};    // --accepts, if it is known
  std::optional<Duration> mean{};  // measured; otherwise it follows from the percentiles
};

// With the use that follows from the capacity, and where one percentile is not known, that of times with the
// usual spread (a CV of 0.5). Throws std::invalid_argument if too much or too little is known.
KnownService completed(KnownService known);

// Times are lognormal, with these percentiles: the logarithm has the standard deviation
// sigma = ln(p99 / p50) / 2.326, so that the mean is p50 e^(sigma^2 / 2), and the standard deviation by the
// mean (CV) is sqrt(e^(sigma^2) - 1). By Little's law rate x mean workers are busy, which are the share
// `used` of all.
struct EstimatedService {
  double sigma = 0;
  Duration mean{0};
  double variation = 0;  // the CV
  double busy = 0;
  std::size_t workers = 0;
  double waits = 0;  // the share of requests that wait for a worker (Erlang C)
};

// Throws std::invalid_argument with a sentence if there is no such service.
EstimatedService estimate(const KnownService& known);

// A histogram of times from a page of metrics in Prometheus' text format.
struct TimeHistogram {
  std::map<double, double> at_most;  // the observations up to a bound, by the bound in seconds
  double count = 0, sum = 0;         // in seconds

  // As Prometheus' histogram_quantile: even within a bucket. Nothing if it is above the last bound.
  std::optional<double> quantile(double q) const;
};

// The histogram of this name, or without a name the only one that there is. Series with other labels are
// added up. Times are in seconds, unless the name ends with "milliseconds" or "ms". Throws BadFile.
TimeHistogram read_histogram(std::string_view text, const std::string& name);

}  // namespace retrystorm
