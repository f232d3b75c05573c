#include "simulator/hosts.h"

#include <array>

namespace retrystorm {
namespace {

void add(ProvisionedCapacity& sum, const ProvisionedCapacity& each) {
  sum.rate += each.rate;
  sum.use.provided += each.use.provided;
  sum.use.used += each.use.used;
}

}  // namespace

Hosts::Hosts(const HostSettings& settings, const ServiceOptions& options, std::uint64_t seed,
             std::size_t syn_linear_timeouts, Duration patience, Caller& caller,
             CallerOfHosts& calls, RequestTrace* trace)
    : settings_(settings),
      many_(settings.many()),
      caller_(caller),
      calls_(calls),
      answers_([this, &settings] {
        if (settings.many()) calls_.keep_connections_to(settings);
        std::vector<std::unique_ptr<Answers>> answers;
        for (Host host = 0; settings.many() && host < settings.most(); ++host) {
          answers.push_back(std::make_unique<Answers>(*this, host));
        }
        return answers;
      }()),
      servers_([&] {
        std::vector<std::unique_ptr<ServerNode>> servers;
        for (Host host = 0; host < settings.most(); ++host) {
          servers.push_back(std::make_unique<ServerNode>(
              options, seed_of(seed, host), syn_linear_timeouts, patience,
              answers_.empty() ? caller : *answers_[host], trace));
        }
        return servers;
      }()),
      first_(servers_.front().get()),
      picked_(settings, seed, settings.many() ? calls.processes() : 0),
      events_(servers_.size(), TimePoint::max()),
      repeats_(servers_.size(), TimePoint::max()),
      in_service_(servers_.size()),
      configured_{options, std::nullopt},
      lives_(many_ ? servers_.size() : 0),
      scaler_(settings.life.scaling, settings.replicas) {
  if (many()) begin_lives(seed);
}

void Hosts::Answers::take_answer(TimePoint now, const Attempt& attempt, const Answer& answer) {
  if (attempt.is_probe()) return hosts_.probe_ended(now, host_, answer.ok());
  hosts_.ended(now, attempt, Picker::end_of(answer.ok(), answer.status()));
  hosts_.caller_.take_answer(now, attempt, answer);
}

void Hosts::Answers::lose_connection(TimePoint now, const Attempt& attempt, NoAnswer why) {
  if (attempt.is_probe()) return hosts_.probe_ended(now, host_, false);
  hosts_.ended(now, attempt, Picker::Ended::kLost);
  hosts_.caller_.lose_connection(now, attempt, why);
}

std::size_t Hosts::process_of(const Attempt& attempt) const {
  return settings_.picked_by == PickedBy::kClient ? calls_.process_of(attempt) : 0;
}

std::vector<Picker::Host>& Hosts::tried_by(const Attempt& attempt) {
  const std::size_t request = calls_.number_of_request(attempt);
  if (request >= tried_.size()) tried_.resize(request + 1);
  if (calls_.is_first(attempt)) tried_[request].clear();
  return tried_[request];
}

std::optional<std::uint32_t> Hosts::pick(TimePoint now, const Attempt& attempt) {
  const bool avoids = settings_.retry_host.kind != RetryHost::Kind::kAny;
  const Host host =
      picked_.pick(now, process_of(attempt), avoids ? tried_by(attempt) : none_tried_);
  if (host == Picker::kNone) return std::nullopt;
  return note_host(attempt, host);
}

std::optional<std::uint32_t> Hosts::choose(TimePoint now, const Attempt& attempt) {
  const Host host = picked_.choose(now, process_of(attempt));
  return host == Picker::kNone ? std::nullopt : std::optional(host);
}

bool Hosts::use(TimePoint now, const Attempt& attempt, std::uint32_t host) {
  note_host(attempt, host);
  return picked_.begin(now, process_of(attempt), host);
}

Picker::Host Hosts::note_host(const Attempt& attempt, Host host) {
  const std::size_t client = calls_.number_of(attempt);
  if (client >= host_of_.size()) host_of_.resize(client + 1);
  return host_of_[client] = host;
}

void Hosts::connect(TimePoint now, const Attempt& attempt) {
  if (!calls_.keeps_connections(attempt) && !pick(now, attempt)) {
    return caller_.lose_connection(now, attempt, NoAnswer::kRefused);
  }
  const Host host = host_of(attempt);
  servers_[host]->connect(now, attempt);
  note_connect(now, host);
}

void Hosts::send(TimePoint now, const Attempt& attempt) {
  const Host host = host_of(attempt);
  servers_[host]->send(now, attempt);
  note(now, host);
}

void Hosts::close_idle(TimePoint now) {
  for (Host host = 0; host < servers_.size(); ++host) {
    servers_[host]->close_idle(now);
    note(now, host);
  }
}

void Hosts::reset(TimePoint now, std::uint32_t number) {
  const auto host = static_cast<Host>(number % servers_.size());
  servers_[host]->reset(now, static_cast<std::uint32_t>(number / servers_.size()));
  note(now, host);
}

void Hosts::hang_up(TimePoint now, const Attempt& attempt) {
  const Host host = host_of(attempt);
  const bool too_late = calls_.attempt_left(now, attempt) <= Duration::zero();
  ended(now, attempt, too_late ? Picker::Ended::kTimedOut : Picker::Ended::kOther, too_late);
  servers_[host]->hang_up(now, attempt);
  note(now, host);
}

void Hosts::ended(TimePoint now, const Attempt& attempt, Picker::Ended how, bool counts) {
  picked_.ended(now, process_of(attempt), host_of(attempt), how, counts);
}

void Hosts::note(TimePoint now, Host host) {
  const ServerNode& server = *servers_[host];
  events_.update(host, server.next_event());
  all_in_service_ -= in_service_[host];
  all_in_service_ += in_service_[host] = server.concurrency();
  peak_ = std::max(peak_, all_in_service_);
  if (ending_ == 0 && !settings_.life.scaling.on()) return;
  Life& life = lives_[host];
  if (life.state == Life::State::kEnding && !life.ends && server.has_nothing_to_do()) {
    life.ends = true;
    add_turn(now, Turn::Kind::kEnd, host);
  }
  if (!settings_.life.scaling.on()) return;
  count_time(now);
  const bool counts = life.state == Life::State::kUp;
  const WorkerState workers = counts ? *server.workers() : WorkerState{};
  busy_ += workers.busy - std::exchange(life.busy, workers.busy);
  workers_ += workers.workers - std::exchange(life.workers, workers.workers);
}

void Hosts::take(TimePoint now) {
  if (!many()) return first_->take(now);
  if (next_turn() <= events_.least()) return take_turn(now);
  const Host host = events_.first();
  servers_[host]->take(now);
  note(now, host);
}

void Hosts::repeat_syn(TimePoint now) {
  if (!many()) return first_->repeat_syn(now);
  const Host host = repeats_.first();
  servers_[host]->repeat_syn(now);
  note_connect(now, host);
}

KernelState Hosts::kernel() const {
  KernelState sum = first_->kernel();
  for (Host host = 1; host < servers_.size(); ++host) sum += servers_[host]->kernel();
  return sum;
}

std::optional<std::size_t> Hosts::waiting() const {
  std::optional<std::size_t> sum = first_->waiting();
  for (Host host = 1; sum && host < servers_.size(); ++host) *sum += *servers_[host]->waiting();
  return sum;
}

AttemptPlaces Hosts::places(std::size_t in_flight, std::size_t in_service) const {
  AttemptPlaces sum;
  const auto add = [](AttemptPlaces::Place& to, const AttemptPlaces::Place& from) {
    to.all += from.all;
    to.stale += from.stale;
  };
  for (const auto& server : servers_) {
    const AttemptPlaces each = server->places(0, 0);
    add(sum.accept_queue, each.accept_queue);
    add(sum.buffers, each.buffers);
    sum.service.all += each.service.all;
  }
  sum.complete(in_flight, in_service);
  return sum;
}

std::optional<ProvisionedCapacity> Hosts::capacity(TimePoint now) const {
  std::optional<ProvisionedCapacity> sum = first_->capacity(now);
  for (Host host = 1; sum && host < servers_.size(); ++host) {
    add(*sum, *servers_[host]->capacity(now));
  }
  return sum;
}

ServerInterval Hosts::take_interval(TimePoint now) {
  TimesInService times;
  ServerInterval sum = first_->take_interval(now, times);
  for (Host host = 1; host < servers_.size(); ++host) {
    const ServerInterval each = servers_[host]->take_interval(now, times);
    sum.concurrency += each.concurrency;
    sum.last_delay = std::max(sum.last_delay, each.last_delay);
    sum.counts += each.counts;
    if (sum.workers) {
      sum.workers->workers += each.workers->workers;
      sum.workers->busy += each.workers->busy;
      sum.workers->waiting += each.workers->waiting;
    }
    if (sum.capacity) add(*sum.capacity, *each.capacity);
  }
  sum.times = times.quantiles();
  return sum;
}

std::optional<FoundOnWaking> Hosts::found_on_waking() const {
  std::optional<FoundOnWaking> sum;
  for (const auto& server : servers_) {
    const std::optional<FoundOnWaking>& each = server->found_on_waking();
    if (!each) continue;
    if (!sum) sum.emplace();
    sum->accept_queue += each->accept_queue;
    sum->kept += each->kept;
    sum->stale += each->stale;
    sum->no_room += each->no_room;
  }
  return sum;
}

void Hosts::add_state(Host host, HostInterval& state) const {
  const ServerNode& server = *servers_[host];
  const Life& life = lives_[host];
  constexpr std::array kStates{HostState::kUp, HostState::kStarting, HostState::kEnding,
                               HostState::kOff};
  state.state = kStates[static_cast<std::size_t>(life.state)];
  if (life.state == Life::State::kUp && !life.well) state.state = HostState::kUnwell;
  if (!server.awake()) state.state = HostState::kFrozen;
  state.frozen = !server.awake();
  state.concurrency = server.concurrency();
  state.workers = server.workers().value_or(WorkerState{});
}

HostIntervals Hosts::take_intervals(TimePoint now) {
  return picked_.take_new(states(now));
}

HostIntervals Hosts::states(TimePoint now) const {
  if (!many()) return {};
  HostIntervals states = picked_.totals(now);
  for (Host host = 0; host < servers_.size(); ++host) add_state(host, states[host]);
  return states;
}

std::optional<HostsResult> Hosts::result(TimePoint now) const {
  if (!many()) return std::nullopt;
  HostsResult result = picked_.result(states(now));
  result.most = most_up_;
  result.most_at = most_up_at_ - TimePoint{};
  result.probes_kill = settings_.life.probes_kill();
  result.killed_busy = killed_busy_;
  return result;
}

bool Hosts::awake() const {
  return std::any_of(servers_.begin(), servers_.end(),
                     [](const auto& each) { return each->awake(); });
}

bool Hosts::have_read_all() const {
  return std::all_of(servers_.begin(), servers_.end(),
                     [](const auto& each) { return each->has_read_all(); });
}

bool Hosts::peak_is_bound() const {
  return std::any_of(servers_.begin(), servers_.end(),
                     [](const auto& each) { return each->peak_is_bound(); });
}

void Hosts::begin_lives(std::uint64_t seed) {
  constexpr std::uint64_t kStream = std::numeric_limits<std::uint64_t>::max() - 3;
  ClientRandom random(seed, kStream);
  for (Host host = 0; host < servers_.size(); ++host) {
    if (host >= settings_.replicas) {
      lives_[host].state = Life::State::kOff;
      servers_[host]->stop_listening();
    } else if (const Probe& probe = settings_.life.probe; probe.on()) {
      add_turn(TimePoint{} + scale(probe.every, random.uniform()), Turn::Kind::kProbe, host);
    }
    note({}, host);
  }
  most_up_ = settings_.replicas;
  if (settings_.life.scaling.on()) {
    add_turn(saturating_add(TimePoint{}, settings_.life.scaling.every), Turn::Kind::kLook, 0);
  }
}

void Hosts::add_turn(TimePoint time, Turn::Kind kind, Host host) {
  turns_.push({time, turns_added_++, kind, host, lives_[host].number});
}

void Hosts::take_turn(TimePoint now) {
  const Turn turn = turns_.top();
  turns_.pop();
  if (turn.kind == Turn::Kind::kLook) return look(now);
  Life& life = lives_[turn.host];
  if (turn.life != life.number) return;
  switch (turn.kind) {
    case Turn::Kind::kStarted:
      return come_up(now, turn.host);
    case Turn::Kind::kWarmer:
      return warm_up(now, turn.host, life.warm + 1);
    case Turn::Kind::kProbe:
      return probe(now, turn.host);
    case Turn::Kind::kProbeTimesOut:
      if (!life.asked) return;
      if (!settings_.life.probe.own_port) {
        servers_[turn.host]->hang_up(now, {Attempt::kProbe, life.probe});
        note(now, turn.host);
      }
      return probe_ended(now, turn.host,
                         settings_.life.probe.own_port && servers_[turn.host]->awake());
    case Turn::Kind::kProbesFailed:
      picked_.killed(now, turn.host);
      if (const ServerNode& server = *servers_[turn.host];
          server.awake() && !server.has_nothing_to_do()) {
        ++killed_busy_;
      }
      leave_traffic(now, turn.host);
      return end(now, turn.host);
    case Turn::Kind::kEnd:
      return end(now, turn.host);
    case Turn::Kind::kLook:
      break;
  }
}

void Hosts::configure(TimePoint now, const ServiceOptions& hit,
                      const std::optional<ServiceOptions>& beside) {
  configured_ = {hit, beside};
  for (Host host = 0; host < servers_.size(); ++host) apply_settings(now, host);
}

void Hosts::apply_settings(TimePoint now, Host host) {
  const auto& [hit, beside] = configured_;
  const ServiceOptions& options = host < settings_.hit() || !beside ? hit : *beside;
  if (!many() || lives_[host].warm == HostLifeSettings::kWarmUpSteps) {
    servers_[host]->configure(now, options);
  } else {
    // It has all of its workers, and is slow.
    const Conditions cold{.slow = 1 / warm_share(lives_[host].warm)};
    servers_[host]->configure(now, with_conditions(cold, options));
  }
  if (many()) note(now, host);
}

void Hosts::restart(TimePoint now, const RestartedHosts& which) {
  if (!many()) return first_->restart(now);
  if (which.rolling) {
    if (rolls_from_) return;  // one is under way
    rolls_from_ = 0;
    return roll(now);
  }
  const std::size_t last = which.last == 0 ? servers_.size() : which.last;
  for (std::size_t i = which.last == 0 ? 0 : which.first - 1; i < last; ++i) {
    const auto host = static_cast<Host>(i);
    if (lives_[host].state != Life::State::kUp) continue;
    leave_traffic(now, host);
    end(now, host);
  }
}

void Hosts::leave_traffic(TimePoint now, Host host) {
  Life& life = lives_[host];
  ++life.number;
  life.asked = life.ends = false;
  life.failures = 0;
  if (std::exchange(life.state, Life::State::kEnding) != Life::State::kEnding) ++ending_;
  servers_[host]->stop_listening();
  picked_.set_health(now, host, Picker::Health::kAway);
}

void Hosts::drain(TimePoint now, Host host, bool comes_back) {
  leave_traffic(now, host);
  lives_[host].comes_back = comes_back;
  for (const Attempt& each : servers_[host]->hand_back(now)) give_to_others(now, each);
  add_turn(saturating_add(now, HostLifeSettings::kGrace), Turn::Kind::kEnd, host);
  note(now, host);
}

void Hosts::give_to_others(TimePoint now, const Attempt& attempt) {
  if (attempt.is_probe() || !caller_.waits_for(attempt)) return;
  ended(now, attempt, Picker::Ended::kOther, false);
  // A client learns that the connection ends, and may send again.
  if (calls_.keeps_connections(attempt)) {
    return caller_.lose_connection(now, attempt, NoAnswer::kReset);
  }
  connect(now, attempt);
}

void Hosts::end(TimePoint now, Host host) {
  Life& life = lives_[host];
  ++life.number;
  life.ends = false;
  if (std::exchange(life.state, Life::State::kOff) == Life::State::kEnding) --ending_;
  servers_[host]->kill(now);
  if (std::exchange(life.comes_back, true)) {
    picked_.restarted(host);
    start(now, host);
  } else {
    note(now, host);
  }
}

void Hosts::start(TimePoint now, Host host) {
  Life& life = lives_[host];
  life.state = Life::State::kStarting;
  note(now, host);
  if (settings_.life.start == Duration::zero()) return come_up(now, host);
  add_turn(saturating_add(now, settings_.life.start), Turn::Kind::kStarted, host);
}

void Hosts::come_up(TimePoint now, Host host) {
  Life& life = lives_[host];
  life.state = Life::State::kUp;
  life.up_since = now;
  life.well = true;
  servers_[host]->listen();
  warm_up(now, host,
          settings_.life.warm_up > Duration::zero() ? 0 : HostLifeSettings::kWarmUpSteps);
  if (settings_.life.probe.on()) {
    add_turn(saturating_add(now, settings_.life.probe.every), Turn::Kind::kProbe, host);
  }
  picked_.set_health(now, host, Picker::Health::kUp);
  if (const std::size_t up = count_of(Life::State::kUp); up > most_up_) {
    most_up_ = up;
    most_up_at_ = now;
  }
  if (rolls_from_ && *rolls_from_ == host + 1) roll(now);
}

// So many steps of the warm-up are over.
void Hosts::warm_up(TimePoint now, Host host, int steps) {
  lives_[host].warm = steps;
  apply_settings(now, host);
  if (steps == HostLifeSettings::kWarmUpSteps) return;
  const Duration step = settings_.life.warm_up / HostLifeSettings::kWarmUpSteps;
  add_turn(saturating_add(now, step), Turn::Kind::kWarmer, host);
}

void Hosts::roll(TimePoint now) {
  Host host = *rolls_from_;
  while (host < lives_.size() && lives_[host].state != Life::State::kUp) ++host;
  if (host == lives_.size()) return rolls_from_.reset();
  rolls_from_ = host + 1;
  drain(now, host, true);
}

void Hosts::probe(TimePoint now, Host host) {
  const Probe& probe = settings_.life.probe;
  Life& life = lives_[host];
  ++life.probe;
  life.asked = true;
  // The first one, so that one that times out when the next one is due is over then.
  add_turn(saturating_add(now, probe.timeout), Turn::Kind::kProbeTimesOut, host);
  add_turn(saturating_add(now, probe.every), Turn::Kind::kProbe, host);
  ServerNode& server = *servers_[host];
  if (!probe.own_port) {
    server.connect(now, {Attempt::kProbe, life.probe});
    note_connect(now, host);
  } else if (server.awake() || !server.listens()) {
    probe_ended(now, host, server.listens());
  }
}

void Hosts::probe_ended(TimePoint now, Host host, bool ok) {
  Life& life = lives_[host];
  life.asked = false;
  life.failures = ok ? 0 : life.failures + 1;
  const bool well = life.failures < settings_.life.probe.failures;
  if (settings_.life.probes_kill()) {
    // Not now: the server may be in the middle of something.
    if (!well) add_turn(now, Turn::Kind::kProbesFailed, host);
  } else if (well != std::exchange(life.well, well)) {
    picked_.set_health(now, host, well ? Picker::Health::kUp : Picker::Health::kUnwell);
  }
}

void Hosts::count_time(TimePoint now) {
  const double seconds = to_seconds(now - std::exchange(counted_until_, now));
  busy_time_ += seconds * static_cast<double>(busy_);
  worker_time_ += seconds * static_cast<double>(workers_);
}

std::size_t Hosts::count_of(Life::State state) const {
  return static_cast<std::size_t>(std::count_if(
      lives_.begin(), lives_.end(), [state](const Life& each) { return each.state == state; }));
}

void Hosts::look(TimePoint now) {
  count_time(now);
  const double busy = std::exchange(busy_time_, 0), all = std::exchange(worker_time_, 0);
  // A host that came up since the last look has no use that says something: it counts as one that starts, as in the HPA,
  // which waits for a whole window of its metrics.
  const std::size_t up = static_cast<std::size_t>(
      std::count_if(lives_.begin(), lives_.end(), [this](const Life& each) {
        return each.state == Life::State::kUp && each.up_since <= looked_at_;
      }));
  std::size_t there = count_of(Life::State::kUp) + count_of(Life::State::kStarting);
  const std::size_t starting = there - up;
  looked_at_ = now;
  const std::size_t wanted = scaler_.wanted(now, up, starting, all > 0 ? busy / all : 0);
  for (Host host = 0; host < lives_.size() && there < wanted; ++host) {
    if (lives_[host].state != Life::State::kOff) continue;
    start(now, host);
    ++there;
  }
  for (auto host = static_cast<Host>(lives_.size()); host-- > 0 && there > wanted;) {
    if (lives_[host].state != Life::State::kUp) continue;
    drain(now, host, false);
    --there;
  }
  add_turn(saturating_add(now, settings_.life.scaling.every), Turn::Kind::kLook, 0);
}

}  // namespace retrystorm
