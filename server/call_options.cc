#include "server/call_options.h"

#include <algorithm>
#include <map>
#include <stdexcept>

#include "common/http/http_request.h"
#include "model/base/text.h"
#include "model/graph/topology.h"

namespace retrystorm {
namespace {

struct NamedUrl {
  std::string name, url;
};

// "db=http://127.0.0.1:8071/api"; without a name, that is the host and the port.
NamedUrl parse_callee(std::string_view text) {
  const std::size_t equals = text.find('=');
  const bool named = equals < text.find("://");
  NamedUrl callee{.name = {}, .url = std::string(named ? text.substr(equals + 1) : text)};
  if (named) {
    callee.name = trimmed(text.substr(0, equals));
    check_service_name(callee.name);
  }
  try {
    const Url url = parse_url(callee.url);
    if (!named) callee.name = url.host + ':' + std::to_string(url.port);
  } catch (const std::runtime_error& error) {
    throw std::invalid_argument(error.what());
  }
  return callee;
}

void check_callee(std::string_view text) {
  parse_callee(text);
}

// "db timeout=250ms strategy=grpc"
CallsTo parse_calls_to(std::string_view text) {
  GraphEdge edge;
  OptionList list;
  declare_edge_options(list, edge);
  CallsTo calls;
  const auto refuse = [](std::string_view what) {
    throw std::invalid_argument(in_quotes(what) +
                                ": NAME OPTION=VALUE ... is expected, such as db timeout=250ms");
  };
  for (std::string_view word : split(text, ' ')) {
    word = trimmed(word);
    if (word.empty()) continue;
    if (calls.name.empty()) {
      calls.name = word;
      continue;
    }
    const std::size_t equals = word.find('=');
    if (equals == word.npos) refuse(word);
    const std::string name = with_dashes(word.substr(0, equals));
    list.set(name, word.substr(equals + 1));
    calls.settings.emplace_back(list.find(name)->name, word.substr(equals + 1));
  }
  if (calls.settings.empty()) refuse(text);
  return calls;
}

// In the order in which they are declared, so that a named strategy does not overrule what is said beside it.
GraphEdge edge_to(const CallsTo& calls, GraphEdge edge) {
  OptionList list;
  declare_edge_options(list, edge);
  for (const Option& option : list.all()) {
    for (const auto& [name, value] : calls.settings) {
      if (name == option.name) option.set(value);
    }
  }
  return edge;
}

void check_edge(const CalleeSettings& callee, const CallOptions& calls) {
  const auto refuse = [&](const std::string& why) {
    throw std::invalid_argument("--calls, those of " + callee.name + ": " + why);
  };
  const WorkloadOptions& caller = callee.edge.caller;
  try {
    check(caller);
    retrystorm::refuse(unused_options(caller.retry));
    retrystorm::refuse(unused_options(caller.connections));
  } catch (const std::invalid_argument& error) {
    refuse(error.what());
  }
  if (callee.edge.deadline == DeadlinePropagation::kRequest && !caller.retry.limit.has_deadline()) {
    refuse("--call-deadline-propagation=request needs a --call-deadline");
  }
  if (caller.retry.hedge.any() && calls.node.retry_scope == RetryScope::kAll) {
    refuse("--retry-scope=all repeats all calls: not with --call-hedge");
  }
}

}  // namespace

CallOptions::CallOptions() {
  // Requests come when the service has done its own work, and all belong to one process.
  edge.caller.arrivals = Arrivals::kOpen;
  edge.caller.think_time = Duration::zero();
  edge.caller.processes = 1;
}

void declare_options(OptionList& options, CallOptions& calls) {
  options.group("Calls of other services");
  options.text(
      "calls",
      "the services that it calls for each request after its own work: URL or NAME=URL, one after the other ('a, b'), "
      "at once ('a & b'), and after each '?' it may fail, '*2' twice, '@0.1' one request in ten (docs/chains.md)",
      [&calls](std::string_view text) {
        NamedPlan plan = parse_calls(text, check_callee);
        if (plan.empty()) throw std::invalid_argument("a URL is expected");
        calls.plan = std::move(plan);
        calls.calls = text;
      },
      [&calls] { return calls.calls; });
  options.count(
      "call-threads", calls.threads,
      "how many calls there can be at a time: each needs a thread, and a request without one is "
      "answered with 503",
      1, 100'000);
  declare_calling_options(options, calls.node);
  OptionList edge;
  declare_edge_options(edge, calls.edge);
  options.add_prefixed(edge, "call-");
  options
      .text(
          "call-to",
          "'NAME timeout=250ms strategy=grpc': options of the calls to one of them, without call- before their "
          "names; may be repeated",
          [&calls](std::string_view text) {
            std::vector<CallsTo> callees;
            for (const std::string_view each : split(text, ';')) {
              if (!trimmed(each).empty()) callees.push_back(parse_calls_to(each));
            }
            if (callees.empty()) throw std::invalid_argument("NAME OPTION=VALUE ... is expected");
            calls.callees = std::move(callees);
            calls.to = text;
          },
          [&calls] { return calls.to; })
      .separator = ';';
}

void find_unused(UnusedOptions& unused, const CallOptions& calls, const ServiceOptions& service) {
  if (calls.plan.empty()) {
    return find_unused<CallOptions>(unused, calls, {}, "without --calls");
  }
  if (service.capacity == Capacity::kWorkers) return;
  find_unused<CallOptions>(unused, calls, {}, "without --service=workers", {"waiting", "own-work"});
}

UpstreamSettings make_upstream(const CallOptions& calls) {
  UpstreamSettings upstream{.node = calls.node, .callees = {}, .threads = calls.threads};
  std::map<std::string, std::size_t, std::less<>> numbers;
  for (const auto& group : calls.plan) {
    auto& numbered = upstream.node.calls.emplace_back();
    for (const NamedCall& each : group) {
      const NamedUrl callee = parse_callee(each.to);
      const auto [found, is_new] = numbers.emplace(callee.name, upstream.callees.size());
      if (is_new) upstream.callees.push_back({callee.name, callee.url, calls.edge});
      if (upstream.callees[found->second].url != callee.url) {
        throw std::invalid_argument("--calls: " + callee.name + " has two URLs");
      }
      numbered.push_back(each.call);
      numbered.back().to = found->second;
    }
  }
  for (const CallsTo& each : calls.callees) {
    const auto found = numbers.find(each.name);
    if (found == numbers.end()) {
      std::vector<std::string_view> known;
      for (const auto& [name, number] : numbers) known.push_back(name);
      throw std::invalid_argument("--call-to: " + unknown_name(each.name, known));
    }
    GraphEdge& edge = upstream.callees[found->second].edge;
    edge = edge_to(each, edge);
  }
  for (const CalleeSettings& each : upstream.callees) check_edge(each, calls);
  return upstream;
}

std::size_t fit_calls(UpstreamSettings& upstream, std::size_t descriptors) {
  if (!upstream.any()) return 0;
  std::size_t each = 1;
  for (const CalleeSettings& callee : upstream.callees) {
    each = std::max(each, attempts_at_once(callee.edge.caller.retry.hedge));
  }
  const std::size_t most = std::max<std::size_t>(descriptors / 2 / each, 1);
  if (upstream.threads > most && upstream.threads != CallOptions().threads) {
    throw std::runtime_error("--call-threads " + std::to_string(upstream.threads) +
                             " is too many: a process may open " + std::to_string(descriptors) +
                             " files here (ulimit -n), which leaves " + std::to_string(most));
  }
  upstream.threads = std::min(upstream.threads, most);
  return upstream.threads * each;
}

}  // namespace retrystorm
