// The parts of a policy that a whole process shares: its retry budget and its gates.
//
// A process is a group of clients, like the callers that share an SDK's client object. Each part
// has its own interface, and a policy may have none of them. Not thread-safe: an engine with
// threads holds a lock of the process around each call.
#pragma once

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/base/random.h"
#include "model/retry/attempt.h"
#include "model/retry/hedge.h"

namespace retrystorm {

struct RetrySwitchSettings {
  static constexpr double kNone = std::numeric_limits<double>::infinity();

  double share = kNone;  // of failed attempts: retries are off while more fail
  Duration after = std::chrono::seconds(30);

  bool on() const { return share != kNone; }
};

void declare_options(OptionList& options, RetrySwitchSettings& settings);

// Retries are off once more than this share of the attempts has failed in each second for `after`, and on again
// once that was so in no second for as long. A second in which no attempt ended changes nothing.
// Source: RetryGuard (arXiv 2511.23278), algorithm 1. Simpler here: each process decides by what it
// sees itself, any failure counts, and retries are on at first. Not thread-safe.
class RetrySwitch {
 public:
  RetrySwitch(const RetrySwitchSettings& settings, TimePoint now)
      : settings_(settings), since_(now), second_ends_(now + kSecond) {}

  void attempt_ended(TimePoint now, bool failed);
  // May another attempt of a request be sent, a retry or a hedge?
  bool lets_retry(TimePoint now);

 private:
  static constexpr Duration kSecond = std::chrono::seconds(1);

  void advance(TimePoint now);

  RetrySwitchSettings settings_;
  bool off_ = false;
  bool high_ = false;  // did too many fail in the last second that counts?
  TimePoint since_;    // when the first of the seconds began that were all as that one
  TimePoint second_ends_;
  std::uint64_t ended_ = 0, failed_ = 0;  // in this second
};

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
