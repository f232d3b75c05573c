// What do the retry settings of another program do, as options of this one?
#include <CLI/CLI.hpp>
#include <iostream>

#include "common/exit_code.h"
#include "model/base/text.h"
#include "retrystorm/policy_files.h"

namespace retrystorm {
namespace {

struct ImportOptions {
  std::string file;
  std::string policy;
  std::string link;
  ReadAs as = ReadAs::kByContent;
};

void declare(CLI::App& app, ImportOptions& options) {
  app.add_option("FILE", options.file, "the file with the policy")->required()->type_name("");
  auto* run = option_group(app, "Run");
  add_text(*run, "--policy", options.policy,
           "which policy of the file: the name of something that it is for, or its line")
      ->group("Study");
  add_text(
      *run, "--link", options.link,
      "print a link that opens this page of the explorer (a file or an address) at the policy: "
      "explorer.html")
      ->group("Study");
  add_read_as(app, options.as);
}

int import_file(const Invocation&, const ImportOptions& options) {
  const PolicyFile file = read_policy_file(options.file, options.as);
  const std::string path = printable(options.file);
  if (file.policies.empty()) {
    throw UnreadableFile(path + ": line " + std::to_string(file.notes.front().line) + ": " +
                         file.notes.front().text);
  }
  const Policy& policy = chosen_policy(file, path, options.policy);
  if (policy.refused) {
    for (const auto* notes : {&policy.notes, &file.notes}) {
      for (const Note& each : *notes) {
        if (each.rule != kRefusedRule || each.level != Note::Level::kError) continue;
        throw UnreadableFile(path + ": line " + std::to_string(each.line) + ": " + each.text);
      }
    }
  }
  if (policy.settings.empty() && policy.of_hosts.empty()) {
    std::string why;
    for (const Note& each : policy.notes) why += "; " + each.text;
    throw UnreadableFile(path + ": there is nothing about retries in it that is modelled" + why);
  }
  if (options.link.empty()) {
    std::cout << settings_text(file, policy, options.file);
    if (sends_over_one_connection(file)) {
      std::cout << "# gRPC sends all requests of a process over one connection\n"
                   "connections = multiplexed\n";
    }
  } else {
    std::cout << explorer_link(options.link, options_of(policy)) << '\n';
  }
  return flush_standard_output() ? kExitHolds : kExitFault;
}

}  // namespace

const Command kImport{
    "import",
    "Prints the retry policy in another program's file as a file for --config: each option with the\n"
    "line that it comes from, what is not in the file, and what is not modelled. Reads gRPC service\n"
    "configs, Envoy, Istio, resilience4j, AWS, .NET, Gateway API, Linkerd, NGINX and HAProxy,\n"
    "recognised by their content.",
    "retrystorm import service_config.json --policy=helloworld.Greeter >policy.ini",
    run_command<ImportOptions, declare, import_file>};

}  // namespace retrystorm
