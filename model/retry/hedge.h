// Hedging: another attempt of a request is sent while the earlier ones are still under way, and the
// first good answer counts.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "model/base/duration.h"
#include "model/base/latency.h"
#include "model/base/option_list.h"
#include "model/base/sliding_window.h"

namespace retrystorm {

// When a hedge is sent.
enum class HedgeOn {
  kDelay,    // when no attempt has ended after some time (gRPC A6, Finagle, Polly)
  kTimeout,  // when an attempt has timed out, which goes on: a retry beside it (Envoy)
};

struct HedgeSettings {
  static constexpr double kNoBudget = std::numeric_limits<double>::infinity();

  Duration delay = Duration::max();  // since the last attempt was sent; max = none
  double percentile = 0;             // replaces `delay`: of the process's own latencies; 0 = none
  std::uint32_t most = 1;            // hedges of a request
  bool cancel = true;                // are the other attempts cancelled when one has won?
  double budget = kNoBudget;         // hedges as a share of the requests, beside kFree a second
  HedgeOn on = HedgeOn::kDelay;

  bool any() const { return by_delay() || on == HedgeOn::kTimeout; }
  // Do the clients of a process share something for it?
  bool shares() const {
    return by_delay() && on == HedgeOn::kDelay && (percentile > 0 || budget != kNoBudget);
  }

  // Finagle's: hedges a second that a budget always allows, and how long it counts requests.
  static constexpr double kFree = 10;
  static constexpr Duration kBudgetSpan = std::chrono::seconds(10);

 private:
  bool by_delay() const { return delay != Duration::max() || percentile > 0; }
};

void declare_options(OptionList& options, HedgeSettings& settings);

// What the clients of a process share for their hedges: the history of latencies, and the budget.
// Finagle's BackupRequestFilter: a history of 30 s, read every 3 s, and its percentile counts as 1 ms
// at least. Not thread-safe.
class HedgeProcess {
 public:
  HedgeProcess(const HedgeSettings& settings, TimePoint now);

  void request_begins(TimePoint now);
  // How long after an attempt the next one is sent. `Duration::max()` while there is no history.
  Duration delay(TimePoint now);
  // May a hedge be sent? If so, it is charged to the budget.
  bool withdraw(TimePoint now);
  // An attempt took so long: it succeeded, timed out, or was cancelled because another one had won.
  // Quick failures would make the history too short.
  void add_latency(TimePoint now, Duration latency);

 private:
  static constexpr std::size_t kSlices = 3, kBudgetSlices = 10;
  static constexpr Duration kSlice = std::chrono::seconds(10), kRefresh = std::chrono::seconds(3);
  static constexpr Duration kLeast = std::chrono::milliseconds(1);

  const HedgeSettings settings_;
  std::array<LatencyHistogram, kSlices> history_{};
  std::size_t newest_ = 0;
  TimePoint slice_ends_, refresh_at_;
  Duration delay_ = Duration::max();
  SlidingWindow<double> balance_;  // of the budget, in hedges
};

// The attempts of a request that are under way, as the rules see them (`HedgePolicy`). An engine keeps one for each
// request.
struct HedgeRace {
  std::uint32_t in_flight = 0;  // attempts, the first one included; the engine counts them
  std::uint32_t hedges = 0;     // sent, of the current request
  bool stopped = false;  // the budget of the process or a gate has refused one: no more of them
  bool waits = false;    // another one is due after a wait
  bool paid = false;     // the budgets have paid for that one
  bool idle = false;     // nothing is under way meanwhile: the request counts as waiting to retry
};

}  // namespace retrystorm
