#include "model/service/queue_rules.h"

#include <cmath>
#include <vector>

#include "model/base/text.h"

namespace retrystorm {

QueueOrder parse_queue_order(std::string_view text) {
  constexpr std::uint64_t kMany = 1'000'000'000;
  if (text == "fifo") return {};
  if (text == "lifo") return {.kind = QueueOrder::Kind::kLifo};
  const std::vector<std::string_view> parts = split(text, ':');
  if (parts[0] == "adaptive-lifo") {
    if (parts.size() != 2) refuse(in_quotes(text) + " is not of the form adaptive-lifo:N");
    return {.kind = QueueOrder::Kind::kAdaptiveLifo,
            .threshold = static_cast<std::size_t>(parse_count(parts[1], 0, kMany))};
  }
  if (parts[0] == "unfair" && parts.size() == 2) {
    return {.kind = QueueOrder::Kind::kUnfair, .share = parse_number(parts[1], 0, 1)};
  }
  refuse(unknown_name(text, {"fifo", "lifo", "adaptive-lifo:N", "unfair:SHARE"}));
}

std::string to_string(const QueueOrder& order) {
  switch (order.kind) {
    case QueueOrder::Kind::kFifo:
      return "fifo";
    case QueueOrder::Kind::kLifo:
      return "lifo";
    case QueueOrder::Kind::kAdaptiveLifo:
      return "adaptive-lifo:" + std::to_string(order.threshold);
    case QueueOrder::Kind::kUnfair:
      return "unfair:" + print_number(order.share);
  }
  return "";
}

QueueDrop parse_queue_drop(std::string_view text) {
  using namespace std::chrono_literals;
  constexpr Duration kShortest{1};
  if (text == "none") return {};
  if (text == "codel") return {.kind = QueueDrop::Kind::kCoDel, .time = 5ms, .interval = 100ms};
  const std::vector<std::string_view> parts = split(text, ':');
  if (parts[0] == "age") {
    if (parts.size() != 2) refuse(in_quotes(text) + " is not of the form age:DURATION");
    return {.kind = QueueDrop::Kind::kAge, .time = parse_duration(parts[1], Duration::zero())};
  }
  if (parts[0] == "codel") {
    if (parts.size() != 3) refuse(in_quotes(text) + " is not of the form codel:TARGET:INTERVAL");
    return {.kind = QueueDrop::Kind::kCoDel,
            .time = parse_duration(parts[1], kShortest),
            .interval = parse_duration(parts[2], kShortest)};
  }
  refuse(unknown_name(text, {"none", "age:DURATION", "codel", "codel:TARGET:INTERVAL"}));
}

std::string to_string(const QueueDrop& drop) {
  switch (drop.kind) {
    case QueueDrop::Kind::kNone:
      return "none";
    case QueueDrop::Kind::kAge:
      return "age:" + format_duration(drop.time);
    case QueueDrop::Kind::kCoDel:
      return "codel:" + format_duration(drop.time) + ':' + format_duration(drop.interval);
  }
  return "";
}

namespace {

constexpr std::uint64_t kMost = 1'000'000'000;

// An unbounded count stays unbounded.
std::size_t scaled_count(std::size_t count, double factor) {
  if (count == WorkerSettings::kUnbounded) return count;
  return static_cast<std::size_t>(std::llround(static_cast<double>(count) * factor));
}

}  // namespace

void declare_options(OptionList& options, WorkerSettings& settings) {
  options
      .count("workers", settings.workers,
             "how many workers there are; each serves one request at a time", 1, kMost, "workers")
      .basic = "Service";
  options
      .text(
          "service-time",
          "how long a worker takes for a request: fixed:100ms (or just 100ms), exponential:MEAN, "
          "lognormal:MEAN[:CV] (CV: standard deviation divided by mean, 0.5 if not given), or bimodal:A:SHARE:B (B "
          "for this share of the requests)",
          [&settings](std::string_view text) { settings.service_time = ServiceTime::parse(text); },
          [&settings] { return settings.service_time.text(); })
      .with_examples(
          {"fixed:100ms", "exponential:100ms", "lognormal:100ms:1.5", "bimodal:50ms:0.05:1s"})
      .basic = "Service";
  options
      .count_or_none("queue-length", settings.queue_length,
                     "how many requests may wait for a worker; the others get 503 at once; 0 = "
                     "no queue, none = no limit",
                     0, kMost, "requests")
      .with_range("0", "2000");
  options
      .text(
          "queue-order",
          "which waiting request is served next: fifo, lifo, adaptive-lifo:N (the newest while N others "
          "wait, else the oldest), or unfair:SHARE (one that has just come, that often, as with locks that are not fair)",
          [&settings](std::string_view text) { settings.order = parse_queue_order(text); },
          [&settings] { return to_string(settings.order); })
      .with_examples({"fifo", "lifo", "adaptive-lifo:100", "unfair:0.1"});
  options
      .text(
          "queue-drop",
          "which waiting requests get 503 instead of being served: none, age:DURATION (those "
          "that have waited longer), or codel:TARGET:INTERVAL (codel = codel:5ms:100ms)",
          [&settings](std::string_view text) { settings.drop = parse_queue_drop(text); },
          [&settings] { return to_string(settings.drop); })
      .with_examples({"none", "age:1s", "codel"});
  options
      .duration("rejection-cost", settings.rejection_cost,
                "how long a worker is busy with each request that is rejected")
      .with_range("0s", "200ms");
  options.needs("queue-order queue-drop", "queue-length!=0");
}

WorkerSettings scaled(WorkerSettings settings, double factor) {
  settings.workers = std::max<std::size_t>(scaled_count(settings.workers, factor), 1);
  settings.queue_length = scaled_count(settings.queue_length, factor);
  settings.order.threshold = scaled_count(settings.order.threshold, factor);
  return settings;
}

}  // namespace retrystorm
