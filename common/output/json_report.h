// Reports of a run and of a service as JSON: one object per event.
#pragma once

#include <cstddef>
#include <functional>
#include <utility>

#include "common/output/report.h"

namespace retrystorm {

// Receives each object. Anything that the function refers to must outlive the report.
using JsonSink = std::function<void(const Json&)>;

// All events of a run.
class JsonReport : public RunObserver {
 public:
  explicit JsonReport(JsonSink sink) : sink_(std::move(sink)) {}

  void on_interval(const RunInterval& interval) override { sink_(client_interval_json(interval)); }
  void on_outage(Duration t, OutageEvent event, const std::string& what) override {
    sink_(outage_json(t, event, what));
  }
  void on_action(Duration t, const std::string& what) override { sink_(action_json(t, what)); }
  void on_hosts(Duration t, const HostIntervals& hosts) override {
    for (const Json& line : hosts_json(t, hosts)) sink_(line);
  }
  void on_graph(const GraphShape& names, const GraphInterval& interval) override {
    for (const Json& line : graph_interval_json(names, interval)) sink_(line);
  }
  void on_request(const TracedRequest& request) override {
    for (std::size_t i = 0; i < request.attempts.size(); ++i) sink_(attempt_json(request, i));
    sink_(request_json(request));
  }
  void on_summary(const Summary& summary) override { sink_(summary_json(summary)); }

 private:
  JsonSink sink_;
};

// The server's intervals.
class ServiceJsonReport final : public ServiceObserver {
 public:
  explicit ServiceJsonReport(JsonSink sink) : sink_(std::move(sink)) {}

  void on_interval(Duration t, Duration window, const ServerInterval& interval) override {
    sink_(server_interval_json(t, window, interval));
  }

 private:
  JsonSink sink_;
};

}  // namespace retrystorm
