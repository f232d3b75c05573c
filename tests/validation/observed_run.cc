#include "tests/validation/observed_run.h"

#include "model/base/option_list.h"
#include "simulator/simulation.h"

namespace retrystorm::validation {
namespace {

// Adds what it observes to a run.
class Recorder final : public RunObserver, public ServiceObserver {
 public:
  explicit Recorder(ObservedRun& run) : run_(run) {}

  void on_interval(const RunInterval& interval) override { run_.intervals.push_back(interval); }
  void on_hosts(Duration /*t*/, const HostIntervals& hosts) override {
    run_.hosts.push_back(hosts);
  }
  void on_interval(Duration t, Duration /*window*/, const ServerInterval& interval) override {
    run_.service.push_back({t, interval});
  }
  void on_request(const TracedRequest& request) override { run_.requests.push_back(request); }

 private:
  ObservedRun& run_;
};

}  // namespace

ObservedRun observe(const Experiment& experiment, std::uint64_t seed) {
  ScenarioOptions options = scenario_of(experiment.options);
  if (!experiment.topology.empty()) options.graph.topology = experiment.topology;
  refuse(unused_options(options));
  options.trace = experiment.traced;
  ObservedRun run;
  Recorder recorder(run);
  SimulationObservers observers;
  if (experiment.interval > Duration::zero() || experiment.traced > 0) {
    observers.run.push_back(&recorder);
  }
  if (experiment.interval > Duration::zero()) options.report_interval = experiment.interval;
  if (experiment.service_interval > Duration::zero()) {
    options.server_report_interval = experiment.service_interval;
    observers.service.push_back(&recorder);
  }
  run.summary = Simulation(make_scenario(options, seed), observers).run().summary;
  return run;
}

}  // namespace retrystorm::validation
