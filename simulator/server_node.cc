#include "simulator/server_node.h"

#include <algorithm>
#include <utility>

namespace retrystorm {

ServerNode::ServerNode(const ServiceOptions& options, std::uint64_t seed, Abandoned abandoned,
                       std::size_t syn_linear_timeouts, Duration patience, Caller& caller,
                       RequestTrace* trace)
    : max_connections_(options.max_connections),
      abandoned_(abandoned),
      caller_(caller),
      trace_(trace),
      watches_(abandoned == Abandoned::kCancel || trace != nullptr),
      accept_queue_(options.backlog, syn_linear_timeouts, patience),
      service_(options, seed) {}

void ServerNode::connect(TimePoint now, const Attempt& attempt) {
  if (down_) return caller_.lose_connection(now, attempt);
  if (accept_queue_.connect(now, attempt)) {
    accept(now);
  } else if (trace_ != nullptr) {
    trace_->no_room(attempt.client, attempt.number);
  }
}

void ServerNode::repeat_syn(TimePoint now) {
  SynRepeats& repeats = accept_queue_.repeats();
  caller_.expect(repeats.ahead(kPrefetch));
  const SynRepeats::Repeat repeat = repeats.take();
  if (!caller_.waits_for(repeat.attempt)) return;
  if (repeat.last || down_) {
    caller_.lose_connection(now, repeat.attempt);
  } else if (accept_queue_.connect(now, repeat.attempt, repeat.sent + 1)) {
    if (trace_ != nullptr) trace_->connected(now, repeat.attempt.client, repeat.attempt.number);
    accept(now);
  }
}

ServerNode::Ticket& ServerNode::ticket_of(const Attempt& attempt) {
  if (attempt.client >= tickets_.size()) {
    tickets_.resize(attempt.client + 1, Service<Attempt>::kNoTicket);
  }
  return tickets_[attempt.client];
}

void ServerNode::hang_up(TimePoint now, const Attempt& attempt) {
  if (abandoned_ != Abandoned::kCancel) return;
  const Ticket ticket = std::exchange(ticket_of(attempt), Service<Attempt>::kNoTicket);
  if (ticket == Service<Attempt>::kNoTicket) return;
  if (!awake_) {
    gone_.emplace_back(ticket, attempt);  // it learns of it when it wakes
    return;
  }
  cancel(now, ticket, attempt);
  accept(now);
}

void ServerNode::cancel(TimePoint now, Ticket ticket, const Attempt& attempt) {
  service_.cancel(now, ticket);
  leaving_.leave();
  if (trace_ != nullptr) trace_->dismissed(now, attempt.client, attempt.number);
}

void ServerNode::wake(TimePoint now) {
  awake_ = true;
  for (const auto& [ticket, attempt] : gone_) cancel(now, ticket, attempt);
  gone_.clear();
  if (std::exchange(restarts_on_waking_, false)) restart(now);
  accept(now);
}

void ServerNode::go_down(TimePoint now) {
  down_ = true;
  restart(now);
}

void ServerNode::restart(TimePoint now) {
  if (!awake_) {
    restarts_on_waking_ = true;
    return;
  }
  // All at once, so that who hears of it finds the server as it is then.
  std::vector<Attempt> lost;
  while (auto taken = service_.take_any()) {
    service_.lose(taken->answer);
    leaving_.leave();
    if (watches_) dismissed(now, taken->item);
    lost.push_back(taken->item);
  }
  while (!accept_queue_.empty()) {
    const Attempt attempt = accept_queue_.accept();
    if (trace_ != nullptr) trace_->accepted(now, attempt.client, attempt.number);
    if (watches_) dismissed(now, attempt);
    lost.push_back(attempt);
  }
  for (const Attempt& each : lost) {
    if (caller_.waits_for(each)) caller_.lose_connection(now, each);
  }
}

void ServerNode::dismissed(TimePoint now, const Attempt& attempt) {
  if (trace_ != nullptr) trace_->dismissed(now, attempt.client, attempt.number);
  if (abandoned_ == Abandoned::kCancel) ticket_of(attempt) = Service<Attempt>::kNoTicket;
}

void ServerNode::accept(TimePoint now) {
  while (awake_ && !accept_queue_.empty() && service_.connections() < max_connections_) {
    Attempt attempt = accept_queue_.accept();
    const bool abandoned = !caller_.waits_for(attempt);
    if (abandoned && abandoned_ != Abandoned::kServe) {
      if (trace_ != nullptr) {
        trace_->accepted(now, attempt.client, attempt.number);
        trace_->dismissed(now, attempt.client, attempt.number);
      }
      continue;
    }

    const auto [answer, ticket] = service_.arrive(now, attempt);
    if (answer.rejection) {
      if (trace_ != nullptr) {
        trace_->accepted(now, attempt.client, attempt.number);
        trace_->answered(now, attempt.client, attempt.number);
      }
      service_.leave(now, answer, !abandoned);
      if (!abandoned) caller_.take_answer(now, attempt, answer);
      continue;
    }
    if (watches_) admitted(now, attempt, ticket);
    leaving_.enter(attempt);
    peak_concurrency_ = std::max(peak_concurrency_, service_.concurrency());
  }
}

void ServerNode::admitted(TimePoint now, const Attempt& attempt, Ticket ticket) {
  if (trace_ != nullptr) trace_->accepted(now, attempt.client, attempt.number);
  if (abandoned_ == Abandoned::kCancel) ticket_of(attempt) = ticket;
}

void ServerNode::served(TimePoint now, const Attempt& attempt) {
  if (trace_ != nullptr) trace_->answered(now, attempt.client, attempt.number);
  if (abandoned_ == Abandoned::kCancel) ticket_of(attempt) = Service<Attempt>::kNoTicket;
}

void ServerNode::take(TimePoint now) {
  const auto taken = service_.take(now);
  if (!taken) return;
  const auto& [attempt, answer, admitted] = *taken;
  caller_.expect(leaving_.leave());
  if (watches_) served(now, attempt);
  const bool waited_for = caller_.waits_for(attempt);
  service_.leave(now, answer, waited_for, admitted);
  if (waited_for) caller_.take_answer(now, attempt, answer);
  accept(now);
}

}  // namespace retrystorm
