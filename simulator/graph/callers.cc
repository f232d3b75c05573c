#include "simulator/graph/callers.h"

#include <algorithm>

#include "simulator/graph/graph_calls.h"

namespace retrystorm {

CallerOfHosts& Callers::as_one() {
  own_bits_ = 32 - std::max(kLeastDoorBits, static_cast<int>(std::bit_width(doors_.size() - 1)));
  return doors_.size() == 1 ? static_cast<CallerOfHosts&>(doors_.front()->calls) : *this;
}

Duration Callers::patience() const {
  Duration longest{0};
  for (const auto& each : doors_) longest = std::max(longest, each->calls.timeout());
  return longest;
}

AttemptPlaces Callers::places() const {
  std::size_t in_flight = 0, in_service = 0;
  for (const auto& each : doors_) {
    in_flight += each->calls.in_flight();
    in_service += each->calls.in_service();
  }
  return hosts_->places(in_flight, in_service);
}

void Callers::close_idle_after(TimePoint now, Duration time) {
  for (const auto& each : doors_) {
    if (each->calls.keeps_connections()) each->calls.close_idle_after(now, time);
  }
}

void Callers::keep_connections_to(const HostSettings& hosts) {
  for (const auto& each : doors_) each->calls.keep_connections_to(hosts);
}

void Callers::lose_idle_connections(std::uint32_t host) {
  for (const auto& each : doors_) each->calls.lose_idle_connections(host);
}

std::optional<std::size_t> Callers::idle_connections(std::uint32_t host) const {
  std::optional<std::size_t> sum;
  for (const auto& each : doors_) {
    if (const auto idle = each->calls.idle_connections(host)) sum = sum.value_or(0) + *idle;
  }
  return sum;
}

bool Callers::lose_longest_idle_connection(std::uint32_t host) {
  Door& door =
      **std::max_element(doors_.begin(), doors_.end(), [host](const auto& a, const auto& b) {
        return a->calls.idle_connections(host) < b->calls.idle_connections(host);
      });
  return door.calls.lose_longest_idle_connection(host);
}

bool Callers::multiplexes() const {
  return std::any_of(doors_.begin(), doors_.end(),
                     [](const auto& each) { return each->calls.multiplexes(); });
}

std::uint32_t Callers::process_of(const Attempt& attempt) const {
  const Door& door = door_of(attempt);
  return door.first_process +
         (door.calls.processes() > 1 ? door.calls.process_of(own(attempt)) : 0);
}

void Callers::lose_connections_of(TimePoint now, std::uint32_t pool) {
  std::size_t door = doors_.size() - 1;
  while (first_pool(*doors_[door]) > pool) --door;
  doors_[door]->calls.lose_connections_of(now, pool - first_pool(*doors_[door]));
}

bool Callers::want(const Attempt& attempt) const {
  const Door& door = door_of(attempt);
  if (!door.calls.waits_for(own(attempt))) return false;
  return door.from == nullptr ? door.calls.request_of(own(attempt)).has_value()
                              : door.from->is_wanted(own(attempt));
}

void Callers::Door::note(TimePoint now, const Attempt& attempt) {
  deadlines.sent(attempt, deadline == DeadlinePropagation::kAttempt
                              ? calls.attempt_left(now, attempt)
                              : calls.request_left(now, attempt));
  // An attempt that nobody waits for reaches the service only if it lies there unread.
  if (!deadlines.are_many() || !callers.hosts_->have_read_all()) return;
  deadlines.forget_old(now, [this](const Attempt& each) { return !calls.waits_for(each); });
}

}  // namespace retrystorm
