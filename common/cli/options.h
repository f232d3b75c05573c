// The options that the programs share: one place for each name, default, range and help text.
#pragma once

#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "common/output/expectation.h"
#include "common/output/style.h"
#include "model/base/duration.h"
#include "model/base/option_list.h"
#include "model/run/outlook.h"
#include "model/run/workload.h"
#include "model/service/service_options.h"

namespace CLI {
class App;
class Option;
class ParseError;
}  // namespace CLI

namespace retrystorm {

void add_service_options(CLI::App& app, ServiceOptions& options, Engine engine);
void add_workload_options(CLI::App& app, WorkloadOptions& options);

// The flags about strategies, for a program that keeps its workload's options in a separate list.
void add_strategy_flags(CLI::App& app, WorkloadOptions& options);

// The options of the list that were given, on the parsed command line or in a settings file, as a
// map from names to texts.
std::map<std::string, std::string, std::less<>> given_options(const CLI::App& app,
                                                              const OptionList& list);

// The workload of the parsed command line, but with another strategy. Options that the user gave
// override the strategy's settings, as on the command line. Throws std::invalid_argument if there
// is no strategy of that name.
WorkloadOptions workload_with(const CLI::App& app, const std::string& strategy);

// The group of options with this title, which is added if it is not there.
CLI::App* option_group(CLI::App& app, const std::string& title);

// Adds every option of the list, in its groups. An option's `basic` becomes its CLI11 group,
// which puts it into the short help of programs without an experiment (see help.h).
void add_options(CLI::App& app, const OptionList& options);

// Leaves an option out of the help and out of what is written about a run. It can still be given, so that
// the program can say why it does not take it.
void hide(CLI::App& app, const std::string& name);

// Adds what all programs have: `--help`, `--help-all`, `--version` and one-line error messages.
void set_up_help(CLI::App& app);

// Does the same, and adds `--config` and `--print-settings`.
void set_up_app(CLI::App& app);

// Single options with checked values. A bad value is refused with a message of one sentence. NaN
// and infinity are bad values.
CLI::Option* add_duration(CLI::App& app, const std::string& name, Duration& target,
                          const std::string& help, Duration least = Duration::zero());
CLI::Option* add_optional_duration(CLI::App& app, const std::string& name,
                                   std::optional<Duration>& target, const std::string& help);
CLI::Option* add_count(CLI::App& app, const std::string& name, std::size_t& target,
                       const std::string& help, std::size_t least, std::size_t most);
CLI::Option* add_number(CLI::App& app, const std::string& name, double& target,
                        const std::string& help, double least, double most);
// An option that may be repeated, of any texts.
CLI::Option* add_repeated(CLI::App& app, const std::string& name, const std::string& type,
                          std::vector<std::string>& target, const std::string& help);
CLI::Option* add_text(CLI::App& app, const std::string& name, std::string& target,
                      const std::string& help);

// The arguments that are names of strategies.
inline constexpr std::string_view kStrategyArguments = "STRATEGIES";

// Adds --format and --output, a second way to say --csv, --markdown, --json and --verbose. Does nothing in a program
// that has declared its own --format.
void add_format(CLI::App& app);

// After parsing: gives the option that --format means. Throws CLI::ValidationError.
void give_format(CLI::App& app);

// Adds `--runs`, `--threads`, and `--csv` with `--markdown`, for the programs that do many runs and
// write tables of them. The last one returns `--csv`.
CLI::Option* add_runs(CLI::App& app, std::size_t& target);
CLI::Option* add_threads(CLI::App& app, std::size_t& target);
CLI::Option* add_table_files(CLI::App& app, std::string& csv, std::string& markdown);
// Adds `--expect`, for claims about these figures.
CLI::Option* add_expectations(CLI::App& app, std::vector<Expectation>& target, const Figures& known,
                              const std::string& help);

// Adds `--quiet`, for the programs that run clients.
void add_quiet(CLI::App& app, bool& target, const std::string& left_out);

// How much is printed, and how it looks.
struct AnswerLook {
  bool verbose = false;
  bool explain = false;  // only what is known without a run; nothing is run
  ColorWish color = ColorWish::kAuto;
};

// Adds `--verbose` and `--color`, for the programs that print an answer of runs.
void add_look(CLI::App& app, AnswerLook& look);

// Adds `--explain` without a word (see `AnswerLook`), for those that have details without a run.
void add_explain_run(CLI::App& app, AnswerLook& look);

// Adds `--trace`, for the programs that run clients.
void add_trace(CLI::App& app, std::size_t& target);

// Throws std::invalid_argument if a trace is wanted but there is no file to write it to.
void check_trace(std::size_t trace, const std::string& json);

// Adds an option that calls `set` with its text. If `set` throws std::invalid_argument, its message
// becomes the usage error.
CLI::Option* add_value(CLI::App& app, const std::string& name, const std::string& type,
                       const std::string& default_text, std::function<void(const std::string&)> set,
                       const std::string& help);

// The value that the user gave. If the option was given several times and is a single text
// (`Option::separator`), this is the whole text. The option must have been given.
std::string text_of(const CLI::Option& option);

// Visits all options, those in groups too.
void each_option(CLI::App& app, const std::function<void(CLI::Option&)>& visit);

// Makes `second` exclude `first` but not the reverse, so that each pair is found once.
void exclude(CLI::Option& second, CLI::Option& first);

// Long options that were typed with one dash, as in Go, with two.
std::string with_two_dashes(const std::string& word);

// Words that are treated before parsing.
inline const std::string kExplain = "--explain";
inline const std::string kExponentialBackoff = "--exponential-backoff";
inline const std::string kExponentialStrategy = "--strategy=exponential";

// Finds an option by its long name without dashes, including those in groups. Null if there is
// none.
const CLI::Option* find_option(const CLI::App& app, const std::string& name);

// After parsing: sets all given options again, in the order in which the options were added. CLI11
// sets options in the order in which it reads them. A strategy, in a settings file or on the
// command line, would otherwise undo the options before it. Throws CLI::ParseError.
void apply_in_order(CLI::App& app);

// The arguments from number `first` on; those before are the program's name. Long options that were
// typed with one dash, as in Go, are returned with two.
std::vector<std::string> arguments(int argc, const char* const* argv, int first = 1);

// Is the option among these arguments, by any of its names? If not, it may be in a settings file.
bool is_typed(const CLI::Option& option, const std::vector<std::string>& words);

// Throws std::invalid_argument if another form of an option was given, too, both on the command line or both in a
// settings file. `app` is parsed.
void refuse_exclusions(CLI::App& app);

// The names of these settings' options that are among the arguments.
template <typename Settings>
std::vector<std::string> typed_options(const CLI::App& app, const std::vector<std::string>& words) {
  Settings any;
  OptionList list;
  declare_options(list, any);
  std::vector<std::string> names;
  for (const Option& option : list.all()) {
    const CLI::Option* given = find_option(app, option.name);
    if (given != nullptr && is_typed(*given, words)) names.push_back(option.name);
  }
  return names;
}

// The command line as a user would type it: arguments are quoted for a shell if necessary, and long
// options have two dashes.
std::string command_line(int argc, const char* const* argv);

// The same without parts that do not change the results: the program's folder, and the options for the
// files, the printed text and the number of threads.
std::string results_command_line(int argc, const char* const* argv);

// Every option with its current value. Names are as on the command line, but with underscores.
// Durations are in Go's notation, numbers are numbers, switches are true or false. Leaves out
// options that were not given and have no default.
nlohmann::ordered_json options_json(CLI::App& app);

// The same for the clients' options only.
nlohmann::ordered_json workload_json(WorkloadOptions workload);

// The options that decide about these rows and were not given, with their defaults: "--rate=100, --timeout=2s". `values`
// are those of `options_json`. Leaves out options that have a value of their own in the rows although they were not given.
std::string assumed_list(const CLI::App& app, const nlohmann::ordered_json& values,
                         const std::vector<OutlookOfRow>& rows,
                         const std::vector<std::string>& set_in_rows = {});

}  // namespace retrystorm
