#include "retrystorm/policy_files.h"

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cctype>
#include <filesystem>
#include <iostream>
#include <span>
#include <system_error>

#include "common/exit_code.h"
#include "common/output/output_queue.h"
#include "model/base/text.h"
#include "model/retry/strategies.h"
#include "words/words.h"

namespace retrystorm {
namespace {

// A line for each policy to choose from.
std::string choice(const std::vector<Policy>& policies) {
  constexpr std::size_t kMost = 20;
  std::string list;
  for (const Policy& each : std::span(policies).first(std::min(policies.size(), kMost))) {
    list += "\n  " + summary(each);
  }
  if (policies.size() > kMost) {
    list += "\n  and " + std::to_string(policies.size() - kMost) + " more";
  }
  return list;
}

}  // namespace

void add_read_as(CLI::App& app, ReadAs& as) {
  add_value(
      *option_group(app, "Run"), "--as", "NAME", "",
      [&as](const std::string& word) { as = parse_read_as(word); },
      "who reads the file, where it does not say: channel or gapic (gRPC), botocore or aws-sdk "
      "(AWS), envoy-gateway or istio (Gateway API)")
      ->group("Study");
}

bool sends_over_one_connection(const PolicyFile& file) {
  return file.kind.starts_with("gRPC");
}

std::string summary(const Policy& policy) {
  std::string text =
      "line " + std::to_string(policy.line) + ": " +
      (policy.refused        ? "refused by its program"
       : !policy.has_retries ? "limits only"
                             : retries_title(scenario_of(options_of(policy)).workload.retry)) +
      ": " + printable(policy.names.front());
  if (policy.names.size() > 1) {
    text += " and " + std::to_string(policy.names.size() - 1) + " more";
  }
  return text;
}

const Policy& chosen_policy(const PolicyFile& file, const std::string& path,
                            const std::string& wanted) {
  if (wanted.empty()) {
    if (file.policies.size() == 1) return file.policies.front();
    refuse(path + " has " + std::to_string(file.policies.size()) +
           " different policies: choose one with --policy=NAME or its line" +
           choice(file.policies));
  }
  const auto found = std::ranges::find_if(file.policies, [&wanted](const Policy& each) {
    return std::to_string(each.line) == wanted ||
           std::ranges::find(each.names, wanted) != each.names.end();
  });
  if (found != file.policies.end()) return *found;
  refuse("--policy: " + path + " has no policy for " + in_quotes(printable(wanted)) +
         choice(file.policies));
}

std::string in_address(std::string_view text, std::string_view kept) {
  std::string address;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if ((byte < 0x80 && std::isalnum(byte) != 0) || kept.find(c) != kept.npos) {
      address += c;
    } else {
      constexpr std::string_view kDigits = "0123456789ABCDEF";
      address += {'%', kDigits[byte >> 4], kDigits[byte & 15]};
    }
  }
  return address;
}

std::string explorer_link(const std::string& page, const NamedOptions& options) {
  std::error_code none;
  const bool is_file = std::filesystem::exists(page, none);
  std::string link =
      is_file ? "file://" + in_address(std::filesystem::absolute(page).string(), "-._~/") : page;
  link += "#v=1";  // as explorer/page/link.js reads it
  for (const auto& [name, value] : options) link += '&' + name + '=' + in_address(value);
  return link;
}

void print_exported(const Exported& exported) {
  for (const Statement& each : exported.differences) {
    (exported.has_comments ? std::cout : std::cerr)
        << (exported.has_comments ? "# " : "")
        << words_of({"export-differs", {{"what", words_of(each)}}}) << '\n';
  }
  std::cout << exported.text;
}

std::vector<NamedFile> policy_files_in(const std::string& folder, ReadAs as) {
  std::error_code error;
  std::vector<std::string> paths;
  for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
    if (entry.is_regular_file(error)) paths.push_back(entry.path().string());
  }
  std::ranges::sort(paths);
  std::vector<NamedFile> files;
  for (const std::string& path : paths) {
    try {
      files.emplace_back(path, read_policy_file(path, as));
    } catch (const UnreadableFile& unreadable) {
      std::cerr << unreadable.what() << ": left out\n";
    }
  }
  if (files.empty()) {
    throw UnreadableFile("there is no policy in " + in_quotes(printable(folder)));
  }
  return files;
}

bool has_hosts(const NamedOptions& given) {
  return value_or(given, "replicas", "1") != "1";
}

namespace {

// --- What do the retry settings of another program do, as options of this one? ------------------------------------

struct ImportOptions {
  std::string file;
  std::string policy;
  std::string link;
  ReadAs as = ReadAs::kByContent;
};

void declare_import(CLI::App& app, ImportOptions& options) {
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

// --- What would this policy be in another program's file? ---------------------------------------------------------

struct ExportOptions {
  WorkloadOptions workload;
  HostSettings hosts;
  std::optional<ExportFormat> format;
};

void declare_export(CLI::App& app, ExportOptions& options) {
  add_workload_options(app, options.workload);
  for (const char* of_no_policy : {"rate", "clients", "think-time"}) hide(app, of_no_policy);
  OptionList of_hosts;
  declare_options(of_hosts, options.hosts);
  add_options(app, of_hosts);
  add_value(
      *option_group(app, "Run"), "--as", "NAME", "",
      [&options](const std::string& word) { options.format = parse_export_format(word); },
      "the format: grpc, envoy, istio, envoy-gateway, resilience4j, aws or dotnet")
      ->group("Study")
      ->required();
}

int export_settings(const Invocation& invocation, const ExportOptions& options) {
  check(options.workload.retry);
  refuse(unused_of_part(options.hosts));
  WorkloadOptions policy = options.workload;
  // The default is that of a run, and no part of the policy. In .NET there always is one: its own.
  if (find_option(invocation.app, "timeout")->count() == 0) {
    constexpr Duration kOfDotNet = std::chrono::seconds(10);
    policy.timeout = options.format == ExportFormat::kDotNet ? kOfDotNet : Duration::max();
  }
  print_exported(export_policy(policy, *options.format, {}, options.hosts));
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
    run_command<ImportOptions, declare_import, import_file>};

const Command kExport{
    "export",
    "Prints a retry policy, of a strategy or of given options, as a file of another program: a gRPC\n"
    "service config, Envoy, Istio, Envoy Gateway, resilience4j, AWS config or .NET settings. What the\n"
    "format cannot say is named: in comments, or on standard error where it has none. The others are\n"
    "read only, for they could say next to nothing of a policy: in Gateway API's routes, Linkerd, NGINX\n"
    "and HAProxy the waits are fixed or up to the implementation. Of these only Linkerd has a budget.",
    "retrystorm export --as=istio --strategy=envoy --max-retries=2",
    run_command<ExportOptions, declare_export, export_settings>};

}  // namespace retrystorm
