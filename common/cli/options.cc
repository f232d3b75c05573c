#include "common/cli/options.h"

#include <algorithm>
#include <cstring>
#include <iostream>
#include <memory>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "common/cli/help.h"
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
  switch (kind) {
    case Option::Kind::kDuration:
      return kDuration;
    case Option::Kind::kNumber:
      return kNumber;
    case Option::Kind::kCount:
      return kCount;
    case Option::Kind::kChoice:
      return "NAME";
    case Option::Kind::kText:
      return "VALUE";
  }
  return "";
}

const std::string kListStrategies = "--list-strategies";
const std::string kPrintSettings = "--print-settings";
const std::string kGeneral = "General";  // of the short help
const std::string kExponentialBackoff = "--exponential-backoff";
const std::string kExponentialStrategy = "--strategy=exponential";

// Go's flags take one dash, and so do the articles' readers: a word of one dash and a name is meant
// as the long option. `-h`, the one short option, and values such as `-5s` stay what they are.
std::string with_two_dashes(const std::string& word) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); };
  const bool named = word.size() > 1 && word[0] == '-' && is_letter(word[1]) && word != "-h";
  return named ? std::string("-").append(word) : word;
}

// An option's value: a duration in Go's notation, a number as a number, null for none.
nlohmann::ordered_json value_json(const std::string& text, const std::string& type) {
  const bool measured = type == kDuration || type == kCount || type == kNumber;
  if (text == kNoneWord && measured) return nullptr;
  if (type == kDuration) return format_duration(parse_duration(text));
  auto number = nlohmann::ordered_json::parse(text, nullptr, false);
  return number.is_number() ? number : nlohmann::ordered_json(text);
}

// The article's flag is another word for a strategy: with one of its own it contradicts itself.
void replace_exponential_backoff(std::vector<std::string>& arguments) {
  const auto flag = std::find(arguments.begin(), arguments.end(), kExponentialBackoff);
  if (flag == arguments.end()) return;
  const bool named = std::any_of(arguments.begin(), arguments.end(), [](const std::string& each) {
    return each == "--strategy" || each.starts_with("--strategy=");
  });
  if (named) throw CLI::ExcludesError(kExponentialBackoff, "--strategy");
  std::replace(flag, arguments.end(), kExponentialBackoff, kExponentialStrategy);
}

template <typename Visit>
void each_option(CLI::App& app, const Visit& visit) {
  for (CLI::Option* option : app.get_options()) visit(*option);
  for (CLI::App* group : app.get_subcommands([](CLI::App*) { return true; })) {
    each_option(*group, visit);
  }
}

// Of two options that say the same thing in two forms, CLI11 refuses both (see `add_options`). But
// what was typed overrules what stands in a settings file, in whichever form: while one of these
// lives, CLI11 lets that pass.
class TypedForms {
 public:
  TypedForms(CLI::App& app, const std::vector<std::string>& words) {
    each_option(app, [&](CLI::Option& second) {
      for (CLI::Option* first : second.get_excludes()) {
        const bool typed = is_typed(second, words);
        if (typed == is_typed(*first, words)) continue;
        overruled_.push_back({&second, first, typed ? first : &second});
      }
    });
    for (const Overruled& each : overruled_) each.second->remove_excludes(each.first);
  }
  ~TypedForms() {
    for (const Overruled& each : overruled_) exclude(*each.second, *each.first);
  }
  TypedForms(const TypedForms&) = delete;
  TypedForms& operator=(const TypedForms&) = delete;

  // After parsing: forgets what a file says in the other form.
  void overrule_files() const {
    for (const Overruled& each : overruled_) each.forgotten->clear();
  }

  // One way only, so that each pair is found once.
  static void exclude(CLI::Option& second, CLI::Option& first) {
    second.excludes(&first);
    first.remove_excludes(&second);
  }

 private:
  struct Overruled {
    CLI::Option* second;
    CLI::Option* first;
    CLI::Option* forgotten;
  };

  static bool is_typed(const CLI::Option& option, const std::vector<std::string>& words) {
    return std::any_of(words.begin(), words.end(), [&option](const std::string& word) {
      return word.starts_with("--") && option.check_lname(word.substr(2, word.find('=') - 2));
    });
  }

  std::vector<Overruled> overruled_;
};

// The name of an option that was used: an error that speaks of another one puzzles.
std::string as_typed(const CLI::Option& option, int argc, const char* const* argv) {
  for (int i = argc - 1; i > 0; --i) {
    const std::string word = with_two_dashes({argv[i], std::strcspn(argv[i], "=")});
    if (word.starts_with("--") && option.check_lname(word.substr(2))) return word;
  }
  return "--" + option.get_single_name();
}

}  // namespace

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

void add_trace(CLI::App& app, std::size_t& target) {
  add_count(app, "--trace", target,
            "tell the first so many requests that begin in the outage (without one: in the run) "
            "attempt by attempt, in the file of --json",
            0, 1'000'000);
}

void check_trace(std::size_t trace, const std::string& json) {
  if (trace > 0 && json.empty()) {
    throw std::runtime_error("--trace writes to the file of --json: give one");
  }
}

void add_service_options(CLI::App& app, ServiceOptions& options, Engine engine) {
  OptionList list;
  declare_options(list, options, engine);
  add_options(app, list);
}

void add_options(CLI::App& app, const OptionList& options) {
  CLI::App* group = nullptr;
  std::string title;
  for (const Option& option : options.all()) {
    if (group == nullptr || title != option.group) {
      title = option.group;
      group = app.add_option_group(title);
    }
    std::string help = option.help;
    if (!option.choices.empty()) {
      help += ": ";
      for (const auto choice : option.choices) help.append(choice).append(", ");
      help.resize(help.size() - 2);
    }
    // What it says it is in force, also when a named strategy has changed it since.
    auto* added =
        add_value(*group, dashed(option), type_name(option.kind), option.get(), option.set, help)
            ->default_function(option.get);
    if (!option.basic.empty()) added->group(option.basic);
    if (option.separator != 0) added->join(option.separator);
    if (!option.same_as.empty()) {
      TypedForms::exclude(*added, *app.get_option_no_throw("--" + option.same_as));
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
  // On the command line it is replaced before anything is parsed: this is for settings files.
  app.add_flag_callback(
      kExponentialBackoff, [&retry = options.retry] { retry = retry_settings("exponential"); },
      "the same as --strategy=exponential");
  auto* list_strategies = app.add_flag_callback(
      kListStrategies,
      [] {
        for (const NamedStrategy& each : named_strategies()) {
          std::cout << each.name << "\n    " << each.summary << "\n    " << each.source << "\n    "
                    << each.date << '\n';
        }
        throw CLI::Success();
      },
      "print the named strategies with their sources, and exit");
  list_strategies->group(kGeneral);
}

std::string text_of(const CLI::Option& option) {
  return option.get_multi_option_policy() == CLI::MultiOptionPolicy::Join
             ? CLI::detail::join(option.results(), std::string(1, option.get_delimiter()) + ' ')
             : option.results().back();
}

const CLI::Option* find_option(const CLI::App& app, const std::string& name) {
  const std::string dashed = name.starts_with("--") ? name : "--" + name;
  if (const auto* option = app.get_option_no_throw(dashed)) return option;
  for (const CLI::App* group : app.get_subcommands([](const CLI::App*) { return true; })) {
    if (const auto* option = group->get_option_no_throw(dashed)) return option;
  }
  return nullptr;
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

void set_up_app(CLI::App& app) {
  app.set_help_flag("-h,--help", "print what most people need, and exit")->group(kGeneral);
  app.set_help_all_flag("--help-all", "print every option with its second names, and exit")
      ->group(kGeneral);
  app.set_version_flag("--version", "retrystorm " RETRYSTORM_VERSION, "print the version, and exit")
      ->group(kGeneral);
  app.allow_config_extras(CLI::config_extras_mode::error);
  app.set_config("--config", "", "read options from this file (INI or TOML; named as here)")
      ->type_name("FILE")
      ->group(kGeneral);
  const std::string meaning = "print the settings in force as a file for --config, and exit";
  app.add_flag(kPrintSettings, meaning)->group(kGeneral);
  app.formatter(std::make_shared<HelpFormatter>());
  app.failure_message([](const CLI::App*, const CLI::Error& error) {
    std::string line = error.what();
    line.resize(std::min(line.size(), line.find('\n')));
    return line + " (see --help)\n";
  });
}

void apply_in_order(CLI::App& app) {
  each_option(app, [](CLI::Option& option) {
    if (option.count() > 0) option.run_callback();
  });
}

void parse_words(CLI::App& app, const std::vector<std::string>& words) {
  const TypedForms forms(app, words);
  app.parse(std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 wants it from the end
  forms.overrule_files();
  apply_in_order(app);
}

std::vector<std::string> arguments(int argc, const char* const* argv) {
  std::vector<std::string> words;
  for (int i = 1; i < argc; ++i) words.push_back(with_two_dashes(argv[i]));
  return words;
}

std::optional<int> parse(CLI::App& app, int argc, const char* const* argv) {
  try {
    std::vector<std::string> words = arguments(argc, argv);
    replace_exponential_backoff(words);
    if (argc > 0) app.name(argv[0]);
    parse_words(app, words);
    return std::nullopt;
  } catch (const CLI::ParseError& error) {
    const std::string line = error.what();
    const std::size_t colon = std::min(line.find(':'), line.size());
    const CLI::Option* refused = find_option(app, line.substr(0, colon));
    if (refused == nullptr || error.get_exit_code() == 0) return app.exit(error);
    std::cerr << as_typed(*refused, argc, argv) << line.substr(colon) << " (see --help)\n";
    return error.get_exit_code();
  }
}

std::string command_line(int argc, const char* const* argv) {
  std::string line;
  for (int i = 0; i < argc; ++i) {
    std::string word = with_two_dashes(argv[i]);
    // So that another strategy can be put behind it.
    if (word == kExponentialBackoff) word = kExponentialStrategy;
    line += (i == 0 ? "" : " ") + shell_word(word);
  }
  return line;
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
    const std::string flag = "--" + option->get_single_name();
    const std::string name = underscored(option->get_single_name());
    // What the article's flag asks for is in the strategy.
    if (option == app.get_help_ptr() || option == app.get_help_all_ptr() ||
        option == app.get_version_ptr() || option == app.get_config_ptr() ||
        flag == kExponentialBackoff || flag == kListStrategies || flag == kPrintSettings) {
      continue;
    }
    if (option->get_expected_max() == 0) {
      values[name] = option->count() > 0;
      continue;
    }
    if (option->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll) {
      if (option->count() > 0) values[name] = option->results();  // each of them counts
      continue;
    }
    option->capture_default_str();  // as a named strategy may have changed it
    const std::string text = option->count() > 0 ? text_of(*option) : option->get_default_str();
    if (text.empty()) continue;
    const std::string type = option->get_type_name();
    values[name] = value_json(text, type);
  }
  for (CLI::App* group : app.get_subcommands([](CLI::App* sub) {
         return sub->get_name().empty();  // option groups are nameless
       })) {
    values.update(options_json(*group));
  }
  return values;
}

}  // namespace retrystorm
