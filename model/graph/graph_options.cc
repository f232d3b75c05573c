#include "model/graph/graph_options.h"

#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "model/base/text.h"

namespace retrystorm {
namespace {

OnFailure parse_on_failure(std::string_view text) {
  if (text == "fail-fast") return {.kind = OnFailure::Kind::kFailFast};
  if (text == "all") return {.kind = OnFailure::Kind::kAll};
  constexpr std::string_view kNeed = "need:";
  if (text.starts_with(kNeed)) {
    return {.kind = OnFailure::Kind::kNeed,
            .need = static_cast<std::size_t>(parse_count(text.substr(kNeed.size()), 1, 10'000))};
  }
  throw std::invalid_argument(in_quotes(text) + ": fail-fast, all or need:NUMBER is expected");
}

std::string print_on_failure(const OnFailure& rule) {
  if (rule.kind == OnFailure::Kind::kNeed) return "need:" + std::to_string(rule.need);
  return rule.kind == OnFailure::Kind::kAll ? "all" : "fail-fast";
}

}  // namespace

void declare_waiting(OptionList& options, Waiting& waiting, std::string help) {
  options.choice<Waiting>("waiting", waiting, {{"hold", Waiting::kHold}, {"free", Waiting::kFree}},
                          std::move(help));
}

void declare_deadline(OptionList& options, DeadlinePropagation& deadline, std::string help) {
  options.choice<DeadlinePropagation>("deadline-propagation", deadline,
                                      {{"none", DeadlinePropagation::kNone},
                                       {"attempt", DeadlinePropagation::kAttempt},
                                       {"request", DeadlinePropagation::kRequest}},
                                      std::move(help));
}

void declare_calling_options(OptionList& options, GraphNode& node) {
  declare_waiting(options, node.waiting, "whether a worker waits for the answers");
  options.choice<OwnWork>("own-work", node.own_work,
                          {{"before-calls", OwnWork::kBeforeCalls},
                           {"after-calls", OwnWork::kAfterCalls},
                           {"split", OwnWork::kSplit}},
                          "when it does its own work");
  options.text(
      "on-failure", "fail-fast, all or need:NUMBER: when calls that are made at once have failed",
      [&node](std::string_view text) { node.on_failure = parse_on_failure(text); },
      [&node] { return print_on_failure(node.on_failure); });
  options.choice<RetryScope>("retry-scope", node.retry_scope,
                             {{"leg", RetryScope::kLeg}, {"all", RetryScope::kAll}},
                             "what it repeats: a call that has failed, or all its calls");
  options.choice<UpstreamFailure>("upstream-failure", node.upstream_failure,
                                  {{"502", UpstreamFailure::kBadGateway},
                                   {"pass", UpstreamFailure::kPass},
                                   {"pass-hint", UpstreamFailure::kPassHint},
                                   {"no-retry", UpstreamFailure::kNoRetry}},
                                  "what it answers when its calls have failed for good");
}

void declare_edge_options(OptionList& options, GraphEdge& edge) {
  OptionList client, retries, connections;
  declare_options(client, edge.caller);
  declare_options(retries, edge.caller.retry);
  declare_options(connections, edge.caller.connections);
  options.add_all(retries, [](const Option&) { return true; });
  options.add_all(client, [&connections](const Option& each) {
    return each.name == "timeout" || each.name == "processes" ||
           connections.find(each.name) != nullptr;
  });
  declare_deadline(options, edge.deadline, "what an attempt carries along as its deadline");
}

void declare_clients_options(OptionList& options, GraphEdge& edge) {
  OptionList all, not_theirs;
  declare_options(all, edge.caller);
  declare_options(not_theirs, edge.caller.reconnect);
  declare_options(not_theirs, edge.caller.job);
  options.add_all(all, [&not_theirs](const Option& each) {
    return each.name != "seed" && not_theirs.find(each.name) == nullptr;
  });
  declare_deadline(options, edge.deadline, "what an attempt carries along as its deadline");
}

}  // namespace retrystorm
