#include "simulator/options.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace retrystorm {
namespace {

constexpr double kLargest = 1e9;

std::size_t scaled(std::size_t count, double scale) {
  return static_cast<std::size_t>(std::llround(static_cast<double>(count) * scale));
}

}  // namespace

void add_simulator_options(CLI::App& app, SimulatorOptions& options) {
  auto* run = app.add_option_group("Run");
  add_duration(*run, "--outage-at", options.outage_at, "freeze the server at this time");
  add_duration(*run, "--outage-for", options.outage_for, "wake it after this time; 0s = no outage");
  add_duration(*run, "--observe", options.observe, "end so long after the outage");
  add_number(*run, "--scale", options.scale,
             "multiplies clients, rate, limit, k, backlog, connections and the rate and shedding "
             "limits: the same physics, larger",
             1e-3, 1e6);
  add_value(
      *run, "--arrivals", "NAME", "closed",
      [&options](const std::string& text) {
        if (text != "closed" && text != "open") {
          throw std::invalid_argument("'" + text + "' is not known: choose closed or open");
        }
        options.arrivals = text == "open" ? Arrivals::kOpen : Arrivals::kClosed;
      },
      "closed: clients think after each success; open: requests arrive at --rate, whatever the "
      "server does");
  add_number(*run, "--rate", options.rate, "open arrivals: requests a second (Poisson)", 1e-3,
             kLargest);
  add_value(
      *run, "--abandoned", "NAME", "serve",
      [&options](const std::string& text) {
        if (text == "serve") {
          options.abandoned = Abandoned::kServe;
        } else if (text == "skip") {
          options.abandoned = Abandoned::kSkip;
        } else if (text == "cancel") {
          options.abandoned = Abandoned::kCancel;
        } else {
          throw std::invalid_argument("'" + text + "' is not known: choose serve, skip or cancel");
        }
      },
      "requests whose client has hung up are served, skipped when accepted, or cancelled at once");

  add_count(*run, "--syn-linear-timeouts", options.syn_linear_timeouts,
            "the clients' kernel repeats a dropped SYN after 1 s so many times and once more, then "
            "after 2, 4, ... s: as Linux's sysctl tcp_syn_linear_timeouts; 0 = before Linux 6.5",
            0, 255);

  auto* many = app.add_option_group("Many runs");
  add_count(*many, "--runs", options.runs, "runs of each cell, with seeds counted up from --seed",
            1, 10'000'000);
  add_count(*many, "--threads", options.threads, "threads that share the runs; 0 = one a core", 0,
            4096);
  many->add_option("--sweep", options.sweeps,
                   "NAME=V1,V2,... or NAME=FROM:TO:STEP: a cell for each value; repeated: a cell "
                   "for each combination")
      ->type_name("TEXT")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  add_text(*many, "--csv", options.csv, "write the table to this file");

  auto* report = app.add_option_group("Report");
  add_duration(*report, "--report-interval", options.report_interval,
               "virtual time between the lines", std::chrono::milliseconds(1));
  add_duration(*report, "--server-report-interval", options.server_report_interval,
               "virtual time between the server's lines", std::chrono::milliseconds(1));
  report->add_flag("--server-lines", options.server_lines, "print the server's lines too");
  add_text(*report, "--json", options.json, "write JSON Lines to this file");
  add_text(*report, "--server-json", options.server_json,
           "write the server's JSON Lines to this file");

  add_workload_options(app, options.workload);
  add_service_options(app, options.service, Naming::kBesideWorkload);
}

Scenario make_scenario(const SimulatorOptions& options, std::uint64_t seed) {
  Scenario scenario{.service = options.service,
                    .workload = options.workload,
                    .seed = seed,
                    .arrivals = options.arrivals,
                    .rate = options.rate * options.scale,
                    .abandoned = options.abandoned,
                    .syn_linear_timeouts = options.syn_linear_timeouts,
                    .outage_for = options.outage_for,
                    .length = saturating_add(options.outage_at,
                                             saturating_add(options.outage_for, options.observe)),
                    .report_interval = options.report_interval,
                    .server_report_interval = options.server_report_interval};
  if (options.outage_for > Duration::zero()) scenario.outage_at = options.outage_at;

  const double scale = options.scale;
  ServiceOptions& service = scenario.service;
  service.max_connections = service.max_connections == 0
                                ? std::numeric_limits<std::size_t>::max()
                                : std::max<std::size_t>(scaled(service.max_connections, scale), 1);
  service.limit = scaled(service.limit, scale);
  service.k *= scale;
  service.backlog = scaled(service.backlog, scale);
  service.rate_limit *= scale;
  service.rate_burst *= scale;
  // 0 would let in everybody.
  if (service.shed_above > 0) {
    service.shed_above = std::max<std::size_t>(scaled(service.shed_above, scale), 1);
  }
  scenario.workload.clients = std::max<std::size_t>(scaled(scenario.workload.clients, scale), 1);
  return scenario;
}

double memory_needed(const Scenario& scenario) {
  constexpr double kClient = 160;     // its state, its wait, its timeouts
  constexpr double kConnection = 32;  // its place in the service queue
  const double seconds = to_seconds(scenario.length);
  const double clients = scenario.arrivals == Arrivals::kClosed
                             ? static_cast<double>(scenario.workload.clients)
                             : scenario.rate * seconds;
  // Attempts that time out can fill the server, but no faster than the clients send them.
  const double attempts =
      clients * (seconds / std::max(to_seconds(scenario.workload.timeout), 1e-3) + 1);
  constexpr double kBucket = 8;  // of the wait queue, at least one for each four seconds
  return clients * kClient + seconds / 4 * kBucket +
         std::min(static_cast<double>(scenario.service.max_connections), attempts) * kConnection;
}

}  // namespace retrystorm
