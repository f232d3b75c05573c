// The hosts of a simulated service, each a server of its own, and the pickers that send attempts to them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "model/base/duration.h"
#include "model/base/queues.h"
#include "model/run/host_report.h"
#include "model/run/picked_hosts.h"
#include "model/run/timeline.h"
#include "model/service/host_life.h"
#include "model/service/picker.h"
#include "simulator/caller.h"
#include "simulator/server_node.h"

namespace retrystorm {

// Stands between calls and servers: it sends each attempt to the host that its picker chooses, and learns from the
// result. It probes hosts, restarts them, and lets an autoscaler say how many there are. With one host of which nothing
// is to be told there is no picker, and calls go straight to its server. Connections are kept to each host apart.
// Times passed in never decrease.
class Hosts final : public Target {
 public:
  // The parameters are those of `ServerNode`; each host has these options, and random numbers of its own. `calls`: who
  // calls the hosts, if there are many; then it is `caller`, too.
  Hosts(const HostSettings& settings, const ServiceOptions& options, std::uint64_t seed,
        std::size_t syn_linear_timeouts, Duration patience, Caller& caller, CallerOfHosts& calls,
        RequestTrace* trace);

  // Each host draws its own random numbers, and the first one those of a service with one host.
  static std::uint64_t seed_of(std::uint64_t seed, std::size_t host) {
    return seed + host * 0x9e3779b97f4a7c15;
  }

  Hosts(const Hosts&) = delete;
  Hosts& operator=(const Hosts&) = delete;

  // Where calls are to send.
  Target& target() { return many() ? static_cast<Target&>(*this) : first(); }
  bool many() const { return many_; }
  std::size_t size() const { return servers_.size(); }
  // The server of a service with one host.
  ServerNode& first() { return *first_; }
  const ServerNode& first() const { return *first_; }
  ServerNode& server(std::size_t host) { return *servers_[host]; }
  const ServerNode& server(std::size_t host) const { return *servers_[host]; }
  // Somebody else has changed the state of this host's server.
  void changed(TimePoint now, std::uint32_t host) {
    if (many()) note(now, host);
  }

  // Calls `use(server, hit)` for each host; `hit`: is it one of those that the outage hits?
  template <typename Use>
  void for_each(TimePoint now, const Use& use) {
    for (std::uint32_t host = 0; host < servers_.size(); ++host) {
      use(*servers_[host], host < settings_.hit());
      changed(now, host);
    }
  }

  // From now on these are the settings of the hosts that the outage hits, and of those beside them (the same if empty).
  void configure(TimePoint now, const ServiceOptions& hit,
                 const std::optional<ServiceOptions>& beside);
  void restart(TimePoint now, const RestartedHosts& which);

  // Of the next host that has one: see `ServerNode`.
  TimePoint next_event() const {
    return many() ? std::min(events_.least(), next_turn()) : first_->next_event();
  }
  void take(TimePoint now);
  TimePoint next_repeat() const { return many() ? repeats_.least() : first_->next_repeat(); }
  void repeat_syn(TimePoint now);

  // Sums over all hosts.
  KernelState kernel() const;
  std::optional<std::size_t> waiting() const;
  AttemptPlaces places(std::size_t in_flight, std::size_t in_service) const;
  std::optional<ProvisionedCapacity> capacity(TimePoint now) const;
  ServerInterval take_interval(TimePoint now);
  std::optional<FoundOnWaking> found_on_waking() const;
  std::size_t peak_concurrency() const { return many() ? peak_ : first_->peak_concurrency(); }
  bool peak_is_bound() const;
  // Is any host awake?
  bool awake() const;
  // See `ServerNode`: does that hold for each?
  bool have_read_all() const;

  // What happened to each host since the last call, and since the start. Empty if there is one.
  HostIntervals take_intervals(TimePoint now);
  HostIntervals states(TimePoint now) const;
  std::optional<HostsResult> result(TimePoint now) const;
  // The outage begins or ends.
  void outage_begins() { picked_.outage_begins(); }
  void outage_ends() { picked_.outage_ends(); }

  std::optional<std::uint32_t> pick(TimePoint now, const Attempt& attempt) override;
  void connect(TimePoint now, const Attempt& attempt) override;
  void send(TimePoint now, const Attempt& attempt) override;
  void close_idle(TimePoint now) override;
  std::optional<std::uint32_t> choose(TimePoint now, const Attempt& attempt) override;
  bool use(TimePoint now, const Attempt& attempt, std::uint32_t host) override;
  void reset(TimePoint now, std::uint32_t number) override;
  void hang_up(TimePoint now, const Attempt& attempt) override;

 private:
  using Host = Picker::Host;

  // Passes the answers of one host on, and tells its picker.
  class Answers final : public Caller {
   public:
    Answers(Hosts& hosts, Host host) : hosts_(hosts), host_(host) {}

    bool waits_for(const Attempt& attempt) const override {
      return attempt.is_probe() ? hosts_.waits_for_probe(host_, attempt)
                                : hosts_.caller_.waits_for(attempt);
    }
    void let_in(TimePoint now, const Attempt& attempt) override {
      if (!attempt.is_probe()) hosts_.caller_.let_in(now, attempt);
    }
    void take_answer(TimePoint now, const Attempt& attempt, const Answer& answer) override;
    void lose_connection(TimePoint now, const Attempt& attempt, NoAnswer why) override;
    void lose_idle_connections() override { calls().lose_idle_connections(host_); }
    std::optional<std::size_t> idle_connections() const override {
      return calls().idle_connections(host_);
    }
    bool lose_longest_idle_connection() override {
      return calls().lose_longest_idle_connection(host_);
    }
    bool multiplexes() const override { return calls().multiplexes(); }
    std::uint32_t process_of(const Attempt& attempt) const override {
      return calls().process_of(attempt);
    }
    void lose_connections_of(TimePoint now, std::uint32_t process) override {
      calls().lose_connections_of(
          now, static_cast<std::uint32_t>(process * hosts_.servers_.size() + host_));
    }
    void expect(const Attempt& attempt) const override {
      if (!attempt.is_probe()) hosts_.caller_.expect(attempt);
    }

   private:
    CallerOfHosts& calls() const { return hosts_.calls_; }

    Hosts& hosts_;
    const Host host_;
  };

  // What is to happen to a host later on.
  struct Turn {
    enum class Kind {
      kStarted,
      kWarmer,
      kProbe,
      kProbeTimesOut,
      kProbesFailed,
      kEnd,   // it has nothing to do any more, or no more time
      kLook,  // the autoscaler looks; of no host
    };
    TimePoint time;
    std::uint64_t number;  // in the order in which they were added
    Kind kind;
    Host host;
    std::uint32_t life;  // in which it was added: void in a later one

    bool operator>(const Turn& other) const {
      return time != other.time ? time > other.time : number > other.number;
    }
  };
  struct Life {
    enum class State { kUp, kStarting, kEnding, kOff };
    State state = State::kUp;
    std::uint32_t number = 0;
    bool comes_back = true;  // of one that ends
    bool ends = false;       // a turn of `kEnd` is due now
    bool well = true;        // as far as its probe says
    bool asked = false;      // a probe is under way
    std::uint32_t probe = 0;
    std::size_t failures = 0;  // of probes, in a row
    TimePoint up_since{};
    int warm = HostLifeSettings::kWarmUpSteps;  // steps of the warm-up that are over
    std::size_t busy = 0, workers = 0;          // as the autoscaler counts
  };

  TimePoint next_turn() const { return turns_.empty() ? TimePoint::max() : turns_.top().time; }
  void begin_lives(std::uint64_t seed);
  void add_turn(TimePoint time, Turn::Kind kind, Host host);
  void take_turn(TimePoint now);
  void apply_settings(TimePoint now, Host host);
  // The steps of a life.
  void start(TimePoint now, Host host);
  void come_up(TimePoint now, Host host);
  void warm_up(TimePoint now, Host host, int steps);
  void drain(TimePoint now, Host host, bool comes_back);
  void give_to_others(TimePoint now, const Attempt& attempt);
  void end(TimePoint now, Host host);
  // No pickers send to it any more, and it refuses connections. Its turns are void.
  void leave_traffic(TimePoint now, Host host);
  void probe(TimePoint now, Host host);
  bool waits_for_probe(Host host, const Attempt& attempt) const {
    return lives_[host].asked && lives_[host].probe == attempt.number;
  }
  void probe_ended(TimePoint now, Host host, bool ok);
  void roll(TimePoint now);
  void look(TimePoint now);
  // The time until now, for the autoscaler and the result.
  void count_time(TimePoint now);
  std::size_t count_of(Life::State state) const;

  std::size_t process_of(const Attempt& attempt) const;
  // The attempt goes to this host.
  Host note_host(const Attempt& attempt, Host host);
  Host host_of(const Attempt& attempt) const { return host_of_[calls_.number_of(attempt)]; }
  // The hosts that the attempt's request has tried until now.
  std::vector<Host>& tried_by(const Attempt& attempt);
  void ended(TimePoint now, const Attempt& attempt, Picker::Ended how, bool counts = true);
  // Something has happened at the host; an attempt has connected to it, or a repeat of its SYN was due.
  void note(TimePoint now, Host host);
  void note_connect(TimePoint now, Host host) {
    repeats_.update(host, servers_[host]->next_repeat());
    note(now, host);
  }
  void add_state(Host host, HostInterval& state) const;

  const HostSettings settings_;
  const bool many_;
  Caller& caller_;
  CallerOfHosts& calls_;
  std::vector<std::unique_ptr<Answers>> answers_;  // with many
  std::vector<std::unique_ptr<ServerNode>> servers_;
  ServerNode* const first_;
  PickedHosts picked_;
  Tournament<TimePoint> events_, repeats_;
  std::vector<Host> host_of_;             // by number of the client, of its attempt
  std::vector<std::vector<Host>> tried_;  // by number of the request, if that matters
  std::vector<Host> none_tried_;          // always empty
  std::vector<std::size_t> in_service_;   // of each host
  std::size_t all_in_service_ = 0, peak_ = 0;
  std::size_t ending_ = 0;  // hosts
  std::pair<ServiceOptions, std::optional<ServiceOptions>>
      configured_;           // those hit, and those beside them
  std::vector<Life> lives_;  // with many
  std::priority_queue<Turn, std::vector<Turn>, std::greater<>> turns_;
  std::uint64_t turns_added_ = 0;
  std::optional<Host> rolls_from_;  // the next one of a rolling restart
  HostScaler scaler_;
  double busy_time_ = 0, worker_time_ = 0;  // since the autoscaler looked
  std::size_t busy_ = 0, workers_ = 0;      // of the hosts that are up
  TimePoint counted_until_{}, looked_at_{};
  std::uint64_t killed_busy_ = 0;
  std::size_t most_up_ = 0;
  TimePoint most_up_at_{};
};

}  // namespace retrystorm
