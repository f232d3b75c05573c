#include "simulator/reconnects.h"

#include <utility>

namespace retrystorm {

Reconnects::Reconnects(const Scenario& scenario, Calls& requests, RequestTrace* trace)
    : calls_(scenario.workload.reconnect.calls),
      requests_(requests),
      trace_(trace),
      connects_(connecting(scenario.workload), scenario.seed,
                saturating_add(TimePoint{}, scenario.length), scenario.workload.clients, *this,
                nullptr),
      caller_(requests_, connects_),
      clients_(scenario.workload.clients) {
  connects_.send_to(to_server_);
  connects_.add_slots(clients_.size());
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    connects_.occupy(TimePoint{}, i, stream_of_connects(clients_.size(), i));
  }
}

void Reconnects::lose_all(TimePoint now) {
  progress_.lose(now, clients_.size());
  losing_ = true;
  requests_.lose_connections(now);
  losing_ = false;
  for (std::uint32_t i = 0; i < clients_.size(); ++i) {
    clients_[i].connected = false;
    connects_.begin_after_loss(now, i);
  }
}

void Reconnects::pass(TimePoint now, const Attempt& attempt, bool kept) {
  Client& client = clients_[attempt.client];
  if (client.connected && !losing_) {
    Target& server = *to_server_.server;
    return kept ? server.send(now, attempt) : server.connect(now, attempt);
  }
  client.waiting = attempt.number;
  client.on_kept = kept;
  if (trace_ != nullptr) trace_->no_room(attempt.client, attempt.number);
}

void Reconnects::hang_up(TimePoint now, const Attempt& attempt) {
  Client& client = clients_[attempt.client];
  if (client.connected) return to_server_.server->hang_up(now, attempt);
  client.waiting = 0;
}

void Reconnects::call_over(TimePoint now, std::uint32_t slot, const NextAttempt& next) {
  Client& client = clients_[slot];
  if (++client.calls < calls_) return connects_.begin_at(saturating_add(now, next.wait), slot);
  client.connected = true;
  progress_.come_back(now);
  const std::uint32_t waiting = std::exchange(client.waiting, 0);
  if (waiting == 0) return;
  if (trace_ != nullptr) trace_->connected(now, slot, waiting);
  pass(now, {slot, waiting}, client.on_kept);
}

ReconnectResult Reconnects::result() const {
  ReconnectResult result = progress_.result();
  result.attempts = connects_.counts().attempts;
  result.failed = connects_.counts().failures();
  return result;
}

}  // namespace retrystorm
