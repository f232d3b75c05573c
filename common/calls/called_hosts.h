// The hosts of a service, for the threads that call it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <stop_token>
#include <thread>
#include <utility>
#include <vector>

#include "common/http/http_request.h"
#include "model/retry/attempt.h"
#include "model/run/picked_hosts.h"

namespace retrystorm {

// `PickedHosts` under a lock. All members are safe from any thread.
class CalledHosts {
 public:
  using Host = PickedHosts::Host;
  using List = PickedHosts::List;

  // `requests`: those to each host.
  CalledHosts(const HostSettings& settings, std::vector<HttpRequest> requests, std::uint64_t seed,
              std::size_t processes)
      : requests_(std::move(requests)),
        seed_(seed),
        hosts_(settings, seed, processes),
        missed_(size()) {}

  std::size_t size() const { return requests_.size(); }
  const HostSettings& settings() const { return hosts_.settings(); }
  std::uint64_t seed() const { return seed_; }
  const HttpRequest& request_to(Host host) const { return requests_[host]; }

  // Calls `use` with the hosts and the time.
  template <typename Use>
  auto with(const Use& use) {
    const std::scoped_lock lock(mutex_);
    return use(hosts_, Clock::now());
  }

  // See `PickedHosts`. Clients are dealt to processes in turn.
  Host pick(std::uint64_t client, List& tried) {
    return with([&](PickedHosts& hosts, TimePoint now) { return hosts.pick(now, client, tried); });
  }
  // For a new connection of a process, or `Picker::kNone`.
  Host choose(std::size_t process) {
    return with([&](PickedHosts& hosts, TimePoint now) { return hosts.choose(now, process); });
  }
  // The client's attempt is on a connection to this host.
  void begin(std::uint64_t client, Host host) {
    with([&](PickedHosts& hosts, TimePoint now) { return hosts.begin(now, client, host); });
  }
  // The attempt is over. `result`: null if it was interrupted or not sent.
  void ended(std::uint64_t client, Host host, const AttemptResult* result);

  // Hosts where at least `least` attempts found nothing, and none anything. Each is returned once.
  List take_missing(std::int64_t least);

 private:
  const std::vector<HttpRequest> requests_;
  const std::uint64_t seed_;
  std::mutex mutex_;  // guards what follows
  PickedHosts hosts_;
  static constexpr std::int64_t kSeen = -1;
  std::vector<std::int64_t> missed_;  // attempts that found nothing there; `kSeen`: or named
};

// Asks each host again and again whether it is well, on a thread for each. One that is not gets no traffic until it is.
// A status below 400 is well.
class HostProbes {
 public:
  // `requests`: one for each host. The first ones are at random times within the first period. `hosts` must outlive this
  // object. Throws std::system_error if there are no threads for them.
  HostProbes(const Probe& probe, std::vector<HttpRequest> requests, CalledHosts& hosts,
             std::uint64_t seed);

 private:
  void run(const std::stop_token& done, CalledHosts::Host host, TimePoint first);

  const Probe probe_;
  const std::vector<HttpRequest> requests_;
  CalledHosts& hosts_;
  std::vector<std::jthread> threads_;  // the last member: they end before the others
};

}  // namespace retrystorm
