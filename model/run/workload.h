// The clients of a run: their number, load, patience and retries; jobs, and the options that imply a workload.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/retry/retry_settings.h"
#include "model/run/arrivals.h"
#include "model/run/connections.h"
#include "model/run/disturbance.h"

namespace retrystorm {

struct JobSettings {
  std::uint64_t tasks = 200'000;
  std::uint64_t calls = 1;                    // per task, one after the other
  Duration workers_start = Duration::zero();  // between the starts of two workers
};

void declare_options(OptionList& options, JobSettings& settings);

// The result of a job.
struct JobResult {
  JobSettings settings{};
  std::optional<Duration> makespan{};  // from the start to the end of the last call, if reached
  std::uint64_t done = 0;              // finished calls, including those given up

  std::uint64_t calls() const { return settings.tasks * settings.calls; }  // of all tasks
};

// Assigns tasks to workers, and knows when the job is done. Workers are numbered from 0 in the
// order in which they start. The class has no clock. Not thread-safe.
class Job {
 public:
  // `most`: the greatest number of workers.
  Job(const JobSettings& settings, std::size_t most)
      : settings_(settings), most_(most), tasks_left_(settings.tasks) {}

  // When the next worker starts, counted from the start of the job. Empty when no more will start.
  std::optional<Duration> next_start() const;

  // Starts the next worker, which takes the next task. Call only while `next_start` has a value.
  // Returns the worker's number.
  std::size_t start();

  // Ends a worker's call. Returns true if it has another call, of the same task or of the next one.
  // Otherwise the worker leaves.
  bool next_call(std::size_t worker);

  // The workers that have started and not left.
  std::size_t present() const { return present_; }
  bool all_done() const { return present_ == 0 && tasks_left_ == 0; }

  // `elapsed`: from the start until now. If the job is done, this is the makespan.
  JobResult result(Duration elapsed) const {
    return {.settings = settings_,
            .makespan = all_done() ? std::optional(elapsed) : std::nullopt,
            .done = done_};
  }

 private:
  JobSettings settings_;
  std::size_t most_;
  std::uint64_t tasks_left_;
  std::uint64_t done_ = 0;
  std::size_t present_ = 0;
  std::vector<std::uint64_t> calls_left_;  // of each worker's current task
};

// Where requests come from.
enum class Arrivals {
  kClosed,  // each client thinks after each answer, as in the article
  kOpen,    // requests arrive independent of earlier ones, at Poisson times or as a plan says
  kJob,     // workers start, do their tasks call by call, and leave
};

struct WorkloadOptions {
  Arrivals arrivals = Arrivals::kClosed;
  std::size_t clients = 1000;
  double rate = 100;   // open, without a plan: requests per second
  ArrivalPlan plan{};  // open
  Duration splay{0};   // of a periodic plan
  JobSettings job{};
  Duration think_time = std::chrono::seconds(10);  // mean
  Duration timeout = std::chrono::seconds(2);      // of an attempt; `Duration::max()`: none
  std::optional<std::uint64_t> seed;               // random if not given
  std::optional<std::size_t> processes;            // not given: see `process_count`
  // Not options, and set by those who know: does each process pick hosts by itself (see picker.h), and does an outage
  // close all connections (--outage=reconnect)?
  bool picks_hosts = false, reconnects = false;
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

// Requests per second for open arrivals, 0 otherwise: the highest rate of a file, the mean of times.
double arrival_rate(const WorkloadOptions& workload);

// The open arrivals of these clients. `rate`, as above, is positive there.
OpenArrivals open_arrivals(const WorkloadOptions& workload, std::uint64_t seed);

// Why these clients cannot offer more or less load: "with --arrivals=job". Empty if they can.
std::string why_load_is_fixed(const WorkloadOptions& workload);

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

// Adds the outage that closes all connections (`reconnects`) where the clients have none to lose.
void find_unused_reconnect(UnusedOptions& unused, const WorkloadOptions& workload);

// Throws std::invalid_argument with a readable message if settings contradict each other.
void check(const WorkloadOptions& workload);

struct Implied {
  std::string_view option, target, value;
};

// Those of the default values imply nothing new, but contradict the others.
inline constexpr std::array kImplied{
    Implied{"rate", "arrivals", "open"},
    Implied{"tasks", "arrivals", "job"},
    Implied{"lambda", "arrivals", "closed"},
    Implied{"workers", "service", "workers"},
    Implied{"service-time", "service", "workers"},
    Implied{"base-delay", "service", "curve"},
    Implied{"limit", "service", "curve"},
    Implied{"curve-factor", "service", "curve"},
    Implied{"k", "service", "curve"},
};

// Calls `set` for each target that is implied and not given. `given`: is this option given, by any of its names?
// Services behind services have their own workers, so nothing is implied there. Throws std::invalid_argument if two
// given options imply different values.
void imply(const std::function<bool(std::string_view option)>& given,
           const std::function<void(const std::string& target, const std::string& value)>& set);

}  // namespace retrystorm
