// One host of a service of a graph: its own work, and what it calls for each request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "model/base/duration.h"
#include "model/base/queues.h"
#include "model/base/random.h"
#include "model/graph/topology.h"
#include "model/run/graph_report.h"
#include "simulator/calls.h"
#include "simulator/event_loop.h"
#include "simulator/graph/callers.h"
#include "simulator/graph/graph_calls.h"
#include "simulator/server_node.h"

namespace retrystorm {

// A request is answered when the service has done its own work and has the answers that it needs. It does not learn
// that its caller has gone, unless deadlines are carried along.
class GraphService final : public Callees, private Target, private CallOwner {
 public:
  // `callers`: those of all hosts of the service. `clock`: of the run. `some_left`: of its graph, see `Graph`. All must
  // outlive this.
  GraphService(GraphNode node, Callers& callers, const EventLoop& clock, bool& some_left,
               std::uint64_t seed);

  GraphService(const GraphService&) = delete;
  GraphService& operator=(const GraphService&) = delete;

  // From now on the server of this host does its work. `hosts` must outlive the service.
  void serve(Hosts& hosts, std::uint32_t host);
  // Its calls, by the numbers that `node.calls` has for them. If it repeats all of them, `whole` has the retries. `end`:
  // when the run ends.
  void call(std::vector<GraphCalls*> calls, const GraphEdge& whole, std::uint64_t seed,
            TimePoint end);

  ServerNode& server() { return *server_; }
  const ServerNode& server() const { return *server_; }
  bool awake() const { return server_->awake(); }
  // Has it several calls at once, of which it may stop waiting for some?
  bool may_let_go() const { return may_let_go_; }
  bool holds() const { return node_.waiting == Waiting::kHold; }

  // It has woken.
  void read_answers(TimePoint now);

  // Does it retry all its calls together?
  bool repeats() const { return whole_ != nullptr; }
  // Those retries.
  TimePoint next_wait() { return whole_ && awake() ? whole_->next_wait() : TimePoint::max(); }
  void end_wait(TimePoint now) { whole_->end_wait(now); }

  // Does a client, in the end, wait for the request of this call?
  bool is_wanted(const Purpose& purpose) const;

  // See `Caller::expect`: a call for this request, and then its answer.
  void expect(std::uint32_t request) const;

  // A call has ended. `failure`: null if it has succeeded.
  void call_over(TimePoint now, GraphCalls& calls, GraphCalls::Slot slot, const Purpose& purpose,
                 const Answer* failure);

  void work_done(TimePoint now, const Taken& taken) override;
  bool looks_at_callers() const override { return some_left_ || node_.calls.empty(); }
  // Of its callers, and of `whole_`.
  void hang_up(TimePoint, const Attempt&) override { some_left_ = true; }
  void handed_back(const Attempt& attempt) override;
  std::vector<Taken> lose_all(TimePoint now) override;

  // Adds the state to the means of the window.
  void sample();
  // What happened in the window that ends now.
  NodeInterval take_interval(Duration window);

 private:
  using Index = std::uint32_t;  // of a request

  struct UnderWay {
    GraphCalls* calls;
    GraphCalls::Slot slot;
  };
  // Its first half is all that most requests use: one line of the cache. The rest is of deadlines, repeats, failures and
  // several calls at once.
  struct alignas(64) Request {
    Taken taken{};
    std::uint32_t generation = 0;
    std::uint32_t group = 0;  // of the calls under way
    CallsAtOnce at_once{};    // the calls of the group
    bool in_use = false;
    bool beginning = false;  // the group: calls that fail at once are only counted
    bool resumed = false;    // the service does the rest of its own work

    TimePoint deadline = TimePoint::max();
    Attempt whole{};                // of all its calls together, if these are repeated
    Answer failure{};               // the last one
    std::vector<UnderWay> calls{};  // those under way, if the group has several
  };
  static_assert(sizeof(Request) == 128);
  struct Totals {
    ServiceCounts service{};
    std::uint64_t worked = 0, for_nobody = 0;
  };

  TimePoint deadline_of(const Request& request) const {
    return callers_.have_deadlines() ? request.deadline : TimePoint::max();
  }
  double first_share() const;
  Index new_request(const Taken& taken);
  void begin_calls(TimePoint now, Index index);
  // Begins the calls of the request's group, or of the next one that has any.
  void begin_group(TimePoint now, Index index);
  void begin_call(TimePoint now, Index index, GraphCalls& calls, const Purpose& purpose);
  // What follows from the calls that have ended.
  void look_at(TimePoint now, Index index);
  // The calls of the group that are under way do not matter any more.
  void let_go(TimePoint now, Request& request);
  // All calls have succeeded, or `failed`. They may be repeated.
  void calls_over(TimePoint now, Index index, bool failed);
  void end_calls(TimePoint now, Index index, bool failed);
  void finish(TimePoint now, Index index);
  void finish(TimePoint now, const Taken& taken);
  void free_request(Index index);

  // Of `whole_`: it has no server but this service.
  void connect(TimePoint now, const Attempt& attempt) override;
  void send(TimePoint, const Attempt&) override {}
  void call_over(TimePoint now, std::uint32_t slot, const NextAttempt& next) override;

  const GraphNode node_;
  const bool may_let_go_;
  const EventLoop& clock_;
  bool& some_left_;
  ClientRandom random_;
  Callers& callers_;
  Hosts* hosts_ = nullptr;
  std::uint32_t host_ = 0;
  ServerNode* server_ = nullptr;
  std::vector<GraphCalls*> calls_;
  std::unique_ptr<Calls> whole_;  // null unless all calls are repeated; its slots are requests
  std::uint64_t begun_ = 0;

  std::vector<Request> requests_;
  Fifo<Index> free_;
  mutable Index expected_ = 0;                        // last
  std::unordered_map<std::uint64_t, Index> resumed_;  // by attempt
  std::size_t calling_now_ = 0;                       // requests that wait for answers

  Totals totals_, taken_;
  std::size_t samples_ = 0, busy_ = 0, calling_ = 0;  // sums of the window's samples
};

}  // namespace retrystorm
