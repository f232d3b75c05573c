#include "server/upstream.h"

#include <chrono>
#include <utility>

#include "common/http/http_request.h"
#include "model/base/random.h"

namespace retrystorm {
namespace {

constexpr int kBadGateway = 502, kGatewayTimeout = 504;
// How long an idle thread waits before it ends.
constexpr Duration kIdleTime = std::chrono::seconds(10);

// Why a call has failed for good, as the status that it would be passed on with.
Answer failure_of(const AttemptResult& last) {
  Answer answer{.failed = true, .with = kGatewayTimeout};
  if (last.outcome == Outcome::kError) answer.with = last.status > 0 ? last.status : kBadGateway;
  answer.retry_after = last.retry_after.value_or(Duration::zero());
  return answer;
}

// Runs one request of a runner. Returns nothing if it has succeeded.
PlanRunner::Failure run_one(RequestRunner& runner, LiveCounts& counts,
                            RequestRunner::Client&& client) {
  runner.behaviour().start(client.state, client.random);
  counts.arrive(client.index, runner.now());
  const auto next = runner.run(client);
  counts.leave(client.index, runner.now(), client.metrics);
  if (next && !next->gave_up) return std::nullopt;
  return failure_of(client.failure);
}

// With the attempts of all its calls together, a service does not repeat the calls.
WorkloadOptions calls_of_edge(const GraphEdge& edge, RetryScope scope) {
  WorkloadOptions caller = edge.caller;
  if (scope == RetryScope::kAll) caller.retry.limit.max_retries = 0;
  return caller;
}

std::unique_ptr<CalledHosts> hosts_of(const CalleeSettings& callee, std::uint64_t seed) {
  if (!callee.hosts.many()) return nullptr;
  return std::make_unique<CalledHosts>(callee.hosts, make_requests({}, callee.urls), seed, 1);
}

}  // namespace

Upstream::Callee::Callee(const CalleeSettings& settings, std::size_t places, ClientWaits& waits,
                         std::uint64_t seed)
    : name(settings.name),
      counts(places),
      hosts(hosts_of(settings, seed)),
      runner(settings.edge.caller, places, make_request({.url = settings.urls.front()}), waits,
             counts, hosts.get()) {
  runner.carry(settings.edge.deadline, true);
  const Probe& probe = settings.hosts.life.probe;
  if (hosts && probe.on()) probes.emplace(probe, make_requests({}, settings.urls), *hosts, seed);
}

Upstream::Upstream(const UpstreamSettings& settings, std::uint64_t seed)
    : node_(settings.node),
      threads_(settings.threads, kIdleTime),
      plan_(node_, calls_of(settings, seed), threads_, seed),
      seed_(seed) {
  if (node_.retry_scope != RetryScope::kAll) return;
  WorkloadOptions caller = settings.callees.front().edge.caller;
  caller.timeout = Duration::max();  // its calls have theirs
  whole_counts_.emplace(settings.threads);
  whole_.emplace(caller, settings.threads, HttpRequest(), waits_, *whole_counts_);
  whole_->send_by([this](RequestRunner::Client& client, Duration) {
    const TimePoint begin = Clock::now();
    const auto failure = plan_.run(client.index, client.end, client.let_go);
    const Duration latency = Clock::now() - begin;
    return answered(failure ? failure->with : 200,
                    failure ? std::optional(failure->retry_after) : std::nullopt, latency);
  });
}

Upstream::~Upstream() {
  stop();
  join();
}

std::vector<PlanRunner::Call> Upstream::calls_of(const UpstreamSettings& settings,
                                                 std::uint64_t seed) {
  std::vector<PlanRunner::Call> calls;
  for (CalleeSettings each : settings.callees) {
    each.edge.caller = calls_of_edge(each.edge, settings.node.retry_scope);
    const bool has_deadlines = each.edge.deadline != DeadlinePropagation::kNone;
    Callee& callee = callees_.emplace_back(each, settings.threads, waits_, seed);
    calls.push_back(
        [this, &callee, has_deadlines, seed](std::size_t place, TimePoint deadline,
                                             const std::shared_ptr<const LetGo>& let_go) {
          const std::uint64_t number = begun_++;
          return run_one(callee.runner, callee.counts,
                         {.index = place,
                          .number = number,
                          .random = ClientRandom(seed, number),
                          .end = has_deadlines ? deadline : TimePoint::max(),
                          .let_go = let_go});
        });
  }
  return calls;
}

double Upstream::first_share() const {
  if (node_.own_work == OwnWork::kBeforeCalls) return 1;
  return node_.own_work == OwnWork::kSplit ? 0.5 : 0;
}

bool Upstream::start(std::function<TimePoint()> deadline, std::shared_ptr<const LetGo> let_go,
                     std::function<void(const Answer&)> over) {
  const bool started =
      threads_.start([this, deadline = std::move(deadline), let_go = std::move(let_go),
                      over = std::move(over)](std::size_t place) mutable {
        const TimePoint end = deadline();
        deadline = nullptr;  // it may hold the connection
        const auto failure = run(place, end, let_go);
        over(failure ? answer_to(*failure) : Answer());
      });
  if (!started) ++refused_;
  return started;
}

PlanRunner::Failure Upstream::run(std::size_t place, TimePoint deadline,
                                  const std::shared_ptr<const LetGo>& let_go) {
  if (!whole_) return plan_.run(place, deadline, let_go);
  const std::uint64_t number = begun_++;
  return run_one(*whole_, *whole_counts_,
                 {.index = place,
                  .number = number,
                  .random = ClientRandom(seed_, number),
                  .end = deadline,
                  .let_go = let_go});
}

Answer Upstream::answer_to(const Answer& failure) const {
  Answer answer{.failed = true, .with = kBadGateway};
  switch (node_.upstream_failure) {
    case UpstreamFailure::kBadGateway:
      break;
    case UpstreamFailure::kNoRetry:
      answer.with = kUnavailable;
      answer.no_retry = true;
      break;
    case UpstreamFailure::kPassHint:
      answer.retry_after = failure.retry_after;
      [[fallthrough]];
    case UpstreamFailure::kPass:
      answer.with = failure.with;
      break;
  }
  return answer;
}

void Upstream::stop() {
  waits_.stop();
  for (Callee& each : callees_) each.runner.stop();
}

void Upstream::join() {
  threads_.stop();
  for (Callee& each : callees_) each.runner.join();
}

std::vector<Upstream::Calls> Upstream::calls() const {
  std::vector<Calls> all;
  for (const Callee& each : callees_) {
    all.push_back({each.name, each.counts.counts(), each.counts.in_flight()});
  }
  return all;
}

}  // namespace retrystorm
