#include "model/graph/topology.h"

#include <utility>

#include "model/base/text.h"

namespace retrystorm {

namespace {

constexpr std::size_t kMostTimes = 1000, kMostCalls = 10'000;

NamedCall parse_call(std::string_view text, void (*check_name)(std::string_view)) {
  const std::size_t end = std::min(text.find_first_of("?*@ \t"), text.size());
  NamedCall named{.to = std::string(text.substr(0, end))};
  check_name(named.to);
  std::string_view rest = text.substr(end);
  while (!(rest = trimmed(rest)).empty()) {
    const char sign = rest.front();
    rest.remove_prefix(1);
    const std::string_view value = rest.substr(0, rest.find_first_of("?*@ \t"));
    if (sign == '?') {
      named.call.optional = true;
    } else if (sign == '*') {
      named.call.times = parse_count(value, 1, kMostTimes);
    } else if (sign == '@') {
      named.call.share = parse_number(value, 0, 1);
    } else {
      refuse("after " + named.to + " only ?, *TIMES and @SHARE are possible");
    }
    if (sign != '?') rest.remove_prefix(value.size());
  }
  return named;
}

bool is_number(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == text.npos;
}

}  // namespace

void check_service_name(std::string_view text) {
  constexpr std::string_view kLetters =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  const bool is_name = !text.empty() && text.size() <= 32 &&
                       text.find_first_not_of(kLetters) == text.npos && text.front() != '-' &&
                       text.front() != '_' && !(text.front() >= '0' && text.front() <= '9');
  if (!is_name) {
    refuse(in_quotes(text) +
           " is no name: letters, digits, - and _ are, at most 32, the first a letter");
  }
  if (text == "clients") {
    refuse(
        "clients are those who call the first service: another name is needed, or [clients.NAME] for some of "
        "them");
  }
}

NamedPlan parse_calls(std::string_view text, void (*check_name)(std::string_view)) {
  if (check_name == nullptr) check_name = check_service_name;
  NamedPlan plan;
  std::size_t calls = 0;
  if (trimmed(text).empty()) return plan;
  for (const std::string_view group : split(text, ',')) {
    std::vector<NamedCall> at_once;
    for (std::string_view part : split(group, '&')) {
      part = trimmed(part);
      std::size_t more = 1;
      if (is_number(part) && !at_once.empty()) {
        more = parse_count(part, 1, kMostTimes) - 1;
        calls += more;
        at_once.insert(at_once.end(), more, NamedCall(at_once.back()));
      } else {
        at_once.push_back(parse_call(part, check_name));
        ++calls;
      }
      if (calls > kMostCalls) {
        refuse("at most " + std::to_string(kMostCalls) + " calls a request are possible");
      }
    }
    plan.push_back(std::move(at_once));
  }
  return plan;
}

namespace {

OnFailure parse_on_failure(std::string_view text) {
  if (text == "fail-fast") return {.kind = OnFailure::Kind::kFailFast};
  if (text == "all") return {.kind = OnFailure::Kind::kAll};
  constexpr std::string_view kNeed = "need:";
  if (text.starts_with(kNeed)) {
    return {.kind = OnFailure::Kind::kNeed,
            .need = static_cast<std::size_t>(parse_count(text.substr(kNeed.size()), 1, 10'000))};
  }
  refuse(in_quotes(text) + ": fail-fast, all or need:NUMBER is expected");
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
