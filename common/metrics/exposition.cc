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

void Exposition::add(const std::string& name, const std::string& help, const std::string& label,
                     const LabelledValues& values) {
  const bool counts = name.ends_with("_total");
  prometheus::MetricFamily& family = families_.emplace_back();
  family.name = name;
  family.help = help;
  family.type = counts ? prometheus::MetricType::Counter : prometheus::MetricType::Gauge;
  for (const auto& [label_value, value] : values) {
    prometheus::ClientMetric& metric = family.metric.emplace_back();
    if (!label.empty()) metric.label.push_back({.name = label, .value = label_value});
    (counts ? metric.counter.value : metric.gauge.value) = value;
  }
}

void Exposition::add(const std::vector<prometheus::MetricFamily>& families) {
  families_.insert(families_.end(), families.begin(), families.end());
}

void Exposition::add_process() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  add("retrystorm_build_info", "Always 1; the label says which version runs.", "version",
      {{kVersion, 1}});
  add("process_start_time_seconds", "When the process started, in seconds since 1970.",
      process_start_time());
  add("process_cpu_seconds_total", "User and system CPU time of the process.",
      seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime));
}

std::string Exposition::text() const {
  std::ostringstream text;
  prometheus::TextSerializer().Serialize(text, families_);
  return text.str();
}

}  // namespace retrystorm
