// A run and a service as lines for people: the original's two lines, and the summary.
#pragma once

#include <ostream>
#include <string>

#include "model/run/run_observer.h"
#include "model/service/service_interval.h"

namespace retrystorm {

// The client's line each interval, and the summary at the end.
class LineReport final : public RunObserver {
 public:
  // `out` outlives the report.
  explicit LineReport(std::ostream& out) : out_(out) {}

  void on_interval(const RunInterval& interval) override;
  void on_summary(const Summary& summary) override;

 private:
  std::ostream& out_;
};

// The server's line each interval, stamped with the machine's time, or with the virtual clock's.
class ServiceLineReport final : public ServiceObserver {
 public:
  enum class Stamp { kWallClock, kVirtual };

  ServiceLineReport(std::ostream& out, Stamp stamp) : out_(out), stamp_(stamp) {}

  void on_interval(Duration t, Duration window, const ServerInterval& interval) override;

 private:
  std::ostream& out_;
  const Stamp stamp_;
};

}  // namespace retrystorm
