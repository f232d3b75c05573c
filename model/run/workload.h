// The clients of a run: their number, load, patience and retries.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/retry/retry_settings.h"
#include "model/run/connections.h"
#include "model/run/disturbance.h"
#include "model/run/job.h"
#include "model/run/reconnect.h"

namespace retrystorm {

// Where requests come from.
enum class Arrivals {
  kClosed,  // each client thinks after each answer, as in the article
  kOpen,    // requests arrive at Poisson times, independent of earlier ones
  kJob,     // workers start, do their tasks call by call, and leave
};

struct WorkloadOptions {
  Arrivals arrivals = Arrivals::kClosed;
  std::size_t clients = 1000;
  double rate = 100;  // open: requests per second
  JobSettings job{};
  Duration think_time = std::chrono::seconds(10);  // mean
  Duration timeout = std::chrono::seconds(2);      // of an attempt; `Duration::max()`: none
  std::optional<std::uint64_t> seed;               // random if not given
  std::optional<std::size_t> processes;            // not given: see `process_count`
  std::optional<std::size_t> clients_per_process;  // closed and jobs: gives the number of processes
  ConnectionSettings connections{};
  RetrySettings retry;
  ReconnectSettings reconnect;

  bool has_timeout() const { return timeout != Duration::max(); }

  // Workers of a job do not think.
  Duration mean_think_time() const {
    return arrivals == Arrivals::kJob ? Duration::zero() : think_time;
  }
};

// Requests per second for open arrivals, 0 otherwise.
inline double arrival_rate(const WorkloadOptions& workload) {
  return workload.arrivals == Arrivals::kOpen ? workload.rate : 0;
}

// The number of processes. A process is a program that sends requests, such as a replica of the
// calling service: its clients share what a process has, a retry budget, gates and connections. The clients of a
// run, or with open arrivals its requests, are dealt to the processes in turn. If no number is
// given there is one process for open arrivals, and otherwise one for each hundred clients.
std::size_t process_count(const WorkloadOptions& workload);

// The same if the clients of a process share anything, otherwise 0.
std::size_t sharing_processes(const WorkloadOptions& workload);

// How the library of a named strategy connects of itself (`NamedStrategy::connections`).
struct LibraryWay {
  ConnectionSettings connections{};
  // It has no timeout of an attempt: what is given as one ends the whole request, as gRPC's deadline does.
  bool timeout_is_deadline = false;
};

// Throws std::invalid_argument with a readable message if there is no strategy of that name, or if its file does
// not say it in a readable form: a choice of connections, then `name=value` of their options or
// `timeout=deadline`, separated by commas, and in brackets the source.
LibraryWay library_way(std::string_view strategy);

void declare_options(OptionList& options, WorkloadOptions& workload);

// Do these clients lose their connections in this outage? Only a fixed number of clients has any.
inline bool loses_connections(const WorkloadOptions& workload,
                              const std::optional<Disturbance>& outage) {
  return outage && loses_connections(*outage) && workload.arrivals == Arrivals::kClosed;
}

// The workload of the same clients while they connect: its requests are retried until they succeed.
WorkloadOptions connecting(const WorkloadOptions& workload);

// Adds the options that were given but can have no effect.
void find_unused(UnusedOptions& unused, const WorkloadOptions& workload);

// Adds those that concern lost connections in a run with this outage, or without one.
void find_unused_of_reconnects(UnusedOptions& unused, const WorkloadOptions& workload,
                               const std::optional<Disturbance>& outage);
// Throws std::invalid_argument with a readable message if settings contradict each other.
void check(const WorkloadOptions& workload);

}  // namespace retrystorm
