// Numbers in the text form that Prometheus reads.
#pragma once

#include <prometheus/client_metric.h>
#include <prometheus/metric_family.h>

#include <string>
#include <utility>
#include <vector>

namespace retrystorm {

// The text form of what Prometheus scrapes, and its content type.
inline constexpr const char* kExpositionType = "text/plain; version=0.0.4; charset=utf-8";
std::string exposition(const std::vector<prometheus::MetricFamily>& families);

// Families of numbers that are read when they are scraped, so that between two scrapes they cost
// nothing. Names follow Prometheus' conventions: base units, counters end in `_total`.
prometheus::MetricFamily counter(const std::string& name, const std::string& help, double value);
prometheus::MetricFamily gauge(const std::string& name, const std::string& help, double value);

// A family whose members differ in one label.
using LabelledValues = std::vector<std::pair<std::string, double>>;
prometheus::MetricFamily counters(const std::string& name, const std::string& help,
                                  const std::string& label, const LabelledValues& values);
prometheus::MetricFamily gauges(const std::string& name, const std::string& help,
                                const std::string& label, const LabelledValues& values);

// What every program says of itself: its version and its processor time.
std::vector<prometheus::MetricFamily> process_families();

}  // namespace retrystorm
