#include "client/options.h"

#include <algorithm>
#include <array>
#include <limits>
#include <stdexcept>
#include <string_view>

namespace retrystorm {

namespace {

void add_request_options(CLI::App& app, RequestOptions& request) {
  auto* group = app.add_option_group("Request");
  add_value(
      *group, "--method", "NAME", request.method,
      [&request](const std::string& text) {
        static constexpr std::array<std::string_view, 7> kMethods{
            "GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"};
        if (std::find(kMethods.begin(), kMethods.end(), text) == kMethods.end()) {
          throw std::invalid_argument(unknown_name(text, {kMethods.begin(), kMethods.end()}));
        }
        request.method = text;
      },
      "GET, HEAD, POST, PUT, PATCH, DELETE or OPTIONS");
  group
      ->add_option("--header", request.headers,
                   "'Name: value', a header of each request; any number")
      ->type_name("TEXT")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_text(*group, "--body", request.body, "what each request carries: TEXT, or @FILE for a file");
  add_text(*group, "--cacert", request.cacert,
           "https: trust the certificates in this file (PEM) instead of the system's");
  group->add_flag("--insecure", request.insecure, "https: trust whoever answers");
}

}  // namespace

void add_client_options(CLI::App& app, ClientOptions& options) {
  auto* run = app.add_option_group("Run");
  add_text(*run, "--url", options.request.url, "where the requests go: http:// or https://")
      ->group("Run");
  add_optional_duration(*run, "--duration", options.duration,
                        "end after this time; until stopped when not given")
      ->group("Run");
  auto* interval =
      add_duration(*run, "--report-interval", options.report_interval,
                   "time between the lines; 1s with --live", std::chrono::milliseconds(1));
  add_text(*run, "--json", options.json, "write JSON Lines to this file")->group("Run");
  add_trace(*run, options.trace);
  add_value(
      *run, "--metrics-port", "PORT", "0",
      [&options](const std::string& text) { options.metrics_port = parse_watch_port(text); },
      "port of 127.0.0.1 for /metrics and /status; any = any free one, 0 = none");
  auto* live = run->add_flag_callback(
      "--live",
      [&options, interval] {
        options.live = true;
        if (interval->count() > 0) return;
        options.report_interval = std::chrono::seconds(1);
        interval->default_str("1s");  // what `options_json` shows is what is in force
      },
      "one screen that is redrawn, instead of the lines");
  live->group("Run");

  add_request_options(app, options.request);

  auto* outage = app.add_option_group("Outage");
  add_value(
      *outage, "--server-pid", "COUNT", "",
      [&options](const std::string& text) {
        if (text.find(' ') != std::string::npos) {
          throw std::invalid_argument("which of the processes " + text + " is meant? Give one");
        }
        options.server_pid = parse_count(text, 1, std::numeric_limits<std::int32_t>::max());
      },
      "the server's process id: freeze and wake it as part of the run")
      // `$(pidof server)` makes several words when there are several servers.
      ->expected(1, 1000)
      ->join(' ')
      ->group("Outage");
  add_optional_duration(*outage, "--outage-at", options.outage_at, "the outage begins at this time")
      ->group("Outage");
  add_optional_duration(*outage, "--outage-for", options.outage_for, "and lasts so long")
      ->group("Outage");
  add_text(*outage, "--outage-begin", options.outage_commands.begin,
           "--outage=command: the shell command that begins it; one that still runs at its end is "
           "terminated");
  add_text(*outage, "--outage-end", options.outage_commands.end,
           "--outage=command: the one that ends it, run however the client ends");
  OptionList timeline;
  timeline.group("Outage");
  declare_options(timeline, options.timeline, Engine::kReal);
  add_options(app, timeline);
  auto* control = app.add_option_group("Control of the server");
  add_text(*control, "--admin-token-file", options.token_file,
           "the file to which the server wrote the token with which it may be changed");
  add_text(
      *control, "--server-admin", options.server_admin,
      "where it is told what befalls it, as http://HOST:PORT; if not given, the port above that "
      "of --url");

  auto* page = app.add_option_group("Live page");
  page->add_flag("--dashboard", options.dashboard,
                 "serve a page on 127.0.0.1 that shows the run and can change it")
      ->group("Run");
  add_count(*page, "--dashboard-port", options.dashboard_port, "the page's port; 0 = any free one",
            0, 65535);
  add_text(*page, "--server-status", options.server_status,
           "where the page gets the server's concurrency and delay from, as JSON; if not given, "
           "/status on the port above that of --url, provided that this is on 127.0.0.1 or ::1: no "
           "other machine is asked unless it is named here");

  add_workload_options(app, options.workload);
  auto* clients = app.add_option_group("Clients");
  add_count(*clients, "--max-threads", options.max_threads,
            "open arrivals: so many requests are under way at a time, or wait to be retried, each "
            "on a thread; what arrives beyond that is counted and told, and never sent",
            1, 1'000'000);

  auto* schedule = app.add_option_group("Schedule (no network)");
  add_count(*schedule, "--print-schedule", options.print_schedule,
            "print the first waits of the strategy as attempt,delay_seconds (and the quantiles "
            "p5,p50,p95 of random ones), and exit",
            1, 1'000'000)
      ->default_str("")
      ->group("Retries");
  add_optional_duration(*schedule, "--schedule-fails-until", options.schedule_fails_until,
                        "with --print-schedule: attempts fail until a wait has reached this ...");
  add_optional_duration(*schedule, "--schedule-succeeds-above", options.schedule_succeeds_above,
                        "... and from then on succeed while the wait is above this");
}

void check(const ClientOptions& options) {
  check(options.workload.retry);
  UnusedOptions unused = unused_options(options.workload);
  if (options.workload.arrivals == Arrivals::kJob) {
    find_unused_load(unused, options.timeline, "with --arrivals=job");
  }
  refuse(unused);
  check_trace(options.trace, options.json);
  check(options.request);
  if (is_https(options.server_status)) {
    throw std::runtime_error("--server-status: the page asks over http:// only");
  }
  if (options.workload.arrivals != Arrivals::kOpen &&
      options.max_threads != ClientOptions().max_threads) {
    throw std::runtime_error("--max-threads has no effect without --arrivals=open");
  }
  if (options.outage_at.has_value() != options.outage_for.has_value()) {
    throw std::runtime_error("--outage-at and --outage-for belong together: give both");
  }
  if (!options.outage_at && options.timeline.outage != Disturbance()) {
    throw std::runtime_error("--outage has no effect without --outage-at and --outage-for");
  }
  const bool freezes = options.timeline.outage.kind == Disturbance::Kind::kFreeze;
  if (tells_server(options) && options.token_file.empty()) {
    throw std::runtime_error(
        "the server must be told what befalls it: start both programs with the same "
        "--admin-token-file");
  }
  if (!tells_server(options) && !(options.token_file + options.server_admin).empty()) {
    throw std::runtime_error(
        std::string(options.token_file.empty() ? "--server-admin" : "--admin-token-file") +
        " has no effect without something to tell the server (--at, --capacity, --outage)");
  }
  const bool by_command = options.timeline.outage.kind == Disturbance::Kind::kCommand;
  if (by_command && options.outage_commands.begin.empty()) {
    throw std::runtime_error(
        "--outage=command needs the commands: give --outage-begin, and --outage-end unless it ends "
        "by itself");
  }
  if (!by_command && !(options.outage_commands.begin + options.outage_commands.end).empty()) {
    throw std::runtime_error(
        std::string(options.outage_commands.begin.empty() ? "--outage-end" : "--outage-begin") +
        " has no effect without --outage=command");
  }
  if (options.outage_at && freezes && options.server_pid == 0) {
    throw std::runtime_error(
        "an outage needs the process to freeze: give --server-pid (for example "
        "--server-pid=$(pidof server), or $(pidof retrystorm-server) where it is installed)");
  }
  if (options.server_pid != 0 && !(options.outage_at && freezes) && !options.dashboard) {
    throw std::runtime_error(
        "--server-pid needs --outage-at and --outage-for (when to freeze it), or --dashboard (to "
        "freeze it from the page)");
  }
  if (options.outage_at && options.duration && *options.outage_at >= *options.duration) {
    throw std::runtime_error("--outage-at is not before the end of the run (--duration)");
  }
  if (options.schedule_fails_until.has_value() != options.schedule_succeeds_above.has_value()) {
    throw std::runtime_error(
        "--schedule-fails-until and --schedule-succeeds-above belong together: give both");
  }
  if (options.schedule_fails_until && options.print_schedule == 0) {
    throw std::runtime_error("--schedule-fails-until has no effect without --print-schedule");
  }
  if (!options.server_status.empty() && !options.dashboard) {
    throw std::runtime_error("--server-status has no effect without --dashboard");
  }
  if (!options.dashboard && options.dashboard_port != ClientOptions().dashboard_port) {
    throw std::runtime_error("--dashboard-port has no effect without --dashboard");
  }
}

bool tells_server(const ClientOptions& options) {
  const auto all = actions(options.timeline);
  return (options.outage_at && is_of_service(options.timeline.outage)) ||
         std::any_of(all.begin(), all.end(), [](const TimedAction& each) {
           return each.action.kind != Action::Kind::kLoad;
         });
}

std::string server_admin_url(const ClientOptions& options, const Url& url) {
  if (!options.server_admin.empty()) return options.server_admin;
  const std::string host = url.host.find(':') == url.host.npos ? url.host : '[' + url.host + ']';
  return "http://" + host + ':' + std::to_string(std::min(url.port + 1, 65535));
}

std::string server_status_url(const ClientOptions& options, const Url& url) {
  if (!options.server_status.empty()) return options.server_status;
  if (url.tls) return "";  // not a server of ours
  const bool ipv6 = url.address == "::1";
  if (!ipv6 && url.address.rfind("127.", 0) != 0) return "";
  return "http://" + (ipv6 ? '[' + url.address + ']' : url.address) + ':' +
         std::to_string(std::min(url.port + 1, 65535)) + "/status";
}

}  // namespace retrystorm
