#include "simulator/server_node.h"

#include <algorithm>
#include <chrono>
#include <utility>

namespace retrystorm {

ServerNode::ServerNode(const ServiceOptions& options, Abandoned abandoned,
                       std::size_t syn_linear_timeouts, Caller& caller)
    : max_connections_(options.max_connections),
      abandoned_(abandoned),
      caller_(caller),
      accept_queue_(options.backlog, syn_linear_timeouts),
      admission_(options.admission()),
      service_(options.curve()) {}

void ServerNode::connect(TimePoint now, const Attempt& attempt) {
  if (accept_queue_.connect(now, attempt)) accept(now);
}

void ServerNode::repeat_syn(TimePoint now) {
  SynRepeats& repeats = accept_queue_.repeats();
  if (const Attempt* soon = repeats.ahead(kPrefetch)) caller_.expect(*soon);
  const SynRepeats::Repeat repeat = repeats.take();
  if (!caller_.waits_for(repeat.attempt)) return;
  if (repeat.last) {
    caller_.lose_connection(now, repeat.attempt);
  } else if (accept_queue_.connect(now, repeat.attempt, repeat.sent + 1)) {
    accept(now);
  }
}

void ServerNode::hang_up(TimePoint now, const Attempt& attempt) {
  if (abandoned_ != Abandoned::kCancel || attempt.client >= in_service_.size() ||
      in_service_[attempt.client] != attempt.number) {
    return;
  }
  service_.leave();
  service_changed();
  accept(now);
}

void ServerNode::wake(TimePoint now) {
  awake_ = true;
  accept(now);
}

void ServerNode::accept(TimePoint now) {
  while (awake_ && !accept_queue_.empty() && service_.concurrency() < max_connections_) {
    const Attempt attempt = accept_queue_.accept();
    const bool abandoned = !caller_.waits_for(attempt);
    if (abandoned && abandoned_ != Abandoned::kServe) continue;

    const Admission admission = admission_.admit(now, service_.concurrency());
    if (admission != Admission::kServe) {
      ++(admission == Admission::kShed ? interval_.rejected_503 : interval_.rejected_429);
      // In whole seconds, as the real server's answer has it.
      const auto wait = std::chrono::ceil<std::chrono::seconds>(admission_.retry_after(admission));
      const Answer answer{.status = admission == Admission::kShed ? 503 : 429,
                          .retry_after = std::max(wait, std::chrono::seconds(1))};
      if (!abandoned) caller_.take_answer(now, attempt, answer);
      continue;
    }
    ++interval_.arrivals;
    if (abandoned_ == Abandoned::kCancel) {
      if (attempt.client >= in_service_.size()) in_service_.resize(attempt.client + 1);
      in_service_[attempt.client] = attempt.number;
    }
    service_.arrive(now, attempt);
    leaving_.enter(attempt);
    service_changed();
  }
}

void ServerNode::depart(TimePoint now) {
  caller_.expect(leaving_.leave());
  const auto attempt = service_.depart(now);
  const bool waited_for = caller_.waits_for(*attempt);
  // A cancelled request has left already: only its place in the queue remained.
  if (waited_for || abandoned_ != Abandoned::kCancel) {
    service_.leave();
    ++interval_.departures;
  }
  if (waited_for) caller_.take_answer(now, *attempt, {});
  service_changed();
  accept(now);
}

void ServerNode::service_changed() {
  peak_concurrency_ = std::max(peak_concurrency_, service_.concurrency());
  next_departure_ = service_.next_departure();
}

ServerInterval ServerNode::take_interval() {
  interval_.concurrency = service_.concurrency();
  interval_.last_delay = service_.current_delay();
  return std::exchange(interval_, {});
}

}  // namespace retrystorm
