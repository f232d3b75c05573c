// Reports of a run and of a service as JSON: one object per event.
#pragma once

#include <functional>
#include <utility>

#include "common/output/json_text.h"
#include "model/run/run_observer.h"
#include "model/service/service_observer.h"

namespace retrystorm {

// Receives each object. Anything that the function refers to must outlive the report.
using JsonSink = std::function<void(const Json&)>;

// All events of a run.
class JsonReport : public RunObserver {
 public:
  explicit JsonReport(JsonSink sink) : sink_(std::move(sink)) {}

  void on_interval(const RunInterval& interval) override;
  void on_outage(Duration t, OutageEvent event, const std::string& what) override;
  void on_action(Duration t, const std::string& what) override;
  void on_hosts(Duration t, const HostIntervals& hosts) override;
  void on_graph(const GraphShape& names, const GraphInterval& interval) override;
  void on_request(const TracedRequest& request) override;
  void on_summary(const Summary& summary) override;

 private:
  JsonSink sink_;
};

// The server's intervals.
class ServiceJsonReport final : public ServiceObserver {
 public:
  explicit ServiceJsonReport(JsonSink sink) : sink_(std::move(sink)) {}

  void on_interval(Duration t, Duration window, const ServerInterval& interval) override;

 private:
  JsonSink sink_;
};

}  // namespace retrystorm
