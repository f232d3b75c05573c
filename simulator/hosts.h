// The hosts of a simulated service, each a server of its own, and the pickers that send attempts to them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "model/base/duration.h"
#include "model/base/queues.h"
#include "model/run/host_report.h"
#include "model/service/picker.h"
#include "simulator/caller.h"
#include "simulator/calls.h"
#include "simulator/server_node.h"

namespace retrystorm {

// Stands between calls and servers: it sends each attempt to the host that its picker chooses, and learns from the
// result. With one host there is no picker, and calls go straight to its server. With many, each attempt opens a
// connection. Times passed in never decrease.
class Hosts final : public Target {
 public:
  // The parameters are those of `ServerNode`; each host has these options, and random numbers of its own. `calls`: who
  // calls the hosts, if there are many.
  Hosts(const HostSettings& settings, const ServiceOptions& options, std::uint64_t seed,
        std::size_t syn_linear_timeouts, Duration patience, Caller& caller, const Calls& calls,
        RequestTrace* trace);

  Hosts(const Hosts&) = delete;
  Hosts& operator=(const Hosts&) = delete;

  // Where calls are to send.
  Target& target() { return many() ? static_cast<Target&>(*this) : first(); }
  bool many() const { return many_; }
  // The server of a service with one host.
  ServerNode& first() { return *first_; }
  const ServerNode& first() const { return *first_; }

  // Calls `use(server, hit)` for each host; `hit`: is it one of those that the outage hits?
  template <typename Use>
  void for_each(const Use& use) {
    for (std::uint32_t host = 0; host < servers_.size(); ++host) {
      use(*servers_[host], host < settings_.hit());
      if (many()) note(host);
    }
  }

  // Of the next host that has one: see `ServerNode`.
  TimePoint next_event() const { return many() ? events_.least() : first_->next_event(); }
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

  // What happened to each host since the last call, and since the start. Empty if there is one.
  HostIntervals take_intervals(TimePoint now);
  HostIntervals states(TimePoint now) const;
  std::optional<HostsResult> result(TimePoint now) const;
  // The outage begins or ends.
  void outage_begins() { before_outage_ = totals_; }
  void outage_ends();

  void connect(TimePoint now, const Attempt& attempt) override;
  // Not with many hosts: no connection is kept.
  void send(TimePoint now, const Attempt& attempt) override { connect(now, attempt); }
  void hang_up(TimePoint now, const Attempt& attempt) override;

 private:
  using Host = Picker::Host;

  // Passes the answers of one host on, and tells its picker.
  class Answers final : public Caller {
   public:
    Answers(Hosts& hosts, Host host) : hosts_(hosts), host_(host) {}

    bool waits_for(const Attempt& attempt) const override {
      return hosts_.caller_.waits_for(attempt);
    }
    void let_in(TimePoint now, const Attempt& attempt) override {
      hosts_.caller_.let_in(now, attempt);
    }
    void take_answer(TimePoint now, const Attempt& attempt, const Answer& answer) override;
    void lose_connection(TimePoint now, const Attempt& attempt, NoAnswer why) override;
    void lose_idle_connections() override {}
    bool lose_longest_idle_connection() override { return false; }
    void expect(const Attempt& attempt) const override { hosts_.caller_.expect(attempt); }

   private:
    Hosts& hosts_;
    const Host host_;
  };

  Picker& picker_of(const Attempt& attempt);
  // The hosts that the attempt's request has tried until now.
  std::vector<Host>& tried_by(const Attempt& attempt);
  void ended(TimePoint now, const Attempt& attempt, Picker::Ended how);
  // Something has happened at the host.
  void note(Host host);
  HostInterval state(TimePoint now, Host host) const;

  const HostSettings settings_;
  const bool many_;
  Caller& caller_;
  const Calls& calls_;
  std::vector<std::unique_ptr<Answers>> answers_;  // with many
  std::vector<std::unique_ptr<ServerNode>> servers_;
  ServerNode* const first_;
  std::vector<Picker> pickers_;  // one, or one of each process
  Tournament<TimePoint> events_, repeats_;
  std::vector<Host> host_of_;             // by client, of its attempt
  std::vector<std::vector<Host>> tried_;  // by request, if that matters
  std::vector<std::size_t> in_service_;   // of each host
  std::size_t all_in_service_ = 0, peak_ = 0;
  HostIntervals totals_, taken_, before_outage_;  // without their states
};

}  // namespace retrystorm
