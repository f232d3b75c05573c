#include "client/experiment.h"

#include <algorithm>
#include <exception>
#include <iostream>

namespace retrystorm {

Experiment::Experiment(const ClientOptions& options, std::uint64_t seed, Fleet& fleet,
                       JsonLines& json, std::ostream& out)
    : options_(options),
      seed_(seed),
      fleet_(fleet),
      start_(Clock::now()),
      end_(saturating_add(start_, options.duration.value_or(Duration::max()))),
      recorder_(start_, options.report_interval, {.lines = &out, .json = &json}) {}

void Experiment::run(const EndSignals& signals, ServerProcess* server) {
  server_ = server;
  if (server_ != nullptr) freeze_at_ = saturating_add(start_, *options_.outage_at);
  fleet_.start();

  while (!signals.wait_until(next_event())) {
    const TimePoint now = Clock::now();
    if (now >= recorder_.next_tick()) {
      const FleetTotals totals = fleet_.totals();
      recorder_.tick(now, totals.counts, totals.in_flight);
    }
    if (now >= freeze_at_) freeze();
    if (now >= wake_at_) wake();
    if (now >= end_) break;
  }
  finish();
}

TimePoint Experiment::next_event() const {
  return std::min({recorder_.next_tick(), freeze_at_, wake_at_, end_});
}

void Experiment::freeze() {
  freeze_at_ = TimePoint::max();
  try {
    server_->freeze();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';  // the server has ended: there is nothing to freeze
    return;
  }
  const TimePoint now = Clock::now();
  recorder_.outage_begins(now, fleet_.totals().counts);
  std::cerr << "server frozen for " << format_duration(*options_.outage_for) << '\n';
  wake_at_ = saturating_add(now, *options_.outage_for);
}

void Experiment::wake() {
  wake_at_ = TimePoint::max();
  try {
    server_->wake();
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return;
  }
  recorder_.outage_ends(Clock::now(), fleet_.totals().counts);
  std::cerr << "server awake\n";
}

void Experiment::finish() {
  if (recorder_.in_outage()) wake();
  const TimePoint now = Clock::now();
  const Counts counts = fleet_.totals().counts;
  fleet_.stop();
  const FleetHistory& history = fleet_.history();
  recorder_.summarize({.strategy = options_.workload.retry.strategy,
                       .clients = options_.workload.clients,
                       .seed = seed_,
                       .elapsed = now - start_,
                       .counts = counts,
                       .recovery = recorder_.end(now, counts),
                       .latency = history.latency,
                       .retry_metrics = history.retry_metrics,
                       .longest_without_ok = history.longest_without_ok});
}

}  // namespace retrystorm
