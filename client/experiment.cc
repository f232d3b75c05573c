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
      json_(json),
      out_(out),
      start_(Clock::now()),
      end_(saturating_add(start_, options.duration.value_or(Duration::max()))),
      report_at_(start_ + options.report_interval),
      reported_at_(start_),
      tracker_(start_) {}

void Experiment::run(const EndSignals& signals, ServerProcess* server) {
  server_ = server;
  if (server_ != nullptr) freeze_at_ = saturating_add(start_, *options_.outage_at);
  fleet_.start();

  while (!signals.wait_until(next_event())) {
    const TimePoint now = Clock::now();
    if (now >= report_at_) report();
    if (now >= tracker_.window_end()) close_window();
    if (now >= freeze_at_) freeze();
    if (now >= wake_at_) wake();
    if (now >= end_) break;
  }
  finish();
}

TimePoint Experiment::next_event() const {
  return std::min({report_at_, tracker_.window_end(), freeze_at_, wake_at_, end_});
}

void Experiment::report() {
  const TimePoint now = Clock::now();
  const FleetTotals totals = fleet_.totals();
  const Rates rates = retrystorm::rates(totals.counts - reported_, now - reported_at_);
  out_ << client_line(rates) << std::endl;
  json_.write(client_interval_json(now - start_, rates, totals.in_flight));
  reported_ = totals.counts;
  reported_at_ = now;
  do report_at_ += options_.report_interval;
  while (report_at_ <= now);
}

void Experiment::close_window() {
  tracker_.close_window(Clock::now(), fleet_.totals().counts);
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
  tracker_.outage_begins(now, fleet_.totals().counts);
  json_.write(outage_json(now - start_, "stop"));
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
  const TimePoint now = Clock::now();
  tracker_.outage_ends(now, fleet_.totals().counts);
  json_.write(outage_json(now - start_, "continue"));
  std::cerr << "server awake\n";
}

void Experiment::finish() {
  if (tracker_.in_outage()) wake();
  const TimePoint now = Clock::now();
  const Counts counts = fleet_.totals().counts;
  fleet_.stop();
  const FleetHistory& history = fleet_.history();
  const Summary summary{.strategy = options_.workload.retry.strategy,
                        .clients = options_.workload.clients,
                        .seed = seed_,
                        .elapsed = now - start_,
                        .counts = counts,
                        .recovery = tracker_.recovery(),
                        .latency = history.latency,
                        .retry_metrics = history.retry_metrics,
                        .longest_without_ok = history.longest_without_ok};
  out_ << summary_text(summary) << std::endl;
  json_.write(summary_json(summary));
}

}  // namespace retrystorm
