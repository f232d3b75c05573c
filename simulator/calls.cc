#include "simulator/calls.h"

#include <numeric>

#include "model/run/picked_hosts.h"
#include "simulator/hedges.h"

namespace retrystorm {
namespace {

auto to_host(std::uint32_t host) {
  return [host](const ConnectionPlace& each) { return each.host == host; };
}

}  // namespace

Calls::Calls(const WorkloadOptions& workload, std::uint64_t seed, TimePoint end,
             std::size_t expected_waits, CallOwner& owner, RequestTrace* trace)
    : behaviour_(workload.mean_think_time(), workload.retry),
      trace_(trace),
      asks_(behaviour_.policy().asks() || trace != nullptr || workload.retry.hedge.any()),
      has_processes_(behaviour_.policy().has_process()),
      has_pools_(workload.connections.kept()),
      ends_otherwise_(has_pools_ || workload.retry.hedge.any()),
      process_count_(sharing_processes(workload)),
      numbers_processes_(has_processes_ || has_pools_ || workload.picks_hosts),
      connections_(workload.connections),
      timeout_(workload.timeout),
      seed_(seed),
      owner_(owner),
      hedges_(workload.retry.hedge.any()
                  ? std::make_unique<Hedges>(workload.retry, behaviour_.policy())
                  : nullptr),
      waits_(TimePoint{}, end, expected_waits),
      most_idle_(connections_.pool_idle),
      idle_(1),
      ages_(seed, kStreamOfAges) {
  for (std::size_t i = 0; has_processes_ && i < process_count_; ++i) {
    processes_.push_back({.parts = behaviour_.policy().make_process(TimePoint{}), .line = {}});
  }
  if (has_pools_) begin_pools();
}

Calls::~Calls() = default;

void Calls::keep_connections_to(const HostSettings& hosts) {
  if (!has_pools_) return;
  picks_hosts_ = true;
  connections_ = connections_to(hosts, connections_);
  hosts_ = static_cast<std::uint32_t>(hosts.most());
  places_.resize(calls_.size());
  begin_pools();
}

void Calls::begin_pools() {
  pools_.clear();
  for (std::size_t i = 0; i < process_count_ * (connections_.picked ? 1 : hosts_); ++i) {
    pools_.push_back(
        {.watched = connections_.multiplexed(), .connections = PooledConnections(connections_)});
  }
  idle_.assign(hosts_, 0);
}

void Calls::add_slots(std::size_t count) {
  calls_.reserve(count);
  prefer_large_pages(calls_.data(), calls_.capacity() * sizeof(Call));
  calls_.resize(count);
  if (numbers_processes_) {
    process_numbers_.reserve(count);
    prefer_large_pages(process_numbers_.data(), count * sizeof(process_numbers_.front()));
    process_numbers_.resize(count);
  }
  if (picks_hosts_) places_.resize(count);
  if (is_bounded_) ends_.resize(count, TimePoint::max());
}

Calls::Slot Calls::add_slot() {
  calls_.emplace_back();
  if (numbers_processes_) process_numbers_.emplace_back();
  if (picks_hosts_) places_.emplace_back();
  if (is_bounded_) ends_.push_back(TimePoint::max());
  return static_cast<Slot>(calls_.size() - 1);
}

Duration Calls::occupy(TimePoint now, Slot slot, std::uint64_t stream) {
  if (numbers_processes_) {
    process_numbers_[slot] = static_cast<std::uint32_t>(stream % process_count_);
  }
  Call& call = calls_[slot];
  ClientRandom random(seed_, stream);
  call.retry = {};
  const Duration think = behaviour_.start(call.retry, random);
  call.random = random.state();
  call.last_ok = now;
  call.next_is_retry = false;
  return think;
}

void Calls::vacate(TimePoint now, Slot slot) {
  // A client that leaves without an OK has waited for one until now.
  Call& call = calls_[slot];
  longest_without_ok_ = std::max(longest_without_ok_, now - call.last_ok);
  call.last_ok = TimePoint::max();  // an empty slot misses no answer
}

std::vector<WaitCalendar::Wait> Calls::take_beginnings() {
  std::vector<WaitCalendar::Wait> waits = waits_.take_all();
  std::erase_if(waits, [this](const WaitCalendar::Wait& wait) {
    const bool has_begun = RetryPolicy::has_begun(calls_[wait.client].retry);
    if (has_begun) waits_.push(wait);
    return has_begun;
  });
  return waits;
}

void Calls::begin_after_loss(TimePoint now, Slot slot) {
  Call& call = calls_[slot];
  call.unsent = true;
  ++counts_.requests;
  ClientRandom random(call.random);
  NextAttempt next = behaviour_.after_loss(now, call.retry, parts_of(slot), random, retry_metrics_);
  call.random = random.state();
  follow(now, slot, next, nullptr);
}

void Calls::lose_connections(TimePoint now) {
  if (has_pools_) {
    lose_idle_connections();
    target_->close_idle(now);
  }
  for (Slot slot = 0; slot < calls_.size(); ++slot) {
    if (!calls_[slot].in_flight || (has_pools_ && !calls_[slot].connected)) continue;
    const Attempt attempt{slot, calls_[slot].attempt};
    target_->hang_up(now, attempt);
    Calls::lose_connection(now, attempt, NoAnswer::kReset);
  }
}

void Calls::forget_all(TimePoint now) {
  waits_.take_all();
  for (Slot slot = 0; slot < calls_.size(); ++slot) {
    Call& call = calls_[slot];
    if (call.in_flight) hang_up(now, {slot, call.attempt});
    call.in_flight = call.in_service = call.next_is_retry = call.in_line = false;
    call.in_pool_line = call.opens = call.connected = call.on_kept = call.again = false;
    call.retry = {};
  }
  if (has_pools_) close_all(now);
  in_flight_ = in_service_ = waiting_to_retry_ = 0;
  counts_.failing = 0;
  if (hedges_ != nullptr) hedges_->forget_all();
  for (Process& each : processes_)
    each = {.parts = behaviour_.policy().make_process(now), .line = {}};
}

void Calls::wait_for_permission(TimePoint now, Slot slot, Duration wait) {
  if (reports_waits_) owner_.waits(slot, wait);
  if (behaviour_.policy().waits_in_line()) {
    Fifo<Slot>& line = parts_in_turn(slot).line;
    if (!calls_[slot].in_line) line.push(slot);
    calls_[slot].in_line = true;
    if (line.front() != slot) return;
  }
  wait_until(saturating_add(now, std::max(wait, kTurnaround)), slot);
}

// The slot is first in line, because the others do not ask. After it, the next one asks.
void Calls::leave_line(TimePoint now, Slot slot) {
  Fifo<Slot>& line = parts_in_turn(slot).line;
  calls_[slot].in_line = false;
  line.pop();
  if (!line.empty()) wait_until(now, line.front());
}

bool Calls::may_send(TimePoint now, Slot slot) {
  if (hedges_ != nullptr && hedges_->is_place(slot)) {
    end_wait_to_hedge(now, slot);
    return false;
  }
  Call& call = calls_[slot];
  if (trace_ != nullptr && !RetryPolicy::has_begun(call.retry)) trace_->begin(now, slot);
  ClientRandom random(call.random);
  const Duration left = is_bounded_ ? ends_[slot] - now : Duration::max();
  const bool ended = left <= Duration::zero();
  if (ended) RetryPolicy::begin(call.retry, now);
  const Permission permission =
      ended ? Permission{.kind = Permission::Kind::kTooLate}
            : behaviour_.may_send(now, call.retry, parts_of(slot), random, left);
  call.random = random.state();
  if (permission.kind == Permission::Kind::kWait) {
    wait_for_permission(now, slot, permission.wait);
    return false;
  }
  if (call.in_line) leave_line(now, slot);
  if (permission.kind == Permission::Kind::kSend) {
    if (trace_ != nullptr && hedges_ == nullptr) trace_->sent(now, slot, call.attempt + 1);
    return true;
  }
  if (permission.kind == Permission::Kind::kRefused) ++counts_.not_sent;
  if (trace_ != nullptr) trace_->not_sent(now, slot, permission.kind);
  if (call.next_is_retry) --waiting_to_retry_;
  refuse(now, slot, permission.kind);
  return false;
}

void Calls::send(TimePoint now, Slot slot) {
  Call& call = calls_[slot];
  if (!RetryPolicy::has_begun(call.retry)) {
    call.unsent = true;
    ++counts_.requests;
  }
  if (!asks_) {
    RetryPolicy::begin(call.retry, now);
  } else if (!may_send(now, slot)) {
    return;
  }
  ++counts_.attempts;
  if (!std::exchange(call.unsent, false)) ++counts_.retries;
  if (call.next_is_retry) --waiting_to_retry_;
  if (hedges_ != nullptr) return launch(now, slot, take_place(slot), false);
  ++call.attempt;
  call.in_flight = true;
  call.sent_at = now;
  ++in_flight_;
  const Attempt attempt{slot, call.attempt};
  if (has_pools_) return enter_pool(now, attempt);
  start_timeout(now, attempt);
  target_->connect(now, attempt);
}

void Calls::start_timeout(TimePoint now, const Attempt& attempt) {
  const Duration left = time_left(now, attempt);
  if (left == Duration::max() && timeout_ == Duration::max()) return;
  if (left >= timeout_) {
    const TimePoint time = saturating_add(now, timeout_);
    soonest_ = std::min(soonest_, time);
    timeouts_.push({time, attempt});
  } else {
    cut_short(saturating_add(now, left), attempt);
  }
}

void Calls::enter_pool(TimePoint now, const Attempt& attempt) {
  prefetch(pool_of(waits_.soon(kPrefetch)));
  if (connections_.pool_wait_counts) start_timeout(now, attempt);
  if (find_host(now, attempt)) find_connection(now, attempt);
}

bool Calls::find_picked_host(TimePoint now, const Attempt& attempt) {
  const std::optional<std::uint32_t> host = target_->pick(now, attempt);
  if (host) {
    places_[attempt.client].host = *host;
  } else {
    Calls::lose_connection(now, attempt, NoAnswer::kRefused);
  }
  return host.has_value();
}

void Calls::find_connection(TimePoint now, const Attempt& attempt) {
  Pool& pool = pool_of(attempt.client);
  ConnectionPlace kept;
  const Place place = take_connection(now, pool, kept);
  if (place == Place::kNone) return wait_in_line(now, attempt, pool);
  use_connection(now, attempt, place, kept);
}

bool Calls::bind_connection(TimePoint now, const Attempt& attempt, Place place,
                            const ConnectionPlace& kept) {
  Pool& pool = pool_of(attempt.client);
  ConnectionPlace& bound = places_[attempt.client];
  if (place == Place::kKept) {
    bound = kept;
    if (target_->use(now, attempt, kept.host)) return true;
    idle_[kept.host] -= 1 + pool.connections.lose_idle(to_host(kept.host));
    pool.connections.close();
    find_connection(now, attempt);
    return false;
  }
  if (const std::optional<std::uint32_t> host = target_->choose(now, attempt)) {
    bound = {*host, pool.connections.until(now, ages_)};
    return target_->use(now, attempt, *host);
  }
  pool.connections.close_unaccepted();
  Calls::lose_connection(now, attempt, NoAnswer::kRefused);
  serve_line(now, pool);
  return false;
}

void Calls::wait_in_line(TimePoint now, const Attempt& attempt, Pool& pool) {
  if (trace_ != nullptr) trace_->no_room(attempt.client, attempt.number);
  const Duration left = time_left(now, attempt);
  if (!connections_.pool_wait_counts && left != Duration::max()) {
    cut_short(saturating_add(now, left), attempt);
  }
  if (connections_.pool_wait == Duration::zero()) return fail(now, attempt);
  calls_[attempt.client].in_pool_line = true;
  ++in_line_;
  ++kept_.waited;
  pool.line.push(attempt);
  pool.has_line = true;
  const bool times_out_first = connections_.pool_wait_counts && connections_.pool_wait >= timeout_;
  if (connections_.pool_wait != Duration::max() && !times_out_first) {
    line_ends_.push({saturating_add(now, connections_.pool_wait), attempt});
    await_pool_event(line_ends_.front().time);
  }
}

void Calls::fail(TimePoint now, const Attempt& attempt) {
  const TimePoint failed = pool_of(attempt.client).connections.fail(now);
  if (failed > now) {
    add(failing_, {failed, attempt});
    return await_pool_event(failed);
  }
  fail_now(now, attempt);
}

void Calls::fail_now(TimePoint now, const Attempt& attempt) {
  if (picks_hosts_) hang_up(now, attempt);
  finish(now, attempt, not_connected(now - calls_[attempt.client].sent_at));
}

Calls::Place Calls::take_connection(TimePoint now, Pool& pool, ConnectionPlace& kept) {
  if (connections_.pool_idle != Duration::max()) {
    const std::size_t idle = pool.connections.idle();
    pool.connections.close_idle(now, closes());
    if (pool.connections.idle() < idle) target_->close_idle(now);
  }
  return pool.connections.take(now, kept, closes());
}

void Calls::use_connection(TimePoint now, const Attempt& attempt, Place place,
                           const ConnectionPlace& kept) {
  if (connections_.picked && !bind_connection(now, attempt, place, kept)) return;
  const bool is_kept = place == Place::kKept;
  Call& call = calls_[attempt.client];
  call.connected = true;
  call.on_kept = is_kept && !call.again;
  if (trace_ != nullptr) {
    trace_->left_line(now, attempt.client, attempt.number);
    trace_->connected(now, attempt.client, attempt.number);
  }
  if (!connections_.pool_wait_counts) start_timeout(now, attempt);
  if (is_kept) {
    --idle_[place_of(attempt.client).host];
    target_->send(now, attempt);
  } else {
    call.opens = connections_.multiplexed();
    target_->connect(now, attempt);
  }
}

void Calls::send_again(TimePoint now, const Attempt& lost, const AttemptResult& result) {
  const Slot slot = lost.client;
  Call& call = calls_[slot];
  ++kept_.sent_again;
  ++counts_.attempts;
  ++counts_.retries;
  in_service_ -= std::exchange(call.in_service, false) ? 1 : 0;
  const bool on_any = connections_.multiplexed() || picks_hosts_;
  if (on_any) leave_pool(now, slot, result);
  forget_timeouts();
  const TimePoint end = saturating_add(std::exchange(call.sent_at, now), timeout_);
  const Attempt attempt{slot, ++call.attempt};
  if (trace_ != nullptr && hedges_ == nullptr) {
    trace_->ended(slot, result);
    trace_->follow(now, slot, {.retry = true});
    trace_->sent(now, slot, attempt.number);
  } else if (trace_ != nullptr && hedges_->place(slot).request != Hedges::kNone) {
    trace_->ended(slot, lost.number, result);
    trace_->sent(now, hedges_->place(slot).request, slot, attempt.number);
  }
  call.again = true;
  if (connections_.pool_wait_counts) {
    // A hedged attempt may have outlived its timeout.
    const bool has_end = end != TimePoint::max() && end >= now;
    const Duration left = std::min(time_left(now, attempt), has_end ? end - now : Duration::max());
    if (left != Duration::max()) cut_short(saturating_add(now, left), attempt);
  }
  if (on_any) {
    if (find_host(now, attempt)) find_connection(now, attempt);
    return;
  }
  pool_of(slot).connections.reopen();
  use_connection(now, attempt, Place::kOpens);
}

void Calls::accepted(TimePoint now, Slot slot) {
  calls_[slot].opens = false;
  Pool& pool = pool_of(slot);
  const std::size_t idle = pool.connections.idle();
  pool.connections.accepted(now, place_of(slot));
  idle_[place_of(slot).host] += pool.connections.idle() - idle;
  serve_line(now, pool);
}

void Calls::leave_pool(TimePoint now, Slot slot, const AttemptResult& result) {
  Call& call = calls_[slot];
  call.again = false;
  if (call.in_pool_line) {
    call.in_pool_line = false;
    --in_line_;  // its place is skipped later
  }
  if (!call.connected) {
    if (trace_ != nullptr) trace_->left_line(now, slot, calls_[slot].attempt);
    return;
  }
  call.connected = call.on_kept = false;
  const bool answered = result.outcome == Outcome::kOk || result.status != 0;
  const bool times_out = result.outcome == Outcome::kTimedOut;
  if (call.opens && answered) accepted(now, slot);
  Pool& pool = pool_of(slot);
  if (times_out && (call.opens || !connections_.multiplexed())) ++kept_.given_up;
  if (call.opens) {
    call.opens = false;
    pool.connections.close_unaccepted();
  } else if (answered || (times_out && connections_.multiplexed())) {
    if (pool.connections.give_back(now, place_of(slot))) ++idle_[place_of(slot).host];
    if (!pool.watched) watch_idle(pool_number(slot));
  } else {
    pool.connections.close();
  }
  serve_line(now, pool);
}

void Calls::watch_idle(std::uint32_t number) {
  Pool& pool = pools_[number];
  pool.watched = pool.connections.idle() > 0;
  if (!pool.watched) return;
  add(longest_idle_, {pool.connections.longest_idle_since(), number});
  await_pool_event(saturating_add(pool.connections.longest_idle_since(), most_idle_));
}

void Calls::close_idle(TimePoint now) {
  const std::uint32_t number = take(longest_idle_).pool;
  PooledConnections& pool = pools_[number].connections;
  const std::size_t idle = pool.idle();
  pool.lose_idle_since(now - most_idle_, closes());
  watch_idle(number);  // most connections have been used in between
  if (pool.idle() < idle) target_->close_idle(now);
}

void Calls::close_idle_after(TimePoint now, Duration time) {
  most_idle_ = std::min(connections_.pool_idle, time);
  while (!longest_idle_.empty() && saturating_add(longest_idle_.front().time, most_idle_) <= now) {
    close_idle(now);
  }
  find_next_pool_event();
}

bool Calls::lose_longest_idle_connection(std::uint32_t host) {
  if (connections_.picked) return lose_longest_idle_of_any_pool(host);
  bool is_idle = false;
  std::vector<IdleSince> of_others;
  while (!is_idle && !longest_idle_.empty()) {
    const IdleSince longest = take(longest_idle_);
    if (longest.pool % hosts_ != host) {
      of_others.push_back(longest);
      continue;
    }
    PooledConnections& pool = pools_[longest.pool].connections;
    is_idle = pool.idle() > 0 && pool.longest_idle_since() == longest.time;
    if (is_idle) {
      pool.lose_longest_idle();
      --idle_[host];
    }
    watch_idle(longest.pool);
  }
  for (const IdleSince& each : of_others) add(longest_idle_, each);
  find_next_pool_event();
  return is_idle;
}

void Calls::grant(TimePoint now, Pool& pool) {
  for (; !pool.line.empty(); pool.line.pop()) {
    const Attempt attempt = pool.line.front();
    if (!waits_for(attempt)) continue;
    ConnectionPlace kept;
    const Place place = take_connection(now, pool, kept);
    if (place == Place::kNone) return;
    granted_.push({attempt, place, kept, pool_number(attempt.client)});
    granted_at_ = now;
    await_pool_event(now);
  }
  pool.has_line = false;
}

void Calls::give_back(TimePoint now, const Grant& grant) {
  Pool& pool = pools_[grant.pool];
  bool closed = false;
  if (grant.place == Place::kOpens) {
    pool.connections.close_unaccepted();
  } else if (!pool.connections.give_back(now, grant.kept)) {
    --idle_[grant.kept.host];
    closed = true;
  }
  if (!pool.watched) watch_idle(grant.pool);
  serve_line(now, pool);
  if (closed) target_->close_idle(now);
}

void Calls::find_next_pool_event() {
  if (!granted_.empty()) {
    next_pool_event_ = granted_at_;
    return;
  }
  next_pool_event_ = TimePoint::max();
  if (!line_ends_.empty()) await_pool_event(line_ends_.front().time);
  if (!failing_.empty()) await_pool_event(failing_.front().time);
  if (!longest_idle_.empty()) {
    await_pool_event(saturating_add(longest_idle_.front().time, most_idle_));
  }
}

void Calls::take_pool_event(TimePoint now) {
  take_first_pool_event(now);
  find_next_pool_event();
}

void Calls::take_first_pool_event(TimePoint now) {
  if (!granted_.empty()) {
    const Grant grant = granted_.take();
    if (!waits_for(grant.attempt)) return give_back(now, grant);
    calls_[grant.attempt.client].in_pool_line = false;
    --in_line_;
    return use_connection(now, grant.attempt, grant.place, grant.kept);
  }
  if (!line_ends_.empty() && line_ends_.front().time <= now) {
    const Attempt attempt = line_ends_.take().attempt;
    if (lacks_connection(attempt)) fail(now, attempt);
    return;
  }
  if (!failing_.empty() && failing_.front().time <= now) {
    const Attempt attempt = take(failing_).attempt;
    if (lacks_connection(attempt)) fail_now(now, attempt);
    return;
  }
  close_idle(now);
}

void Calls::close_all(TimePoint now) {
  begin_pools();
  granted_ = {};
  line_ends_ = {};
  failing_.clear();
  longest_idle_.clear();
  next_pool_event_ = TimePoint::max();
  in_line_ = 0;
  target_->close_idle(now);
}

void Calls::lose_idle_connections(std::uint32_t host) {
  if (!has_pools_) return;
  const std::size_t first = connections_.picked ? 0 : host;
  for (std::size_t i = first; i < pools_.size(); i += connections_.picked ? 1 : hosts_) {
    pools_[i].connections.lose_idle(to_host(host));
  }
  idle_[host] = 0;
}

bool Calls::lose_longest_idle_of_any_pool(std::uint32_t host) {
  TimePoint longest = TimePoint::max();
  PooledConnections* found = nullptr;
  for (Pool& each : pools_) {
    const TimePoint since =
        each.connections.longest_idle_since(to_host(host)).value_or(TimePoint::max());
    if (since < longest) found = &each.connections;
    longest = std::min(longest, since);
  }
  if (found == nullptr) return false;
  bool lost = false;
  found->lose_idle(
      [&](const ConnectionPlace& each) { return each.host == host && !std::exchange(lost, true); });
  --idle_[host];
  return true;
}

void Calls::lose_connections_of(TimePoint now, std::uint32_t number) {
  const std::uint32_t host = number % hosts_;
  PooledConnections& pool = pools_[connections_.picked ? number / hosts_ : number].connections;
  idle_[host] -= pool.lose_idle(to_host(host));
  // First all of them: a hedge may be sent at once.
  std::vector<Attempt> lost;
  for (Slot slot = 0; slot < calls_.size(); ++slot) {
    const Call& call = calls_[slot];
    if (!call.in_flight || !call.connected || call.opens || number_at_host(slot) != number)
      continue;
    lost.push_back({slot, call.attempt});
  }
  for (const Attempt& attempt : lost) {
    if (!waits_for(attempt)) continue;
    target_->hang_up(now, attempt);
    Calls::lose_connection(now, attempt, NoAnswer::kReset);
  }
}

std::optional<KeptConnections> Calls::kept_connections() const {
  if (!has_pools_) return std::nullopt;
  KeptConnections kept = kept_;
  if (!connections_.multiplexed()) kept.idle = std::reduce(idle_.begin(), idle_.end());
  kept.in_line = in_line_;
  for (const Pool& each : pools_) {
    kept.open += each.connections.open();
    kept.opened += each.connections.opened();
    if (connections_.multiplexed()) kept.idle += each.connections.idle_connections();
  }
  return kept;
}

void Calls::time_out(TimePoint now) {
  Attempt attempt;
  if (!cut_short_.empty() && (timeouts_.empty() || later(timeouts_.front(), cut_short_.front()))) {
    attempt = take(cut_short_).attempt;
  } else {
    attempt = timeouts_.front().attempt;
    Calls::expect(timeouts_.peek(kPrefetch).attempt);
    timeouts_.pop();
  }
  if (!waits_for(attempt)) return;
  if (ends_otherwise_) return time_out_otherwise(now, attempt);
  hang_up(now, attempt);
  finish(now, attempt, timed_out(now - calls_[attempt.client].sent_at));
}

void Calls::time_out_otherwise(TimePoint now, const Attempt& attempt) {
  if (hedges_ != nullptr && outlives_timeout(now, attempt)) return;
  const bool resets = resets_stream(calls_[attempt.client]);
  hang_up(now, attempt);
  finish(now, attempt, timed_out(now - calls_[attempt.client].sent_at));
  if (resets) target_->reset(now, number_at_host(attempt.client));
}

void Calls::take_answer(TimePoint now, const Attempt& attempt, const Answer& answer) {
  const Duration latency = now - calls_[attempt.client].sent_at;
  if (answer.ok()) return finish(now, attempt, {.latency = latency});
  const auto hint =
      answer.retry_after > Duration::zero() ? std::optional(answer.retry_after) : std::nullopt;
  AttemptResult result = answered(answer.status(), hint, latency, answer.asks_for_less());
  result.no_retry = answer.no_retry;
  finish(now, attempt, result);
}

void Calls::lose_connection(TimePoint now, const Attempt& attempt, NoAnswer why) {
  const Call& call = calls_[attempt.client];
  AttemptResult result = not_connected(now - call.sent_at, why);
  result.lost = call.on_kept;
  if (connections_.sends_again(result)) return send_again(now, attempt, result);
  finish(now, attempt, result);
}

void Calls::finish(TimePoint now, const Attempt& attempt, const AttemptResult& result) {
  Call& call = calls_[attempt.client];
  call.in_flight = false;
  --in_flight_;
  in_service_ -= std::exchange(call.in_service, false) ? 1 : 0;
  if (ends_otherwise_) {
    if (has_pools_) leave_pool(now, attempt.client, result);
    if (hedges_ != nullptr) return finish_hedged(now, attempt, result);
  }
  forget_timeouts();
  counts_.count(result);
  conclude(now, attempt.client, result);
}

void Calls::conclude(TimePoint now, Slot slot, const AttemptResult& result) {
  Call& call = calls_[slot];
  const TimePoint begun = call.retry.begun;
  if (result.outcome == Outcome::kOk) {
    if (keeps_latencies_) latencies_.add_ok(begun, result.latency, now - begun);
    longest_without_ok_ = std::max(longest_without_ok_, now - call.last_ok);
    call.last_ok = now;
  }
  ClientRandom random(call.random);
  RetryProcess* const process = parts_of(slot);
  NextAttempt next =
      hedges_ == nullptr
          ? behaviour_.after(now, result, call.retry, process, random, retry_metrics_)
          : behaviour_.after_recorded(now, result, call.retry, process, random, retry_metrics_);
  call.random = random.state();
  if (ends_before(now, slot, next)) next = after_refusal(now, slot, Permission::Kind::kTooLate);
  if (next.gave_up) latencies_.add_given_up(begun, now - begun);
  follow(now, slot, next, &result);
}

NextAttempt Calls::after_refusal(TimePoint now, Slot slot, Permission::Kind why) {
  Call& call = calls_[slot];
  ClientRandom random(call.random);
  const NextAttempt next =
      behaviour_.after_refusal(now, why, call.retry, parts_of(slot), random, retry_metrics_);
  call.random = random.state();
  return next;
}

void Calls::refuse(TimePoint now, Slot slot, Permission::Kind why) {
  const TimePoint begun = calls_[slot].retry.begun;
  NextAttempt next = after_refusal(now, slot, why);
  if (next.gave_up) latencies_.add_given_up(begun, now - begun);
  follow(now, slot, next, nullptr);
}

void Calls::follow(TimePoint now, Slot slot, NextAttempt& next, const AttemptResult* ended) {
  if (next.wait == Duration::zero() && next.think == Duration::zero()) next.wait = kTurnaround;
  if (next.gave_up) counts_.give_up(*next.gave_up);
  Call& call = calls_[slot];
  if (next.retry && !call.next_is_retry) ++counts_.failing;
  if (!next.retry && call.next_is_retry) --counts_.failing;
  if (trace_ != nullptr || reports_waits_) report(now, slot, next, ended);
  call.next_is_retry = next.retry;
  if (!next.retry) return owner_.call_over(now, slot, next);
  ++waiting_to_retry_;
  wait_until(saturating_add(now, next.wait), slot);
}

void Calls::report(TimePoint now, Slot slot, const NextAttempt& next, const AttemptResult* ended) {
  if (trace_ != nullptr) {
    if (ended != nullptr && hedges_ == nullptr) trace_->ended(slot, *ended);
    trace_->follow(now, slot, next);
  }
  if (reports_waits_) owner_.waits(slot, next.wait);
}

RunLatencies Calls::end(TimePoint now) {
  for (Slot slot = 0; slot < calls_.size(); ++slot) {
    if (hedges_ != nullptr && hedges_->is_place(slot)) continue;
    const RetryState& retry = calls_[slot].retry;
    if (RetryPolicy::has_begun(retry)) latencies_.add_unfinished(retry.begun, now);
  }
  latencies_.end(timeout_, counts_);
  return std::move(latencies_);
}

Duration Calls::longest_without_ok(TimePoint now) const {
  Duration longest = longest_without_ok_;
  for (const Call& call : calls_) longest = std::max(longest, now - call.last_ok);
  return longest;
}

}  // namespace retrystorm
