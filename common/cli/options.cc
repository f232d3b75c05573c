#include "common/cli/options.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <iostream>
#include <memory>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "common/cli/help.h"
#include "common/cli/settings_file.h"
#include "common/os/foreign_file.h"
#include "common/output/json_lines.h"
#include "model/base/text.h"
#include "model/retry/strategies.h"

namespace retrystorm {
namespace {

const std::string kDuration = "DURATION";
const std::string kNumber = "NUMBER";
const std::string kCount = "COUNT";

std::string dashed(const Option& option) {
  std::string names = "--" + option.name;
  for (const std::string& name : option.second_names) names += ",--" + name;
  return names;
}

std::string type_name(Option::Kind kind) {
  const std::array names{kDuration, kNumber, kCount, std::string("NAME"), std::string("VALUE")};
  return names[static_cast<std::size_t>(kind)];
}

const std::string kListStrategies = "--list-strategies";
const std::string kPrintSettings = "--print-settings";
const std::string kGeneral = "General";  // a group of the short help

// An option's value: a duration in Go's notation, a number as a number, null for none.
nlohmann::ordered_json value_json(const std::string& text, const std::string& type) {
  const bool measured = type == kDuration || type == kCount || type == kNumber;
  if (is_none(text) && measured) return nullptr;
  if (type == kDuration) return format_duration(parse_duration(text));
  const std::string plain = measured ? plain_number(text) : text;
  auto number = nlohmann::ordered_json::parse(plain, nullptr, false);
  return number.is_number() ? number : nlohmann::ordered_json(text);
}

// The words of the command line, with two dashes before each long option.
std::vector<std::string> typed_words(int argc, const char* const* argv) {
  std::vector<std::string> words;
  for (int i = 0; i < argc; ++i) {
    words.push_back(with_two_dashes(argv[i]));
    // So that a user can append another strategy to this command line.
    if (words.back() == kExponentialBackoff) words.back() = kExponentialStrategy;
  }
  return words;
}

std::string as_line(const std::vector<std::string>& words) {
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + shell_word(word);
  return line;
}

}  // namespace

// Go's flags have one dash, and readers of the articles type them that way. One dash and a name is
// therefore treated as the long option. The short options, and values such as `-5s` are
// left unchanged.
std::string with_two_dashes(const std::string& word) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const bool short_one = word == "-h" || word == "-v" || word == "-q";
  const bool named = word.size() > 1 && word[0] == '-' && is_letter(word[1]) && !short_one;
  return named ? std::string("-").append(word) : word;
}

void each_option(CLI::App& app, const std::function<void(CLI::Option&)>& visit) {
  for (CLI::Option* option : app.get_options()) visit(*option);
  for (CLI::App* group : app.get_subcommands([](CLI::App*) { return true; })) {
    each_option(*group, visit);
  }
}

void exclude(CLI::Option& second, CLI::Option& first) {
  second.excludes(&first);
  first.remove_excludes(&second);
}

CLI::Option* add_value(CLI::App& app, const std::string& name, const std::string& type,
                       const std::string& default_text, std::function<void(const std::string&)> set,
                       const std::string& help) {
  const std::string shown = name.substr(0, name.find(','));
  auto* option = app.add_option_function<std::string>(
      name,
      [shown, set = std::move(set)](const std::string& text) {
        try {
          set(text);
        } catch (const std::invalid_argument& error) {
          throw CLI::ValidationError(shown, error.what());
        }
      },
      help);
  return option->type_name(type)->default_str(default_text)->take_last();
}

CLI::Option* add_duration(CLI::App& app, const std::string& name, Duration& target,
                          const std::string& help, Duration least) {
  return add_value(
      app, name, kDuration, format_duration(target),
      [&target, least](const std::string& text) { target = parse_duration(text, least); }, help);
}

CLI::Option* add_optional_duration(CLI::App& app, const std::string& name,
                                   std::optional<Duration>& target, const std::string& help) {
  return add_value(
      app, name, kDuration, target ? format_duration(*target) : "",
      [&target](const std::string& text) { target = parse_duration(text, Duration::zero()); },
      help);
}

CLI::Option* add_count(CLI::App& app, const std::string& name, std::size_t& target,
                       const std::string& help, std::size_t least, std::size_t most) {
  return add_value(
      app, name, "COUNT", std::to_string(target),
      [&target, least, most](const std::string& text) { target = parse_count(text, least, most); },
      help);
}

CLI::Option* add_number(CLI::App& app, const std::string& name, double& target,
                        const std::string& help, double least, double most) {
  return add_value(
      app, name, kNumber, print_number(target),
      [&target, least, most](const std::string& text) { target = parse_number(text, least, most); },
      help);
}

CLI::Option* add_text(CLI::App& app, const std::string& name, std::string& target,
                      const std::string& help) {
  return add_value(
      app, name, "TEXT", target, [&target](const std::string& text) { target = text; }, help);
}

CLI::Option* add_repeated(CLI::App& app, const std::string& name, const std::string& type,
                          std::vector<std::string>& target, const std::string& help) {
  return app.add_option(name, target, help)
      ->type_name(type)
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

CLI::Option* add_runs(CLI::App& app, std::size_t& target) {
  return add_count(app, "--runs", target,
                   "how many runs each cell has, with seeds counted up from --seed", 1, 10'000'000);
}

CLI::Option* add_threads(CLI::App& app, std::size_t& target) {
  return add_count(app, "--threads", target, "how many threads share the runs; 0 = one per core", 0,
                   4096);
}

void add_format(CLI::App& app) {
  const CLI::App* whole = app.get_parent() == nullptr ? &app : app.get_parent();
  if (find_option(*whole, "format") != nullptr) return;  // it has its own
  app.add_option("--format", "table, wide, csv, markdown or json, as far as this program has them")
      ->type_name("NAME")
      ->take_last();
  app.add_option("--output", "write what --format says to this file; not given: standard output")
      ->type_name("FILE")
      ->take_last();
}

void give_format(CLI::App& app) {
  struct Format {
    std::string_view name, option;
  };
  // Each is an option of its own, too.
  constexpr std::array kFormats{Format{"table", ""}, Format{"wide", "verbose"},
                                Format{"csv", "csv"}, Format{"markdown", "markdown"},
                                Format{"json", "json"}};
  const CLI::Option* output = find_option(app, "output");
  if (output == nullptr) return;
  const CLI::Option* format = find_option(app, "format");
  const bool to_file = output->count() > 0;
  const std::string name = format->count() > 0 ? format->results().back() : "table";
  const auto found = std::ranges::find(kFormats, name, &Format::name);
  if (found == kFormats.end()) {
    std::vector<std::string_view> names;
    for (const Format& each : kFormats) names.push_back(each.name);
    throw CLI::ValidationError("--format", unknown_name(name, names));
  }
  const bool is_file = found->option != "" && found->option != "verbose";
  if (to_file && !is_file) {
    throw CLI::ValidationError("--output", "give --format=csv, markdown or json with it");
  }
  if (found->option.empty()) return;
  bool known = false;
  each_option(app, [&](CLI::Option& option) {
    if (known || !option.check_lname(std::string(found->option))) return;
    known = true;
    option.clear();
    option.add_result(!is_file ? "true" : to_file ? output->results().back() : "-");
  });
  if (!known) throw CLI::ValidationError("--format", "this program writes no " + name);
}

CLI::Option* add_table_files(CLI::App& app, std::string& csv, std::string& markdown) {
  CLI::Option* added =
      add_text(app, "--csv", csv, "write all columns to this file, as CSV; - = standard output");
  add_text(app, "--markdown", markdown, "write the printed table to this file, as Markdown");
  return added;
}

CLI::Option* add_expectations(CLI::App& app, std::vector<Expectation>& target, const Figures& known,
                              const std::string& help) {
  return app
      .add_option_function<std::vector<std::string>>(
          "--expect",
          [&target, known](const std::vector<std::string>& texts) {
            target.clear();
            for (const std::string& text : texts) {
              try {
                target.push_back(parse_expectation(text, known));
              } catch (const std::invalid_argument& error) {
                throw CLI::ValidationError("--expect", error.what());
              }
            }
          },
          help)
      ->type_name("CLAIM")
      ->expected(1)
      ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
}

void add_quiet(CLI::App& app, bool& target, const std::string& left_out) {
  app.add_flag("-q,--quiet", target, "leave out " + left_out)->group("Run");
}

void add_explain_run(CLI::App& app, AnswerLook& look) {
  app.add_flag("--explain-run", look.explain, "the same as --explain without a word")->group("");
}

void add_look(CLI::App& app, AnswerLook& look) {
  app.add_flag("-v,--verbose", look.verbose, "print all that is known, not the answer alone")
      ->group("Run");
  add_value(
      app, "--color", "WHEN", "auto",
      [&look](const std::string& text) {
        constexpr std::array kNames{"auto", "always", "never"};
        const auto found = std::find(kNames.begin(), kNames.end(), text);
        if (found == kNames.end()) refuse(unknown_name(text, {"auto", "always", "never"}));
        look.color = static_cast<ColorWish>(found - kNames.begin());
      },
      "auto (on a terminal, unless NO_COLOR is set), always or never");
}

void add_trace(CLI::App& app, std::size_t& target) {
  add_count(app, "--trace", target,
            "record every attempt of the first COUNT requests that begin during the outage "
            "(without one: during the run) in the file of --json",
            0, 1'000'000);
}

void check_trace(std::size_t trace, const std::string& json) {
  if (trace > 0 && json.empty()) refuse("--trace writes to the file of --json: give one");
}

void add_service_options(CLI::App& app, ServiceOptions& options, Engine engine) {
  OptionList list;
  declare_options(list, options, engine);
  add_options(app, list);
}

CLI::App* option_group(CLI::App& app, const std::string& title) {
  for (CLI::App* group : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (group->get_name().empty() && group->get_group() == title) return group;
  }
  return app.add_option_group(title);
}

void add_options(CLI::App& app, const OptionList& options) {
  for (const Option& option : options.all()) {
    CLI::App* group = option_group(app, option.group);
    std::string help = option.help;
    if (!option.choices.empty()) {
      help += ": ";
      for (const auto choice : option.choices) help.append(choice).append(", ");
      help.resize(help.size() - 2);
    }
    // The displayed default is the current value, even after a named strategy has changed it.
    const auto set = [set = option.set](const std::string& text) {
      // Such an option is empty as long as it is not given.
      if (text.empty()) refuse("it is empty: leave it out, or give a value");
      set(text);
    };
    auto* added = add_value(*group, dashed(option), type_name(option.kind), option.get(), set, help)
                      ->default_function(option.get);
    if (!option.basic.empty()) added->group(option.basic);
    if (option.separator != 0) added->join(option.separator);
    if (!option.same_as.empty()) {
      exclude(*added, *app.get_option_no_throw("--" + option.same_as));
    }
  }
}

void add_workload_options(CLI::App& app, WorkloadOptions& options) {
  OptionList list;
  declare_options(list, options);
  add_options(app, list);
  add_strategy_flags(app, options);
}

void add_strategy_flags(CLI::App& app, WorkloadOptions& options) {
  // Only for settings files: on the command line, the flag is replaced before parsing.
  auto* flag = app.add_flag_callback(
      kExponentialBackoff, [&retry = options.retry] { retry = retry_settings("exponential"); },
      "the same as --strategy=exponential");
  exclude(*flag, *app.get_option("--strategy"));
  auto* list_strategies = app.add_flag_callback(
      kListStrategies,
      [] {
        for (const NamedStrategy& each : named_strategies()) {
          std::cout << each.name << "\n    " << each.summary << "\n    " << each.source << "\n    "
                    << each.date << "\n    connections: " << each.connections << '\n';
        }
        throw CLI::Success();
      },
      "print the named strategies with their sources, and exit");
  list_strategies->group(kGeneral);
}

std::string text_of(const CLI::Option& option) {
  return option.get_multi_option_policy() == CLI::MultiOptionPolicy::Join
             ? CLI::detail::join(
                   option.results(), [](std::string part) { return CLI::detail::trim(part); },
                   option.get_delimiter() == ' ' ? " "
                                                 : std::string(1, option.get_delimiter()) + ' ')
             : option.results().back();
}

const CLI::Option* find_option(const CLI::App& app, const std::string& name) {
  // CLI11's own search copies the name for each option that it looks at: a third of a short run's time.
  const std::string bare = name.starts_with("--") ? name.substr(2) : name;
  std::vector<const CLI::App*> groups = app.get_subcommands([](const CLI::App*) { return true; });
  groups.insert(groups.begin(), &app);
  for (const CLI::App* group : groups) {
    for (const CLI::Option* option : group->get_options()) {
      const auto& names = option->get_lnames();
      if (std::find(names.begin(), names.end(), bare) != names.end()) return option;
    }
  }
  return nullptr;
}

std::map<std::string, std::string, std::less<>> given_options(const CLI::App& app,
                                                              const OptionList& list) {
  std::map<std::string, std::string, std::less<>> options;
  for (const Option& option : list.all()) {
    const CLI::Option* given = find_option(app, option.name);
    if (given != nullptr && given->count() > 0) options.emplace(option.name, text_of(*given));
  }
  // A settings file may have the flag.
  const CLI::Option* flag = find_option(app, kExponentialBackoff);
  if (flag != nullptr && flag->count() > 0 && flag->as<bool>()) {
    options.emplace("strategy", "exponential");
  }
  return options;
}

WorkloadOptions workload_with(const CLI::App& app, const std::string& strategy) {
  WorkloadOptions workload;
  OptionList list;
  declare_options(list, workload);
  list.set("strategy", strategy);
  for (const Option& option : list.all()) {
    if (option.name == "strategy") continue;
    const CLI::Option* given = find_option(app, option.name);
    if (given != nullptr && given->count() > 0) option.set(text_of(*given));
  }
  return workload;
}

void hide(CLI::App& app, const std::string& name) {
  each_option(app, [&name](CLI::Option& option) {
    if (option.check_lname(name)) option.group("");
  });
}

void set_up_help(CLI::App& app) {
  app.set_help_flag("-h,--help", "print the most common options, and exit")->group(kGeneral);
  app.set_help_all_flag("--help-all", "print more options, and exit")->group(kGeneral);
  app.add_flag_callback(
         "--help-full",
         [&app] {
           std::cout << app.help("", CLI::AppFormatMode::Sub);
           throw CLI::Success();
         },
         "print every option with all of its names, and exit")
      ->group(kGeneral);
  app.set_version_flag("--version", version_text(), "print the version, and exit")->group(kGeneral);
  app.add_option_function<std::vector<std::string>>(
         kExplain,
         [&app](const std::vector<std::string>& words) {  // without quotes
           std::string word;
           for (const std::string& each : words) word += (word.empty() ? "" : " ") + each;
           try {
             std::cout << explain(app, word);
           } catch (const std::invalid_argument& error) {
             try {  // several, with quotes where one has a blank
               if (words.size() == 1) throw;
               std::string text;
               for (const std::string& each : words) text += explain(app, each);
               std::cout << text;
             } catch (const std::invalid_argument&) {
               throw CLI::ValidationError(kExplain, error.what());
             }
           }
           throw CLI::Success();
         },
         "print what a word, an option or a value means, and exit")
      ->type_name("WORD")
      ->group(kGeneral);
  app.formatter(std::make_shared<HelpFormatter>());
}

void set_up_app(CLI::App& app) {
  set_up_help(app);
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.config_formatter(settings_reader(app));
  app.set_config("--config", "", "read options from this file (INI or TOML, names as here)")
      ->check([](const std::string& path) {  // CLI11 would open it, whatever it is
        if (!is_plain_file(path)) throw CLI::FileError("--config: cannot read " + in_quotes(path));
        return std::string();
      })
      ->type_name("FILE")
      ->group(kGeneral);
  const std::string meaning = "print the settings in force as a file for --config, and exit";
  app.add_flag(kPrintSettings, meaning)->group(kGeneral);
}

void apply_in_order(CLI::App& app) {
  each_option(app, [](CLI::Option& option) {
    if (option.count() > 0) option.run_callback();
  });
}

void refuse_exclusions(CLI::App& app) {
  each_option(app, [](const CLI::Option& second) {
    if (second.count() == 0) return;
    for (const CLI::Option* first : second.get_excludes()) {
      if (first->count() == 0) continue;
      refuse("--" + second.get_single_name() + " excludes --" + first->get_single_name() +
             ": give one of them");
    }
  });
}

bool is_typed(const CLI::Option& option, const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [&option](const std::string& word) {
    return word.starts_with("--") && option.check_lname(word.substr(2, word.find('=') - 2));
  });
}

std::vector<std::string> arguments(int argc, const char* const* argv, int first) {
  std::vector<std::string> words;
  for (int i = first; i < argc; ++i) {
    words.push_back(with_two_dashes(argv[i]));
    // CLI11 would take the next word for the value of "--chain=".
    if (!words.back().starts_with("--") || words.back().find('=') != words.back().size() - 1)
      continue;
    words.back().pop_back();
    words.emplace_back();
  }
  return words;
}

std::string command_line(int argc, const char* const* argv) {
  return as_line(typed_words(argc, argv));
}

std::string results_command_line(int argc, const char* const* argv) {
  static const std::set<std::string> kWithValue{"--csv",         "--format", "--json",
                                                "--markdown",    "--output", "--picture-data",
                                                "--server-json", "--threads"};
  static const std::set<std::string> kFlags{"--quiet", "--wide", "-q"};
  const std::vector<std::string> words = typed_words(argc, argv);
  std::vector<std::string> kept;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i == 0) {
      kept.push_back(words[i].substr(words[i].rfind('/') + 1));
      continue;
    }
    const std::string name = words[i].substr(0, words[i].find('='));
    if (kWithValue.contains(name)) {
      if (name == words[i]) ++i;  // its value is the next word
    } else if (!kFlags.contains(name)) {
      kept.push_back(words[i]);
    }
  }
  return as_line(kept);
}

nlohmann::ordered_json workload_json(WorkloadOptions workload) {
  auto values = nlohmann::ordered_json::object();
  OptionList list;
  declare_options(list, workload);
  for (const Option& option : list.all()) {
    const std::string text = option.get();
    if (!text.empty()) values[underscored(option.name)] = value_json(text, type_name(option.kind));
  }
  return values;
}

nlohmann::ordered_json options_json(CLI::App& app) {
  auto values = nlohmann::ordered_json::object();
  for (CLI::Option* option : app.get_options()) {
    if (!is_setting(*option)) continue;
    const std::string name = underscored(option->get_single_name());
    if (option->get_expected_max() == 0) {
      values[name] = option->count() > 0;
      continue;
    }
    if (option->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll ||
        option->get_positional()) {
      if (option->count() > 0) values[name] = option->results();  // all of its values count
      continue;
    }
    option->capture_default_str();  // a named strategy may have changed it
    const std::string text = option->count() > 0 ? text_of(*option) : option->get_default_str();
    if (text.empty()) continue;
    values[name] = value_json(text, option->get_type_name());
  }
  const auto is_group = [](CLI::App* sub) { return sub->get_name().empty(); };
  for (CLI::App* group : app.get_subcommands(is_group)) values.update(options_json(*group));
  return values;
}

std::string assumed_list(const CLI::App& app, const nlohmann::ordered_json& values,
                         const std::vector<OutlookOfRow>& rows,
                         const std::vector<std::string>& set_in_rows) {
  std::vector<std::string> done = set_in_rows;
  std::string text;
  for (const OutlookOfRow& row : rows) {
    for (const std::string& name : deciding_options(row.outlook)) {
      if (std::find(done.begin(), done.end(), name) != done.end()) continue;
      done.push_back(name);
      const CLI::Option* option = find_option(app, name);
      const auto value = values.find(underscored(name));
      if (option == nullptr || option->count() > 0 || value == values.end()) continue;
      text += (text.empty() ? "--" : ", --") + name + '=';
      text += value->is_string() ? value->get<std::string>()
              : value->is_null() ? std::string(kNoneWord)
                                 : value->dump();
    }
  }
  return text;
}

}  // namespace retrystorm
