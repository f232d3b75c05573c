#include "common/cli/settings_file.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <array>
#include <sstream>
#include <stdexcept>
#include <utility>
#include <vector>

#include "common/cli/options.h"
#include "common/os/foreign_file.h"
#include "model/base/text.h"

namespace retrystorm {
namespace {

bool takes_several(const CLI::Option& option) {
  return option.get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
}

// Such as several actions, which become one text.
bool joins_several(const CLI::Option& option) {
  return option.get_multi_option_policy() == CLI::MultiOptionPolicy::Join;
}

// "10, 40 and 20"
std::string list_of(const std::vector<std::string>& values) {
  constexpr std::size_t kMost = 5;
  std::string text;
  for (std::size_t i = 0; i < std::min(values.size(), kMost); ++i) {
    text += (i == 0 ? "" : i + 1 == values.size() ? " and " : ", ") + values[i];
  }
  return text + (values.size() > kMost ? ", ..." : "");
}

// Reads a settings file of at most 100 kB. Accepts a byte order mark, which some editors write at the
// beginning. Refuses several values of an option that takes one, wherever they stand: CLI11 would take
// the first or the last. Of a longer file, and of a section in many others, CLI11 would make gigabytes.
class SettingsFile : public CLI::ConfigTOML {
 public:
  SettingsFile(CLI::App* app, FindSetting find) : app_(app), find_(std::move(find)) {}

  std::vector<CLI::ConfigItem> from_config(std::istream& input) const override {
    std::string text(kLongestSettings + 1, '\0');
    input.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(input.gcount()));
    if (text.size() > kLongestSettings)
      throw CLI::FileError("--config: the file is longer than 100 kB");
    constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
    if (text.starts_with(kByteOrderMark)) text.erase(0, kByteOrderMark.size());
    const std::size_t begin = text.find_first_not_of(" \t\r\n");
    if (begin != text.npos && text[begin] == '{') {
      throw CLI::ConfigError(
          "--config: this is JSON, write lines of NAME = VALUE (`retrystorm import` "
          "makes them of other programs' files)");
    }
    constexpr std::ptrdiff_t kMostDots = 10;
    for (const std::string_view line : split(text, '\n')) {
      // In a heading and in quotes, both are letters of the name.
      std::string_view name = line.substr(0, line.find_first_of("=#"));
      if (name.find_first_of("[\"'`") != name.npos) name = line;
      if (std::ranges::count(name, '.') > kMostDots) {
        throw CLI::ConfigError("--config: more than 10 dots in a name");
      }
    }
    std::istringstream settings(with_quotes(text));
    auto read = CLI::ConfigTOML::from_config(settings);
    if (app_ != nullptr) refuse_unknown(read);
    join_values(read);
    return read;
  }

 private:
  std::string where() const { return app_ == nullptr ? "" : "--config: "; }

  // A text of several words needs no quotes: chain = a 64x5ms > b 24x40ms. Several numbers are left as they are, because
  // they are probably several values. Refuses a line that is no setting, by its number.
  std::string with_quotes(const std::string& text) const {
    std::string all;
    bool in_list = false;  // of several lines
    std::size_t number = 0;
    for (const std::string_view line : split(text, '\n')) {
      ++number;
      const std::string_view setting = trimmed(line);
      const std::size_t equals = setting.find('=');
      const bool blank =
          setting.empty() || std::string_view("#;[").find(setting[0]) != setting.npos;
      std::string_view value;
      if (in_list || blank) {
        in_list = in_list && setting.find(']') == setting.npos;
      } else if (equals != setting.npos) {
        value = trimmed(setting.substr(equals + 1));
        in_list = value.starts_with('[') && value.find(']') == value.npos;
      } else if (setting.find(' ') != setting.npos || setting != printable(setting)) {
        constexpr std::size_t kShown = 40;
        throw CLI::ConfigError(where() + "line " + std::to_string(number) + ": " +
                               in_quotes(printable(setting.substr(0, kShown))) +
                               " is not NAME = VALUE");
      }
      const bool is_text = value.find_first_of(" \t") != value.npos &&
                           value.find_first_of("\"'`[#\\") == value.npos &&
                           value.find_first_not_of("0123456789., \t") != value.npos;
      const auto known = is_text ? find_(std::string(trimmed(setting.substr(0, equals))))
                                 : std::optional<KnownOption>();
      if (known && !known->takes_list) {
        all.append(setting.substr(0, equals)).append("= \"").append(value).append("\"\n");
      } else {
        all.append(line).append("\n");
      }
    }
    return all;
  }

  // With the names `++` and `--` CLI11 would begin or end the program.
  void refuse_unknown(const std::vector<CLI::ConfigItem>& all) const {
    for (const CLI::ConfigItem& each : all) {
      const bool in_section = !each.parents.empty();  // of which this program has none
      if (!in_section && find_option(*app_, each.name) != nullptr) continue;
      throw CLI::ConfigError::Extras(printable(
          in_section && each.name == "++" ? '[' + each.parents.back() + ']' : each.fullname()));
    }
  }

  // Joins the lines of each option into its first one. Refuses several values of an option that takes one.
  void join_values(std::vector<CLI::ConfigItem>& all) const {
    std::vector<CLI::ConfigItem> joined;
    std::map<std::string, std::size_t> place;               // in `joined`
    std::map<std::string, std::vector<std::string>> names;  // as they are written
    for (const CLI::ConfigItem& each : all) {
      const std::optional<KnownOption> known = find_(each.name);
      const auto found =
          known ? place.emplace(known->name, joined.size()) : std::pair(place.end(), true);
      if (found.second) {
        joined.push_back(each);
      } else {
        auto& inputs = joined[found.first->second].inputs;
        inputs.insert(inputs.end(), each.inputs.begin(), each.inputs.end());
      }
      if (!known) continue;
      auto& written = names[known->name];
      if (std::ranges::find(written, each.name) == written.end()) {
        written.push_back(each.name);
      }
    }
    for (const CLI::ConfigItem& each : joined) {
      const std::optional<KnownOption> known = find_(each.name);
      if (!known || known->takes_several || each.inputs.size() < 2) continue;
      const std::vector<std::string>& written = names.at(known->name);
      throw CLI::ConfigError(
          where() + list_of(written) + (written.size() == 1 ? " takes" : " take") +
          " one value, and here are " + std::to_string(each.inputs.size()) + ": " +
          list_of(each.inputs) + " (one with a blank is written in quotes, and a table as 1+1+2)");
    }
    all = std::move(joined);
  }

  CLI::App* app_;  // null: of no program
  FindSetting find_;
};

// The text as written in a settings file: in quotes unless it is a single word. Some texts cannot
// be written in a way that every version of CLI11 reads.
std::string as_setting(const std::string& text) {
  const bool plain = !text.empty() && text.find_first_not_of(
                                          "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                          "0123456789_./:+-%") == text.npos;
  if (plain) return text;
  const char quote = text.find_first_of("\"\\") == text.npos ? '"' : '\'';
  if (text.find_first_of("#\n") != text.npos || (quote == '\'' && text.find('\'') != text.npos)) {
    throw std::runtime_error("a settings file cannot contain " + in_quotes(text));
  }
  return quote + text + quote;
}

// The value that was given, or else the default in force; empty if there is none.
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

// Sets an option as a line in the file would.
void give(CLI::Option& option, const std::string& value) {
  option.clear();
  option.add_result(value);
  option.run_callback();
}

void print_group(std::ostream& out, const std::string& title, CLI::App& group,
                 CLI::App& default_app) {
  std::string lines;
  for (CLI::Option* option : group.get_options()) {
    const std::string name = option->get_single_name();
    const bool second_form = !option->get_excludes().empty();
    if (second_form || !is_setting(*option)) continue;
    CLI::Option* default_option = default_app.get_option_no_throw("--" + name);
    const std::string value = value_of(*option);
    if (value.empty()) continue;
    const bool same = value_of(*default_option) == value;
    if (!same) give(*default_option, value);
    lines.append(same ? "# " : "").append(name).append(" = ").append(setting_of(*option)) += '\n';
  }
  if (!lines.empty()) out << "\n## " << title << '\n' << lines;
}

}  // namespace

bool is_setting(const CLI::Option& option) {
  static constexpr std::array<std::string_view, 9> kOthers{"help",
                                                           "help-all",
                                                           "help-full",
                                                           "version",
                                                           "config",
                                                           "print-settings",
                                                           "list-strategies",
                                                           "explain",
                                                           "exponential-backoff"};
  return !option.get_group().empty() &&
         std::ranges::find(kOthers, option.get_single_name()) == kOthers.end();
}

std::shared_ptr<CLI::Config> settings_reader(CLI::App& app) {
  return std::make_shared<SettingsFile>(
      &app, [&app](const std::string& name) -> std::optional<KnownOption> {
        const CLI::Option* option = find_option(app, name);
        if (option == nullptr) return std::nullopt;
        return KnownOption{option->get_name(), takes_several(*option) || joins_several(*option),
                           takes_several(*option)};
      });
}

std::shared_ptr<CLI::Config> settings_reader(FindSetting find) {
  return std::make_shared<SettingsFile>(nullptr, std::move(find));
}

std::map<std::string, std::string, std::less<>> read_settings(const std::string& path,
                                                              const OptionList& options) {
  std::istringstream file(read_foreign_file(path, kLongestSettings));
  std::map<std::string, std::string, std::less<>> settings;
  // Both forms of an option count as one.
  const auto find = [&options](const std::string& name) -> std::optional<KnownOption> {
    const Option* option = options.find(name);
    if (option == nullptr) return std::nullopt;
    return KnownOption{option->same_as.empty() ? option->name : option->same_as,
                       option->separator != 0};
  };
  try {
    for (const CLI::ConfigItem& item : settings_reader(find)->from_config(file)) {
      if (item.inputs.empty() || item.name == "++" || item.name == "--") continue;
      settings[item.name] = CLI::detail::join(item.inputs, "; ");
    }
  } catch (const CLI::Error& error) {
    refuse(path + ": " + error.what());
  }
  return settings;
}

bool wants_settings(const CLI::App& app) {
  return find_option(app, "print-settings")->count() > 0;
}

void print_settings(std::ostream& out, CLI::App& app, CLI::App& default_app) {
  out << "# Settings for --config. Values that were not given are comments.\n";
  for (CLI::App* group : app.get_subcommands([](CLI::App*) { return true; })) {
    print_group(out, group->get_group(), *group, default_app);
  }
}

}  // namespace retrystorm
