#include "simulator/clients.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace retrystorm {
namespace {

// Estimates how many waits there are at a time.
std::size_t expected_waits(const WorkloadOptions& workload, Duration length) {
  return workload.arrivals == Arrivals::kOpen
             ? static_cast<std::size_t>(arrival_rate(workload) * to_seconds(length))
             : workload.clients;
}

}  // namespace

Clients::Clients(const Scenario& scenario, const WorkloadOptions& workload, std::uint64_t seed,
                 RequestTrace* trace)
    : count_(workload.clients),
      kind_(workload.arrivals),
      end_(saturating_add(TimePoint{}, scenario.length)),
      load_changes_(std::any_of(scenario.changes.begin(), scenario.changes.end(),
                                [](const Change& each) { return each.load != 1; })),
      calls_(workload, seed, end_, expected_waits(workload, scenario.length), *this, trace),
      open_arrivals_(open_arrivals(workload, seed)) {
  if (kind_ != Arrivals::kJob) return;
  job_.emplace(workload.job, count_);
  calls_.report_waits();
}

void Clients::start(Target& server) {
  calls_.send_to(server);
  if (kind_ == Arrivals::kOpen) {
    next_arrival_ = saturating_add(TimePoint{}, open_arrivals_.next_gap());
    return;
  }
  if (kind_ == Arrivals::kJob) {
    next_arrival_ = TimePoint{};
    return;
  }
  calls_.add_slots(count_);
  for (std::uint32_t i = 0; i < count_; ++i) {
    begin_later(TimePoint{}, i, Duration::zero(), calls_.occupy(TimePoint{}, i, i));
  }
}

void Clients::begin_worker(TimePoint now) {
  // There may be no tasks left by now. Then no worker starts.
  const bool starts = job_->next_start().has_value();
  if (starts) job_->start();
  const auto next = job_->next_start();
  next_arrival_ = next ? saturating_add(TimePoint{}, *next) : TimePoint::max();
  if (!starts) return;
  const std::uint32_t slot = calls_.add_slot();
  pauses_.emplace_back(0);
  calls_.occupy(now, slot, slot);
  calls_.begin(now, slot);
}

void Clients::arrive(TimePoint now) {
  if (job_) return begin_worker(now);
  next_arrival_ = saturating_add(now, scale(open_arrivals_.next_gap(), 1 / load_));
  const std::uint32_t slot = free_slots_.empty() ? calls_.add_slot() : free_slots_.take_back();
  calls_.occupy(now, slot, arrivals_++);
  calls_.begin(now, slot);
}

void Clients::call_over(TimePoint now, std::uint32_t slot, const NextAttempt& next) {
  if (kind_ == Arrivals::kClosed || (job_ && job_->next_call(slot))) {
    return begin_later(now, slot, next.wait, next.think);
  }
  calls_.vacate(now, slot);
  if (!job_) return free_slots_.push(slot);
  pauses_[slot] = Duration::zero();
  if (job_->all_done()) next_arrival_ = now;
}

void Clients::begin_later(TimePoint now, std::uint32_t slot, Duration wait, Duration think) {
  if (!load_changes_)
    return calls_.begin_at(saturating_add(now, saturating_add(wait, think)), slot);
  const TimePoint time = saturating_add(saturating_add(now, wait), scale(think, 1 / load_));
  calls_.begin_at(time, slot);
  if (time > end_) after_end_.push_back({time, slot});
}

void Clients::set_load(TimePoint now, double load) {
  if (load == load_) return;
  const double ratio = load_ / load;  // new times / old times
  const double before = std::exchange(load_, load);
  if (kind_ == Arrivals::kOpen) {
    // Poisson arrivals have no memory: after a time without load the next one is as far away as after any other.
    const Duration left = before == 0 ? scale(open_arrivals_.next_gap(), 1 / load)
                                      : scale(next_arrival_ - now, ratio);
    next_arrival_ = load == 0 ? TimePoint::max() : saturating_add(now, left);
    return;
  }
  std::vector<WaitCalendar::Wait> waits = calls_.take_beginnings();
  waits.insert(waits.end(), after_end_.begin(), after_end_.end());
  after_end_.clear();
  for (WaitCalendar::Wait& wait : waits) {
    // The pause comes before the think time, and does not depend on the load.
    const TimePoint thinks_from = std::max(now, calls_.pauses_until(wait.client));
    if (wait.end > thinks_from) {
      wait.end = saturating_add(thinks_from, scale(wait.end - thinks_from, ratio));
    }
    calls_.begin_at(wait.end, wait.client);
    if (wait.end > end_) after_end_.push_back(wait);
  }
}

ClientStates Clients::states() const {
  const std::size_t in_flight = calls_.requests_in_flight();
  const std::size_t busy = in_flight + calls_.waiting_to_retry();
  // In an open system nobody thinks: requests come from outside.
  const std::size_t all = kind_ == Arrivals::kOpen ? busy : job_ ? job_->present() : calls_.slots();
  ClientStates states{.thinking = all - busy,
                      .in_flight = in_flight,
                      .waiting_to_retry = calls_.waiting_to_retry()};
  states.kept = calls_.kept_connections();
  if (job_) {
    const Duration pauses = std::accumulate(pauses_.begin(), pauses_.end(), Duration::zero());
    states.mean_pause = all == 0 ? Duration::zero() : pauses / static_cast<std::int64_t>(all);
  }
  return states;
}

}  // namespace retrystorm
