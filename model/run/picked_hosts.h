// The pickers of a service's hosts, and what became of the attempts that they sent there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "model/base/duration.h"
#include "model/retry/attempt.h"
#include "model/run/connections.h"
#include "model/run/host_report.h"
#include "model/service/picker.h"

namespace retrystorm {

// How somebody connects to these hosts: is one of them picked for each connection that he keeps?
inline ConnectionSettings connections_to(const HostSettings& hosts, ConnectionSettings settings) {
  settings.picked = settings.kept() && hosts.pick_per == PickPer::kConnection;
  if (settings.picked) settings.age = hosts.connection_age;
  return settings;
}

// What the result of an attempt says of its host.
inline Picker::Ended end_of(const AttemptResult& result) {
  if (result.outcome == Outcome::kTimedOut) return Picker::Ended::kTimedOut;
  return Picker::end_of(result.outcome == Outcome::kOk, result.status);
}

// Has no lock: the caller prevents concurrent calls. Times passed in never decrease.
class PickedHosts {
 public:
  using Host = Picker::Host;
  using List = std::vector<Host>;

  // `processes`: of the clients. Each has a picker of its own if the settings say so.
  PickedHosts(const HostSettings& settings, std::uint64_t seed, std::size_t processes);

  std::size_t size() const { return totals_.size(); }
  const HostSettings& settings() const { return settings_; }

  // The host for an attempt of a client of this process, which must end, or `Picker::kNone`. `tried`: what its request
  // has tried, to which this one is added if a retry must know.
  Host pick(TimePoint now, std::size_t process, List& tried);
  // The host for a new connection of this process, or `Picker::kNone`; and an attempt goes there, which must end. Returns
  // false if the host is away, and has closed its connections.
  Host choose(TimePoint now, std::size_t process) { return picker_of(process).choose(now); }
  bool begin(TimePoint now, std::size_t process, Host host);
  // The attempt is over. `counts`: it has a result, and was not cancelled.
  void ended(TimePoint now, std::size_t process, Host host, Picker::Ended how, bool counts = true);

  // What is known of a host besides.
  void set_health(TimePoint now, Host host, Picker::Health health);
  void restarted(Host host) { ++totals_[host].restarts; }
  void killed(TimePoint now, Host host);

  void outage_begins() { before_outage_ = totals_; }
  void outage_ends();

  // Of each host since the start, without what only the host knows.
  HostIntervals totals(TimePoint now) const;
  // What of these is new since the last call.
  HostIntervals take_new(HostIntervals totals);
  HostsResult result(HostIntervals totals) const;

 private:
  Picker& picker_of(std::size_t process) { return pickers_[process % pickers_.size()]; }
  void note_out(TimePoint now, Host host);
  // With the attempts of an outage that is under way.
  HostIntervals with_outage(HostIntervals totals) const;

  const HostSettings settings_;
  std::vector<Picker> pickers_;  // one, or one of each process
  HostIntervals totals_, taken_;
  HostIntervals before_outage_;  // empty: there is none now
  HostIntervals outage_ended_;   // what there was then; empty: not yet
  std::optional<std::pair<std::size_t, Duration>> first_out_;
};

}  // namespace retrystorm
