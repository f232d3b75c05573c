// What can be said about a run before it begins. It is computed from the options: nothing is simulated.
//
// The formulas are fluid limits: averages that ignore randomness. They say when retries can keep a
// service down, and when a service must fail in any case. Only the run shows whether it collapses.
#pragma once

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "model/base/duration.h"
#include "model/base/statement.h"
#include "model/run/disturbance.h"
#include "model/run/outlook_formulas.h"
#include "model/run/workload.h"
#include "model/service/picker.h"
#include "model/service/service_options.h"

namespace retrystorm {

// The settings of the run, after --scale.
struct OutlookInput {
  WorkloadOptions workload{};
  std::optional<ServiceOptions> service{};  // empty if unknown, as in the real client
  std::optional<Disturbance> outage{};      // empty without one
  HostSettings hosts{};                     // `service` is all of them together
  // If the outage hits only some hosts: that. `outage` is then a loss of their share of the capacity.
  std::optional<Disturbance> outage_of_some{};
  void note_outage_of_some() {
    const auto all = static_cast<double>(hosts.replicas);
    const auto well = all - static_cast<double>(hosts.hit());
    if (!outage || well <= 0 || outage->kind == Disturbance::Kind::kLoadStep) return;
    outage_of_some = std::exchange(outage, Disturbance{Disturbance::Kind::kCapacity, well / all});
  }
  // The factor on the load that lasts to the end.
  double load_at_end() const {
    const bool lasts =
        outage && outage->kind == Disturbance::Kind::kLoadStep && outage_for == kRise;
    return lasts ? outage->value : 1;
  }
  Duration outage_for{0};
  Duration calm{0};        // how long the run is before the outage
  Duration length{0};      // of the whole run; 0: not known
  Duration turnaround{0};  // the least time from the end of an attempt to the client's next one
  // Were options given that open arrivals do not use?
  bool clients_given = false, think_time_given = false;
};

// Rates are per second. A rate or count without a limit is infinite.
struct Outlook {
  static constexpr double kUnlimited = retrystorm::kUnlimited;

  struct Service {
    double capacity = kUnlimited;  // how many requests it can serve
    bool rate_limited = false;     // is the capacity that of the rate limit?
    double used = 0;               // share of the capacity, before the outage; 0 without a limit
    Duration p50{0}, p99{0};       // of the service time, when idle
    // With more requests than this, answers come after the timeout. Workers: requests that wait.
    // Curve: requests in the service.
    double late_from = kUnlimited;
    // The limit on the requests that wait (workers) or are in the service (curve).
    double bound = kUnlimited;
    // Do the settings ensure that every request served is answered in time, if refusals cost nothing?
    bool in_time = false;
  };

  // What becomes of the attempts while all of them fail in one way.
  struct Failing {
    // What allows fewer attempts than the clients want: a budget, or the connections of the pools.
    enum class Limit { kNone, kHedgeBudget, kBudget, kPools, kClientRate };

    double attempts = 1;  // of a request, at most
    double rate = 0;      // attempts
    bool again = true;    // is such a failure retried?
    Duration takes{0};    // an attempt that fails
    Duration lasts{0};    // a request, with the median waits
    Limit limit = Limit::kNone;
    double at_first = 0;  // until the budget is empty: attempts
  };

  struct Retries {
    double attempts = 1;            // of a request, at most
    Failing timeouts{};             // no answer comes in time
    Failing errors{};               // the answer is an error, or the connection is refused
    bool may_err = false;           // does the outage, the service or its overload give errors?
    bool turns_away = false;        // does the service turn away what is too much for it?
    double hedges = 0;              // of these attempts
    Duration hedge_delay{0};        // until a hedge is sent; of a percentile before the outage
    std::vector<Duration> waits{};  // the medians of the first waits
    bool usual_waits = false;       // retries without any option of their waits?
    // Of workers: can retries alone keep the service busy? If not: by how many requests a second its queue shrinks.
    bool can_hold = false;
    std::optional<double> drain{};

    // How attempts fail while more come than can be served.
    const Failing& overload() const { return turns_away ? errors : timeouts; }
  };

  // Clients that have lost their connections and come back.
  struct Herd {
    Duration window{0};  // over which they come
    double rate = 0;     // of connects, while they come; infinite if all come at once
    // Of a service whose capacity is known. A client makes its connect, and its request if it has wanted one by then.
    double room =
        kUnlimited;        // requests that it can serve beside the load; 0 if the load takes all
    double piles_up = 0;   // requests that are served only after the window, at most
    bool in_time = true;   // are those answered in time?
    Duration advised{0};   // the shortest window in which they are
    Duration all_room{0};  // the shortest window at whose end no more come than there is room for
    // The base of the first wait with such a window, rounded up to two digits. 0 if the window is that
    // long already, or if the base alone does not make it so.
    Duration base_for_room{0};
  };

  // Kept ones.
  struct Connections {
    double open = 0;  // about how many all have before the outage
    // The attempts that can be in flight at a time, if clients may want more. Others wait in line.
    double room = kUnlimited;
    // The attempts a second that they let through an idle service, if it could serve more.
    double through = kUnlimited;
  };

  // The settings. A job has no more workers than tasks.
  OutlookInput input{};
  double wanted = 0;  // requests per second
  std::size_t processes = 0;
  // A budget that saves the deposits of the time `of`, where the calm before the outage is shorter.
  struct Saves {
    Duration of{0}, calm{0};
  };
  std::optional<Saves> budget_saves{};
  bool gates = false;  // some whose effect is not computed
  double client_rate =
      kUnlimited;  // attempts a second that all processes send at most, if that is given
  std::optional<Connections> connections{};  // empty if each attempt opens one
  std::optional<Service> service{};
  Statements graph{};  // about services behind services, of which `service` says nothing
  std::set<std::string> set_by_services{};  // the options that each of them has of its own
  Retries retries{};
  bool outage = false;  // is there one?
  // Of workers after an outage: how long its queue takes to be served, at most, while all further attempts fail. It
  // includes the retries that the budget has saved. Empty if it does not shrink.
  std::optional<Duration> drains_in{};
  std::optional<Herd> herd{};
  // Can SYNs be dropped that the clients' kernels repeat before an attempt times out?
  bool repeats_syns = false;
  Statements warnings{};  // what cannot work, or does not do what it seems to

  bool open() const { return input.workload.arrivals == Arrivals::kOpen; }
  double clients() const { return open() ? 0 : static_cast<double>(input.workload.clients); }
  bool of_workers() const { return input.service && input.service->capacity == Capacity::kWorkers; }
  bool multiplexed() const { return input.workload.connections.multiplexed(); }
  bool has_outage(Disturbance::Kind kind) const {
    return input.outage && input.outage->kind == kind;
  }

  // Are errors retried, but no timeouts? Then it decides which of them a service with too many requests
  // gives.
  bool hangs_on_rejections() const {
    return of_workers() && !retries.turns_away && retries.errors.attempts > 1 &&
           retries.timeouts.attempts == 1;
  }
};

// Half of the requests that may wait so that the last one is still answered in time, for --queue-length. Nothing if
// the answers of these workers are in time, or never can be.
std::optional<std::size_t> advised_queue_length(const Outlook& outlook);

// Sets in `input` which options of `asked` were given although open arrivals do not use them.
void note_unused_by_open_arrivals(OutlookInput& input, const WorkloadOptions& asked);

Outlook look_ahead(const OutlookInput& input);

// A figure of an outlook: a row of a table, from which its JSON and what --explain prints follow.
struct OutlookFigure {
  enum class Unit { kCount, kPerSecond, kShare, kTime };
  enum class Shown { kEverywhere, kJson, kExplained };

  // Its key in JSON, where "idle_ms.p50" is a member of an object, and the id of its words.
  std::string_view id;
  Unit unit;
  // A time is in the unit that its key names.
  std::variant<double, std::size_t, bool, Duration, std::vector<Duration>> value;
  Shown shown = Shown::kEverywhere;
};

std::vector<OutlookFigure> outlook_figures(const Outlook& outlook);

// The outlook of a row of a table, or of clients of one kind, with its name: "strategy=fixed". Empty: of the run.
struct OutlookOfRow {
  std::string row{};
  Outlook outlook{};
};

// The names of the options on which the answer hangs most. Few people know that they need them.
std::vector<std::string> deciding_options(const Outlook& outlook);

// What it does: "frozen", "3 times the load".
Statement statement_of(const Disturbance& disturbance);

// A number as people write it: "1,200", "33.3"; "unlimited".
std::string readable(double number);
// The same of a duration: "1m22s", "215ms".
std::string readable(Duration duration);

// The longest that a request takes, with the median waits, if all its attempts time out. `Duration::max()`
// without a limit.
Duration longest_request(const RetrySettings& retry, Duration timeout);

class Storm;

// That so small a share of the hosts is none, and which share would be one.
Statement ejects_none(const HostSettings& hosts);

// Adds the warnings to an outlook that is otherwise complete.
void warn(Outlook& outlook, const Storm& storm);

// Parts of that: of retries alone, without any service ...
Statements warnings_of(const RetrySettings& retry);

// ... and of the calls of a service whose capacity is known: their client rate or their connections let
// through less than is wanted, or most of them are hedged.
Statements warnings_of_limited_calls(const Outlook& outlook);
Statements warnings_of_hedges(const Outlook& outlook);

}  // namespace retrystorm
