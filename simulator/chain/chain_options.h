// Services behind services: which service calls which, as the user gives it.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/run/workload.h"
#include "model/service/service_options.h"

namespace retrystorm {

// A service of a chain. Each calls the next one, and answers when it has the answer.
struct ChainedService {
  std::string name{};
  std::size_t workers = 1;
  ServiceTime service_time = ServiceTime::fixed(Duration::zero());
  // Of the attempts that call it; empty: that of the clients. Not of the first service.
  std::optional<Duration> timeout{};
};

// Does a worker wait for the answer of the next service?
enum class Waiting {
  kHold,  // as threads do
  kFree,  // it takes other requests, as event loops do
};

// Which callers retry. Clients call the first service, and each service calls the next one.
enum class RetryAt {
  kAll,
  kTop,     // only the clients
  kBottom,  // only the caller of the last service
  kNone,
};

struct ChainOptions {
  static constexpr std::size_t kMostServices = 64;

  std::vector<ChainedService> services{};  // empty: no chain, but one service
  Waiting waiting = Waiting::kHold;
  RetryAt retry_at = RetryAt::kAll;
  std::string outage_of{};  // empty: of the last one

  bool on() const { return !services.empty(); }
  // The service that has the outage and the actions of the timeline. Throws std::invalid_argument with a
  // readable message if there is none of this name.
  std::size_t disturbed() const;
};

// Parses "api 32x5ms > orders 16x20ms >250ms db 8x40ms": workers and service time of each, and after the arrow the
// timeout of the calls if it is not that of the clients. Throws std::invalid_argument with a readable
// message.
std::vector<ChainedService> parse_chain(std::string_view text);

// The text that `parse_chain` reads.
std::string print_chain(const std::vector<ChainedService>& services);

void declare_options(OptionList& options, ChainOptions& chain);

// Adds the options that were given but have no effect beside the chain, or without one.
void find_unused(UnusedOptions& unused, const ChainOptions& chain, const ServiceOptions& service);

// Throws std::invalid_argument with a readable message if these cannot go together.
void check(const ChainOptions& chain, const WorkloadOptions& workload,
           const ServiceOptions& service, const std::optional<Disturbance>& outage);

// The service number `index` of the chain: like `all`, with its own workers.
ServiceOptions service_in(const ChainOptions& chain, std::size_t index, ServiceOptions all);

// Who calls the service number `index`: the clients, or the service before it. The strategy is that of the
// clients.
WorkloadOptions caller_in(const ChainOptions& chain, std::size_t index, WorkloadOptions clients);

}  // namespace retrystorm
