#include "simulator/server_node.h"

#include <limits>

namespace retrystorm {

ServerNode::ServerNode(const ServiceOptions& options, std::uint64_t seed,
                       std::size_t syn_linear_timeouts, Duration patience, Caller& caller,
                       RequestTrace* trace)
    : when_free_(options.accepts_when_free()),
      abandoned_(options.abandoned),
      max_connections_(options.most_connections()),
      caller_(caller),
      sure_room_(caller.idle_connections() ? 0 : max_connections_),
      trace_(trace),
      watches_(options.abandoned == Abandoned::kCancel || trace != nullptr),
      accept_queue_(options.backlog, syn_linear_timeouts, patience),
      service_(options, seed) {
  if (options.reset_limit != ServiceOptions::kUnlimitedResets) {
    reset_limit_.emplace(options.reset_limit, options.reset_rate);
  }
  if (abandoned_ == Abandoned::kServe) return;
  service_.skip_if([this](const Attempt& attempt) { return !caller_.waits_for(attempt); });
}

void ServerNode::call(Callees& callees, bool holds, double first_share) {
  callees_ = &callees;
  if (holds) service_.hold_workers();
  service_.serve_first(first_share);
}

void ServerNode::drop_if(std::function<bool(const Attempt&)> expired) {
  const bool skips = abandoned_ != Abandoned::kServe;
  service_.skip_if([this, skips, expired = std::move(expired)](const Attempt& attempt) {
    return (skips && !caller_.waits_for(attempt)) || expired(attempt);
  });
}

void ServerNode::connect(TimePoint now, const Attempt& attempt) {
  if (!listens()) return caller_.lose_connection(now, attempt, NoAnswer::kRefused);
  if (awake_ && accept_queue_.empty() && make_room()) return take_in(now, attempt);
  if (accept_queue_.connect(now, attempt)) {
    accept(now);
  } else if (trace_ != nullptr) {
    trace_->no_room(attempt.client, attempt.number);
  }
}

void ServerNode::send(TimePoint now, const Attempt& attempt) {
  if (awake_) {
    take_in(now, attempt);
    if (sure_room_ == 0) accept(now);  // it may have been turned away, and its connection closed
  } else {
    unread_.push({attempt, caller_.multiplexes() ? caller_.process_of(attempt) : 0});
  }
}

void ServerNode::repeat_syn(TimePoint now) {
  SynRepeats& repeats = accept_queue_.repeats();
  caller_.expect(repeats.ahead(kPrefetch));
  const SynRepeats::Repeat repeat = repeats.take();
  if (!caller_.waits_for(repeat.attempt)) return;
  if (repeat.last || !listens()) {
    caller_.lose_connection(now, repeat.attempt,
                            listens() ? NoAnswer::kUnreachable : NoAnswer::kRefused);
  } else if (accept_queue_.connect(now, repeat.attempt, repeat.sent + 1)) {
    if (trace_ != nullptr) trace_->connected(now, repeat.attempt.client, repeat.attempt.number);
    accept(now);
  }
}

ServerNode::Ticket& ServerNode::ticket_of(const Attempt& attempt) {
  if (attempt.is_probe()) return ticket_of_probe_;
  if (attempt.client >= tickets_.size()) {
    tickets_.resize(attempt.client + 1, Service<Attempt>::kNoTicket);
  }
  return tickets_[attempt.client];
}

void ServerNode::hang_up(TimePoint now, const Attempt& attempt) {
  if (callees_ != nullptr) callees_->hang_up(now, attempt);
  if (abandoned_ != Abandoned::kCancel) return;
  const Ticket ticket = std::exchange(ticket_of(attempt), Service<Attempt>::kNoTicket);
  if (ticket == Service<Attempt>::kNoTicket) return;
  if (!awake_) {
    gone_.emplace_back(ticket, attempt);  // cancelled when the server wakes
    return;
  }
  cancel(now, ticket, attempt);
  accept(now);
}

void ServerNode::reset(TimePoint now, std::uint32_t process) {
  if (!reset_limit_) return;
  if (awake_) {
    if (reset_limit_->take(now, process, 1) == 0) caller_.lose_connections_of(now, process);
    return;
  }
  if (process >= resets_.size()) resets_.resize(process + 1);
  ++resets_[process];
}

void ServerNode::cancel(TimePoint now, Ticket ticket, const Attempt& attempt) {
  service_.cancel(now, ticket);
  if (trace_ != nullptr) trace_->dismissed(now, attempt.client, attempt.number);
}

AttemptPlaces ServerNode::places(std::size_t in_flight, std::size_t in_service) const {
  const auto is_stale = [this](const Attempt& attempt) { return !caller_.waits_for(attempt); };
  AttemptPlaces places{
      .accept_queue = {.all = accept_queue_.waiting().size(),
                       .stale = accept_queue_.waiting().count_if(is_stale)},
      .buffers = {.all = unread_.size(), .stale = unread_.count_if([&](const Unread& each) {
                    return is_stale(each.attempt);
                  })},
      .service = {.all = service_.concurrency()}};
  places.complete(in_flight, in_service);
  return places;
}

void ServerNode::freeze() {
  awake_ = false;
  dropped_before_ = accept_queue_.dropped();
}

void ServerNode::wake(TimePoint now) {
  awake_ = true;
  const AttemptPlaces found = places(0, 0);
  found_on_waking_ = {.accept_queue = found.accept_queue.all,
                      .kept = found.buffers.all,
                      .stale = found.accept_queue.stale + found.buffers.stale,
                      .no_room = accept_queue_.dropped() - dropped_before_};
  for (const auto& [ticket, attempt] : gone_) cancel(now, ticket, attempt);
  gone_.clear();
  if (std::exchange(restarts_on_waking_, false)) restart(now);
  read_on_waking(now);
  accept(now);
}

// A server reads all of one connection before the next one. Of a process with more resets than its connections may have,
// only so many requests are read. They were sent before those that the clients still wait for.
void ServerNode::read_on_waking(TimePoint now) {
  std::vector<std::uint32_t> closed;
  std::vector<std::size_t> readable(resets_.size(), std::numeric_limits<std::size_t>::max());
  for (std::uint32_t process = 0; process < resets_.size(); ++process) {
    const std::size_t taken = reset_limit_->take(now, process, resets_[process]);
    if (taken == resets_[process]) continue;
    readable[process] = taken;
    closed.push_back(process);
  }
  resets_.clear();
  std::vector<Unread> all;
  while (!unread_.empty()) all.push_back(unread_.take());
  if (caller_.multiplexes()) {
    std::stable_sort(all.begin(), all.end(),
                     [](const Unread& a, const Unread& b) { return a.process < b.process; });
  }
  for (const auto& [attempt, process] : all) {
    if (process >= readable.size() || readable[process] > 0) {
      if (process < readable.size()) --readable[process];
      take_in(now, attempt);
    }
  }
  for (const std::uint32_t process : closed) caller_.lose_connections_of(now, process);
}

void ServerNode::go_down(TimePoint now) {
  ++down_;
  restart(now);
}

void ServerNode::kill(TimePoint now) {
  if (!awake_) {
    awake_ = true;
    restarts_on_waking_ = false;
    for (const auto& [ticket, attempt] : gone_) cancel(now, ticket, attempt);
    gone_.clear();
    resets_.clear();
  }
  restart(now);
}

std::vector<Attempt> ServerNode::hand_back(TimePoint now) {
  std::vector<Attempt> waiting;
  if (!awake_) return waiting;
  while (auto attempt = service_.take_waiting()) {
    if (watches_) dismissed(now, *attempt);
    if (callees_ != nullptr) callees_->handed_back(*attempt);
    waiting.push_back(*attempt);
  }
  while (!accept_queue_.empty()) waiting.push_back(accept_queue_.accept());
  return waiting;
}

void ServerNode::configure(TimePoint now, const ServiceOptions& options) {
  service_.configure(now, options);
  if (!when_free_) return;
  max_connections_ = options.most_connections();
  if (sure_room_ > 0) sure_room_ = max_connections_;
  accept(now);
}

void ServerNode::restart(TimePoint now) {
  if (!awake_) {
    restarts_on_waking_ = true;
    return;
  }
  // Empties the server before it calls any caller, so that callers see its final state.
  std::vector<Attempt> lost;
  while (auto taken = service_.take_any()) {
    service_.lose(taken->answer);
    if (watches_) dismissed(now, taken->item);
    lost.push_back(taken->item);
  }
  if (callees_ != nullptr) {
    for (const Callees::Taken& each : callees_->lose_all(now)) {
      service_.lose(each.answer);
      if (watches_) dismissed(now, each.item);
      lost.push_back(each.item);
    }
  }
  const auto lose = [&](const Attempt& attempt) {
    if (trace_ != nullptr) trace_->accepted(now, attempt.client, attempt.number);
    if (watches_) dismissed(now, attempt);
    lost.push_back(attempt);
  };
  while (!unread_.empty()) lose(unread_.take().attempt);
  while (!accept_queue_.empty()) lose(accept_queue_.accept());
  caller_.lose_idle_connections();
  for (const Attempt& each : lost) {
    if (caller_.waits_for(each)) caller_.lose_connection(now, each, NoAnswer::kReset);
  }
}

void ServerNode::dismissed(TimePoint now, const Attempt& attempt) {
  if (trace_ != nullptr) trace_->dismissed(now, attempt.client, attempt.number);
  if (abandoned_ == Abandoned::kCancel) ticket_of(attempt) = Service<Attempt>::kNoTicket;
}

void ServerNode::accept(TimePoint now) {
  while (awake_ && !accept_queue_.empty() && make_room()) take_in(now, accept_queue_.accept());
}

bool ServerNode::make_room_beside_idle() {
  const std::size_t idle = caller_.idle_connections().value_or(0);
  if (service_.connections() + idle < max_connections_) return true;
  return idle > 0 && !when_free_ && caller_.lose_longest_idle_connection();
}

void ServerNode::take_in(TimePoint now, Attempt attempt) {
  const bool abandoned = !caller_.waits_for(attempt);
  const auto [answer, ticket] = service_.arrive(now, attempt);
  if (answer.rejection) {
    if (trace_ != nullptr) {
      trace_->accepted(now, attempt.client, attempt.number);
      rejected(now, attempt, *answer.rejection);
    }
    service_.leave(now, answer, !abandoned);
    if (!abandoned) caller_.take_answer(now, attempt, answer);
    return;
  }
  if (!abandoned) caller_.let_in(now, attempt);
  if (watches_) admitted(now, attempt, ticket);
  peak_concurrency_ = std::max(peak_concurrency_, service_.concurrency());
}

void ServerNode::admitted(TimePoint now, const Attempt& attempt, Ticket ticket) {
  if (trace_ != nullptr) trace_->accepted(now, attempt.client, attempt.number);
  if (abandoned_ == Abandoned::kCancel) ticket_of(attempt) = ticket;
}

void ServerNode::rejected(TimePoint now, const Attempt& attempt, Rejection why) {
  if (why == Rejection::kAbandoned) {
    trace_->dismissed(now, attempt.client, attempt.number);
  } else {
    trace_->answered(now, attempt.client, attempt.number);
  }
}

void ServerNode::served(TimePoint now, const Attempt& attempt) {
  if (trace_ != nullptr) trace_->answered(now, attempt.client, attempt.number);
  if (abandoned_ == Abandoned::kCancel) ticket_of(attempt) = Service<Attempt>::kNoTicket;
}

void ServerNode::take(TimePoint now) {
  const auto taken = service_.take(now);
  if (!taken) return;
  if (callees_ == nullptr || callees_->looks_at_callers()) {
    if (const Attempt* soon = service_.soon()) caller_.expect(*soon);
  }
  if (callees_ != nullptr && !taken->answer.rejection) return callees_->work_done(now, *taken);
  answer(now, *taken);
}

void ServerNode::answer(TimePoint now, const Service<Attempt>::Taken& taken) {
  const auto& [attempt, answer, admitted] = taken;
  if (answer.rejection == Rejection::kAbandoned) {
    if (watches_) dismissed(now, attempt);
  } else if (watches_) {
    served(now, attempt);
  }
  const bool waited_for = caller_.waits_for(attempt);
  service_.leave(now, answer, waited_for, admitted);
  if (waited_for) caller_.take_answer(now, attempt, answer);
  accept(now);
}

}  // namespace retrystorm
