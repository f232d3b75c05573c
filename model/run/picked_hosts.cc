#include "model/run/picked_hosts.h"

#include <algorithm>
#include <utility>

namespace retrystorm {

PickedHosts::PickedHosts(const HostSettings& settings, std::uint64_t seed, std::size_t processes)
    : settings_(settings), totals_(settings.replicas), taken_(settings.replicas) {
  const bool one = settings.picked_by == PickedBy::kProxy;
  const std::size_t count = one ? 1 : std::max<std::size_t>(processes, 1);
  pickers_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) pickers_.emplace_back(settings, seed, i);
}

PickedHosts::Host PickedHosts::pick(TimePoint now, std::size_t process, List& tried) {
  const Host host = pickers_[process % pickers_.size()].pick(now, tried);
  if (host == Picker::kNone) return host;
  ++totals_[host].attempts;
  if (settings_.retry_host.kind != RetryHost::Kind::kAny) tried.push_back(host);
  return host;
}

void PickedHosts::ended(TimePoint now, std::size_t process, Host host, Picker::Ended how,
                        bool counts) {
  pickers_[process % pickers_.size()].ended(now, host, how);
  if (counts) ++(how == Picker::Ended::kOk ? totals_[host].ok : totals_[host].failed);
}

void PickedHosts::outage_ends() {
  for (Host host = 0; host < size(); ++host) {
    totals_[host].attempts_in_outage += totals_[host].attempts - before_outage_[host].attempts;
  }
}

HostIntervals PickedHosts::totals(TimePoint now) const {
  HostIntervals totals = totals_;
  for (Host host = 0; host < size(); ++host) {
    for (const Picker& each : pickers_) {
      totals[host].ejections += each.ejections(host);
      totals[host].out += each.is_out(now, host) ? 1 : 0;
    }
    totals[host].out /= static_cast<double>(pickers_.size());
  }
  return totals;
}

HostIntervals PickedHosts::take_new(HostIntervals totals) {
  for (Host host = 0; host < size(); ++host) {
    const HostInterval before = std::exchange(taken_[host], totals[host]);
    totals[host].attempts -= before.attempts;
    totals[host].ok -= before.ok;
    totals[host].failed -= before.failed;
    totals[host].ejections -= before.ejections;
  }
  return totals;
}

HostsResult PickedHosts::result(HostIntervals totals) const {
  return {.hosts = std::move(totals),
          .hit = settings_.hit(),
          .by_load = settings_.balance == Balance::kLeast || settings_.balance == Balance::kTwo,
          .first = size(),
          .most = size()};
}

}  // namespace retrystorm
