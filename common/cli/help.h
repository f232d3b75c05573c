// The short and the long help text of the programs.
#pragma once

#include <CLI/CLI.hpp>
#include <span>
#include <string>
#include <string_view>

namespace retrystorm {

// `--help` shows what `kAskedOptions` has, and options of the program's own that have a CLI11 group. `--help-all` shows
// the options but those of `kOfFiles`, in the groups of their declaration, by the better name. AppFormatMode::Sub is all
// of them with all names: --help-full, of which manual pages and completions are made.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
};

// What a word means: one of the output, an option, or a value of options. Ignores case, blanks and dashes. A word of several is one argument. Knows the
// heads of tables, the names of CSV columns and of claims, the words at the left of a summary, and the
// findings of `retrystorm check`. Ends with a new line. Throws std::invalid_argument for any other word.
std::string explain(const CLI::App& app, const std::string& word);

// Is it in the short help of `simulate`?
bool is_asked(const CLI::Option& option);

// The better of an option's names, if it has one; without dashes.
std::string shown_name(const CLI::Option& option);

// Which programs have this option of the experiment: "server and simulate"; empty if none has. `name`: without dashes.
std::string programs_with(const std::string& name);

struct GlossaryFile {
  std::string_view name;
  std::string_view content;
};

// The content of that file, embedded at build time.
std::span<const GlossaryFile> glossary_files();

}  // namespace retrystorm
