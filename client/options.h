// The client's command line.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "client/fleet.h"
#include "client/http_request.h"
#include "client/url.h"
#include "common/cli/options.h"
#include "common/http/endpoint.h"
#include "model/run/timeline.h"

namespace retrystorm {

struct ClientOptions {
  WorkloadOptions workload;
  RequestOptions request;
  std::optional<Duration> duration;
  Duration report_interval = std::chrono::seconds(5);
  std::string json;
  std::size_t trace = 0;
  std::size_t max_threads = FleetLimits::kDefaultMaxThreads;
  WatchPort metrics_port;
  bool live = false;

  TimelineOptions timeline;
  std::string server_admin;  // where the server is told things; found by `server_admin_url`
  std::string token_file;

  std::size_t server_pid = 0;
  std::optional<Duration> outage_at;
  std::optional<Duration> outage_for;

  bool dashboard = false;
  std::size_t dashboard_port = 8072;
  std::string server_status;

  std::size_t print_schedule = 0;
  std::optional<Duration> schedule_fails_until;
  std::optional<Duration> schedule_succeeds_above;
};

void add_client_options(CLI::App& app, ClientOptions& options);

// Throws std::runtime_error when options contradict each other or one lacks another.
void check(const ClientOptions& options);

// Has the server anything to be told?
bool tells_server(const ClientOptions& options);

// Where it is told: as told, or on the port above the one that the requests go to.
std::string server_admin_url(const ClientOptions& options, const Url& url);

// Where the server says how it is: as told, or on the port above the one that the requests go to if
// that is on loopback. Elsewhere nobody is asked who has not been named: then it is empty.
std::string server_status_url(const ClientOptions& options, const Url& url);

}  // namespace retrystorm
