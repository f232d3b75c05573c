#include "common/calls/called_hosts.h"

#include "common/http/http_client.h"
#include "common/os/process.h"
#include "model/base/random.h"

namespace retrystorm {

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

HostProbes::HostProbes(const Probe& probe, std::vector<HttpRequest> requests, CalledHosts& hosts,
                       std::uint64_t seed)
    : probe_(probe), requests_(std::move(requests)), hosts_(hosts) {
  ClientRandom random(seed, 0);
  for (CalledHosts::Host host = 0; host < requests_.size(); ++host) {
    const TimePoint first = Clock::now() + scale(probe_.every, random.uniform());
    threads_.emplace_back(
        [this, host, first](const std::stop_token& done) { run(done, host, first); });
  }
}

void HostProbes::run(const std::stop_token& done, CalledHosts::Host host, TimePoint first) {
  HttpClient client;
  const std::stop_callback interrupts(done, [&client] { client.interrupt(); });
  std::size_t failures = 0;
  for (TimePoint next = first;; next = saturating_add(next, probe_.every)) {
    if (!sleep_until(next, done)) return;
    constexpr int kLeastError = 400;
    const HttpAnswer answer = client.send(requests_[host], probe_.timeout, 0);
    if (done.stop_requested()) return;
    const bool was_well = failures < probe_.failures;
    failures = answer && answer.response.status < kLeastError ? 0 : failures + 1;
    const bool well = failures < probe_.failures;
    if (well == was_well) continue;
    hosts_.with([&](PickedHosts& hosts, TimePoint now) {
      hosts.set_health(now, host, well ? Picker::Health::kUp : Picker::Health::kUnwell);
    });
  }
}

}  // namespace retrystorm
