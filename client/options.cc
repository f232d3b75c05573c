#include "client/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "common/calls/request_runner.h"
#include "common/os/foreign_file.h"
#include "common/os/process.h"
#include "model/base/text.h"
#include "model/graph/topology.h"

namespace retrystorm {

namespace {

void add_request_options(CLI::App& app, RequestOptions& request) {
  auto* group = option_group(app, "Request");
  add_value(
      *group, "--method", "NAME", request.method,
      [&request](const std::string& text) {
        static constexpr std::array<std::string_view, 7> kMethods{
            "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};
        if (std::ranges::find(kMethods, text) == kMethods.end()) {
          refuse(unknown_name(text, {kMethods.begin(), kMethods.end()}));
        }
        request.method = text;
      },
      "GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS");
  group
      ->add_option("--header", request.headers,
                   "'Name: value', a header of each request; may be repeated")
      ->type_name("TEXT")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_text(*group, "--body", request.body,
           "the body of each request: TEXT, or @FILE for the content of a file");
  add_text(*group, "--cacert", request.cacert,
           "https: trust the certificates in this file (PEM) instead of the system's");
  group->add_flag("--insecure", request.insecure, "https: accept any certificate");
}

// Of one host it may be given several times, and the last one counts.
void check_each(const ClientOptions& options, const std::string& name, std::size_t given,
                std::size_t needed) {
  const std::size_t hosts = options.hosts.replicas;
  if (hosts == 1 || given == 0 || (given >= needed && given <= hosts)) return;
  refuse(name + ": " + std::to_string(given) + " given, and needed for the first " +
         std::to_string(needed) + " of " + std::to_string(hosts) + " hosts, in the order of --url");
}

// May anything but the outage change the service?
bool acts(const ClientOptions& options) {
  return (options.dashboard && !options.token_files.empty()) || acts_on_service(options.timeline);
}

// Where a retrystorm server's admin port is, if nothing else is said.
std::string port_above(const Url& url) {
  return ':' + std::to_string(std::min(url.port + 1, 65535));
}

// Throws std::invalid_argument with the first of these reasons that applies.
void refuse_first(const std::vector<std::pair<bool, std::string>>& reasons) {
  for (const auto& [applies, why] : reasons) {
    if (applies) refuse(why);
  }
}

// A run with an outage must last this long to have a verdict. 0 without an outage.
Duration least_duration(const ClientOptions& options) {
  if (!options.outage_at || !options.outage_for) return {};
  return saturating_add(saturating_add(*options.outage_at, *options.outage_for),
                        RecoveryTracker::kLeastAfter);
}

}  // namespace

void add_client_options(CLI::App& app, ClientOptions& options) {
  auto* run = option_group(app, "Run");
  add_value(
      *run, "--url", "TEXT", options.request.url,
      [&options](const std::string& text) {
        options.urls.clear();
        for (const std::string_view each : split(text, ' ')) {
          if (!each.empty() || text.empty()) options.urls.emplace_back(each);
        }
        options.request.url = options.urls.front();
        options.hosts.replicas = options.urls.size();
      },
      "where the requests go: http:// or https://; may be repeated, for a service of several hosts")
      ->join(' ')
      ->group("Client");
  add_optional_duration(*run, "--duration", options.duration,
                        "how long the client runs; until it is stopped when not given")
      ->group("Client");
  add_duration(*run, "--report-interval", options.report_interval,
               "how long each report line covers", std::chrono::milliseconds(1));
  add_text(*run, "--json", options.json, "write JSON Lines to this file; - = standard output")
      ->group("Run");
  add_expectations(*run, options.expectations, client_figures(any_summary()),
                   "a claim about the run, such as recovered or success-share>=99%; may be "
                   "repeated; exit code 3: one is broken, 4: one is not decided")
      ->group("Run");
  add_text(
      *run, "--most", options.most,
      "NAME or NAME=FROM:TO: the greatest value of this option, such as rate, at which --expect holds: runs of "
      "--duration (20s) with values that rise; needs --i-may-load")
      ->group("Client");
  const auto of_search = [&run](const char* name, std::string& target, const char* help) {
    add_text(*run, name, target, help)->group("Run");
  };
  of_search("--least", options.least, "as --most: the least value of NAME or NAME=FROM:TO");
  of_search(
      "--i-may-load", options.consent.may_load,
      "--most, --least: HOST:PORT of the URL again: yes, this service may be loaded to its limit");
  run->add_flag("--even-public", options.consent.even_public,
                "--most, --least: also where its address is not a private one")
      ->group("Run");
  of_search("--health-url", options.health_url,
            "--most, --least: stop as soon as this is not answered with 200");
  add_format(*run);
  add_trace(*run, options.trace);
  add_value(
      *run, "--metrics-port", "PORT", "0",
      [&options](const std::string& text) { options.metrics_port = parse_watch_port(text); },
      "port on 127.0.0.1 for /metrics and /status; any = any free port, 0 = none");
  add_look(*run, options.look);
  add_explain_run(*run, options.look);
  add_quiet(*run, options.quiet, "what is printed before the run");

  add_request_options(app, options.request);

  OptionList deadline;
  deadline.group("Request");
  declare_deadline(
      deadline, options.deadline,
      "what an attempt carries along as its deadline, in the header "
      "x-envoy-expected-rq-timeout-ms: nothing, the time until its timeout, or until its request's "
      "--deadline");
  add_options(app, deadline);

  auto* outage = option_group(app, "Outage");
  add_value(
      *outage, "--server-pid", "COUNT", "",
      [&options](const std::string& text) {
        options.server_pids.clear();
        for (std::string_view each : split(text, ';')) {
          each = trimmed(each);
          if (each.find(' ') != each.npos) {
            refuse("more than one process: " + text + " (give only one)");
          }
          options.server_pids.push_back(
              parse_count(each, 1, std::numeric_limits<std::int32_t>::max()));
        }
      },
      "the server's process id, to freeze and wake it during the run, with all that it has started; this and the other "
      "options of a server: once for each --url, in that order")
      // `$(pidof server)` makes several words when there are several servers.
      ->expected(1, 1000)
      ->join(';')
      ->group("Client");
  add_optional_duration(*outage, "--outage-at", options.outage_at,
                        "how long after the start the outage begins")
      ->group("Client");
  add_optional_duration(*outage, "--outage-for", options.outage_for, "how long the outage lasts")
      ->group("Outage");
  add_text(*outage, "--outage-begin", options.outage_commands.begin,
           "--outage=command: the shell command that begins the outage; it is terminated if it "
           "still runs when the outage ends");
  add_text(
      *outage, "--outage-end", options.outage_commands.end,
      "--outage=command: the shell command that ends the outage, run however the client ends; it "
      "is terminated after 30s");
  OptionList timeline;
  timeline.group("Outage");
  declare_options(timeline, options.timeline, Engine::kReal);
  add_options(app, timeline);
  auto* control = option_group(app, "Control of the server");
  add_repeated(*control, "--admin-token-file", "TEXT", options.token_files,
               "file to which the server wrote its admin token, which lets the client change the "
               "server");
  add_repeated(
      *control, "--server-admin", "TEXT", options.server_admins,
      "the server's admin port, as http://HOST:PORT; when not given, the port above that of --url");

  auto* page = option_group(app, "Live page");
  page->add_flag("--dashboard", options.dashboard,
                 "serve a page on 127.0.0.1 that shows the run and can change it")
      ->group("Client");
  add_count(*page, "--dashboard-port", options.dashboard_port, "the page's port; 0 = any free port",
            0, 65535);
  add_repeated(
      *page, "--server-status", "TEXT", options.server_statuses,
      "URL of the server's concurrency, delay and queue as JSON, for the page and for the "
      "verdict, which then knows a queue that empties; when not given, /status on the port "
      "above that of --url, but only on 127.0.0.1 or ::1");

  read_arrivals = read_foreign_file;
  add_workload_options(app, options.workload);
  const OptionList of_hosts = options_of_picks(options.hosts, false);
  add_options(app, of_hosts);
  add_repeated(
      *option_group(app, of_hosts.all().front().group), "--probe-url", "TEXT", options.probe_urls,
      "what --probe asks each host for, in the order of --url; when not given, --url itself");
  auto* clients = option_group(app, "Clients");
  add_count(*clients, "--max-threads", options.max_threads,
            "open arrivals: how many requests may be in flight or waiting for a retry, each on a "
            "thread; what arrives beyond that is counted and reported, but not sent",
            1, 1'000'000);
}

void check_command_line(const Invocation& invocation, const ClientOptions& options) {
  auto typed = typed_options<WorkloadOptions>(invocation.app, invocation.arguments);
  const auto of_hosts = typed_options<HostSettings>(invocation.app, invocation.arguments);
  typed.insert(typed.end(), of_hosts.begin(), of_hosts.end());
  check(options, typed);
}

void check(const ClientOptions& options, const std::vector<std::string>& typed) {
  WorkloadOptions workload = options.workload;
  workload.picks_hosts = options.hosts.each_process_picks();
  workload.reconnects = options.outage_at && loses_connections(options.timeline.outage);
  check(workload);
  check(options.hosts);
  if (options.hosts.many() && options.outage_at &&
      loses_connections(workload, options.timeline.outage)) {
    refuse("--url: --outage=reconnect is of connections to one host");
  }
  UnusedOptions unused;
  if (const std::string why = why_load_is_fixed(options.workload); !why.empty()) {
    find_unused_load(unused, options.timeline, why);
  }
  find_unused_disturbances(unused, options.timeline, options.outage_at.has_value());
  find_unused_reconnect(unused, workload);
  if (options.duration) {
    find_unused_after(unused, options.timeline, *options.duration, "--duration");
  }
  if (options.trace > 0 && options.workload.retry.hedge.any()) {
    unused.emplace("trace",
                   "trace has no effect with --hedge: the attempts of a hedged request are traced "
                   "by simulate only");
  }
  unused.merge(unused_of_part(workload, typed));
  HostSettings of_hosts = options.hosts;
  of_hosts.has_kept = workload.connections.kept();
  unused.merge(unused_of_part(of_hosts, typed));
  refuse(unused);
  const bool searches = options.searches();
  const bool is_job = options.workload.arrivals == Arrivals::kJob;
  if (searches) {
    const std::string name = options.least.empty() ? "--most" : "--least";
    refuse_first(
        {{options.expectations.empty(),
          name + " needs a claim: give --expect, such as --expect='request-p99<300ms'"},
         {!options.least.empty() && !options.most.empty(), "--least and --most: give only one"},
         {is_job || options.workload.plan.on(),
          name + " searches with clients or a rate that last: not of a job or a plan of arrivals"},
         {options.hosts.many(), name + " loads one service: give one --url"},
         {options.dashboard || options.metrics_port || options.trace > 0,
          name + " makes many runs: without --dashboard, --metrics-port and --trace"}});
  }
  const bool gives_consent =
      !(options.consent.may_load + options.health_url).empty() || options.consent.even_public;
  const bool ends = options.duration || searches || is_job;  // a job ends by itself
  refuse_first(
      {{!searches && gives_consent,
        "--i-may-load, --even-public and --health-url have no effect without --most or --least"},
       {!options.expectations.empty() && !ends,
        "--expect judges a run that ends: give --duration, such as --duration=110s"}});
  check_trace(options.trace, options.json);
  check(options.request);

  const ClientOptions usual;
  const OutageCommands& commands = options.outage_commands;
  const Disturbance::By by = made_by(options.timeline.outage);
  const bool freezes = by == Disturbance::By::kSignals;
  const bool by_command = by == Disturbance::By::kCommands;
  const bool no_pid = options.server_pids.empty();
  refuse_first(
      {{std::ranges::any_of(options.server_statuses, is_https),
        "--server-status must begin with http://"},
       {options.workload.arrivals != Arrivals::kOpen && options.max_threads != usual.max_threads,
        "--max-threads has no effect without --arrivals=open"},
       {options.outage_at.has_value() != options.outage_for.has_value(),
        "--outage-at and --outage-for belong together: give both"},
       {!options.outage_at && options.timeline.outage != Disturbance(),
        "--outage has no effect without --outage-at and --outage-for"},
       {sends_orders(options) && options.token_files.empty(),
        "--outage, --at and --capacity change the server: start both programs with the same "
        "--admin-token-file"},
       {!sends_orders(options) && !(options.token_files.empty() && options.server_admins.empty()),
        std::string(options.token_files.empty() ? "--server-admin" : "--admin-token-file") +
            " has no effect without something that changes the server (--at, --capacity, "
            "--outage, --dashboard)"},
       {by_command && commands.begin.empty(),
        "--outage=command needs its commands: give --outage-begin, and --outage-end if the "
        "outage needs one to end"},
       {!by_command && !(commands.begin + commands.end).empty(),
        std::string(commands.begin.empty() ? "--outage-end" : "--outage-begin") +
            " has no effect without --outage=command"},
       {options.outage_at && options.outage_for && freezes && no_pid,
        "an outage needs the process to freeze: give --server-pid (for example "
        "--server-pid=$(pidof server), or $(pidof retrystorm-server) where it is installed)"}});
  const std::size_t hit = options.hosts.hit(), ordered = ordered_hosts(options);
  check_each(options, "--server-pid", options.server_pids.size(), hit);
  check_each(options, "--admin-token-file", options.token_files.size(), ordered);
  check_each(options, "--server-admin", options.server_admins.size(), ordered);
  check_each(options, "--server-status", options.server_statuses.size(), 1);

  const std::size_t probed = options.probe_urls.size(), hosts = options.hosts.replicas;
  const Probe& probe = options.hosts.life.probe;
  std::string pids;
  for (const std::size_t each : options.server_pids) pids += ' ' + std::to_string(each);
  const bool verdict_counts = std::ranges::any_of(
      options.expectations,
      [](const Expectation& each) { return each.verdict || is_of_verdict(each.figure); });
  const Duration least = least_duration(options);
  refuse_first(
      {{!probe.on() && probed > 0, "--probe-url has no effect without --probe"},
       {probe.on() && probed > 0 && probed != hosts, "--probe-url: " + std::to_string(probed) +
                                                         " given for " + std::to_string(hosts) +
                                                         " hosts: give one for each --url"},
       {probe.own_port && probed == 0,
        "--probe: port needs --probe-url, which says where: give one for each --url"},
       {!options.hosts.many() && options.server_pids.size() > 1,
        "--server-pid: more than one process:" + pids + " (give only one)"},
       {!no_pid && !(options.outage_at && freezes) && !options.dashboard,
        "--server-pid needs --outage-at and --outage-for (when to freeze it), or --dashboard (to "
        "freeze it from the page)"},
       {options.outage_at && options.duration && *options.outage_at >= *options.duration,
        "--outage-at is not before the end of the run (--duration)"},
       {verdict_counts && options.duration && *options.duration < least,
        "a verdict needs " + format_duration(RecoveryTracker::kLeastAfter) +
            " after the outage: give --duration=" + format_duration(least) + " or more"},
       {options.deadline == DeadlinePropagation::kRequest &&
            !options.workload.retry.limit.has_deadline(),
        "--deadline-propagation=request needs a --deadline"},
       {!options.server_statuses.empty() && !options.dashboard && !options.outage_at &&
            !options.hosts.many(),
        "--server-status has no effect without an outage (--outage-at) or --dashboard"},
       {!options.dashboard && options.dashboard_port != usual.dashboard_port,
        "--dashboard-port has no effect without --dashboard"}});
}

void fit_descriptors(ClientOptions& options, std::size_t descriptors) {
  // The number of descriptors for output, signals, the watchdog and the ports; and of those that the page's readers
  // may have.
  constexpr std::size_t kReserve = 24, kPage = 96;
  const std::size_t reserve = kReserve + (options.dashboard ? kPage : 0);
  const std::size_t most = descriptors - std::min(reserve, descriptors);
  const std::size_t at_once = attempts_at_once(options.workload.retry.hedge);
  const bool open = options.workload.arrivals == Arrivals::kOpen;
  if (open && options.max_threads == ClientOptions().max_threads && most >= at_once) {
    options.max_threads = std::min(options.max_threads, most / at_once);
  }
  const std::size_t wanted = open ? options.max_threads : options.workload.clients;
  if (wanted <= most / at_once) return;
  throw std::runtime_error(
      too_many(open ? "--max-threads" : "--clients", wanted, descriptors, most) +
      (at_once > 1
           ? ", and each may have " + std::to_string(at_once) + " attempts at once (--hedge-max)"
           : ""));
}

Outlook look_ahead(const ClientOptions& options, const WorkloadOptions& workload) {
  OutlookInput input{.workload = workload, .hosts = options.hosts};
  if (options.outage_at) {
    input.outage = options.timeline.outage;
    input.outage_for = *options.outage_for;
    input.calm = *options.outage_at;
    input.note_outage_of_some();
  }
  note_unused_by_open_arrivals(input, workload);
  Outlook outlook = look_ahead(input);
  const Duration least = least_duration(options);
  if (options.duration && *options.duration < least) {
    const bool during = *options.duration < saturating_add(*options.outage_at, *options.outage_for);
    outlook.warnings.push_back(
        {during ? "ends-in-outage" : "ends-after-outage", {{"least", format_duration(least)}}});
  }
  return outlook;
}

bool sends_orders(const ClientOptions& options) {
  return (options.outage_at && is_of_service(options.timeline.outage)) || acts(options);
}

std::size_t ordered_hosts(const ClientOptions& options) {
  return acts(options) ? options.hosts.replicas : options.hosts.hit();
}

std::string server_admin_url(const ClientOptions& options, const Url& url, std::size_t host) {
  const auto& given = options.server_admins;
  if (!given.empty()) return options.hosts.many() ? given.at(host) : given.back();
  // A retrystorm server on [::1] has its admin port on 127.0.0.1.
  const std::string name = url.host == "::1" ? "127.0.0.1" : host_in_url(url.host);
  return "http://" + name + port_above(url);
}

std::string server_status_url(const ClientOptions& options, const Url& url, std::size_t host) {
  const auto& given = options.server_statuses;
  if (!given.empty() && !options.hosts.many()) return given.back();
  if (!given.empty()) return host < given.size() ? given[host] : "";
  if (url.tls) return "";  // retrystorm's server has no TLS
  const bool ipv6 = url.address == "::1";
  if (!ipv6 && url.address.rfind("127.", 0) != 0) return "";
  const bool is_host = std::ranges::any_of(
      options.urls, [&](const std::string& each) { return parse_url(each).port == url.port + 1; });
  if (is_host) return "";
  return "http://" + (ipv6 ? "127.0.0.1" : url.address) + port_above(url) + "/status";
}

}  // namespace retrystorm
