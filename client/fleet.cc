#include "client/fleet.h"

#include <algorithm>
#include <stdexcept>
#include <string>
#include <system_error>

#include "common/os/process.h"
#include "model/run/workload.h"

namespace retrystorm {

using namespace std::chrono_literals;

namespace {

// How long an idle arrival thread waits before it ends.
constexpr Duration kIdleTime = 10s;

}  // namespace

Fleet::Fleet(const WorkloadOptions& options, std::uint64_t seed, const HttpRequest& request,
             const FleetLimits& limits)
    : options_(options),
      seed_(seed),
      limits_(limits),
      places_(is_open() ? limits.max_threads : options.clients),
      counts_(places_),
      runner_(options, places_, request, waits_, counts_, limits.hosts.get()),
      arrival_threads_(places_, kIdleTime) {
  runner_.carry(limits.deadline, false);
  if (limits.loses_connections) {
    connections_ = std::make_unique<ClientConnections>(options, seed, request, waits_);
    runner_.wait_for(*connections_);
  }
  if (options.arrivals == Arrivals::kJob) job_.emplace(options);
  if (options.arrivals != Arrivals::kClosed) return;
  // All of them before the first client runs, because `history` goes through them.
  for (std::size_t i = 0; i < places_; ++i) counts_.arrive(i, runner_.now());
}

Fleet::~Fleet() {
  stop();
}

void Fleet::start() {
  if (is_open()) {
    threads_.emplace_back(&Fleet::run_arrivals, this);
    return;
  }
  threads_.reserve(options_.clients);
  try {
    if (connections_) connections_->start();
    for (std::size_t i = 0; i < options_.clients; ++i) {
      threads_.emplace_back(job_ ? &Fleet::run_worker : &Fleet::run_client, this, i);
      ++running_;
    }
  } catch (const std::system_error& error) {
    const std::size_t started = threads_.size();
    stop();
    throw std::runtime_error(
        "only " + std::to_string(started) + " of " + std::to_string(options_.clients) +
        " clients could be started, because each needs a thread: " + error.what());
  }
}

FleetTotals Fleet::totals() const {
  // Read one after the other while the clients run. So a client may be counted in two states.
  const std::size_t waiting = counts_.waiting_to_retry();
  const std::size_t in_flight =
      options_.retry.hedge.any() ? counts_.hedged_requests() : counts_.in_flight();
  // In an open system nobody thinks: requests come from outside.
  std::size_t all = is_open() ? 0 : options_.clients;
  if (job_) {
    const std::scoped_lock lock(job_->mutex);
    all = job_->job.present();
  }
  FleetTotals totals{.counts = counts_.counts(),
                     .clients = {.thinking = all - std::min(all, in_flight + waiting),
                                 .in_flight = in_flight,
                                 .waiting_to_retry = waiting},
                     .arrival_lag = {.dropped_arrivals = dropped_arrivals_,
                                     .latest_start = latest_start_,
                                     .late_starts = late_starts_}};
  if (connections_) totals.clients.disconnected = connections_->without();
  totals.clients.kept = runner_.kept_connections();
  if (job_) {
    totals.clients.mean_pause =
        all == 0 ? Duration::zero() : counts_.pauses() / static_cast<std::int64_t>(all);
  }
  return totals;
}

std::optional<JobResult> Fleet::job_result() const {
  if (!job_) return std::nullopt;
  const std::scoped_lock lock(job_->mutex);
  return job_->job.result(job_->ended - TimePoint{});
}

void Fleet::stop() {
  counts_.end(runner_.now());
  waits_.stop();
  if (connections_) connections_->stop();
  runner_.stop();
  // First no more requests may arrive.
  if (is_open()) threads_.clear();
  // A connect to a frozen server would last for the whole timeout.
  const auto connecting = [this] { return connections_ && connections_->running() > 0; };
  for (; running_ > 0 || connecting(); std::this_thread::sleep_for(5ms)) {
    if (counts_.in_flight() > 0 || connecting()) shut_down_all_sockets(limits_.spared_ports);
  }
  threads_.clear();
  if (connections_) connections_->join();
  // Hedged attempts may outlive their requests.
  for (; counts_.in_flight() > 0; std::this_thread::sleep_for(5ms)) {
    shut_down_all_sockets(limits_.spared_ports);
  }
  runner_.join();
  arrival_threads_.stop();
}

void Fleet::run_client(std::uint64_t index) {
  Client client{.index = index, .number = index, .random = ClientRandom(seed_, index)};
  std::optional next{NextAttempt{.think = runner_.behaviour().start(client.state, client.random)}};
  while (next && waits_.wait(next->wait) && waits_.wait_at_load(Clock::now(), next->think)) {
    next = runner_.run(client);
  }
  retire(client);
}

std::optional<std::size_t> Fleet::join_job(std::uint64_t index) {
  if (!waits_.wait(scale(options_.job.workers_start, static_cast<double>(index)))) {
    return std::nullopt;
  }
  const std::scoped_lock lock(job_->mutex);
  if (!job_->job.next_start()) return std::nullopt;
  return job_->job.start();
}

void Fleet::run_worker(std::uint64_t index) {
  Client client{.index = index, .number = index, .random = ClientRandom(seed_, index)};
  runner_.behaviour().start(client.state, client.random);
  const std::optional<std::size_t> worker = join_job(index);
  if (worker) counts_.arrive(index, runner_.now());
  for (bool goes_on = worker.has_value(); goes_on;) {
    const auto next = runner_.run(client);
    if (!next) break;
    const TimePoint end = runner_.now();
    {
      const std::scoped_lock lock(job_->mutex);
      goes_on = job_->job.next_call(*worker);
      if (job_->job.all_done()) {
        job_->ended = end;
        job_done_ = true;
      }
    }
    goes_on = goes_on && waits_.wait(next->wait);
  }
  counts_.decide_pause(index, Duration::zero());
  retire(client);
}

void Fleet::run_arrivals() {
  OpenArrivals arrivals = open_arrivals(options_, seed_);
  // Each gap starts when the last arrival was due, not when it began, so that delays do not add up.
  auto due = waits_.wait_at_load(Clock::now(), arrivals.next_gap());
  for (std::uint64_t number = 0; due; ++number) {
    ++running_;
    const bool started = arrival_threads_.start(
        [this, number, due = *due](std::size_t place) { begin_request(place, number, due); });
    if (!started) {
      --running_;
      ++dropped_arrivals_;
    }
    due = waits_.wait_at_load(*due, arrivals.next_gap());
  }
}

void Fleet::begin_request(std::size_t place, std::uint64_t number, TimePoint due) {
  const Duration late = Clock::now() - due;
  if (late >= ArrivalLag::kLate) ++late_starts_;
  Duration latest = latest_start_;
  while (late > latest && !latest_start_.compare_exchange_weak(latest, late)) {
  }
  Client client{.index = place, .number = number, .random = ClientRandom(seed_, number)};
  runner_.behaviour().start(client.state, client.random);
  counts_.arrive(place, runner_.now());
  runner_.run(client);
  retire(client);
}

void Fleet::retire(Client& client) {
  counts_.leave(client.index, runner_.now(), client.metrics);
  --running_;
}

}  // namespace retrystorm
