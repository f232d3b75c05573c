#include "simulator/hosts.h"

#include <algorithm>
#include <span>
#include <utility>

namespace retrystorm {
namespace {

// Each host draws its own random numbers, and the first one those of a service with one host.
std::uint64_t seed_of(std::uint64_t seed, std::size_t host) {
  return seed + host * 0x9e3779b97f4a7c15;
}

void add(ProvisionedCapacity& sum, const ProvisionedCapacity& each) {
  sum.rate += each.rate;
  sum.use.provided += each.use.provided;
  sum.use.used += each.use.used;
}

std::vector<Picker> make_pickers(const HostSettings& settings, std::uint64_t seed,
                                 const Calls& calls) {
  std::vector<Picker> pickers;
  if (!settings.many()) return pickers;
  const std::size_t count =
      settings.picked_by == PickedBy::kClient ? std::max<std::size_t>(calls.processes(), 1) : 1;
  pickers.reserve(count);
  for (std::size_t i = 0; i < count; ++i) pickers.emplace_back(settings, seed, i);
  return pickers;
}

}  // namespace

Hosts::Hosts(const HostSettings& settings, const ServiceOptions& options, std::uint64_t seed,
             std::size_t syn_linear_timeouts, Duration patience, Caller& caller, const Calls& calls,
             RequestTrace* trace)
    : settings_(settings),
      many_(settings.many()),
      caller_(caller),
      calls_(calls),
      answers_([this, &settings] {
        std::vector<std::unique_ptr<Answers>> answers;
        for (Host host = 0; settings.many() && host < settings.replicas; ++host) {
          answers.push_back(std::make_unique<Answers>(*this, host));
        }
        return answers;
      }()),
      servers_([&] {
        std::vector<std::unique_ptr<ServerNode>> servers;
        for (Host host = 0; host < settings.replicas; ++host) {
          servers.push_back(std::make_unique<ServerNode>(
              options, seed_of(seed, host), syn_linear_timeouts, patience,
              answers_.empty() ? caller : *answers_[host], trace));
        }
        return servers;
      }()),
      first_(servers_.front().get()),
      pickers_(make_pickers(settings, seed, calls)),
      events_(servers_.size(), TimePoint::max()),
      repeats_(servers_.size(), TimePoint::max()),
      in_service_(servers_.size()),
      totals_(servers_.size()),
      taken_(servers_.size()) {
  for (Host host = 0; many() && host < servers_.size(); ++host) note(host);
}

void Hosts::Answers::take_answer(TimePoint now, const Attempt& attempt, const Answer& answer) {
  ++(answer.ok() ? hosts_.totals_[host_].ok : hosts_.totals_[host_].failed);
  hosts_.ended(now, attempt,
               answer.ok()              ? Picker::Ended::kOk
               : answer.status() >= 500 ? Picker::Ended::kFailed
                                        : Picker::Ended::kOther);
  hosts_.caller_.take_answer(now, attempt, answer);
}

void Hosts::Answers::lose_connection(TimePoint now, const Attempt& attempt, NoAnswer why) {
  ++hosts_.totals_[host_].failed;
  hosts_.ended(now, attempt, Picker::Ended::kFailed);
  hosts_.caller_.lose_connection(now, attempt, why);
}

Picker& Hosts::picker_of(const Attempt& attempt) {
  return pickers_.size() == 1 ? pickers_.front() : pickers_[calls_.process_of(attempt)];
}

std::vector<Picker::Host>& Hosts::tried_by(const Attempt& attempt) {
  const Calls::Slot request = *calls_.request_of(attempt);
  if (request >= tried_.size()) tried_.resize(request + 1);
  if (calls_.is_first(attempt)) tried_[request].clear();
  return tried_[request];
}

void Hosts::connect(TimePoint now, const Attempt& attempt) {
  const bool avoids = settings_.retry_host.kind != RetryHost::Kind::kAny;
  std::vector<Host>* const tried = avoids ? &tried_by(attempt) : nullptr;
  const Host host =
      picker_of(attempt).pick(now, tried ? std::span<const Host>(*tried) : std::span<const Host>());
  if (host == Picker::kNone) return caller_.lose_connection(now, attempt, NoAnswer::kRefused);
  if (tried) tried->push_back(host);
  if (attempt.client >= host_of_.size()) host_of_.resize(attempt.client + 1);
  host_of_[attempt.client] = host;
  ++totals_[host].attempts;
  servers_[host]->connect(now, attempt);
  note(host);
}

void Hosts::hang_up(TimePoint now, const Attempt& attempt) {
  const Host host = host_of_[attempt.client];
  const bool too_late = calls_.attempt_left(now, attempt) <= Duration::zero();
  if (too_late) ++totals_[host].failed;
  ended(now, attempt, too_late ? Picker::Ended::kFailed : Picker::Ended::kOther);
  servers_[host]->hang_up(now, attempt);
  note(host);
}

void Hosts::ended(TimePoint now, const Attempt& attempt, Picker::Ended how) {
  picker_of(attempt).ended(now, host_of_[attempt.client], how);
}

void Hosts::note(Host host) {
  const ServerNode& server = *servers_[host];
  const auto update = [host](Tournament<TimePoint>& times, TimePoint time) {
    if (times.key(host) != time) times.set(host, time);
  };
  update(events_, server.next_event());
  update(repeats_, server.next_repeat());
  all_in_service_ -= in_service_[host];
  all_in_service_ += in_service_[host] = server.concurrency();
  peak_ = std::max(peak_, all_in_service_);
}

void Hosts::take(TimePoint now) {
  if (!many()) return first_->take(now);
  const Host host = events_.first();
  servers_[host]->take(now);
  note(host);
}

void Hosts::repeat_syn(TimePoint now) {
  if (!many()) return first_->repeat_syn(now);
  const Host host = repeats_.first();
  servers_[host]->repeat_syn(now);
  note(host);
}

KernelState Hosts::kernel() const {
  KernelState sum = first_->kernel();
  for (Host host = 1; host < servers_.size(); ++host) {
    const KernelState each = servers_[host]->kernel();
    sum.accept_queue += each.accept_queue;
    sum.unread += each.unread;
    sum.no_room += each.no_room;
  }
  return sum;
}

std::optional<std::size_t> Hosts::waiting() const {
  std::optional<std::size_t> sum = first_->waiting();
  for (Host host = 1; sum && host < servers_.size(); ++host) *sum += *servers_[host]->waiting();
  return sum;
}

AttemptPlaces Hosts::places(std::size_t in_flight, std::size_t in_service) const {
  AttemptPlaces sum;
  const auto add = [](AttemptPlaces::Place& to, const AttemptPlaces::Place& from) {
    to.all += from.all;
    to.stale += from.stale;
  };
  for (const auto& server : servers_) {
    const AttemptPlaces each = server->places(0, 0);
    add(sum.accept_queue, each.accept_queue);
    add(sum.buffers, each.buffers);
    sum.service.all += each.service.all;
  }
  sum.complete(in_flight, in_service);
  return sum;
}

std::optional<ProvisionedCapacity> Hosts::capacity(TimePoint now) const {
  std::optional<ProvisionedCapacity> sum = first_->capacity(now);
  for (Host host = 1; sum && host < servers_.size(); ++host) {
    add(*sum, *servers_[host]->capacity(now));
  }
  return sum;
}

ServerInterval Hosts::take_interval(TimePoint now) {
  TimesInService times;
  ServerInterval sum = first_->take_interval(now, times);
  for (Host host = 1; host < servers_.size(); ++host) {
    const ServerInterval each = servers_[host]->take_interval(now, times);
    sum.concurrency += each.concurrency;
    sum.last_delay = std::max(sum.last_delay, each.last_delay);
    sum.counts += each.counts;
    if (sum.workers) {
      sum.workers->workers += each.workers->workers;
      sum.workers->busy += each.workers->busy;
      sum.workers->waiting += each.workers->waiting;
    }
    if (sum.capacity) add(*sum.capacity, *each.capacity);
  }
  sum.times = times.quantiles();
  return sum;
}

std::optional<FoundOnWaking> Hosts::found_on_waking() const {
  std::optional<FoundOnWaking> sum;
  for (const auto& server : servers_) {
    const std::optional<FoundOnWaking>& each = server->found_on_waking();
    if (!each) continue;
    if (!sum) sum.emplace();
    sum->accept_queue += each->accept_queue;
    sum->kept += each->kept;
    sum->stale += each->stale;
    sum->no_room += each->no_room;
  }
  return sum;
}

HostInterval Hosts::state(TimePoint now, Host host) const {
  HostInterval state = totals_[host];
  const ServerNode& server = *servers_[host];
  state.frozen = !server.awake();
  state.concurrency = server.concurrency();
  if (const auto workers = server.workers()) {
    state.busy = workers->busy;
    state.waiting = workers->waiting;
  }
  std::size_t out = 0;
  for (const Picker& each : pickers_) {
    state.ejections += each.ejections(host);
    out += each.is_out(now, host) ? 1 : 0;
  }
  state.out = static_cast<double>(out) / static_cast<double>(pickers_.size());
  return state;
}

HostIntervals Hosts::take_intervals(TimePoint now) {
  HostIntervals intervals = states(now);
  for (Host host = 0; host < intervals.size(); ++host) {
    HostInterval& each = intervals[host];
    const HostInterval before = std::exchange(taken_[host], each);
    each.attempts -= before.attempts;
    each.ok -= before.ok;
    each.failed -= before.failed;
    each.ejections -= before.ejections;
  }
  return intervals;
}

HostIntervals Hosts::states(TimePoint now) const {
  HostIntervals states;
  for (Host host = 0; many() && host < servers_.size(); ++host) states.push_back(state(now, host));
  return states;
}

void Hosts::outage_ends() {
  for (Host host = 0; host < servers_.size(); ++host) {
    HostInterval& totals = totals_[host];
    totals.attempts_in_outage += totals.attempts - before_outage_[host].attempts;
  }
}

std::optional<HostsResult> Hosts::result(TimePoint now) const {
  if (!many()) return std::nullopt;
  return HostsResult{
      .hosts = states(now),
      .hit = settings_.hit(),
      .by_load = settings_.balance == Balance::kLeast || settings_.balance == Balance::kTwo};
}

bool Hosts::awake() const {
  return std::any_of(servers_.begin(), servers_.end(),
                     [](const auto& each) { return each->awake(); });
}

bool Hosts::peak_is_bound() const {
  return std::any_of(servers_.begin(), servers_.end(),
                     [](const auto& each) { return each->peak_is_bound(); });
}

}  // namespace retrystorm
