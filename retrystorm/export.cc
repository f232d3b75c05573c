// What would this policy be in another program's file?
#include <CLI/CLI.hpp>

#include "common/exit_code.h"
#include "common/output/output_queue.h"
#include "retrystorm/policy_files.h"
#include "retrystorm/study_command.h"

namespace retrystorm {
namespace {

struct ExportOptions {
  WorkloadOptions workload;
  HostSettings hosts;
  std::optional<ExportFormat> format;
};

void declare(CLI::App& app, ExportOptions& options) {
  add_workload_options(app, options.workload);
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

int export_settings(const Invocation&, const ExportOptions& options) {
  check(options.workload.retry);
  refuse(unused_of_part(options.hosts));
  print_exported(export_policy(options.workload, *options.format, {}, options.hosts));
  return flush_standard_output() ? kExitHolds : kExitFault;
}

}  // namespace

const Command kExport{
    "export",
    "Prints a retry policy, of a strategy or of given options, as a file of another program: a gRPC\n"
    "service config, Envoy, Istio, Envoy Gateway, resilience4j, AWS config or .NET settings. What the\n"
    "format cannot say is named: in comments, or on standard error where it has none. The others are\n"
    "read only, for they could say next to nothing of a policy: in Gateway API's routes, Linkerd, NGINX\n"
    "and HAProxy the waits are fixed or up to the implementation. Of these only Linkerd has a budget.",
    "retrystorm export --as=istio --strategy=envoy --max-retries=2",
    run_command<ExportOptions, declare, export_settings>};

}  // namespace retrystorm
