#include "common/cli/help.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "common/cli/finding_rules.h"
#include "common/cli/options.h"
#include "model/base/option_list.h"
#include "model/base/text.h"
#include "model/retry/strategies.h"
#include "model/run/timeline.h"
#include "model/run/workload.h"
#include "model/service/picker.h"
#include "model/service/service_options.h"

namespace retrystorm {
namespace {

// Which options the help shows. All others stay valid on command lines and in files; --explain and the manual pages have
// them.

struct Asked {
  std::string_view group, name;
};

// The options of --help, in the order in which one asks, as far as a program has them.
constexpr std::array kAskedOptions{
    Asked{"Service", "workers"},      Asked{"Service", "service-time"},
    Asked{"Service", "queue-length"}, Asked{"Service", "backlog"},
    Asked{"Service", "replicas"},     Asked{"Load", "rate"},
    Asked{"Load", "clients"},         Asked{"Load", "think-time"},
    Asked{"Load", "timeout"},         Asked{"Load", "connections"},
    Asked{"Retries", "strategy"},     Asked{"Retries", "max-attempts"},
    Asked{"Retries", "backoff-base"}, Asked{"Retries", "backoff-cap"},
    Asked{"Retries", "jitter"},       Asked{"Retries", "retry-budget"},
    Asked{"Outage", "outage"},        Asked{"Outage", "outage-for"},
    Asked{"How often", "runs"},       Asked{"How often", "seed"},
    Asked{"How often", "sweep"},      Asked{"How often", "expect"},
    Asked{"Output", "verbose"},       Asked{"Output", "json"},
    Asked{"Output", "config"},
};

// What a program with the options of an experiment leaves out of --help but for these.
constexpr std::array<std::string_view, 5> kGroupsOfExperiment{"Clients", "Retries", "Service",
                                                              "Run", "Outage"};

// What --help-all leaves out: second forms, and what presets and files need and hardly anybody types. With a "-" at the
// end: all names that begin so.
constexpr std::string_view kOfFiles =
    "exponential-backoff max-retries clients-per-process random fault capacity csv markdown "
    "time-limit splay capacity-within scale picker pick-per connection-age eject panic subset host-warm-up workers-start "
    "outage-of retry-at replicas- syn-linear-timeouts deadline-check backoff-step backoff-table "
    "backoff-from cap-applies grow-from jitter-first first-at-once pacer throttled-base "
    "retry-after-max hedge- initial-interval max-interval up-multiplier down-multiplier "
    "down-threshold randomization max-randomization budget- breaker- throttle- "
    "concurrency-limit- rate-decrease rate-scale rate-smoothing rate-min rate-burst client-rate "
    "retry-switch switch-after when-refused pool- streams retry-lost reconnect- rejection-cost "
    "server-idle reset-limit shed-status hint- error- autoscale- waiting deadline-propagation "
    "report-interval server-report-interval cell print-processes server-lines "
    "server-json trace call-";

// CLI11's default group, for options without a group.
constexpr std::string_view kNoGroup = "Options";
// Of options that all programs have; the help ends with them.
constexpr std::string_view kAlwaysThere = "General";

// The first column of an option's help: its names, type and default value.
std::string with_value(const CLI::Option& option, std::string names) {
  if (option.get_type_size() == 0) return names;
  const std::string type = option.get_type_name();
  const std::string default_text = option.get_default_str();
  if (!type.empty()) names += ' ' + type;
  if (!default_text.empty()) names += '=' + default_text;
  return names;
}

// Appends an option's help: its names, and from `column` on its meaning, wrapped before column
// `width`.
void add_line(std::string& text, const std::string& names, std::string_view meaning,
              std::size_t column, std::size_t width) {
  const std::string indent(column, ' ');
  std::string line = "  " + names;
  // Too many names, or a default that is a list, go on in the next line.
  while (line.size() > width) {
    const std::size_t comma = line.rfind(',', width - 1);
    if (comma == line.npos) break;
    text.append(line, 0, comma + 1) += '\n';
    line.replace(0, comma + 1, "  ");
  }
  if (line.size() + 2 > column) {
    text += line + '\n';
    line.clear();
  }
  line.resize(std::max(column, line.size()), ' ');
  while (line.size() + meaning.size() > width) {
    const std::size_t space = meaning.rfind(' ', width - column);
    if (space == meaning.npos || space == 0) break;
    text += line.append(meaning.substr(0, space)) + '\n';
    meaning.remove_prefix(space + 1);
    line = indent;
  }
  text += line.append(meaning) + '\n';
}

// A line, broken before `at` where it is too long: after `end`, and before `indent`.
std::string wrapped(std::string line, std::string_view at, std::string_view end,
                    std::string_view indent, std::size_t width) {
  std::string all;
  while (line.size() > width) {
    const std::size_t blank = line.rfind(at, width - end.size());
    if (blank == line.npos || blank <= indent.size()) break;
    all.append(line, 0, blank).append(end) += '\n';
    line.replace(0, blank + 1, indent);
  }
  return all + line + '\n';
}

// The terminal's width, but 80 to 100 columns. 100 if there is no terminal.
std::size_t help_width() {
  constexpr std::size_t kLeast = 80, kMost = 100;
  winsize window{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) != 0 || window.ws_col == 0) return kMost;
  return std::clamp<std::size_t>(window.ws_col, kLeast, kMost);
}

}  // namespace

std::string shown_name(const CLI::Option& option) {
  const std::string first = option.get_single_name();
  for (const BetterName& each : kBetterNames) {
    if (!first.ends_with(each.old)) continue;  // there may be something before it, such as "call-"
    const std::string better =
        first.substr(0, first.size() - each.old.size()) + std::string(each.better);
    if (option.check_lname(better)) return better;
  }
  return first;
}

bool is_asked(const CLI::Option& option) {
  return std::ranges::any_of(kAskedOptions, [&option](const Asked& each) {
    return option.check_lname(std::string(each.name));
  });
}

namespace {

// Is this option in files rather than on command lines?
bool is_of_files(const std::string& name) {
  const auto all = split(kOfFiles, ' ');
  return std::ranges::any_of(all, [&name](std::string_view each) {
    return each.ends_with('-') ? name.starts_with(each) : name == each;
  });
}

constexpr std::size_t kShortColumn = 36;  // of the meanings in the short help
constexpr std::size_t kLongColumn = 44;   // in the long help

// Groups have no name; commands do.
std::vector<const CLI::App*> groups_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App* each) { return each->get_name().empty(); });
}

// Broken where the source is, and not where the reader's line ends.
std::string about_text(const CLI::App& app) {
  std::string about = app.get_description();
  std::ranges::replace(about, '\n', ' ');
  return about;
}

std::string commands_of(const CLI::App& app) {
  constexpr std::size_t kColumn = 14;
  std::string text;
  for (const CLI::App* each :
       app.get_subcommands([](const CLI::App* some) { return !some->get_name().empty(); })) {
    add_line(text, each->get_name(), about_text(*each), kColumn, help_width());
  }
  return text;
}

std::string basic_options(const CLI::App& app) {
  std::vector<std::pair<std::string, std::string>> groups;  // title and lines
  const auto add = [&groups](const std::string& title, const CLI::Option& option) {
    auto group =
        std::ranges::find_if(groups, [&title](const auto& each) { return each.first == title; });
    if (group == groups.end()) group = groups.insert(groups.end(), {title, ""});
    add_line(group->second, with_value(option, "--" + shown_name(option)), option.get_description(),
             kShortColumn, help_width());
  };
  // A program that has the options of an experiment has no others of their groups here.
  const bool experiment = find_option(app, "strategy") != nullptr;
  const auto add_own = [&](const CLI::App& part) {
    for (const CLI::Option* option : part.get_options()) {
      const std::string title = option->get_group();
      const bool of_experiment =
          std::ranges::find(kGroupsOfExperiment, title) != kGroupsOfExperiment.end();
      if (title == kNoGroup || title.empty() || title == kAlwaysThere || is_asked(*option) ||
          (experiment && of_experiment)) {
        continue;
      }
      add(title, *option);
    }
  };
  for (const CLI::App* group : groups_of(app)) add_own(*group);
  add_own(app);
  for (const Asked& each : kAskedOptions) {
    const CLI::Option* option = find_option(app, std::string(each.name));
    if (option != nullptr && !option->get_group().empty()) add(std::string(each.group), *option);
  }
  std::string text;
  for (const auto& [title, lines] : groups) text += '\n' + title + '\n' + lines;
  return text +
         "\n--explain WORD says what a word or an option means; --help-all has more options, --help-full all;\n"
         "docs/how-do-i.md a command for each question (installed: share/doc/retrystorm).\n";
}

// An option with all of its names.
void add_whole(std::string& text, const CLI::Option& option, const std::string& more = "") {
  std::string names = option.get_name(false, true);
  if (names.empty()) names = "--" + option.get_single_name();  // in no help
  add_line(text, with_value(option, names), option.get_description() + more, kLongColumn,
           help_width());
}

// CLI11 repeats these options in each group.
bool is_inherited(const CLI::App& group, const CLI::Option& option) {
  const bool help = &option == group.get_help_ptr() || &option == group.get_help_all_ptr();
  return help && group.get_parent() != nullptr;
}

// `whole`: those that are usually in files, and all names.
std::string every_option(const CLI::App& app, bool whole) {
  std::string text;
  const auto add = [&](const std::string& title, const CLI::App& part) {
    std::string lines;
    for (const CLI::Option* option : part.get_options()) {
      // Files that are given without a name are in the usage.
      const bool named = !option->get_positional() && !option->get_group().empty();
      if (!named || is_inherited(part, *option)) continue;
      if (whole) {
        add_whole(lines, *option);
      } else if (!is_of_files(shown_name(*option))) {
        const auto& shorts = option->get_snames();
        const std::string before = shorts.empty() ? "" : '-' + shorts.front() + ',';
        add_line(lines, with_value(*option, before + "--" + shown_name(*option)),
                 option->get_description(), kLongColumn, help_width());
      }
    }
    if (!lines.empty()) text += '\n' + title + '\n' + lines;
  };
  add("At the start", app);
  for (const CLI::App* group : groups_of(app)) add(group->get_group(), *group);
  return text;
}

}  // namespace

std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode mode) const {
  const std::string commands = commands_of(*app);
  const std::size_t width = help_width();
  std::string text = wrapped(about_text(*app), " ", "", "", width);
  text += "Usage: " + name + (commands.empty() ? "" : " COMMAND");
  const auto add_positional = [&text](const CLI::App& part) {
    for (const CLI::Option* option : part.get_options()) {
      if (!option->get_positional()) continue;
      const std::string word = option->get_single_name();
      text += option->get_required() ? ' ' + word : " [" + word + ']';
    }
  };
  add_positional(*app);
  for (const CLI::App* group : groups_of(*app)) add_positional(*group);
  text += " [OPTIONS]\n";
  const std::string example = app->get_footer();
  constexpr std::string_view kExample = "Example: ";
  if (example.find('\n') == example.npos && kExample.size() + example.size() <= width) {
    if (!example.empty()) text.append(kExample).append(example) += '\n';
  } else {
    text += "Examples:\n";
    for (const auto line : split(example, '\n')) {  // no value of an option is broken
      text += wrapped("  " + std::string(trimmed(line)), " --", " \\", "    ", width);
    }
  }
  if (!commands.empty()) text += "\nCommands (each has its own --help)\n" + commands;
  if (mode == CLI::AppFormatMode::Normal) return text + basic_options(*app);
  return text + every_option(*app, mode == CLI::AppFormatMode::Sub);
}

namespace {

// A word as it is compared: "Retry-Budget" and "retry budget" are one.
std::string bare_word(std::string_view text) {
  std::string word = plain_word(text);
  std::erase_if(word, [](char c) { return c == ' ' || c == '='; });
  return word;
}

// The entries of the glossary: a word and its meaning.
using Words = std::vector<std::pair<std::string, std::string>>;
Words glossary() {
  Words words;
  const auto entries = Json::parse(glossary_files().front().content);
  for (const auto& [names, meaning] : entries.items()) {
    for (const auto name : split(names, ',')) words.emplace_back(trimmed(name), meaning);
  }
  return words;
}

// The options of the experiment, for programs that have only some of them, and for their values.
struct Experiment {
  WorkloadOptions workload;
  ServiceOptions service;
  HostSettings hosts;
  TimelineOptions timeline;
  OptionList list;
  CLI::App app;

  Experiment() {
    list.group("Run");
    declare_options(list, timeline, Engine::kSimulated);
    declare_options(list, workload);
    declare_options(list, service, Engine::kSimulated);
    declare_options(list, hosts);
    add_options(app, list);
  }
};

void visit_options(const CLI::App& app, const std::function<void(const CLI::Option&)>& visit) {
  for (const CLI::Option* option : app.get_options()) visit(*option);
  for (const CLI::App* group : groups_of(app)) visit_options(*group, visit);
}

// An option below its group, and what it needs to have an effect.
void add_explained(std::string& text, const OptionList& list, const CLI::Option& option) {
  std::string needs;
  for (const auto& [name, why] : unused_among(list, list, {option.get_single_name()})) {
    needs = " (" + why + ')';
  }
  if (const Option* own = list.find(option.get_single_name())) text += own->group + '\n';
  add_whole(text, option, needs);
}

// The help of the options that the word names.
std::string explained_option(const CLI::App& app, const OptionList& list, const std::string& word) {
  std::string text;
  visit_options(app, [&](const CLI::Option& option) {
    const bool named = std::ranges::count(option.get_lnames(), word, bare_word) > 0;
    if (named && text.empty()) add_explained(text, list, option);
  });
  return text;
}

// What this is as a value of options, alone or with the option's name: "full jitter". It may have an
// amount: "proportional:0.2".
std::string explained_value(const Experiment& experiment, const std::string& asked) {
  const std::string word = bare_word(asked.substr(0, asked.find(':')));
  std::string text, value, options, help;
  for (const NamedStrategy& each : named_strategies()) {
    const std::string plain = bare_word(each.name);
    if (word != plain && word != plain + "strategy") continue;
    text.append(each.name).append(": --strategy: ").append(each.summary).append("\n    ");
    text.append(each.source).append("\n    ").append(each.date) += '\n';
  }
  for (const Option& option : experiment.list.all()) {
    std::vector<std::string_view> values = option.choices;
    values.insert(values.end(), option.examples.begin(), option.examples.end());
    const std::string name = bare_word(option.name);
    for (const std::string_view each : values) {
      const std::string_view bare = each.substr(0, each.find(':'));  // "normal" of "normal:0.1"
      const std::string plain = bare_word(bare);
      if (plain.empty() || (word != plain && word != plain + name && word != name + plain))
        continue;
      value = bare;
      options += (options.empty() ? "--" : ", --") + option.name;
      add_explained(help, experiment.list, *experiment.app.get_option_no_throw("--" + option.name));
      break;
    }
  }
  if (options.empty()) return text;
  text += value + ": a value of " + options + '\n';
  const bool several = std::ranges::count(options, ',') > 2;
  return several ? text : text + help;
}

// What the word is among the findings of `retrystorm check`.
std::string explained_finding(const std::string& word) {
  std::string text;
  for (const FindingRule& each : kFindingRules) {
    if (bare_word(each.name) != word) continue;
    text.append(each.name).append(": a finding of retrystorm check: ").append(each.meaning) += '\n';
  }
  return text;
}

// The entry of the glossary for this word.
std::string glossary_entry(const Words& words, const std::string& word) {
  for (const auto& [name, meaning] : words) {
    if (bare_word(name) == bare_word(word)) return name + ": " + meaning + '\n';
  }
  return "";
}

// The same for the name of a CSV column or of a figure, which begins as in a table, or the head of a
// column. If it ends in a phase of the run, that is explained, too.
std::string explained_figure(const Words& words, std::string name) {
  std::string phase;
  while (true) {
    const std::string text = glossary_entry(words, name);
    const std::size_t last = name.find_last_of("_ ");
    if (!text.empty() || last == name.npos) return text.empty() ? "" : text + phase;
    const std::string end = name.substr(last + 1);
    if (end == "before" || end == "during" || end == "after") {
      phase = glossary_entry(words, end);
    } else if (name[last] == ' ') {
      return "";
    }
    name.resize(last);
  }
}

}  // namespace

std::string programs_with(const std::string& name) {
  WorkloadOptions workload;
  TimelineOptions timeline;
  ServiceOptions service;
  OptionList of_clients, of_server;
  declare_options(of_clients, workload);
  declare_options(of_clients, timeline, Engine::kReal);
  declare_options(of_server, service, Engine::kReal);
  return of_clients.find(name) != nullptr  ? "client and simulate"
         : of_server.find(name) != nullptr ? "server and simulate"
                                           : "";
}

std::string explain(const CLI::App& app, const std::string& asked) {
  const Experiment experiment;
  const Words words = glossary();
  const bool is_option = asked.starts_with('-');
  const std::string figure = asked.substr(0, asked.find_first_of(",<>"));  // "wait, s", "down<5%"
  std::string word = bare_word(asked);
  if (const std::size_t end = asked.find('='); is_option && end != asked.npos) {
    word = bare_word(asked.substr(0, end));
  }
  std::string text = explained_option(app, experiment.list, word);
  if (text.empty()) text = explained_option(experiment.app, experiment.list, word);
  if (!is_option) text += explained_figure(words, figure);
  if (text.empty()) text = explained_value(experiment, asked);
  if (!is_option) text += explained_finding(word);
  if (text.empty() && !is_option) text = explained_figure(words, underscored(figure));
  if (!text.empty()) return text;

  std::vector<std::string_view> known;
  for (const auto& each : words) known.push_back(each.first);
  for (const Option& option : experiment.list.all()) {
    known.push_back(option.name);
    for (const auto value : option.choices) known.push_back(value);
  }
  for (const FindingRule& each : kFindingRules) known.push_back(each.name);
  std::string_view meant;
  std::size_t least = std::max<std::size_t>(word.size() / 4, word.size() > 2 ? 1 : 0) + 1;
  for (const auto name : known) {
    const std::size_t far = edit_distance(bare_word(name), word);
    if (far < least) meant = name;
    least = std::min(least, far);
  }
  for (const auto name : known) {  // "burst" of "rate-burst"
    const auto parts = split(name, '-');
    if (meant.empty() && std::ranges::find(parts, asked) != parts.end()) meant = name;
  }
  refuse(in_quotes(asked) + " is not known" +
         (meant.empty() ? "" : " (did you mean " + std::string(meant) + "?)") +
         (is_option ? ": --help-all has the options of this program, "
                      "the manual pages those of all"
                    : ": --explain knows the words of the output, --help-full has all options"));
}

}  // namespace retrystorm
