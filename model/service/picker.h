// Which of a service's hosts an attempt goes to: the picker of a balancer or of a client library, and whom it leaves
// out after failures.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <queue>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/base/queues.h"
#include "model/base/random.h"
#include "model/service/host_life.h"

namespace retrystorm {

enum class PickedBy {
  kProxy,   // one picker for all attempts, as nginx and HAProxy have
  kClient,  // each process has its own, as gRPC, Finagle and Envoy beside a client have
};

enum class Balance {
  kRandom,
  kRoundRobin,
  kLeast,  // the fewest attempts under way; of equal ones the one that was picked longest ago
  kTwo,    // the one of two random hosts that has fewer under way
};

enum class PickPer {
  kRequest,  // each attempt, as balancers of HTTP do
  kConnection,  // each new connection, as those of TCP do (kube-proxy); attempts on it stay with its host
};

// Where a retry goes.
struct RetryHost {
  enum class Kind {
    kAny,    // picked like a first attempt
    kOther,  // a host that the request has not tried, while there is one
    kAgain,  // picked again, up to `times` times, if the request has tried it
  };
  Kind kind = Kind::kAny;
  std::size_t times = 0;

  bool operator==(const RetryHost&) const = default;
};

// Parses "any", "other" or "other:N". Throws std::invalid_argument with a readable message.
RetryHost parse_retry_host(std::string_view text);
std::string to_string(const RetryHost& retry_host);

// A host gets no traffic for a while after so many failures in a row. A failure is a status of 5xx, a timeout, or a
// connection that was refused or lost.
struct Ejection {
  std::size_t failures = 0;  // 0: off
  Duration base = std::chrono::seconds(30);
  double most = 0.1;  // share of the hosts that may be out at a time, rounded down
  // As nginx 1.22 has it (ngx_http_upstream_round_robin.c): failures count until one attempt succeeds that began `base`
  // after the last of them. Each that makes as many or more puts the host out for `base`. Then it gets one attempt, and all
  // as soon as that succeeds.
  bool trial = false;
  // Are statuses of 5xx failures, too? Not with `trial`, unless proxy_next_upstream names them.
  bool errors = true;
  // Are timeouts? Not those of clients behind a proxy: nginx counts only its own (proxy_read_timeout, 60 s), and takes an
  // attempt whose client has gone for one that succeeded.
  bool timeouts = true;
  // As gRPC has it (connection-backoff.md): only connections that are refused or lost count, and a success ends the row.
  // The time grows by `kGrowth` from one to the next, up to `kLongestUnconnected`, and is a fifth more or less.
  bool lost = false;

  static constexpr double kGrowth = 1.6;
  static constexpr Duration kLongestUnconnected = std::chrono::seconds(120);
  // The time is `base` times the number of ejections in a row, at most `kLongest` or `base`. That number falls by one
  // with each `kCalm` in which the host is not out. As Envoy 1.30's outlier detection has it.
  static constexpr Duration kLongest = std::chrono::seconds(300);
  static constexpr Duration kCalm = std::chrono::seconds(10);

  bool on() const { return failures > 0; }
  bool operator==(const Ejection&) const = default;
  // How many of so many hosts may be out at a time.
  std::size_t most_out(std::size_t hosts) const {
    constexpr double kSlack = 1e-9;  // a share like 0.1 is a little more or less than that
    return static_cast<std::size_t>(most * static_cast<double>(hosts) + kSlack);
  }
};

// Parses "none" or "FAILURES[:BASE[:SHARE[:trial|trial+5xx|trial-timeout|lost]]]". Throws std::invalid_argument with a
// readable message.
Ejection parse_ejection(std::string_view text);
std::string to_string(const Ejection& ejection);

struct HostSettings {
  static constexpr std::size_t kMostHosts = 100'000;
  static constexpr std::size_t kAll = std::numeric_limits<std::size_t>::max();

  std::size_t replicas = 1;
  PickedBy picked_by = PickedBy::kProxy;
  PickPer pick_per = PickPer::kRequest;
  Duration connection_age =
      Duration::max();  // of a connection that was picked; then it takes no more attempts
  Balance balance = Balance::kRoundRobin;
  RetryHost retry_host{};
  Ejection eject{};
  double panic = 0;                    // with a smaller share of hosts than this, all get traffic
  std::size_t subset = kAll;           // how many hosts each picker knows, if it is not one for all
  std::size_t outage_replicas = kAll;  // that the outage hits: the first ones
  HostLifeSettings life{};
  bool has_kept = true;            // attempts use kept connections, as far as is known
  bool by_urls = false;            // URLs say how many there are, not --replicas
  std::string_view like = "none";  // the balancer whose settings these were

  // The hosts that there may be at a time, at most. `replicas`: at the start.
  std::size_t most() const { return life.scaling.on() ? life.scaling.most : replicas; }
  // Is there anything to pick, or to tell of hosts? Else there is one service.
  bool many() const { return most() > 1 || life.on(); }
  bool each_process_picks() const { return many() && picked_by == PickedBy::kClient; }
  // How many hosts the outage hits.
  std::size_t hit() const { return outage_replicas < replicas ? outage_replicas : most(); }
};

void declare_options(OptionList& options, HostSettings& settings);
// Those of somebody who picks hosts, and neither starts nor ends them. `alone`: with one picker, and no outage of theirs.
OptionList options_of_picks(HostSettings& settings, bool alone);

// Throws std::invalid_argument with a readable message if settings contradict each other.
void check(const HostSettings& settings);

// Picks hosts, by numbers from 0. Has no lock: the caller prevents concurrent calls. Times passed in never decrease. A
// pick costs O(log n) of n hosts, and O(n) once after an ejection and after its end.
class Picker {
 public:
  using Host = std::uint32_t;
  static constexpr Host kNone = std::numeric_limits<Host>::max();

  // What is known of a host, besides what became of attempts.
  enum class Health {
    kUp,
    kUnwell,  // its probe fails: gets no traffic, but in a panic
    kAway,    // ends, starts or does not exist: gets none
  };

  enum class Ended {
    kOk,        // the host works
    kFailed,    // with a status of 5xx
    kTimedOut,  // without an answer
    kLost,      // so did its connection
    kOther,     // says nothing about the host
  };
  // What an attempt that succeeded, or failed with this status, says. `status`: 0 if its connection ended without an answer.
  static constexpr Ended end_of(bool ok, int status) {
    if (ok) return Ended::kOk;
    if (status == 0) return Ended::kLost;
    return status >= 500 ? Ended::kFailed : Ended::kOther;
  }

  // `number`: of this picker among those of a run, which each have their own random stream.
  Picker(const HostSettings& settings, std::uint64_t seed, std::uint64_t number);

  // The host for an attempt or a connection. `tried`: those that the request has tried, in any order; needed only if
  // `retry_host` is not `any`. Returns `kNone` if every host is out.
  Host choose(TimePoint now, std::span<const Host> tried = {});
  // An attempt is under way at this host from now on.
  void begin(TimePoint now, Host host);
  // Both.
  Host pick(TimePoint now, std::span<const Host> tried = {}) {
    const Host host = choose(now, tried);
    if (host != kNone) begin(now, host);
    return host;
  }

  // An attempt at a host is over.
  void ended(TimePoint now, Host host, Ended how);

  void set(TimePoint now, Host host, Health health);

  // The hosts that are out, until times that may have passed.
  bool is_out(TimePoint now, Host host) const { return hosts_[host].out_until > now; }
  std::size_t under_way(Host host) const { return hosts_[host].under_way; }
  bool is_away(Host host) const { return hosts_[host].health == Health::kAway; }
  // How often a host was ejected since the start.
  std::uint64_t ejections(Host host) const { return hosts_[host].ejections; }

 private:
  struct HostState {
    std::uint64_t picked = 0;  // the turn in which it was picked last
    std::uint32_t under_way = 0;
    std::uint32_t failures = 0;  // in a row
    std::uint32_t in_a_row = 0;  // ejections
    std::uint32_t ejections = 0;
    Health health = Health::kUp;
    bool usable = true;
    TimePoint out_until{};
    TimePoint failed{}, looked{};  // with trials: the last failure; that, or the trial after it
  };
  struct Return {
    TimePoint time;
    Host host;
    bool operator>(const Return& other) const { return time > other.time; }
  };
  // How loaded a host is, and when it was picked last.
  struct Load {
    std::uint64_t under_way, turn;
    bool operator<(const Load& other) const {
      return under_way != other.under_way ? under_way < other.under_way : turn < other.turn;
    }
  };
  static constexpr Load kUnusable{std::numeric_limits<std::uint64_t>::max(), 0};

  // One of the usable hosts, but of those tried only if all were.
  Host pick_but(std::span<const Host> tried);
  Host in_turn(std::span<const Host> tried);
  Host least_loaded(std::span<const Host> tried);
  Host better_of_two();
  // Sets `left_out_`.
  void leave_out(std::span<const Host> hosts);
  // The place of a random usable host that is not left out.
  std::size_t draw();
  std::size_t below(std::size_t bound);
  void know_some();
  template <typename Use>
  void for_known(const Use& use) const {
    const std::size_t count = known_.empty() ? hosts_.size() : known_.size();
    for (std::size_t i = 0; i < count; ++i) use(known_.empty() ? static_cast<Host>(i) : known_[i]);
  }
  void note_load(Host host);
  void fail(TimePoint now, Host host);
  void put_out(TimePoint now, Host host, Duration time);
  // Who may be picked has changed.
  void find_usable(TimePoint now);

  const HostSettings settings_;
  ClientRandom random_;
  std::vector<HostState> hosts_;
  std::vector<Host> known_;            // of a subset; empty: all
  std::vector<Host> usable_;           // in their order
  std::vector<std::size_t> left_out_;  // of these by a pick: their places, in order, each once
  Host next_ = 0;                      // in turn
  std::uint64_t turn_ = 0;
  Tournament<Load> loads_;  // with `kLeast`
  std::priority_queue<Return, std::vector<Return>, std::greater<>> returns_;
};

}  // namespace retrystorm
