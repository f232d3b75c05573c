// The retry policy: decides what happens to a request after each of its attempts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>

#include "model/base/duration.h"
#include "model/base/random.h"
#include "model/retry/attempt.h"
#include "model/retry/backoff.h"
#include "model/retry/hedge.h"
#include "model/retry/process_parts.h"
#include "model/retry/retry_on.h"
#include "model/retry/retry_settings.h"

namespace retrystorm {

// What the client does after an attempt.
struct Decision {
  Duration wait{0};                 // before the retry, or before the think time
  bool retry = false;               // send the same request again
  std::optional<GiveUp> gave_up{};  // the request has finally failed
};

// What the policies did, summed over the clients that share this object.
struct RetryMetrics {
  std::uint64_t invocations = 0;  // outcomes seen
  std::uint64_t ups = 0;          // pacer: steps up
  std::uint64_t downs = 0;        // pacer: steps down
  std::uint64_t sleeps = 0;       // waits asked for, without think times
  Duration total_sleep{0};
  RetryOn not_retryable{};  // the failures that ended requests because they are not retried

  RetryMetrics& operator+=(const RetryMetrics& other);
};

// A policy, made of parts. It has no state and is shared by all clients and threads. The state of a
// client is in its `RetryState`, that of a process in its `RetryProcess`. The policy never sleeps
// and never reads a clock: it is passed the time, and returns how long to wait.
//
// An engine calls `begin_request`, then `may_send` before each attempt, and `after` when the
// attempt has ended. If the attempt may not be sent, it calls `after_refusal` instead. `process` is
// the client's process; null if `has_process` is false.
class RetryPolicy {
 public:
  explicit RetryPolicy(const RetrySettings& settings);

  // Has an attempt of the current request been asked for?
  static bool has_begun(const RetryState& state) { return state.begun != kNotBegun; }

  // Records that an attempt of the current request is asked for. `may_send` does so too: this is
  // for an engine that does not have to call it.
  static void begin(RetryState& state, TimePoint now) {
    if (!has_begun(state)) state.begun = now;
  }

  // Must `may_send` be called? If not, every attempt may be sent.
  bool asks() const { return has_process() || limit_.has_deadline(); }

  // Do the clients of a process that wait for permission form a queue, so that only one of them
  // asks again from time to time? If each asked, hundreds would wake for every token, and all but
  // one in vain. With a deadline each client must ask for itself, because the deadline may pass
  // while it is in the queue. Those of a given rate need none: each has its token once it has asked.
  bool waits_in_line() const {
    return !limit_.has_deadline() && shared_.client_rate.kind != ClientRateSettings::Kind::kFixed;
  }

  // The time left until the request's deadline; `Duration::max()` without one. An attempt that
  // begins now lasts no longer than this.
  Duration time_left(TimePoint now, const RetryState& state) const {
    return limit_.has_deadline() ? saturating_add(state.begun, limit_.deadline) - now
                                 : Duration::max();
  }

  // Does the policy have parts that clients share?
  bool has_process() const { return shared_.any() || hedge_.shares(); }
  // Makes the shared parts of one process. The engine owns them.
  std::unique_ptr<RetryProcess> make_process(TimePoint now) const;

  // Starts a new request, to be sent after `think_time`.
  void begin_request(RetryState& state, Duration think_time) const {
    state.retries = 0;
    state.paid = 0;
    state.reserved = 0;
    state.begun = kNotBegun;
    backoff_.begin_request(state, think_time);
  }

  // May the next attempt be sent now? `ends_in`: when the request ends in any case, because its caller gives up.
  Permission may_send(TimePoint now, RetryState& state, RetryProcess* process, Random& random,
                      Duration ends_in = Duration::max()) const {
    const bool first = !has_begun(state);
    begin(state, now);
    return asks() ? ask(now, first, state, process, random, ends_in) : Permission();
  }

  // Decides what follows an attempt that was sent and has ended.
  Decision after(TimePoint now, const AttemptResult& result, RetryState& state,
                 RetryProcess* process, Random& random, RetryMetrics& metrics) const {
    attempt_ended(now, result, state, process);
    return after_recorded(now, result, state, process, random, metrics);
  }

  // The same in two steps, for hedged requests, which have several attempts at a time: `attempt_ended` for
  // each attempt that was sent and not cancelled, then `after_recorded` if its result is that of the request.
  // `own` is the state of the request for the attempt that it was begun or retried with, and for a hedge
  // its own.
  void attempt_ended(TimePoint now, const AttemptResult& result, RetryState& own,
                     RetryProcess* process) const {
    if (process != nullptr) record(now, result, own, *process);
  }
  Decision after_recorded(TimePoint now, const AttemptResult& result, RetryState& state,
                          RetryProcess* process, Random& random, RetryMetrics& metrics) const {
    ++metrics.invocations;
    if (result.outcome != Outcome::kOk) {
      return after_failure(now, result, state, process, random, metrics);
    }
    if (process != nullptr && process->budget) process->budget->request_ends(now, state);
    // Most attempts succeed, and then there is nothing to do.
    return state.pause == Duration::zero() ? Decision() : pause(state, random, metrics);
  }
  // Another attempt of the request has won.
  void attempt_cancelled(TimePoint now, RetryState& own, RetryProcess* process) const;

  // Decides what follows when `may_send` returned that an attempt is refused or too late.
  Decision after_refusal(TimePoint now, Permission::Kind why, RetryState& state,
                         RetryProcess* process, Random& random, RetryMetrics& metrics) const;

 private:
  static constexpr TimePoint kNotBegun = TimePoint::max();

  Permission ask(TimePoint now, bool first, RetryState& state, RetryProcess* process,
                 Random& random, Duration ends_in) const;
  Permission ask_process(TimePoint now, bool first, RetryState& state, RetryProcess& process,
                         Random& random) const;
  void record(TimePoint now, const AttemptResult& result, RetryState& state,
              RetryProcess& process) const;
  // The pause of a client with a pacer after a success.
  Decision pause(RetryState& state, Random& random, RetryMetrics& metrics) const;
  Decision after_failure(TimePoint now, const AttemptResult& result, RetryState& state,
                         RetryProcess* process, Random& random, RetryMetrics& metrics) const;
  Decision give_up(GiveUp reason, TimePoint now, RetryState& state, RetryProcess* process,
                   Random& random, RetryMetrics& metrics) const;
  // The reason why the limits forbid a retry after this wait, if they do. They may shorten the
  // wait.
  std::optional<GiveUp> limited(TimePoint now, const RetryState& state, Duration& wait) const;
  Duration step_up(RetryState& state, Random& random, RetryMetrics& metrics) const;
  Decision retry(Duration wait, RetryState& state, Random& random, RetryMetrics& metrics) const;

  LimitSettings limit_;
  Backoff backoff_;
  HintUseSettings hint_;
  std::optional<Pacer> pacer_;
  ProcessSettings shared_;
  HedgeSettings hedge_;
  WhenRefused when_refused_;
};

// What a request does that has several attempts at a time.
struct HedgeMove {
  enum class Kind {
    kGoesOn,
    kWait,  // then the next attempt is due; an earlier wait counts no more
    kSend,  // the next attempt now
    kOver,  // what failed is the result of the request: the attempt, or after `due` that none may be sent
  };
  Kind kind = Kind::kGoesOn;
  Duration wait{0};
  bool fails = false;    // it counts among those that are being retried
  bool idles = false;    // from now on nothing is under way
  bool resumes = false;  // that is over
  Permission::Kind permission = Permission::Kind::kSend;  // of the attempt that was due
};

// The rules of such requests, by which both engines go: they tell what happens, and do what it returns. It has no state,
// and is shared by all clients and threads. Sources: grpc/proposal A6, Finagle's BackupRequestFilter, and Envoy's
// hedge_on_per_try_timeout. `process` may be null.
class HedgePolicy {
 public:
  // A request, and what its client keeps.
  struct Asker {
    HedgeRace& race;
    RetryState& request;
    RetryState& hedge;  // of the attempt that comes next
    RetryProcess* process;
    Random& random;
    RetryMetrics& metrics;
    Duration left;     // of the request's time
    Duration ends_in;  // when its caller gives up
  };

  // `policy` must outlive this object.
  HedgePolicy(const RetrySettings& settings, const RetryPolicy& policy)
      : settings_(settings.hedge),
        hint_(settings.hint),
        retry_on_(settings.limit.retry_on),
        policy_(policy) {}

  bool any() const { return settings_.any(); }
  bool at_timeout() const { return settings_.on == HedgeOn::kTimeout; }
  bool cancels() const { return settings_.cancel; }

  // An attempt is sent now. How long after it the next one is due. `Duration::max()`: none is.
  Duration sent(TimePoint now, bool hedge, HedgeRace& race, RetryProcess* process) const;
  // An attempt has failed, which is not final, and is no longer under way. `retried`: of this attempt, as in `late`.
  HedgeMove failed(TimePoint now, const AttemptResult& failure, bool& retried, Asker asker) const;
  // An attempt is late, and goes on. Each is retried once: `retried` is where its engine keeps whether it was.
  HedgeMove late(TimePoint now, const AttemptResult& failure, bool& retried, Asker asker) const;
  // The wait for the next attempt is over.
  HedgeMove due(TimePoint now, Asker asker) const;

  // An attempt that was sent has ended, or was cancelled as another one had won. `own`: as `RetryPolicy::attempt_ended`
  // has it.
  void ended(TimePoint now, const AttemptResult& result, RetryState& own,
             RetryProcess* process) const {
    add_latency(now, result, process);
    policy_.attempt_ended(now, result, own, process);
  }
  void cancelled(TimePoint now, Duration latency, RetryState& own, RetryProcess* process) const {
    add_latency(now, timed_out(latency), process);
    policy_.attempt_cancelled(now, own, process);
  }

  // Does this result of an attempt end its request, whatever becomes of the others: a success, or a
  // failure that is not retried?
  bool is_final(const AttemptResult& result) const {
    return result.outcome == Outcome::kOk || result.no_retry || !retry_on_.covers(result);
  }

  // May another one be sent, as far as the number and the budgets are concerned? If so, charges the budgets.
  // `hedge`: the state of the new attempt. Without a budget that would pay, there are no more for this
  // request.
  bool pay(TimePoint now, HedgeRace& race, RetryState& hedge, RetryProcess* process) const;

 private:
  bool has_more(const HedgeRace& race) const {
    return !at_timeout() && !race.stopped && race.hedges < settings_.most;
  }
  static void add_latency(TimePoint now, const AttemptResult& result, RetryProcess* process) {
    if (process == nullptr || !process->hedges) return;
    if (result.outcome != Outcome::kError) process->hedges->add_latency(now, result.latency);
  }

  HedgeSettings settings_;
  HintUseSettings hint_;
  RetryOn retry_on_;
  const RetryPolicy& policy_;
};

}  // namespace retrystorm
