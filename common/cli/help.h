// The two lengths of the programs' help.
#pragma once

#include <CLI/CLI.hpp>
#include <string>

namespace retrystorm {

// `--help` has the options that most people need, in groups of its own: those that have one
// (`Option::basic` in a list of options, CLI11's `group` elsewhere). `--help-all` has every option
// with its second names, in the groups of its declaration.
class HelpFormatter final : public CLI::Formatter {
 public:
  std::string make_help(const CLI::App* app, std::string name,
                        CLI::AppFormatMode mode) const override;
};

}  // namespace retrystorm
