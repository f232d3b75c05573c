#include "common/calls/client_connections.h"

#include "common/os/process.h"

namespace retrystorm {

ClientConnections::ClientConnections(const WorkloadOptions& workload, std::uint64_t seed,
                                     const HttpRequest& request, ClientWaits& waits)
    : calls_(workload.reconnect.calls),
      seed_(seed),
      counts_(workload.clients),
      runner_(connecting(workload), workload.clients, request, waits, counts_),
      clients_(workload.clients) {}

ClientConnections::~ClientConnections() {
  stop();
  join();
}

void ClientConnections::start() {
  threads_.reserve(clients_.size());
  for (std::size_t i = 0; i < clients_.size(); ++i) {
    threads_.emplace_back(&ClientConnections::run, this, i);
    ++running_;
  }
}

void ClientConnections::lose_all(const std::vector<int>& spared_ports) {
  {
    const std::scoped_lock lock(mutex_);
    progress_.lose(runner_.now(), clients_.size());
    for (Client& each : clients_) each.connected = false;
  }
  // Before any client connects again.
  shut_down_all_sockets(spared_ports);
  for (Client& each : clients_) each.changed.notify_all();
}

bool ClientConnections::wait(std::size_t client, Duration patience) {
  const TimePoint until = bounded(saturating_add(Clock::now(), patience));
  std::unique_lock lock(mutex_);
  Client& waiting = clients_[client];
  waiting.changed.wait_until(lock, until, [&] { return waiting.connected || stopping_; });
  return waiting.connected;
}

void ClientConnections::stop() {
  const std::scoped_lock lock(mutex_);
  stopping_ = true;
  for (Client& each : clients_) each.changed.notify_all();
}

void ClientConnections::join() {
  threads_.clear();
}

std::size_t ClientConnections::without() const {
  const std::scoped_lock lock(mutex_);
  return progress_.without();
}

ReconnectResult ClientConnections::result() const {
  const Counts counts = counts_.counts();
  const std::scoped_lock lock(mutex_);
  ReconnectResult result = progress_.result();
  result.attempts = counts.attempts;
  result.failed = counts.failures();
  return result;
}

bool ClientConnections::wait_for_loss(Client& client) {
  std::unique_lock lock(mutex_);
  client.changed.wait(lock, [&] { return !client.connected || stopping_; });
  return !stopping_;
}

void ClientConnections::run(std::uint64_t index) {
  const std::uint64_t number = stream_of_connects(clients_.size(), index);
  RequestRunner::Client caller{
      .index = index, .number = number, .random = ClientRandom(seed_, number)};
  runner_.behaviour().start(caller.state, caller.random);
  counts_.arrive(index, runner_.now());
  Client& client = clients_[index];
  bool goes_on = wait_for_loss(client) && runner_.run_after_loss(caller);
  for (std::size_t i = 1; goes_on && i < calls_; ++i) goes_on = runner_.run(caller).has_value();
  if (goes_on) {
    const std::scoped_lock lock(mutex_);
    client.connected = true;
    progress_.come_back(runner_.now());
    client.changed.notify_all();
  }
  --running_;
}

}  // namespace retrystorm
