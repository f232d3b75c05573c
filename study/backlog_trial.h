// Does the result depend on the backlog? Repeats the runs of a setting with the usual backlogs.
//
// A frozen process finds a full accept queue when it wakes. The length of that queue can decide whether
// the service comes back. It is a setting of the server that few people know.
#pragma once

#include <array>
#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "simulator/scenario_options.h"
#include "study/named_options.h"
#include "study/statistics.h"

namespace retrystorm {

// The backlogs of common servers: 128 is the limit of Linux before 5.4 (net.core.somaxconn), 511 is
// that of nginx and Node.js, and 4096 is the limit since Linux 5.4 (Documentation/networking/ip-sysctl),
// which servers in Go use.
inline constexpr std::array<std::size_t, 3> kUsualBacklogs{128, 511, 4096};

// Tomcat's queue. If only its workers hang, it accepts many more connections.
inline constexpr std::size_t kBacklogOfTomcat = 100;

// Of the requests after an outage so large a share less succeeds that it is another answer.
inline constexpr double kClearlyLess = 0.1;

// May the answer hang on a backlog that was not given? Only a frozen process finds a full accept queue. Multiplexed
// connections outlast the freeze. At another scale a backlog is none that a server has.
bool hangs_on_backlog(const ScenarioOptions& options, const NamedOptions& given);

struct TriedBacklog {
  std::size_t backlog = 0;
  std::size_t down = 0, runs = 0;  // of the runs with a verdict
  std::size_t recovering = 0;      // of these, those that were still recovering at their end
  double success = 1;              // the share of the requests that began after the outage

  bool is_down() const { return is_majority(down, runs); }
  bool operator==(const TriedBacklog&) const = default;
};

struct BacklogTrial {
  // Between two backlogs with different answers, near `about`, the answer changes.
  struct Edge {
    TriedBacklog below, above;
    std::size_t about = 0;  // with two digits
  };

  std::vector<TriedBacklog> usual{};  // those that were tried, in ascending order
  std::optional<Edge> edge{};
};

// `asked`: the result with the given backlog. `run` takes a backlog and a number of runs, and simulates
// them. It returns nothing when it was stopped, and then there is no result.
//
// Tries the usual backlogs with `runs` runs each, until one has another answer than `asked`. Backlogs
// beyond that one are left out, because a larger backlog is more work for a service that wakes. A
// bisection then finds the edge with about as many runs again. In total these are about three times
// `runs`, and at most four times.
std::optional<BacklogTrial> try_backlogs(
    const TriedBacklog& asked, std::size_t runs,
    const std::function<std::optional<TriedBacklog>(std::size_t backlog, std::size_t runs)>& run);

// One line: "backlog: 0 of 60 runs down at 128, 511 and 4096".
std::string backlog_trial_text(const BacklogTrial& trial);

// "60 of 60 runs with --backlog=511": the backlog with another answer than `asked`. Empty without one.
std::string other_backlog_text(const TriedBacklog& asked, const BacklogTrial& trial,
                               bool titled = true);

}  // namespace retrystorm
