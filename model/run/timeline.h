// The timeline: what operators do during a run, besides the outage, and when.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/run/disturbance.h"
#include "model/run/recovery.h"
#include "model/service/service_options.h"

namespace retrystorm {

// The hosts of a service that restart.
struct RestartedHosts {
  // Hosts `first` to `last`, counted from 1. 0: all of them.
  std::size_t first = 0, last = 0;
  // One after the other: each gets no more requests, gives those that wait to the others, finishes what it serves,
  // and starts before the next one ends.
  bool rolling = false;

  bool operator==(const RestartedHosts&) const = default;
};

// A single action.
struct Action {
  enum class Kind {
    kSet,       // changes one option of the service
    kCapacity,  // sets the capacity to `factor` times the configured one
    kLoad,      // sets the offered load to `factor` times the configured one
    kRestart,   // restarts the service: all its requests are lost
  };

  Kind kind = Kind::kRestart;
  std::string option{}, value{};  // for kSet
  double factor = 1;              // for kCapacity and kLoad; > 0
  RestartedHosts hosts{};         // for kRestart

  bool operator==(const Action&) const = default;
};

// True if the service must be ordered to carry it out; the clients do so otherwise.
inline bool is_of_service(const Action& action) {
  return action.kind != Action::Kind::kLoad;
}

// What it leaves until the end of the run, or until the next one.
Lasting what_lasts(const Action& action);

// Parses "set shed-above=200", "capacity 2", "load 0.5" or "restart", where there are `hosts` also "restart host 2",
// "restart 2 hosts" (the first ones) and "rolling-restart". Throws std::invalid_argument with a readable message.
// `change_option` checks whether the option exists.
Action parse_action(std::string_view text, bool hosts = false);

// The text that `parse_action` reads.
std::string print_action(const Action& action);

struct TimedAction {
  Duration t{0};  // since the start of the run
  Action action{};
  std::string announcement{};  // for observers; empty for all steps of a ramp but the first
  std::string node{};          // of several services, the one that it is for; empty: not said

  bool operator==(const TimedAction&) const = default;
};

// A disturbance besides the outage. They may overlap.
struct Fault {
  Duration from{0}, to{0};  // since the start of the run
  Disturbance what{};
  std::string node{};  // of several services, the one that has it; empty: not said

  bool operator==(const Fault&) const = default;
};

// The text of `--fault`, such as "40s-60s slow:3 of db".
std::string print_fault(const Fault& fault);

struct TimelineOptions {
  Disturbance outage{};
  std::vector<Fault> faults{};          // in the order given
  std::vector<TimedAction> at{};        // in the order given
  std::vector<TimedAction> capacity{};  // the schedule, in order, with ramps as steps
  std::string capacity_text{};          // the schedule as text that can be parsed
};

// Prints an action like "1m0s load 0.5".
std::string print_timed(const TimedAction& action);

void declare_options(OptionList& options, TimelineOptions& timeline, Engine engine);

// Adds the options that change the load. They have no effect for clients that always take all they
// can get, such as the workers of a job. `why` names that reason.
void find_unused_load(UnusedOptions& unused, const TimelineOptions& timeline,
                      const std::string& why);

// Adds disturbances that change nothing, such as slow:1. `has_outage`: does the outage happen?
void find_unused_disturbances(UnusedOptions& unused, const TimelineOptions& timeline,
                              bool has_outage);

// Adds what is to happen after the run, which ends then. `set_by`: the option that says so.
void find_unused_after(UnusedOptions& unused, const TimelineOptions& timeline, Duration end,
                       const std::string& set_by);

// All actions, in the order in which they take effect.
std::vector<TimedAction> actions(const TimelineOptions& timeline);
// Is any of them for the service, which must then be ordered to carry it out?
bool acts_on_service(const TimelineOptions& timeline);

}  // namespace retrystorm
