// Services behind services: which service calls which, and how; the plans of calls as text, and the options.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/option_list.h"
#include "model/run/workload.h"
#include "model/service/picker.h"
#include "model/service/service_options.h"

namespace retrystorm {

// A call, made `times` times, one after the other.
struct PlannedCall {
  std::size_t to = 0;  // as the plan's owner numbers those that are called
  std::size_t times = 1;
  bool optional = false;  // if it fails, the request goes on without its answer
  double share = 1;       // of the requests that need it
};

// The calls of a group are made at once, and the groups one after the other.
using CallPlan = std::vector<std::vector<PlannedCall>>;

// The same with names.
struct NamedCall {
  std::string to{};
  PlannedCall call{};
};
using NamedPlan = std::vector<std::vector<NamedCall>>;

// Parses a plan: groups are separated by ',', calls that are made at once by '&', and a number after '&' stands
// for so many of the call before it ("shard&100"). After a name may stand '?' (optional), '*2' (twice, one after
// the other) and '@0.1' (of one request in ten). Throws std::invalid_argument with a readable message.
// `check_name` throws it if what stands for a service is none.
NamedPlan parse_calls(std::string_view text, void (*check_name)(std::string_view) = nullptr);

// Throws std::invalid_argument with a readable message if the text is no name of a service: at most 32
// letters, digits, '-' and '_', the first a letter, and not "clients".
void check_service_name(std::string_view text);

// Does a worker wait for the answers of the services that it calls?
enum class Waiting {
  kHold,  // as threads do
  kFree,  // it takes other requests, as event loops do
};

// When a service does its own work. With `kFree` its second part waits for a worker like a new request.
enum class OwnWork { kBeforeCalls, kAfterCalls, kSplit };

// When the calls that are made at once have failed. Calls that may fail do not count.
struct OnFailure {
  enum class Kind {
    kFailFast,  // with the first failure; nobody waits for the others
    kAll,       // once all have ended, if one has failed
    kNeed,  // when so many have failed that `need` can no longer succeed. Once `need` have, the service goes on
  };
  Kind kind = Kind::kFailFast;
  std::size_t need = 1;

  bool operator==(const OnFailure&) const = default;
};

// What a service repeats when a call has failed.
enum class RetryScope {
  kLeg,  // that call
  kAll,  // all its calls, from the first one. The strategy is that of its first call
};

// What a service answers when its calls have failed for good.
enum class UpstreamFailure {
  kBadGateway,  // 502
  kPass,        // the status that it got; 504 after a timeout
  kPassHint,    // that and its Retry-After
  kNoRetry,  // 503, and that it should not be retried: only the service right above the fault retries
};

// What an attempt carries along as its deadline, as the time that is left. A service ends its own work on a
// request, and its calls, when that is over. Each counts the time from when it reads the request, because clocks
// differ.
enum class DeadlinePropagation {
  kNone,
  kAttempt,  // until the caller's timeout
  kRequest,  // until the deadline of the caller's request (--deadline)
};

struct GraphNode {
  std::string name{};
  ServiceOptions service{};  // of each host
  HostSettings hosts{};
  CallPlan calls{};  // of edges, by their number; empty: it calls nobody
  Waiting waiting = Waiting::kHold;
  OwnWork own_work = OwnWork::kBeforeCalls;
  OnFailure on_failure{};
  RetryScope retry_scope = RetryScope::kLeg;
  UpstreamFailure upstream_failure = UpstreamFailure::kBadGateway;
};

// The calls of one service to another.
struct GraphEdge {
  static constexpr std::size_t kClients = std::numeric_limits<std::size_t>::max();

  std::size_t from = kClients;  // number of a node
  std::size_t to = 0;
  std::string clients{};  // from clients of several kinds: the name of this kind
  WorkloadOptions caller{};
  DeadlinePropagation deadline = DeadlinePropagation::kNone;
};

// The clients call the first node, by the first edge, or each kind of them by one of the first edges. A node calls only nodes after it, so there is no circle.
struct Topology {
  static constexpr std::size_t kMostNodes = 64;
  static constexpr std::size_t kMostKinds = 16;  // of clients
  static constexpr std::size_t kMostHosts = 256;

  std::vector<GraphNode> nodes{};
  std::vector<GraphEdge> edges{};

  bool empty() const { return nodes.empty(); }
  // How many edges are the clients'.
  std::size_t client_edges() const {
    std::size_t count = 0;
    while (count < edges.size() && edges[count].from == GraphEdge::kClients) ++count;
    return count;
  }
};

void declare_waiting(OptionList& options, Waiting& waiting, std::string help);
void declare_deadline(OptionList& options, DeadlinePropagation& deadline, std::string help);

// How a service makes its calls, but for the calls themselves and the options of any service.
void declare_calling_options(OptionList& options, GraphNode& node);

// The calls of one service to another.
void declare_edge_options(OptionList& options, GraphEdge& edge);

// Clients of one kind.
void declare_clients_options(OptionList& options, GraphEdge& edge);

// When the calls that a service makes at once have succeeded or failed as a whole.

struct CallsAtOnce {
  std::uint32_t under_way = 0;              // all of them
  std::uint32_t required = 0;               // those that may not fail
  std::uint32_t succeeded = 0, failed = 0;  // of those

  void end(bool optional, bool failure) {
    --under_way;
    if (!optional) ++(failure ? failed : succeeded);
  }

  // Have they succeeded? Empty as long as that is open.
  std::optional<bool> result(const OnFailure& rule) const {
    const bool some_suffice = rule.kind == OnFailure::Kind::kNeed && required > 0;
    const std::size_t need = some_suffice ? std::min<std::size_t>(rule.need, required) : required;
    if (failed > required - need) {
      if (rule.kind == OnFailure::Kind::kAll && under_way > 0) return std::nullopt;
      return false;
    }
    if (under_way == 0 || (some_suffice && succeeded >= need)) return true;
    return std::nullopt;
  }
};

}  // namespace retrystorm
