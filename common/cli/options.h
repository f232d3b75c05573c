// The options that the programs share: one place for each name, default, range and help text.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/run/workload.h"
#include "model/service/service_options.h"

namespace retrystorm {

void add_service_options(CLI::App& app, ServiceOptions& options, Engine engine);
void add_workload_options(CLI::App& app, WorkloadOptions& options);

// The flags that have to do with strategies, for a program whose workload is in a list of its own.
void add_strategy_flags(CLI::App& app, WorkloadOptions& options);

// The clients as the parsed command line has them, but with another strategy: the options that were
// given overrule it as they do its own. Throws std::invalid_argument when there is none of that
// name.
WorkloadOptions workload_with(const CLI::App& app, const std::string& strategy);

// Every option of the list, in its groups. Its `basic` becomes CLI11's group, by which options that
// are declared without a list are put into the short help too (see help.h).
void add_options(CLI::App& app, const OptionList& options);

// Settings that all programs have: `--help`, `--help-all`, `--version`, `--config`,
// `--print-settings`, and errors of one line.
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

// `--trace`, of the programs that run clients.
void add_trace(CLI::App& app, std::size_t& target);

// Throws std::runtime_error when there is no file to which a trace could be written.
void check_trace(std::size_t trace, const std::string& json);

// Calls `set` with the text of an option; what it throws as std::invalid_argument is the usage
// error.
CLI::Option* add_value(CLI::App& app, const std::string& name, const std::string& type,
                       const std::string& default_text, std::function<void(const std::string&)> set,
                       const std::string& help);

// What was given: of one that is given several times and is one text (`Option::separator`), the
// whole. It must have been given.
std::string text_of(const CLI::Option& option);

// Finds an option by its long name without dashes, in the groups too. Null when there is none.
const CLI::Option* find_option(const CLI::App& app, const std::string& name);

// The arguments after the program's name. Long options, which may be written with one dash as Go's
// are, have two.
std::vector<std::string> arguments(int argc, const char* const* argv);

// After parsing: sets what was given once more, in the order in which the options were added. CLI11
// sets what stands in a settings file as it reads it, and a strategy there, or one on the command
// line, would undo what stands before it.
void apply_in_order(CLI::App& app);

// Parses arguments that have two dashes, and applies them in order. Throws CLI::ParseError.
void parse_words(CLI::App& app, const std::vector<std::string>& words);

// Parses `arguments`; returns the exit code when the program is to end (help, version, bad usage).
std::optional<int> parse(CLI::App& app, int argc, const char* const* argv);

// The command line as one would type it: arguments quoted for a shell where they need it, long
// options with two dashes.
std::string command_line(int argc, const char* const* argv);

// Every option with the value in force, named as on the command line but with underscores:
// durations in Go's notation, numbers as numbers, switches as true or false. Options that were not
// given and have no default are left out.
nlohmann::ordered_json options_json(CLI::App& app);

// The same of the clients' options alone.
nlohmann::ordered_json workload_json(WorkloadOptions workload);

}  // namespace retrystorm
