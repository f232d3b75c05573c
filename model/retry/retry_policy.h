// How a client decides: what becomes of a request after each of its attempts.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "model/base/duration.h"
#include "model/base/random.h"
#include "model/retry/attempt_result.h"
#include "model/retry/backoff.h"
#include "model/retry/give_up.h"
#include "model/retry/pacer.h"
#include "model/retry/process_parts.h"
#include "model/retry/retry_settings.h"
#include "model/retry/retry_state.h"

namespace retrystorm {

// What follows an attempt.
struct Decision {
  Duration wait{0};                 // before the retry, or before the think time
  bool retry = false;               // the same request once more
  std::optional<GiveUp> gave_up{};  // the request has failed for good
};

// What the policies did, summed over the clients that share the object.
struct RetryMetrics {
  std::uint64_t invocations = 0;  // outcomes seen
  std::uint64_t ups = 0;          // pacer: steps up
  std::uint64_t downs = 0;        // pacer: steps down
  std::uint64_t sleeps = 0;       // waits asked for, think times apart
  Duration total_sleep{0};

  RetryMetrics& operator+=(const RetryMetrics& other);
};

// A policy, made of parts. It is a rule without memory, shared by all clients and threads: what it
// remembers of a client is in that client's `RetryState`, of a process in its `RetryProcess`. It
// never sleeps and never asks the time: it is told, and answers "wait so long".
//
// An engine calls `begin_request`, then before each sending `may_send`, and after each attempt
// `after`; if it was not to be sent, `after_refusal`. `process` is the client's, null where
// `has_process` is false.
class RetryPolicy {
 public:
  explicit RetryPolicy(const RetrySettings& settings);

  // Has an attempt of the request at hand been asked for?
  static bool has_begun(const RetryState& state) { return state.begun != kNotBegun; }

  // An attempt of the request at hand is asked for: `may_send` does it too. For an engine that need
  // not ask.
  static void begin(RetryState& state, TimePoint now) {
    if (!has_begun(state)) state.begun = now;
  }

  // Must `may_send` be asked? Otherwise everything may be sent.
  bool asks() const { return has_process() || limit_.has_deadline(); }

  // Who is told to wait for permission: do the clients of a process stand in line, so that only one
  // of them asks again now and then? If each did, hundreds would wake for every token, and all but
  // one in vain. Only with a deadline must each look by itself, for it may pass in the line.
  bool waits_in_line() const { return !limit_.has_deadline(); }

  // What is left of the request's deadline; `Duration::max()` without one. An attempt that begins
  // now lasts no longer.
  Duration time_left(TimePoint now, const RetryState& state) const {
    return limit_.has_deadline() ? saturating_add(state.begun, limit_.deadline) - now
                                 : Duration::max();
  }

  // Does it have parts that clients share?
  bool has_process() const { return shared_.any(); }
  // The shared parts of one process, at this time. Owned by the engine.
  std::unique_ptr<RetryProcess> make_process(TimePoint now) const;

  // A new request is to be sent after `think_time`.
  void begin_request(RetryState& state, Duration think_time) const {
    state.retries = 0;
    state.paid = 0;
    state.begun = kNotBegun;
    backoff_.begin_request(state, think_time);
  }

  // May the next attempt be sent now?
  Permission may_send(TimePoint now, RetryState& state, RetryProcess* process,
                      Random& random) const {
    const bool first = !has_begun(state);
    begin(state, now);
    return asks() ? ask(now, first, state, process, random) : Permission();
  }

  // An attempt that was sent has ended.
  Decision after(TimePoint now, const AttemptResult& result, RetryState& state,
                 RetryProcess* process, Random& random, RetryMetrics& metrics) const {
    ++metrics.invocations;
    if (process != nullptr) tell(now, result, state, *process);
    if (result.outcome != Outcome::kOk) {
      return after_failure(now, result, state, process, random, metrics);
    }
    // Most attempts succeed, and nothing follows.
    return state.pause == Duration::zero() ? Decision() : pause(state, random, metrics);
  }

  // What follows where `may_send` said that an attempt is refused, or too late.
  Decision after_refusal(TimePoint now, Permission::Kind why, RetryState& state,
                         RetryProcess* process, Random& random, RetryMetrics& metrics) const;

 private:
  static constexpr TimePoint kNotBegun = TimePoint::max();

  Permission ask(TimePoint now, bool first, RetryState& state, RetryProcess* process,
                 Random& random) const;
  Permission ask_process(TimePoint now, bool first, RetryState& state, RetryProcess& process,
                         Random& random) const;
  void tell(TimePoint now, const AttemptResult& result, RetryState& state,
            RetryProcess& process) const;
  // Of a client that paces itself, after a success.
  Decision pause(RetryState& state, Random& random, RetryMetrics& metrics) const;
  Decision after_failure(TimePoint now, const AttemptResult& result, RetryState& state,
                         RetryProcess* process, Random& random, RetryMetrics& metrics) const;
  Decision give_up(GiveUp reason, TimePoint now, RetryState& state, RetryProcess* process,
                   Random& random, RetryMetrics& metrics) const;
  // Whether the limits allow a retry after so long a wait, which they may shorten.
  std::optional<GiveUp> limited(TimePoint now, const RetryState& state, Duration& wait) const;
  Duration step_up(RetryState& state, Random& random, RetryMetrics& metrics) const;
  Decision retry(Duration wait, RetryState& state, Random& random, RetryMetrics& metrics) const;

  LimitSettings limit_;
  Backoff backoff_;
  HintSettings hint_;
  std::optional<Pacer> pacer_;
  ProcessSettings shared_;
  WhenRefused when_refused_;
};

}  // namespace retrystorm
