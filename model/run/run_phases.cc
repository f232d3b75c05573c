#include "model/run/run_phases.h"

#include <algorithm>

namespace retrystorm {

std::optional<TimeBound> RequestTimes::max() const {
  if (ended.count() + so_far.count() == 0) return std::nullopt;
  const Duration known = ended.max().value_or(Duration{0});
  const Duration least = so_far.max().value_or(Duration{0});
  return TimeBound{.time = std::max(known, least), .or_more = least > known};
}

RunLatencies::RunLatencies(TimePoint start)
    : start_(start), starts_{start, start + kWarmUp}, requests_(2) {}

void RunLatencies::begin_phase(TimePoint now) {
  if (starts_.size() == 2) leaves_out_warm_up_ = leaves_out_warm_up(now - start_);
  starts_.push_back(now);
  requests_.resize(std::max(requests_.size(), index_of(starts_.size() - 1) + 1));
}

void RunLatencies::end(Duration timeout, Counts& counts) {
  const bool had_outage = starts_.size() > 2;
  const auto p99 = had_outage ? began_in(RunPhase::kBefore).times.ended.quantile(0.99) : timeout;
  constexpr double kLater = 3;  // times the p99, which one of 100 exceeds that is well
  const Duration least = std::min(timeout, p99 ? scale(*p99, kLater) : timeout);
  std::uint64_t old = 0;
  for (Requests& each : requests_) {
    std::erase_if(each.unfinished, [least](Duration age) { return age < least; });
    old += each.unfinished.size();
  }
  counts.young = counts.failing - std::min(counts.failing, old);
}

RunLatencies& RunLatencies::operator+=(const RunLatencies& other) {
  requests_.resize(std::max(requests_.size(), other.requests_.size()));
  for (std::size_t i = 0; i < other.requests_.size(); ++i) {
    Requests& sum = requests_[i];
    const Requests& each = other.requests_[i];
    sum.both.add(each.both);
    sum.attempts.add(each.attempts);
    sum.requests.add(each.requests);
    sum.so_far.add(each.so_far);
    sum.gave_up += each.gave_up;
    sum.unfinished.insert(sum.unfinished.end(), each.unfinished.begin(), each.unfinished.end());
  }
  return *this;
}

LatencyHistogram RunLatencies::attempts() const {
  LatencyHistogram all;
  for (const Requests& each : requests_) {
    all.add(each.both);
    all.add(each.attempts);
  }
  return all;
}

void RunLatencies::Requests::add_times_to(RequestTimes& times) const {
  times.ended.add(both);
  times.ended.add(requests);
  times.so_far.add(so_far);
}

RequestTimes RunLatencies::requests() const {
  RequestTimes all;
  for (const Requests& each : requests_) each.add_times_to(all);
  return all;
}

RunLatencies::Began RunLatencies::began_in(RunPhase phase) const {
  Began result;
  const auto add = [&](std::size_t index) {
    if (index >= requests_.size()) return;
    const Requests& requests = requests_[index];
    result.ok += requests.both.count() + requests.attempts.count();
    result.gave_up += requests.gave_up;
    result.unfinished += requests.unfinished.size();
    requests.add_times_to(result.times);
  };
  if (phase == RunPhase::kBefore && !leaves_out_warm_up_) add(0);
  add(1 + static_cast<std::size_t>(phase));
  return result;
}

std::optional<double> PhaseFigures::success_share() const {
  if (requests() == 0) return std::nullopt;
  return static_cast<double>(ok) / static_cast<double>(requests());
}

void PhaseTotals::pass(TimePoint now, const Counts& totals) {
  if (is_warm_ || begun_ > 0 || now < start_ + RunLatencies::kWarmUp) return;
  is_warm_ = true;
  warm_ = now;
  warm_totals_ = totals;
}

void PhaseTotals::next(TimePoint now, const Counts& totals) {
  const bool is_before = begun_ == 0;
  if (is_before && is_warm_ && RunLatencies::leaves_out_warm_up(now - start_)) {
    phase_start_ = warm_;
    phase_start_totals_ = warm_totals_;
  }
  Part& part = parts_[static_cast<std::size_t>(RunLatencies::phase_number(begun_++))];
  part.length += now - phase_start_;
  part.counts += totals - phase_start_totals_;
  phase_start_ = now;
  phase_start_totals_ = totals;
}

RunPhases PhaseTotals::phases(const RunLatencies& latencies) const {
  RunPhases phases;
  for (std::size_t i = 0; i < phases.size(); ++i) {
    const auto began = latencies.began_in(static_cast<RunPhase>(i));
    phases[i] = {.length = parts_[i].length,
                 .counts = parts_[i].counts,
                 .ok = began.ok,
                 .gave_up = began.gave_up,
                 .unfinished = began.unfinished,
                 .request_p50 = began.times.quantile(0.5),
                 .request_p99 = began.times.quantile(0.99)};
  }
  return phases;
}

}  // namespace retrystorm
