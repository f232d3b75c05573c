#include "common/calls/request_runner.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

#include "common/calls/client_connections.h"

namespace retrystorm {

RequestRunner::RequestRunner(const WorkloadOptions& options, std::size_t places,
                             const HttpRequest& request, ClientWaits& waits, LiveCounts& counts,
                             CalledHosts* hosts)
    : request_(request),
      timeout_(options.timeout),
      longest_attempt_(options.retry.hedge.on == HedgeOn::kTimeout ? Duration::max()
                                                                   : options.timeout),
      pool_settings_(hosts ? connections_to(hosts->settings(), options.connections)
                           : options.connections),
      behaviour_(options.mean_think_time(), options.retry),
      hedges_(options.retry, behaviour_.policy()),
      waits_(waits),
      counts_(counts),
      hosts_(hosts),
      attempts_(places) {
  if (hedges_.any()) {
    constexpr std::size_t kAny = std::numeric_limits<std::size_t>::max();
    attempt_threads_ = std::make_unique<PlaceThreads>(kAny, std::chrono::seconds(5));
  }
  const std::size_t processes = sharing_processes(options);
  const bool picked = pool_settings_.picked;
  for (CalledHosts::Host first = 0; first < (hosts && !picked ? hosts->size() : 1); ++first) {
    const auto host_of = [hosts, picked, first](std::size_t process) {
      return picked ? hosts->choose(process) : first;
    };
    if (pool_settings_.multiplexed()) {
      const auto make = [this, hosts, host_of](std::size_t process) {
        const CalledHosts::Host host = host_of(process);
        const bool known = hosts != nullptr && host != Picker::kNone;
        auto made = std::make_shared<Http2Connection>(known ? hosts->request_to(host) : request_);
        made->place.host = host;
        return made;
      };
      multiplexed_.emplace_back(pool_settings_, processes, make, hosts ? hosts->seed() : 0);
    } else if (pool_settings_.kept()) {
      const auto make = [host_of](std::size_t process) {
        auto made = std::make_shared<Connection>();
        made->place.host = host_of(process);
        return made;
      };
      pools_.emplace_back(pool_settings_, processes, make, hosts ? hosts->seed() : 0);
    }
  }
  for (std::size_t i = 0; behaviour_.policy().has_process() && i < processes; ++i) {
    processes_.emplace_back().parts = behaviour_.policy().make_process(now());
  }
}

template <typename Ask>
Permission RequestRunner::wait_for_permission(const Client& client, Permission permission,
                                              bool retry, Ask ask) {
  const TimePoint begin = now();
  counts_.decide_pause(client.index, permission.wait);
  if (retry) counts_.begin_wait_to_retry();
  std::unique_lock turn(process_of(client).turn, std::defer_lock);
  if (behaviour_.policy().waits_in_line()) {
    turn.lock();
    permission = with_process(client, ask);
  }
  while (permission.kind == Permission::Kind::kWait && waits_.wait(permission.wait)) {
    permission = with_process(client, ask);
  }
  if (retry) {
    counts_.end_wait_to_retry();
    counts_.add_retry_wait(now() - begin);
  }
  return permission;
}

std::optional<NextAttempt> RequestRunner::run(Client& client) {
  const TimePoint begun = now();
  counts_.begin_request(client.index, begun);
  const bool hedged = hedges_.any();  // several attempts at a time are not traced
  Request request{.traced = !hedged && trace_ && trace_->begin(begun, client.index)};
  return run_attempts(client, request);
}

std::optional<NextAttempt> RequestRunner::run_after_loss(Client& client) {
  const TimePoint begun = now();
  counts_.begin_request(client.index, begun);
  const NextAttempt next = with_process(client, [&](RetryProcess* process) {
    return behaviour_.after_loss(begun, client.state, process, client.random, client.metrics);
  });
  counts_.follow(next, false, begun, Duration::zero());
  if (!wait_to_retry(client, next.wait)) {
    counts_.leave_unfinished(client.index, begun, now());
    return std::nullopt;
  }
  Request request{.retry = true};
  return run_attempts(client, request);
}

std::optional<NextAttempt> RequestRunner::run_attempts(Client& client, Request& request) {
  while (true) {
    const auto next = run_attempt(client, request);
    if (next && !next->retry) {
      counts_.end_request(client.index);
      return next;
    }
    if (!next || !wait_to_retry(client, next->wait)) {
      counts_.leave_unfinished(client.index, client.state.begun, now());
      return std::nullopt;
    }
    request.retry = true;
  }
}

bool RequestRunner::wait_to_retry(const Client& client, Duration duration) {
  // A call that is let go must not occupy its thread for long.
  constexpr Duration kLongest = std::chrono::milliseconds(200);
  counts_.add_retry_wait(duration);
  counts_.begin_wait_to_retry();
  bool goes_on = true;
  for (; client.let_go != nullptr && duration > kLongest && goes_on; duration -= kLongest) {
    if (client.let_go->is_set()) duration = kLongest;
    goes_on = waits_.wait(kLongest);
  }
  goes_on = goes_on && waits_.wait(duration);
  counts_.end_wait_to_retry();
  return goes_on;
}

std::optional<NextAttempt> RequestRunner::run_attempt(Client& client, Request& request) {
  const auto ask = [&](RetryProcess* process) {
    if (ends_within(client, Duration::zero())) {
      RetryPolicy::begin(client.state, now());
      return Permission{.kind = Permission::Kind::kTooLate};
    }
    return behaviour_.may_send(now(), client.state, process, client.random,
                               client.end - Clock::now());
  };
  Permission permission = with_process(client, ask);
  request.waited = permission.kind == Permission::Kind::kWait;
  if (request.waited) {
    permission = wait_for_permission(client, permission, request.retry, ask);
  }
  if (waits_.stopping()) return std::nullopt;
  if (permission.kind == Permission::Kind::kSend) {
    return hedges_.any() ? send_hedged(client, request) : send(client, request);
  }

  if (permission.kind == Permission::Kind::kRefused) counts_.refuse();
  const TimePoint begun = client.state.begun;
  const TimePoint end = now();
  const NextAttempt next = after_refusal(client, end, permission.kind);
  follow(client, request, end, begun, next);
  if (request.traced) trace_->not_sent(end, client.index, permission.kind, next);
  return next;
}

void RequestRunner::stop() {
  for (auto& each : pools_) each.stop();
  for (auto& each : multiplexed_) each.stop();
}

void RequestRunner::join() {
  if (attempt_threads_) attempt_threads_->stop();
}

std::optional<KeptConnections> RequestRunner::kept_connections() const {
  if (!pool_settings_.kept()) return std::nullopt;
  KeptConnections sum;
  for (const auto& each : pools_) sum += each.totals();
  for (const auto& each : multiplexed_) sum += each.totals();
  return sum;
}

void RequestRunner::lose_idle_connections() {
  for (auto& each : pools_) each.lose_idle();
  for (auto& each : multiplexed_) each.lose_idle();
}

Duration RequestRunner::time_left(const Client& client) const {
  Duration left = behaviour_.policy().time_left(now(), client.state);
  if (client.end != TimePoint::max()) left = std::min(left, client.end - Clock::now());
  return std::max(left, Duration::zero());
}

Carried RequestRunner::carried_by(const Client& client) const {
  Carried carried;
  if (numbers_ || carries_ != DeadlinePropagation::kNone) carried.number = client.state.retries + 1;
  carried.patience = carries_ == DeadlinePropagation::kAttempt;
  if (carries_ == DeadlinePropagation::kRequest) carried.left = time_left(client);
  return carried;
}

NextAttempt RequestRunner::bounded_by_end(Client& client, const AttemptResult& result,
                                          const NextAttempt& next) {
  if (result.outcome == Outcome::kError) client.failure = result;
  if (!next.retry || !ends_within(client, next.wait)) return next;
  return after_refusal(client, now(), Permission::Kind::kTooLate);
}

NextAttempt RequestRunner::after_refusal(Client& client, TimePoint now, Permission::Kind why) {
  return with_process(client, [&](RetryProcess* process) {
    return behaviour_.after_refusal(now, why, client.state, process, client.random, client.metrics);
  });
}

AttemptResult RequestRunner::run_at(CalledHosts::Host host, Sending& sending) {
  if (hosts_ == nullptr || pool_settings_.picked) return run_on_a_connection(0, sending);
  return run_at_host(host, sending, [&] { return run_on_a_connection(host, sending); });
}

template <typename Send>
AttemptResult RequestRunner::run_at_host(CalledHosts::Host host, const Sending& sending,
                                         Send send) {
  if (host == Picker::kNone) {
    sending.http.note("no host gets traffic (--eject)");
    return not_connected(Duration::zero(), NoAnswer::kRefused);
  }
  sending.http.send_now(hosts_->request_to(host));
  const AttemptResult result = send();
  const bool cut_off = waits_.stopping() || sending.interrupted();
  hosts_->ended(sending.client.number, host, cut_off ? nullptr : &result);
  return result;
}

AttemptResult RequestRunner::run_on_a_connection(CalledHosts::Host host, Sending& sending) {
  const Client& client = sending.client;
  HttpAttempt& http = sending.http;
  std::optional<Duration>* const service = sending.traced ? &sending.service : nullptr;
  http.carry(carried_by(client));
  if (pool_settings_.multiplexed()) {
    ConnectionPools<Http2Connection>& pools = multiplexed_[host];
    return run_pooled(pools, sending, [&](auto& connection, Duration patience) {
      const auto accepted = [&] { pools.accepted(client.number % pools.processes(), connection); };
      return http.run_on(*connection, patience, service, accepted, sending.interruption);
    });
  }
  if (pool_settings_.kept()) {
    return run_pooled(pools_[host], sending, [&](auto& connection, Duration patience) {
      return http.run(patience, service, connection.get(), sending.interruption);
    });
  }
  return run_connected(client, std::min(longest_attempt_, time_left(client)),
                       [&](Duration patience) {
                         return http.run(patience, service, nullptr, sending.interruption);
                       });
}

template <typename Kept, typename Send>
AttemptResult RequestRunner::run_pooled(ConnectionPools<Kept>& pools, Sending& sending, Send send) {
  const Client& client = sending.client;
  const Duration left = time_left(client);
  const bool counts = pool_settings_.pool_wait_counts;
  const TimePoint latest =
      saturating_add(Clock::now(), counts ? std::min(longest_attempt_, left) : left);
  const std::size_t process = client.number % pools.processes();
  typename ConnectionPools<Kept>::Handle connection;
  for (;; sending.again = true) {  // at most twice
    const TimePoint begin = Clock::now();
    const TimePoint until = std::min(latest, saturating_add(begin, pool_settings_.pool_wait));
    connection = sending.again ? pools.replace(process, std::move(connection), until, latest)
                               : pools.take(process, until, latest);
    const TimePoint taken = Clock::now();
    const Duration waited = taken - begin;
    sending.pool = waited;
    if (connection == nullptr) {
      sending.http.note("no connection of the pool was free in time (--pool-size, --pool-wait)");
      return taken >= latest ? timed_out(waited) : not_connected(waited);
    }
    if (sending.interrupted()) {  // while it was in line
      pools.give_back(process, std::move(connection));
      return timed_out(waited);
    }
    const Duration patience = counts ? std::max(latest - taken, Duration::zero())
                                     : std::min(longest_attempt_, time_left(client));
    const auto run = [&] {
      return run_connected(client, patience, [&](Duration rest) { return send(connection, rest); });
    };
    AttemptResult result = {};
    if (pool_settings_.picked) {
      const CalledHosts::Host host = connection->place.host;
      if (host != Picker::kNone) hosts_->begin(client.number, host);
      result = run_at_host(host, sending, run);
    } else {
      result = run();
    }
    result.latency += waited;
    if (sending.again || !pool_settings_.sends_again(result) || sending.interrupted() ||
        waits_.stopping()) {
      pools.give_back(process, std::move(connection),
                      result.outcome == Outcome::kTimedOut || sending.interrupted());
      return result;
    }
    counts_.send_again();
    if (!sending.traced) continue;
    const TimePoint end = now();
    trace_->ended(end, client.index, result, {}, waited, {.retry = true});
    trace_->sent(end, client.index);
  }
}

template <typename Send>
AttemptResult RequestRunner::run_connected(const Client& client, Duration patience, Send send) {
  if (connections_ == nullptr) return send(patience);
  const TimePoint begin = now();
  const bool connected = connections_->wait(client.index, patience);
  const Duration waited = now() - begin;
  if (!connected || waited >= patience) return timed_out(waited);
  AttemptResult result = send(patience - waited);
  result.latency += waited;
  return result;
}

std::optional<NextAttempt> RequestRunner::send(Client& client, Request& request) {
  std::unique_ptr<HttpAttempt>& attempt = attempts_[client.index];
  if (attempt == nullptr) attempt = std::make_unique<HttpAttempt>(request_);
  counts_.send(std::exchange(request.unsent, false));
  const TimePoint begun = client.state.begun;
  const TimePoint sent = now();
  if (request.traced) trace_->sent(sent, client.index);
  Sending sending{.client = client, .http = *attempt, .traced = request.traced};
  const AttemptResult result = send_by_
                                   ? send_by_(client, std::min(longest_attempt_, time_left(client)))
                                   : run_at(pick(client, request), sending);
  const TimePoint end = now();
  counts_.come_back();
  if (waits_.stopping()) return std::nullopt;

  const auto decided = with_process(client, [&](RetryProcess* process) {
    return behaviour_.after(end, result, client.state, process, client.random, client.metrics);
  });
  const NextAttempt next = bounded_by_end(client, result, decided);
  counts_.end_attempt(result, attempt->why());
  follow(client, request, end, begun, next);
  if (request.traced) trace_->ended(end, client.index, result, sending.service, sending.pool, next);
  if (result.outcome == Outcome::kOk) {
    // A request with one attempt took exactly as long as that attempt.
    const bool alone = !request.retry && !request.waited && !sending.again;
    const Duration request_time = alone ? result.latency : end - begun;
    counts_.end_ok(client.index, end, begun, result.latency, request_time);
  }
  return next;
}

}  // namespace retrystorm
