// Reports of a run and of a service as text: the original experiment's two lines, and the summary.
#pragma once

#include <ostream>
#include <string>

#include "common/output/style.h"
#include "model/run/run_observer.h"
#include "model/service/service_observer.h"

namespace retrystorm {

// Prints the client's line after each interval. The lines of a job stand at growing distances, each at a time a fifth
// longer than the one before: some forty of two hours.
class LineReport final : public RunObserver {
 public:
  // `out` must outlive the report.
  explicit LineReport(std::ostream& out) : out_(out) {}

  void on_interval(const RunInterval& interval) override;

 private:
  std::ostream& out_;
  Duration next_of_job_{0};
};

// Prints all that is known of the run at its end.
class SummaryReport final : public RunObserver {
 public:
  // `out` must outlive the report.
  SummaryReport(std::ostream& out, const Style& style) : out_(out), style_(style) {}

  void on_summary(const Summary& summary) override;

 private:
  std::ostream& out_;
  const Style style_;
};

// Prints the server's line after each interval, with the time of the machine or the virtual clock.
class ServiceLineReport final : public ServiceObserver {
 public:
  enum class Stamp { kWallClock, kVirtual };

  ServiceLineReport(std::ostream& out, Stamp stamp) : out_(out), stamp_(stamp) {}

  void on_interval(Duration t, Duration window, const ServerInterval& interval) override;

 private:
  std::ostream& out_;
  const Stamp stamp_;
};

// Several lines, the last with its newline.
std::string figures_text(const Summary& summary, const Style& style);

}  // namespace retrystorm
