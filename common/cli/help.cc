#include "common/cli/help.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <vector>

namespace retrystorm {
namespace {

// CLI11's own, of options that have been given none.
constexpr std::string_view kNoGroup = "Options";

// An option as help names it: with its type and what is in force when it is not given.
std::string with_value(const CLI::Option& option, std::string names) {
  if (option.get_type_size() == 0) return names;
  const std::string type = option.get_type_name();
  const std::string usual = option.get_default_str();
  if (!type.empty()) names += ' ' + type;
  if (!usual.empty()) names += '=' + usual;
  return names;
}

// Appends an option's line: what it is called, and from `column` on what it means, in lines that
// end before `width`.
void add_line(std::string& text, const std::string& names, std::string_view meaning,
              std::size_t column, std::size_t width) {
  const std::string indent(column, ' ');
  std::string line = "  " + names;
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

std::vector<const CLI::App*> groups_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::string basic_options(const CLI::App& app) {
  constexpr std::size_t kColumn = 36, kWidth = 100;
  std::vector<std::pair<std::string, std::string>> groups;  // title and lines
  const auto add = [&groups](const CLI::App& part) {
    for (const CLI::Option* option : part.get_options()) {
      const std::string title = option->get_group();
      if (title == kNoGroup) continue;
      auto group = std::find_if(groups.begin(), groups.end(),
                                [&title](const auto& each) { return each.first == title; });
      if (group == groups.end()) group = groups.insert(groups.end(), {title, ""});
      add_line(group->second, with_value(*option, "--" + option->get_single_name()),
               option->get_description(), kColumn, kWidth);
    }
  };
  for (const CLI::App* group : groups_of(app)) add(*group);
  add(app);
  std::string text;
  for (const auto& [title, lines] : groups) text += '\n' + title + '\n' + lines;
  return text + "\n--help-all prints every option, with its second names.\n";
}

std::string every_option(const CLI::App& app) {
  // A line each, however long: scripts read them.
  constexpr std::size_t kColumn = 44, kWidth = 10'000;
  std::string text;
  const auto add = [&text](const std::string& title, const CLI::App& part) {
    text += '\n' + title + '\n';
    for (const CLI::Option* option : part.get_options()) {
      // CLI11 gives each group these once more.
      const bool inherited = option == part.get_help_ptr() || option == part.get_help_all_ptr();
      if (inherited && part.get_parent() != nullptr) continue;
      add_line(text, with_value(*option, option->get_name(false, true)), option->get_description(),
               kColumn, kWidth);
    }
  };
  add("At the start", app);
  for (const CLI::App* group : groups_of(app)) add(group->get_group(), *group);
  return text;
}

}  // namespace

std::string HelpFormatter::make_help(const CLI::App* app, std::string name,
                                     CLI::AppFormatMode mode) const {
  return app->get_description() + "\nUsage: " + name + " [OPTIONS]\n" +
         (mode == CLI::AppFormatMode::All ? every_option(*app) : basic_options(*app));
}

}  // namespace retrystorm
