// A run of the client: the one clock that reports, disturbs and ends.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "client/current_fleet.h"
#include "client/dashboard/dashboard.h"
#include "client/fleet.h"
#include "client/http_request.h"
#include "client/options.h"
#include "client/outage.h"
#include "client/outage_command.h"
#include "client/server_control.h"
#include "common/os/process.h"
#include "common/output/json_lines.h"
#include "common/output/json_report.h"
#include "common/output/line_report.h"
#include "common/output/live_screen.h"
#include "model/run/run_recorder.h"

namespace retrystorm {

// How the run was started, for its first line.
struct StartedAs {
  std::string command;
  nlohmann::ordered_json options;  // with the seed
};

// Owns the clients of the run at hand and the one clock by which it is reported, disturbed and
// ended; what others own and outlives it is in `Dependencies`. The page may end a run and begin
// another. Everything happens on the thread that calls `run`: the page's commands wait in a queue
// until it takes them.
class Experiment {
 public:
  // What it works on. All outlive the experiment; a null pointer does without.
  struct Dependencies {
    const HttpRequest& request;
    JsonLines& json;
    std::ostream& out;    // gets the lines and the summary
    Terminal* screen;     // shows the run instead of the lines
    CurrentFleet& fleet;  // is shown the clients of each run
    ServerProcess* server = nullptr;
    OutageCommand* outage_command = nullptr;
    ServerControl* control = nullptr;
    Dashboard* dashboard = nullptr;
    // The clients with another strategy, as the command line would have them.
    std::function<WorkloadOptions(const std::string& strategy)> restarted_with{};
    std::vector<int> spared_ports{};  // where somebody may look at it: left alone at a restart
  };

  Experiment(const ClientOptions& options, std::uint64_t seed, const StartedAs& started_as,
             const Dependencies& dependencies);

  // Runs until the duration is over or a signal comes, then stops the clients and prints the
  // summary. The page may end a run before that and begin another one.
  void run(EndSignals& signals);

 private:
  // Tells the page what the file is told, and more.
  class PageReport final : public RunObserver {
   public:
    explicit PageReport(Experiment& experiment) : experiment_(experiment) {}
    void on_interval(const RunInterval& interval) override;
    void on_outage(Duration t, OutageEvent event, const std::string& what) override;
    void on_action(Duration t, const std::string& what) override;
    void on_summary(const Summary& summary) override;

   private:
    Experiment& experiment_;
  };

  void begin();
  void finish();
  void begin_outage(const Disturbance& outage, Duration length);
  void lengthen_outage(const Disturbance& outage, Duration length);
  void end_outage();
  void carry_out(const TimedAction& step);
  void set_load();
  void take_commands();
  void handle(const FreezeCommand& command);
  void handle(const WakeCommand& command);
  void handle(const RestartCommand& command);
  nlohmann::ordered_json start_line() const;
  void show(nlohmann::ordered_json event);
  void notice(const std::string& text);
  TimePoint next_action() const;
  void tell_dropped_arrivals();
  // What the outage's commands have come to; waits so long for those that still run.
  void tell_commands(Duration patience = Duration::zero());
  TimePoint next_event() const;

  const ClientOptions& options_;
  const std::uint64_t seed_;
  const StartedAs started_as_;
  const Dependencies dependencies_;
  WorkloadOptions workload_;

  TimePoint start_, end_;
  TimePoint outage_begins_at_ = TimePoint::max();
  TimePoint outage_ends_at_ = TimePoint::max();
  Disturbance outage_;  // that goes on, or was the last one
  const std::vector<TimedAction> actions_;
  std::size_t actions_done_ = 0;
  double load_ = 1;  // by actions
  std::shared_ptr<Fleet> fleet_;
  std::uint64_t dropped_told_ = 0;  // arrivals
  JsonReport json_report_;
  PageReport page_report_;
  std::unique_ptr<RunObserver> shown_;  // to the person at the terminal
  std::optional<RunRecorder> recorder_;
};

}  // namespace retrystorm
