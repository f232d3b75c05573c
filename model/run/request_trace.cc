#include "model/run/request_trace.h"

#include <algorithm>

namespace retrystorm {

std::size_t TracedRequest::sent() const {
  return static_cast<std::size_t>(
      std::count_if(attempts.begin(), attempts.end(),
                    [](const auto& each) { return each.fate != AttemptFate::kNotSent; }));
}

bool RequestTrace::begin(TimePoint now, std::uint64_t client) {
  if (!wants()) return false;
  const std::uint64_t number = ++begun_;
  at_hand_[client] = number;
  followed_[number].request = {.number = number, .client = client, .t = now - start_};
  return true;
}

RequestTrace::Followed* RequestTrace::of_client(std::uint64_t client) {
  const auto found = at_hand_.find(client);
  return found == at_hand_.end() ? nullptr : &followed_.at(found->second);
}

std::optional<RequestTrace::Place> RequestTrace::add(TimePoint now, std::uint64_t client,
                                                     const Key& key) {
  Followed* const followed = of_client(client);
  if (followed == nullptr) return std::nullopt;
  std::vector<TracedAttempt>& attempts = followed->request.attempts;
  attempts.push_back({.t = now - start_});
  const Place place{followed->request.number, attempts.size() - 1};
  if (sees_ == Sees::kServer) {
    attempts.back().connect = Duration::zero();
    with_server_[key] = place;
    ++followed->with_server;
  }
  return place;
}

void RequestTrace::sent(TimePoint now, std::uint64_t client, std::uint32_t number) {
  if (add(now, client, {client, number})) last_number_[client] = number;
}

void RequestTrace::sent(TimePoint now, std::uint64_t client, std::uint64_t place,
                        std::uint32_t number) {
  if (const auto added = add(now, client, {place, number})) hedged_[{place, number}] = *added;
}

void RequestTrace::not_sent(TimePoint now, std::uint64_t client, Permission::Kind why) {
  Followed* const followed = of_client(client);
  if (followed == nullptr) return;
  followed->request.attempts.push_back(
      {.t = now - start_,
       .fate = AttemptFate::kNotSent,
       .why = why == Permission::Kind::kTooLate ? GiveUp::kDeadline : GiveUp::kGate});
}

void RequestTrace::end(TracedAttempt& attempt, const AttemptResult& result) {
  attempt.latency = result.latency;
  switch (result.outcome) {
    case Outcome::kOk:
      attempt.fate = AttemptFate::kOk;
      break;
    case Outcome::kError:
      attempt.fate = AttemptFate::kError;
      attempt.status = result.status;
      break;
    case Outcome::kTimedOut:
      attempt.fate = AttemptFate::kTimedOut;
      break;
  }
}

TracedAttempt* RequestTrace::take_hedged(const Key& key) {
  const auto found = hedged_.find(key);
  if (found == hedged_.end()) return nullptr;
  const auto [request, attempt] = found->second;
  hedged_.erase(found);
  return &followed_.at(request).request.attempts[attempt];
}

void RequestTrace::ended(std::uint64_t place, std::uint32_t number, const AttemptResult& result) {
  TracedAttempt* const attempt = take_hedged({place, number});
  if (attempt == nullptr) return;
  end(*attempt, result);
  if (sees_ == Sees::kServer && !attempt->connect) forget({place, number});
}

void RequestTrace::superseded(std::uint64_t place, std::uint32_t number, Duration latency,
                              bool cancelled) {
  TracedAttempt* const attempt = take_hedged({place, number});
  if (attempt == nullptr) return;
  attempt->latency = latency;
  attempt->fate = AttemptFate::kSuperseded;
  if (sees_ == Sees::kServer && cancelled && !attempt->connect) forget({place, number});
}

void RequestTrace::ended(std::uint64_t client, const AttemptResult& result,
                         std::optional<Duration> service, std::optional<Duration> pool) {
  Followed* const followed = of_client(client);
  if (followed == nullptr) return;
  TracedAttempt& attempt = followed->request.attempts.back();
  end(attempt, result);
  if (sees_ == Sees::kAnswers) {
    attempt.pool = pool;
    const Duration sent_for = result.latency - pool.value_or(Duration::zero());
    // Ignore a service time longer than the whole attempt.
    if (!service || *service > sent_for) return;
    attempt.service = service;
    attempt.queue = sent_for - *service;
  } else if (!attempt.connect) {
    // The client's kernel stops trying to connect once the client has given up.
    const Key key{client, last_number_.at(client)};
    forget(key);
  }
}

void RequestTrace::follow(TimePoint now, std::uint64_t client, const NextAttempt& next) {
  Followed* const followed = of_client(client);
  if (followed == nullptr) return;
  TracedRequest& request = followed->request;
  if (next.retry) {
    request.attempts.back().wait = next.wait;
    return;
  }
  request.time = now - start_ - request.t;
  request.gave_up = next.gave_up;
  followed->over = true;
  at_hand_.erase(client);
  last_number_.erase(client);
  finish_if_done(request.number);
}

TracedAttempt* RequestTrace::find(const Key& key) {
  const auto found = with_server_.find(key);
  if (found == with_server_.end()) return nullptr;
  return &followed_.at(found->second.request).request.attempts[found->second.attempt];
}

void RequestTrace::no_room(std::uint64_t client, std::uint32_t number) {
  if (TracedAttempt* const attempt = find({client, number})) attempt->connect.reset();
}

void RequestTrace::left_line(TimePoint now, std::uint64_t client, std::uint32_t number) {
  if (TracedAttempt* const attempt = find({client, number})) {
    attempt->pool = now - start_ - attempt->t;
  }
}

void RequestTrace::connected(TimePoint now, std::uint64_t client, std::uint32_t number) {
  if (TracedAttempt* const attempt = find({client, number})) {
    attempt->connect = now - start_ - attempt->t - attempt->pool.value_or(Duration::zero());
  }
}

void RequestTrace::accepted(TimePoint now, std::uint64_t client, std::uint32_t number) {
  if (TracedAttempt* const attempt = find({client, number})) {
    attempt->queue =
        now - start_ - attempt->t - attempt->pool.value_or(Duration::zero()) - *attempt->connect;
  }
}

void RequestTrace::answered(TimePoint now, std::uint64_t client, std::uint32_t number) {
  leave(now, {client, number}, true);
}

void RequestTrace::dismissed(TimePoint now, std::uint64_t client, std::uint32_t number) {
  leave(now, {client, number}, false);
}

void RequestTrace::leave(TimePoint now, const Key& key, bool answered) {
  TracedAttempt* const attempt = find(key);
  if (attempt == nullptr) return;
  const Duration age = now - start_ - attempt->t;
  attempt->service =
      age - attempt->pool.value_or(Duration::zero()) - *attempt->connect - *attempt->queue;
  if (answered && attempt->latency) attempt->late = age - *attempt->latency;
  const std::uint64_t request = with_server_.at(key).request;
  forget(key);
  finish_if_done(request);
}

void RequestTrace::forget(const Key& key) {
  const auto found = with_server_.find(key);
  --followed_.at(found->second.request).with_server;
  with_server_.erase(found);
}

void RequestTrace::finish_if_done(std::uint64_t request) {
  const auto found = followed_.find(request);
  if (!found->second.over || found->second.with_server > 0) return;
  finished_.push_back(std::move(found->second.request));
  followed_.erase(found);
}

std::vector<TracedRequest> RequestTrace::take_rest() {
  std::vector<TracedRequest> rest = take_finished();
  for (auto& [number, followed] : followed_) rest.push_back(std::move(followed.request));
  followed_.clear();
  at_hand_.clear();
  with_server_.clear();
  return rest;
}

}  // namespace retrystorm
