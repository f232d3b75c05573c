#include "common/cli/program.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <cctype>
#include <csignal>
#include <cstring>
#include <exception>
#include <filesystem>
#include <iostream>
#include <new>
#include <set>
#include <sstream>
#include <stdexcept>
#include <string_view>
#include <system_error>
#include <utility>

#include "common/cli/help.h"
#include "common/cli/settings_file.h"
#include "common/exit_code.h"
#include "common/output/output_queue.h"
#include "model/base/text.h"
#include "model/retry/strategies.h"
#include "model/run/workload.h"

namespace retrystorm {

int run_program(const std::string& about, const std::string& thrift, int argc,
                const char* const* argv, const ProgramSteps& steps, const std::string& example,
                int first) {
  // Without this, a write beyond the limit on the length of files (ulimit -f) would end the program.
  // Now it fails like a write to a full disk.
  std::signal(SIGXFSZ, SIG_IGN);
  const PlainText out(std::cout), err(std::cerr);
  CLI::App app(about);
  app.footer(example);
  set_up_app(app);
  steps.declare(app);
  const Invocation invocation{app, command_line(argc, argv), results_command_line(argc, argv),
                              arguments(argc, argv, first)};
  if (const auto code = parse(app, argc, argv, first)) return *code;
  try {
    refuse_exclusions(app);
    if (steps.check) steps.check(invocation);
    if (wants_settings(app)) {
      CLI::App default_app;
      set_up_app(default_app);
      steps.declare_defaults(default_app);
      print_settings(std::cout, app, default_app);
      return flush_standard_output() ? kExitHolds : kExitFault;
    }
    return steps.work(invocation);
  } catch (const std::bad_alloc&) {
    std::cerr << "there is not enough memory: " << thrift << ", or a higher limit (ulimit -v)\n";
    return kExitFault;
  } catch (const std::system_error& error) {
    if (error.code() == std::errc::resource_unavailable_try_again) {
      std::cerr << "the system gives this program no more threads: " << thrift
                << ", or higher limits (ulimit -u, ulimit -v)\n";
    } else {
      std::cerr << error.what() << '\n';
    }
    return kExitFault;
  } catch (const std::invalid_argument& error) {
    std::cerr << as_typed(app, error.what(), argc, argv);
    return kExitWrongOptions;
  } catch (const UnreadableFile& error) {
    std::cerr << error.what() << '\n';
    return kExitUnreadable;
  } catch (const std::exception& error) {
    std::cerr << error.what() << '\n';
    return kExitFault;
  }
}

namespace {

// The article's flag `--exponential-backoff` stands for a strategy. Beside `--strategy` it is left as it is, and
// refused (see `refuse_exclusions`).
void replace_exponential_backoff(std::vector<std::string>& arguments) {
  const auto flag = std::ranges::find(arguments, kExponentialBackoff);
  const bool named = std::ranges::any_of(arguments, [](const std::string& each) {
    return each == "--strategy" || each.starts_with("--strategy=");
  });
  if (!named) std::replace(flag, arguments.end(), kExponentialBackoff, kExponentialStrategy);
}

// Some settings have two options, in two forms (see `add_options`). CLI11 would refuse both also where one is typed and
// the other is in a settings file, which the command line overrides in either form. While an object of this class
// exists, it accepts all; `refuse_exclusions` finds afterwards what is left.
class TwoForms {
 public:
  explicit TwoForms(CLI::App& app) {
    each_option(app, [this](CLI::Option& second) {
      for (CLI::Option* first : second.get_excludes()) pairs_.emplace_back(&second, first);
    });
    for (const auto& [second, first] : pairs_) second->remove_excludes(first);
  }
  ~TwoForms() {
    for (const auto& [second, first] : pairs_) exclude(*second, *first);
  }
  TwoForms(const TwoForms&) = delete;
  TwoForms& operator=(const TwoForms&) = delete;

  // The other forms of this option.
  std::vector<CLI::Option*> others(const CLI::Option& option) const {
    std::vector<CLI::Option*> others;
    for (const auto& [second, first] : pairs_) {
      if (second == &option) others.push_back(first);
      if (first == &option) others.push_back(second);
    }
    return others;
  }

  // After parsing: clears the file's value of what was typed in the other form.
  void overrule_files(const std::vector<std::string>& words) const {
    for (const auto& [second, first] : pairs_) {
      const bool typed = is_typed(*second, words);
      if (typed != is_typed(*first, words)) (typed ? first : second)->clear();
    }
  }

 private:
  std::vector<std::pair<CLI::Option*, CLI::Option*>> pairs_;
};

// The name of an option as the user typed it.
std::string typed_name(const CLI::Option& option, int argc, const char* const* argv) {
  for (int i = argc - 1; i > 0; --i) {
    const std::string word = with_two_dashes({argv[i], std::strcspn(argv[i], "=")});
    if (word.starts_with("--") && option.check_lname(word.substr(2))) return word;
  }
  return "--" + option.get_single_name();
}

bool reads_files(const CLI::App& app) {
  const auto options = app.get_options();
  return std::ranges::any_of(options, &CLI::Option::get_positional);
}

// An option after --explain is its value, not an option of this command. Without a word, at the end of the line or
// before a file that the command reads, it asks for the details, and nothing is run.
void join_explained_option(const CLI::App& app, std::vector<std::string>& words) {
  // Help on a word is what --explain gives.
  if (const auto help = std::ranges::find(words, "--help");
      words.end() - help > 1 && !help[1].starts_with('-') && !reads_files(app)) {
    *help = kExplain;
  }
  const auto explain = std::ranges::find(words, kExplain);
  if (explain == words.end()) return;
  std::error_code error;
  const bool alone = explain + 1 == words.end() ||
                     (reads_files(app) && std::filesystem::exists(explain[1], error));
  if (alone && find_option(app, "explain-run") != nullptr) {
    *explain = "--explain-run";
    return;
  }
  if (alone || !explain[1].starts_with("--")) return;
  *explain += '=' + explain[1];
  words.erase(explain + 1);
}

// All names of options, without dashes.
std::vector<std::string> names_of(CLI::App& app) {
  std::vector<std::string> names;
  each_option(app, [&names](const CLI::Option& option) {
    names.insert(names.end(), option.get_lnames().begin(), option.get_lnames().end());
  });
  return names;
}

// Options of earlier versions, and what does the same now.
struct Replaced {
  std::string_view option, now;
};
constexpr std::array kReplaced{
    Replaced{"print-schedule", "retrystorm schedule --waits=COUNT"},
    Replaced{"schedule-fails-until", "retrystorm schedule --fails-until"},
    Replaced{"schedule-succeeds-above", "retrystorm schedule --succeeds-above"},
    Replaced{"live", "client --dashboard, which shows a run on a page"},
    Replaced{"hidden-capacity", "simulate --most=rate --expect='down<50%'"},
    Replaced{"strategies-from", "retrystorm check FOLDER"},
    Replaced{"show", "simulate --sweep with --csv, which has every column"},
    Replaced{"relief-after", "simulate --at='80s load 0.5'"},
    Replaced{"relief-for", "simulate --observe"},
};

// What others call an option.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"replicas", " hosts host instances pods servers "},
    {"url", " hosts host "},
    {"rate", " qps rps "},
    {"clients", " users "},
    {"service-time", " latency "},
    {"balance", " lb load-balancer "},
    {"observe", " length duration "},
    {"duration", " length observe "}};

// The option that is called or spelt nearly so. Empty: none.
std::string meant_by(const std::string& word, const std::vector<std::string>& names) {
  for (const auto& [name, others] : kOtherNames) {
    const bool has_it = std::ranges::find(names, name) != names.end();
    if (has_it && others.find(' ' + word + ' ') != others.npos) return std::string(name);
  }
  // "maxAttempts" is max-attempts.
  for (const std::string& name : names) {
    if (plain_word(name) == plain_word(word)) return name;
  }
  return std::string(nearest(word, {names.begin(), names.end()}));
}

// CLI11 has this message for unknown names in a settings file, and for lines that are not NAME = VALUE.
constexpr std::string_view kUnknownSetting = "INI was not able to parse ";

bool is_unknown_setting(const CLI::ParseError& error) {
  return dynamic_cast<const CLI::ConfigError*>(&error) != nullptr &&
         std::string_view(error.what()).starts_with(kUnknownSetting);
}

// A word without dashes may be the value that somebody had in mind.
std::string instead_of(CLI::App& app, const std::string& word) {
  if (word.ends_with(".ini")) return "--config=" + shell_word(word);
  if (find_strategy(word) != nullptr) return "--strategy=" + word;
  if (word == "help" || word == "version") return "--" + word;
  const std::string meant = meant_by(word.substr(0, word.find('=')), names_of(app));
  if (meant.empty()) return meant;
  return "--" + meant + (word.find('=') == word.npos ? "=..." : word.substr(word.find('=')));
}

// "--strategey was not expected: did you mean --strategy?"
std::string unexpected(CLI::App& app, const std::string& word, const std::string& where = "") {
  const std::size_t begin = std::min(word.find_first_not_of('-'), word.size());
  const std::string name = word.substr(begin, word.find('=', begin) - begin);
  const std::string shown = where + word.substr(0, word.find('='));
  const auto replaced = std::ranges::find(kReplaced, name, &Replaced::option);
  if (replaced != kReplaced.end()) {
    return shown + " is no longer an option: use " + std::string(replaced->now);
  }
  if (begin == 0 && where.empty()) {
    const std::string instead = instead_of(app, word);
    return in_quotes(word) + " is no option" +
           (instead.empty() ? " (see --help)" : ": write " + instead);
  }
  if (word.starts_with('[')) {
    return shown + " is a section, and settings files have none: see --topology";
  }
  if (const std::string programs = programs_with(name); !programs.empty()) {
    return shown + " was not expected: it is an option of " + programs;
  }
  const std::string meant = meant_by(name, names_of(app));
  return shown + " was not expected" +
         (meant.empty() ? " (see --help)" : ": did you mean --" + meant + '?');
}

// What is wrong with a word of a command line or settings file, as a line. `words`: those of argv that the app parses.
std::string refusal_of(CLI::App& app, const CLI::ParseError& error,
                       const std::vector<std::string>& words, int argc, const char* const* argv) {
  const std::string text = error.what(), line = text.substr(0, text.find('\n'));
  if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    for (const std::string& word : app.remaining()) {
      // CLI11 2.4 counts the values of unknown settings in a file, too.
      if (std::ranges::find(words, word) != words.end()) return unexpected(app, word) + '\n';
    }
  }
  if (is_unknown_setting(error)) {
    constexpr std::size_t kShown = 40;
    const std::string name = line.substr(kUnknownSetting.size());
    return unexpected(app, name.size() > kShown ? name.substr(0, kShown) + "..." : name,
                      "--config: ") +
           '\n';
  }
  const std::string name = line.substr(0, line.find(':'));
  const bool known = !name.empty() && find_option(app, name) != nullptr;
  const std::string help =
      known ? kExplain + ' ' + name.substr(name.find_first_not_of('-')) : "--help";
  return as_typed(app, line + " (see " + help + ')', argc, argv);
}

// An option that is swept or searched counts as given.
void add_implied(CLI::App& app) {
  const auto given = [&app](std::string_view name) {
    const CLI::Option* option = find_option(app, std::string(name));
    if (option == nullptr) return false;
    if (option->count() > 0) return true;
    for (const char* of : {"sweep", "least", "most"}) {
      const CLI::Option* values = find_option(app, of);
      if (values == nullptr) continue;
      for (const std::string& each : values->results()) {
        if (option->check_lname(each.substr(0, each.find('=')))) return true;
      }
    }
    return false;
  };
  imply(given, [&app](const std::string& target, const std::string& value) {
    each_option(app, [&](CLI::Option& option) {
      if (option.check_lname(target)) option.add_result(value);
    });
  });
}

// A strategy may be a file of settings, as in lists of strategies. What was typed holds beside it; its retry options hold
// before those of --config, and its others where there are none. Returns whether it is a file. Throws UnreadableFile or
// std::invalid_argument.
bool read_strategy_file(CLI::App& app, const TwoForms& forms,
                        const std::vector<std::string>& words) {
  const CLI::Option* strategy = find_option(app, "strategy");
  if (strategy == nullptr || strategy->count() == 0) return false;
  const std::string path = text_of(*strategy);
  if (path.find_first_of("./") == path.npos) return false;
  WorkloadOptions workload;
  OptionList all, of_policy;
  declare_options(all, workload);
  declare_options(of_policy, workload.retry);
  auto settings = read_settings(path, all);
  settings.emplace("strategy", RetrySettings().strategy);
  for (const auto& [name, value] : settings) {
    bool known = false;
    each_option(app, [&, &name = name, &value = value](CLI::Option& option) {
      if (!option.check_lname(name)) return;
      known = true;
      if (option.count() > 0 && of_policy.find(name) == nullptr) return;
      std::vector<CLI::Option*> same = forms.others(option);
      same.push_back(&option);
      const bool typed = std::ranges::any_of(
          same, [&words](const CLI::Option* each) { return is_typed(*each, words); });
      if (typed && &option != strategy) return;
      for (CLI::Option* each : same) each->clear();
      option.add_result(value);
    });
    if (!known) refuse(path + ": there is no option " + in_quotes(name));
  }
  return true;
}

// What the file of --strategy says would hold in the rows of other strategies, too.
void refuse_swept_strategy(const CLI::App& app) {
  const CLI::Option* sweep = find_option(app, "sweep");
  if (sweep == nullptr) return;
  for (const std::string& each : sweep->results()) {
    if (!each.starts_with("strategy=")) continue;
    refuse("--strategy: its file would hold in each row of --sweep " + each +
           ": list it there instead");
  }
}

// Strategies that are given as arguments are those of --strategies.
void list_arguments(CLI::App& app) {
  std::string list;
  each_option(app, [&list](const CLI::Option& option) {
    if (option.get_single_name() != kStrategyArguments) return;
    for (const std::string& each : option.results()) list += (list.empty() ? "" : ",") + each;
  });
  if (list.empty()) return;
  each_option(app, [&list](CLI::Option& option) {
    if (!option.check_lname("strategies")) return;
    if (option.count() > 0) {
      refuse("--strategies: strategies are given as arguments, too: give one of them");
    }
    option.add_result(list);
  });
}

}  // namespace

void parse_words(CLI::App& app, const std::vector<std::string>& words) {
  const TwoForms forms(app);
  std::optional<CLI::ValidationError> of_value;
  try {
    app.parse(
        std::vector<std::string>(words.rbegin(), words.rend()));  // CLI11 expects reverse order
  } catch (const CLI::ExtrasError&) {                             // see below
  } catch (const CLI::ValidationError& error) {
    of_value = error;
  }
  forms.overrule_files(words);
  try {
    // CLI11 has taken the path for a name.
    const bool is_file = read_strategy_file(app, forms, words);
    if (is_file && of_value && std::string_view(of_value->what()).starts_with("--strategy:"))
      of_value.reset();
    if (is_file) refuse_swept_strategy(app);
    list_arguments(app);
    give_format(app);
    add_implied(app);
  } catch (const std::invalid_argument& error) {
    throw CLI::ValidationError(error.what());
  }
  apply_in_order(app);
  if (of_value) throw *of_value;
  if (app.remaining_size() > 0) throw CLI::ExtrasError(app.remaining());
}

std::optional<int> parse(CLI::App& app, int argc, const char* const* argv, int first) {
  std::vector<std::string> words;
  try {
    std::string name = argc > 0 ? argv[0] : "";
    for (int i = 1; i < std::min(first, argc); ++i) name.append(" ").append(argv[i]);
    app.name(name);
    words = arguments(argc, argv, first);
    replace_exponential_backoff(words);
    join_explained_option(app, words);
    parse_words(app, words);
    return std::nullopt;
  } catch (const UnreadableFile& error) {
    std::cerr << error.what() << '\n';
    return kExitUnreadable;
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) {
      std::ostringstream text;
      const int code = app.exit(error, text);
      std::cout << text.str();
      return flush_standard_output() ? code : kExitFault;
    }
    std::cerr << refusal_of(app, error, words, argc, argv);
    const bool unreadable = dynamic_cast<const CLI::FileError*>(&error) != nullptr;
    return unreadable ? kExitUnreadable : error.get_exit_code();
  }
}

std::string as_typed(const CLI::App& app, const std::string& message, int argc,
                     const char* const* argv) {
  std::string text;
  for (const auto each : split(message, '\n')) {
    const std::string line(each);
    const std::size_t end = line.find_first_of(": ");
    const CLI::Option* option =
        end == std::string::npos ? nullptr : find_option(app, line.substr(0, end));
    text += (option == nullptr ? line : typed_name(*option, argc, argv) + line.substr(end)) + '\n';
  }
  return text;
}

}  // namespace retrystorm
