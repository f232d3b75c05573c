#include "server/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdint>
#include <limits>
#include <map>
#include <stdexcept>

#include "common/http/http_request.h"
#include "common/os/process.h"
#include "model/base/text.h"
#include "model/graph/topology.h"

namespace retrystorm {
namespace {

struct NamedUrls {
  std::string name;
  std::vector<std::string> urls;
};

// "db=http://127.0.0.1:8071/api|http://127.0.0.1:8072/api"; without a name, that is the first host and its port.
NamedUrls parse_callee(std::string_view text) {
  const std::size_t equals = text.find('=');
  const bool named = equals < text.find("://");
  NamedUrls callee;
  for (const std::string_view each : split(named ? text.substr(equals + 1) : text, '|')) {
    callee.urls.emplace_back(trimmed(each));
  }
  if (named) {
    callee.name = trimmed(text.substr(0, equals));
    check_service_name(callee.name);
  }
  for (const std::string& each : callee.urls) {
    const Url url = parse_url(each);
    if (callee.name.empty()) callee.name = url.host + ':' + std::to_string(url.port);
  }
  return callee;
}

// How a service is called. All hosts are picked by this process.
void declare_call_options(OptionList& list, GraphEdge& edge, HostSettings& hosts) {
  declare_edge_options(list, edge);
  list.add_all(options_of_picks(hosts, true));
}

// "db timeout=250ms strategy=grpc"
CallsTo parse_calls_to(std::string_view text) {
  GraphEdge edge;
  HostSettings hosts;
  OptionList list;
  declare_call_options(list, edge, hosts);
  CallsTo calls;
  const auto refuse_call = [](std::string_view what) {
    refuse(in_quotes(what) + ": NAME OPTION=VALUE ... is expected, such as db timeout=250ms");
  };
  for (std::string_view word : split(text, ' ')) {
    word = trimmed(word);
    if (word.empty()) continue;
    if (calls.name.empty()) {
      calls.name = word;
      continue;
    }
    const std::size_t equals = word.find('=');
    if (equals == word.npos) refuse_call(word);
    const std::string name = with_dashes(word.substr(0, equals));
    list.set(name, word.substr(equals + 1));
    calls.settings.emplace_back(list.find(name)->name, word.substr(equals + 1));
  }
  if (calls.settings.empty()) refuse_call(text);
  return calls;
}

// In the order in which they are declared, so that a named strategy does not overrule what is said beside it.
void change(CalleeSettings& callee, const CallsTo& calls) {
  OptionList list;
  declare_call_options(list, callee.edge, callee.hosts);
  for (const Option& option : list.all()) {
    for (const auto& [name, value] : calls.settings) {
      if (name == option.name) option.set(value);
    }
  }
}

void check_edge(const CalleeSettings& callee, const CallOptions& calls) {
  const auto refuse_edge = [&](const std::string& why) {
    refuse("--calls, those of " + callee.name + ": " + why);
  };
  const WorkloadOptions& caller = callee.edge.caller;
  try {
    check(caller);
    refuse(unused_of_part(caller.retry));
    refuse(unused_of_part(caller.connections));
    HostSettings hosts = callee.hosts;
    hosts.has_kept = caller.connections.kept();
    check(hosts);
    if (hosts.many()) refuse(unused_of_part(hosts));
  } catch (const std::invalid_argument& error) {
    refuse_edge(error.what());
  }
  if (callee.edge.deadline == DeadlinePropagation::kRequest && !caller.retry.limit.has_deadline()) {
    refuse_edge("--call-deadline-propagation=request needs a --call-deadline");
  }
  if (caller.retry.hedge.any() && calls.node.retry_scope == RetryScope::kAll) {
    refuse_edge("--retry-scope=all repeats all calls: not with --call-hedge");
  }
}

}  // namespace

CallOptions::CallOptions() {
  // Requests come when the service has done its own work, and all belong to one process.
  edge.caller.arrivals = Arrivals::kOpen;
  edge.caller.think_time = Duration::zero();
  edge.caller.processes = 1;
  hosts.by_urls = true;
}

void declare_options(OptionList& options, CallOptions& calls) {
  options.group("Calls of other services");
  options.text(
      "calls",
      "the services that it calls for each request after its own work: URL or NAME=URL, of several hosts URL|URL, one "
      "after the other ('a, b'), at once ('a & b'), and after each '?' it may fail, '*2' twice, '@0.1' one request in ten (docs/chains.md)",
      [&calls](std::string_view text) {
        NamedPlan plan = parse_calls(text, [](std::string_view to) { parse_callee(to); });
        if (plan.empty()) refuse("a URL is expected");
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
  declare_call_options(edge, calls.edge, calls.hosts);
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
            if (callees.empty()) refuse("NAME OPTION=VALUE ... is expected");
            calls.callees = std::move(callees);
            calls.to = text;
          },
          [&calls] { return calls.to; })
      .separator = ';';
}

UnusedOptions unused_calls(CallOptions calls, const ServiceOptions& service) {
  CallOptions defaults;
  OptionList in_force, usual;
  declare_options(in_force, calls);
  declare_options(usual, defaults);
  in_force.no_effect("waiting own-work", [&service] {
    return service.capacity == Capacity::kWorkers ? "" : "without --service=workers";
  });
  in_force.no_effect_after("calls",
                           [&calls] { return calls.plan.empty() ? "without --calls" : ""; });
  return unused_among(in_force, usual, {});
}

UpstreamSettings make_upstream(const CallOptions& calls) {
  UpstreamSettings upstream{.node = calls.node, .callees = {}, .threads = calls.threads};
  std::map<std::string, std::size_t, std::less<>> numbers;
  for (const auto& group : calls.plan) {
    auto& numbered = upstream.node.calls.emplace_back();
    for (const NamedCall& each : group) {
      const NamedUrls callee = parse_callee(each.to);
      const auto [found, is_new] = numbers.emplace(callee.name, upstream.callees.size());
      if (is_new) {
        upstream.callees.push_back({callee.name, callee.urls, calls.edge, calls.hosts});
        upstream.callees.back().hosts.replicas = callee.urls.size();
      }
      if (upstream.callees[found->second].urls != callee.urls) {
        refuse("--calls: " + callee.name +
               " has other URLs elsewhere (its hosts are written URL|URL)");
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
      refuse("--call-to: " + unknown_name(each.name, known));
    }
    change(upstream.callees[found->second], each);
  }
  const bool any = std::ranges::any_of(
      upstream.callees, [](const CalleeSettings& each) { return each.hosts.many(); });
  if (!any) refuse(unused_of_part(calls.hosts));
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
    throw std::runtime_error(too_many("--call-threads", upstream.threads, descriptors, most));
  }
  upstream.threads = std::min(upstream.threads, most);
  return upstream.threads * each;
}

void add_server_options(CLI::App& app, ServerOptions& options) {
  auto* server = option_group(app, "Server");
  add_text(*server, "--host", options.address.host, "address to listen on")->group("Server");
  add_count(*server, "--port", options.address.port, "port to listen on; 0 = any free port", 0,
            65535)
      ->group("Server");
  add_value(
      *server, "--admin-port", "PORT", "",
      [&options](const std::string& text) { options.admin_port = parse_watch_port(text); },
      "port on 127.0.0.1 for /metrics and /status; any = any free port, 0 = none; the port above "
      "--port when not given");
  add_text(*server, "--admin-token-file", options.token_file,
           "write the admin token to this file; it lets a client change the server while it runs");
  server->add_flag("--print-token", options.print_token, "print that token on standard error");
  add_duration(*server, "--report-interval", options.report_interval,
               "how long each report line covers", std::chrono::milliseconds(1));
  add_value(
      *server, "--seed", "COUNT", "",
      [&options](const std::string& text) {
        options.seed = parse_count(text, 0, std::numeric_limits<std::uint64_t>::max());
      },
      "the same seed gives the same draws for --error-share and --hint=spread; random when not "
      "given");
  add_text(*server, "--json", options.json, "write JSON Lines to this file; - = standard output")
      ->group("Server");
  add_format(*server);
  add_text(*server, "--name", options.name,
           "the name of this service in the lines about its calls");
  add_service_options(app, options.service, Engine::kReal);
  OptionList calls;
  calls.group("Calls of other services");
  calls.yes_or_no(
      "keep-deadlines", options.keeps_deadlines,
      "drop a request whose caller said how long it would wait, and does not any more, when a worker "
      "would take it, and end its calls then (header x-envoy-expected-rq-timeout-ms)");
  declare_options(calls, options.calls);
  add_options(app, calls);
}

void fit_connections(ServiceOptions& options, std::size_t descriptors) {
  // Descriptors kept for the listening sockets, the report and the admin port's connections.
  constexpr std::size_t kReserve = 64;
  if (descriptors <= kReserve) {
    throw std::runtime_error("a process may open only " + std::to_string(descriptors) +
                             " files here; raise the limit (ulimit -n) to some hundreds at least");
  }
  const std::size_t most = descriptors - kReserve;
  if (options.max_connections > most) {
    throw std::runtime_error(
        too_many("--max-connections", options.max_connections, descriptors, most));
  }
  if (options.max_connections == 0) options.max_connections = most;
}

void check_backlog(const ServiceOptions& options, std::size_t longest) {
  if (options.backlog <= longest) return;
  throw std::runtime_error("--backlog " + std::to_string(options.backlog) +
                           " is too long: this system allows " + std::to_string(longest) +
                           " (sysctl net.core.somaxconn)");
}

}  // namespace retrystorm
