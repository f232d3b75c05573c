#include "common/cli/settings_file.h"

#include <set>
#include <stdexcept>
#include <string>

#include "common/cli/options.h"

namespace retrystorm {
namespace {

// As a file of settings has it: in quotes where it holds more than a word. There is no way to write
// some texts so that every version of CLI11 reads them.
std::string as_setting(const std::string& text) {
  const bool plain = !text.empty() && text.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_./:+-%") == text.npos;
  if (plain) return text;
  const char quote = text.find_first_of("\"\\") == text.npos ? '"' : '\'';
  if (text.find_first_of("#\n") != text.npos || (quote == '\'' && text.find('\'') != text.npos)) {
    throw std::runtime_error("a file of settings cannot hold " + in_quotes(text));
  }
  return quote + text + quote;
}

bool takes_several(const CLI::Option& option) {
  return option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
}

// As it was given, or as it is in force without that; empty for none.
std::string value_of(CLI::Option& option) {
  if (option.count() > 0) return text_of(option);
  if (option.get_expected_max() == 0 || takes_several(option)) return "";
  option.capture_default_str();  // a strategy may have changed it
  return option.get_default_str();
}

std::string setting_of(CLI::Option& option) {
  if (!takes_several(option)) return as_setting(value_of(option));
  std::string list;
  for (const std::string& each : option.results()) {
    list.append(list.empty() ? "" : ", ").append(as_setting(each));
  }
  return '[' + list + ']';
}

// Sets an option as a line of the file would.
void give(CLI::Option& option, const std::string& value) {
  option.clear();
  option.add_result(value);
  option.run_callback();
}

void print_group(std::ostream& out, const std::string& title, CLI::App& group, CLI::App& usual) {
  static const std::set<std::string> kNoSettings{"help",
                                                 "help-all",
                                                 "version",
                                                 "config",
                                                 "print-settings",
                                                 "list-strategies",
                                                 "exponential-backoff"};
  std::string lines;
  for (CLI::Option* option : group.get_options()) {
    const std::string name = option->get_single_name();
    const bool second_form = !option->get_excludes().empty();
    if (second_form || kNoSettings.contains(name)) continue;
    CLI::Option* by_itself = usual.get_option_no_throw("--" + name);
    const std::string value = value_of(*option);
    if (value.empty()) continue;
    const bool same = value_of(*by_itself) == value;
    if (!same) give(*by_itself, value);
    lines.append(same ? "# " : "").append(name).append(" = ").append(setting_of(*option)) += '\n';
  }
  if (!lines.empty()) out << "\n## " << title << '\n' << lines;
}

}  // namespace

bool wants_settings(const CLI::App& app) {
  return find_option(app, "print-settings")->count() > 0;
}

void print_settings(std::ostream& out, CLI::App& app, CLI::App& usual) {
  out << "# Settings for --config. What is in force without being said is a comment.\n";
  for (CLI::App* group : app.get_subcommands([](CLI::App*) { return true; })) {
    print_group(out, group->get_group(), *group, usual);
  }
}

}  // namespace retrystorm
