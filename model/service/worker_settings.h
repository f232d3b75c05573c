// A service with workers: their number, their service time, and their queue.
#pragma once

#include <chrono>
#include <cstddef>
#include <limits>

#include "model/base/option_list.h"
#include "model/service/queue_drop.h"
#include "model/service/queue_order.h"
#include "model/service/service_time.h"

namespace retrystorm {

struct WorkerSettings {
  static constexpr std::size_t kUnbounded = std::numeric_limits<std::size_t>::max();

  std::size_t workers = 20;
  ServiceTime service_time = ServiceTime::fixed(std::chrono::milliseconds(100));
  std::size_t queue_length = kUnbounded;  // places for waiting requests; 0 = none wait
  QueueOrder order{};
  QueueDrop drop{};
  // How long a rejection occupies a worker, whatever its reason.
  Duration rejection_cost{0};
};

void declare_options(OptionList& options, WorkerSettings& settings);

// Adds the numbers that were given but are not used.
void find_unused(UnusedOptions& unused, const WorkerSettings& settings);

// The same service with its counts multiplied by `factor`.
WorkerSettings scaled(WorkerSettings settings, double factor);

}  // namespace retrystorm
