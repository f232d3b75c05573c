// The part of `RequestRunner` for requests that have several attempts at a time. It follows the same rules
// as simulator/hedged_calls.cc.
#include <algorithm>
#include <condition_variable>
#include <deque>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "common/calls/request_runner.h"
#include "common/os/process.h"

namespace retrystorm {

// One attempt. A thread of its own sends it.
struct RequestRunner::HedgedAttempt {
  explicit HedgedAttempt(const Client& of) : client(of) {}

  Client client;  // as it was when the attempt was sent
  CalledHosts::Host host = 0;
  bool hedge = false;
  bool retried = false;  // it has timed out, and another one was sent beside it
  TimePoint sent{};
  Interruption interruption{};
  AttemptResult result{};
  std::string why{};
};

// What the client's thread and those of the attempts share.
struct RequestRunner::Race {
  std::mutex mutex;
  std::condition_variable changed;
  std::deque<std::shared_ptr<HedgedAttempt>> ended;  // that the client's thread has not seen
  bool over = false;
};

// One request, or of a request that is retried the attempts after one wait. On the client's thread.
class RequestRunner::Hedging {
 public:
  Hedging(RequestRunner& runner, Client& client, Request& request)
      : runner_(runner), policy_(runner.hedges_), client_(client), request_(request) {}

  std::optional<NextAttempt> run() {
    runner_.counts_.begin_hedged();
    launch(false);
    std::optional<NextAttempt> next;
    while (!next) {
      const auto ended = wait();
      if (runner_.waits_.stopping()) break;
      if (ended != nullptr) {
        next = take(*ended);
      } else if (next_at_ <= runner_.now()) {
        next_at_ = TimePoint::max();
        next = send_hedge(paid_);
      } else if (late_at_ <= runner_.now()) {
        late_at_ = TimePoint::max();
        retry_beside(*under_way_.back(), timed_out(runner_.timeout_));
      }
    }
    leave_others(next.has_value());
    idle_ ? runner_.counts_.end_wait_to_retry() : runner_.counts_.end_hedged();
    return next;
  }

 private:
  HedgeState& state() { return request_.hedges; }

  template <typename Ask>
  auto with_process(Ask ask) {
    return runner_.with_process(client_, ask);
  }

  // The state that the budgets know the attempt by.
  RetryState& own(HedgedAttempt& attempt) {
    return attempt.hedge ? attempt.client.state : client_.state;
  }

  void launch(bool hedge, const RetryState& state_of_hedge = {}) {
    runner_.counts_.send(std::exchange(request_.unsent, false));
    if (hedge) {
      runner_.counts_.hedge();
      ++state().hedges;
    }
    auto attempt = std::make_shared<HedgedAttempt>(client_);
    attempt->hedge = hedge;
    attempt->host = runner_.pick(client_, request_);
    attempt->sent = runner_.now();
    if (hedge) attempt->client.state = state_of_hedge;
    under_way_.push_back(attempt);
    state().in_flight = static_cast<std::uint32_t>(under_way_.size());
    const Duration delay = with_process(
        [&](RetryProcess* process) { return policy_.next_delay(attempt->sent, state(), process); });
    wait_to_hedge(delay, false);
    late_at_ =
        policy_.at_timeout() ? saturating_add(attempt->sent, runner_.timeout_) : TimePoint::max();
    const auto task = [&runner = runner_, race = race_, attempt](HttpAttempt& http) {
      runner.run_hedged_attempt(race, attempt, http);
    };
    if (runner_.attempt_threads_->start(task)) return;
    attempt->result = not_connected(Duration::zero());
    attempt->why = "this machine has no thread for it";
    if (runner_.hosts_) runner_.hosts_->ended(client_.number, attempt->host, nullptr);
    runner_.counts_.come_back();
    const std::scoped_lock lock(race_->mutex);
    race_->ended.push_back(attempt);
  }

  void wait_to_hedge(Duration wait, bool paid) {
    next_at_ = wait == Duration::max() ? TimePoint::max() : saturating_add(runner_.now(), wait);
    paid_ = paid;
  }

  // Until an attempt has ended, which is returned, or something is due.
  std::shared_ptr<HedgedAttempt> wait() {
    const TimePoint due = std::min(next_at_, late_at_);
    if (under_way_.empty()) {
      runner_.waits_.wait(std::max(due - runner_.now(), Duration::zero()));
      return nullptr;
    }
    const TimePoint until =
        due == TimePoint::max() ? due : saturating_add(runner_.made_at_, due - TimePoint{});
    std::unique_lock lock(race_->mutex);
    race_->changed.wait_until(lock, bounded(until), [&] { return !race_->ended.empty(); });
    if (race_->ended.empty()) return nullptr;
    auto ended = race_->ended.front();
    race_->ended.pop_front();
    return ended;
  }

  std::optional<NextAttempt> take(HedgedAttempt& attempt) {
    const bool newest = under_way_.back().get() == &attempt;
    if (newest) late_at_ = TimePoint::max();
    std::erase_if(under_way_, [&](const auto& each) { return each.get() == &attempt; });
    state().in_flight = static_cast<std::uint32_t>(under_way_.size());
    const TimePoint now = runner_.now();
    const AttemptResult& result = attempt.result;
    with_process([&](RetryProcess* process) {
      HedgePolicy::add_latency(now, result, process);
      runner_.behaviour_.policy().attempt_ended(now, result, own(attempt), process);
    });
    runner_.counts_.end_attempt(result, attempt.why);
    if (!policy_.is_final(result) && goes_on(attempt)) return std::nullopt;
    drop_others();
    const TimePoint begun = client_.state.begun;
    const auto decided = with_process([&](RetryProcess* process) {
      return runner_.behaviour_.after_recorded(now, result, client_.state, process, client_.random,
                                               client_.metrics);
    });
    const NextAttempt next = runner_.bounded_by_end(client_, result, decided);
    follow(now, begun, next);
    if (result.outcome == Outcome::kOk) {
      if (attempt.hedge) runner_.counts_.hedge_won();
      runner_.counts_.end_ok(client_.index, now, begun, result.latency, now - begun);
    }
    return next;
  }

  void follow(TimePoint now, TimePoint begun, const NextAttempt& next) {
    runner_.counts_.follow(next, request_.retry, begun, now - begun);
    runner_.counts_.decide_pause(client_.index, next.wait);
  }

  // After a failure that is not final: is another attempt under way, or is it sent now?
  bool goes_on(HedgedAttempt& attempt) {
    if (policy_.at_timeout()) {
      const bool waits = next_at_ != TimePoint::max();
      if (under_way_.empty() && !waits) return false;
      if (!waits) retry_beside(attempt, attempt.result);
    } else {
      const TimePoint now = runner_.now();
      const Duration wait = policy_.wait_after(attempt.result, client_.random);
      hedge_ = {.begun = client_.state.begun};
      const bool goes_on =
          wait < runner_.time_left(client_) && with_process([&](RetryProcess* process) {
            return policy_.pay(now, state(), hedge_, process);
          });
      if (!goes_on && under_way_.empty()) return false;
      if (goes_on) {
        fail_so_far();
        wait_to_hedge(wait, true);
      }
    }
    be_idle_if_none_is_under_way();
    return true;
  }

  void be_idle_if_none_is_under_way() {
    if (!under_way_.empty() || idle_) return;
    idle_ = true;
    fail_so_far();
    runner_.counts_.end_hedged();
    runner_.counts_.begin_wait_to_retry();
  }

  // Sends the next one, if it may be sent. Returns what follows if it may not, and if nothing is under way.
  std::optional<NextAttempt> send_hedge(bool paid) {
    const TimePoint now = runner_.now();
    if (!paid) hedge_ = {.begun = client_.state.begun};
    const Permission permission = with_process([&](RetryProcess* process) {
      if (!paid && !policy_.pay(now, state(), hedge_, process)) {
        return Permission{.kind = Permission::Kind::kTooLate};
      }
      return runner_.behaviour_.may_send(now, hedge_, process, client_.random,
                                         client_.end - Clock::now());
    });
    if (permission.kind == Permission::Kind::kWait) {
      wait_to_hedge(permission.wait, true);
      return std::nullopt;
    }
    const bool was_idle = std::exchange(idle_, false);
    if (was_idle) {
      runner_.counts_.end_wait_to_retry();
      runner_.counts_.begin_hedged();
    }
    if (permission.kind == Permission::Kind::kSend) {
      launch(true, std::exchange(hedge_, {}));
      return std::nullopt;
    }
    if (permission.kind == Permission::Kind::kRefused) runner_.counts_.refuse();
    state().stopped = true;
    if (!was_idle) return std::nullopt;
    const TimePoint begun = client_.state.begun;
    const NextAttempt next = with_process([&](RetryProcess* process) {
      return runner_.behaviour_.after_refusal(now, permission.kind, client_.state, process,
                                              client_.random, client_.metrics);
    });
    follow(now, begun, next);
    return next;
  }

  // One attempt is retried once: after its timeout, or after its failure.
  void retry_beside(HedgedAttempt& attempt, const AttemptResult& failure) {
    if (attempt.retried) return;
    const TimePoint now = runner_.now();
    const Decision decision = with_process([&](RetryProcess* process) {
      return runner_.behaviour_.policy().after_recorded(now, failure, client_.state, process,
                                                        client_.random, client_.metrics);
    });
    if (!decision.retry) return;
    attempt.retried = true;
    hedge_ = {.begun = client_.state.begun};
    fail_so_far();
    wait_to_hedge(decision.wait, true);
  }

  // The request counts among those that are being retried.
  void fail_so_far() {
    if (!std::exchange(request_.retry, true)) runner_.counts_.fail_so_far();
  }

  // The result of the request is known: the others have lost.
  void drop_others() {
    const TimePoint now = runner_.now();
    if (!policy_.cancels()) return;
    for (const auto& each : under_way_) {
      each->interruption.interrupt();
      with_process([&](RetryProcess* process) {
        HedgePolicy::add_latency(now, timed_out(now - each->sent), process);
        runner_.behaviour_.policy().attempt_cancelled(now, own(*each), process);
      });
    }
  }

  // Their threads go on alone. `recorded`: the request has a result. Otherwise the run stops.
  void leave_others(bool recorded) {
    std::deque<std::shared_ptr<HedgedAttempt>> ended;
    {
      const std::scoped_lock lock(race_->mutex);
      race_->over = true;
      ended.swap(race_->ended);
    }
    if (!recorded) return;
    for (const auto& each : ended) runner_.end_lost_attempt(*each);
  }

  RequestRunner& runner_;
  const HedgePolicy& policy_;
  Client& client_;
  Request& request_;
  const std::shared_ptr<Race> race_ = std::make_shared<Race>();
  std::vector<std::shared_ptr<HedgedAttempt>> under_way_;  // those sent first are in front
  TimePoint next_at_ = TimePoint::max();                   // when the next one is sent
  TimePoint late_at_ = TimePoint::max();                   // when the newest one is late
  bool paid_ = false;                                      // the budgets have paid for the next one
  bool idle_ = false;   // none is under way: it counts as waiting to retry
  RetryState hedge_{};  // of the next one
};

void RequestRunner::run_hedged_attempt(const std::shared_ptr<Race>& race,
                                       const std::shared_ptr<HedgedAttempt>& attempt,
                                       HttpAttempt& http) {
  const AttemptResult result =
      run_at(attempt->host, attempt->client, http, nullptr, &attempt->interruption);
  {
    const std::scoped_lock lock(race->mutex);
    attempt->result = result;
    attempt->why = http.why();
    if (!race->over) {
      race->ended.push_back(attempt);
      race->changed.notify_one();
      counts_.come_back();
      return;
    }
  }
  end_lost_attempt(*attempt);
  counts_.come_back();
}

void RequestRunner::end_lost_attempt(HedgedAttempt& attempt) {
  if (waits_.stopping() || attempt.interruption.interrupted()) return;
  const TimePoint end = now();
  RetryState own = attempt.client.state;
  if (!attempt.hedge) own.paid = 0;  // its request has ended
  with_process(attempt.client, [&](RetryProcess* process) {
    HedgePolicy::add_latency(end, attempt.result, process);
    behaviour_.policy().attempt_ended(end, attempt.result, own, process);
  });
}

std::optional<NextAttempt> RequestRunner::send_hedged(Client& client, Request& request) {
  return Hedging(*this, client, request).run();
}

}  // namespace retrystorm
