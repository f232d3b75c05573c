// Numbers in Prometheus' text format.
#pragma once

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>

#include <string>
#include <utility>
#include <vector>

namespace retrystorm {

// The text that Prometheus scrapes, and its content type.
inline constexpr const char* kExpositionType = "text/plain; version=0.0.4; charset=utf-8";
std::string exposition(const std::vector<prometheus::MetricFamily>& families);

// Families with one number each. The numbers are read only at a scrape, so they cost nothing
// between scrapes. Names follow Prometheus' conventions: base units, and counters end in `_total`.
prometheus::MetricFamily counter(const std::string& name, const std::string& help, double value);
prometheus::MetricFamily gauge(const std::string& name, const std::string& help, double value);

// A family whose members differ in one label.
using LabelledValues = std::vector<std::pair<std::string, double>>;
prometheus::MetricFamily counters(const std::string& name, const std::string& help,
                                  const std::string& label, const LabelledValues& values);
prometheus::MetricFamily gauges(const std::string& name, const std::string& help,
                                const std::string& label, const LabelledValues& values);

// The metrics that every program has about itself: its version and its processor time.
std::vector<prometheus::MetricFamily> process_families();

}  // namespace retrystorm
