#include "common/metrics/exposition.h"

#include <prometheus/text_serializer.h>
#include <sys/resource.h>

#include <chrono>
#include <sstream>

namespace retrystorm {
namespace {

prometheus::MetricFamily family(const std::string& name, const std::string& help,
                                prometheus::MetricType type, const std::string& label,
                                const LabelledValues& values) {
  prometheus::MetricFamily result{.name = name, .help = help, .type = type, .metric = {}};
  for (const auto& [label_value, value] : values) {
    prometheus::ClientMetric& metric = result.metric.emplace_back();
    if (!label.empty()) metric.label.push_back({.name = label, .value = label_value});
    if (type == prometheus::MetricType::Counter) {
      metric.counter.value = value;
    } else {
      metric.gauge.value = value;
    }
  }
  return result;
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

}  // namespace

std::string exposition(const std::vector<prometheus::MetricFamily>& families) {
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, families);
  return text.str();
}

prometheus::MetricFamily counter(const std::string& name, const std::string& help, double value) {
  return counters(name, help, "", {{"", value}});
}

prometheus::MetricFamily gauge(const std::string& name, const std::string& help, double value) {
  return gauges(name, help, "", {{"", value}});
}

prometheus::MetricFamily counters(const std::string& name, const std::string& help,
                                  const std::string& label, const LabelledValues& values) {
  return family(name, help, prometheus::MetricType::Counter, label, values);
}

prometheus::MetricFamily gauges(const std::string& name, const std::string& help,
                                const std::string& label, const LabelledValues& values) {
  return family(name, help, prometheus::MetricType::Gauge, label, values);
}

std::vector<prometheus::MetricFamily> process_families() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return {gauges("retrystorm_build_info", "Always 1; the label says which version runs.", "version",
                 {{RETRYSTORM_VERSION, 1}}),
          counter("process_cpu_seconds_total", "User and system CPU time of the process.",
                  seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime))};
}

}  // namespace retrystorm
