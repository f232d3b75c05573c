#include "model/run/picked_hosts.h"

#include <algorithm>

namespace retrystorm {

PickedHosts::PickedHosts(const HostSettings& settings, std::uint64_t seed, std::size_t processes)
    : settings_(settings), totals_(settings.most()), taken_(settings.most()) {
  const bool one = settings.picked_by == PickedBy::kProxy;
  const std::size_t count = one ? 1 : std::max<std::size_t>(processes, 1);
  pickers_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) pickers_.emplace_back(settings, seed, i);
}

PickedHosts::Host PickedHosts::pick(TimePoint now, std::size_t process, List& tried) {
  const Host host = picker_of(process).pick(now, tried);
  if (host == Picker::kNone) return host;
  ++totals_[host].attempts;
  if (settings_.retry_host.kind != RetryHost::Kind::kAny) tried.push_back(host);
  return host;
}

bool PickedHosts::begin(TimePoint now, std::size_t process, Host host) {
  Picker& picker = picker_of(process);
  if (picker.is_away(host)) return false;
  picker.begin(now, host);
  ++totals_[host].attempts;
  return true;
}

void PickedHosts::ended(TimePoint now, std::size_t process, Host host, Picker::Ended how,
                        bool counts) {
  Picker& picker = picker_of(process);
  picker.ended(now, host, how);
  if (how != Picker::Ended::kOk && picker.is_out(now, host)) note_out(now, host);
  if (counts) ++(how == Picker::Ended::kOk ? totals_[host].ok : totals_[host].failed);
}

void PickedHosts::note_out(TimePoint now, Host host) {
  if (!first_out_) first_out_.emplace(host, now - TimePoint{});
}

void PickedHosts::set_health(TimePoint now, Host host, Picker::Health health) {
  if (health == Picker::Health::kUnwell) note_out(now, host);
  for (Picker& each : pickers_) each.set(now, host, health);
}

void PickedHosts::killed(TimePoint now, Host host) {
  ++totals_[host].killed;
  note_out(now, host);
}

void PickedHosts::outage_ends() {
  totals_ = with_outage(totals_);
  before_outage_.clear();
  outage_ended_ = totals_;
}

HostIntervals PickedHosts::with_outage(HostIntervals totals) const {
  for (Host host = 0; host < before_outage_.size(); ++host) {
    totals[host].attempts_in_outage += totals[host].attempts - before_outage_[host].attempts;
  }
  return totals;
}

HostIntervals PickedHosts::totals(TimePoint now) const {
  HostIntervals totals = with_outage(totals_);
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
    totals[host] -= before;
  }
  return totals;
}

HostsResult PickedHosts::result(HostIntervals totals) const {
  for (Host host = 0; host < outage_ended_.size(); ++host) {
    totals[host].attempts_after = totals[host].attempts - outage_ended_[host].attempts;
    totals[host].ok_after = totals[host].ok - outage_ended_[host].ok;
  }
  return {.hosts = std::move(totals),
          .hit = settings_.hit(),
          .by_load = settings_.balance == Balance::kLeast || settings_.balance == Balance::kTwo,
          .first = settings_.replicas,
          .most = settings_.replicas,
          .first_out = first_out_};
}

}  // namespace retrystorm
