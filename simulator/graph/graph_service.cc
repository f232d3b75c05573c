#include "simulator/graph/graph_service.h"

#include <algorithm>

namespace retrystorm {
namespace {

constexpr int kUnavailable = 503;

}  // namespace

GraphService::GraphService(GraphNode node, Callers& callers, const EventLoop& clock,
                           bool& some_left, std::uint64_t seed)
    : node_(std::move(node)),
      may_let_go_(std::any_of(node_.calls.begin(), node_.calls.end(),
                              [](const auto& group) { return group.size() > 1; })),
      clock_(clock),
      some_left_(some_left),
      random_(seed, 0),
      callers_(callers) {}

double GraphService::first_share() const {
  if (node_.calls.empty() || node_.own_work == OwnWork::kBeforeCalls) return 1;
  return node_.own_work == OwnWork::kSplit ? 0.5 : 0;
}

void GraphService::serve(Hosts& hosts, std::uint32_t host) {
  hosts_ = &hosts;
  host_ = host;
  server_ = &hosts.server(host);
  server_->call(*this, holds(), first_share());
  if (!callers_.have_deadlines()) return;
  server_->drop_if([this](const Attempt& attempt) {
    // At the moment itself the caller still waits.
    return !attempt.is_probe() && callers_.deadline_of(clock_.now(), attempt) < clock_.now();
  });
}

void GraphService::call(std::vector<GraphCalls*> calls, const GraphEdge& whole, std::uint64_t seed,
                        TimePoint end) {
  calls_ = std::move(calls);
  if (node_.retry_scope != RetryScope::kAll || calls_.empty()) return;
  WorkloadOptions caller = whole.caller;
  caller.timeout = Duration::max();  // its calls have theirs, and their hedges
  caller.retry.hedge = {};
  caller.connections = {};
  whole_ = std::make_unique<Calls>(caller, seed, end, 0, static_cast<CallOwner&>(*this), nullptr);
  whole_->bound_requests();
  whole_->send_to(*this);
}

void GraphService::read_answers(TimePoint now) {
  for (GraphCalls* each : calls_) each->read_answers(now);
}

bool GraphService::is_wanted(const Purpose& purpose) const {
  const Request& request = requests_[purpose.request];
  return request.generation == purpose.generation && callers_.want(request.taken.item);
}

void GraphService::expect(Index request) const {
  prefetch(requests_[request]);
  callers_.expect(requests_[std::exchange(expected_, request)].taken.item);
}

GraphService::Index GraphService::new_request(const Taken& taken) {
  const Index index = free_.empty() ? static_cast<Index>(requests_.size()) : free_.take_back();
  if (index == requests_.size()) {
    requests_.emplace_back();
    if (whole_) whole_->add_slot();
  }
  Request& request = requests_[index];
  request.taken = taken;
  if (callers_.have_deadlines()) {
    request.deadline = callers_.deadline_of(clock_.now(), taken.item);
  }
  request.in_use = true;
  request.resumed = false;
  return index;
}

void GraphService::free_request(Index index) {
  Request& request = requests_[index];
  request.in_use = false;
  if (may_let_go_) request.calls.clear();
  request.at_once.under_way = 0;
  ++request.generation;
  free_.push(index);
}

void GraphService::work_done(TimePoint now, const Taken& taken) {
  if (!resumed_.empty()) {
    const auto found = resumed_.find(taken.item.key());
    if (found != resumed_.end()) {
      const Index index = found->second;
      resumed_.erase(found);
      return finish(now, index);
    }
  }
  // A probe asks whether this host works, and not those that it calls.
  if (taken.item.is_probe()) return finish(now, taken);
  ++totals_.worked;
  if (some_left_ && !callers_.want(taken.item)) ++totals_.for_nobody;
  if (node_.calls.empty() || taken.answer.failed) return finish(now, taken);
  const Index index = new_request(taken);
  ++calling_now_;
  if (!whole_) return begin_calls(now, index);
  whole_->occupy(now, index, begun_++);
  whole_->set_end(index, deadline_of(requests_[index]));
  whole_->begin(now, index);
}

void GraphService::connect(TimePoint now, const Attempt& attempt) {
  requests_[attempt.client].whole = attempt;
  begin_calls(now, attempt.client);
}

void GraphService::begin_calls(TimePoint now, Index index) {
  requests_[index].group = 0;
  begin_group(now, index);
}

void GraphService::begin_group(TimePoint now, Index index) {
  for (; requests_[index].group < node_.calls.size(); ++requests_[index].group) {
    Request& request = requests_[index];
    request.at_once = {};
    request.beginning = true;
    bool any = false;
    for (const PlannedCall& each : node_.calls[request.group]) {
      if (each.share < 1 && random_.uniform() >= each.share) continue;
      any = true;
      if (!each.optional) ++requests_[index].at_once.required;
      begin_call(now, index, *calls_[each.to],
                 {.request = index,
                  .generation = requests_[index].generation,
                  .times = static_cast<std::uint16_t>(each.times),
                  .optional = each.optional});
    }
    requests_[index].beginning = false;
    if (any) return look_at(now, index);
  }
  calls_over(now, index, false);
}

void GraphService::begin_call(TimePoint now, Index index, GraphCalls& calls,
                              const Purpose& purpose) {
  const GraphCalls::Slot slot = calls.take_slot(purpose);
  Request& request = requests_[index];
  ++request.at_once.under_way;
  if (node_.calls[request.group].size() > 1) request.calls.push_back({&calls, slot});
  calls.begin(now, slot, deadline_of(requests_[index]));
}

void GraphService::call_over(TimePoint now, GraphCalls& calls, GraphCalls::Slot slot,
                             const Purpose& purpose, const Answer* failure) {
  Request& request = requests_[purpose.request];
  if (may_let_go_) {
    std::erase_if(request.calls,
                  [&](const UnderWay& each) { return each.calls == &calls && each.slot == slot; });
  }
  if (failure == nullptr && purpose.times > 1) {
    Purpose next = purpose;
    --next.times;
    --request.at_once.under_way;
    return begin_call(now, purpose.request, calls, next);  // if it fails at once, that is looked at
  }
  request.at_once.end(purpose.optional, failure != nullptr);
  if (!purpose.optional && failure != nullptr) request.failure = *failure;
  if (!requests_[purpose.request].beginning) look_at(now, purpose.request);
}

void GraphService::look_at(TimePoint now, Index index) {
  Request& request = requests_[index];
  const std::optional<bool> succeeded = request.at_once.result(node_.on_failure);
  if (!succeeded) return;
  if (request.at_once.failed > 0 || request.at_once.under_way > 0) let_go(now, request);
  if (*succeeded && ++request.group < node_.calls.size()) return begin_group(now, index);
  calls_over(now, index, !*succeeded);
}

void GraphService::let_go(TimePoint now, Request& request) {
  if (!request.calls.empty()) some_left_ = true;
  for (const UnderWay& each : request.calls) each.calls->let_go(now, each.slot);
  request.calls.clear();
  request.at_once.under_way = 0;
}

void GraphService::calls_over(TimePoint now, Index index, bool failed) {
  if (!whole_) return end_calls(now, index, failed);
  const Request& request = requests_[index];
  whole_->take_answer(now, request.whole, failed ? request.failure : Answer());
}

void GraphService::call_over(TimePoint now, std::uint32_t slot, const NextAttempt& next) {
  whole_->vacate(now, slot);
  end_calls(now, slot, next.gave_up.has_value());
}

void GraphService::end_calls(TimePoint now, Index index, bool failed) {
  --calling_now_;
  Request& request = requests_[index];
  if (failed) {
    Answer& answer = request.taken.answer;
    answer = {.failed = true, .with = kBadGateway};
    if (node_.upstream_failure == UpstreamFailure::kNoRetry) {
      answer.with = kUnavailable;
      answer.no_retry = true;
    } else if (node_.upstream_failure != UpstreamFailure::kBadGateway) {
      answer.with = request.failure.with;
      if (node_.upstream_failure == UpstreamFailure::kPassHint) {
        answer.retry_after = request.failure.retry_after;
      }
    }
  } else if (first_share() < 1) {
    request.resumed = true;
    const Taken taken = request.taken;
    resumed_.emplace(taken.item.key(), index);
    server_->resume(now, taken);
    return hosts_->changed(now, host_);
  }
  finish(now, index);
}

void GraphService::finish(TimePoint now, Index index) {
  const Taken taken = requests_[index].taken;
  free_request(index);
  finish(now, taken);
}

void GraphService::finish(TimePoint now, const Taken& taken) {
  server_->finish(now, taken);
  hosts_->changed(now, host_);
}

void GraphService::handed_back(const Attempt& attempt) {
  const auto found = resumed_.find(attempt.key());
  if (found == resumed_.end()) return;
  free_request(found->second);
  resumed_.erase(found);
}

std::vector<Callees::Taken> GraphService::lose_all(TimePoint now) {
  for (GraphCalls* each : calls_) each->lose_all(now);
  if (whole_) whole_->forget_all(now);
  std::vector<Taken> lost;
  for (Index index = 0; index < requests_.size(); ++index) {
    const Request& request = requests_[index];
    if (!request.in_use) continue;
    // The server itself has those that it works on.
    if (!request.resumed) lost.push_back(request.taken);
    free_request(index);
  }
  resumed_.clear();
  calling_now_ = 0;
  return lost;
}

void GraphService::sample() {
  ++samples_;
  calling_ += calling_now_;
  busy_ += server_->workers()->busy;
}

NodeInterval GraphService::take_interval(Duration window) {
  totals_.service = server_->counts();
  const Totals before = std::exchange(taken_, totals_);
  const ServiceCounts service = totals_.service - before.service;
  const double seconds = to_seconds(window);
  const auto rate = [seconds](std::uint64_t count) { return static_cast<double>(count) / seconds; };
  const auto samples = static_cast<double>(std::max<std::size_t>(samples_, 1));
  const std::size_t busy = holds() ? busy_ - std::min(calling_, busy_) : busy_;
  const WorkerState workers = *server_->workers();
  const NodeInterval interval{.offered = rate(service.offered),
                              .admitted = rate(service.admitted),
                              .refused = rate(service.rejections()),
                              .in_time = rate(service.served),
                              .worked = rate(totals_.worked - before.worked),
                              .for_nobody = rate(totals_.for_nobody - before.for_nobody),
                              .busy = static_cast<double>(busy) / samples,
                              .calling = static_cast<double>(calling_) / samples,
                              .workers = workers.workers,
                              .queue = workers.waiting};
  samples_ = busy_ = calling_ = 0;
  return interval;
}

}  // namespace retrystorm
