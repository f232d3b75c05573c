#include "common/metrics/exposition.h"

#include <prometheus/text_serializer.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <fstream>
#include <iterator>
#include <limits>
#include <sstream>

#include "common/output/json_lines.h"

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

// The process's start time, in seconds since 1970. /proc gives it in clock ticks since the machine
// started, and the machine's start in seconds since 1970. Without /proc, returns the time of the
// first call of this function.
double process_start_time() {
  static const double start = [] {
    std::ifstream stat("/proc/self/stat"), machine("/proc/stat");
    std::string text((std::istreambuf_iterator<char>(stat)), {});
    // The program's name, in parentheses, may contain anything; field 22 is the 20th after it.
    std::istringstream fields(text.substr(std::min(text.size(), text.rfind(')') + 1)));
    std::string word;
    for (int i = 0; i < 20; ++i) fields >> word;
    double boot = 0;
    for (std::string name; machine >> name && name != "btime";) {
      machine.ignore(std::numeric_limits<std::streamsize>::max(), '\n');
    }
    if (fields && machine >> boot) {
      return boot + std::stod(word) / static_cast<double>(sysconf(_SC_CLK_TCK));
    }
    return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch())
        .count();
  }();
  return start;
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
                 {{kVersion, 1}}),
          gauge("process_start_time_seconds", "When the process started, in seconds since 1970.",
                process_start_time()),
          counter("process_cpu_seconds_total", "User and system CPU time of the process.",
                  seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime))};
}

}  // namespace retrystorm
