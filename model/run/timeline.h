// What is to happen in a run besides its outage: what people do about it, and when.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/run/disturbance.h"
#include "model/service/service_options.h"

namespace retrystorm {

// Something that is done once.
struct Action {
  enum class Kind {
    kSet,       // one option of the service
    kCapacity,  // the service has `factor` times the capacity it was configured with
    kLoad,      // the clients want `factor` times as much as they were configured to
    kRestart,   // the service is started anew: all that it holds is gone
  };

  Kind kind = Kind::kRestart;
  std::string option{}, value{};  // set
  double factor = 1;              // capacity, load; > 0

  bool operator==(const Action&) const = default;
};

// "set shed-above=200", "capacity 2", "load 0.5", "restart". Throws std::invalid_argument with a
// sentence for a person. Whether there is such an option is found out by `change_option`.
Action parse_action(std::string_view text);

// As it is read.
std::string print_action(const Action& action);

struct TimedAction {
  Duration t{0};  // since the run's start
  Action action{};
  std::string told{};  // to observers: the steps of a ramp but for its first tell nothing

  bool operator==(const TimedAction&) const = default;
};

struct TimelineOptions {
  Disturbance outage{};
  std::vector<TimedAction> at{};        // in the order in which they were given
  std::vector<TimedAction> capacity{};  // the schedule, its ramps as stairs; in order
  std::string capacity_text{};          // the schedule as it is read
};

// "1m0s load 0.5"
std::string print_timed(const TimedAction& action);

void declare_options(OptionList& options, TimelineOptions& timeline, Engine engine);

// Adds the options by which the clients are to want more or less: of clients that always want all
// they can get, such as a job's workers, for which `why` says that.
void find_unused_load(UnusedOptions& unused, const TimelineOptions& timeline,
                      const std::string& why);

// All actions in the order in which they are to be done.
std::vector<TimedAction> actions(const TimelineOptions& timeline);

}  // namespace retrystorm
