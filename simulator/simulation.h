// One run of the experiment in virtual time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "model/base/duration.h"
#include "model/base/fifo.h"
#include "model/run/client_behaviour.h"
#include "model/run/run_recorder.h"
#include "model/run/workload.h"
#include "model/service/admission.h"
#include "model/service/service_interval.h"
#include "model/service/service_options.h"
#include "model/service/service_queue.h"
#include "simulator/wait_queue.h"

namespace retrystorm {

// What becomes of a request whose client has hung up.
enum class Abandoned {
  kServe,   // it is served to the end, as in reality
  kSkip,    // it is left out when the server comes to accept it
  kCancel,  // the service ends it as soon as the client hangs up
};

enum class Arrivals {
  kClosed,  // each client thinks after its answer, as in the article
  kOpen,    // requests arrive at Poisson times, whatever became of those before
};

// What is to be simulated. Option values must be in range; `max_connections` must be set.
struct Scenario {
  ServiceOptions service;
  WorkloadOptions workload;
  std::uint64_t seed = 0;
  Arrivals arrivals = Arrivals::kClosed;
  double rate = 100;  // open: requests a second
  Abandoned abandoned = Abandoned::kServe;
  std::optional<Duration> outage_at{};  // no outage when not set
  Duration outage_for{0};
  Duration length{0};  // of the whole run
  Duration report_interval = std::chrono::seconds(5);
  Duration server_report_interval = std::chrono::seconds(1);
};

// Who is told a run while it goes on. All outlive it.
struct SimulationObservers {
  std::vector<RunObserver*> run{};
  std::vector<ServiceObserver*> service{};
};

struct SimulationResult {
  Summary summary;
  std::size_t peak_concurrency = 0;
  std::uint64_t events = 0;  // ends of waits, timeouts, SYN repeats, departures
};

// Drives the same policy, client and service-queue objects as the real programs. Of the kernel it
// models what decides the outcome: an accept queue of backlog + 1 connections, which a stopped
// server does not empty, which is full to further SYNs, and in which connections stay when their
// client has hung up. Networks and processors take no time. Not for use from two threads at once.
class Simulation {
 public:
  Simulation(const Scenario& scenario, const SimulationObservers& observers);

  Simulation(const Simulation&) = delete;
  Simulation& operator=(const Simulation&) = delete;

  // Once. Ends early, with what there is, when `stop` (if any) returns true; it is asked now and
  // then.
  SimulationResult run(const std::function<bool()>& stop = nullptr);

 private:
  // One attempt of one client (of one request, when arrivals are open).
  struct Attempt {
    std::uint32_t client;
    std::uint32_t number;
  };

  // What has a constant delay needs no ordering.
  struct Timer {
    TimePoint time;
    Attempt attempt;
  };

  struct alignas(64) Client {  // one line of the cache
    RetryState retry;
    std::uint64_t random;  // state of its stream
    TimePoint sent_at;     // the attempt under way
    TimePoint last_ok;
    std::uint32_t attempt = 0;  // its number
    bool in_flight = false;
    bool next_is_retry = false;
    bool in_service = false;  // the attempt under way counts in the concurrency
  };

  void start_clients();
  TimePoint next_control() const;
  void control();
  ClientStates client_states() const;
  void report_server();

  void arrive_open();
  void end_wait();
  void send(std::uint32_t index);
  void connect(const Attempt& attempt);
  void repeat_syn();
  void time_out();
  void accept();
  void depart();
  void finish(const Attempt& attempt, const AttemptResult& result);
  Duration latency_of(const Attempt& attempt) const {
    return now_ - clients_[attempt.client].sent_at;
  }
  void schedule(std::uint32_t index, const NextAttempt& next);
  void service_changed();

  bool is_under_way(const Attempt& attempt) const {
    const Client& client = clients_[attempt.client];
    return client.in_flight && client.attempt == attempt.number;
  }

  const Scenario scenario_;
  const SimulationObservers observers_;
  const ClientBehaviour behaviour_;
  const TimePoint end_;

  TimePoint now_{};
  std::vector<Client> clients_;
  std::vector<std::uint32_t> free_clients_;  // open arrivals: slots of requests that have ended
  WaitQueue waits_;
  Fifo<Timer> timeouts_;
  Fifo<Timer> syn_repeats_;

  Fifo<Attempt> accept_queue_;
  ServiceQueue<Attempt> service_;
  AdmissionControl admission_;
  bool server_awake_ = true;
  TimePoint next_departure_ = TimePoint::max();

  ClientRandom arrival_random_;
  std::uint64_t arrivals_ = 0;
  TimePoint next_arrival_ = TimePoint::max();

  TimePoint freeze_at_ = TimePoint::max();
  TimePoint wake_at_ = TimePoint::max();
  TimePoint control_at_{};  // when a report, an outage's turn or the end is due
  RunRecorder recorder_;
  TimePoint server_report_at_, server_reported_at_{};
  ServerInterval server_interval_;

  Counts counts_;
  std::size_t in_flight_ = 0;
  std::size_t waiting_to_retry_ = 0;
  LatencyHistogram latency_;
  RetryMetrics retry_metrics_;
  Duration longest_without_ok_{0};
  std::size_t peak_concurrency_ = 0;
  std::uint64_t events_ = 0;
};

}  // namespace retrystorm
