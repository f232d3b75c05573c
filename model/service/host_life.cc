#include "model/service/host_life.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "model/base/text.h"

namespace retrystorm {

Probe parse_probe(std::string_view text) {
  if (is_none(text)) return {};
  const std::vector<std::string_view> parts = split(text, ':');
  if (parts.size() > 4 || (parts.size() == 4 && parts[3] != "port")) {
    refuse(in_quotes(text) + " is not of the form EVERY:TIMEOUT:FAILURES[:port]");
  }
  constexpr Duration kLeast = std::chrono::milliseconds(1);
  constexpr std::uint64_t kMostFailures = 1'000;
  Probe probe{.every = parse_duration(parts[0], kLeast), .own_port = parts.size() == 4};
  if (parts.size() > 1) probe.timeout = parse_duration(parts[1], kLeast);
  if (parts.size() > 2) probe.failures = parse_count(parts[2], 1, kMostFailures);
  if (probe.timeout > probe.every) {
    refuse(in_quotes(text) + ": a probe's timeout must not be longer than its period");
  }
  return probe;
}

std::string to_string(const Probe& probe) {
  if (!probe.on()) return std::string(kNoneWord);
  return format_duration(probe.every) + ':' + format_duration(probe.timeout) + ':' +
         std::to_string(probe.failures) + (probe.own_port ? ":port" : "");
}

void declare_options(OptionList& options, HostLifeSettings& settings) {
  options
      .text(
          "probe",
          "who asks each host whether it is well: EVERY[:TIMEOUT[:FAILURES[:port]]], as Kubernetes does with "
          "10s:1s:3; it waits in the queue like a request, or has a port of its own; none",
          [&settings](std::string_view text) { settings.probe = parse_probe(text); },
          [&settings] { return to_string(settings.probe); })
      .with_examples({"none", "10s:1s:3", "30s:1s:3", "2s:2s:3:port"});
  options.choice(
      "probe-does", settings.probe_does,
      {{"stop-traffic", ProbeDoes::kStopTraffic}, {"restart", ProbeDoes::kRestart}},
      "what happens after so many failed probes: no traffic until one succeeds (readiness), or a restart "
      "(liveness)");
  options
      .duration("host-start", settings.start,
                "how long a host that starts or restarts gets no traffic", Duration::zero())
      .with_range("1s", "2m");
  options
      .duration("host-warm-up", settings.warm_up,
                "how long its capacity then grows to what it should be", Duration::zero())
      .with_range("1s", "2m");
  options.number("replicas-target", settings.scaling.target,
                 "with --replicas=FROM..TO: the share of busy workers that the autoscaler aims at",
                 0.01, 1);
  options.duration("replicas-every", settings.scaling.every, "how often it looks",
                   std::chrono::milliseconds(1));
  options.duration("replicas-down-after", settings.scaling.down_after,
                   "hosts end only if fewer were enough for so long", Duration::zero());
  options.needs("probe-does", "probe");
  options.no_effect_after("host-warm-up", [&settings] {
    return settings.scaling.on() ? "" : "without --replicas=FROM..TO";
  });
}

void check(const HostLifeSettings& settings, std::size_t replicas) {
  const std::size_t most = settings.scaling.most;
  if (settings.scaling.on() && most < replicas) {
    refuse("--replicas=" + std::to_string(replicas) + ".." + std::to_string(most) +
           ": the second number is the larger one");
  }
}

std::size_t HostScaler::by_use(std::size_t up, std::size_t starting, double use) const {
  const std::size_t now = up + starting;
  const auto enough = [](double ratio) {
    return std::abs(1 - ratio) <= ScalingSettings::kTolerance;
  };
  const auto times = [](double ratio, std::size_t hosts) {
    constexpr double kSlack = 1e-9;  // a use like 0.7 is a little more than that
    return static_cast<std::size_t>(std::ceil(ratio * static_cast<double>(hosts) - kSlack));
  };
  if (up == 0) return now;
  const double ratio = use / settings_.target;
  if (starting == 0 || ratio <= 1) return enough(ratio) ? now : times(ratio, up);
  // Hosts that start count as idle, so that none are added for a load that they will take.
  const double with_starting = ratio * static_cast<double>(up) / static_cast<double>(now);
  return enough(with_starting) || with_starting < 1 ? now : times(with_starting, now);
}

std::size_t HostScaler::wanted(TimePoint now, std::size_t up, std::size_t starting, double use) {
  const std::size_t there = up + starting;
  while (!wanted_.empty() && wanted_.front().first + settings_.down_after < now) {
    wanted_.pop_front();
  }
  std::size_t hosts = by_use(up, starting, use);
  wanted_.emplace_back(now, hosts);
  if (hosts < there) {
    for (const auto& [when, each] : wanted_) hosts = std::max(hosts, each);
    hosts = std::min(hosts, there);
  }
  hosts = std::min(hosts, std::max(2 * there, there + ScalingSettings::kAtOnce));
  return std::clamp(hosts, least_, settings_.most);
}

}  // namespace retrystorm
