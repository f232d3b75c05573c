// The options that the programs share: one place for each name, default, range and help text.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "common/admission.h"
#include "common/duration.h"
#include "common/retry_policy.h"
#include "common/service_curve.h"

namespace retrystorm {

// The service: its curve, its queues and whom it lets in.
struct ServiceOptions {
  Duration base_delay = std::chrono::milliseconds(100);
  std::size_t limit = 30;
  double factor = 1.05;
  double k = 15;
  std::size_t backlog = 256;
  std::size_t max_connections = 0;  // 0 = as many as there are descriptors
  double rate_limit = 0;
  double rate_burst = 0;
  std::size_t shed_above = 0;

  ServiceCurve curve() const { return {base_delay, limit, factor, k}; }
  AdmissionControl admission() const { return {rate_limit, rate_burst, shed_above}; }
};

// The clients: how many, how busy, how patient, how they retry.
struct WorkloadOptions {
  std::size_t clients = 1000;
  Duration think_time = std::chrono::seconds(10);  // mean
  Duration timeout = std::chrono::seconds(2);
  std::optional<std::uint64_t> seed;  // random when not given
  RetryOptions retry;
};

// How the options of the service are named: where one program has both groups, `--factor` and
// `--report-interval` are the clients'.
enum class Naming { kAlone, kBesideWorkload };

void add_service_options(CLI::App& app, ServiceOptions& options, Naming naming);
void add_workload_options(CLI::App& app, WorkloadOptions& options);

// Settings that all programs have: `--help` in sections, `--version`, `--config`, and errors of
// one line.
void set_up_app(CLI::App& app);

// Single options with checked values. A bad value is refused in one sentence; NaN and infinity
// are bad values.
CLI::Option* add_duration(CLI::App& app, const std::string& name, Duration& target,
                          const std::string& help, Duration least = Duration::zero());
CLI::Option* add_optional_duration(CLI::App& app, const std::string& name,
                                   std::optional<Duration>& target, const std::string& help);
CLI::Option* add_count(CLI::App& app, const std::string& name, std::size_t& target,
                       const std::string& help, std::size_t least, std::size_t most);
CLI::Option* add_number(CLI::App& app, const std::string& name, double& target,
                        const std::string& help, double least, double most);
CLI::Option* add_text(CLI::App& app, const std::string& name, std::string& target,
                      const std::string& help);

// Calls `set` with the text of an option; what it throws as std::invalid_argument is the usage
// error.
CLI::Option* add_value(CLI::App& app, const std::string& name, const std::string& type,
                       const std::string& default_text, std::function<void(const std::string&)> set,
                       const std::string& help);

// Reads a whole number. Throws std::invalid_argument with a sentence for a person.
std::size_t parse_count(const std::string& text, std::size_t least, std::size_t most);

// Parses; returns the exit code when the program is to end (help, version, bad usage).
std::optional<int> parse(CLI::App& app, int argc, const char* const* argv);

// The command line as one would type it: arguments quoted for a shell where they need it.
std::string command_line(int argc, const char* const* argv);

// Every option with the value in force, named as on the command line but with underscores:
// durations in Go's notation, numbers as numbers, switches as true or false. Options that were not
// given and have no default are left out.
nlohmann::ordered_json options_json(const CLI::App& app);

std::string_view to_string(Strategy strategy);
Strategy parse_strategy(const std::string& text);  // throws std::invalid_argument

}  // namespace retrystorm
