// A run of the client, and whether its outage was one: a verdict is about an outage that began, was felt, and ended. One
// clock starts the reports, the outage and the end.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <vector>

#include "client/dashboard/dashboard.h"
#include "client/fleet.h"
#include "client/options.h"
#include "client/outage/outage_command.h"
#include "client/outage/server_control.h"
#include "client/outage/server_process.h"
#include "client/server_status.h"
#include "common/http/http_request.h"
#include "common/os/process.h"
#include "common/output/answer.h"
#include "common/output/json_lines.h"
#include "common/output/json_report.h"
#include "common/output/json_text.h"
#include "common/output/line_report.h"
#include "model/run/disturbance.h"
#include "model/run/recovery.h"
#include "model/run/run_recorder.h"

namespace retrystorm {

// What the client knows of the outage that it made.
struct OutageDoubts {
  // Signals may stop another process than the one that answers, and commands may do anything. What
  // the clients and the service do happens.
  Disturbance::By by = Disturbance::By::kClients;
  bool begin_failed = false;
  bool end_failed = false;  // of a command that is over, or should be
};

// Takes back a verdict for which there was no outage, or for which it may go on.
Recovery with_doubts(Recovery recovery, const OutageDoubts& doubts);

// How the run was started, for its first line.
struct StartedAs {
  std::string command;
  Json options;  // with the seed
};

// Owns the clients of the current run and its clock. What others own is in `Dependencies`. The page
// may end a run and begin another one. Everything happens on the thread that calls `run`: the
// page's commands wait in a queue until that thread takes them.
class Experiment {
 public:
  // All must outlive the experiment. Null means that the run does without it.
  struct Dependencies {
    const std::vector<HttpRequest>& requests;  // one to each host
    const std::vector<HttpRequest>& probes;    // likewise; empty: none is probed
    JsonLines& json;
    std::ostream& out;                   // gets the lines and the summary
    CurrentFleet& fleet;                 // set to the clients of each run
    std::deque<ServerProcess>& servers;  // that the outage may freeze; may be empty
    OutageCommand* outage_command = nullptr;
    ServerControls* control = nullptr;
    Dashboard* dashboard = nullptr;
    // Of the hosts whose status is known.
    const std::deque<std::optional<ServerMonitor>>& monitors;
    RunObserver* judge = nullptr;        // gets the summary after it was printed
    std::function<bool()> ends_early{};  // asked after each interval
    // The command line's workload with another strategy.
    std::function<WorkloadOptions(const std::string& strategy)> restarted_with{};
    std::vector<int> spared_ports{};  // their connections are not shut down at the end of a run
  };

  Experiment(const ClientOptions& options, std::uint64_t seed, const StartedAs& started_as,
             const Dependencies& dependencies);

  // Runs until the duration is over or a signal comes. Then stops the clients and prints the
  // summary. Before that, the page may end the run and begin another one. Throws std::runtime_error
  // as soon as it is clear that no service was ever there.
  void run(EndSignals& signals);

  // Could the outage, or the page's last one, not be begun?
  bool outage_failed() const { return outage_failed_ || command_failed(); }

 private:
  void begin();
  void finish();
  // Looks for the first answer. If there has been none, and the attempts so far, at least `least` of
  // them, were all refused or found no way to the host, throws std::runtime_error: that is no run.
  void look_for_service(std::uint64_t least);
  // Does it to each server that is there. Returns false if none is.
  bool any_server(const std::function<void(ServerProcess&)>& act);
  bool freeze(TimePoint until) {
    return any_server([until](ServerProcess& each) { each.freeze(until); });
  }
  void begin_outage(const Disturbance& outage, Duration length);
  void lengthen_outage(const Disturbance& outage, Duration length);
  void end_outage();
  void carry_out(const TimedAction& step);
  // Takes the server's answers to orders. An order is recorded only once the server has carried it
  // out.
  void take_answers();
  void record_action(const std::string& announcement, Lasting leaves);
  void outage_has_begun(Duration length, TimePoint until);
  void outage_is_over();
  void set_load();
  // Takes the steps of the file of rates that are due.
  void take_load_steps(TimePoint now);
  void take_commands();
  void handle(const FreezeCommand& command);
  void handle(const WakeCommand& command);
  void handle(const RestartCommand& command);
  void handle(const ActCommand& command);
  Json start_line() const;
  // The result as far as the outage can be relied on, or with the reason why there was none.
  Recovery checked(Recovery recovery) const;
  // Adds what the client knows of the state of each host.
  HostIntervals with_states(HostIntervals hosts) const;
  std::optional<HostsResult> hosts_result() const;
  // What the servers say of themselves, and of this the requests that wait for a worker.
  std::optional<ServerStatus> server_status() const;
  std::optional<std::size_t> waiting() const;
  // After an outage that is over: what holds the service down. `ok`, `attempts`: a second.
  std::optional<HeldDown> held_down(const ServerStatus& server, double ok, double attempts);
  // Sends the page what the JSON Lines file gets, and more.
  void show(Json event);
  void notice(const std::string& text);
  bool command_failed() const;  // the one that begins the outage
  TimePoint next_action() const;
  TimePoint next_load_step() const {
    return load_steps_.empty() ? TimePoint::max() : saturating_add(start_, load_steps_.front().t);
  }
  void report_dropped_arrivals();
  // Reports how the outage's commands ended. Waits at most `patience` for those that still run.
  void report_commands(Duration patience = Duration::zero());
  TimePoint next_event() const;

  const ClientOptions& options_;
  const std::uint64_t seed_;
  const StartedAs started_as_;
  const Dependencies dependencies_;
  WorkloadOptions workload_;

  TimePoint start_, end_;
  bool was_there_ = false;      // has the service answered, or kept an attempt waiting?
  bool outage_failed_ = false;  // to begin
  TimePoint outage_begins_at_ = TimePoint::max();
  TimePoint outage_ends_at_ = TimePoint::max();
  Disturbance outage_;  // the current one, else the one about to begin, else the last one

  // An order to the server without an answer yet, and what to do once it is carried out.
  struct Order {
    enum class Kind { kAction, kBegin, kEnd };
    Kind kind = Kind::kAction;
    std::string announcement{};  // kAction: the text to record; empty: nothing is recorded
    Lasting leaves = Lasting::kNothing;
    Duration length{0};  // kBegin
  };
  void give(const std::string& text, const Order& order);
  bool is_ordered(Order::Kind kind) const;

  std::deque<Order> orders_;
  std::size_t failed_orders_ = 0;
  const std::vector<TimedAction> actions_;
  std::size_t actions_done_ = 0;
  double load_ = 1;                            // as actions have set it
  double planned_load_ = 1;                    // of the file of rates
  std::span<const ArrivalStep> load_steps_{};  // that are to come
  double most_before_ = 0;                     // concurrency before the outage
  std::shared_ptr<CalledHosts> hosts_;         // null if there is one
  std::optional<HostProbes> probes_;           // of the current run
  TimePoint hosts_report_at_ = TimePoint::max();
  std::shared_ptr<Fleet> fleet_;
  std::uint64_t dropped_reported_ = 0;  // arrivals
  JsonReport json_report_, page_report_;
  std::optional<LineReport> lines_;  // of the current run
  std::optional<AnswerReport> answer_;
  std::optional<SummaryReport> figures_;
  std::optional<RunRecorder> recorder_;
};

}  // namespace retrystorm
