#include "common/calls/called_hosts.h"

namespace retrystorm {

void CalledHosts::ended(std::uint64_t client, Host host, const AttemptResult* result) {
  if (host == Picker::kNone) return;
  with([&](PickedHosts& hosts, TimePoint now) {
    const bool counts = result != nullptr;
    const auto end = counts ? Picker::end_of(result->outcome == Outcome::kOk, result->status)
                            : Picker::Ended::kOther;
    hosts.ended(now, client, host, end, counts);
    if (!counts || missed_[host] == kSeen) return;
    const bool nothing =
        result->no_answer == NoAnswer::kRefused || result->no_answer == NoAnswer::kUnreachable;
    missed_[host] = nothing ? missed_[host] + 1 : kSeen;
  });
}

CalledHosts::List CalledHosts::take_missing(std::int64_t least) {
  return with([&](const PickedHosts&, TimePoint) {
    List missing;
    for (Host host = 0; host < size(); ++host) {
      if (missed_[host] < least) continue;
      missed_[host] = kSeen;
      missing.push_back(host);
    }
    return missing;
  });
}

}  // namespace retrystorm
