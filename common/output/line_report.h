// A run and a service as lines for people: the original's two lines, and the summary.
#pragma once

#include <ostream>
#include <string>

#include "common/output/json_lines.h"
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

// All of a run as JSON Lines.
class JsonReport final : public RunObserver {
 public:
  // `json` outlives the report.
  explicit JsonReport(JsonLines& json) : json_(json) {}

  void on_interval(const RunInterval& interval) override;
  void on_outage(Duration t, OutageEvent event, const std::string& what) override;
  void on_action(Duration t, const std::string& what) override;
  void on_request(const TracedRequest& request) override;
  void on_summary(const Summary& summary) override;

 private:
  JsonLines& json_;
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

class ServiceJsonReport final : public ServiceObserver {
 public:
  explicit ServiceJsonReport(JsonLines& json) : json_(json) {}

  void on_interval(Duration t, Duration window, const ServerInterval& interval) override;

 private:
  JsonLines& json_;
};

}  // namespace retrystorm
