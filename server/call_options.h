// What the server calls for each request, as the user gives it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "model/base/option_list.h"
#include "model/graph/topology.h"
#include "model/service/service_options.h"
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
  std::size_t threads = 4096;

  CallOptions();
};

void declare_options(OptionList& options, CallOptions& calls);

// Adds the options that were given but have no effect.
void find_unused(UnusedOptions& unused, const CallOptions& calls, const ServiceOptions& service);

// The callees in the order in which they are named. Throws std::invalid_argument with a readable message if the
// options contradict each other.
UpstreamSettings make_upstream(const CallOptions& calls);

// Lowers the number of threads, if it is not given, so that the attempts of all calls take at most half of the
// descriptors. Returns how many they take. Throws std::runtime_error if it is given, and too many.
std::size_t fit_calls(UpstreamSettings& upstream, std::size_t descriptors);

}  // namespace retrystorm
