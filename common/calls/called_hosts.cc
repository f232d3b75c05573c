#include "common/calls/called_hosts.h"

namespace retrystorm {
namespace {

// Without an answer the status is 0.
Picker::Ended end_of(const AttemptResult& result) {
  if (result.outcome == Outcome::kOk) return Picker::Ended::kOk;
  return result.status == 0 || result.status >= 500 ? Picker::Ended::kFailed
                                                    : Picker::Ended::kOther;
}

}  // namespace

void CalledHosts::ended(std::uint64_t client, Host host, const AttemptResult* result) {
  if (host == Picker::kNone) return;
  with([&](PickedHosts& hosts, TimePoint now) {
    const bool counts = result != nullptr;
    hosts.ended(now, client, host, counts ? end_of(*result) : Picker::Ended::kOther, counts);
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
