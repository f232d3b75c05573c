// The options of a service, and what conditions make of them while it runs.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <limits>
#include <optional>
#include <string_view>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/service/admission.h"
#include "model/service/queue_rules.h"
#include "model/service/rate_limit.h"
#include "model/service/service_time.h"

namespace retrystorm {

// How the service processes requests.
enum class Capacity {
  kCurve,    // all are served at once, and slow each other down
  kWorkers,  // a fixed number is served at a time, and the others wait
};

// What happens to a request whose client has hung up.
enum class Abandoned {
  kServe,   // it is served to the end
  kSkip,    // it is skipped when the server would accept it, or a worker would take it
  kCancel,  // the service cancels it as soon as the client hangs up; only simulated
};

struct ServiceOptions {
  static constexpr std::size_t kUnlimitedResets = std::numeric_limits<std::size_t>::max();

  Capacity capacity = Capacity::kCurve;
  Duration base_delay = std::chrono::milliseconds(100);
  std::size_t limit = 30;
  double factor = 1.05;
  double k = 15;
  std::size_t backlog = 256;
  bool when_free = false;                  // see `accepts_when_free`
  std::size_t max_connections = 0;         // 0 = bounded only by file descriptors
  Duration server_idle = Duration::max();  // how long the server keeps an idle connection
  // Multiplexed: how many requests that its clients have reset the server takes of a connection at once, and
  // a second from then on, before it closes the connection. Only simulated.
  std::size_t reset_limit = kUnlimitedResets;
  double reset_rate = 33;
  RateLimitSettings rate_limit{};
  std::size_t shed_above = 0;
  int shed_status = 503;  // HTTP status of a request that is shed
  WorkerSettings workers{};
  HintOfferSettings hint{};
  ErrorSettings errors{};
  Abandoned abandoned = Abandoned::kServe;

  ServiceCurve curve() const { return {base_delay, limit, factor, k}; }
  AdmissionControl admission(TimePoint start = {}) const {
    return {rate_limit, shed_above, shed_status, start};
  }
  // Does a connection wait in the backlog for a worker, which keeps it until it is closed?
  bool accepts_when_free() const { return when_free && capacity == Capacity::kWorkers; }
  // How many connections it accepts at a time. `max_connections` must be set.
  std::size_t most_connections() const {
    return accepts_when_free() ? std::min(max_connections, workers.workers) : max_connections;
  }
  // True if the service draws random numbers.
  bool draws() const {
    return errors.share > 0 || hint.kind == HintKind::kSpread ||
           (capacity == Capacity::kWorkers && workers.service_time.is_random());
  }
};

// Which engine the options are for. Options that an engine lacks are left out; some have other
// names.
enum class Engine { kReal, kSimulated };

// Does any answer have a Retry-After? Those to requests that are turned away have one; those to injected errors of 429
// and 503 only where the hint needs no estimate.
bool sends_hints(const ServiceOptions& service);

void declare_options(OptionList& options, ServiceOptions& service,
                     Engine engine = Engine::kSimulated);

// Throws std::invalid_argument with a readable message if settings contradict each other.
void check(const ServiceOptions& service);

// The current faults of a service, apart from its configuration.
struct Conditions {
  double slow = 1;                    // factor on the time of each request; > 0
  double capacity = 1;                // factor on the curve or on the number of workers; > 0
  double errors = 0;                  // share of failures in [0, 1], independent of --error-share
  std::optional<int> error_status{};  // replaces --error-status
  // Requests per second, if that is less than --rate-limit; and the autoscaler stands still.
  std::optional<double> rate_limit{};
};

// The options that result when the conditions apply to a service with these options. Capacity
// stretches the curve: limit and k are multiplied by it, and so is the greatest throughput. With
// workers it multiplies their number, with at least one left.
ServiceOptions with_conditions(const Conditions& conditions, ServiceOptions configured);

// Changes one option of a running service, by any of its names. Throws std::invalid_argument with a
// readable message, and changes nothing, if there is no such option or value, if it cannot change
// while the service runs, or, as NoEffect, if it would have no effect.
void change_option(ServiceOptions& configured, std::string_view name, std::string_view value,
                   Engine engine);

}  // namespace retrystorm
