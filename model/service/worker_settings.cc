#include "model/service/worker_settings.h"

#include <algorithm>
#include <cmath>

namespace retrystorm {
namespace {

constexpr std::uint64_t kMost = 1'000'000'000;

// Unbounded stays so.
std::size_t scaled(std::size_t count, double factor) {
  if (count == WorkerSettings::kUnbounded) return count;
  return static_cast<std::size_t>(std::llround(static_cast<double>(count) * factor));
}

}  // namespace

void declare_options(OptionList& options, WorkerSettings& settings) {
  options.count("workers", settings.workers, "requests served at a time", 1, kMost).in("workers");
  options
      .text(
          "service-time",
          "how long a worker takes for a request: fixed:100ms (or just 100ms), exponential:MEAN, "
          "lognormal:MEAN:CV (CV: standard deviation by mean), or bimodal:A:SHARE:B (B for this "
          "share "
          "of the requests)",
          [&settings](std::string_view text) { settings.service_time = ServiceTime::parse(text); },
          [&settings] { return settings.service_time.text(); })
      .like({"fixed:100ms", "exponential:100ms", "lognormal:100ms:1.5", "bimodal:50ms:0.05:1s"});
  options
      .count_or_none("queue-length", settings.queue_length,
                     "places in which requests wait for a worker, the others get 503 at once; 0 "
                     "= no request waits",
                     0, kMost)
      .in("requests")
      .over("0", "2000");
  options
      .text(
          "queue-order",
          "which one is next: fifo, lifo, or adaptive-lifo:N (the newest while N others wait, else "
          "the "
          "oldest)",
          [&settings](std::string_view text) { settings.order = parse_queue_order(text); },
          [&settings] { return to_string(settings.order); })
      .like({"fifo", "lifo", "adaptive-lifo:100"});
  options
      .text(
          "queue-drop",
          "which ones get 503 instead of being served: none, age:DURATION (those that have waited "
          "longer), or codel:TARGET:INTERVAL (codel = codel:5ms:100ms)",
          [&settings](std::string_view text) { settings.drop = parse_queue_drop(text); },
          [&settings] { return to_string(settings.drop); })
      .like({"none", "age:1s", "codel"});
  options
      .duration("rejection-cost", settings.rejection_cost,
                "so long a worker is busy with each request that is turned away")
      .over("0s", "200ms");
}

void find_unused(UnusedOptions& unused, const WorkerSettings& settings) {
  if (settings.queue_length == 0) {
    find_unused<WorkerSettings>(unused, settings, {}, "without places in which requests wait",
                                {"queue-order", "queue-drop"});
  }
}

WorkerSettings scaled(WorkerSettings settings, double factor) {
  settings.workers = std::max<std::size_t>(scaled(settings.workers, factor), 1);
  settings.queue_length = scaled(settings.queue_length, factor);
  settings.order.threshold = scaled(settings.order.threshold, factor);
  return settings;
}

}  // namespace retrystorm
