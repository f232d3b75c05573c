// The part of `RequestRunner` for requests that have several attempts at a time.
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
        next = send_hedge();
      } else if (late_at_ <= runner_.now()) {
        late_at_ = TimePoint::max();
        ask([&](const HedgePolicy::Asker& asker) {
          HedgedAttempt& newest = *under_way_.back();
          return policy_.late(runner_.now(), timed_out(runner_.timeout_), newest.retried, asker);
        });
      }
    }
    leave_others(next.has_value());
    race().idle ? runner_.counts_.end_wait_to_retry() : runner_.counts_.end_hedged();
    return next;
  }

 private:
  HedgeRace& race() { return request_.hedges; }

  template <typename Ask>
  auto with_process(Ask ask) {
    return runner_.with_process(client_, ask);
  }

  // Asks the rules, and does of their move what is counted, and the wait.
  template <typename Ask>
  HedgeMove ask(Ask ask) {
    const HedgeMove move = with_process([&](RetryProcess* process) {
      return ask(HedgePolicy::Asker{.race = race(),
                                    .request = client_.state,
                                    .hedge = hedge_,
                                    .process = process,
                                    .random = client_.random,
                                    .metrics = client_.metrics,
                                    .left = runner_.time_left(client_),
                                    .ends_in = client_.end - Clock::now()});
    });
    if (move.fails && !std::exchange(request_.retry, true)) runner_.counts_.fail_so_far();
    if (move.idles) {
      runner_.counts_.end_hedged();
      runner_.counts_.begin_wait_to_retry();
    } else if (move.resumes) {
      runner_.counts_.end_wait_to_retry();
      runner_.counts_.begin_hedged();
    }
    if (move.kind == HedgeMove::Kind::kWait) next_at_ = after(move.wait);
    return move;
  }

  TimePoint after(Duration wait) { return saturating_add(runner_.now(), wait); }

  // The state that the budgets know the attempt by.
  RetryState& own(HedgedAttempt& attempt) {
    return attempt.hedge ? attempt.client.state : client_.state;
  }

  void launch(bool hedge) {
    runner_.counts_.send(std::exchange(request_.unsent, false));
    if (hedge) runner_.counts_.hedge();
    auto attempt = std::make_shared<HedgedAttempt>(client_);
    attempt->hedge = hedge;
    attempt->host = runner_.pick(client_, request_);
    attempt->sent = runner_.now();
    if (hedge) attempt->client.state = hedge_;
    under_way_.push_back(attempt);
    race().in_flight = static_cast<std::uint32_t>(under_way_.size());
    const Duration delay = with_process(
        [&](RetryProcess* process) { return policy_.sent(attempt->sent, hedge, race(), process); });
    next_at_ = delay == Duration::max() ? TimePoint::max() : after(delay);
    late_at_ =
        policy_.at_timeout() ? saturating_add(attempt->sent, runner_.timeout_) : TimePoint::max();
    const auto task = [&runner = runner_, race = race_, attempt](std::size_t) {
      runner.run_hedged_attempt(race, attempt);
    };
    if (runner_.attempt_threads_->start(task)) return;
    attempt->result = not_connected(Duration::zero());
    attempt->why = "this machine has no thread for it";
    if (runner_.hosts_) runner_.hosts_->ended(client_.number, attempt->host, nullptr);
    runner_.counts_.come_back();
    const std::scoped_lock lock(race_->mutex);
    race_->ended.push_back(attempt);
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
    race().in_flight = static_cast<std::uint32_t>(under_way_.size());
    const TimePoint now = runner_.now();
    const AttemptResult& result = attempt.result;
    with_process([&](RetryProcess* process) { policy_.ended(now, result, own(attempt), process); });
    runner_.counts_.end_attempt(result, attempt.why);
    if (!policy_.is_final(result)) {
      const HedgeMove move = ask([&](const HedgePolicy::Asker& asker) {
        return policy_.failed(now, result, attempt.retried, asker);
      });
      if (move.kind != HedgeMove::Kind::kOver) return std::nullopt;
    }
    drop_others();
    const TimePoint begun = client_.state.begun;
    const auto decided = with_process([&](RetryProcess* process) {
      return runner_.behaviour_.after_recorded(now, result, client_.state, process, client_.random,
                                               client_.metrics);
    });
    const NextAttempt next = runner_.bounded_by_end(client_, result, decided);
    runner_.follow(client_, request_, now, begun, next);
    if (result.outcome == Outcome::kOk) {
      if (attempt.hedge) runner_.counts_.hedge_won();
      runner_.counts_.end_ok(client_.index, now, begun, result.latency, now - begun);
    }
    return next;
  }

  // Sends the next one, if it may be sent. Returns what follows if it may not, and if nothing is under way.
  std::optional<NextAttempt> send_hedge() {
    const TimePoint now = runner_.now();
    const HedgeMove move =
        ask([&](const HedgePolicy::Asker& asker) { return policy_.due(now, asker); });
    if (move.kind == HedgeMove::Kind::kSend) launch(true);
    if (move.permission == Permission::Kind::kRefused) runner_.counts_.refuse();
    if (move.kind != HedgeMove::Kind::kOver) return std::nullopt;
    const TimePoint begun = client_.state.begun;
    const NextAttempt next = runner_.after_refusal(client_, now, move.permission);
    runner_.follow(client_, request_, now, begun, next);
    return next;
  }

  // The result of the request is known: the others have lost.
  void drop_others() {
    const TimePoint now = runner_.now();
    if (!policy_.cancels()) return;
    for (const auto& each : under_way_) {
      each->interruption.interrupt();
      with_process([&](RetryProcess* process) {
        policy_.cancelled(now, now - each->sent, own(*each), process);
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
  RetryState hedge_{};                                     // of the next one
};

void RequestRunner::run_hedged_attempt(const std::shared_ptr<Race>& race,
                                       const std::shared_ptr<HedgedAttempt>& attempt) {
  HttpAttempt http(request_);
  Sending sending{.client = attempt->client, .http = http, .interruption = &attempt->interruption};
  const AttemptResult result = run_at(attempt->host, sending);
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
  with_process(attempt.client,
               [&](RetryProcess* process) { hedges_.ended(end, attempt.result, own, process); });
}

std::optional<NextAttempt> RequestRunner::send_hedged(Client& client, Request& request) {
  return Hedging(*this, client, request).run();
}

}  // namespace retrystorm
