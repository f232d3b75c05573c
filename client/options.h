// The client's command line.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "client/fleet.h"
#include "client/outage/outage_command.h"
#include "common/cli/options.h"
#include "common/cli/program.h"
#include "common/http/http_request.h"
#include "common/http/page_server.h"
#include "common/http/single_request.h"
#include "model/run/outlook.h"
#include "model/run/timeline.h"
#include "model/service/picker.h"

namespace retrystorm {

struct ClientOptions {
  WorkloadOptions workload;
  DeadlinePropagation deadline = DeadlinePropagation::kNone;
  RequestOptions request;
  std::vector<std::string> urls{request.url};  // the first one is that of `request`
  HostSettings hosts{.by_urls = true};
  std::vector<std::string> probe_urls;  // of each host; empty: `urls`
  std::optional<Duration> duration;
  Duration report_interval = std::chrono::seconds(5);
  std::string json;
  std::vector<Expectation> expectations;
  std::string least, most;  // a search: see client/load_search.h
  Consent consent;
  std::string health_url;
  std::size_t trace = 0;
  std::size_t max_threads = FleetLimits::kDefaultMaxThreads;
  WatchPort metrics_port;
  bool quiet = false;
  AnswerLook look;

  TimelineOptions timeline;
  // One for each of `urls`, in their order. As given; use `server_admin_url` and `server_status_url`.
  std::vector<std::string> server_admins, token_files, server_statuses;
  std::vector<std::size_t> server_pids;

  std::optional<Duration> outage_at;
  std::optional<Duration> outage_for;
  OutageCommands outage_commands;

  bool searches() const { return !(least + most).empty(); }

  bool dashboard = false;
  std::size_t dashboard_port = 8072;
};

void add_client_options(CLI::App& app, ClientOptions& options);

// Throws std::invalid_argument, with a line for each, when options contradict each other or one
// lacks another.
void check_command_line(const Invocation& invocation, const ClientOptions& options);
// The same; `typed` options are refused without an effect even where they have their default value.
void check(const ClientOptions& options, const std::vector<std::string>& typed = {});

// Fits the number of clients to how many files the process may open; each attempt needs one. Throws
// std::runtime_error if there are too few, because failed attempts would look like errors of the
// service.
void fit_descriptors(ClientOptions& options, std::size_t descriptors);

// What can be said before a run with these options and this workload. Nothing is known of the
// service.
Outlook look_ahead(const ClientOptions& options, const WorkloadOptions& workload);

// True if the run will send orders to the server, or the page may.
bool sends_orders(const ClientOptions& options);

// So many of the first hosts get orders.
std::size_t ordered_hosts(const ClientOptions& options);

// The URL for the orders to a host: --server-admin, or else the port above the one that the requests go to.
std::string server_admin_url(const ClientOptions& options, const Url& url, std::size_t host = 0);

// The URL of a host's status: --server-status, or else the port above the one that the requests
// go to, if that is on loopback and no other host's. Empty otherwise: other machines are not asked unless they are named.
std::string server_status_url(const ClientOptions& options, const Url& url, std::size_t host = 0);

}  // namespace retrystorm
