#include "simulator/chain/chain.h"

#include <algorithm>
#include <limits>
#include <utility>

namespace retrystorm {
namespace {

constexpr int kBadGateway = 502;

// A seed of its own for each service behind the first one, and for the calls to it.
std::uint64_t seed_of(std::uint64_t seed, std::size_t number) {
  constexpr std::uint64_t kStreams = std::numeric_limits<std::uint64_t>::max() - 1000;
  return ClientRandom(seed, kStreams - number).state();
}

}  // namespace

bool ChainNode::is_wanted(const Attempt& attempt) const {
  const ChainNode* node = this;
  Attempt at = attempt;
  while (node->calls_.waits_for(at)) {
    if (node->from_ == nullptr) return true;
    at = node->from_->request_of(at);
    node = &node->from_->from();
  }
  return false;
}

void ChainNode::work_done(TimePoint now, const Taken& taken) {
  ++totals_.worked;
  if (!is_wanted(taken.item)) ++totals_.for_nobody;
  if (next_ == nullptr || taken.answer.failed) return server_.finish(now, taken);
  next_->begin(now, taken);
}

std::vector<Callees::Taken> ChainNode::lose_all(TimePoint now) {
  return next_ == nullptr ? std::vector<Taken>() : next_->lose_all(now);
}

void ChainNode::sample() {
  ++samples_;
  const std::size_t calling = next_ == nullptr ? 0 : next_->under_way();
  calling_ += calling;
  busy_ += server_.workers()->busy;
}

NodeInterval ChainNode::take_interval(Duration window, bool holds) {
  totals_.service = server_.counts();
  totals_.calls = calls_.counts();
  const Totals before = std::exchange(taken_, totals_);
  const ServiceCounts service = totals_.service - before.service;
  const double seconds = to_seconds(window);
  const auto rate = [seconds](std::uint64_t count) { return static_cast<double>(count) / seconds; };
  const auto samples = static_cast<double>(std::max<std::size_t>(samples_, 1));
  const std::size_t busy = holds ? busy_ - std::min(calling_, busy_) : busy_;
  const WorkerState workers = *server_.workers();
  const NodeInterval interval{.offered = rate(service.offered),
                              .admitted = rate(service.admitted),
                              .refused = rate(service.rejections()),
                              .in_time = rate(service.served),
                              .worked = rate(totals_.worked - before.worked),
                              .for_nobody = rate(totals_.for_nobody - before.for_nobody),
                              .busy = static_cast<double>(busy) / samples,
                              .calling = static_cast<double>(calling_) / samples,
                              .workers = workers.workers,
                              .queue = workers.waiting,
                              .calls = rates(totals_.calls - before.calls, window)};
  samples_ = busy_ = calling_ = 0;
  return interval;
}

void ChainLink::begin(TimePoint now, const Callees::Taken& request) {
  std::uint32_t slot;
  if (free_slots_.empty()) {
    slot = calls_.add_slot();
    requests_.push_back(request);
    in_use_.push_back(true);
  } else {
    slot = free_slots_.back();
    free_slots_.pop_back();
    requests_[slot] = request;
    in_use_[slot] = true;
  }
  ++under_way_;
  calls_.occupy(now, slot, begun_++);
  calls_.begin(now, slot);
}

std::vector<Callees::Taken> ChainLink::lose_all(TimePoint now) {
  calls_.forget_all(now);
  unread_.clear();
  std::vector<Callees::Taken> lost;
  for (std::uint32_t slot = 0; slot < requests_.size(); ++slot) {
    if (!in_use_[slot]) continue;
    lost.push_back(requests_[slot]);
    in_use_[slot] = false;
    free_slots_.push_back(slot);
  }
  under_way_ = 0;
  return lost;
}

void ChainLink::take_answer(TimePoint now, const Attempt& attempt, const Answer& answer) {
  if (from_.server().awake()) return calls_.take_answer(now, attempt, answer);
  unread_.push_back({.attempt = attempt, .answer = answer});
}

void ChainLink::lose_connection(TimePoint now, const Attempt& attempt, NoAnswer why) {
  if (from_.server().awake()) return calls_.lose_connection(now, attempt, why);
  unread_.push_back({.attempt = attempt, .why = why});
}

void ChainLink::read_answers(TimePoint now) {
  for (const Unread& each : std::exchange(unread_, {})) {
    if (!calls_.waits_for(each.attempt)) continue;
    if (each.answer) {
      calls_.take_answer(now, each.attempt, *each.answer);
    } else {
      calls_.lose_connection(now, each.attempt, each.why);
    }
  }
}

void ChainLink::call_over(TimePoint now, std::uint32_t slot, const NextAttempt& next) {
  Callees::Taken request = requests_[slot];
  in_use_[slot] = false;
  free_slots_.push_back(slot);
  --under_way_;
  calls_.vacate(now, slot);
  if (next.gave_up) {
    request.answer.failed = true;
    request.answer.with = kBadGateway;
  }
  from_.server().finish(now, request);
}

Chain::Chain(const Scenario& scenario, ServerNode& front, const Calls& clients)
    : disturbed_(scenario.disturbed), watch_(scenario.chain) {
  const TimePoint end = saturating_add(TimePoint{}, scenario.length);
  nodes_.push_back(std::make_unique<ChainNode>(front, clients, nullptr));
  for (const auto& [service, caller] : scenario.behind) {
    const std::size_t number = nodes_.size();
    ChainNode& from = *nodes_.back();
    links_.push_back(
        std::make_unique<ChainLink>(caller, seed_of(scenario.seed, 2 * number), end, from));
    ChainLink& link = *links_.back();
    servers_.push_back(std::make_unique<ServerNode>(service, seed_of(scenario.seed, 2 * number + 1),
                                                    scenario.syn_linear_timeouts, caller.timeout,
                                                    link));
    link.send_to(*servers_.back());
    from.call(link);
    nodes_.push_back(std::make_unique<ChainNode>(*servers_.back(), link.calls(), &link));
  }
  for (const auto& each : nodes_) each->server().call(*each, scenario.chain.holds);
}

void Chain::wake(TimePoint now) {
  if (disturbed_ < links_.size()) links_[disturbed_]->read_answers(now);
}

TimePoint Chain::next_event() {
  TimePoint next = sample_at_;
  for (const auto& each : servers_) {
    next = std::min({next, each->next_event(), each->next_repeat()});
  }
  for (const auto& each : links_) next = std::min({next, each->next_timeout(), each->next_wait()});
  return next;
}

// As in a run with one service: at the same moment answers come before timeouts, and these before new attempts.
void Chain::take_event(TimePoint now) {
  for (const auto& each : servers_) {
    if (each->next_event() <= now) return each->take(now);
  }
  for (const auto& each : links_) {
    if (each->next_timeout() <= now) return each->time_out(now);
  }
  for (const auto& each : servers_) {
    if (each->next_repeat() <= now) return each->repeat_syn(now);
  }
  for (const auto& each : links_) {
    if (each->next_wait() <= now) return each->end_wait(now);
  }
  for (const auto& each : nodes_) each->sample();
  sample_at_ = saturating_add(sample_at_, kSample);
}

std::optional<ChainInterval> Chain::take_interval(TimePoint now) {
  if (now < window_end_) return std::nullopt;
  window_end_ = saturating_add(window_end_, ChainWatch::kWindow);
  ChainInterval interval{.t = now - TimePoint{}, .window = ChainWatch::kWindow};
  for (const auto& each : nodes_) {
    interval.nodes.push_back(each->take_interval(interval.window, names().holds));
  }
  const double requests = interval.nodes.front().calls.requests;
  for (NodeInterval& each : interval.nodes) {
    if (requests > 0) each.amplification = each.calls.attempts / requests;
  }
  watch_.take(interval);
  return interval;
}

}  // namespace retrystorm
