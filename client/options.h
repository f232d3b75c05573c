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
#include "model/run/outlook.h"
#include "model/run/timeline.h"

namespace retrystorm {

struct ClientOptions {
  WorkloadOptions workload;
  DeadlinePropagation deadline = DeadlinePropagation::kNone;
  RequestOptions request;
  std::optional<Duration> duration;
  Duration report_interval = std::chrono::seconds(5);
  std::string json;
  std::vector<Expectation> expectations;
  std::size_t trace = 0;
  std::size_t max_threads = FleetLimits::kDefaultMaxThreads;
  WatchPort metrics_port;
  bool quiet = false;
  AnswerLook look;

  TimelineOptions timeline;
  std::string server_admin;  // as given; use `server_admin_url`
  std::string token_file;

  std::size_t server_pid = 0;
  std::optional<Duration> outage_at;
  std::optional<Duration> outage_for;
  OutageCommands outage_commands;

  bool dashboard = false;
  std::size_t dashboard_port = 8072;
  std::string server_status;
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

// The URL for the orders: --server-admin, or else the port above the one that the requests go to.
std::string server_admin_url(const ClientOptions& options, const Url& url);

// The URL of the server's status: --server-status, or else the port above the one that the requests
// go to, if that is on loopback. Empty otherwise: other machines are not asked unless they are
// named.
std::string server_status_url(const ClientOptions& options, const Url& url);

}  // namespace retrystorm
