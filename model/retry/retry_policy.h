// How a client decides: what becomes of a request after each of its attempts.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>

#include "model/base/duration.h"
#include "model/base/random.h"
#include "model/retry/attempt_result.h"
#include "model/retry/backoff.h"
#include "model/retry/pacer.h"
#include "model/retry/process_parts.h"
#include "model/retry/retry_settings.h"
#include "model/retry/retry_state.h"

namespace retrystorm {

// Why a request has failed for good.
enum class GiveUp : std::uint8_t {
  kRetriesUsedUp,  // as many retries as the limit allows
  kBudget,         // the retry budget of its process was empty
  kRefused,        // a gate of its process did not let it be sent
  kPermanent,      // a failure of a kind that is not retried
};
inline constexpr std::size_t kGiveUps = 4;

std::string_view to_string(GiveUp reason);

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
// `after`. `process` is the client's, null where `has_process` is false.
class RetryPolicy {
 public:
  explicit RetryPolicy(const RetrySettings& settings);

  // Has an attempt of the request at hand been asked for?
  static bool has_begun(const RetryState& state) { return state.begun != kNotBegun; }

  // An attempt of the request at hand is asked for: `may_send` does it too. For an engine without
  // processes, which need not ask.
  static void begin(RetryState& state, TimePoint now) {
    if (!has_begun(state)) state.begun = now;
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
    return process == nullptr ? Permission() : ask(now, first, state, *process, random);
  }

  // An attempt that was sent has ended.
  Decision after(TimePoint now, const AttemptResult& result, RetryState& state,
                 RetryProcess* process, Random& random, RetryMetrics& metrics) const {
    ++metrics.invocations;
    // Most attempts succeed, and nothing follows.
    const bool nothing_follows =
        result.outcome == Outcome::kOk && process == nullptr && state.pause == Duration::zero();
    return nothing_follows ? Decision() : decide(now, result, state, process, random, metrics);
  }

  // An attempt was refused by `may_send`.
  Decision after_refusal(TimePoint now, RetryState& state, RetryProcess* process, Random& random,
                         RetryMetrics& metrics) const;

 private:
  static constexpr TimePoint kNotBegun = TimePoint::max();

  Permission ask(TimePoint now, bool first, RetryState& state, RetryProcess& process,
                 Random& random) const;
  Decision decide(TimePoint now, const AttemptResult& result, RetryState& state,
                  RetryProcess* process, Random& random, RetryMetrics& metrics) const;
  Decision after_success(RetryState& state, Random& random, RetryMetrics& metrics) const;
  Decision give_up(GiveUp reason, RetryState& state, Random& random, RetryMetrics& metrics) const;
  std::optional<GiveUp> reason_to_give_up(TimePoint now, const AttemptResult& result,
                                          RetryState& state, RetryProcess* process) const;
  Duration step_up(RetryState& state, Random& random, RetryMetrics& metrics) const;
  Decision back_off(const AttemptResult& result, RetryState& state, Random& random,
                    RetryMetrics& metrics) const;

  Backoff backoff_;
  HintSettings hint_;
  std::uint32_t max_retries_;
  std::optional<Pacer> pacer_;
  ProcessSettings shared_;
  WhenRefused when_refused_;
};

}  // namespace retrystorm
