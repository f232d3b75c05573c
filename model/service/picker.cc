#include "model/service/picker.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

#include "model/base/text.h"

namespace retrystorm {
namespace {

// Below the streams of services and of kinds of clients.
constexpr std::uint64_t kStreams = std::numeric_limits<std::uint64_t>::max() - 1'000'000;
constexpr std::uint64_t kMostPicks = 1'000'000;

// What balancers do unless they are told otherwise. docs/options.md has their versions and sources.
const std::array kBalancers{
    HostSettings{},
    HostSettings{
        .picked_by = PickedBy::kClient, .eject = {.failures = 5}, .panic = 0.5, .like = "envoy"},
    HostSettings{.picked_by = PickedBy::kClient,
                 .eject = {.failures = 1, .base = std::chrono::seconds(1), .most = 1, .lost = true},
                 .like = "grpc"},
    HostSettings{.picked_by = PickedBy::kClient,
                 .balance = Balance::kTwo,
                 .eject = {.failures = 5, .base = std::chrono::seconds(5), .most = 1},
                 .panic = 0.5,
                 .like = "finagle"},
    HostSettings{.eject = {.failures = 1,
                           .base = std::chrono::seconds(10),
                           .most = 1,
                           .trial = true,
                           .errors = false,
                           .timeouts = false},
                 .like = "nginx"},
    HostSettings{.like = "haproxy"},
    HostSettings{
        .pick_per = PickPer::kConnection, .balance = Balance::kRandom, .like = "kube-proxy"},
};

const HostSettings& balancer(std::string_view like) {
  return *std::find_if(kBalancers.begin(), kBalancers.end(),
                       [like](const HostSettings& each) { return each.like == like; });
}

// What counts, and what follows, by the last word of --eject: there are no others.
constexpr std::array<std::pair<std::string_view, Ejection>, 5> kEjectionKinds{{
    {"", {}},
    {":trial", {.trial = true, .errors = false}},
    {":trial+5xx", {.trial = true}},
    {":trial-timeout", {.trial = true, .errors = false, .timeouts = false}},
    {":lost", {.lost = true}},
}};

bool is_in(std::span<const Picker::Host> hosts, Picker::Host host) {
  return std::find(hosts.begin(), hosts.end(), host) != hosts.end();
}

}  // namespace

RetryHost parse_retry_host(std::string_view text) {
  const std::vector<std::string_view> parts = split(text, ':');
  if (text == "any") return {};
  if (text == "other") return {.kind = RetryHost::Kind::kOther};
  if (parts.size() == 2 && parts[0] == "other") {
    return {.kind = RetryHost::Kind::kAgain,
            .times = static_cast<std::size_t>(parse_count(parts[1], 1, kMostPicks))};
  }
  refuse(unknown_name(text, {"any", "other", "other:N"}));
}

std::string to_string(const RetryHost& retry_host) {
  switch (retry_host.kind) {
    case RetryHost::Kind::kAny:
      return "any";
    case RetryHost::Kind::kOther:
      return "other";
    case RetryHost::Kind::kAgain:
      return "other:" + std::to_string(retry_host.times);
  }
  return "";
}

Ejection parse_ejection(std::string_view text) {
  if (is_none(text)) return {};
  const std::vector<std::string_view> parts = split(text, ':');
  const std::string word = parts.size() == 4 ? ':' + std::string(parts[3]) : "";
  const auto kind = std::find_if(kEjectionKinds.begin(), kEjectionKinds.end(),
                                 [&](const auto& each) { return each.first == word; });
  if (parts.size() > 4 || kind == kEjectionKinds.end()) {
    refuse(
        in_quotes(text) +
        " is not of the form FAILURES:BASE:SHARE, and :trial, :trial+5xx, :trial-timeout or :lost");
  }
  Ejection ejection = kind->second;
  ejection.failures = static_cast<std::size_t>(parse_count(parts[0], 1, kMostPicks));
  if (parts.size() > 1) ejection.base = parse_duration(parts[1], std::chrono::milliseconds(1));
  if (parts.size() > 2) ejection.most = parse_number(parts[2], 0, 1);
  return ejection;
}

std::string to_string(const Ejection& ejection) {
  if (!ejection.on()) return std::string(kNoneWord);
  const auto kind =
      std::find_if(kEjectionKinds.begin(), kEjectionKinds.end(), [&](const auto& each) {
        Ejection same = each.second;
        same.failures = ejection.failures;
        same.base = ejection.base;
        same.most = ejection.most;
        return same == ejection;
      });
  return std::to_string(ejection.failures) + ':' + format_duration(ejection.base) + ':' +
         print_number(ejection.most).append(kind->first);
}

void declare_options(OptionList& options, HostSettings& settings) {
  options.group("Replicas");
  Option& replicas = options.count(
      "replicas", settings.replicas,
      "how many hosts the service has; workers, queue, backlog and limits are each one's; FROM..TO = an autoscaler "
      "follows the use of their workers",
      1, HostSettings::kMostHosts, "hosts");
  replicas.with_range("1", "32");
  std::size_t& most = settings.life.scaling.most;
  replicas.set = [&most, set = std::move(replicas.set)](std::string_view text) {
    const std::size_t dots = text.find("..");
    const std::size_t to =
        dots == text.npos ? 0 : parse_count(text.substr(dots + 2), 1, HostSettings::kMostHosts);
    set(text.substr(0, dots));
    most = to;
  };
  replicas.get = [&most, get = std::move(replicas.get)] {
    return get() + (most == 0 ? "" : ".." + std::to_string(most));
  };
  std::vector<std::pair<std::string_view, std::string_view>> balancers;
  for (const HostSettings& each : kBalancers) balancers.emplace_back(each.like, each.like);
  Option& like = options.choice(
      "hosts-like", settings.like, std::move(balancers),
      "how hosts are picked and ejected, as this balancer does unless it is told otherwise; the options below override "
      "it");
  like.set = [&settings, set = std::move(like.set)](std::string_view name) {
    set(name);
    const HostSettings& own = balancer(settings.like);
    settings.picked_by = own.picked_by;
    settings.pick_per = own.pick_per;
    settings.balance = own.balance;
    settings.retry_host = own.retry_host;
    settings.eject = own.eject;
    settings.panic = own.panic;
  };
  options.choice(
      "picker", settings.picked_by, {{"proxy", PickedBy::kProxy}, {"client", PickedBy::kClient}},
      "who picks a host: one proxy for all (nginx, HAProxy), or each process of clients (gRPC, "
      "Envoy as a sidecar)");
  options.choice<PickPer>(
      "pick-per", settings.pick_per,
      {{"request", PickPer::kRequest}, {"connection", PickPer::kConnection}},
      "when: for each attempt, or for each new connection, which keeps its host (kube-proxy and other balancers of TCP)");
  options
      .duration_or_none(
          "connection-age", settings.connection_age,
          "with --pick-per=connection: how old a connection may become; then the next one is picked "
          "anew; none = any age",
          std::chrono::milliseconds(1))
      .with_range("5s", "5m");
  options.choice(
      "balance", settings.balance,
      {{"round-robin", Balance::kRoundRobin},
       {"random", Balance::kRandom},
       {"least", Balance::kLeast},
       {"two", Balance::kTwo}},
      "how: in turn; at random; the host with the fewest attempts under way (least_conn, leastconn); the better of two "
      "random hosts (Envoy's LEAST_REQUEST)");
  options
      .text(
          "retry-host",
          "where a retry goes: any (picked anew), other (a host that the request has not tried), "
          "other:N (picked again up to N times if it was tried)",
          [&settings](std::string_view text) { settings.retry_host = parse_retry_host(text); },
          [&settings] { return to_string(settings.retry_host); })
      .with_examples({"any", "other", "other:1"});
  options
      .text(
          "eject",
          "which hosts get no traffic for a while: FAILURES[:BASE[:SHARE[:KIND]]], after so many failures in a row, "
          "for BASE times the number of ejections, and at most this share of the hosts (5 = 5:30s:10%); KIND trial = "
          "for BASE, then one attempt shows whether it works (nginx), and errors count only with trial+5xx, timeouts "
          "not with trial-timeout (clients give up before the proxy); lost = only connections that fail count (gRPC); "
          "none",
          [&settings](std::string_view text) { settings.eject = parse_ejection(text); },
          [&settings] { return to_string(settings.eject); })
      .with_examples({"none", "5:30s:0.1", "1:10s:1:trial", "1:1s:1:lost"});
  options.number(
      "panic", settings.panic,
      "where fewer hosts than this share are left after ejections, all get traffic again", 0, 1);
  options
      .count_or_none(
          "subset", settings.subset,
          "with --picker=client: how many hosts each process knows, by chance; none = all", 1,
          HostSettings::kMostHosts, "hosts")
      .with_range("1", "32");
  declare_options(options, settings.life);
  options
      .count_or_none("outage-replicas", settings.outage_replicas,
                     "how many of the hosts the outage hits; none = all", 1,
                     HostSettings::kMostHosts, "hosts")
      .with_range("1", "32");
  options.needs("subset", "picker=client");
  options.no_effect("pick-per connection-age", [&settings] {
    const bool one_each =
        settings.like == "kube-proxy" && settings.connection_age == Duration::max();
    return settings.has_kept || one_each ? "" : "without --connections=keep-alive or multiplexed";
  });
  options.needs("connection-age", "pick-per=connection");
  options.needs("retry-host", "pick-per!=connection");
  options.no_effect("panic", [&settings] {
    if (settings.eject.on() || settings.life.probe.on()) return "";
    return settings.by_urls ? "without --eject" : "without --eject or --probe";
  });
  const auto alone = [&settings] {
    if (settings.most() > 1) return "";
    return settings.by_urls ? "without a second URL" : "without --replicas";
  };
  options.no_effect("hosts-like outage-replicas connection-age subset", alone);
  // What the balancer sets is not said beside it.
  const auto without = [&](std::string_view name, auto member) {
    options.no_effect(name, [&settings, alone, member] {
      const HostSettings& own = balancer(settings.like);
      return own.like == "none" || settings.*member != own.*member ? alone() : "";
    });
  };
  without("picker", &HostSettings::picked_by);
  without("pick-per", &HostSettings::pick_per);
  without("balance", &HostSettings::balance);
  without("retry-host", &HostSettings::retry_host);
  without("eject", &HostSettings::eject);
  without("panic", &HostSettings::panic);
}

OptionList options_of_picks(HostSettings& settings, bool alone) {
  OptionList all, lives, picks;
  declare_options(all, settings);
  declare_options(lives, settings.life);
  picks.add_all(all, [&lives, alone](const Option& each) {
    if (each.name == "picker" || each.name == "subset" || each.name == "outage-replicas") {
      return !alone;
    }
    return each.name == "probe" || (each.name != "replicas" && lives.find(each.name) == nullptr);
  });
  return picks;
}

void check(const HostSettings& settings) {
  check(settings.life, settings.replicas);
  if (settings.many() && settings.outage_replicas != HostSettings::kAll &&
      settings.outage_replicas > settings.replicas) {
    refuse("--outage-replicas=" + std::to_string(settings.outage_replicas) + ": there are " +
           std::to_string(settings.replicas) + (settings.by_urls ? " (--url)" : " (--replicas)"));
  }
}

Picker::Picker(const HostSettings& settings, std::uint64_t seed, std::uint64_t number)
    : settings_(settings),
      random_(seed, kStreams - number),
      hosts_(settings.most()),
      turn_(settings.most()),
      loads_(settings.balance == Balance::kLeast ? settings.most() : 1, Load{}) {
  // Pickers that all began with the first host would stay in step.
  if (settings.balance == Balance::kRoundRobin) next_ = static_cast<Host>(below(hosts_.size()));
  if (settings.balance == Balance::kLeast) {
    for (HostState& each : hosts_) each.picked = below(hosts_.size());
  }
  if (settings.picked_by == PickedBy::kClient && settings.subset < hosts_.size()) know_some();
  for (std::size_t host = settings.replicas; host < hosts_.size(); ++host) {
    hosts_[host].health = Health::kAway;
  }
  find_usable({});
}

void Picker::know_some() {
  std::vector<Host> all(hosts_.size());
  std::iota(all.begin(), all.end(), Host{0});
  for (std::size_t i = 0; i < settings_.subset; ++i)
    std::swap(all[i], all[i + below(all.size() - i)]);
  all.resize(settings_.subset);
  std::sort(all.begin(), all.end());
  known_ = std::move(all);
}

void Picker::set(TimePoint now, Host host, Health health) {
  if (std::exchange(hosts_[host].health, health) != health) find_usable(now);
}

Picker::Host Picker::choose(TimePoint now, std::span<const Host> tried) {
  if (!returns_.empty() && returns_.top().time <= now) {
    while (!returns_.empty() && returns_.top().time <= now) returns_.pop();
    find_usable(now);
  }
  if (usable_.empty()) return kNone;
  const RetryHost& retry = settings_.retry_host;
  Host host = pick_but(retry.kind == RetryHost::Kind::kOther ? tried : std::span<const Host>());
  for (std::size_t i = 0; i < retry.times && is_in(tried, host); ++i) host = pick_but({});
  return host;
}

void Picker::begin(TimePoint now, Host host) {
  ++hosts_[host].under_way;
  hosts_[host].picked = ++turn_;
  note_load(host);
  const Ejection& eject = settings_.eject;
  if (eject.trial && hosts_[host].failures > 0 && now - hosts_[host].looked >= eject.base) {
    hosts_[host].looked = now;
    if (hosts_[host].failures >= eject.failures) put_out(now, host, eject.base);
  }
}

Picker::Host Picker::pick_but(std::span<const Host> tried) {
  leave_out(tried);
  if (left_out_.size() == usable_.size()) {
    tried = {};
    left_out_.clear();
  }
  switch (settings_.balance) {
    case Balance::kRandom:
      return usable_[draw()];
    case Balance::kRoundRobin:
      return in_turn(tried);
    case Balance::kLeast:
      return least_loaded(tried);
    case Balance::kTwo:
      return better_of_two();
  }
  return kNone;
}

Picker::Host Picker::in_turn(std::span<const Host> tried) {
  // While none is left out, each stands at its number.
  auto at = next_ < usable_.size() && usable_[next_] == next_
                ? usable_.begin() + next_
                : std::lower_bound(usable_.begin(), usable_.end(), next_);
  while (true) {
    if (at == usable_.end()) at = usable_.begin();
    if (!is_in(tried, *at)) break;
    ++at;
  }
  next_ = *at + 1;
  return *at;
}

Picker::Host Picker::least_loaded(std::span<const Host> tried) {
  for (const Host each : tried) loads_.set(each, kUnusable);
  const Host host = loads_.first();
  for (const Host each : tried) note_load(each);
  return host;
}

std::size_t Picker::draw() {
  std::size_t place = below(usable_.size() - left_out_.size());
  for (const std::size_t each : left_out_) place += each <= place ? 1 : 0;
  return place;
}

Picker::Host Picker::better_of_two() {
  const std::size_t place = draw();
  left_out_.insert(std::upper_bound(left_out_.begin(), left_out_.end(), place), place);
  const Host first = usable_[place];
  if (left_out_.size() == usable_.size()) return first;
  const Host second = usable_[draw()];
  return hosts_[second].under_way < hosts_[first].under_way ? second : first;
}

void Picker::leave_out(std::span<const Host> hosts) {
  left_out_.clear();
  for (const Host each : hosts) {
    if (!hosts_[each].usable) continue;
    const auto at = std::lower_bound(usable_.begin(), usable_.end(), each);
    left_out_.push_back(static_cast<std::size_t>(at - usable_.begin()));
  }
  std::sort(left_out_.begin(), left_out_.end());
  left_out_.erase(std::unique(left_out_.begin(), left_out_.end()), left_out_.end());
}

std::size_t Picker::below(std::size_t bound) {
  const auto number = static_cast<std::size_t>(random_.uniform() * static_cast<double>(bound));
  return std::min(number, bound - 1);
}

void Picker::note_load(Host host) {
  if (settings_.balance != Balance::kLeast) return;
  const HostState& state = hosts_[host];
  loads_.set(host, state.usable ? Load{state.under_way, state.picked} : kUnusable);
}

void Picker::ended(TimePoint now, Host host, Ended how) {
  HostState& state = hosts_[host];
  if (how == Ended::kFailed && !settings_.eject.errors) how = Ended::kOk;
  if (how == Ended::kTimedOut && !settings_.eject.timeouts) how = Ended::kOk;
  --state.under_way;
  note_load(host);
  if (how == Ended::kOk && (!settings_.eject.trial || state.looked > state.failed)) {
    state.failures = 0;
    if (settings_.eject.trial && is_out(now, host)) put_out(now, host, Duration::zero());
    if (settings_.eject.lost) state.in_a_row = 0;
  }
  const bool fails =
      how == Ended::kLost || (!settings_.eject.lost && how != Ended::kOk && how != Ended::kOther);
  if (fails && settings_.eject.on()) fail(now, host);
}

void Picker::fail(TimePoint now, Host host) {
  const Ejection& eject = settings_.eject;
  HostState& state = hosts_[host];
  const bool was_out = is_out(now, host);
  if (was_out && !eject.trial) return;
  state.failed = state.looked = now;
  if (++state.failures < eject.failures) return;
  if (was_out) return put_out(now, host, eject.base);
  if (!eject.trial) state.failures = 0;
  std::size_t out = 0, there = 0;
  for_known([&](Host each) {
    there += hosts_[each].health != Health::kAway ? 1 : 0;
    out += is_out(now, each) ? 1 : 0;
  });
  if (out + 1 > eject.most_out(there)) return;
  ++state.ejections;
  if (eject.trial) return put_out(now, host, eject.base);
  if (eject.lost) {
    const double longer = std::pow(Ejection::kGrowth, state.in_a_row++);
    const Duration time = std::min(scale(eject.base, longer), Ejection::kLongestUnconnected);
    return put_out(now, host, scale(time, 0.8 + 0.4 * random_.uniform()));
  }
  const auto calm = static_cast<std::uint64_t>((now - state.out_until) / Ejection::kCalm);
  state.in_a_row = 1 + static_cast<std::uint32_t>(state.in_a_row -
                                                  std::min<std::uint64_t>(calm, state.in_a_row));
  put_out(now, host,
          std::min(scale(eject.base, state.in_a_row), std::max(eject.base, Ejection::kLongest)));
}

void Picker::put_out(TimePoint now, Host host, Duration time) {
  hosts_[host].out_until = saturating_add(now, time);
  returns_.push({hosts_[host].out_until, host});
  find_usable(now);
}

void Picker::find_usable(TimePoint now) {
  std::vector<Host> there;
  usable_.clear();
  for_known([&](Host host) {
    const Health health = hosts_[host].health;
    if (health != Health::kAway) there.push_back(host);
    if (health == Health::kUp && !is_out(now, host)) usable_.push_back(host);
  });
  if (static_cast<double>(usable_.size()) < settings_.panic * static_cast<double>(there.size())) {
    usable_ = std::move(there);
  }
  for (HostState& each : hosts_) each.usable = false;
  for (const Host each : usable_) hosts_[each].usable = true;
  for (Host host = 0; host < hosts_.size(); ++host) note_load(host);
}

}  // namespace retrystorm
