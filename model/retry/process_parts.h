// The parts of a policy that a whole process shares: its retry budget and its gates.
//
// A process is a group of clients, like the callers that share an SDK's client object. Each part
// has its own interface, and a policy may have none of them. Not thread-safe: an engine with
// threads holds a lock of the process around each call.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "model/base/duration.h"
#include "model/base/random.h"
#include "model/retry/attempt_result.h"
#include "model/retry/hedge.h"
#include "model/retry/retry_state.h"
#include "model/retry/retry_switch.h"

namespace retrystorm {

// Whether an attempt may be sent now.
struct Permission {
  enum class Kind {
    kSend,
    kWait,     // for `wait`; then ask again, and the answer may be the same
    kRefused,  // by a gate
    kTooLate,  // the request's deadline has passed
  };

  Kind kind = Kind::kSend;
  Duration wait{0};
  bool reserved =
      false;  // kWait: after this wait, the gate that was asked lets the attempt through
};

// Decides whether a failed request may be retried, given how many others are. A failure that the
// policy does not retry is passed to it as a permanent one, whatever its kind.
class RetryBudget {
 public:
  virtual ~RetryBudget() = default;

  virtual void request_begins(TimePoint /*now*/) {}
  virtual void attempt_sent(TimePoint /*now*/, RetryState&) {}
  virtual void attempt_ended(TimePoint /*now*/, const AttemptResult&, RetryState&) {}

  // May this failure, of any kind, be retried? If so, charges the budget for the retry.
  // `attempt_ended` must have been called for it before.
  virtual bool withdraw(TimePoint now, const AttemptResult& result, RetryState& state) = 0;

  // An attempt was cancelled because another one of its request has won.
  virtual void attempt_cancelled(TimePoint /*now*/, RetryState&) {}

  // The request is over: it succeeded or was given up. A gate may have refused its retry.
  virtual void request_ends(TimePoint /*now*/, RetryState&) {}
};

// Decides whether an attempt may be sent, including the first one of a request. An attempt that it
// lets through is sent at once, unless `take_back` is called.
class Gate {
 public:
  virtual ~Gate() = default;

  // Only the first gate of a process may reserve the end of a wait.
  virtual Permission ask(TimePoint now, Random& random) = 0;

  // Undoes an `ask` that let an attempt through or reserved the end of a wait, because another gate refused
  // it at the same time, or its request has ended by then.
  virtual void take_back(TimePoint /*now*/) {}

  // Called for each attempt that was sent, however it ended. It was sent at `now - result.latency`.
  virtual void attempt_ended(TimePoint now, const AttemptResult& result) = 0;

  // An attempt that was sent was cancelled because another one of its request has won.
  virtual void attempt_cancelled(TimePoint /*now*/) {}
};

// The shared parts of one process.
struct RetryProcess {
  std::unique_ptr<RetryBudget> budget;  // null without one
  std::vector<std::unique_ptr<Gate>> gates;
  std::optional<RetrySwitch> retry_switch{};
  std::unique_ptr<HedgeProcess> hedges{};  // null if nothing is shared for hedges
};

}  // namespace retrystorm
