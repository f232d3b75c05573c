// The parts of a policy that a whole process shares: its retry budget and its gates.
//
// A process is a group of clients, as an SDK's client object serves many callers. Each part is an
// interface of its own: a policy without one asks nobody. Not for use from two threads at once; an
// engine with threads holds a lock of the process around each call.
#pragma once

#include <memory>
#include <vector>

#include "model/base/duration.h"
#include "model/base/random.h"
#include "model/retry/attempt_result.h"
#include "model/retry/retry_state.h"

namespace retrystorm {

// Whether an attempt may be sent now.
struct Permission {
  enum class Kind {
    kSend,
    kWait,     // for `wait`: then it is to be asked again, and may well say the same
    kRefused,  // by a gate
    kTooLate,  // the request's deadline has passed
  };

  Kind kind = Kind::kSend;
  Duration wait{0};
};

// Whether a failed request may be retried at all, by how many others are. Told of a failure that is
// not retried, whatever it was, as of a permanent one.
class RetryBudget {
 public:
  virtual ~RetryBudget() = default;

  virtual void request_begins(TimePoint /*now*/) {}
  virtual void attempt_sent(TimePoint /*now*/, RetryState&) {}
  virtual void attempt_ended(TimePoint /*now*/, const AttemptResult&, RetryState&) {}

  // May this failure, of whatever kind, be retried? Charges the retry if so.
  // `attempt_ended` was called for it before.
  virtual bool withdraw(TimePoint now, const AttemptResult& result, RetryState& state) = 0;

  // The request is over: it succeeded, or was given up, also because a gate refused its retry.
  virtual void request_ends(TimePoint /*now*/, RetryState&) {}
};

// Whether an attempt may be sent, the first one of a request too. What it lets through is sent at
// once, unless it is taken back.
class Gate {
 public:
  virtual ~Gate() = default;

  virtual Permission ask(TimePoint now, Random& random) = 0;

  // Another gate refused, at the same time, what this one had let through: as if it had not been
  // asked.
  virtual void take_back(TimePoint /*now*/) {}

  // An attempt that was sent has ended: each one, whatever its end. It was sent at
  // `now - result.latency`.
  virtual void attempt_ended(TimePoint now, const AttemptResult& result) = 0;
};

// What one process has of them.
struct RetryProcess {
  std::unique_ptr<RetryBudget> budget;  // null without one
  std::vector<std::unique_ptr<Gate>> gates;
};

}  // namespace retrystorm
