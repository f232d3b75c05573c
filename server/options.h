// The server's command line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/cli/options.h"
#include "common/http/page_server.h"
#include "model/base/option_list.h"
#include "model/graph/topology.h"
#include "model/service/service_options.h"
#include "server/http_server.h"
#include "server/upstream.h"

namespace retrystorm {

// The options of the calls of one callee, where they differ from those of all.
struct CallsTo {
  std::string name{};
  std::vector<std::pair<std::string, std::string>> settings{};  // names without the prefix
};

struct CallOptions {
  std::string calls{};  // as given
  NamedPlan plan{};     // the same; what is called has the form URL or NAME=URL
  std::string to{};     // as given
  std::vector<CallsTo> callees{};
  GraphNode node{};
  GraphEdge edge{};  // of all calls
  HostSettings hosts{};
  std::size_t threads = 4096;

  CallOptions();
};

void declare_options(OptionList& options, CallOptions& calls);

// The options of calls that were given but have no effect.
UnusedOptions unused_calls(CallOptions calls, const ServiceOptions& service);

// The callees in the order in which they are named. Throws std::invalid_argument with a readable message if the
// options contradict each other.
UpstreamSettings make_upstream(const CallOptions& calls);

// Lowers the number of threads, if it is not given, so that the attempts of all calls take at most half of the
// descriptors. Returns how many they take. Throws std::runtime_error if it is given, and too many.
std::size_t fit_calls(UpstreamSettings& upstream, std::size_t descriptors);

struct ServerOptions {
  ServiceOptions service;
  CallOptions calls;
  bool keeps_deadlines = false;
  std::string name = "server";  // in the lines about its calls
  Address address{.host = "127.0.0.1", .port = 8070};
  // If not given, it is the server's port + 1, and the server also starts if that port is in use.
  // A port that the user chose must be free.
  std::optional<WatchPort> admin_port;
  // Where the admin port's token goes: to this file (empty: none), and to standard error, which logs keep.
  std::string token_file;
  bool print_token = false;
  bool wants_token() const { return print_token || !token_file.empty(); }
  std::optional<std::uint64_t> seed;  // of the service's random numbers; random if not given
  Duration report_interval = std::chrono::seconds(1);
  std::string json;
};

void add_server_options(CLI::App& app, ServerOptions& options);

// Fits `max_connections` to the number of descriptors that the process may open.
// Throws std::runtime_error if more connections are wanted than that allows.
void fit_connections(ServiceOptions& options, std::size_t descriptors);

// Throws std::runtime_error if the accept queue would be shorter than wanted. `longest` is the
// system's limit.
void check_backlog(const ServiceOptions& options, std::size_t longest);

}  // namespace retrystorm
