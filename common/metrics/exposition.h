// Metrics in Prometheus' text format.
#pragma once

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>

#include <string>
#include <utility>
#include <vector>

namespace retrystorm {

inline constexpr const char* kExpositionType = "text/plain; version=0.0.4; charset=utf-8";

// What Prometheus scrapes. It is made only at a scrape, so that metrics cost nothing between scrapes.
class Exposition {
 public:
  // The members of a metric differ in one label.
  using LabelledValues = std::vector<std::pair<std::string, double>>;

  // Names follow Prometheus' conventions: base units, and a counter's ends in `_total`. All others are gauges.
  void add(const std::string& name, const std::string& help, const std::string& label,
           const LabelledValues& values);
  template <typename Number>
  void add(const std::string& name, const std::string& help, Number value) {
    add(name, help, "", {{"", value}});
  }
  void add(const std::vector<prometheus::MetricFamily>& families);
  // The metrics that every program has about itself: its version and its processor time.
  void add_process();

  std::string text() const;

 private:
  std::vector<prometheus::MetricFamily> families_;
};

}  // namespace retrystorm
