// The service that a run is about: its curve, its queues, and whom it lets in.
#pragma once

#include <chrono>
#include <cstddef>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/service/admission.h"
#include "model/service/errors.h"
#include "model/service/rate_limit.h"
#include "model/service/server_hint.h"
#include "model/service/service_curve.h"
#include "model/service/worker_settings.h"

namespace retrystorm {

// How a service comes to answer.
enum class Capacity {
  kCurve,    // all requests are served at once, the slower the more there are
  kWorkers,  // so many are served at a time, and the others wait
};

struct ServiceOptions {
  Capacity capacity = Capacity::kCurve;
  Duration base_delay = std::chrono::milliseconds(100);
  std::size_t limit = 30;
  double factor = 1.05;
  double k = 15;
  std::size_t backlog = 256;
  std::size_t max_connections = 0;  // 0 = as many as there are descriptors
  RateLimitSettings rate_limit{};
  std::size_t shed_above = 0;
  WorkerSettings workers{};
  ServerHintSettings hint{};
  ErrorSettings errors{};

  ServiceCurve curve() const { return {base_delay, limit, factor, k}; }
  AdmissionControl admission(TimePoint start = {}) const { return {rate_limit, shed_above, start}; }
  // Whether anything is drawn at random.
  bool draws() const {
    return errors.share > 0 || hint.kind == HintKind::kSpread ||
           (capacity == Capacity::kWorkers && workers.service_time.is_random());
  }
};

// In which engine the options are: what one of them has not is left out, or named otherwise.
enum class Engine { kReal, kSimulated };

void declare_options(OptionList& options, ServiceOptions& service, Engine engine);

// Adds the options that were given but have no effect.
void find_unused(UnusedOptions& unused, const ServiceOptions& service);

// Throws std::invalid_argument with a sentence for a person when settings contradict each other.
void check(const ServiceOptions& service);

}  // namespace retrystorm
